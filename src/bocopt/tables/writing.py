"""The files that a study leaves."""

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bocopt import file
from bocopt.live import Agent
from bocopt.tables.findings import Findings, Played
from bocopt.tables.page import page
from bocopt.tables.study import Study


def write(study: Study, findings: Findings, agents: Mapping[str, Agent[Any]]) -> list[Path]:
    """Decisions, everything stage by stage, the report, and agents that can go on."""
    folder = study.file.results
    (folder / "agents").mkdir(parents=True, exist_ok=True)
    files = {
        folder / "decisions.csv": _csv(_rows(findings, whole=False)),
        folder / "trace.csv": _csv(_rows(findings, whole=True)),
        folder / "report.html": page(findings),
    }
    for path, text in files.items():
        file.replace(path, text.encode())
    for name, agent in agents.items():
        agent.save(study.saved(name))
        agent.close()
    return list(files)


def _rows(findings: Findings, whole: bool) -> Iterator[dict[str, Any]]:
    """A row for each stage and policy; `whole` also has contexts, outcomes and hindsight."""
    series = findings.series
    for name, played in findings.played.items():
        for t, time in enumerate(series.time):
            row = {"time": time, "policy": name, **_decision(played, t)}
            if whole:
                row |= _named("x", series.x_names, series.x[t])
                row |= _named("outcome", series.xi_names, series.xi[t])
            row |= {"cost": played.cost[t], "feasible": played.feasible[t]}
            if whole:
                row |= {"hindsight": played.hindsight[t], "line": int(series.lines[t])}
            yield row


def _decision(played: Played, t: int) -> dict[str, Any]:
    return {f"decision {i + 1}": z for i, z in enumerate(played.z[t])}


def _named(kind: str, names: tuple[str, ...], values: Any) -> dict[str, Any]:
    return {f"{kind}: {name}": value for name, value in zip(names, values, strict=True)}


def _csv(rows: Iterator[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for i, row in enumerate(rows):
        if i == 0:
            writer.writerow(map(_cell, row))
        writer.writerow(map(_cell, row.values()))
    return out.getvalue()


def _cell(value: Any) -> str:
    """A number, shortest form, or a text that no spreadsheet takes for a formula; NaN is a gap."""
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else repr(float(value))
    text = str(value)
    return f"'{text}" if text[:1] in tuple("=+-@\t\r") and not isinstance(value, int) else text
