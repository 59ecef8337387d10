"""Times in a table: dates, months, moments with or without a time zone, or numbers."""

import re
from collections import Counter
from datetime import date, datetime, time, timedelta
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bocopt.app.faults import Fault
from bocopt.app.reading.cells import is_gap, number_from, numbers_or_none
from bocopt.app.reading.columns import Table, TableError
from bocopt.app.reading.cures import for_times
from bocopt.core import Array, BoolArray, IntArray

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
SUMMER_TIME = timedelta(hours=1)  # that the zones of one column may be apart
_MICRO = timedelta(microseconds=1)


class Times(NamedTuple):
    """A column of times, row by row."""

    kind: Kind
    order: IntArray | Array  # microseconds in UTC, or the number: later is larger
    clock: Clock | None  # as the clock shows it, without its zone; None for numbers
    shown: list[str]  # as it stands in the table
    missing: BoolArray
    zones: tuple[str, ...]  # such as "+01:00"; empty: none is given
    notes: tuple[str, ...] = ()


class Time(NamedTuple):
    """One time of a column of `Times`."""

    order: float  # as there
    clock: np.datetime64 | None  # as there
    offset: int | None = None  # microseconds from UTC; None: no zone is given


def time_of(value: object, kind: Kind) -> Time | None:
    """Return a time that a program sends, as a column of this kind has it; None for none such.

    >>> time_of("2024-03-01T14:30+01:00", "moment").clock
    np.datetime64('2024-03-01T14:30:00.000000')
    >>> time_of("2024-03-01", "date") == time_of(20240301, "date")
    True
    """
    if isinstance(value, date):
        is_day = kind == "date" and isinstance(value, datetime) and is_midnight(value)
        value = str(value)[:10] if is_day else str(value)
    cell = value.strip() if isinstance(value, str) else ""
    moment = _moment(cell, kind)
    return _of_number(value, kind) if moment is None else _of_moment(moment)


def _of_moment(moment: datetime) -> Time:
    zone = moment.utcoffset()
    offset = None if zone is None else zone // _MICRO
    clock = np.datetime64(moment.replace(tzinfo=None), "us")
    return Time(int(clock.astype(np.int64)) - (offset or 0), clock, offset)


def _of_number(value: object, kind: Kind) -> Time | None:
    number = None if isinstance(value, bool) else number_from(value)
    if number is None or not np.isfinite(number):
        return None
    if kind == "number":
        return Time(number, None)
    days = _days(np.array([number])) if kind == "date" else None
    return None if days is None else time_of(str(days[0]), kind)


def words_of(kind: Kind, zoned: bool | None = None) -> str:
    """Return the words for a time of some kind; with or without a time zone where that is said.

    >>> words_of("moment", True)
    'a date with a time of day and a time zone'
    """
    if kind != "moment" or zoned is None:
        return _WORDS[kind]
    return f"{_WORDS[kind]} and a time zone" if zoned else f"{_WORDS[kind]} and no time zone"


def is_midnight(moment: datetime) -> bool:
    """Return True if a moment may stand for its day: it is at midnight, and there is no zone."""
    return moment.tzinfo is None and moment.time() == time()


def looks_like_a_time(cell: str) -> bool:
    """Return True if a cell is a number or a time, and so no name of a column.

    >>> [looks_like_a_time(cell) for cell in ("2024-03-01", "3.5", "day")]
    [True, True, False]
    """
    return _kind_of(cell) is not None


def times_of(frame: Table, name: str, *, gaps: bool = False) -> Times:
    """Return a column of times of one kind; with `gaps`, some may be missing."""
    cells = frame.column(name)
    read = _numbers if isinstance(cells, np.ndarray) else _texts
    return read(frame, name, gaps)


def _numbers(frame: Table, name: str, gaps: bool) -> Times:
    values = frame.numbers(name)
    bad = np.isinf(values) if gaps else ~np.isfinite(values)
    frame.refuse(name, bad, "a time")
    shown = frame.texts(name)
    missing = np.isnan(values)
    clock = _days(values)
    if clock is None:
        return Times("number", values, None, shown, missing, ())
    one = int(missing.argmin())
    note = f"The numbers of '{name}' are taken for dates, such as {shown[one]} for {clock[one]}."
    return Times("date", _order(clock), clock, shown, missing, (), (note,))


