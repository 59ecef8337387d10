"""Columns of values that a program holds: numbers, texts and times of any library."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from bocopt.app.reading.columns import Column
from bocopt.app.reading.notation import Notation
from bocopt.app.reading.times import is_midnight

_NUMBERS = frozenset({int, float, bool, type(None)})


def of_values(values: Sequence[Any], notation: Notation) -> Column | None:
    """Return numbers where all are, else texts, with times as files have them; None for others.

    >>> of_values([1, None, "2,5"], Notation(decimal=","))
    array([1. , nan, 2.5])
    >>> of_values([date(2024, 3, 1), "02.03.2024"], Notation(dates="%d.%m.%Y"))
    ['2024-03-01', '2024-03-02']
    """
    if {*map(type, values)} <= _NUMBERS:
        try:
            return np.array(values, np.float64)  # None is NaN
        except OverflowError:
            pass
    known = [None if _is_gap(value) else value for value in values]
    days_only = all(is_midnight(value) for value in known if isinstance(value, datetime))
    texts = (_text(value, days_only, notation) for value in known)
    given = [text for text in texts if text is not None]
    if len(given) < len(known):
        return None
    numbers = notation.numbers(given)
    return notation.texts(given) if numbers is None else numbers


def _is_gap(value: Any) -> bool:
    """Return True for a missing value, of which each library has its own."""
    return not isinstance(value, str) and str(value) in ("None", "nan", "NaN", "NaT", "<NA>")


def _text(value: Any, days_only: bool, notation: Notation) -> str | None:
    """Return a value as the text that a file would have; None for one that none would have."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, datetime) and days_only:
        return str(value.date())
    if isinstance(value, int | float | Decimal):
        return str(value).replace(".", notation.decimal)
    if isinstance(value, str | date):
        return str(value).strip()
    return None
