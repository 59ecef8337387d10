"""What is kept of decisions for several series at once, and what is told of them."""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray, IntArray, Solution
from bocopt.live.coupled_layout import Layout


class CoupledDecision(NamedTuple):
    """One decision for all series that are open at a time."""

    number: int  # from 0
    names: tuple[str, ...]  # (n)
    z: Array  # (d) all of it
    each: Array  # (n, a) the part of each series
    common: Array  # (c) what is common
    each_names: tuple[str, ...]  # (a)
    common_names: tuple[str, ...]  # (c)
    status: int  # a Status

    def of(self, name: str) -> dict[str, float]:
        """Return the numbers of one series by name."""
        row = self.each[self.names.index(name)]
        return dict(zip(self.each_names, row.tolist(), strict=True))


class CoupledOutcome(NamedTuple):
    """What is known of a decision after outcomes of some of its series."""

    number: int
    waiting: int  # series whose outcome did not come yet
    cost: float  # of the whole decision; NaN as long as a part of the outcome is missing
    feasible: float  # 1 or 0; likewise


class Taken(NamedTuple):
    """A decision that is held: it waits for outcomes, or is the latest."""

    place: IntArray  # (n) of each series
    own: IntArray  # (n) the number of the decision among those of its series
    x: Array  # (n, k)
    beside: Array  # (n, b) what a model of all series said
    solution: Solution
    xi: Array  # (n, m) NaN where none came
    waits: BoolArray  # (n) whether the outcome is waited for

    def told(self, number: int, names: tuple[str, ...], layout: Layout) -> CoupledDecision:
        """Return what is told of it."""
        z = self.solution.z
        each, common = layout.parts(z)
        labels = layout.each_names, layout.common_names
        return CoupledDecision(number, names, z, each, common, *labels, int(self.solution.status))


class Past(NamedTuple):
    """Where outcomes of the latest times stood in what was predicted: a ring of L times."""

    number: IntArray  # (L) of the decision, -1 where none was taken yet
    probability: Array  # (L, places) NaN where no outcome came, or nothing had been predicted

    def with_places(self, many: int) -> "Past":
        """Return the past with room for so many series."""
        known = self.probability[:, :many]
        more = np.full((len(known), many - known.shape[1]), np.nan)
        return self._replace(probability=np.hstack([known, more]))

    def begun(self, number: int) -> "Past":
        """Return the past with a new time, in the place of the oldest."""
        row = number % len(self.number)
        numbers, probability = self.number.copy(), self.probability.copy()
        numbers[row], probability[row] = number, np.nan
        return Past(numbers, probability)

    def learned(self, number: int, places: IntArray, probability: Array) -> "Past":
        """Return the past with outcomes of a time, if that is not too long ago."""
        row = number % len(self.number)
        if self.number[row] != number:
            return self
        found = self.probability.copy()
        found[row, places] = probability
        return self._replace(probability=found)


def no_past(times: int) -> Past:
    """Return the past before the first decision."""
    return Past(np.full(times, -1), np.zeros((times, 0)))


def none_taken() -> Taken:
    """Return a decision for no series, which says of what kind arrays are."""
    count, table, number = np.zeros(0, np.int64), np.zeros((0, 0)), np.array(0.0)
    solution = Solution(np.zeros(0), number, np.array(0), number)
    return Taken(count, count, table, table, solution, table, np.zeros(0, bool))
