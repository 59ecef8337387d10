"""Rows of a day as one decision: vectors of outcomes and of contexts, by the time of day."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, time
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bocopt.app.features.checked import usable_numbers
from bocopt.app.features.clock_changes import Spans, back_days, forward_days
from bocopt.app.features.spec import Spec
from bocopt.app.features.split import refuse_gaps_of_names, series_keys, taken
from bocopt.app.reading.columns import Column, Table, TableError, all_of, at_rows
from bocopt.app.reading.times import Clock, Times, times_of
from bocopt.core import Array, BoolArray, IntArray

_SHOWN = 3


class _Layout(NamedTuple):
    """The place of each row among D days of S times; each series has days of its own."""

    days: Clock  # (D)
    first: IntArray  # (D) the first row of each
    slots: Spans  # (S)
    names: tuple[str, ...]  # (S) such as "02:00"
    day: IntArray  # (rows)
    slot: IntArray  # (rows)
    counts: IntArray  # (D, S) rows
    forward: BoolArray  # (D)
    back: BoolArray  # (D)


def whole_days(frame: Table, spec: Spec, like: Spec | None = None) -> tuple[Table, Spec]:
    """Return a table with a row a day, and a Spec of its columns, where 'stage' is "day"; else the
    same.

    A column whose numbers differ within days becomes one for each time of day, such as
    'price 02:00', for all series alike. Further rows of a table are laid out as it was, by the Spec
    that it got, `like`.
    """
    if spec.stage == "row":
        return frame, spec
    if like is not None and times_of(frame, str(spec.time)).kind == "date":
        return frame, like  # which are days already
    whole = replace(frame, broken=None)
    times, values = _checked(frame, whole, spec, like)
    layout = _layout(whole, spec, times, series_keys(whole, spec.series)[0], like)
    columns: dict[str, Column] = {str(spec.time): [str(day) for day in layout.days]}
    columns |= {name: taken(whole.column(name), layout.first) for name in spec.series}
    roles = {name: [name] for name in (*spec.outcome, *spec.decisions)}
    for name, given in values.items():
        made = _laid_out(whole, layout, name, given, spec, like)
        roles[name], columns = [*made], columns | made
    places = np.full(len(layout.days), np.iinfo(np.int64).max)
    np.minimum.at(places, layout.day, frame.places)
    notes = (*frame.notes, *_notes(frame, spec, times, layout))
    table = replace(whole, places=places, columns=columns, unusable={}, notes=notes)
    return table, like or _spec_of(spec, roles)


def _checked(
    frame: Table, whole: Table, spec: Spec, like: Spec | None
) -> tuple[Times, Mapping[str, Any]]:
    """Return the times and the values of all columns; one error lists all that is wrong."""
    numbers = [
        name
        for name in (*spec.outcome, *spec.context, *spec.decisions)
        if like is None or name in frame.columns or name in spec.context
    ]
    checks: list[Callable[[], Any]] = [partial(times_of, whole, str(spec.time))]
    checks += [partial(usable_numbers, whole, name) for name in numbers]
    checks += [partial(whole.texts, name) for name in spec.categories]
    checks += [partial(refuse_gaps_of_names, whole, name) for name in spec.series]
    times, *found = all_of([*checks, frame.refuse_broken])
    return times, dict(zip([*numbers, *spec.categories], found, strict=False))


def _laid_out(
    frame: Table, layout: _Layout, name: str, values: Any, spec: Spec, like: Spec | None
) -> dict[str, Column]:
    """Return the columns (D) that a column becomes: one, or one for each time of day."""
    of_texts = name in spec.categories
    grid = _texts_of(layout, values) if of_texts else _numbers_of(layout, values)
    if of_texts or name in spec.context:
        grid = _filled(layout, grid)
    single = name not in spec.outcome and _is_single(frame, layout, name, grid, spec, like)
    parts = [_first_known(grid)] if single else list(grid.T)
    names = [name] if single else [f"{name} {slot}" for slot in layout.names]
    made = [part.tolist() if of_texts else part for part in parts]
    return dict(zip(names, made, strict=True))


def _spec_of(spec: Spec, roles: Mapping[str, Sequence[str]]) -> Spec:
    """Return the Spec with the columns that each of its columns has become."""

    def new(names: Iterable[str]) -> list[str]:
        """Return the columns that the named ones have become."""
        return [new for name in names for new in roles[name]]

    return replace(
        spec,
        outcome=new(spec.outcome),
        context=new(spec.context),
        categories=new(spec.categories),
        decisions=new(spec.decisions),
        stage="row",
    )


def _layout(frame: Table, spec: Spec, times: Times, codes: IntArray, like: Spec | None) -> _Layout:
    """Return the layout of rows; `codes` (rows) are numbers of their series."""
    where = f"{frame.path}, column '{spec.time}'"
    if times.kind != "moment" or times.clock is None:
        raise TableError(f"{where}: times of day expected, for 'stage', {times.kind}s found.")
    midnights = times.clock.astype("M8[D]")
    spans = times.clock - midnights
    dates, date = np.unique(midnights, return_inverse=True)
    both = codes * len(dates) + date
    each, first, day = np.unique(both, return_index=True, return_inverse=True)
    series, days = each // len(dates), dates[each % len(dates)]
    slots = _full_day(spans, day, where) if like is None else _slots_of(spec, like)
    names = _names(slots)
    slot = np.searchsorted(slots, spans)
    stray = slots[np.minimum(slot, len(slots) - 1)] != spans
    expected = f"a time of a full day ({_some(names)})"
    frame.refuse(str(spec.time), stray, expected)
    counts = np.zeros((len(days), len(slots)), np.int64)
    np.add.at(counts, (day, slot), 1)
    offsets = _changes_of_zone(times, day, len(days))
    own = np.split(np.arange(len(days)), np.flatnonzero(np.diff(series)) + 1)
    forward, back = (
        np.concatenate([changed(days[at], slots, counts[at], offsets[at]) for at in own])
        for changed in (forward_days, back_days)
    )
    _refuse_doubled(frame, spec, times, day, counts[day, slot] > np.where(back, 2, 1)[day])
    return _Layout(days, first, slots, names, day, slot, counts, forward, back)


def _full_day(spans: Spans, day: IntArray, where: str) -> Spans:
    """Return the times (S) of most days that have the most frequent number of rows."""
    numbers = np.bincount(day)
    values, frequency = np.unique(numbers, return_counts=True)
    usual = int(values[len(values) - 1 - np.argmax(frequency[::-1])])  # of several, the largest
    if usual == 1:
        raise TableError(f"{where}: several rows of most days expected, for 'stage', one found.")
    patterns: dict[bytes, int] = {}
    for number in np.flatnonzero(numbers == usual):
        pattern = np.unique(spans[day == number]).tobytes()
        patterns[pattern] = patterns.get(pattern, 0) + 1
    most = max(patterns, key=lambda pattern: (patterns[pattern], len(pattern)))
    return np.frombuffer(most, spans.dtype)


def _slots_of(spec: Spec, like: Spec) -> Spans:
    """Return the times of day (S) in the names of an outcome."""
    start = f"{spec.outcome[0]} "
    count = len(like.outcome) // len(spec.outcome)
    clocks = [name.removeprefix(start) for name in like.outcome[:count]]
    moments = [datetime.combine(datetime.min, time.fromisoformat(clock)) for clock in clocks]
    return np.array([moment - datetime.min for moment in moments], "m8[us]")


def _names(slots: Spans) -> tuple[str, ...]:
    clocks = [(datetime.min + span).time() for span in slots.tolist()]
    whole = all(clock.second == clock.microsecond == 0 for clock in clocks)
    return tuple(clock.isoformat("minutes" if whole else "auto") for clock in clocks)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names if len(names) <= _SHOWN else [*names[:2], "...", names[-1]])


def _changes_of_zone(times: Times, day: IntArray, count: int) -> Array:
    """Return the rise (D) of the offset from UTC within each day; NaN where there are no zones."""
    if not times.zones or times.clock is None:
        return np.full(count, np.nan)
    offsets = times.clock.astype("M8[us]").astype(np.int64) - times.order
    order = np.argsort(times.order, kind="stable")
    first, last = np.zeros(count), np.zeros(count)
    last[day[order]] = offsets[order]
    first[day[order[::-1]]] = offsets[order[::-1]]
    return np.asarray(last - first)


def _refuse_doubled(
    frame: Table, spec: Spec, times: Times, day: IntArray, doubled: BoolArray
) -> None:
    """Raise an error of rows of one time, where no clock goes back; `day` (rows) is of a series."""
    rows = np.flatnonzero(doubled)
    rows = rows[np.lexsort((times.order[rows], day[rows]))]
    same = np.flatnonzero((np.diff(times.order[rows]) == 0) & (np.diff(day[rows]) == 0))
    pairs = np.stack([rows[same], rows[same + 1]], axis=1)
    hint = " A time that comes twice is one of clocks that go back, once a year; remove others."

    def fault(pair: int) -> Any:
        """Return the fault of a pair of rows that share a time."""
        at = frame.texts(str(spec.time))[pairs[pair][0]]
        what = f", column '{spec.time}': both at {at}."
        return frame.fault_of_two(pairs[pair].tolist(), what, hint)

    if len(pairs):
        raise at_rows(np.arange(len(pairs)), fault)


def _numbers_of(layout: _Layout, values: Array) -> Array:
    """Return the mean (D, S) of the rows of each time; NaN where there is none."""
    total = np.zeros(layout.counts.shape)
    np.add.at(total, (layout.day, layout.slot), values)
    return np.where(layout.counts > 0, total / np.maximum(layout.counts, 1), np.nan)


def _texts_of(layout: _Layout, values: list[str]) -> Any:
    """Return the text (D, S) of the first row of each time; empty where there is none."""
    found = np.full(layout.counts.shape, "", object)
    found[layout.day[::-1], layout.slot[::-1]] = values[::-1]
    return found


def _filled(layout: _Layout, grid: Any) -> Any:
    """Return the grid (D, S) with the value of the time before in each that clocks skip."""
    found = grid.copy()
    for day in np.flatnonzero(layout.forward):
        for slot in np.flatnonzero(layout.counts[day] == 0):
            if slot:
                found[day, slot] = found[day, slot - 1]
    return found


def _known(grid: Any) -> BoolArray:
    return np.asarray(grid != "") if grid.dtype == object else ~np.isnan(grid)


def _first_known(grid: Any) -> Any:
    """Return the first known value (D) of each day of a grid (D, S)."""
    return grid[np.arange(len(grid)), _known(grid).argmax(axis=1)]


def _is_single(
    frame: Table, layout: _Layout, name: str, grid: Any, spec: Spec, like: Spec | None
) -> bool:
    """True where a column has one value a day; an error where it must and has not."""
    other = _known(grid) & (grid != _first_known(grid)[:, None])
    if like is None:
        return not other.any()
    single = name in (*like.context, *like.categories, *like.decisions)
    rows = other[layout.day, layout.slot]
    if single:
        frame.refuse(name, rows, "what the first row of its day has, as in the table of the case,")
    return single


def _notes(frame: Table, spec: Spec, times: Times, layout: _Layout) -> Iterator[str]:
    slots = f"{len(layout.names)} times ({_some(layout.names)})"
    yield f"All rows of a day are one decision: {slots}, as on most days."
    if times.zones:
        zones = " and ".join(times.zones)
        yield f"The times of '{spec.time}' are {zones} from UTC; days follow the clock as written."
    if layout.forward.any():
        yield (
            f"Clocks go forward on {_listed(layout, layout.forward)}: contexts of the hour that is "
            "missing are those before it, and the outcome of the day is known in part."
        )
    if layout.back.any():
        back = _listed(layout, layout.back)
        yield f"Clocks go back on {back}: the hour that comes twice is averaged."
    part = (layout.counts == 0).any(axis=1) & ~layout.forward
    days = "days of series" if spec.series else "days"
    if part.any():
        yield (
            f"{part.sum()} of {len(part)} {days} have not all {len(layout.names)} rows "
            f"({_listed(layout, part)}): what is missing is a gap."
        )


def _listed(layout: _Layout, which: BoolArray) -> str:
    days = [str(day) for day in np.unique(layout.days[which])]
    more = len(days) - _SHOWN
    return ", ".join(days[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
