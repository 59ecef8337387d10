"""Tables of results beside the numbers in print: for the terminal and as Markdown."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table

Printed = Mapping[str, Mapping[str, tuple[float, float]]]

_HEADINGS = {
    "reward": "reward",
    "reward_last": "last half",
    "feasibility": "feasible",
    "feasibility_last": "last half",
}


def terminal(result: Mapping[str, Any], printed: Printed) -> Table:
    """Our rows with their spread over trials, and under each the number in print, if any."""
    table = Table("policy", title=_title(result), caption=_caption(result))
    for heading in _HEADINGS.values():
        table.add_column(heading, justify="right")
    for in_print, cells in _rows(result, printed):
        table.add_row(*cells, style="bright_black" if in_print else "")
    return table


def markdown(result: Mapping[str, Any], printed: Printed) -> str:
    """The same as a Markdown table."""
    lines = [
        ["policy", *_HEADINGS.values()],
        ["---", *("---:" for _ in _HEADINGS)],
        *([f"*{c}*" for c in cells] if grey else cells for grey, cells in _rows(result, printed)),
    ]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"**{_title(result)}**\n\n{table}\n\n{_caption(result)}\n"


def _title(result: Mapping[str, Any]) -> str:
    return (
        f"Table 1: {result['trials']} trials of {result['horizon']} stages, "
        f"seeds from {result['seed']}"
    )


def _caption(result: Mapping[str, Any]) -> str:
    constant = ",".join(str(z) for z in result["settings"]["constant"])
    return (
        f"Mean ± sd over trials. Constant¹ ({constant}): tuned in hindsight. SAA: running sample "
        "average, no context. Prior: BMA that never learns. Conditional: knows the law of xi "
        "given x. Hindsight: knows xi."
    )


def _rows(result: Mapping[str, Any], printed: Printed) -> Iterator[tuple[bool, list[str]]]:
    """Whether the row is the print's, and its cells."""
    for row in result["rows"]:
        name = row["policy"]
        label = "Constant¹" if name == "Constant" else name
        yield False, [label, *(_cell(**row[column]) for column in _HEADINGS)]
        if name in printed:
            yield True, ["in print", *(_cell(*printed[name][column]) for column in _HEADINGS)]


def _cell(mean: float | None, sd: float | None) -> str:
    if mean is None:
        return "-"
    return f"{mean:.2f}" + ("" if sd is None else f" ± {sd:.2f}")
