"""The integer knapsack with uncertain weights.

The kernels are imported at first use: numba takes a while to load, and seconds to compile once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bocopt import arguments
from bocopt.core import Array, Dims, Sense, Solution

T = TypeVar("T", bound=np.generic)

_WEIGHT_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True)
class Knapsack:
    """Choose how many of each item to take when what they weigh is uncertain.

    With weights A (resources x items; xi is A row by row), the reward is

        c'z + q'(b - A z)   if A z <= b,   else `infeasible_reward`,

    for integers lower <= z <= upper: value c and salvage q per unit, capacity b. Under scenarios,
    `solve` maximises the expected reward subject to P(A z <= b) >= alpha, exactly. `upper` is a
    real modelling choice where weights can be close to zero (E3). At `node_limit` nodes the search
    stops with status LIMIT, its best decision and a gap.

    >>> problem = Knapsack(value=[12, 12], capacity=[8], salvage=[3])
    >>> solution = problem.solve(np.zeros(0), np.array([[1.0, 2.0]]), np.ones(1))
    >>> solution.z.tolist(), float(-solution.value)
    ([8.0, 0.0], 96.0)

    Reference: Xie, Abdin, Fang, PAC-Bayes Meets Online Contextual Optimization, section 4.
    """

    value: Sequence[float]
    capacity: Sequence[float]
    salvage: Sequence[float]
    lower: int | Sequence[int] = 0
    upper: int | Sequence[int] = 1000
    alpha: float = 0.9
    infeasible_reward: float = 0.0
    node_limit: int = 100_000_000

    def __post_init__(self) -> None:
        value = arguments.numbers("Knapsack", "value", self.value, "[0, inf)")
        capacity = arguments.numbers("Knapsack", "capacity", self.capacity, "[0, inf)")
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
                "Knapsack", "salvage", self.salvage, "[0, inf)", len(capacity)
            ),
            **bounds,
            "alpha": arguments.number("Knapsack", "alpha", self.alpha, "(0, 1]"),
            "infeasible_reward": arguments.number(
                "Knapsack", "infeasible_reward", self.infeasible_reward, "(-inf, 0]"
            ),
            "node_limit": arguments.integer("Knapsack", "node_limit", self.node_limit, "[1, inf)"),
        }
        for name, argument in checked.items():
            object.__setattr__(self, name, argument)

    @property
    def dims(self) -> Dims:
        return Dims(x=None, z=len(self.value), xi=len(self.value) * len(self.capacity))

    @property
    def sense(self) -> Sense:
        return Sense.MAXIMISE

    def solve(self, x: Array, scenarios: Array, w: Array) -> Solution:
        """(k), (s, m), (s) -> the exact optimum under the scenarios."""
        scenarios = arguments.array("Knapsack.solve", "scenarios", scenarios, (None, self.dims.xi))
        w = arguments.array("Knapsack.solve", "w", w, (scenarios.shape[-2],))
        if (w < 0).any() or (abs(w.sum(axis=-1) - 1) > _WEIGHT_SUM_TOLERANCE).any():
            raise arguments.wrong("Knapsack.solve", "w", "non-negative with sum 1", w)
        from bocopt.problems import reference

        z, value, status, gap = reference.solve(
            self._matrices(scenarios),
            w,
            *self._constants,
            self.alpha,
            self.infeasible_reward,
            self.node_limit,
        )
        return Solution(_lead(z, x, core=1), _lead(value, x), _lead(status, x), _lead(gap, x))

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> () minus the reward."""
        z = arguments.array("Knapsack.cost", "z", z, (self.dims.z,))
        xi = arguments.array("Knapsack.cost", "xi", xi, (self.dims.xi,))
        from bocopt.problems import judge

        value, capacity, salvage, _, _ = self._constants
        weights = self._matrices(xi)
        return _lead(judge.cost(weights, z, value, capacity, salvage, self.infeasible_reward), x)

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> () the largest excess over a capacity; feasible means <= 0."""
        z = arguments.array("Knapsack.violation", "z", z, (self.dims.z,))
        xi = arguments.array("Knapsack.violation", "xi", xi, (self.dims.xi,))
        from bocopt.problems import judge

        return _lead(judge.violation(self._matrices(xi), z, self._constants[1]), x)

    def _matrices(self, xi: Array) -> Array:
        return xi.reshape(*xi.shape[:-1], len(self.capacity), len(self.value))

    @cached_property
    def _constants(self) -> tuple[Array, ...]:
        """The fields as the kernels take them."""
        fields = self.value, self.capacity, self.salvage, self.lower, self.upper
        return tuple(np.array(field, dtype=np.float64) for field in fields)


def _lead(result: NDArray[T], x: Array, core: int = 0) -> NDArray[T]:
    """The result with the context's leading axes too: the knapsack itself does not read x."""
    shape = np.shape(result)
    split = len(shape) - core
    lead = np.broadcast_shapes(shape[:split], np.shape(x)[:-1])
    return np.broadcast_to(result, (*lead, *shape[split:]))
