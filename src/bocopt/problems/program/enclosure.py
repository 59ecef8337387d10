"""The judge for all outcomes of a box at once: ends of what it says, from ends of the tape."""

from collections.abc import Sequence

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.problems.program.intervals import Interval, absolute, exactly, product
from bocopt.problems.program.judge import Measure, ProgramJudge

Values = Sequence[Interval]


def cost(judge: ProgramJudge, values: Values, z: Array, other: Array | None) -> tuple[Array, Array]:
    """(d) -> (), (): the objective of z, or of z less the other, in which offsets cancel."""
    if other is None:
        found = _measured(judge.objective, values, _columns(judge, values, z))
    else:
        found = _measured(judge.objective, values, _moved(judge, values, z, other), exactly(_NONE))
    return found.low[..., 0], found.high[..., 0]


def excess(judge: ProgramJudge, values: Values, z: Array) -> tuple[Array, Array]:
    """(d) -> (), (): the largest violation of a row or of a bound, as the judge says it."""
    columns, worst = _columns(judge, values, z), exactly(judge.outside(z))
    for measure, slack in zip(judge.rows, judge.slack, strict=True):
        over = _measured(measure, values, columns)
        over = absolute(over) if measure.plane.equal else over
        ends = (end.max(axis=-1) - slack for end in over)
        worst = Interval(*map(np.maximum, worst, ends))
    return worst


_NONE = np.zeros(1)  # an offset


def _measured(
    measure: Measure, values: Values, columns: Interval, offset: Interval | None = None
) -> Interval:
    """The ends of a plane, (n) -> (size)."""
    plane = measure.plane
    offset = values[plane.offset] if offset is None else offset
    terms = product(values[plane.value], _at(columns, plane.column))
    return Interval(*(measure.summed(*ends) for ends in zip(terms, offset, strict=True)))


def _at(columns: Interval, which: IntArray) -> Interval:
    if columns.certain:
        return exactly(columns.low[..., which])
    return Interval(*(end[..., which] for end in columns))


def _columns(judge: ProgramJudge, values: Values, z: Array) -> Interval:
    """(d) -> (n): z, and the ends of the positive parts."""
    if not judge.positives:
        return exactly(z)
    columns = _with_room(judge, z)
    for first, measure in judge.positives:
        found = _measured(measure, values, columns)
        for part, end in zip(columns, found, strict=True):
            part[..., first : first + measure.plane.size] = np.maximum(end, 0.0)
    return columns


def _moved(judge: ProgramJudge, values: Values, z: Array, other: Array) -> Interval:
    """(d), (d) -> (n): the columns of z less those of the other.

    max(g, 0) - max(h, 0) lies between 0 and g - h, and between the ends of the two.
    """
    if not judge.positives:
        return exactly(z - other)
    of_z, of_other = _columns(judge, values, z), _columns(judge, values, other)
    moved = _with_room(judge, z - other)
    for first, measure in judge.positives:
        own = slice(first, first + measure.plane.size)
        rise = _measured(measure, values, moved, exactly(np.zeros(measure.plane.size)))
        least = of_z.low[..., own] - of_other.high[..., own]
        largest = of_z.high[..., own] - of_other.low[..., own]
        moved.low[..., own] = np.maximum(np.minimum(rise.low, 0.0), least)
        moved.high[..., own] = np.minimum(np.maximum(rise.high, 0.0), largest)
    return moved


def _with_room(judge: ProgramJudge, z: Array) -> Interval:
    """(d) -> (n): z twice, and zeros."""
    columns = np.zeros((*z.shape[:-1], judge.blueprint.columns))
    columns[..., : judge.blueprint.size] = z
    return Interval(columns, columns.copy())
