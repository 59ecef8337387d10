"""Rows that share a time: several decisions, several series in one table, or one row twice."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from bocopt.app.faults import Fault
from bocopt.app.features.spec import Spec
from bocopt.app.reading.columns import Column, Table, TableError, all_of, at_rows
from bocopt.core import Array, IntArray

_PANEL = 1 / 3  # of the rows, at least, share a time with the row before
_REMOVE = ' Remove one of them; if both took place, say repeated = "keep".'
_KEEP = (
    'say repeated = "keep"; what looks back, such as lags, must then stand in columns of the table'
)
_FILL = (
    " The row before may be of another series, and its value cannot stand here: fill gaps in the "
    'table, or say missing = "keep".'
)


def refuse_repeated(frame: Table, spec: Spec, times: Array | IntArray) -> None:
    """Raise an error of all rows that share a time, where one row twice is told from two rows.

    times       (rows) equal where times are
    """
    first = first_alike(frame, times)
    copy = first != np.arange(len(first))
    all_of(
        [
            partial(_refuse_copies, frame, first, np.flatnonzero(copy)),
            partial(_refuse_different, frame, spec, times, np.flatnonzero(~copy)),
        ]
    )


def _refuse_copies(frame: Table, first: IntArray, copies: IntArray) -> None:
    def fault(row: int) -> Fault:
        """Return the fault of a row that is the same as an earlier one."""
        return frame.fault_of_two([int(first[row]), row], ": the same row twice.", _REMOVE)

    if copies.size:
        raise at_rows(copies, fault)


def _refuse_different(frame: Table, spec: Spec, times: Array | IntArray, rows: IntArray) -> None:
    pairs = _pairs(frame, times, rows)
    if not pairs.size:
        return
    hint = f" Where a time has several decisions, {_KEEP}."
    series = _series(frame, spec, times, rows) if len(pairs) >= _PANEL * len(frame) else None
    if series is not None:
        hint = (
            f" '{series}' tells the rows of a time apart, as where a table holds several series: "
            f'say series = "{series}", and each is played by itself. Or {_KEEP}, made of each '
            "series by itself."
        )

    def fault(pair: int) -> Fault:
        """Return the fault of a pair of different rows at one time."""
        return frame.fault_of_two(pairs[pair].tolist(), f"{_at(frame, spec, pairs[pair])}.", hint)

    error = at_rows(np.arange(len(pairs)), fault)
    raise error if series is None else TableError(error.faults[0], more=len(pairs) - 1)


def refuse_looking_back(frame: Table, spec: Spec, times: Array | IntArray) -> None:
    """Raise an error of all that would look from the rows of one series back into another's.

    Nothing is refused where no times are equal.
    """
    pairs = _pairs(frame, times, np.arange(len(frame)))
    asked = [f"'{name}'" for name in ("lags", "rolling") if getattr(spec, name)]
    if not pairs.size:
        return
    checks = [partial(_refuse_memory, frame, spec, pairs[0], " and ".join(asked))] if asked else []
    if spec.missing == "last":
        checks += [partial(refuse_gaps, frame, spec, name, _FILL) for name in spec.context]
        checks += [partial(refuse_gaps, frame, spec, name, _FILL) for name in spec.categories]
    all_of(checks)


def refuse_gaps(frame: Table, spec: Spec, name: str, hint: str = "") -> None:
    """Raise an error of all gaps of a context or a category."""
    of_texts = name in spec.categories
    expected = "a text or a number" if of_texts else "a number"
    frame.refuse(name, frame.gaps(name, of_texts=of_texts), expected, hint)


def _refuse_memory(frame: Table, spec: Spec, pair: IntArray, asked: str) -> None:
    what = (
        f"{_at(frame, spec, pair)}, and {asked} would look back over rows: to an outcome of "
        "another series, such as another shop."
    )
    hint = (
        " Name the column of the series in 'series', in place of repeated: each then has its own "
        f"past. Or leave out {asked}, and write such columns into the table, made of each series "
        "by itself."
    )
    raise TableError(frame.fault_of_two(pair.tolist(), what, hint))


def _at(frame: Table, spec: Spec, pair: IntArray) -> str:
    return f", column '{spec.time}': both at {frame.texts(str(spec.time))[pair[0]]}"


def notes_of_copies(frame: Table, times: Array | IntArray) -> Iterator[str]:
    """Yield a note on rows that are in the table twice, where they may be."""
    first = first_alike(frame, times)
    copies = np.flatnonzero(first != np.arange(len(first)))
    if copies.size:
        one, other = frame.places[first[copies[0]]], frame.places[copies[0]]
        where = f"{frame.place}s {one} and {other}"
        if copies.size == 1:
            yield f"One row stands there twice, in {where}: both are decided and learned."
        else:
            rows = f"{copies.size} rows are the same as another of their time"
            yield f"{rows}, the first in {where}: all are decided and learned."


def first_alike(frame: Table, times: Array | IntArray) -> IntArray:
    """Return the first row (rows) that is the same as each, also in its time; mostly itself."""
    found = np.arange(len(frame))
    rows, group = found, np.zeros(len(frame), np.int64)
    for column in (times, *frame.columns.values()):
        codes = _codes(column, rows)
        _, group, counts = np.unique(
            group * (codes.max(initial=0) + 1) + codes, return_inverse=True, return_counts=True
        )
        again = counts[group] > 1
        rows, group = rows[again], group[again]
    _, places, inverse = np.unique(group, return_index=True, return_inverse=True)
    found[rows] = rows[places][inverse]
    return found


def _codes(column: Column | IntArray, rows: IntArray) -> IntArray:
    """Return codes (rows) that are equal where the cells are; gaps are equal."""
    if isinstance(column, np.ndarray):
        return np.unique(column[rows], return_inverse=True)[1]
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(column[row], len(numbers)) for row in rows], np.int64)


def _pairs(frame: Table, times: Array | IntArray, rows: IntArray) -> IntArray:
    """Return pairs (pairs, 2) of given rows that follow each other at one time, by lines."""
    rows = rows[np.argsort(times[rows], kind="stable")]
    same = np.flatnonzero(np.diff(times[rows]) == 0)
    pairs = np.stack([rows[same], rows[same + 1]], axis=1)
    return pairs[np.argsort(frame.places[pairs].min(axis=1), kind="stable")]


def _series(frame: Table, spec: Spec, times: Array | IntArray, rows: IntArray) -> str | None:
    """Return the column that names the series of each row, if one does: never twice at one time."""
    found = []
    for name, column in frame.columns.items():
        if name in (spec.time, spec.arrives, *spec.outcome, *spec.decisions):
            continue
        codes = _codes(column, rows)
        many = int(codes.max()) + 1
        both = _codes(times, rows) * many + codes
        if 2 <= many <= len(rows) / 2 and len(np.unique(both)) == len(rows):
            found.append((isinstance(column, np.ndarray), many, name))
    return min(found)[-1] if found else None
