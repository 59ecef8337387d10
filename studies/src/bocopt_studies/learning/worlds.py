"""Streams to learn on: the paper's, and three more that nothing was fitted to."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, ConditionalSampler, IntArray, Problem, Stream
from bocopt.numeric import noise
from bocopt.paper import PaperStream
from bocopt.problems import Knapsack
from bocopt.streams import ChangePoint
from bocopt_studies.paper.settings import Settings, problem_of

_CHI = 3  # degrees of freedom of the Student noise


@dataclass(frozen=True)
class Synthetic:
    """An autoregressive context and an outcome that depends on it by random matrices.

    `student`: xi = 2 + A x + (0.05 + |B x|^(1/2) / 3) t, each component with a t of 3 degrees of
    freedom of its own, cut at 0: no member of the mixture has this law.
    `lognormal`: xi = exp(A x + s g - s^2 / 2) with s = 0.1 + |B x|.
    """

    dim_x: int
    dim_xi: int
    law: Literal["student", "lognormal"]
    matrices: int = 0  # which draw of them

    @property
    def dim_noise(self) -> int:
        """Number of normal draws for an outcome: four for each component."""
        return self.dim_xi * (1 + _CHI)

    @cached_property
    def _coefficients(self) -> tuple[Array, Array, Array]:
        """Matrices of the autoregression (k, k), the mean (m, k) and the scale (m, k)."""
        normal = noise.normal(
            np.array(self.matrices), 0, "worlds", (self.dim_x + 2 * self.dim_xi, self.dim_x)
        )
        own, mean, spread = np.split(normal, [self.dim_x, self.dim_x + self.dim_xi])
        own = 0.7 * own / np.linalg.norm(own, 2)
        scale = 1 / np.sqrt(self.dim_x)
        return own, 0.08 * scale * mean, 0.15 * scale * spread

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        """Endless."""
        seeds = arguments.seeds_of("Synthetic.stages", seeds)
        x, t = np.zeros((*seeds.shape, self.dim_x)), 0
        while True:
            step = noise.normal(seeds, t, "worlds.context", (self.dim_x,))
            x = np.matmul(self._coefficients[0], x[..., None])[..., 0] + step
            yield x, self.sample_given(x, noise.normal(seeds, t, "worlds.noise", (self.dim_noise,)))
            t += 1

    def sample_given(self, x: Array, u: Array) -> Array:
        """(k), (n) -> (m)."""
        _, to_mean, to_spread = self._coefficients
        mean, spread = (np.matmul(a, x[..., None])[..., 0] for a in (to_mean, to_spread))
        normal, rest = u[..., : self.dim_xi], u[..., self.dim_xi :]
        if self.law == "student":
            chi = (rest.reshape(*rest.shape[:-1], self.dim_xi, _CHI) ** 2).sum(axis=-1)
            heavy = normal / np.sqrt(chi / _CHI)
            sd = 0.05 + np.sqrt(np.abs(spread)) / 3
            return np.asarray(np.maximum(2.0 + mean + sd * heavy, 0.0))
        sd = 0.1 + np.abs(spread)
        return np.asarray(np.exp(mean + sd * normal - sd**2 / 2))


@dataclass(frozen=True)
class Later:
    """A stream without its first stages."""

    stream: Stream
    skipped: int

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        """Yield the stages after the first `skipped`."""
        return islice(self.stream.stages(seeds), self.skipped, None)


class LearningWorld(NamedTuple):
    """World to compare policies on; `law` is what the best would know, where it is known."""

    problem: Problem
    stream: Stream
    law: ConditionalSampler | None
    knowing: Stream | None = None  # with all that the law reads, where learners see less of it

    @property
    def best_stream(self) -> Stream:
        """Stream that the best of them would see, with the same outcomes."""
        return self.stream if self.knowing is None else self.knowing


def worlds(horizon: int) -> dict[str, LearningWorld]:
    """Return the four worlds by name; the regime changes at half of the horizon."""
    paper, problem = PaperStream(), problem_of(Settings())
    heavy = Synthetic(3, 12, "student", 1)
    other = Synthetic(5, 6, "lognormal", 2)
    small = Knapsack(value=[12] * 3, capacity=[8] * 2, salvage=[3] * 2)
    roomy = Knapsack(value=[24] * 4, capacity=[16] * 3, salvage=[3] * 3)
    return {
        "paper": LearningWorld(problem, paper, paper),
        "heavy tails": LearningWorld(roomy, heavy, heavy),
        "change of regime": LearningWorld(problem, ChangePoint(paper, heavy, horizon // 2), None),
        "other dimensions": LearningWorld(small, other, other),
    }
