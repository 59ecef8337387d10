"""Readings of the print that need code of their own."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bocopt.abilities import RangedWithin, SmallestOfTies
from bocopt.core import (
    Array,
    Dims,
    IntArray,
    Ranged,
    RangedDifference,
    Risk,
    Sense,
    Solution,
    Status,
    Stream,
    judge,
)
from bocopt.problems import Knapsack


@dataclass(frozen=True)
class OtherSolver(ABC):
    """The knapsack, judged as it is but solved in another way."""

    problem: Knapsack
    withholds: ClassVar[Mapping[type, str]] = {
        Ranged: "certificates are of the knapsack",
        RangedDifference: "certificates are of the knapsack",
        RangedWithin: "certificates are of the knapsack",
        SmallestOfTies: "it is solved in another way",
    }

    @property
    def inner(self) -> Knapsack:
        """The knapsack, whose other abilities it has."""
        return self.problem

    @property
    def dims(self) -> Dims:
        """Sizes of the knapsack's context, decision and outcome."""
        return self.problem.dims

    @property
    def sense(self) -> Sense:
        """Sense of the knapsack: whether reports show costs or rewards."""
        return self.problem.sense

    @property
    def risk(self) -> Risk:
        """Risk of the knapsack, with its chance constraint."""
        return self.problem.risk

    @abstractmethod
    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        """Return the decision (d) for scenarios (s, m) of weights (s) and a context (k)."""
        ...

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        """Return the knapsack's cost () of a decision z (d) at an outcome xi (m)."""
        return self.problem.cost(x, z, xi)

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        """Return the knapsack's violation () of a decision z (d); feasible means <= 0."""
        return self.problem.violation(x, z, xi)

    def judge(self, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
        """Return the knapsack's cost () and violation () of a decision z (d)."""
        return judge(self.problem, x, z, xi)


@dataclass(frozen=True)
class Uncapped(OtherSolver):
    """The aggregated program as printed, without V_i <= c'z (E4).

    Each V_i then rises to M where scenario i is met, whatever z is: the program maximises the
    weight of the met scenarios, and after that the salvage. With weights A >= 0 both fall in every
    component of z, so that z = lower is optimal (tests/studies compare with enumeration).
    """

    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        """Return z = lower (d), infeasible where it holds in too few of the scenarios (s, m)."""
        lowest = np.asarray(self.problem.lower, dtype=np.float64)
        z = np.broadcast_to(lowest, (*scenarios.shape[:-2], self.dims.z))
        each = (x[..., None, :], z[..., None, :], scenarios)
        possible = self.risk.met(self.violation(*each), w)
        value = np.where(possible, (self.cost(*each) * w).sum(axis=-1), np.inf)
        status = np.where(possible, Status.OPTIMAL, Status.INFEASIBLE)
        return Solution(z, value, status, np.zeros(value.shape))


@dataclass(frozen=True)
class OneStream:
    """The stream of seed 0 for every trial: trials differ by their policies' randomness alone."""

    stream: Stream

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        """Yield contexts and outcomes of seed 0, broadcast to all seeds."""
        for x, xi in self.stream.stages(np.zeros(1, np.int64)):
            yield (
                np.broadcast_to(x[0], (*seeds.shape, x.shape[-1])),
                np.broadcast_to(xi[0], (*seeds.shape, xi.shape[-1])),
            )
