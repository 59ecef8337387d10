"""One world for each class of problems: what is decided, and a stream whose law is known.

Numbers were set from what such a business looks like, before policies were compared, and not
changed for what they earned. One was changed for speed, after first runs of 20 stages: the ward of
`_staffing` was three times as large, and took seconds a roster. Everybody knows the usual outcome
before the first one: learners begin with the decision that is best for it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.abilities import RangedWithin
from bocopt.core import (
    Array,
    Dims,
    IntArray,
    Problem,
    Ranged,
    RangedDifference,
    Risk,
    Sense,
    Solution,
    judge,
)
from bocopt.numeric import noise
from bocopt.problems import (
    BinaryKnapsack,
    Newsvendor,
    facility_location,
    grid,
    portfolio,
    staffing,
    unit_commitment,
)

_KEPT = 0.8  # of a context, from one stage to the next
_UNREST = 0.3  # how much the last context moves the log of the spread


@dataclass(frozen=True, kw_only=True)
class LogNormal:
    """Outcomes that a context multiplies, with a common shock: demands, costs, prices.

        xi_j = usual_j exp(a_j'x + s g_j - s^2 / 2) - less,    s = spread_j exp(0.3 x_k)
        g_j = common^(1/2) h_0 + (1 - common)^(1/2) h_j,       h ~ N(0, I)

    x (k) is a stationary autoregression of variance 1. The a_j are random, such that a_j'x has the
    standard deviation `effect` on average. Neither the mean nor the spread is linear in x.
    """

    usual: Sequence[float]
    effect: float
    spread: float | Sequence[float]
    common: float
    less: float = 0.0
    dim_x: int = 3
    law: int = 0  # which draw of the a_j

    @property
    def dim_noise(self) -> int:
        """Number of normal draws for an outcome: the common shock, and one a component."""
        return 1 + len(self.usual)

    @property
    def centre(self) -> Array:
        """(m) what is usual."""
        return np.asarray(self.usual, float) - self.less

    @property
    def scale(self) -> Array:
        """(m) about the standard deviation of xi."""
        return np.asarray(self.usual, float) * np.hypot(self.effect, self.spread)

    @cached_property
    def _effects(self) -> Array:
        """(m, k)."""
        shape = (len(self.usual), self.dim_x)
        normal = noise.normal(np.array(self.law), 0, "problems.effects", shape)
        effects: Array = self.effect / np.sqrt(self.dim_x) * normal
        return effects

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        """Endless."""
        seeds = arguments.seeds_of("LogNormal.stages", seeds)
        x, t = noise.normal(seeds, 0, "problems.first", (self.dim_x,)), 0
        while True:
            step = noise.normal(seeds, t, "problems.context", (self.dim_x,))
            x = _KEPT * x + np.sqrt(1 - _KEPT**2) * step
            u = noise.normal(seeds, t, "problems.noise", (self.dim_noise,))
            yield x, self.sample_given(x, u)
            t += 1

    def sample_given(self, x: Array, u: Array) -> Array:
        """(k), (n) -> (m)."""
        shift = np.matmul(self._effects, x[..., None])[..., 0]
        s = np.asarray(self.spread) * np.exp(_UNREST * x[..., -1:])
        g = np.sqrt(self.common) * u[..., :1] + np.sqrt(1 - self.common) * u[..., 1:]
        xi: Array = np.asarray(self.usual) * np.exp(shift + s * g - s**2 / 2) - self.less
        return xi


@dataclass(frozen=True)
class Always:
    """A problem that reads a context, where that is the same at every stage."""

    problem: Problem
    own: Sequence[float]
    withholds: ClassVar[Mapping[type, str]] = {
        Ranged: "nothing is certified here",
        RangedDifference: "nothing is certified here",
        RangedWithin: "nothing is certified here",
    }

    @property
    def inner(self) -> Problem:
        """The problem, whose other abilities it has."""
        return self.problem

    @property
    def dims(self) -> Dims:
        """Sizes of the problem's vectors; no context is read."""
        return self.problem.dims._replace(x=None)

    @property
    def sense(self) -> Sense:
        """Sense of the problem: whether reports show costs or rewards."""
        return self.problem.sense

    @property
    def risk(self) -> Risk:
        """Risk of the problem."""
        return self.problem.risk

    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        """Return the problem's decision (d) for scenarios (s, m), at the context `own`."""
        return self.problem.solve(scenarios, w, self._own(x))

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        """Return the cost () of a decision z (d), at the context `own`."""
        return self.problem.cost(self._own(x), z, xi)

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        """Return the violation () of a decision z (d), at the context `own`."""
        return self.problem.violation(self._own(x), z, xi)

    def judge(self, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
        """Return the cost () and the violation () of a decision z (d), at the context `own`."""
        return judge(self.problem, self._own(x), z, xi)

    def _own(self, x: Array) -> Array:
        return np.broadcast_to(np.asarray(self.own, float), (*x.shape[:-1], len(self.own)))


class ProblemWorld(NamedTuple):
    """World to compare policies on: a problem, and a stream whose law is known."""

    problem: Problem
    stream: LogNormal
    stake: float  # about the standard deviation of what the first decision costs
    scenarios: int = 1000  # of the true law, for the conditional optimum
    linear: bool = False  # in xi

    @property
    def first(self) -> tuple[float, ...]:
        """(d) the best decision for the usual outcome."""
        usual = self.stream.centre[None]
        found = self.problem.solve(usual, np.ones(1), np.zeros(self.stream.dim_x))
        return tuple(found.z.tolist())


def worlds() -> dict[str, ProblemWorld]:
    """Return the worlds, by the name of the class."""
    return {
        "newsvendor": _newsvendor(),
        "staffing": _staffing(),
        "shortest path": _path(),
        "0-1 knapsack": _knapsack(),
        "0-1 knapsack, certain weights": _certain_knapsack(),
        "portfolio": _portfolio(),
        "unit commitment": _commitment(),
        "facility location": _facility(),
    }


def _newsvendor() -> ProblemWorld:
    """Five products in one lorry, which is too small for all that is usually asked for."""
    problem = Newsvendor(
        unit_cost=[3, 4, 2, 5, 3],
        price=[6, 9, 5, 9, 8],
        salvage=1,
        volume=[1, 2, 1, 2, 1.5],
        capacity=300,
    )
    stream = LogNormal(usual=[60, 40, 80, 30, 50], effect=0.3, spread=0.3, common=0.3)
    return ProblemWorld(problem, stream, stake=165)


def _staffing() -> ProblemWorld:
    """A ward with three to seven nurses at a time, and shifts of three of its eight intervals.

    A day that is not covered costs more than the dearest roster.
    """
    covers = [[float(shift <= interval < shift + 3) for shift in range(6)] for interval in range(8)]
    problem = staffing(
        wage=[20] * 6, covers=covers, chance=0.9, upper=15, infeasible_objective=2000
    )
    stream = LogNormal(usual=[3, 4, 6, 7, 7, 6, 4, 3], effect=0.2, spread=0.15, common=0.5)
    return ProblemWorld(problem, stream, stake=450, scenarios=128)


def _path() -> ProblemWorld:
    """Travel times in a town: streets of different lengths, and traffic that they share."""
    lengths = 1.0 + noise.uniform(np.array(0), 0, "problems.lengths", (40,))
    stream = LogNormal(usual=lengths.tolist(), effect=0.3, spread=0.3, common=0.2)
    return ProblemWorld(grid(5, 5), stream, stake=2, linear=True)


_VALUES = (8, 9, 10, 11, 12, 13, 14, 15, 16, 10, 12, 14)
_WEIGHTS = (3, 4, 4, 5, 5, 6, 6, 7, 8, 3, 5, 7)


def _knapsack() -> ProblemWorld:
    """Jobs for a day: what they earn and how long they take becomes known when they are done."""
    problem = BinaryKnapsack(items=12, capacity=30)
    stream = LogNormal(usual=(*_VALUES, *_WEIGHTS), effect=0.2, spread=0.2, common=0.1)
    return ProblemWorld(problem, stream, stake=40)


def _certain_knapsack() -> ProblemWorld:
    """The same jobs, where how long they take is known."""
    problem = BinaryKnapsack(items=12, capacity=30, weights=_WEIGHTS)
    stream = LogNormal(usual=_VALUES, effect=0.3, spread=0.3, common=0.1)
    return ProblemWorld(problem, stream, stake=18, linear=True)


def _portfolio() -> ProblemWorld:
    """Weekly returns in per cent: more of them where there is more risk; little can be foreseen."""
    stream = LogNormal(
        usual=[100.05, 100.1, 100.15, 100.2, 100.25, 100.3],
        effect=0.005,
        spread=[0.005, 0.01, 0.015, 0.02, 0.03, 0.04],
        common=0.4,
        less=100,
    )
    problem = Always(portfolio(assets=6, beta=0.95, most=0.4), [1 / 6] * 6)
    return ProblemWorld(problem, stream, stake=3)


def _commitment() -> ProblemWorld:
    """A large, a middle and a peak generator; each morning they are cold."""
    problem = unit_commitment(
        hours=4,
        capacity=[60, 40, 25],
        least=[25, 10, 5],
        start_cost=[300, 120, 40],
        hour_cost=[100, 80, 50],
        fuel_cost=[12, 20, 35],
        unserved_cost=200,
    )
    stream = LogNormal(usual=[50, 70, 90, 60], effect=0.15, spread=0.15, common=0.6)
    return ProblemWorld(Always(problem, [0] * 3), stream, stake=5000, scenarios=128)


def _facility() -> ProblemWorld:
    """Four depots, six customers: which depots to man, before orders come in."""
    problem = facility_location(
        fixed=[60, 70, 65, 80],
        ship_cost=[[1, 2, 3, 5, 6, 4], [4, 1, 2, 3, 5, 6], [6, 4, 1, 2, 3, 5], [3, 5, 6, 4, 1, 2]],
        room=[40] * 4,
        unmet_cost=20,
    )
    stream = LogNormal(usual=[8, 10, 12, 14, 16, 12], effect=0.3, spread=0.3, common=0.3)
    return ProblemWorld(problem, stream, stake=300, scenarios=128)
