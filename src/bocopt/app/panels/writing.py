"""The files that a backtest of a panel leaves, beside those of each series."""

import csv
import io
import math
from collections.abc import Iterator

from bocopt import checkpoint, file
from bocopt.app.case import Case
from bocopt.app.findings import PanelFindings, Played
from bocopt.app.page.panel import panel_page
from bocopt.app.page.panel_numbers import results_of
from bocopt.app.writing import as_csv
from bocopt.core import Status
from bocopt.interop.frames import framed
from bocopt.trace import no_formula


def write_panel(case: Case, findings: PanelFindings) -> None:
    """Write decisions, what they rest on, what came of each series, and the report."""
    folder, panel = case.results, findings.panel
    z_names = list(case.decision_names)
    (folder / "agents").mkdir(parents=True, exist_ok=True)
    header = {"panel": panel.featuriser.to_json()}
    checkpoint.save(folder / "agents" / "panel.bin", header, {})
    file.replace(folder / "decisions.csv", _decisions(findings, z_names).encode())
    file.replace(folder / "series.csv", as_csv(_series(findings)))
    trace = _trace(findings)
    if case.trace == "csv":
        file.replace(folder / "trace.csv", as_csv(trace))
    else:
        out = io.BytesIO()
        framed(trace, "bocopt backtest").write_parquet(out)
        file.replace(folder / "trace.parquet", out.getvalue())
    file.replace(folder / "report.html", panel_page(findings).encode())


def _decisions(findings: PanelFindings, z_names: list[str]) -> str:
    """Return a row for each series, stage and policy; a cell is empty where there is no number."""
    totals, panel = findings.totals, findings.panel
    shown = io.StringIO(newline="")
    writer = csv.writer(shown)
    word = totals.sense.value
    last = [word, "feasible", f"hindsight {word}", "status", "counts"]
    header = [*panel.columns, "time", "line", "policy", *z_names, *last]
    writer.writerow(map(no_formula, header))
    for number, played in enumerate(findings.each):
        for policy, one in played.items():
            writer.writerows(_rows(findings, number, policy, one))
    return shown.getvalue()


def _rows(findings: PanelFindings, number: int, policy: str, played: Played) -> Iterator[list[str]]:
    series, sign = findings.panel.series[number], findings.totals.sense.sign
    named = [*map(no_formula, findings.panel.keys[number])]
    counts = findings.counts[number]
    columns = played.z.tolist(), played.cost.tolist(), played.feasible.tolist()
    for t, (z, cost, feasible) in enumerate(zip(*columns, strict=True)):
        yield [
            *named,
            no_formula(series.time[t]),
            str(int(series.lines[t])),
            no_formula(policy),
            *map(_cell, z),
            _cell(sign * cost),
            _cell(feasible),
            _cell(sign * float(played.hindsight[t])),
            Status(int(played.status[t])).name.lower(),
            str(int(counts[t])),
        ]


def _cell(value: float) -> str:
    return "" if math.isnan(value) else repr(value + 0.0)  # no minus zero


def _trace(findings: PanelFindings) -> dict[str, list[float | str]]:
    """Return a row for each series and stage: what was seen, what came, what each policy paid."""
    panel = findings.panel
    columns: dict[str, list[float | str]] = {name: [] for name in panel.columns}
    columns |= {"time": [], "line": []}
    columns |= {f"sees {name}": [] for name in panel.x_names}
    columns |= {f"outcome {name}": [] for name in panel.xi_names}
    columns |= {"known at stage": []}
    columns |= {f"cost, {policy}": [] for policy in findings.each[0]}
    for keys, series, played in zip(panel.keys, panel.series, findings.each, strict=True):
        many = len(series.time)
        parts: list[list[float | str]] = [[key] * many for key in keys]
        parts += [list(series.time), series.lines.tolist()]
        parts += [*series.x.T.tolist(), *series.xi.T.tolist(), series.arrives.tolist()]
        parts += [one.cost.tolist() for one in played.values()]
        for column, part in zip(columns.values(), parts, strict=True):
            column += part
    return columns


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
