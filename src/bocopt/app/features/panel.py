"""Panels from tables of several series, each of which has its own past."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from bocopt import arguments
from bocopt.app.features.category import Category, category_of
from bocopt.app.features.days import whole_days
from bocopt.app.features.gaps import gaps_note
from bocopt.app.features.odd import alike
from bocopt.app.features.panel_notes import notes_of_split
from bocopt.app.features.panel_rows import PanelFeaturiser
from bocopt.app.features.prepare import series_from, unchanging
from bocopt.app.features.sales_note import sales_notes_of_panel
from bocopt.app.features.series import Panel, Series
from bocopt.app.features.spec import Spec
from bocopt.app.features.split import Split, split
from bocopt.app.features.stages import Due, Stages, due_of, notes_of_zones
from bocopt.app.reading.columns import Column, Table, all_of

#: Columns that stand for series, time and outcome where nothing else is said.
CONVENTION: Mapping[str, str] = {"series": "unique_id", "time": "ds", "outcome": "y"}


def panel_of(frame: Table, spec: Spec | None = None) -> Panel:
    """Return the series of a table, in time order; what a stage shows is known at its decision.

    Without a Spec the table has the columns `unique_id`, `ds` and `y`. A series may begin late, end
    early and have times missing. x of a stage is what `series_of` would make of the rows of its
    series alone, bit for bit, but for categories: they are those of the warm-up of the whole table.

    >>> table = Table(
    ...     "sales.csv",
    ...     "row",
    ...     np.arange(1, 5),
    ...     {"shop": ["B", "A", "B", "A"], "day": np.array([1.0, 1, 2, 2]), "sold": np.arange(4.0)},
    ... )
    >>> panel = panel_of(table, Spec("sold", time="day", series="shop", lags=[1]))
    >>> [(name, one.x.ravel().tolist()) for name, one in zip(panel.names, panel.series)]
    [('A', [0.0, 1.0]), ('B', [0.0, 0.0])]
    """
    arguments.kind("panel_of", "frame", frame, Table)
    spec = _spec_of_several(spec)
    frame, spec = whole_days(frame, spec)
    parts = split(frame, spec)
    categories = _categories(parts, spec)
    alone = replace(spec, series=())
    each = [_alone(parts, number) for number in range(len(parts.names))]
    dues = all_of([partial(_due, parts, alone, *one) for one in enumerate(each)])
    series = [
        _made(parts, alone, categories, number, stages, due)
        for number, (stages, due) in enumerate(zip(each, dues, strict=True))
    ]
    common = _shared(series)
    first = np.unique(parts.moments, return_index=True)[1]
    clock = None if parts.times.clock is None else parts.times.clock[first]
    return Panel(
        names=parts.names,
        series=tuple(_without(one, common) for one in series),
        notes=(
            *parts.times.notes,
            *notes_of_zones(str(spec.time), parts.times),
            *notes_of_split(parts, spec),
            *common,
            *_of_categories(parts, spec),
            *_unchanging(series),
            *sales_notes_of_panel(spec, [(one.now, one.xi) for one in series]),
        ),
        time=tuple(parts.times.shown[row] for row in first.tolist()),
        at=tuple(np.split(parts.moments, parts.begins[1:-1])),
        columns=tuple(spec.series),
        keys=parts.keys,
        clock=clock,
        warm_up=spec.warm_up,
        featuriser=PanelFeaturiser(
            spec,
            parts.times.kind,
            bool(parts.times.zones),
            tuple(categories.values()),
            tuple(isinstance(frame.columns[name], np.ndarray) for name in spec.series),
        ),
    )


def _spec_of_several(spec: Spec | None) -> Spec:
    """Return the Spec, or without one that of the convention; an error where it names no series."""
    if spec is None:
        named = CONVENTION
        return Spec(named["outcome"], time=named["time"], series=named["series"])
    arguments.kind("panel_of", "spec", spec, Spec)
    if not spec.series:
        expected = "a Spec with 'series': `series_of` reads a table of one"
        raise arguments.wrong("panel_of", "spec", expected, spec)
    return spec


def _without(one: Series, notes: Collection[str]) -> Series:
    """Return a series without notes that are those of the whole panel."""
    return one._replace(notes=tuple(note for note in one.notes if note not in notes))


def follows_convention(frame: Table) -> bool:
    """Return True if a table has the columns `unique_id`, `ds` and `y`."""
    return all(name in frame.columns for name in CONVENTION.values())


def _alone(parts: Split, number: int) -> Stages:
    """Return the stages of one series."""
    rows = slice(*parts.begins[number : number + 2].tolist())
    times = parts.times
    order, shown = times.order[rows], tuple(times.shown[rows])
    clock = None if times.clock is None else times.clock[rows]
    gap = gaps_note(times.kind, order, clock, shown)
    return Stages(
        rows=slice(None),
        shown=shown,
        times=order,
        moments=np.arange(len(shown)),
        clock=clock,
        kind=times.kind,
        zoned=bool(times.zones),
        notes=(gap,) if gap else (),
    )


def _frame_of(parts: Split, number: int) -> Table:
    """Return the rows of one series; numbers are not copied."""
    rows = slice(*parts.begins[number : number + 2].tolist())
    columns: Mapping[str, Column] = {name: c[rows] for name, c in parts.frame.columns.items()}
    return replace(parts.frame, places=parts.frame.places[rows], columns=columns)


def _due(parts: Split, alone: Spec, number: int, stages: Stages) -> Due:
    came = parts.came
    if came is not None:
        rows = slice(*parts.begins[number : number + 2].tolist())
        came = came._replace(order=came.order[rows], missing=came.missing[rows])
    return due_of(_frame_of(parts, number), alone, stages, came)


def _made(
    parts: Split,
    alone: Spec,
    categories: Mapping[str, Category],
    number: int,
    stages: Stages,
    due: Due,
) -> Series:
    found = series_from(_frame_of(parts, number), stages, due, alone, categories)
    moments = parts.moments[slice(*parts.begins[number : number + 2].tolist())]
    return found._replace(warm_up=int(np.searchsorted(moments, alone.warm_up)))


def _categories(parts: Split, spec: Spec) -> Mapping[str, Category]:
    """Return the categories in the warm-up of the whole table, by column."""
    start = np.flatnonzero(parts.moments < spec.warm_up).tolist()
    found = {}
    for name in spec.categories:
        texts = parts.frame.texts(name)
        where = f"the first {spec.warm_up} times"
        found[name] = category_of(parts.frame, name, [texts[row] for row in start], where)
    return found


def _shared(series: list[Series]) -> tuple[str, ...]:
    """Return the notes that all series have."""
    first, *others = series
    return tuple(note for note in first.notes if all(note in other.notes for other in others))


def _of_categories(parts: Split, spec: Spec) -> Iterator[str]:
    for name in spec.categories:
        yield from (f"{note}." for note in alike(name, {*parts.frame.texts(name)} - {""}))


def _unchanging(series: list[Series]) -> Iterator[str]:
    least = np.min([one.x.min(axis=0) for one in series], axis=0)
    most = np.max([one.x.max(axis=0) for one in series], axis=0)
    return unchanging(series[0].x_names, least, most)
