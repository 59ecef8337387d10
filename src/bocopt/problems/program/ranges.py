"""Between what the cost of a decision lies, and that of one less another, for all xi of a box.

Exact where the objective is affine in xi, or piecewise linear and each piece reads one component
(`separable`); sound elsewhere (`enclosure`). What a second stage costs is not derived.
"""

from functools import cached_property

import numpy as np

from bocopt.arguments import Ends
from bocopt.core import Array, BoolArray, IntArray
from bocopt.problems.program import enclosure, separable
from bocopt.problems.program.intervals import Interval, enclosed, exactly, without_rule
from bocopt.problems.program.judge import ProgramJudge
from bocopt.problems.program.separable import HingeSum, Slopes, slopes
from bocopt.problems.program.tape import play
from bocopt.problems.ranges import FeasibilityCase, hull

_NO_ENDS = np.array(np.nan), np.array(np.nan)
_LARGEST = 1_000_000  # numbers, up to which ends are looked for one by one


class Ranges:
    """Ranges of a judge's verdicts before xi is known; x, z and other have the same leading axes.

    `infeasible_objective` is paid by a decision that is infeasible; None: the objective is.
    """

    def __init__(
        self, judge: ProgramJudge, support: Ends, infeasible_objective: float | None
    ) -> None:
        self.judge, self.blueprint, self.infeasible_objective = (
            judge,
            judge.blueprint,
            infeasible_objective,
        )
        self.low, self.high = np.array(support)

    def of_cost(self, x: Array, z: Array) -> tuple[Array, Array]:
        """(k), (d) -> (), ()."""
        low, high = self._objective(x, z, None)
        if self.infeasible_objective is None:
            return low, high
        fits, misses = self._verdicts(x, z)
        paid = np.full(low.shape, self.infeasible_objective)
        return hull((FeasibilityCase(fits, low, high), FeasibilityCase(misses, paid, paid)))

    def of_difference(self, x: Array, z: Array, other: Array) -> tuple[Array, Array]:
        """Return bounds () on what a decision (d) costs more than the other (d)."""
        low, high = self._objective(x, z, other)
        if self.infeasible_objective is None:
            return low, high
        (fits, misses), (other_fits, other_misses) = (self._verdicts(x, d) for d in (z, other))
        differ, zero = (z != other).any(axis=-1), np.zeros(low.shape)
        alone, other_alone = (
            [end - self.infeasible_objective for end in self._objective(x, d, None)]
            for d in (z, other)
        )
        return hull(
            (
                FeasibilityCase(fits & other_fits, low, high),
                FeasibilityCase(fits & other_misses & differ, *alone),
                FeasibilityCase(other_fits & misses & differ, *other_alone).turned(),
                FeasibilityCase(misses & other_misses, zero, zero),
            )
        )

    def missing(self) -> str:
        """Why ends may be infinite, though the support is not; empty where it is."""
        if self.blueprint.recourse:
            return "what a second stage costs is not derived"
        if not np.isfinite([self.low, self.high]).all():
            return ""
        name = without_rule(self.blueprint.steps)
        what = f"range of np.{name} is" if name else "ends of this objective are"
        return f"the {what} not derived"

    def _objective(self, x: Array, z: Array, other: Array | None) -> tuple[Array, Array]:
        """Return the ends of the objective of z (d), or of that of z less that of the other."""
        lead = z.shape[:-1]
        if self.blueprint.recourse:
            return np.full(lead, -np.inf), np.full(lead, np.inf)
        with np.errstate(all="ignore"):  # what is infinite or NaN is no end
            if self._exact:
                found, wrong = self._separated(x, z, other)
            else:
                found, wrong = _NO_ENDS, np.ones(lead, bool)
            sound = self._enclosed(x, z, other) if wrong.any() else found
        low, high = (np.where(wrong, *ends) for ends in zip(sound, found, strict=True))
        return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)

    def _enclosed(self, x: Array, z: Array, other: Array | None) -> tuple[Array, Array]:
        return enclosure.cost(self.judge, self._values(x, z.ndim - 1), z, other)

    def _verdicts(self, x: Array, z: Array) -> tuple[BoolArray, BoolArray]:
        """Return whether a decision (d) can be feasible, and whether infeasible, () each."""
        with np.errstate(all="ignore"):
            low, high = enclosure.excess(self.judge, self._values(x, z.ndim - 1), z)
        shape = z.shape[:-1]
        return np.broadcast_to(~(low > 0), shape), np.broadcast_to(~(high <= 0), shape)

    def _values(self, x: Array, axes: int) -> list[Interval]:
        """The ends of the tape's numbers."""
        one = (1,) * axes
        box = Interval(self.low.reshape(*one, -1), self.high.reshape(*one, -1))
        return enclosed(self.blueprint.steps, {"x": exactly(x), "xi": box}, axes)

    @cached_property
    def _exact(self) -> bool:
        if not np.isfinite([self.low, self.high]).all() or self.blueprint.recourse:
            return False
        m, hinges = len(self.low), len(self._places[0])
        few = (m + hinges) ** 2 <= _LARGEST
        return few and self.blueprint.objective.later and separable.is_affine(self.blueprint)

    @cached_property
    def _box(self) -> Array:
        return separable.points(self.low, self.high)

    @cached_property
    def _places(self) -> tuple[IntArray, IntArray]:
        """The objective's entries that are positive parts, and the number of each among all."""
        columns = [
            np.arange(first, first + plane.size) for first, plane in self.blueprint.positives
        ]
        number = np.zeros(self.blueprint.columns, np.int64)
        if columns:
            number[np.concatenate(columns)] = np.arange(sum(map(len, columns)))
        column = self.blueprint.objective.column
        entries = np.flatnonzero(self.blueprint.auxiliary()[column])
        return entries, number[column[entries]]

    def _separated(
        self, x: Array, z: Array, other: Array | None
    ) -> tuple[tuple[Array, Array], BoolArray]:
        """The exact ends, and where they are none: the weight of a positive part depends on xi."""
        axes = z.ndim - 1
        box = self._box.reshape(*[1] * axes, *self._box.shape)
        values = play(self.blueprint.steps, {"x": x[..., None, :], "xi": box}, axes + 1)
        line, size = self._line(values, z, other)
        weight = self._weights(values, z.shape[:-1])
        left = self._positives(values, z)
        none = Slopes(np.zeros_like(left.base), np.zeros_like(left.slope))
        right = none if other is None else self._positives(values, other)
        hinges = HingeSum(weight.base, left, right)
        low, high = separable.extremes(line, hinges)
        if other is None:  # a cost that is certain must not be outside by rounding
            margin = separable.rounding(size, hinges)
            low, high = low - margin, high + margin
        return (low, high), (weight.slope != 0).any(axis=(-1, -2))

    def _line(self, values: list[Array], z: Array, other: Array | None) -> tuple[Slopes, Array]:
        """() the objective without its positive parts, and the size of what is summed in it."""
        plane, shape = self.blueprint.objective, (*z.shape[:-1], len(self._box))
        columns = self._columns(z if other is None else z - other)
        terms = values[plane.value] * columns[..., plane.column]
        offset = values[plane.offset] if other is None else np.zeros(1)
        total = self.judge.objective.summed(terms, offset)[..., 0]
        size = np.abs(terms).sum(axis=-1) + np.abs(offset).sum(axis=-1)
        return slopes(np.broadcast_to(total, shape)), np.broadcast_to(size, shape).max(axis=-1)

    def _weights(self, values: list[Array], lead: tuple[int, ...]) -> Slopes:
        """(n) what the positive parts in the objective are multiplied by."""
        entries = self._places[0]
        worth = values[self.blueprint.objective.value][..., entries]
        shape = (*lead, len(self._box), len(entries))
        return slopes(np.moveaxis(np.broadcast_to(worth, shape), -2, -1))

    def _positives(self, values: list[Array], z: Array) -> Slopes:
        """(n) the positive parts in the objective, before they are cut at zero."""
        columns, shape = self._columns(z), (*z.shape[:-1], len(self._box))
        parts = [measure(values, columns) for _, measure in self.judge.positives]
        wide = [np.broadcast_to(part, (*shape, part.shape[-1])) for part in parts]
        joined = np.concatenate([np.zeros((*shape, 0)), *wide], axis=-1)[..., self._places[1]]
        return slopes(np.moveaxis(joined, -2, -1))

    def _columns(self, z: Array) -> Array:
        """Return the columns (1, n) of a decision (d), with zeros for the positive parts."""
        columns = np.zeros((*z.shape[:-1], 1, self.blueprint.columns))
        columns[..., 0, : self.blueprint.size] = z
        return columns
