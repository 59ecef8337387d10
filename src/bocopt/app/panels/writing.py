"""The files that a backtest of a panel leaves, beside those of each series."""

import io
from collections.abc import Iterator
from typing import Any

from bocopt import file
from bocopt.app.case import Case
from bocopt.app.findings import PanelFindings
from bocopt.app.page.coupled import coupled_page, series_table
from bocopt.app.page.panel import panel_page
from bocopt.app.page.panel_numbers import results_of
from bocopt.app.panels.memory import PanelMemory
from bocopt.app.writing import as_csv, as_rows, cells
from bocopt.core import Array, Status
from bocopt.interop.frames import framed
from bocopt.trace import no_formula

_STATUS = {int(status): status.name.lower() for status in Status}


def write_panel(case: Case, findings: PanelFindings) -> None:
    """Write decisions, what they rest on, what came of each series, and the report."""
    folder = case.results
    z_names = list(case.decision_names)
    (folder / "agents").mkdir(parents=True, exist_ok=True)
    PanelMemory.of(case).save(folder / "agents" / "panel.bin")
    file.replace(folder / "decisions.csv", _decisions(findings, z_names))
    table = series_table(findings, z_names) if findings.coupled else _series(findings)
    file.replace(folder / "series.csv", as_csv(table))
    if case.trace == "csv":
        file.replace(folder / "trace.csv", _trace(findings))
    else:
        file.replace(folder / "trace.parquet", _trace_parquet(findings))
    page = coupled_page(findings, z_names) if findings.coupled else panel_page(findings)
    file.replace(folder / "report.html", page.encode())


def _decisions(findings: PanelFindings, z_names: list[str]) -> Iterator[bytes]:
    """Yield a row for each series, stage and policy; a cell is empty where there is no number."""
    totals, panel = findings.totals, findings.panel
    word = totals.sense.value
    last = [word, "feasible", f"hindsight {word}", "status", "counts"]
    yield as_rows([[name] for name in [*panel.columns, "time", "line", "policy", *z_names, *last]])
    for number, played in enumerate(findings.each):
        series, counts = panel.series[number], findings.counts[number]
        many, sign = len(series.time), totals.sense.sign
        named = [[key] * many for key in cells(panel.keys[number])]
        at = [cells(series.time), cells(series.lines.tolist())]
        counted = cells(counts.astype(int).tolist())
        for policy, one in played.items():
            costs = sign * one.cost, one.feasible, sign * one.hindsight
            yield as_rows(
                [
                    *[*named, *at, [no_formula(policy)] * many],
                    *map(_numbers, [*one.z.T, *costs]),
                    *[[_STATUS[status] for status in one.status.tolist()], counted],
                ]
            )


def _numbers(values: Array) -> list[str]:
    return cells((values + 0.0).tolist())  # no minus zero


def _trace(findings: PanelFindings) -> Iterator[bytes]:
    """Yield a row for each series and stage: what was seen, what came, what each policy paid."""
    yield as_rows([[name] for name in cells(_trace_columns(findings))])
    for number in range(len(findings.each)):
        yield as_rows([cells(column) for column in _trace_of(findings, number)])


def _trace_columns(findings: PanelFindings) -> list[str]:
    panel = findings.panel
    return [
        *[*panel.columns, "time", "line"],
        *(f"sees {name}" for name in panel.x_names),
        *(f"outcome {name}" for name in panel.xi_names),
        *["known at stage", *(f"cost, {policy}" for policy in findings.each[0])],
    ]


def _trace_of(findings: PanelFindings, number: int) -> list[list[Any]]:
    """Return the columns of one series."""
    series, played = findings.panel.series[number], findings.each[number]
    named = [[key] * len(series.time) for key in findings.panel.keys[number]]
    seen = [*series.x.T.tolist(), *series.xi.T.tolist(), series.arrives.tolist()]
    paid = [one.cost.tolist() for one in played.values()]
    return [*named, list(series.time), series.lines.tolist(), *seen, *paid]


def _trace_parquet(findings: PanelFindings) -> bytes:
    """Return the same as Parquet."""
    names, out = _trace_columns(findings), io.BytesIO()
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for number in range(len(findings.each)):
        for column, part in zip(columns.values(), _trace_of(findings, number), strict=True):
            column += part
    framed(columns, "bocopt backtest").write_parquet(out)
    return out.getvalue()


def _series(findings: PanelFindings) -> dict[str, list[float | str]]:
    """Return a row for each series: what its policies paid, and how the first compares."""
    panel, totals = findings.panel, findings.totals
    results, word = results_of(findings), findings.totals.sense.value
    columns: dict[str, list[float | str]] = {
        name: [key[i] for key in panel.keys] for i, name in enumerate(panel.columns)
    }
    columns["from"] = [one.time[0] for one in panel.series]
    columns["to"] = [one.time[-1] for one in panel.series]
    columns["decisions that count"] = [float(one.stages) for one in results]
    for policy in totals.played:
        signed = [totals.sense.sign * one.cost[policy] for one in results]
        columns[f"{word} a decision, {policy}"] = [*signed]
    columns["gain a decision"] = [one.gain for one in results]
    columns["gain in all"] = [one.gain * one.stages for one in results]
    columns["feasible"] = [one.feasible for one in results]
    if findings.discoveries is not None:
        columns["on average"] = [one.verdict for one in results]
    return columns
