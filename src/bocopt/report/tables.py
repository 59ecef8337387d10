"""Tables for the terminal."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table

_HEADINGS = {
    "reward": "reward, all stages",
    "reward_last": "reward, last half",
    "feasibility": "feasible, all",
    "feasibility_last": "feasible, last half",
}


def beside_print(
    result: Mapping[str, Any],
    printed: Mapping[str, Mapping[str, tuple[float, float]]],
    labels: Mapping[str, str],
) -> Table:
    """Our rows with their spread over trials, and under each the number in print, if any."""
    table = Table(
        title=f"Table 1: {result['trials']} trials, {result['horizon']} stages, "
        f"seeds from {result['seed']} (mean ± sd over trials; print below in grey)"
    )
    table.add_column("policy")
    for heading in _HEADINGS.values():
        table.add_column(heading, justify="right")
    for row in result["rows"]:
        name = row["policy"]
        table.add_row(labels.get(name, name), *(_cell(row[column]) for column in _HEADINGS))
        if name in printed:
            table.add_row(
                "  in print",
                *("{:.2f} ± {:.2f}".format(*printed[name][column]) for column in _HEADINGS),
                style="bright_black",
            )
    return table


def _cell(spread: Mapping[str, float | None]) -> str:
    if spread["mean"] is None:
        return "-"
    sd = spread["sd"]
    return f"{spread['mean']:.2f}" + ("" if sd is None else f" ± {sd:.2f}")
