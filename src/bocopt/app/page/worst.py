"""The stages at which the first policy did worst."""

import numpy as np

from bocopt.app.page.markup import labels, paragraph, section, table, text
from bocopt.app.page.numbers import decimals, fixed
from bocopt.app.page.view import ReportView
from bocopt.core import Array

WORST = "Worst stages"
_MOST, _COLUMNS, _LISTED = 10, 3, 6


def worst(view: ReportView) -> str:
    """Return the ten worst stages, by regret where hindsight is known, or else by cost."""
    if not view.stages.size:
        return ""
    played, series = view.played, view.findings.series
    regret = played.cost - played.hindsight
    known = np.isfinite(regret[view.stages]).any()
    bad = (regret if known else played.cost)[view.stages]
    order = np.argsort(-np.where(np.isnan(bad), -np.inf, bad), kind="stable")[:_MOST]
    z_names = labels(view.names, "z", played.z.shape[1], "decision")
    sense = view.findings.sense
    costs = _costs(view)
    header = ["time", "line", *_heads(z_names, "decision"), *_heads(series.xi_names, "outcome")]
    worst_of = view.stages[order]
    amounts = [sense.sign * cost[worst_of] for cost in costs.values()]
    columns = [
        [view.times[t] for t in worst_of],
        [str(series.lines[t]) for t in worst_of],
        *_columns(played.z[worst_of]),
        *_columns(series.xi[worst_of]),
        *(_column(amount) for amount in amounts),
    ]
    rows = [list(row) for row in zip(*columns, strict=True)]
    by = "what they cost above hindsight" if known else sense.value
    said = f"Of <bdi>{text(view.first)}</bdi>, by {by}, the worst first."
    shown = table([*header, *costs], rows, label=WORST)
    return section(WORST, paragraph(said), shown)


def _heads(names: list[str] | tuple[str, ...], what: str) -> list[str]:
    if len(names) <= _COLUMNS:
        return [name if name.startswith(what) else f"{what}: {name}" for name in names]
    more = ", \u2026" if len(names) > _LISTED else ""
    listed = ", ".join(names[:_LISTED])
    return [f"{listed}{more}" if listed.startswith(what) else f"{what}: {listed}{more}"]


def _costs(view: ReportView) -> dict[str, Array]:
    """Return the costs (T) of the policy, of what it is compared with, and in hindsight."""
    word, found = view.findings.sense.value, {view.findings.sense.value: view.played.cost}
    if view.reference is not None:
        name = "now" if view.findings.now is not None else view.reference
        found[f"{word} of {name}"] = view.findings.played[view.reference].cost
    return found | {"in hindsight": view.played.hindsight}


def _columns(values: Array) -> list[list[str]]:
    """Return a column for each of the values (n, d), or all in one where there are many."""
    columns = [_column(column) for column in values.T]
    if len(columns) <= _COLUMNS:
        return columns
    more = ", \u2026" if len(columns) > _LISTED else ""
    return [[", ".join(row) + more for row in zip(*columns[:_LISTED], strict=True)]]


def _column(values: Array) -> list[str]:
    numbers = values.tolist()
    return [fixed(value, decimals(numbers)) for value in numbers]
