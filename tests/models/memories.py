"""Streams that have a past, seasons or gaps, and models to show them to."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from mixtures import plain

from bocopt import (
    Mixture,
    run,
)
from bocopt.core import Array, IntArray, Policy, Problem, Stream
from bocopt.models import ConstantVariance
from bocopt.numeric import noise
from bocopt.problems import Newsvendor

SHOP = Newsvendor(unit_cost=[1.0, 1.0], price=[3.0, 3.0])
NAN = np.nan


def small(dim_xi: int = 2) -> Mixture:
    return plain(dim_xi=dim_xi, members=[ConstantVariance()], scenarios=64)


@dataclass(frozen=True)
class Gappy:
    """The contexts of another stream, of which a third is missing."""

    stream: Stream

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        for t, (x, xi) in enumerate(self.stream.stages(seeds)):
            missing = noise.uniform(np.asarray(seeds), t, "tests.gaps", x.shape[-1:]) < 1 / 3
            yield np.where(missing, NAN, x), xi


@dataclass(frozen=True)
class Weekly:
    """No context at all; the outcome follows the day of the week."""

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        course = 10.0 + 5.0 * np.sin(2 * np.pi * np.arange(7) / 7)
        for t in count():
            g = noise.normal(np.asarray(seeds), t, "tests.weekly", (2,))
            yield np.zeros((*np.shape(seeds), 0)), course[t % 7] + 0.5 * g


@dataclass(frozen=True)
class Hidden:
    """The context is missing where it is large, which makes the outcome large too."""

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        for t in count():
            x, g = np.split(noise.normal(np.asarray(seeds), t, "tests.hidden", (3,)), [1], axis=-1)
            yield np.where(x > 0.5, NAN, x), 10.0 + 3.0 * x + 0.5 * g


@dataclass(frozen=True)
class Unseen:
    """A stream without its contexts."""

    stream: Stream

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        for x, xi in self.stream.stages(seeds):
            yield x[..., :0], xi


def mean_cost(
    policy: Policy[Any], problem: Problem, stream: Stream, stages: int, trials: int
) -> Array:
    """(trials)."""
    played = run(
        policy, stream, problem=problem, seeds=range(trials), horizon=stages, hindsight=False
    )
    return np.asarray(np.mean([stage.cost for stage in played], axis=0))


class Watching:
    """A model that keeps the contexts it was shown."""

    def __init__(self) -> None:
        self.learned: list[Array] = []
        self.asked: list[Array] = []

    def init(self, seeds: IntArray) -> Any:
        return small(1).init(seeds)

    def step(self, state: Any, t: int, x: Array, xi: Array) -> Any:
        self.learned.append(x)
        return state

    def sample(self, state: Any, x: Array) -> tuple[Array, Array]:
        self.asked.append(x)
        return np.ones((2, 1)), np.array([0.5, 0.5])
