"""Values of the cells of a table: numbers, gaps, yes and no."""

import re
from collections.abc import Iterable, Sequence

import numpy as np

from bocopt.core import Array

#: What stands for a missing number, in small letters.
GAPS = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none"})
#: What else counts as a number.
YES_OR_NO = {"true": 1.0, "false": 0.0}
#: Numbers as spreadsheets show them.
OTHER_NOTATION = re.compile(r"[+-]?\d[\d.,'\u2019\s]*")
_LARGEST_INTEGER = 1e15  # beyond, a float is no longer every integer


def is_gap(cell: str) -> bool:
    """Return True if a cell stands for a missing value.

    >>> is_gap(" N/A "), is_gap("0")
    (True, False)
    """
    return cell.strip().lower() in GAPS


def numbers_or_none(cells: Sequence[str]) -> Array | None:
    """Return all cells as numbers, NaN for a gap; None where one is something else.

    >>> numbers_or_none(["1", " 2.5e1", ""])
    array([ 1., 25., nan])
    >>> numbers_or_none(["1", "1,5"])
    """
    if "_" in "".join(cells):  # Python would take 1_000 for a number
        return None
    found = _converted(cells, len(cells))
    if found is None:
        found = _converted(("nan" if is_gap(cell) else cell for cell in cells), len(cells))
    return found


def _converted(cells: Iterable[str], count: int) -> Array | None:
    try:
        return np.fromiter(map(float, cells), np.float64, count)
    except ValueError:
        return None


def number_of(cell: str) -> float | None:
    """Return a cell as a number, where true and false are 1 and 0; None where it is none."""
    found = numbers_or_none([cell])
    return float(found[0]) if found is not None else YES_OR_NO.get(cell.strip().lower())


def number_from(value: object) -> float | None:
    """Return the number that a program sends: NaN for a gap, None for what is no number.

    >>> number_from(3), number_from("2.5"), number_from(True), number_from(None), number_from("a")
    (3.0, 2.5, 1.0, nan, None)
    """
    if value is None:
        return float("nan")
    if isinstance(value, str):
        return number_of(value)
    if not isinstance(value, int | float | np.integer | np.floating | np.bool_):
        return None
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def text_of(number: float) -> str:
    """Return a number as it would stand in a file; a gap is empty.

    >>> text_of(7.0), text_of(0.5), text_of(float("nan"))
    ('7', '0.5', '')
    """
    if np.isnan(number):
        return ""
    whole = number == round(number) if abs(number) < _LARGEST_INTEGER else False
    return str(int(number)) if whole else repr(float(number))


def hint_for(cell: str) -> str:
    """Return advice on a cell that seems a number in another notation; empty for others."""
    if OTHER_NOTATION.fullmatch(cell.strip()):
        return " Write numbers with a decimal point and without thousands separators."
    return ""
