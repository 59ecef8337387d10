"""Costs of knapsack decisions where only bounds of the weights are known.

What a feasible z pays, q'A z - c'z - q'b, rises with every weight, and so does A z, row by row,
until it is above the capacity: the ends are at the ends of the bounds, or where a row is full.
"""

from dataclasses import dataclass

import numpy as np

from bocopt.core import Array, BoolArray, Bounds, RangedDifference
from bocopt.problems import ranges
from bocopt.problems.ranges import Ends, Feasibly


@dataclass(frozen=True)
class WeightsWithin:
    """Costs for weights within bounds (m), none negative."""

    problem: RangedDifference
    terms: tuple[Array, Array, Array, Array, Array]  # value, capacity, salvage, lower, upper
    unmet: tuple[float, float]  # between these lies what an infeasible decision costs
    weights: Bounds

    def range(self, x: Array, z: Array) -> Ends:
        """(k), (d) -> (), (): the ends of the cost."""
        return self._feasibly(x, z).ends(self.unmet)

    def range_of_difference(self, x: Array, z: Array, other: Array) -> Ends:
        """(k), (d), (d) -> (), (): sound ends of what z costs more than the other."""
        one, two = (self._feasibly(x, d) for d in (z, other))
        differ = (z != other).any(axis=-1)
        cases = one.ends_of_difference(two, self._both_paid(z, other), differ, self.unmet)
        low, high = ranges.narrowed(cases, z, other, one.ends(self.unmet), two.ends(self.unmet))
        least, most = self.problem.range_of_difference(x, z, other)
        return np.maximum(low, least), np.minimum(high, most)

    def verdicts(self, x: Array, z: Array) -> tuple[BoolArray, BoolArray]:
        """(k), (d) -> (), (): whether z may be feasible, and whether infeasible."""
        capacity, allowed = self.terms[1], self._allowed(z)
        fits, surely = ((load <= capacity).all(axis=-1) & allowed for load in self._loads(z))
        possible = ranges.is_possible(self.weights)
        return fits & possible, ~surely & possible

    def _allowed(self, z: Array) -> BoolArray:
        """Return whether z (d) is an integer point of its box: any other is never feasible."""
        *_, lower, upper = self.terms
        return np.asarray(((z >= lower) & (z <= upper) & (z == np.rint(z))).all(axis=-1))

    def _feasibly(self, x: Array, z: Array) -> Feasibly:
        value, capacity, salvage, *_ = self.terms
        full = (np.minimum(load, capacity) for load in self._loads(z))
        low, high = ((salvage * (load - capacity)).sum(axis=-1) for load in full)
        worth = (value * z).sum(axis=-1)
        return Feasibly(*self.verdicts(x, z), low - worth, high - worth)

    def _both_paid(self, z: Array, other: Array) -> Ends:
        """(d), (d) -> (), (): the difference, where both are feasible.

        No row holds more than its capacity of one, and the other one uses the least of it.
        """
        value, capacity, salvage, *_ = self.terms
        low, high = self._loads(z - other)
        least, other_least = (self._loads(d)[0] for d in (z, other))
        low = np.maximum(low, np.minimum(least - capacity, 0.0))
        high = np.minimum(high, np.maximum(capacity - other_least, 0.0))
        worth = (value * (other - z)).sum(axis=-1)
        return worth + (salvage * low).sum(axis=-1), worth + (salvage * high).sum(axis=-1)

    def _loads(self, z: Array) -> Ends:
        """(d) -> (r), (r): the ends of A z, summed as the judge does."""
        rows, taken = len(self.terms[1]), z[..., None, :]
        matrices = [end.reshape(*end.shape[:-1], rows, z.shape[-1]) for end in self.weights]
        with np.errstate(invalid="ignore"):  # 0 times infinity
            each = [np.where(taken == 0, 0.0, matrix * taken) for matrix in matrices]
        low, high = (end.cumsum(axis=-1)[..., -1] for end in (np.minimum(*each), np.maximum(*each)))
        return low, high
