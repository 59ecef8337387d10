"""Series of stages that can be played, from a table."""

from collections.abc import Iterator, Mapping

import numpy as np

from bocopt import arguments
from bocopt.app.features.category import Category
from bocopt.app.features.checked import checked
from bocopt.app.features.days import whole_days
from bocopt.app.features.features import Feature, StageOutcomes, features
from bocopt.app.features.featuriser import Featuriser
from bocopt.app.features.odd import far
from bocopt.app.features.series import Series
from bocopt.app.features.spec import Spec
from bocopt.app.features.stages import Due, Stages
from bocopt.app.reading.columns import Table, TableError
from bocopt.core import Array, BoolArray

_RULES = {
    "last": "the last known one stands for it, and 0 before the first",
    "keep": "it stays so",
}


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
    found = list(features(frame, spec, stages, outcomes, categories))
    names = tuple(name for feature in found for name in feature.names)
    x = _joined(found, len(frame))
    now, notes_of_now = _decisions(frame, spec, stages, alone)
    said = [
        *frame.notes,
        *stages.notes,
        *notes,
        *_notes_of(found, spec),
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
        featuriser=_featuriser(spec, stages, found),
    )


def _featuriser(spec: Spec, stages: Stages, found: list[Feature]) -> Featuriser:
    """Return the featuriser, with what was learned from the start of the table."""
    categories = [feature.category for feature in found if feature.category is not None]
    if stages.clock is None:
        origin = 0 if spec.time is None else float(stages.times[0])
        return Featuriser(spec, origin=origin, categories=categories)
    origin = int(stages.clock[0].astype("M8[us]").astype(np.int64))
    return Featuriser(spec, stages.kind, stages.zoned, origin, categories)


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
    return StageOutcomes(xi, due.stages, arrives), [*due.notes, *notes]


def _partly(gaps: BoolArray) -> str:
    part = int((gaps.any(axis=1) & ~gaps.all(axis=1)).sum())
    return f", or not all numbers of it ({part})" if part else ""


def _joined(found: list[Feature], rows: int) -> Array:
    x = np.empty((rows, sum(len(feature.names) for feature in found)))
    first = 0
    for feature in found:
        last = first + len(feature.names)
        x[:, first:last] = feature.values.reshape(rows, len(feature.names))
        first = last
    return x


def _notes_of(found: list[Feature], spec: Spec) -> Iterator[str]:
    for note in (note for feature in found for note in feature.notes):
        rule = f": {_RULES[spec.missing]}" if " is missing in " in note else ""
        yield f"{note}{rule}."


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
