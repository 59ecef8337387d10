"""A table of several series: its rows by series and time, and all that is wrong with them."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bocopt.app.faults import Fault
from bocopt.app.features.censoring import checks as checks_of_censored
from bocopt.app.features.censoring import columns_of_censored
from bocopt.app.features.checked import usable_numbers
from bocopt.app.features.panel_rows import BETWEEN
from bocopt.app.features.repeats import first_alike, refuse_gaps
from bocopt.app.features.spec import Spec
from bocopt.app.reading.cells import text_of
from bocopt.app.reading.columns import Column, Table, TableError, all_of, at_rows
from bocopt.app.reading.times import Times, times_of
from bocopt.core import Array, IntArray

_COPY = " Remove one of them."
_TWICE = " A series has one row a time: remove one of them, or add them up."
_WITHOUT = " Leave its rows out until it has one."


class Split(NamedTuple):
    """The rows of n series, by series and in each by time."""

    frame: Table  # its numbers are numbers
    names: tuple[str, ...]  # (n) rising
    keys: tuple[tuple[str, ...], ...]  # (n, columns) their parts
    begins: IntArray  # (n + 1) the first row of each; last, the number of rows
    times: Times  # (rows)
    moments: IntArray  # (rows) the number of the time among those of the whole table, from 0
    came: Times | None  # (rows) when outcomes came, where a column says so


def split(frame: Table, spec: Spec) -> Split:
    """Return the rows of each series in time order; one error lists all that is wrong."""
    if frame.broken is not None and not len(frame):
        raise frame.broken
    whole = replace(frame, broken=None)
    refuse_wide(whole, spec)
    time, numbers = str(spec.time), (*spec.outcome, *spec.context, *spec.decisions)
    said = columns_of_censored(spec)
    used = (time, *spec.series, *numbers, *spec.categories, *said)
    all_of([partial(whole.column, name) for name in dict.fromkeys(used)])
    codes, keys = series_keys(whole, spec.series)
    names = _names(whole, keys)
    times = _times(whole, time)
    order = times.order if isinstance(times, Times) else _as_written(whole, time)
    checks: list[Callable[[], Any]] = [partial(usable_numbers, whole, name) for name in numbers]
    if spec.arrives is not None:
        checks.append(partial(times_of, whole, spec.arrives, gaps=True))
    checks += [frame.refuse_broken, partial(_raised, times), *checks_of_censored(whole, spec)]
    checks += _checks_of_series(whole, spec, codes, names, order)
    found = all_of(checks)
    assert isinstance(times, Times)
    texts = (*spec.categories, *([spec.arrives] if spec.arrives else []), *said)
    columns = {name: whole.columns[name] for name in (time, *texts)}
    columns |= dict(zip(numbers, found, strict=False))
    came = found[len(numbers)] if spec.arrives is not None else None
    rows = np.lexsort((order, codes))
    ordered = replace(
        whole,
        places=whole.places[rows],
        columns={name: taken(column, rows) for name, column in columns.items()},
    )
    return Split(
        frame=ordered,
        names=names,
        keys=keys,
        begins=np.searchsorted(codes[rows], np.arange(len(names) + 1)),
        times=_times_at(times, rows),
        moments=_moments(frame, spec, times.order[rows]),
        came=None if came is None else _times_at(came, rows),
    )


def _checks_of_series(
    frame: Table, spec: Spec, codes: IntArray, names: tuple[str, ...], order: Array | IntArray
) -> list[Callable[[], Any]]:
    """Return the checks that each series has names, times, outcomes and contexts."""
    checks = [
        *(partial(refuse_gaps_of_names, frame, name) for name in spec.series),
        partial(_refuse_twice, frame, spec, codes, names, order),
        partial(_refuse_without_outcome, frame, spec, codes, names),
    ]
    seen = (*spec.context, *spec.categories) if spec.missing == "refuse" else ()
    return [*checks, *(partial(refuse_gaps, frame, spec, name) for name in seen)]


def _moments(frame: Table, spec: Spec, order: Array | IntArray) -> IntArray:
    """Return the numbers of times among those of the whole table, which outlasts the warm-up."""
    moments = np.unique(order, return_inverse=True)[1].astype(np.int64)
    there = int(moments.max()) + 1
    if there <= spec.warm_up:
        raise TableError(
            f"{frame.path} has {there} times: more expected than the {spec.warm_up} of the "
            "'warm_up'."
        )
    return moments


def series_keys(
    frame: Table, columns: Sequence[str]
) -> tuple[IntArray, tuple[tuple[str, ...], ...]]:
    """Return the series number of each row (rows), -1 where a part is missing, and the keys (n).

    >>> shops = Table("sales.csv", "row", np.arange(3), {"shop": ["B", "A", "B"]})
    >>> series_keys(shops, ["shop"])
    (array([1, 0, 1]), (('A',), ('B',)))
    """
    gap, found, keys = (
        np.zeros(len(frame), bool),
        np.zeros(len(frame), np.int64),
        [tuple[str, ...]()],
    )
    for column in columns:
        codes, texts = _codes_of(frame.column(column))
        gap |= codes < 0
        texts = texts or [""]
        both, found = np.unique(found * len(texts) + np.maximum(codes, 0), return_inverse=True)
        parts = [divmod(code, len(texts)) for code in both.tolist()]
        keys = [(*keys[one], texts[other]) for one, other in parts]
    there = np.unique(found[~gap])
    return np.where(gap, -1, np.searchsorted(there, found)), tuple(keys[one] for one in there)


def _names(frame: Table, keys: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    names = tuple(map(BETWEEN.join, keys))
    if len({*names}) < len(names):
        twice = next(name for name, many in Counter(names).items() if many > 1)
        raise TableError(f"{frame.path}: two series would both be called '{twice}'.")
    return names


def _codes_of(column: Column) -> tuple[IntArray, list[str]]:
    """Return the place (rows) of each text among all, rising, -1 for a gap; and these texts."""
    if isinstance(column, np.ndarray):
        numbers = np.unique(column[~np.isnan(column)])
        codes = np.where(np.isnan(column), -1, np.searchsorted(numbers, column))
        return codes.astype(np.int64), [text_of(number) for number in numbers.tolist()]
    texts = sorted({*column} - {""})
    place = {text: number for number, text in enumerate(texts)} | {"": -1}
    return np.fromiter(map(place.__getitem__, column), np.int64, len(column)), texts


def _times(frame: Table, name: str) -> Times | TableError:
    """Return the times of the rows, or what is wrong with them."""
    try:
        return times_of(frame, name)
    except TableError as error:
        return error


def _raised(made: Times | TableError) -> None:
    if isinstance(made, TableError):
        raise made


def _as_written(frame: Table, name: str) -> IntArray:
    """Return codes (rows) that are equal where the texts are; each gap is by itself."""
    codes, _ = _codes_of(frame.column(name))
    return np.where(codes < 0, -1 - np.arange(len(codes)), codes)


def refuse_gaps_of_names(frame: Table, name: str) -> None:
    """Raise an error of all rows that do not say of which series they are."""
    frame.refuse(name, frame.gaps(name, of_texts=True), "the name of a series")


def refuse_repeated_rows(frame: Table, spec: Spec) -> None:
    """Raise an error of all rows that share a series and a time, in a table of rows to decide.

    What else is wrong with a row is told where it is read.
    """
    if all(name in frame.columns for name in (str(spec.time), *spec.series)) and len(frame):
        codes, keys = series_keys(frame, spec.series)
        times = _times(frame, str(spec.time))
        order = times.order if isinstance(times, Times) else _as_written(frame, str(spec.time))
        _refuse_twice(frame, spec, codes, _names(frame, keys), order)


def _refuse_twice(
    frame: Table, spec: Spec, codes: IntArray, names: tuple[str, ...], order: Array | IntArray
) -> None:
    rows = np.lexsort((frame.places, order, codes))
    rows = rows[codes[rows] >= 0]
    same = np.flatnonzero((np.diff(codes[rows]) == 0) & (np.diff(order[rows]) == 0))
    pairs = np.stack([rows[same], rows[same + 1]], axis=1)
    pairs = pairs[np.argsort(frame.places[pairs].min(axis=1), kind="stable")]
    if not len(pairs):
        return
    hint = _TWICE
    first, other = first_alike(frame, order), _telling_apart(frame, spec, codes, order)
    if other is not None:
        listed = ", ".join(f'"{name}"' for name in (*spec.series, other))
        hint = f" '{other}' tells such rows apart: say series = [{listed}]."

    def fault(pair: int) -> Fault:
        """Return the fault of a pair of rows of one series at one time."""
        one, two = pairs[pair].tolist()
        of = f"'{names[codes[one]]}' at {frame.texts(str(spec.time))[one]}"
        if first[one] == first[two]:
            return frame.fault_of_two([one, two], f": the same row twice, of {of}.", _COPY)
        return frame.fault_of_two([one, two], f": both are {of}.", hint)

    raise at_rows(np.arange(len(pairs)), fault)


def _telling_apart(
    frame: Table, spec: Spec, codes: IntArray, order: Array | IntArray
) -> str | None:
    """Return a column of which rows that share a series and a time never have the same; or None."""
    known = {spec.time, spec.arrives, *spec.series, *spec.outcome, *spec.decisions}
    known |= {*columns_of_censored(spec)}
    times = np.unique(order, return_inverse=True)[1]
    for name in [name for name in frame.columns if name not in known]:
        own, values = _codes_of(frame.column(name))
        rows = np.stack([codes, times, own], axis=1)
        alone = len(np.unique(rows, axis=0)) == len(rows)
        if alone and (own >= 0).all() and len(values) <= len(rows) / 2:
            return name
    return None


def _refuse_without_outcome(
    frame: Table, spec: Spec, codes: IntArray, names: tuple[str, ...]
) -> None:
    without = np.zeros(len(frame), bool)
    for name in spec.outcome:
        without |= frame.gaps(name, of_texts=False)
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    none = np.bincount(codes[(codes >= 0) & ~without], minlength=len(names)) == 0
    found, first = np.unique(codes, return_index=True)
    rows = first[(found >= 0) & none[found]]

    def fault(row: int) -> Fault:
        """Return the fault of a series without an outcome, at its first row."""
        place, code = int(frame.places[row]), int(codes[row])
        rows = "its only row" if counts[code] == 1 else f"all of its {counts[code]} rows"
        said = f"{frame.path}, {frame.place} {place}: '{names[code]}' has no outcome in {rows}."
        return Fault(place, said, _WITHOUT)

    if len(rows):
        raise at_rows(np.sort(rows), fault)


def refuse_wide(frame: Table, spec: Spec) -> None:
    """Raise an error where series are columns and not rows, with the line that melts the table."""
    columns, time = frame.columns, str(spec.time)
    if time not in columns or not columns.keys().isdisjoint(spec.outcome):
        return
    kept = [n for n in (time, *spec.context, *spec.categories, *spec.decisions) if n in columns]
    wide = [n for n, each in columns.items() if n not in kept and isinstance(each, np.ndarray)]
    named_wide = [name for name in spec.series if name in columns]
    if len(wide) < 2 or (named_wide and not (len(named_wide) > 1 and {*named_wide} <= {*wide})):
        return
    times = frame.texts(time)
    if len({*times}) == len(times):
        raise _is_wide(frame, kept, wide, "series" if named_wide else spec.series[0], spec)


def _is_wide(
    frame: Table, kept: Sequence[str], wide: Sequence[str], named: str, spec: Spec
) -> TableError:
    value = spec.outcome[0]
    index = "[" + ", ".join(f'"{name}"' for name in kept) + "]"
    shown = ", ".join(f"'{name}'" for name in wide[:3]) + (", ..." if len(wide) > 3 else "")
    return TableError(
        f"{frame.path} is wide: a row is a time, and each series a column ({shown}). A row for "
        f"each series and time is expected, with the outcome in '{value}' and "
        f'series = "{named}". In pandas: '
        f'table.melt({index}, var_name="{named}", value_name="{value}"). In polars: '
        f'table.unpivot(index={index}, variable_name="{named}", value_name="{value}").'
    )


def taken(column: Column, rows: IntArray) -> Column:
    """Return some rows of a column, in the order that is asked for."""
    if isinstance(column, np.ndarray):
        return np.asarray(column[rows])
    return [column[row] for row in rows.tolist()]


def _times_at(times: Times, rows: IntArray) -> Times:
    shown = times.shown
    return times._replace(
        order=times.order[rows],
        clock=None if times.clock is None else times.clock[rows],
        shown=[shown[row] for row in rows.tolist()],
        missing=times.missing[rows],
    )
