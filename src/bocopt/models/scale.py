"""The scale on which a member looks at outcomes and contexts: as they are, or their logarithm."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray

ScaleParams = tuple[Array, ...]

_LEAST = 1e-200  # mean: others divided by less could overflow
_ROOM = 0.05  # beyond the largest outcome, on the logarithmic scale: there always is as much


class Scale(Protocol):
    """An increasing function of each number, chosen by the past. All functions are pure."""

    def init(self, lead: tuple[int, ...], dim_x: int, dim_xi: int) -> ScaleParams:
        """Before any outcome, of the shapes that `fit` returns."""
        ...

    def fit(self, x: Array, xi: Array) -> ScaleParams:
        """(n, k), (n, m) -> what the functions need to know."""
        ...

    def suits(self, lowest: Array) -> BoolArray:
        """(m) the lowest outcomes so far -> (): whether the scale is meant for such outcomes."""
        ...

    def context(self, params: ScaleParams, x: Array) -> Array:
        """(k) -> (k)."""
        ...

    def outcome(self, params: ScaleParams, xi: Array) -> Array:
        """(m) -> (m)."""
        ...

    def inverse(self, params: ScaleParams, seen: Array) -> Array:
        """(m) -> (m): the outcome that is seen so."""
        ...

    def log_abs_det_jacobian(self, params: ScaleParams, xi: Array) -> Array:
        """(m) -> (): the log of the volume that a unit of outcomes has on the scale."""
        ...


@dataclass(frozen=True)
class Plain:
    """Numbers as they are."""

    def init(self, lead: tuple[int, ...], dim_x: int, dim_xi: int) -> ScaleParams:
        """Return no parameters."""
        return ()

    def fit(self, x: Array, xi: Array) -> ScaleParams:
        """Return no parameters, whatever the past."""
        return ()

    def suits(self, lowest: Array) -> BoolArray:
        """Return True (), whatever the lowest outcomes (m)."""
        return np.ones(lowest.shape[:-1], bool)

    def context(self, params: ScaleParams, x: Array) -> Array:
        """Return the context (k) as it is."""
        return x

    def outcome(self, params: ScaleParams, xi: Array) -> Array:
        """Return the outcome (m) as it is."""
        return xi

    def inverse(self, params: ScaleParams, seen: Array) -> Array:
        """Return the outcome (m) as it is."""
        return seen

    def log_abs_det_jacobian(self, params: ScaleParams, xi: Array) -> Array:
        """Return 0 (), the log volume of a unit of outcomes (m)."""
        return np.zeros(xi.shape[:-1])


@dataclass(frozen=True)
class Logarithmic:
    """log(1 + y / c) of outcomes that are never negative: for spreads that grow with the level.

    c is `base` times the mean of the outcome so far. Contexts that were never negative are bent
    likewise.
    """

    base: float = 0.05

    def __post_init__(self) -> None:
        arguments.number("Logarithmic", "base", self.base, "(0, inf)")

    def init(self, lead: tuple[int, ...], dim_x: int, dim_xi: int) -> ScaleParams:
        """Return the parameters before any outcome: ones (k), (m) and (m)."""
        return np.ones((*lead, dim_x)), np.ones((*lead, dim_xi)), np.ones((*lead, dim_xi))

    def fit(self, x: Array, xi: Array) -> ScaleParams:
        """c of contexts (infinite: left alone) and outcomes, and the furthest outcome drawn.

        That is half a range beyond the largest on the scale, and a whole one as outcomes are: where
        one was near 0, the first of them is many times the largest.
        """
        xi = np.maximum(xi, 0.0)
        unit = self._unit(xi)
        of_x = np.where((x >= 0).all(axis=-2), self._unit(np.abs(x)), np.inf)
        least, most = xi.min(axis=-2), xi.max(axis=-2)
        low, high, far = (np.log1p(y / unit) for y in (least, most, 2.0 * most - least))
        return of_x, unit, np.maximum(np.minimum(high + 0.5 * (high - low), far), high + _ROOM)

    def _unit(self, values: Array) -> Array:
        mean = values.mean(axis=-2)
        unit: Array = self.base * np.where(mean > _LEAST, mean, 1.0)
        return unit

    def suits(self, lowest: Array) -> BoolArray:
        """Return () whether none of the lowest outcomes (m) is negative."""
        return np.asarray((lowest >= 0).all(axis=-1))

    def context(self, params: ScaleParams, x: Array) -> Array:
        """Return log(1 + x / c) (k), and the contexts of infinite c as they are."""
        bent = np.log1p(np.maximum(x, 0.0) / params[0])
        return np.where(np.isinf(params[0]), x, bent)

    def outcome(self, params: ScaleParams, xi: Array) -> Array:
        """Return log(1 + xi / c) (m); negative outcomes count as 0."""
        return np.asarray(np.log1p(np.maximum(xi, 0.0) / params[1]))

    def inverse(self, params: ScaleParams, seen: Array) -> Array:
        """Return the outcome (m) with this logarithm, at most the furthest one of `fit`."""
        return np.asarray(params[1] * np.expm1(np.minimum(seen, params[2])))

    def log_abs_det_jacobian(self, params: ScaleParams, xi: Array) -> Array:
        """Return the log volume () of a unit of outcomes (m): -sum of log(c + xi)."""
        slope: Array = -np.log(params[1] + np.maximum(xi, 0.0)).sum(axis=-1)
        return slope
