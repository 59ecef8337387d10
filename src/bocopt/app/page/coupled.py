"""The report of series that share a program: what all of a time cost, and the part of each."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bocopt import arguments
from bocopt.app.findings import PanelFindings
from bocopt.app.page.basis import ASSUMED, USE, assumed, use
from bocopt.app.page.document import written
from bocopt.app.page.feasible import FEASIBILITY, feasibility
from bocopt.app.page.markup import paragraph, section, table, text
from bocopt.app.page.money import OVER_TIME, POLICIES, over_time, policies
from bocopt.app.page.numbers import decimals, fixed
from bocopt.app.page.view import ReportView
from bocopt.app.page.worst import WORST, worst
from bocopt.app.page.yearly import a_year

EACH = "Each series"
_ROWS = 2000  # of the table of all series: browsers sort no more at once


def coupled_page(findings: PanelFindings, names: Sequence[str]) -> str:
    """Return the whole file of a report; `names` are those of the numbers of a row."""
    arguments.kind("coupled_page", "findings", findings, PanelFindings)
    view = ReportView(findings.totals, {})
    makes: Mapping[str, Callable[[], str]] = {
        OVER_TIME: lambda: over_time(view),
        POLICIES: lambda: policies(view),
        FEASIBILITY: lambda: feasibility(view),
        WORST: lambda: worst(view),
        EACH: lambda: _each(findings, view, names),
        ASSUMED: lambda: assumed(view),
        USE: lambda: use(view),
    }
    made = {title: make() for title, make in makes.items()}
    return written(view, made, yearly=a_year(findings, view), below=_stage(findings))


def series_table(
    findings: PanelFindings, names: Sequence[str]
) -> dict[str, list[float] | list[str]]:
    """Return columns with a row for each series: what it had decided for it, and what came."""
    panel = findings.panel
    columns: dict[str, list[float] | list[str]] = {
        column: [key[i] for key in panel.keys] for i, column in enumerate(panel.columns)
    }
    columns["from"] = [one.time[0] for one in panel.series]
    columns["to"] = [one.time[-1] for one in panel.series]
    columns["decisions that count"] = [float(counted.sum()) for counted in findings.counts]
    for place, name in enumerate(panel.xi_names):
        columns[f"mean {name}"] = [
            _mean(one.xi[counted, place])
            for one, counted in zip(panel.series, findings.counts, strict=True)
        ]
    for policy in findings.totals.played:
        for place, name in enumerate(names):
            columns[f"mean {name}, {policy}"] = [
                _mean(played[policy].z[counted, place])
                for played, counted in zip(findings.each, findings.counts, strict=True)
            ]
    return columns


def _stage(findings: PanelFindings) -> str:
    played = sum(bool(counted.any()) for counted in findings.counts)
    return paragraph(
        f"A stage is a time: one program decides all series that are open then, {played:,} in all, "
        "and its cost is that of all of them. Where an outcome of a series is missing, the cost of "
        "its time is not known.",
        css="note",
    )


def _each(findings: PanelFindings, view: ReportView, names: Sequence[str]) -> str:
    """Return the table of all series; of very many, the first ones."""
    columns = series_table(findings, names)
    keep = [
        name
        for name in columns
        if not any(name.endswith(f", {other}") for other in _others(findings, view))
    ]
    shown = []
    for name in keep:
        cells = columns[name][:_ROWS]
        numbers = [cell for cell in cells if not isinstance(cell, str)]
        digits = 0 if name.startswith("decisions") else decimals(numbers)
        shown.append([c if isinstance(c, str) else fixed(c, digits) for c in cells])
    said = (
        f"Means over the times that count, of <bdi>{text(view.first)}</bdi> and of what it is "
        "compared with. What a time costs cannot be told apart by series."
    )
    if len(findings.panel.names) > _ROWS:
        said += f" Shown are the first {_ROWS:,} series; series.csv has the others."
    found = table(keep, zip(*shown, strict=True), label=EACH)
    return section(EACH, paragraph(said), f'<div class="sortable">\n{found}</div>\n')


def _others(findings: PanelFindings, view: ReportView) -> list[str]:
    shown = (view.first, view.reference)
    return [policy for policy in findings.totals.played if policy not in shown]


def _mean(values: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else float("nan")
