"""The tables of docs/scale.md, put where the page has room for them."""

from pathlib import Path
from typing import Any

from scale.limits import limits_table
from scale.tables import assumed_table, designs_table, measured, stress_table

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"


def tables(inputs: dict[str, Any], found: dict[str, Any]) -> dict[str, list[str]]:
    """By the names that the page has for them."""
    return {
        "measured": measured(inputs),
        "designs": designs_table(inputs, found),
        "stress": stress_table(found),
        "assumed": assumed_table(),
        "limits": limits_table(inputs, found),
    }


def renewed(text: str, inputs: dict[str, Any], found: dict[str, Any]) -> str:
    """The page with each table between its two comments made anew."""
    for name, lines in tables(inputs, found).items():
        text = put(text, name, lines)
    return text


def put(text: str, name: str, lines: list[str]) -> str:
    """The page with one table made anew."""
    first = f"<!-- {name} -->\n\n"
    before, found_first, rest = text.partition(first)
    _, last, after = rest.partition("<!-- end -->")
    if not (found_first and last):
        raise ValueError(f"docs/scale.md has no room for the table {name!r}.")
    return "\n".join([before + first + lines[0], *lines[1:], "", last + after])


def renew(inputs: dict[str, Any], found: dict[str, Any]) -> None:
    PAGE.write_text(renewed(PAGE.read_text("utf-8"), inputs, found), "utf-8")
