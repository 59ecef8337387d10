"""Series of stages that can be played, from a table."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.app.features.category import Category, category_of
from bocopt.app.features.censoring import bounds_of_rows
from bocopt.app.features.checked import checked
from bocopt.app.features.column_notes import notes_of_columns
from bocopt.app.features.days import whole_days
from bocopt.app.features.featuriser import Featuriser
from bocopt.app.features.known import StageOutcomes
from bocopt.app.features.odd import far
from bocopt.app.features.sales_note import sales_notes
from bocopt.app.features.series import Series
from bocopt.app.features.spec import Spec
from bocopt.app.features.stages import Due, Stages, TableColumns
from bocopt.app.reading.columns import Table, TableError
from bocopt.core import Array, BoolArray, Bounds, IntArray


def series_of(frame: Table, spec: Spec) -> Series:
    """Return the stages of a table in time order; what each shows is known at its decision."""
    arguments.kind("series_of", "frame", frame, Table)
    arguments.kind("series_of", "spec", spec, Spec)
    if spec.series:
        expected = "a Spec without 'series': `panel_of` reads a table of several"
        raise arguments.wrong("series_of", "spec", expected, spec)
    frame, spec = whole_days(frame, spec)
    return series_from(*checked(frame, spec), spec)


def series_from(
    frame: Table,
    stages: Stages,
    due: Due,
    spec: Spec,
    categories: Mapping[str, Category] | None = None,
) -> Series:
    """Return the series of rows that were checked.

    categories  of a panel, of which these rows are one series: what is said of the whole table, and
                what must be somewhere in it, is then not asked of these rows
    """
    alone = categories is None
    came = _outcomes(frame, spec, stages, due)
    featuriser = _featuriser(frame, spec, stages, categories)
    columns = _columns(frame, stages, featuriser, came.recorded)
    state, x = featuriser.decide_all(stages, columns)
    names = featuriser.x_names
    now, notes_of_now = _decisions(frame, spec, stages, alone)
    said = [
        *frame.notes,
        *stages.notes,
        *came.notes,
        *notes_of_columns(frame, stages, featuriser, columns, alone=alone),
        *(unchanging(names, x.min(axis=0), x.max(axis=0)) if alone else ()),
        *notes_of_now,
        *(sales_notes(spec, now, came.xi) if alone else ()),
    ]
    return Series(
        time=stages.shown,
        x=x,
        x_names=names,
        xi=came.xi,
        xi_names=tuple(spec.outcome),
        arrives=came.arrives,
        now=now,
        lines=frame.places[stages.rows],
        notes=tuple(said),
        warm_up=stages.first(spec.warm_up),
        featuriser=featuriser,
        state=state,
        seen=came.seen,
    )


def _featuriser(
    frame: Table, spec: Spec, stages: Stages, categories: Mapping[str, Category] | None
) -> Featuriser:
    """Return the featuriser, with what is learned from the start of the table."""
    if categories is None:
        categories = {name: _category(frame, spec, stages, name) for name in spec.categories}
    found = [categories[name] for name in spec.categories]
    if stages.clock is None:
        if any(word != "trend" for word in spec.calendar):
            where = f"{frame.path}, column '{spec.time}'"
            raise TableError(f"{where}: dates expected, for 'calendar', numbers found.")
        origin = 0 if spec.time is None else float(stages.times[0])
        return Featuriser(spec, origin=origin, categories=found)
    origin = int(stages.clock[0].astype("M8[us]").astype(np.int64))
    return Featuriser(spec, stages.kind, stages.zoned, origin, found)


def _category(frame: Table, spec: Spec, stages: Stages, name: str) -> Category:
    """Return the category of a column, by the warm-up of the table."""
    rows = np.arange(len(frame))[stages.rows][: stages.first(spec.warm_up)]
    texts = frame.texts(name)
    where = f"the first {spec.warm_up} {stages.unit}"
    return category_of(frame, name, [texts[row] for row in rows.tolist()], where)


def _columns(
    frame: Table, stages: Stages, featuriser: Featuriser, outcomes: StageOutcomes
) -> TableColumns:
    spec, many = featuriser.spec, len(frame)
    numbers = [frame.numbers(name)[stages.rows] for name in spec.context]
    codes = [one.codes(frame.texts(one.name))[stages.rows] for one in featuriser.categories]
    return TableColumns(
        numbers=np.array(numbers, np.float64).reshape(len(numbers), many),
        codes=np.array(codes, np.int64).reshape(len(codes), many),
        outcomes=outcomes,
    )


class _Came(NamedTuple):
    """What came of the stages of a table."""

    xi: Array  # (T, m) NaN where one was not seen as it is, or never came
    seen: Bounds | None  # (T, m) bounds, NaN where none came; None where all were seen in full
    arrives: IntArray  # (T) the first stage whose decision may know it; T where none does
    recorded: StageOutcomes  # the numbers that stand there: what later rows look back to
    notes: list[str]


def _outcomes(frame: Table, spec: Spec, stages: Stages, due: Due) -> _Came:
    recorded = np.stack([frame.numbers(name) for name in spec.outcome], axis=1)
    seen = bounds_of_rows(frame, spec, recorded)
    if seen is not None:
        seen = Bounds(seen.low[stages.rows], seen.high[stages.rows])
    recorded = recorded[stages.rows]
    gaps = np.isnan(recorded)
    for number, name in enumerate(spec.outcome):
        if gaps[:, number].all():
            raise TableError(f"{frame.path}, column '{name}': outcomes expected, all are missing.")
    never, in_full = np.asarray(gaps.all(axis=1)), np.asarray(~gaps.any(axis=1))
    if not in_full.any():
        raise TableError(f"{frame.path}: no row has all outcomes, {', '.join(spec.outcome)}.")
    exact = recorded if seen is None else np.where(seen.exact, recorded, np.nan)
    recorded = np.where(in_full[:, None], recorded, np.nan)
    lines, notes = frame.places[stages.rows], list(_notes_of_gaps(spec, never, in_full, seen))
    for name, values in zip(spec.outcome, recorded.T, strict=True):
        notes += far(name, values, frame.place, lines)
    # A missing outcome is told only where its arrival is, and as one that never comes.
    told = ~due.missing & (in_full | (spec.arrives is not None))
    known = np.where(in_full, due.stages, len(recorded))
    found = StageOutcomes(recorded, due.stages, known, due.after, told)
    arrives = np.where(never, len(recorded), due.stages)
    return _Came(exact, seen, arrives, found, [*due.notes, *notes])


def _notes_of_gaps(
    spec: Spec, never: BoolArray, in_full: BoolArray, seen: Bounds | None
) -> Iterator[str]:
    many, part = len(never), int((~never & ~in_full).sum())
    if never.any():
        yield f"{never.sum()} of {many} rows have no outcome."
    if part:
        yield f"{part} of {many} rows have a part of their outcome alone."
    if spec.censored:
        at_least = 0
        if seen is not None:
            at_least = int((np.isfinite(seen.low) & np.isinf(seen.high)).any(axis=1).sum())
        rule = ", ".join(f"'{one}'" for one in dict.fromkeys(spec.censored))
        yield f"{at_least} of {many} outcomes are at least the number that stands there, by {rule}."


def unchanging(names: tuple[str, ...], least: Array, most: Array) -> Iterator[str]:
    """Yield a note on numbers (k) of x that never change; NaN where one is missing."""
    same = [name for name, low, high in zip(names, least, most, strict=True) if low == high]
    if same:
        yield f"Of no use, as it never changes: {', '.join(same)}."


def _decisions(
    frame: Table, spec: Spec, stages: Stages, alone: bool
) -> tuple[Array | None, list[str]]:
    if not spec.decisions:
        return None, []
    now = np.stack([frame.numbers(name)[stages.rows] for name in spec.decisions], axis=1)
    without = np.isnan(now).any(axis=1)
    if alone and without.all():
        listed = ", ".join(f"'{name}'" for name in spec.decisions)
        raise TableError(f"{frame.path}: no row has a decision in {listed}.")
    now[without] = np.nan
    count = int(without.sum())
    return now, [f"{count} of {len(now)} rows have no decision."] if count else []
