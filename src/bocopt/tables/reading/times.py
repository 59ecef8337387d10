"""Times in a table: dates, months, moments with or without a time zone, or numbers."""

import re
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bocopt.core import Array, BoolArray, IntArray
from bocopt.tables.reading.cells import is_gap, numbers_or_none
from bocopt.tables.reading.columns import Frame

Kind = Literal["date", "month", "moment", "number"]
Clock = NDArray[np.datetime64]

_SHAPES: dict[Kind, re.Pattern[str]] = {
    "date": re.compile(r"\d{4}-\d\d-\d\d"),
    "month": re.compile(r"\d{4}-\d\d"),
    "moment": re.compile(r"\d{4}-\d\d-\d\d[T ]\d.*"),
}
_WORDS: dict[Kind, str] = {
    "date": "a date",
    "month": "a month",
    "moment": "a date with a time of day",
    "number": "a number",
}
_HINT = " Write times like 2024-03-01, 2024-03-01 14:30 or 2024-03."
_FIRST_DAY, _LAST_DAY = 19000101, 22001231  # numbers between them may be dates
_SUMMER_TIME = timedelta(hours=1)


class Times(NamedTuple):
    """A column of times, row by row."""

    kind: Kind
    order: IntArray | Array  # microseconds in UTC, or the number: later is larger
    clock: Clock | None  # as the clock shows it, without its zone; None for numbers
    shown: list[str]  # as it stands in the table
    missing: BoolArray
    zones: tuple[str, ...]  # such as "+01:00"; empty: none is given
    notes: tuple[str, ...] = ()


def looks_like_a_time(cell: str) -> bool:
    """Whether it is a number or a time, and so no name of a column.

    >>> [looks_like_a_time(cell) for cell in ("2024-03-01", "3.5", "day")]
    [True, True, False]
    """
    return _kind_of(cell) is not None


def times_of(frame: Frame, name: str, *, gaps: bool = False) -> Times:
    """A column of times of one kind; with `gaps`, some may be missing."""
    cells = frame.column(name)
    found = _numbers(frame, name) if isinstance(cells, np.ndarray) else _texts(frame, name, gaps)
    if not gaps:
        frame.refuse(name, found.missing, "a time")
    return found


def _numbers(frame: Frame, name: str) -> Times:
    values = frame.numbers(name)
    frame.refuse(name, np.isinf(values), "a time")
    shown = frame.texts(name)
    missing = np.isnan(values)
    clock = _days(values)
    if clock is None:
        return Times("number", values, None, shown, missing, ())
    note = f"The numbers of '{name}' are taken for dates, such as {shown[0]} for {clock[0]}."
    return Times("date", _order(clock), clock, shown, missing, (), (note,))


def _days(values: Array) -> Clock | None:
    """Of numbers such as 20240301; None where one is no date."""
    if not ((values >= _FIRST_DAY) & (values <= _LAST_DAY) & (values % 1 == 0)).all():
        return None
    texts = [f"{value:.0f}" for value in values]
    try:
        return np.array([f"{t[:4]}-{t[4:6]}-{t[6:]}" for t in texts], "M8[D]")
    except ValueError:
        return None


def _order(clock: Clock) -> IntArray:
    return clock.astype("M8[us]").astype(np.int64)


def _texts(frame: Frame, name: str, gaps: bool) -> Times:
    cells = frame.texts(name)
    missing = np.array([gaps and is_gap(cell) for cell in cells])
    first = int(missing.argmin())  # the first that is there: texts are not all missing
    kind = _kind_of(cells[first])
    if kind is None:
        raise frame.error(first, name, "a time", cells[first], _HINT)
    moments = [None if gap else _moment(c, kind) for c, gap in zip(cells, missing, strict=True)]
    for row, moment in enumerate(moments):
        if moment is None and not missing[row] and not _is_number(cells[row], kind):
            expected = f"{_WORDS[kind]} as in {frame.place} {frame.places[first]}"
            raise frame.error(row, name, expected, cells[row])
    return _of_moments(frame, name, kind, moments, missing)


def _of_moments(
    frame: Frame, name: str, kind: Kind, moments: list[datetime | None], missing: BoolArray
) -> Times:
    offsets = _offsets(frame, name, moments)
    clock = np.array([m and m.replace(tzinfo=None) for m in moments], "M8[us]")
    order = _order(clock)
    if offsets:
        micro = timedelta(microseconds=1)
        order -= np.array([0 if m is None else _offset(m) // micro for m in moments], np.int64)
    zones = tuple(_zone(offset) for offset in sorted(offsets))
    return Times(kind, order, clock, frame.texts(name), missing, zones)


def _offsets(frame: Frame, name: str, moments: list[datetime | None]) -> dict[timedelta, int]:
    """The first row of each offset from UTC; empty where no time has one."""
    first: dict[timedelta | None, int] = {}
    for row, moment in enumerate(moments):
        if moment is not None:
            first.setdefault(moment.utcoffset(), row)
    zoned = {offset: row for offset, row in first.items() if offset is not None}
    if zoned and None in first:
        rows = [first[None], min(zoned.values())]
        raise frame.error_of_two(rows, name, "one time has a time zone and one has none.")
    if zoned and max(zoned) - min(zoned) > _SUMMER_TIME:
        what = f"time zones {_zone(min(zoned))} and {_zone(max(zoned))}. Write all times in one."
        raise frame.error_of_two([zoned[min(zoned)], zoned[max(zoned)]], name, what)
    return zoned


def _offset(moment: datetime) -> timedelta:
    return moment.utcoffset() or timedelta(0)


def _zone(offset: timedelta) -> str:
    minutes = round(offset / timedelta(minutes=1))
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def _kind_of(cell: str) -> Kind | None:
    for kind, shape in _SHAPES.items():
        if shape.fullmatch(cell):
            return kind
    return "number" if _is_number(cell, "number") else None


def _is_number(cell: str, kind: Kind) -> bool:
    return kind == "number" and numbers_or_none([cell]) is not None and not is_gap(cell)


def _moment(cell: str, kind: Kind) -> datetime | None:
    """None where a cell is not of this kind."""
    if kind == "number" or not _SHAPES[kind].fullmatch(cell):
        return None
    try:
        return datetime.fromisoformat(f"{cell}-01" if kind == "month" else cell)
    except ValueError:
        return None
