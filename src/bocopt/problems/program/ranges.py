"""Between what the cost of a decision lies, and that of one less another, for all xi of a box.

Exact where the objective is affine in xi, or piecewise linear and each piece reads one component
(`separable`); sound elsewhere (`enclosure`). What a second stage costs is not derived.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from bocopt.core import Array, BoolArray, Bounds, IntArray
from bocopt.problems.program import enclosure, separable
from bocopt.problems.program.blueprint import Blueprint
from bocopt.problems.program.intervals import Interval, enclosed, exactly, without_rule
from bocopt.problems.program.judge import ProgramJudge
from bocopt.problems.program.separable import HingeSum, Slopes, slopes
from bocopt.problems.program.tape import play
from bocopt.problems.ranges import Ends, Feasibly, is_possible, narrowed

_NO_ENDS = np.array(np.nan), np.array(np.nan)
_LARGEST = 1_000_000  # numbers, up to which ends are looked for one by one


class ObjectiveHinges:
    """The positive parts in an objective, as far as they are known without a box of xi (m)."""

    def __init__(self, blueprint: Blueprint, m: int) -> None:
        columns = [np.arange(first, first + plane.size) for first, plane in blueprint.positives]
        number = np.zeros(blueprint.columns, np.int64)
        if columns:
            number[np.concatenate(columns)] = np.arange(sum(map(len, columns)))
        column = blueprint.objective.column
        self.entries: IntArray = np.flatnonzero(blueprint.auxiliary()[column])  # of the objective
        self.numbers: IntArray = number[column[self.entries]]  # of each, among all
        few = (m + len(self.entries)) ** 2 <= _LARGEST
        later = blueprint.objective.later and not blueprint.recourse
        self.separable = bool(few and later and separable.is_affine(blueprint))


class Ranges:
    """What a judge says of all xi in a box (m); x (k), z (d) and other (d) have any leading axes.

    unmet   what an infeasible decision pays; None: the objective, as all do
    bounds  those of the objective that were declared
    """

    def __init__(
        self,
        judge: ProgramJudge,
        hinges: ObjectiveHinges,
        box: Bounds,
        unmet: float | None,
        bounds: tuple[float, float],
    ) -> None:
        self.judge, self.blueprint, self.hinges = judge, judge.blueprint, hinges
        self.low, self.high, self.unmet, self.bounds = *box, unmet, bounds

    def within(self, box: Bounds) -> "Ranges":
        """Return the same for another box."""
        return Ranges(self.judge, self.hinges, box, self.unmet, self.bounds)

    def range(self, x: Array, z: Array) -> Ends:
        """(k), (d) -> (), (): the ends of the cost."""
        x, z = self._with_lead(x, z)
        low, high = self._objective(x, z, None)
        if self.unmet is not None:
            low, high = Feasibly(*self.verdicts(x, z), low, high).ends((self.unmet, self.unmet))
        return np.clip(low, *self.bounds), np.clip(high, *self.bounds)

    def range_of_difference(self, x: Array, z: Array, other: Array) -> Ends:
        """(k), (d), (d) -> (), (): the ends of what z costs more than the other."""
        x, z, other = self._with_lead(x, z, other)
        found = self._objective(x, z, other)
        if self.unmet is not None:
            one, two = (
                Feasibly(*self.verdicts(x, d), *self._objective(x, d, None)) for d in (z, other)
            )
            differ = (z != other).any(axis=-1)
            found = one.ends_of_difference(two, found, differ, (self.unmet, self.unmet))
        if not (np.isfinite(self.bounds).any() or self.blueprint.recourse):
            return found
        return narrowed(found, z, other, self.range(x, z), self.range(x, other))

    def verdicts(self, x: Array, z: Array) -> tuple[BoolArray, BoolArray]:
        """(k), (d) -> (), (): whether z may be feasible, and whether infeasible."""
        x, z = self._with_lead(x, z)
        with np.errstate(all="ignore"):
            low, high = enclosure.excess(self.judge, self._values(x, z.ndim - 1), z)
        surely = (high <= 0) & (not self.blueprint.recourse)  # which may be impossible
        shape, possible = z.shape[:-1], is_possible(Bounds(self.low, self.high))
        fits, misses = ~(low > 0) & possible, ~surely & possible
        return np.broadcast_to(fits, shape), np.broadcast_to(misses, shape)

    def _with_lead(self, *parts: Array) -> Iterator[Array]:
        """Yield the parts with common leading axes."""
        lead = np.broadcast_shapes(*(part.shape[:-1] for part in (*parts, self.low)))
        return (np.broadcast_to(part, (*lead, part.shape[-1])) for part in parts)

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
            if self.hinges.separable and self._finite.any():
                found, wrong = self._separated(x, z, other)
            else:
                found, wrong = _NO_ENDS, np.ones(lead, bool)
            sound = self._enclosed(x, z, other) if wrong.any() else found
        low, high = (np.where(wrong, *ends) for ends in zip(sound, found, strict=True))
        return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)

    def _enclosed(self, x: Array, z: Array, other: Array | None) -> tuple[Array, Array]:
        return enclosure.cost(self.judge, self._values(x, z.ndim - 1), z, other)

    def _values(self, x: Array, axes: int) -> list[Interval]:
        """The ends of the tape's numbers."""
        box = Interval(*(_with_axes(end, axes + 1) for end in (self.low, self.high)))
        return enclosed(self.blueprint.steps, {"x": exactly(x), "xi": box}, axes)

    @cached_property
    def _finite(self) -> BoolArray:
        """Whether () the box is, which exact ends need."""
        return np.asarray(np.isfinite([self.low, self.high]).all(axis=(0, -1)))

    @cached_property
    def _box(self) -> Array:
        return separable.points(self.low, self.high)

    def _separated(
        self, x: Array, z: Array, other: Array | None
    ) -> tuple[tuple[Array, Array], BoolArray]:
        """The exact ends, and where they are none: the box is infinite, or the weight of a positive
        part depends on xi.
        """
        axes = z.ndim - 1
        box = _with_axes(self._box, axes + 2)
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
        return (low, high), (weight.slope != 0).any(axis=(-1, -2)) | ~self._finite

    def _line(self, values: list[Array], z: Array, other: Array | None) -> tuple[Slopes, Array]:
        """() the objective without its positive parts, and the size of what is summed in it."""
        plane, shape = self.blueprint.objective, (*z.shape[:-1], self._box.shape[-2])
        columns = self._columns(z if other is None else z - other)
        terms = values[plane.value] * columns[..., plane.column]
        offset = values[plane.offset] if other is None else np.zeros(1)
        total = self.judge.objective.summed(terms, offset)[..., 0]
        size = np.abs(terms).sum(axis=-1) + np.abs(offset).sum(axis=-1)
        return slopes(np.broadcast_to(total, shape)), np.broadcast_to(size, shape).max(axis=-1)

    def _weights(self, values: list[Array], lead: tuple[int, ...]) -> Slopes:
        """(n) what the positive parts in the objective are multiplied by."""
        entries = self.hinges.entries
        worth = values[self.blueprint.objective.value][..., entries]
        shape = (*lead, self._box.shape[-2], len(entries))
        return slopes(np.moveaxis(np.broadcast_to(worth, shape), -2, -1))

    def _positives(self, values: list[Array], z: Array) -> Slopes:
        """(n) the positive parts in the objective, before they are cut at zero."""
        columns, shape = self._columns(z), (*z.shape[:-1], self._box.shape[-2])
        parts = [measure(values, columns) for _, measure in self.judge.positives]
        wide = [np.broadcast_to(part, (*shape, part.shape[-1])) for part in parts]
        joined = np.concatenate([np.zeros((*shape, 0)), *wide], axis=-1)[..., self.hinges.numbers]
        return slopes(np.moveaxis(joined, -2, -1))

    def _columns(self, z: Array) -> Array:
        """Return the columns (1, n) of a decision (d), with zeros for the positive parts."""
        columns = np.zeros((*z.shape[:-1], 1, self.blueprint.columns))
        columns[..., 0, : self.blueprint.size] = z
        return columns


def _with_axes(values: Array, many: int) -> Array:
    """Return the same with so many axes, the first of them of length 1."""
    return values.reshape((1,) * (many - values.ndim) + values.shape)
