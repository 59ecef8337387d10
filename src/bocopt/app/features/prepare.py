"""Series of stages that can be played, from a table."""

from collections.abc import Iterator, Mapping

import numpy as np

from bocopt import arguments
from bocopt.app.features.category import Category, category_of
from bocopt.app.features.checked import checked
from bocopt.app.features.column_notes import notes_of_columns
from bocopt.app.features.days import whole_days
from bocopt.app.features.featuriser import Featuriser
from bocopt.app.features.known import StageOutcomes
from bocopt.app.features.odd import far
from bocopt.app.features.series import Series
from bocopt.app.features.spec import Spec
from bocopt.app.features.stages import Due, Stages, TableColumns
from bocopt.app.reading.columns import Table, TableError
from bocopt.core import Array, BoolArray


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
    outcomes, notes = _outcomes(frame, spec, stages, due)
    featuriser = _featuriser(frame, spec, stages, categories)
    columns = _columns(frame, stages, featuriser, outcomes)
    state, x = featuriser.decide_all(stages, columns)
    names = featuriser.x_names
    now, notes_of_now = _decisions(frame, spec, stages, alone)
    said = [
        *frame.notes,
        *stages.notes,
        *notes,
        *notes_of_columns(frame, stages, featuriser, columns, alone=alone),
        *(unchanging(names, x.min(axis=0), x.max(axis=0)) if alone else ()),
        *notes_of_now,
    ]
    return Series(
        time=stages.shown,
        x=x,
        x_names=names,
        xi=outcomes.xi,
        xi_names=tuple(spec.outcome),
        arrives=outcomes.arrives,
        now=now,
        lines=frame.places[stages.rows],
        notes=tuple(said),
        warm_up=stages.first(spec.warm_up),
        featuriser=featuriser,
        state=state,
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


def _outcomes(
    frame: Table, spec: Spec, stages: Stages, due: Due
) -> tuple[StageOutcomes, list[str]]:
    xi = np.stack([frame.numbers(name)[stages.rows] for name in spec.outcome], axis=1)
    gaps = np.isnan(xi)
    for number, name in enumerate(spec.outcome):
        if gaps[:, number].all():
            raise TableError(f"{frame.path}, column '{name}': outcomes expected, all are missing.")
    without, notes = gaps.any(axis=1), []
    if without.all():
        raise TableError(f"{frame.path}: no row has all outcomes, {', '.join(spec.outcome)}.")
    if without.any():
        xi[without] = np.nan
        notes.append(f"{without.sum()} of {len(xi)} rows have no outcome{_partly(gaps)}.")
    lines = frame.places[stages.rows]
    for name, values in zip(spec.outcome, xi.T, strict=True):
        notes += far(name, values, frame.place, lines)
    arrives = np.where(without, len(xi), due.stages)
    # A missing outcome is told only where its arrival is, and as one that never comes.
    reported = ~due.missing & (~without | (spec.arrives is not None))
    found = StageOutcomes(xi, due.stages, arrives, due.after, reported)
    return found, [*due.notes, *notes]


def _partly(gaps: BoolArray) -> str:
    part = int((gaps.any(axis=1) & ~gaps.all(axis=1)).sum())
    return f", or not all numbers of it ({part})" if part else ""


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