def _days(values: Array) -> Clock | None:
    """Return the dates of numbers such as 20240301, NaT for a gap; None where one is no date."""
    gap = np.isnan(values)
    day = (values >= _FIRST_DAY) & (values <= _LAST_DAY) & (values % 1 == 0)
    if gap.all() or not (day | gap).all():
        return None
    texts = ["" if np.isnan(value) else f"{value:.0f}" for value in values.tolist()]
    try:
        return np.array([f"{t[:4]}-{t[4:6]}-{t[6:]}" if t else "NaT" for t in texts], "M8[D]")
    except ValueError:
        return None


def _order(clock: Clock) -> IntArray:
    return clock.astype("M8[us]").astype(np.int64)


def _texts(frame: Table, name: str, gaps: bool) -> Times:
    cells = frame.texts(name)
    missing = np.array([gaps and is_gap(cell) for cell in cells])
    kind = _kind_of(cells[int(missing.argmin())])  # texts are not all missing
    moments = [None if gap else _moment(c, kind) for c, gap in zip(cells, missing, strict=True)]
    if kind is None or any(m is None and not gap for m, gap in zip(moments, missing, strict=True)):
        _refuse_others(frame, name, cells, missing)
    assert kind is not None
    return _of_moments(frame, name, kind, moments, missing)


def _refuse_others(frame: Table, name: str, cells: list[str], missing: BoolArray) -> None:
    """Raise an error of all that is not of the commonest kind; there are such, or no time."""
    kinds = [None if gap else _read_as(c) for c, gap in zip(cells, missing, strict=True)]
    common = Counter(kind for kind in kinds if kind is not None).most_common(1)
    known = [cell for cell, gap in zip(cells, missing, strict=True) if not gap]
    cure = for_times(known, frame.notation, lambda cell: _read_as(cell) is not None)
    if not common:
        frame.refuse(name, ~missing, "a time", cure or _HINT)
        return
    kind = common[0][0]
    bad = np.array([kind != one for one in kinds]) & ~missing
    expected = f"{_WORDS[kind]} as in {frame.place} {frame.places[kinds.index(kind)]}"
    frame.refuse(name, bad, expected, cure)


def _read_as(cell: str) -> Kind | None:
    """Return the kind of time that a cell can be read as; a day that there is not is none."""
    kind = _kind_of(cell)
    return kind if kind == "number" or _moment(cell, kind) is not None else None


def _of_moments(
    frame: Table, name: str, kind: Kind, moments: list[datetime | None], missing: BoolArray
) -> Times:
    offsets = _offsets(frame, name, moments)
    clock = np.array([m and m.replace(tzinfo=None) for m in moments], "M8[us]")
    order = _order(clock)
    if offsets:
        order -= np.array([0 if m is None else _offset(m) // _MICRO for m in moments], np.int64)
    zones = tuple(_zone(offset) for offset in sorted(offsets))
    return Times(kind, order, clock, frame.texts(name), missing, zones)


def _offsets(frame: Table, name: str, moments: list[datetime | None]) -> dict[timedelta, int]:
    """Return the first row of each offset from UTC; empty where no time has one."""
    first: dict[timedelta | None, int] = {}
    for row, moment in enumerate(moments):
        if moment is not None:
            first.setdefault(moment.utcoffset(), row)
    zoned = {offset: row for offset, row in first.items() if offset is not None}
    if zoned and None in first:
        rows = [first[None], min(zoned.values())]
        raise TableError(_of_two(frame, name, rows, "one time has a time zone and one has none."))
    if zoned and max(zoned) - min(zoned) > SUMMER_TIME:
        what = f"time zones {_zone(min(zoned))} and {_zone(max(zoned))}. Write all times in one."
        rows = [zoned[min(zoned)], zoned[max(zoned)]]
        raise TableError(_of_two(frame, name, rows, what))
    return zoned


def _of_two(frame: Table, name: str, rows: list[int], what: str) -> Fault:
    return frame.fault_of_two(rows, f", column '{name}': {what}")


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


def _moment(cell: str, kind: Kind | None) -> datetime | None:
    """Return the moment of a cell; None where it is not of this kind."""
    if kind is None or kind == "number" or not _SHAPES[kind].fullmatch(cell):
        return None
    try:
        return datetime.fromisoformat(f"{cell}-01" if kind == "month" else cell)
    except ValueError:
        return None
