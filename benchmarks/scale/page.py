"""The tables of docs/scale.md, put where the page has room for them."""

import re
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
        place = re.compile(rf"(<!-- {name} -->\n\n).*?(\n\n<!-- end -->)", re.DOTALL)
        if not place.search(text):
            raise ValueError(f"docs/scale.md has no room for the table {name!r}.")
        table = "\n".join(lines)
        text = place.sub(lambda found, table=table: found[1] + table + found[2], text)
    return text


def renew(inputs: dict[str, Any], found: dict[str, Any]) -> None:
    PAGE.write_text(renewed(PAGE.read_text("utf-8"), inputs, found), "utf-8")
