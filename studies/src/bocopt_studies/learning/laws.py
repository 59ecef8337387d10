"""Laws that simple learners do not have: what contexts mean for outcomes, and how both come about.

Contexts are made of stationary normal autoregressions. Where a law also reads the time or earlier
outcomes, these stand last in its context, and learners do not see them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np

from bocopt import arguments
from bocopt.core import Array, IntArray
from bocopt.numeric import noise

_KEPT = 0.5  # of a context, from one stage to the next
_LEAST = 0.1  # outcomes are not smaller: a weight of zero could be taken without end


@dataclass(frozen=True, kw_only=True)
class Process(ABC):
    """A stream whose law is known: outcomes of `dim_xi` components, by random coefficients."""

    dim_xi: int = 6
    law: int = 0  # which draw of the coefficients
    dim_x: ClassVar[int]  # normal numbers that a context is made of

    @property
    def dim_hidden(self) -> int:
        """Number of components at the end of a context that learners do not see."""
        return 0

    @property
    def dim_noise(self) -> int:
        """Number of normal draws for an outcome: one for each component."""
        return self.dim_xi

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        """Endless; with the hidden part of the contexts."""
        seeds = arguments.seeds_of("Process.stages", seeds)
        normal = noise.normal(seeds, 0, "laws.first", (self.dim_x,))
        xi = np.ones((*seeds.shape, self.dim_xi))
        for t in count():
            step = noise.normal(seeds, t, "laws.context", (self.dim_x,))
            normal = _KEPT * normal + np.sqrt(1 - _KEPT**2) * step
            x = self.context(normal, t, xi)
            xi = self.sample_given(x, noise.normal(seeds, t, "laws.noise", (self.dim_noise,)))
            yield x, xi

    def context(self, normal: Array, t: int, before: Array) -> Array:
        """(dim_x), stage, (m) the last outcome -> (k) all that the law reads."""
        return normal

    @abstractmethod
    def sample_given(self, x: Array, u: Array) -> Array:
        """(k), (n) -> (m)."""

    def _draw(self, purpose: str, *shape: int) -> Array:
        return noise.normal(np.array(self.law), 0, f"laws.{purpose}", shape)


@dataclass(frozen=True)
class Shown:
    """A process as learners see it: without the hidden part of its contexts."""

    process: Process

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        """Yield contexts without their hidden components, and outcomes (m), without end."""
        hidden = self.process.dim_hidden
        for x, xi in self.process.stages(seeds):
            yield (x[..., :-hidden] if hidden else x), xi


def _times(matrix: Array, x: Array) -> Array:
    """The product with each x alone: the same bits whatever the leading axes are."""
    product: Array = np.matmul(matrix, x[..., None])[..., 0]
    return product


def _logistic(score: Array) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-score)))


@dataclass(frozen=True, kw_only=True)
class Sine(Process):
    """xi_j = 1 + sin(a_j'x + b_j) / 2 + g_j / 10."""

    dim_x: ClassVar[int] = 2

    def sample_given(self, x: Array, u: Array) -> Array:
        """Return xi (m), sines of the context (2) and the noise u (m), at least 0.1."""
        slope, phase = self._draw("sine", self.dim_xi, 2), np.pi * self._draw("phase", self.dim_xi)
        mean = 1.0 + 0.5 * np.sin(1.5 * _times(slope, x) + phase)
        return np.maximum(mean + 0.1 * u, _LEAST)


@dataclass(frozen=True, kw_only=True)
class Categories(Process):
    """xi_j = exp(e_j(first, second) + f_j(third) + g_j / 10): two of three categories interact.

    They have 4, 3 and 3 values, all of them equally likely, and are shown one-hot.
    """

    dim_x: ClassVar[int] = 3
    values: ClassVar[tuple[int, ...]] = (4, 3, 3)

    def context(self, normal: Array, t: int, before: Array) -> Array:
        """Return the three categories, one-hot (10), that normal numbers (3) fall into."""
        from scipy.special import ndtr

        which = np.minimum(ndtr(normal) * self.values, np.array(self.values) - 1).astype(int)
        shown = [np.eye(n)[which[..., i]] for i, n in enumerate(self.values)]
        return np.concatenate(shown, axis=-1, dtype=np.float64)

    def sample_given(self, x: Array, u: Array) -> Array:
        """Return xi (m) by the effects of the categories (10) and the noise u (m)."""
        first, second, third = np.split(x, np.cumsum(self.values)[:-1], axis=-1)
        pairs = (first[..., :, None] * second[..., None, :]).reshape(*first.shape[:-1], -1)
        together = 0.35 * self._draw("pairs", self.dim_xi, pairs.shape[-1])
        alone = 0.15 * self._draw("third", self.dim_xi, third.shape[-1])
        return np.asarray(np.exp(_times(together, pairs) + _times(alone, third) + 0.1 * u))


@dataclass(frozen=True, kw_only=True)
class Multiplied(Process):
    """xi_j = usual exp(a_j'x + s (g_0 + g_j) / 2^(1/2) - s^2 / 2) with s = 0.35 exp(0.4 x_3)."""

    usual: float = 30.0
    dim_x: ClassVar[int] = 3

    @property
    def dim_noise(self) -> int:
        """Number of normal draws for an outcome: the common shock, and one a component."""
        return 1 + self.dim_xi

    def sample_given(self, x: Array, u: Array) -> Array:
        """Return xi (m), lognormal given the context (3), by the shocks u (1 + m)."""
        shift = 0.3 * _times(self._draw("multiplied", self.dim_xi, 3), x)
        s = 0.35 * np.exp(0.4 * x[..., 2:])
        shocks = (u[..., :1] + u[..., 1:]) / np.sqrt(2)
        return np.asarray(self.usual * np.exp(shift + s * shocks - s**2 / 2))


@dataclass(frozen=True, kw_only=True)
class TwoModes(Process):
    """xi_j = 0.8 + 0.05 a_j'x + g_j / 20, and 0.6 more for every second j where there is a jam.

    A jam has the probability 1 / (1 + exp(1 - 2 x_1)).
    """

    dim_x: ClassVar[int] = 2

    @property
    def dim_noise(self) -> int:
        """Number of normal draws for an outcome: one for the jam, and one a component."""
        return 1 + self.dim_xi

    def sample_given(self, x: Array, u: Array) -> Array:
        """Return xi (m) given the context (2); the first of u (1 + m) says if there is a jam."""
        from scipy.special import ndtr

        jam = ndtr(u[..., :1]) < _logistic(2.0 * x[..., :1] - 1.0)
        hit = np.arange(self.dim_xi) % 2 == 0
        mean = 0.8 + 0.05 * _times(self._draw("modes", self.dim_xi, 2), x)
        xi: Array = mean + 0.6 * (jam & hit) + 0.05 * u[..., 1:]
        return np.maximum(xi, _LEAST)


@dataclass(frozen=True, kw_only=True)
class RotatingLaw(Process):
    """xi_j = 1 + (cos(v) a_j + sin(v) b_j)'(1, x) / 5 + g_j / 10, where the angle v follows time.

    It goes once around the circle in `period` stages, step by step or (`abrupt`) in three jumps.
    """

    period: int = 600
    abrupt: bool = False
    dim_x: ClassVar[int] = 3

    @property
    def dim_hidden(self) -> int:
        """Number of hidden components: one, the angle."""
        return 1

    def context(self, normal: Array, t: int, before: Array) -> Array:
        """Return the context (4): the normal numbers (3), and the angle at stage t."""
        share = t / self.period
        turned = np.floor(3 * share) / 3 if self.abrupt else share
        angle = np.full((*normal.shape[:-1], 1), 2 * np.pi * turned)
        return np.concatenate([normal, angle], axis=-1)

    def sample_given(self, x: Array, u: Array) -> Array:
        """Return xi (m) given the context (4), which ends with the angle, and noise u (m)."""
        angle, seen = x[..., -1:], x[..., :-1]
        features = np.concatenate([np.ones_like(angle), seen], axis=-1)
        cos, sin = (_times(self._draw(name, self.dim_xi, 4), features) for name in ("cos", "sin"))
        mean = 1.0 + 0.2 * (np.cos(angle) * cos + np.sin(angle) * sin)
        return np.maximum(mean + 0.1 * u, _LEAST)


@dataclass(frozen=True, kw_only=True)
class ChangingCorrelation(Process):
    """xi_j = 1.2 + 0.3 (r^(1/2) g_0 + (1 - r)^(1/2) g_j), where the correlation r follows x_1.

    r = 0.95 / (1 + exp(-3 x_1)); means and variances never change.
    """

    dim_x: ClassVar[int] = 2

    @property
    def dim_noise(self) -> int:
        """Number of normal draws for an outcome: the common shock, and one a component."""
        return 1 + self.dim_xi

    def sample_given(self, x: Array, u: Array) -> Array:
        """Return xi (m) by the shocks u (1 + m), whose correlation the context (2) sets."""
        r = 0.95 * _logistic(3.0 * x[..., :1])
        shocks = np.sqrt(r) * u[..., :1] + np.sqrt(1.0 - r) * u[..., 1:]
        return np.maximum(1.2 + 0.3 * shocks, _LEAST)


@dataclass(frozen=True, kw_only=True)
class FewFeatures(Process):
    """xi_j = 1 + 0.15 a_j'(x_1, x_2, x_3) + g_j / 10: the other 27 features say nothing."""

    dim_x: ClassVar[int] = 30

    def sample_given(self, x: Array, u: Array) -> Array:
        """Return xi (m), linear in the first three features of x (30), with noise u (m)."""
        mean = 1.0 + 0.15 * _times(self._draw("sparse", self.dim_xi, 3), x[..., :3])
        return np.maximum(mean + 0.1 * u, _LEAST)


@dataclass(frozen=True, kw_only=True)
class OwnPast(Process):
    """log y_j = 0.85 log(last y_j) + a_j'x / 20 + g_j / 5 for xi = usual y: x does not say it."""

    usual: float = 30.0
    dim_x: ClassVar[int] = 2

    @property
    def dim_hidden(self) -> int:
        """Number of hidden components: the logarithms of the last outcome (m)."""
        return self.dim_xi

    def context(self, normal: Array, t: int, before: Array) -> Array:
        """Return the context (2 + m): the normal numbers, and log of the last xi over `usual`."""
        last = np.zeros_like(before) if t == 0 else np.log(before / self.usual)
        return np.concatenate([normal, last], axis=-1)

    def sample_given(self, x: Array, u: Array) -> Array:
        """Return xi (m) given x (2 + m), which ends with the last outcome, and noise u (m)."""
        shift = 0.05 * _times(self._draw("past", self.dim_xi, 2), x[..., :2])
        return np.asarray(self.usual * np.exp(0.85 * x[..., 2:] + shift + 0.2 * u))
