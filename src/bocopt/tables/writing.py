"""The files that a study leaves."""

import csv
import io
import math
from collections.abc import Iterator, Mapping
from typing import Any

from bocopt import file
from bocopt.core import Array
from bocopt.live import Agent
from bocopt.tables.findings import Findings
from bocopt.tables.page import decisions_csv, page
from bocopt.tables.study import Study
from bocopt.trace import no_formula


def write(study: Study, findings: Findings, agents: Mapping[str, Agent[Any]]) -> None:
    """Decisions, what they rest on, the report, and agents that can go on."""
    folder = study.file.results
    (folder / "agents").mkdir(parents=True, exist_ok=True)
    texts = {
        "decisions.csv": decisions_csv(findings),
        "trace.csv": trace_csv(findings),
        "report.html": page(findings),
    }
    for name, text in texts.items():
        file.replace(folder / name, text.encode())
    for name, agent in agents.items():
        agent.save(study.saved(name))
        agent.close()


def trace_csv(findings: Findings) -> str:
    """One row per stage: what a decision saw, what came, and what each policy paid."""
    series, out = findings.series, io.StringIO(newline="")
    writer = csv.writer(out)
    named: dict[str, Array] = {
        **{f"sees {name}": series.x[:, i] for i, name in enumerate(series.x_names)},
        **{f"outcome {name}": series.xi[:, i] for i, name in enumerate(series.xi_names)},
        "known at stage": series.arrives,
        **{f"cost, {name}": played.cost for name, played in findings.played.items()},
    }
    writer.writerow(map(no_formula, ["time", "line", *named]))
    writer.writerows(_rows(findings, list(named.values())))
    return out.getvalue()


def _rows(findings: Findings, columns: list[Array]) -> Iterator[list[str]]:
    series = findings.series
    for t, time in enumerate(series.time):
        numbers = (column[t].item() for column in columns)
        yield [no_formula(time), str(int(series.lines[t])), *map(_cell, numbers)]


def _cell(number: float) -> str:
    """In its shortest form; a gap where there is none."""
    return "" if math.isnan(number) else repr(number)
