"""The integer knapsack with uncertain weights.

The kernels are imported at first use: numba takes a while to load, and seconds to compile once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import ClassVar

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray, Bounds, Dims, Sense, Solution
from bocopt.problems import ranges
from bocopt.problems.defaults import filled_in
from bocopt.problems.knapsack.within import WeightsWithin
from bocopt.problems.risk import Chance

_LARGEST = 1e100  # numbers above this are mistakes, and could overflow
_FEW = 10_000  # numbers


@cache
def _judge() -> ModuleType:
    """Return the judge's module, imported once: a repeated import takes as long as a judgement."""
    from bocopt.problems.knapsack import judge

    return judge


@cache
def _differences() -> ModuleType:
    from bocopt.problems.knapsack import differences

    return differences


@dataclass(frozen=True, kw_only=True)
class Knapsack:
    """Choose how many of each item to take when what they weigh is uncertain.

    With weights A (resources x items; xi is A row by row), the reward is

        c'z + q'(b - A z)   if A z <= b,   else `infeasible_reward`,

    for integers lower <= z <= upper: value c and salvage q per unit, capacity b. Under scenarios,
    `solve` maximises the expected reward subject to P(A z <= b) >= alpha, exactly. `upper` is a
    real modelling choice where weights can be close to zero (E3). At `node_limit` nodes the search
    stops with status LIMIT, its best decision and a gap; None stands for as many as take about a
    second. `readable_search` forces the slower reference search, which answers the same.

    With `pays_worst_feasible`, an infeasible z earns min over feasible a of c'a + q'(b - A a), what
    the worst decision would have that was feasible for these weights (Assumption 3.1(a)), and
    `infeasible_reward` only where none was. It is then never better to be infeasible, and never
    worse than the worst that is not.

    >>> problem = Knapsack(value=[12, 12], capacity=[8], salvage=[3])
    >>> solution = problem.solve(np.array([[1.0, 2.0]]))
    >>> solution.z.tolist(), float(-solution.value)
    ([8.0, 0.0], 96.0)
    >>> z, xi = np.array([9.0, 0.0]), np.array([1.0, 5.0])
    >>> mild = Knapsack(value=[12, 12], capacity=[8], salvage=[3], pays_worst_feasible=True)
    >>> float(-mild.cost(np.zeros(0), z, xi))  # as (0, 1) does: 12 + 3 (8 - 5)
    21.0

    Reference: Xie, Abdin, Fang, PAC-Bayes Meets Online Contextual Optimization, section 4.
    """

    value: Sequence[float]
    capacity: Sequence[float]
    salvage: Sequence[float]
    lower: int | Sequence[int] = 0
    upper: int | Sequence[int] = 1000
    alpha: float = 0.9
    infeasible_reward: float = 0.0
    node_limit: int | None = None
    readable_search: bool = False
    pays_worst_feasible: bool = False

    def __post_init__(self) -> None:
        value = arguments.numbers("Knapsack", "value", self.value, "[0, 1e100]")
        capacity = arguments.numbers("Knapsack", "capacity", self.capacity, "[0, 1e100]")
        bounds = {
            name: arguments.integers(
                "Knapsack", name, getattr(self, name), "[0, 1000000]", len(value)
            )
            for name in ("lower", "upper")
        }
        if any(low > high for low, high in zip(bounds["lower"], bounds["upper"], strict=True)):
            raise arguments.wrong("Knapsack", "upper", f"at least lower = {self.lower}", self.upper)
        checked = {
            "value": value,
            "capacity": capacity,
            "salvage": arguments.numbers(
                "Knapsack", "salvage", self.salvage, "[0, 1e100]", len(capacity)
            ),
            **bounds,
            "alpha": arguments.number("Knapsack", "alpha", self.alpha, "(0, 1]"),
            "infeasible_reward": arguments.number(
                "Knapsack", "infeasible_reward", self.infeasible_reward, "[-1e100, 0]"
            ),
            "node_limit": self.node_limit
            if self.node_limit is None
            else arguments.integer("Knapsack", "node_limit", self.node_limit, "[1, 1000000000000]"),
        }
        for name in ("readable_search", "pays_worst_feasible"):
            if not isinstance(getattr(self, name), bool):
                raise arguments.wrong("Knapsack", name, "True or False", getattr(self, name))
        for name, argument in checked.items():
            object.__setattr__(self, name, argument)

    smallest_of_ties: ClassVar[bool] = True
    prices_infeasibility: ClassVar[bool] = True

    @cached_property
    def dims(self) -> Dims:
        """The sizes of z (items) and xi (resources * items); x is not read."""
        return Dims(x=None, z=len(self.value), xi=len(self.value) * len(self.capacity))

    @property
    def sense(self) -> Sense:
        """The sense: the reward is maximised."""
        return Sense.MAXIMISE

    @property
    def risk(self) -> Chance:
        """The expected cost, subject to the chance constraint at level alpha."""
        return Chance(self.alpha)

    def solve(self, scenarios: Array, w: Array | None = None, x: Array | None = None) -> Solution:
        """(s, m), (s), (k) -> the exact optimum under the scenarios."""
        from bocopt.problems.knapsack import lattice

        scenarios, w, x = filled_in("Knapsack.solve", self.dims, scenarios, w, x)
        weights = self._matrices("Knapsack.solve", "scenarios", scenarios)
        lead = arguments.lead(
            "Knapsack.solve", x=np.shape(x)[:-1], scenarios=weights.shape[:-3], w=w.shape[:-1]
        )
        z, value, status, gap = lattice.solve(
            weights,
            w,
            self._constants,
            self.alpha,
            self.infeasible_reward,
            self.node_limit,
            self.readable_search,
            self.pays_worst_feasible,
        )
        return Solution(
            np.broadcast_to(z, (*lead, self.dims.z)),
            np.broadcast_to(value, lead),
            np.broadcast_to(status, lead),
            np.broadcast_to(gap, lead),
        )

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> () minus the reward."""
        z, weights, lead = self._outcome("Knapsack.cost", x, z, xi)
        return arguments.broadcast(self._paid(weights, z, None), lead)

    def _paid(self, weights: Array, z: Array, violation: Array | None) -> Array:
        """(r, d), (d), () -> () the cost; the violation is found where it is needed, not given."""
        payment: float | Array = self.infeasible_reward
        if self.pays_worst_feasible:
            found = self._violated(weights, z) if violation is None else violation
            payment = self._worst_feasible(weights, found)
        cost: Array = _judge().cost(weights, z, *self._constants, payment)
        return cost

    def _worst_feasible(self, weights: Array, violation: Array) -> Array:
        """(r, d), () -> () the reward of a z where it is infeasible."""
        from bocopt.problems.knapsack import worst

        infeasible = violation > 0
        payment = np.full(infeasible.shape, self.infeasible_reward)
        each = np.broadcast_to(weights, (*infeasible.shape, *weights.shape[-2:]))[infeasible]
        payment[infeasible] = worst.worst_rewards(each, self._constants, self.infeasible_reward)
        return payment

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> () the largest excess over a capacity, or distance from the box.

        Feasible means <= 0.
        """
        z, weights, lead = self._outcome("Knapsack.violation", x, z, xi)
        return arguments.broadcast(self._violated(weights, z), lead)

    def _violated(self, weights: Array, z: Array) -> Array:
        _, capacity, _, lower, upper = self._constants
        violation: Array = _judge().violation(weights, z, capacity, lower, upper)
        return violation

    def judge(self, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
        """(k), (d), (m) -> (), () cost and violation."""
        z, weights, lead = self._outcome("Knapsack.judge", x, z, xi)
        violation = self._violated(weights, z)
        cost = self._paid(weights, z, violation)
        return arguments.broadcast(cost, lead), arguments.broadcast(violation, lead)

    def range(self, x: Array, z: Array) -> tuple[Array, Array]:
        """(k), (d) -> (), (): for any possible weights, the cost lies in [low, high].

        The reward of a feasible decision is between c'z and c'z + q'b; otherwise it is
        `infeasible_reward`. The worst feasible reward, if that is paid, is at least `lower`'s value
        and at most what `lower` earns.
        """
        z = arguments.inner("Knapsack.range", "z", z, self.dims.z)
        value, capacity, salvage, lower, _ = self._constants
        least = (lower * value).sum() if self.pays_worst_feasible else -np.inf
        always = self.pays_worst_feasible and not lower.any()  # some z is feasible, whatever xi is
        unmet = 0.0 if always else 0.0 - self.infeasible_reward
        low, high = _judge().ends(z, value, capacity, salvage, least, unmet)
        return low, high

    def range_of_difference(self, x: Array, z: Array, other: Array) -> tuple[Array, Array]:
        """(k), (d), (d) -> (), (): for any possible weights, which are the same for both."""
        owner, unmet = "Knapsack.range_of_difference", 0.0 - self.infeasible_reward
        z, other = ranges.decisions(owner, self.dims, x, z, other)
        if self.pays_worst_feasible:  # what is paid depends on xi: no more is known than both say
            anything = np.full(z.shape[:-1], -np.inf), np.full(z.shape[:-1], np.inf)
            return ranges.narrowed(anything, z, other, self.range(x, z), self.range(x, other))
        low, high = _differences().range_of_difference(z, other, *self._constants, unmet)
        return low, high

    def within(self, bounds: Bounds) -> WeightsWithin:
        """Return ends for weights within bounds (m): exact ones of a cost, where what is infeasible
        pays `infeasible_reward`.
        """
        support = np.zeros(self.dims.xi), np.full(self.dims.xi, np.inf)
        weights = ranges.possible_within("Knapsack.within", bounds, support)
        return WeightsWithin(self, self._constants, self._unmet, weights)

    def possible(self, x: Array, xi: Array) -> BoolArray:
        """(k), (m) -> (): weights that are not negative."""
        xi = arguments.inner("Knapsack.possible", "xi", xi, self.dims.xi)
        return np.asarray(_judge().possible(xi))

    def _outcome(
        self, owner: str, x: Array, z: Array, xi: Array
    ) -> tuple[Array, Array, tuple[int, ...]]:
        z = arguments.inner(owner, "z", z, self.dims.z)
        weights = self._matrices(owner, "xi", arguments.inner(owner, "xi", xi, self.dims.xi))
        lead = arguments.lead(owner, x=np.shape(x)[:-1], z=z.shape[:-1], xi=weights.shape[:-2])
        return z, weights, lead

    def _matrices(self, owner: str, name: str, xi: Array) -> Array:
        """(..., m) -> (..., resources, items)."""
        few = xi.size <= _FEW  # of many, a product would be computed by several threads
        if not (few and np.vdot(xi, xi) <= _LARGEST**2):  # quick to tell
            largest = max(xi.max(initial=0.0), -xi.min(initial=0.0))
            if largest > _LARGEST:
                raise arguments.wrong(owner, name, f"at most {_LARGEST} in size", largest)
        return xi.reshape(*xi.shape[:-1], len(self.capacity), len(self.value))

    @cached_property
    def _unmet(self) -> tuple[float, float]:
        """The ends of what an infeasible decision costs."""
        unmet = 0.0 - self.infeasible_reward
        if not self.pays_worst_feasible:
            return unmet, unmet
        value, capacity, salvage, lower, _ = self._constants
        earned = (lower * value).sum() + (salvage * capacity).sum()
        return min(-earned, unmet), unmet if lower.any() else 0.0

    @cached_property
    def _constants(self) -> tuple[Array, Array, Array, Array, Array]:
        """The fields as the kernels take them."""
        fields = self.value, self.capacity, self.salvage, self.lower, self.upper
        value, capacity, salvage, lower, upper = (np.array(field, float) for field in fields)
        return value, capacity, salvage, lower, upper
