"""Tables for the terminal and as Markdown, and how numbers are written in them."""

import re
from collections.abc import Mapping

from rich.table import Table
from rich.text import Text

from bocopt.app.text import plain
from bocopt_studies.report.blocks import Grid


def terminal(grid: Grid) -> Table:
    """Return the table for the terminal; long cells are folded rather than cut."""
    table = Table(title=_shown(grid.title), caption=_shown(grid.caption), title_justify="left")
    for i, heading in enumerate(grid.header):
        table.add_column(
            _shown(heading),
            justify="left" if i == 0 or grid.words else "right",
            overflow="fold",  # nothing is cut off
        )
    for row in grid.rows:
        table.add_row(*map(_shown, row.cells), style="bright_black" if row.muted else "")
    return table


def _shown(text: str) -> Text:
    return Text(plain(text))


def markdown(grid: Grid) -> str:
    """Return the table as Markdown, between its title and its caption."""
    right = "---" if grid.words else "---:"
    lines = [
        grid.header,
        ["---", *(right for _ in grid.header[1:])],
        *([f"*{c}*" if c else "" for c in r.cells] if r.muted else r.cells for r in grid.rows),
    ]
    table = "\n".join(f"| {' | '.join(map(in_markdown, line))} |" for line in lines)
    title, caption = in_markdown(grid.title), in_markdown(grid.caption)
    return "\n\n".join(part for part in (f"**{title}**", table, caption) if part) + "\n"


def in_markdown(text: str) -> str:
    r"""A text in which nothing ends a cell, opens a tag or is a link; `code` stays code.

    >>> print(in_markdown("a|b <i> `<i>`"))
    a\|b \<i> `<i>`
    """
    line = re.sub(r"(\\*)\|", r"\1\1\\|", plain(text))
    opening = r"`[^`]+`|<(?=[A-Za-z/!?])|\](?=\()"
    return re.sub(opening, lambda found: found[0] if found[0][0] == "`" else f"\\{found[0]}", line)


Numbers = Mapping[str, float | None]  # by name; None where there is none


def number(value: float | None, digits: int = 2) -> str:
    """Return the number with so many digits, or "-" for None."""
    return "-" if value is None else f"{value:.{digits}f}"


def format_mean_sd(numbers: Numbers, digits: int = 2) -> str:
    """
    >>> format_mean_sd({"mean": 84.021, "sd": 0.338}), format_mean_sd({"mean": 84.021, "sd": None})
    ('84.02 ± 0.34', '84.02')
    """
    mean = number(numbers["mean"], digits)
    return mean if numbers["sd"] is None else f"{mean} ± {numbers['sd']:.{digits}f}"


def interval(numbers: Numbers, digits: int = 2) -> str:
    """A difference and where it surely lies.

    >>> interval({"mean": -3.4, "low": -3.6, "high": -3.2})
    '-3.40 [-3.60, -3.20]'
    """
    mean, low, high = (_signed(numbers[name], digits) for name in ("mean", "low", "high"))
    return mean if numbers["low"] is None else f"{mean} [{low}, {high}]"


def change(numbers: Numbers, digits: int = 2) -> str:
    """A difference and the half width of its interval; = where nothing changed at all.

    >>> change({"mean": -3.4, "low": -3.6, "high": -3.2})
    '-3.40 ± 0.20'
    >>> change({"mean": 0.0, "low": 0.0, "high": 0.0})
    '='
    """
    mean, low, high = (numbers[name] for name in ("mean", "low", "high"))
    if low is None or high is None:
        return _signed(mean, digits)
    if low == high == 0:
        return "="
    return f"{_signed(mean, digits)} ± {(high - low) / 2:.{digits}f}"


def _signed(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:+.{digits}f}"
