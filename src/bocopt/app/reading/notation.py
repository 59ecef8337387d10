"""The notation of numbers, times and gaps in a table, where it is not the usual one."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any

from bocopt import arguments
from bocopt.app.reading.cells import YES_OR_NO, is_gap, numbers_or_none, text_of
from bocopt.core import Array

_THOUSANDS = ("", ".", ",", " ", "'")
_LIKE = {" ": " \u00a0\u202f", "'": "'\u2019"}  # signs that look alike count as one
_SAMPLE = datetime(2001, 2, 3, 14, 5)


@dataclass(frozen=True)
class Notation:
    """The signs of a table.

    - `decimal`: "." or ",".
    - `thousands`: what stands between thousands: "", ".", ",", " " or "'".
    - `dates`: the form of times in the words of `datetime.strptime`, besides that of ISO 8601.
    - `missing_words`: what stands for a missing value, in any column, besides an empty cell.

    >>> german = Notation(decimal=",", thousands=".", dates="%d.%m.%Y", missing_words=["-"])
    >>> german.numbers(["1.234,5", "-", "7"])
    array([1234.5,    nan,    7. ])
    >>> german.texts(["31.12.2024", "-", " north "])
    ['2024-12-31', '', 'north']
    """

    decimal: str = "."
    thousands: str = ""
    dates: str = ""
    missing_words: Sequence[str] | str = ()

    def __post_init__(self) -> None:
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        for error in all_wrong(given):
            raise error
        object.__setattr__(self, "missing_words", _listed(self.missing_words))

    def numbers(self, cells: Sequence[str]) -> Array | None:
        """Return the numbers (cells), NaN for a gap; None if one is another, or all are times.

        >>> Notation().numbers(["1,5"]) is None, Notation(decimal=",").numbers(["1.5"]) is None
        (True, True)
        """
        if self._times_look_like_numbers and self._are_times(cells):
            return None
        if self._words:
            cells = ["" if cell.strip().lower() in self._words else cell for cell in cells]
        if not (self._has_signs or self._separators):
            return numbers_or_none(cells)
        known = [cell for cell in map(self._plain, cells) if cell is not None]
        return numbers_or_none(known) if len(known) == len(cells) else None

    def number(self, cell: str) -> float | None:
        """Return the number of a cell, where true and false are 1 and 0; None where it is none."""
        found = self.numbers([cell])
        return float(found[0]) if found is not None else YES_OR_NO.get(cell.strip().lower())

    def texts(self, cells: Iterable[str]) -> list[str]:
        """Return the texts of cells: empty for a missing one, and times in the form of ISO 8601."""
        found = [cell.strip() for cell in cells]
        if self._words:
            found = ["" if cell.lower() in self._words else cell for cell in found]
        return [self._iso(cell) for cell in found] if self.dates else found

    def text_of(self, number: float) -> str:
        """Return a number as it would stand in the table; a gap is empty."""
        return text_of(number).replace(".", self.decimal)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word.lower() for word in self.missing_words)

    @cached_property
    def _has_signs(self) -> bool:
        return self.decimal != "." or bool(self.thousands)

    @property
    def _separators(self) -> str:
        return _LIKE.get(self.thousands, self.thousands)

    @cached_property
    def _number(self) -> re.Pattern[str]:
        """Return the pattern of a number with these signs, whose thousands are groups of three."""
        digits = r"\d+"
        if self.thousands:
            digits = rf"(?:\d{{1,3}}(?:[{re.escape(self._separators)}]\d{{3}})+|\d+)"
        point = re.escape(self.decimal)
        return re.compile(rf"[+-]?(?:{digits}(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?")

    def _plain(self, cell: str) -> str | None:
        """Return a number with a decimal point and no other signs; None where it is none."""
        text = cell.strip()
        if not self._number.fullmatch(text):
            return None if set(text) & set(f".,{self._separators}") else text
        for sign in self._separators:
            text = text.replace(sign, "")
        return text.replace(self.decimal, ".")

    @cached_property
    def _times_look_like_numbers(self) -> bool:
        """True where a column of times, such as 03.2024, would be taken for one of numbers."""
        if not self.dates:
            return False
        return numbers_or_none([_SAMPLE.strftime(self.dates)]) is not None

    def _are_times(self, cells: Sequence[str]) -> bool:
        known = [text for cell in cells if not is_gap(text := cell.strip())]
        return bool(known) and all(self._iso(text) != text for text in known)

    def _iso(self, text: str) -> str:
        return _iso(text, self.dates)


@lru_cache(1 << 16)
def _iso(text: str, form: str) -> str:
    """Return a time in the form of ISO 8601; what is none stays as it is."""
    sample = _SAMPLE.strftime(form)
    if sample.isdigit() and len(text) != len(sample):
        return text  # 1122024 is two days
    try:
        moment = datetime.strptime(text, form)
    except ValueError:
        return text
    if _has(form, "HIcTXs"):
        return moment.isoformat(sep=" ")
    return f"{moment:%Y-%m-%d}" if _has(form, "djxDFuwaA") else f"{moment:%Y-%m}"


def _has(form: str, directives: str) -> bool:
    return any(f"%{letter}" in form for letter in directives)


def all_wrong(given: Mapping[str, Any]) -> list[arguments.WrongError]:
    """Return the errors of the fields of a `Notation`.

    >>> [error.name for error in all_wrong({"decimal": ";", "dates": "%d.%m."})]
    ['decimal', 'dates']
    """
    wrong = [_CHECKS[name](value) for name, value in given.items()]
    found = [error for error in wrong if error is not None]
    thousands = given.get("thousands", "")
    if not found and thousands == given.get("decimal", "."):
        found = [_wrong("thousands", "another sign than 'decimal'", thousands)]
    return found


def _wrong(name: str, expected: str, got: object) -> arguments.WrongError:
    return arguments.wrong("read", name, expected, got)


def _decimal(given: object) -> arguments.WrongError | None:
    return None if given in (".", ",") else _wrong("decimal", "'.' or ','", given)


def _thousands(given: object) -> arguments.WrongError | None:
    listed = ", ".join(map(repr, _THOUSANDS))
    return None if given in _THOUSANDS else _wrong("thousands", f"one of {listed}", given)


def _dates(given: object) -> arguments.WrongError | None:
    if given == "":
        return None
    expected = "a form of times with a year and a month, such as '%d.%m.%Y' or '%m/%d/%y %H:%M'"
    if not isinstance(given, str):
        return _wrong("dates", expected, given)
    try:
        written = _SAMPLE.strftime(given)
        back = datetime.strptime(written, given)
    except ValueError:
        return _wrong("dates", expected, given)
    hour = _SAMPLE.hour if _has(given, "HI") else back.hour
    if (back.year, back.month, back.hour) != (_SAMPLE.year, _SAMPLE.month, hour):
        return _wrong("dates", expected, given)
    try:
        taken = datetime.fromisoformat(written)
    except ValueError:
        return None
    same = (taken.month, taken.day) == (back.month, back.day) or not _has(given, "d")
    return None if same else _wrong("dates", "no form that ISO 8601 reads as another day", given)


def _missing_words(given: object) -> arguments.WrongError | None:
    listed = _listed(given)
    fits = all(isinstance(word, str) and word.strip() for word in listed)
    return None if fits else _wrong("missing_words", "a list of words", given)


def _listed(given: Any) -> tuple[Any, ...]:
    if isinstance(given, str):
        return (given,)
    return tuple(given) if isinstance(given, list | tuple | set | frozenset) else (None,)


_CHECKS: Mapping[str, Callable[[object], arguments.WrongError | None]] = {
    "decimal": _decimal,
    "thousands": _thousands,
    "dates": _dates,
    "missing_words": _missing_words,
}

#: The names of its fields, which are settings of `read` and of a case's data.
FIELDS = tuple(field.name for field in fields(Notation))
