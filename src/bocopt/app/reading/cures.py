"""The settings that would make sense of cells that make none: told where they are refused."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from bocopt.app.reading.cells import OTHER_NOTATION
from bocopt.app.reading.notation import Notation

_SIGNS = ((",", ""), (".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
_NO_VALUE = re.compile(
    r"[^\w\s]{1,3}|\[?(missing|unknown|no data|nodata|n\.a\.?|n\.d\.?|k\.a\.?|s/d)\]?"
    r"|#(value!|ref!|div/0!|name\?|num!)",
    re.IGNORECASE,
)
_DAYS = (
    *("%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%Y"),
    *("%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%d %B %Y"),
    *("%B %d, %Y", "%m/%Y", "%m.%Y", "%b %Y", "%B %Y"),
)
_FORMS = [f"{day}{hour}" for hour in ("", " %H:%M", " %H:%M:%S", " %I:%M %p") for day in _DAYS]
_MOST_WORDS = 5


def for_numbers(cells: Sequence[str], notation: Notation) -> Callable[[str], str]:
    """Return a function that advises on each cell that is no number, by all cells of its column.

    >>> for_numbers(["12,5", "-", "7"], Notation())("12,5")
    ' A decimal comma? Write decimal = ",".'
    >>> for_numbers(["12,5", "-", "7"], Notation())("-")
    ' A gap? Write missing_words = ["-"].'
    >>> for_numbers(["12,5", "7.5"], Notation())("12,5")
    ' Write numbers with a decimal point and without thousands separators.'
    """
    different = list(dict.fromkeys(cells))
    bad = [cell for cell in different if notation.number(cell) is None]
    words = [cell for cell in bad if _NO_VALUE.fullmatch(cell)]
    others = [cell for cell in different if cell not in words]
    cures = _signs(others, notation) if len(bad) > len(words) else ""
    listed = [*notation.missing_words, *words[:_MOST_WORDS]]
    gap = f" A gap? Write missing_words = [{', '.join(map(_quoted, listed))}]."

    def hint(cell: str) -> str:
        """Return the advice on one cell."""
        if cell in words:
            return gap
        return cures or numbers_as(notation, cell)

    return hint


def numbers_as(notation: Notation, cell: str) -> str:
    """Return advice on how to write numbers, where a cell seems to be one in another notation."""
    if not OTHER_NOTATION.fullmatch(cell.strip()):
        return ""
    point = "point" if notation.decimal == "." else "comma"
    between = "without" if not notation.thousands else f"with {_quoted(notation.thousands)} as"
    return f" Write numbers with a decimal {point} and {between} thousands separators."


def _signs(cells: Sequence[str], notation: Notation) -> str:
    """Return a sentence on each of the simplest pairs of signs with which all are numbers."""
    others = [replace(notation, decimal=point, thousands=sign) for point, sign in _SIGNS]
    fit = [
        lines
        for other in others
        if (lines := _changed(notation, other))
        and all(other.number(cell) is not None for cell in cells)
    ]
    fewest = min(map(len, fit), default=0)
    simple = [lines for lines in fit if len(lines) == fewest]
    return "".join(_question(lines) for lines in (simple if fewest == 1 else simple[:1]))


def _changed(notation: Notation, other: Notation) -> dict[str, str]:
    """Return the fields of the other that differ: in words, and as lines to write."""
    found = {}
    if other.decimal != notation.decimal:
        sign = "comma" if other.decimal == "," else "point"
        found[f"a decimal {sign}"] = f"decimal = {_quoted(other.decimal)}"
    if other.thousands != notation.thousands:
        words = "thousands separators" if other.thousands else "no thousands separators"
        found[words] = f"thousands = {_quoted(other.thousands)}"
    return found


def _question(lines: dict[str, str]) -> str:
    words = " and ".join(lines)
    return f" {words[0].upper()}{words[1:]}? Write {' and '.join(lines.values())}."


def for_times(cells: Iterable[str], notation: Notation, is_time: Callable[[str], bool]) -> str:
    """Return advice on times in another form, by those of a column; empty where none helps.

    >>> for_times(["1/3/2024", "2/3/2024"], Notation(), lambda cell: False)
    ' Write dates = "%d/%m/%Y" for days before months, or dates = "%m/%d/%Y".'
    >>> for_times(["1/3/2024", "3/13/2024"], Notation(), lambda cell: False)
    ' Write dates = "%m/%d/%Y".'
    """
    strange = [cell for cell in dict.fromkeys(cells) if cell and not is_time(cell)]
    fit = [form for form in _FORMS if all(_is_written(cell, form) for cell in strange)]
    if notation.dates or not strange or not fit:
        return ""
    swapped = fit[0].replace("%d", "%M").replace("%m", "%d").replace("%M", "%m", 1)
    if swapped == fit[0] or swapped not in fit:
        return f" Write dates = {_quoted(fit[0])}."
    return (
        f" Write dates = {_quoted(fit[0])} for days before months, or dates = {_quoted(swapped)}."
    )


def _is_written(cell: str, form: str) -> bool:
    try:
        datetime.strptime(cell, form)
    except ValueError:
        return False
    return True


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
