"""The 0-1 knapsack with uncertain values, and weights that are uncertain or not.

The kernels are imported at first use: numba takes a while to load, and seconds to compile once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray, Bounds, Dims, Sense, Solution, Status
from bocopt.problems import ranges
from bocopt.problems.library import questions
from bocopt.problems.program import Program, binary, maximise, program
from bocopt.problems.risk import Chance

_A_MOMENT = 2e8  # of work, in looks at one scenario or item: some tenths of a second


@dataclass(frozen=True, kw_only=True)
class BinaryKnapsack:
    """Choose which items to take when what they are worth, and may weigh, is uncertain.

        reward  v'z   if a'z <= capacity,   else `infeasible_reward`,      z in {0, 1}

    With `weights` a is certain and xi = v; without, xi = (v, a). Under scenarios, `solve` maximises
    the expected reward subject to P(a'z <= capacity) >= alpha: by a dynamic program where all is
    certain and weights are whole, by branch and bound otherwise. At `node_limit` nodes it stops
    with status LIMIT, its best decision and a gap; None stands for some tenths of a second.
    `largest_value`, of an item, is for certificates.

    >>> problem = BinaryKnapsack(items=3, capacity=5, weights=[2, 3, 4])
    >>> solution = problem.solve(np.array([[3.0, 4.0, 6.0]]))
    >>> solution.z.tolist(), float(-solution.value)
    ([1.0, 1.0, 0.0], 7.0)

    Reference: Kellerer, Pferschy, Pisinger, Knapsack problems, 2004, chapters 2 and 5.
    """

    items: int
    capacity: float
    weights: Sequence[float] | None = None
    alpha: float = 0.9
    infeasible_reward: float = 0.0
    node_limit: int | None = None
    largest_value: float | None = None

    def __post_init__(self) -> None:
        name = "BinaryKnapsack"
        items = arguments.integer(name, "items", self.items, "[1, 10000]")
        checked: dict[str, object] = {
            "items": items,
            "capacity": arguments.number(name, "capacity", self.capacity, "[0, 1e100]"),
            "alpha": arguments.number(name, "alpha", self.alpha, "(0, 1]"),
            "infeasible_reward": arguments.number(
                name, "infeasible_reward", self.infeasible_reward, "[-1e100, 0]"
            ),
        }
        if self.weights is not None:
            checked["weights"] = arguments.numbers(
                name, "weights", self.weights, "[0, 1e100]", items
            )
        if self.node_limit is not None:
            arguments.integer(name, "node_limit", self.node_limit, "[1, 1000000000000]")
        if self.largest_value is not None:
            arguments.number(name, "largest_value", self.largest_value, "[0, 1e100]")
        for field, argument in checked.items():
            object.__setattr__(self, field, argument)

    sense: ClassVar[Sense] = Sense.MAXIMISE
    prices_infeasibility: ClassVar[bool] = True

    @property
    def dims(self) -> Dims:
        """The sizes of z (items) and xi (items, or twice as many with weights); x is not read."""
        return Dims(x=None, z=self.items, xi=self.items * (2 if self.weights is None else 1))

    @property
    def risk(self) -> Chance:
        """The expected cost, with a chance constraint at alpha, or at 1 for certain weights."""
        return Chance(self.alpha if self.weights is None else 1.0)

    def solve(self, scenarios: Array, w: Array | None = None, x: Array | None = None) -> Solution:
        """(s, m), (s), (k) -> the best choice under the scenarios."""
        owner = "BinaryKnapsack.solve"
        scenarios, w, lead = questions.program(owner, self.dims, scenarios, w, x)
        z, gap = self._chosen(scenarios, w)
        value = self.risk.value(self._paid(z[..., None, :], scenarios), w)
        status = np.where(gap > 0, int(Status.LIMIT), int(Status.OPTIMAL))
        return Solution(
            np.broadcast_to(z, (*lead, self.items)),
            np.broadcast_to(value, lead),
            np.broadcast_to(status, lead),
            np.broadcast_to(gap, lead),
        )

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> () minus the reward."""
        z, xi, lead = questions.outcome("BinaryKnapsack.cost", self.dims, x, z, xi)
        return np.broadcast_to(self._paid(z, xi), lead)

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> () the excess over the capacity, or the distance from 0 and 1.

        Feasible means <= 0.
        """
        z, xi, lead = questions.outcome("BinaryKnapsack.violation", self.dims, x, z, xi)
        return np.broadcast_to(self._violated(z, xi), lead)

    def judge(self, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
        """(k), (d), (m) -> (), () cost and violation."""
        z, xi, lead = questions.outcome("BinaryKnapsack.judge", self.dims, x, z, xi)
        parts = self._paid(z, xi), self._violated(z, xi)
        return np.broadcast_to(parts[0], lead), np.broadcast_to(parts[1], lead)

    def range(self, x: Array, z: Array) -> tuple[Array, Array]:
        """Return bounds () on the cost of a decision (d) for any possible outcome."""
        z = arguments.array("BinaryKnapsack.range", "z", z, (self.items,))
        taken = (z != 0).sum(axis=-1)
        low = np.where(taken > 0, -self._largest_value, 0.0) * np.maximum(taken, 1)
        return low, np.full(low.shape, -self.infeasible_reward)

    def range_of_difference(self, x: Array, z: Array, other: Array) -> tuple[Array, Array]:
        """Return exact bounds () on the difference in cost of two decisions (d)."""
        from bocopt.problems.library.kernels import binary_knapsack

        owner = "BinaryKnapsack.range_of_difference"
        z, other = ranges.decisions(owner, self.dims, x, z, other)
        certain, payment = self.weights is not None, self.infeasible_reward
        weight = np.asarray(self.weights) if certain else np.zeros(self.items)
        with np.errstate(invalid="ignore"):  # some processors work out cases that are not used
            low, high = binary_knapsack.range_of_difference(
                z, other, weight, certain, self.capacity, self._largest_value, payment
            )
        return low, high

    def within(self, bounds: Bounds) -> "ItemsWithin":
        """Return ends for values, and weights if they are uncertain, within bounds (m)."""
        support = np.zeros(self.dims.xi), np.full(self.dims.xi, np.inf)
        support[1][: self.items] = self._largest_value
        box = ranges.possible_within("BinaryKnapsack.within", bounds, support)
        value, weight = zip(*(self._split(end) for end in box), strict=True)
        return ItemsWithin(self, Bounds(*value), Bounds(*weight), ranges.is_possible(box))

    @property
    def why_unranged(self) -> str:
        """Advice where the reward has no upper bound."""
        return "give largest_value=... to BinaryKnapsack(...)"

    def possible(self, x: Array, xi: Array) -> BoolArray:
        """(k), (m) -> (): nothing is negative, and values are at most the largest."""
        xi = arguments.array("BinaryKnapsack.possible", "xi", xi, (self.dims.xi,))
        worth_it = (xi[..., : self.items] <= self._largest_value).all(axis=-1)
        return np.asarray((xi >= 0).all(axis=-1) & worth_it)

    def declared(self) -> Program:
        """The same as a declared program: a beginning for one of your own."""
        n, weights = self.items, self.weights
        payment = self.infeasible_reward

        @program(xi=self.dims.xi, chance=self.alpha, infeasible_objective=payment, take=binary(n))
        def knapsack(xi: Any, take: Any) -> Any:
            """Return the objective and the rows of one instance, from its symbols."""
            heavy = xi[n:] if weights is None else np.array(weights)
            return maximise(xi[:n] @ take), heavy @ take <= self.capacity

        return knapsack

    def _chosen(self, scenarios: Array, w: Array) -> tuple[Array, Array]:
        """(s, m), (s) -> z (d), gap ()."""
        from bocopt.problems.library.kernels import binary_knapsack

        if self.weights is not None:  # every choice fits always or never: the means suffice
            mean = np.cumsum(w[..., None] * scenarios, axis=-2)[..., -1:, :]
            scenarios, w = mean, np.ones((*mean.shape[:-2], 1))
        lead = np.broadcast_shapes(scenarios.shape[:-2], w.shape[:-1])
        core = (w.shape[-1], self.items)
        value, weight = (_flat(part, lead, core) for part in self._split(scenarios))
        w = _flat(w, lead, core[:1])
        z, gap = np.empty((len(w), self.items)), np.empty(len(w))
        limit = self.node_limit or int(_A_MOMENT / (4 * w.shape[-1] + self.items))
        alpha, payment = self.risk.alpha, self.infeasible_reward
        binary_knapsack.solve_each(value, weight, w, self.capacity, alpha, payment, limit, z, gap)
        return z.reshape(*lead, self.items), gap.reshape(lead)

    def _split(self, xi: Array) -> tuple[Array, Array]:
        """(m) -> values (d), weights (d)."""
        if self.weights is None:
            return xi[..., : self.items], xi[..., self.items :]
        return xi, np.asarray(self.weights)

    @property
    def _largest_value(self) -> float:
        return np.inf if self.largest_value is None else self.largest_value

    def _paid(self, z: Array, xi: Array) -> Array:
        from bocopt.problems.library.kernels import binary_knapsack

        value, weight = self._split(xi)
        paid = binary_knapsack.cost(z, value, weight, self.capacity, self.infeasible_reward)
        return np.asarray(paid)

    def _violated(self, z: Array, xi: Array) -> Array:
        from bocopt.problems.library.kernels import binary_knapsack

        return np.asarray(binary_knapsack.violation(z, self._split(xi)[1], self.capacity))


@dataclass(frozen=True)
class ItemsWithin:
    """Costs of a choice for values and weights within bounds (d), none negative."""

    problem: BinaryKnapsack
    value: Bounds
    weight: Bounds
    possible: BoolArray  # () whether there are such

    def range(self, x: Array, z: Array) -> ranges.Ends:
        """(k), (d) -> (), (): the ends of the cost."""
        return self._feasibly(x, z).ends(self._unmet)

    def range_of_difference(self, x: Array, z: Array, other: Array) -> ranges.Ends:
        """(k), (d), (d) -> (), (): sound ends of what z costs more than the other."""
        one, two = (self._feasibly(x, d) for d in (z, other))
        differ = (z != other).any(axis=-1)
        cases = one.ends_of_difference(two, self._worth(other - z), differ, self._unmet)
        low, high = ranges.narrowed(cases, z, other, one.ends(self._unmet), two.ends(self._unmet))
        least, most = self.problem.range_of_difference(x, z, other)
        return np.maximum(low, least), np.minimum(high, most)

    def verdicts(self, x: Array, z: Array) -> tuple[BoolArray, BoolArray]:
        """(k), (d) -> (), (): whether z may be feasible, and whether infeasible."""
        allowed = ((z == 0) | (z == 1)).all(axis=-1)
        loads = (_times(z, end).cumsum(axis=-1)[..., -1] for end in self.weight)
        fits, surely = ((load <= self.problem.capacity) & allowed for load in loads)
        return fits & self.possible, ~surely & self.possible

    @property
    def _unmet(self) -> tuple[float, float]:
        return -self.problem.infeasible_reward, -self.problem.infeasible_reward

    def _feasibly(self, x: Array, z: Array) -> ranges.Feasibly:
        return ranges.Feasibly(*self.verdicts(x, z), *self._worth(-z))

    def _worth(self, z: Array) -> ranges.Ends:
        """(d) -> (), (): the ends of the sum of values."""
        ends = [_times(z, end) for end in self.value]
        return np.minimum(*ends).sum(axis=-1), np.maximum(*ends).sum(axis=-1)


def _times(z: Array, end: Array) -> Array:
    """Return the product, where 0 times anything is 0."""
    with np.errstate(invalid="ignore"):
        return np.where(z == 0, 0.0, z * end)


def _flat(part: Array, lead: tuple[int, ...], core: tuple[int, ...]) -> Array:
    """(..., core) -> (n, core), as the kernel takes it."""
    whole = np.broadcast_to(part, (*lead, *core)).reshape(-1, *core)
    return np.require(whole, requirements=("C", "W"))
