"""The newsvendor with several products and one capacity.

The kernels are imported at first use: numba takes a while to load, and seconds to compile once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray, Bounds, DeviceProblem, Dims, Sense, Solution, Status
from bocopt.problems import ranges
from bocopt.problems.library import questions
from bocopt.problems.program import Program, minimise, pos, program, real
from bocopt.problems.risk import Chance

_SIZE = "[0, 1e100]"  # numbers above this are mistakes, and could overflow


@dataclass(frozen=True, kw_only=True)
class Newsvendor:
    """Order z of each product before the demand xi is known.

    With sales s = min(z, xi), product by product, what is paid is

        unit_cost'z - price's - salvage'(z - s) + penalty'(xi - s),

    for 0 <= z <= upper and volume'z <= capacity; None is no such limit. `solve` gives the least
    expected cost under the scenarios, exactly: what a unit of capacity is worth decides up to which
    quantile of its demand each product is ordered. `violation` lets pass what is within `tolerance`
    of a limit. `largest_demand` is for certificates: where it is None and there is a penalty, the
    cost has no upper bound.

    >>> problem = Newsvendor(unit_cost=[1, 1], price=[4, 3], capacity=5)
    >>> demand = np.array([[2.0, 1.0], [4.0, 2.0], [6.0, 3.0]])
    >>> solution = problem.solve(demand)
    >>> solution.z.tolist(), round(float(solution.value), 3)
    ([4.0, 1.0], -11.333)

    Reference: Hadley, Whitin, Analysis of inventory systems, 1963, chapter 6.
    """

    unit_cost: Sequence[float]
    price: float | Sequence[float]
    salvage: float | Sequence[float] = 0.0
    penalty: float | Sequence[float] = 0.0
    volume: float | Sequence[float] = 1.0
    capacity: float | None = None
    upper: float | Sequence[float] | None = None
    largest_demand: float | Sequence[float] | None = None
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        unit_cost = arguments.numbers("Newsvendor", "unit_cost", self.unit_cost, _SIZE)
        checked: dict[str, object] = {"unit_cost": unit_cost}
        for name in ("price", "salvage", "penalty", "volume", "upper", "largest_demand"):
            given = getattr(self, name)
            if given is not None or name in ("price", "salvage", "penalty", "volume"):
                checked[name] = arguments.numbers("Newsvendor", name, given, _SIZE, len(unit_cost))
        if self.capacity is not None:
            checked["capacity"] = arguments.number("Newsvendor", "capacity", self.capacity, _SIZE)
        checked["tolerance"] = arguments.number("Newsvendor", "tolerance", self.tolerance, "[0, 1]")
        for name, argument in checked.items():
            object.__setattr__(self, name, argument)
        salvage, price = np.asarray(self.salvage), np.asarray(self.price)
        if (salvage > unit_cost).any():  # what is left over would pay for ordering without end
            raise arguments.wrong("Newsvendor", "salvage", "at most unit_cost", self.salvage)
        if (salvage > price).any():
            raise arguments.wrong("Newsvendor", "salvage", "at most price", self.salvage)

    sense: ClassVar[Sense] = Sense.MINIMISE
    risk: ClassVar[Chance] = Chance(1.0)  # what limits z is certain

    @property
    def dims(self) -> Dims:
        """The sizes of z and xi, one number a product; x is not read."""
        return Dims(x=None, z=len(self.unit_cost), xi=len(self.unit_cost))

    def solve(self, scenarios: Array, w: Array | None = None, x: Array | None = None) -> Solution:
        """(s, m), (s), (k) -> the exact optimum under the scenarios."""
        from bocopt.problems.library.kernels import newsvendor

        owner = "Newsvendor.solve"
        scenarios, w, lead = questions.program(owner, self.dims, scenarios, w, x)
        sorted_demand = _sorted(np.swapaxes(scenarios, -1, -2), w[..., None, :])
        z = newsvendor.solve(*sorted_demand, self._gain, self._turn, *self._limits)
        costs = newsvendor.cost(z[..., None, :], scenarios, *self._coefficients)
        return Solution(
            np.broadcast_to(z, (*lead, self.dims.z)),
            np.broadcast_to(self.risk.value(costs, w), lead),
            np.full(lead, Status.OPTIMAL, np.int64),
            np.zeros(lead),
        )

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> ()."""
        z, xi, lead = questions.outcome("Newsvendor.cost", self.dims, x, z, xi)
        return np.broadcast_to(self._paid(z, xi), lead)

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> () the excess over the capacity, or the distance from the box.

        Feasible means <= 0; an excess within the tolerance is none.
        """
        z, xi, lead = questions.outcome("Newsvendor.violation", self.dims, x, z, xi)
        return np.broadcast_to(self._violated(z), lead)

    def judge(self, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
        """(k), (d), (m) -> (), () cost and violation."""
        z, xi, lead = questions.outcome("Newsvendor.judge", self.dims, x, z, xi)
        return np.broadcast_to(self._paid(z, xi), lead), np.broadcast_to(self._violated(z), lead)

    def range(self, x: Array, z: Array) -> tuple[Array, Array]:
        """Return bounds () on the cost of a decision (d) for any possible demand."""
        return self._whole.range(x, arguments.array("Newsvendor.range", "z", z, (self.dims.z,)))

    def range_of_difference(self, x: Array, z: Array, other: Array) -> tuple[Array, Array]:
        """Return exact bounds () on the difference in cost of two decisions (d), always finite."""
        owner = "Newsvendor.range_of_difference"
        return self._whole.range_of_difference(x, *ranges.decisions(owner, self.dims, x, z, other))

    def within(self, bounds: Bounds) -> "DemandsWithin":
        """Return exact ends for demands within bounds (m): of stock that was sold out, at least
        that.
        """
        whole = self._whole.demand
        demand = ranges.possible_within("Newsvendor.within", bounds, (whole.low, whole.high))
        return DemandsWithin(self, self._coefficients, demand)

    @property
    def why_unranged(self) -> str:
        """Advice where the cost has no upper bound."""
        return "give largest_demand=... to Newsvendor(...)"

    def possible(self, x: Array, xi: Array) -> BoolArray:
        """(k), (m) -> (): demands from 0 to the largest."""
        xi = arguments.array("Newsvendor.possible", "xi", xi, (self.dims.xi,))
        return np.asarray(((xi >= 0) & (xi <= self._whole.demand.high)).all(axis=-1))

    @property
    def on_device(self) -> DeviceProblem | None:
        """Order and cost of one product without a capacity, for a graphics processor."""
        from bocopt.problems.library.kernels import newsvendor

        if self.dims.z != 1 or self.capacity is not None:
            return None
        prices = tuple(float(each[0]) for each in self._coefficients)
        cost, price, salvage, penalty = prices
        gain, level, most = price + penalty - cost, 0.0, 0.0
        if gain > 0.0:
            level = gain / (price + penalty - salvage) - newsvendor.QUANTILE_TOLERANCE
            most = float(self._limits[2][0])
        return DeviceProblem(level, newsvendor.ordered, newsvendor.charged, (most, *prices))

    def declared(self) -> Program:
        """The same as a declared program: a beginning for one of your own."""
        unit_cost, price, salvage, penalty = self._coefficients
        volume, capacity, upper = self._limits
        bounded = np.isfinite(capacity)

        @program(xi=self.dims.xi, tolerance=self.tolerance, order=real(self.dims.z, upper=upper))
        def newsvendor(xi: Any, order: Any) -> Any:
            """Return the objective and the rows of one instance, from its symbols."""
            lost = pos(xi - order)
            sold = xi - lost
            paid = unit_cost @ order - price @ sold - salvage @ (order - sold) + penalty @ lost
            return minimise(paid), [volume @ order <= capacity] if bounded else []

        return newsvendor

    def _paid(self, z: Array, xi: Array) -> Array:
        from bocopt.problems.library.kernels import newsvendor

        return np.asarray(newsvendor.cost(z, xi, *self._coefficients))

    def _violated(self, z: Array) -> Array:
        from bocopt.problems.library.kernels import newsvendor

        excess = newsvendor.violation(z, *self._limits)
        return np.asarray(np.where(excess <= self.tolerance, np.minimum(excess, 0.0), excess))

    @cached_property
    def _coefficients(self) -> tuple[Array, Array, Array, Array]:
        """The coefficients of the cost as its kernel takes them, (d) each."""
        fields = self.unit_cost, self.price, self.salvage, self.penalty
        unit_cost, price, salvage, penalty = (np.array(field, float) for field in fields)
        return unit_cost, price, salvage, penalty

    @cached_property
    def _limits(self) -> tuple[Array, float, Array]:
        """Volume, capacity and upper."""
        capacity = np.inf if self.capacity is None else self.capacity
        upper = np.inf if self.upper is None else self.upper
        return np.array(self.volume, float), capacity, np.full(self.dims.z, upper)

    @cached_property
    def _gain(self) -> Array:
        """The gain (d) from one more unit that is sold."""
        unit_cost, price, _, penalty = self._coefficients
        return price + penalty - unit_cost

    @cached_property
    def _turn(self) -> Array:
        """The gain (d) from one more unit that is sold, less that from one that is left over."""
        _, price, salvage, penalty = self._coefficients
        return price + penalty - salvage

    @cached_property
    def _whole(self) -> "DemandsWithin":
        most = np.inf if self.largest_demand is None else self.largest_demand
        support = Bounds(np.zeros(self.dims.xi), np.full(self.dims.xi, most))
        return DemandsWithin(self, self._coefficients, support)


@dataclass(frozen=True)
class DemandsWithin:
    """Costs of a newsvendor for demands within bounds (m)."""

    problem: Newsvendor
    prices: tuple[Array, Array, Array, Array]  # (d) of a unit: cost, price, salvage, penalty
    demand: Bounds

    def range(self, x: Array, z: Array) -> tuple[Array, Array]:
        """(k), (d) -> (), (): the ends of the cost, which is convex in the demand.

        It is least where all is sold and nothing is missed, and largest at an end.
        """
        low, high = self.demand
        all_sold = np.clip(z, low, high)
        penalised = self.prices[3] > 0
        ends = low, np.where(penalised, high, all_sold)
        largest = np.maximum(*(self._by_product(z, demand) for demand in ends))
        return self._by_product(z, all_sold).sum(axis=-1), largest.sum(axis=-1)

    def range_of_difference(self, x: Array, z: Array, other: Array) -> tuple[Array, Array]:
        """(k), (d), (d) -> (), (): the ends of what z costs more than the other."""
        from bocopt.problems.library.kernels import newsvendor

        low, high = newsvendor.range_of_difference(z, other, *self.demand, *self.prices)
        return low, high

    def verdicts(self, x: Array, z: Array) -> tuple[BoolArray, BoolArray]:
        """(k), (d) -> (), (): whether z may be feasible, and whether infeasible."""
        fits = self.problem.violation(x, z, np.zeros(z.shape[-1:])) <= 0  # whatever it is
        possible = ranges.is_possible(self.demand)
        return fits & possible, ~fits & possible

    def _by_product(self, z: Array, xi: Array) -> Array:
        """Return the cost (d) of each product, at a decision (d) and a demand (m)."""
        unit_cost, price, salvage, penalty = self.prices
        sold = np.minimum(z, xi)
        missed = np.where(penalty > 0, xi - sold, 0.0)
        return unit_cost * z - price * sold - salvage * (z - sold) + penalty * missed


def _sorted(demand: Array, w: Array) -> tuple[Array, Array]:
    """Demands (d, s) in rising order, and the weight (d, s) up to each."""
    from bocopt.problems.library.kernels import newsvendor

    if (w == w[..., :1]).all():  # then their order does not matter, and need not be known
        up_to = np.cumsum(w, axis=-1)
        return np.sort(demand, axis=-1), np.repeat(up_to, demand.shape[-2], axis=-2)
    demand = np.ascontiguousarray(demand)
    sorted_demand, up_to = newsvendor.arranged(demand, w, demand.argsort(axis=-1, kind="stable"))
    return sorted_demand, up_to
