"""The files that a backtest leaves."""

import csv
import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bocopt import file
from bocopt.app.case import Case
from bocopt.app.deciding import save_features
from bocopt.app.findings import Findings
from bocopt.app.page import decisions_csv, page
from bocopt.interop.frames import framed
from bocopt.live import Agent
from bocopt.policies.names import names_of
from bocopt.trace import no_formula


def write(case: Case, findings: Findings, agents: Mapping[str, Agent[Any]]) -> None:
    """Write decisions, what they rest on, the report, and agents that can go on."""
    folder, first = case.results, next(iter(case.policies.values()))
    names = names_of(case.problem, first, case.decision_names)
    form = case.trace
    files = {
        "decisions.csv": decisions_csv(findings, names).encode(),
        f"trace.{form}": trace_csv(findings) if form == "csv" else trace_parquet(findings),
        "report.html": page(findings, names).encode(),
    }
    (folder / "agents").mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        file.replace(folder / name, content)
    for name, agent in agents.items():
        agent.save(case.saved(name))
        agent.close()
    save_features(case)


def write_table(columns: Mapping[str, list[Any]], out: str | None, owner: str) -> bytes:
    """Return named columns as CSV, or Parquet by the name of the file, and write that, if any."""
    path = Path(out) if out else None
    if path is not None and path.suffix not in (".csv", ".parquet"):
        raise ValueError(f"A table is written to a .csv or .parquet file. Got {out!r} instead.")
    if path is not None and path.suffix == ".parquet":
        content = io.BytesIO()
        framed(dict(columns), owner).write_parquet(content)
        data = content.getvalue()
    else:
        data = as_csv(columns)
    if path is not None:
        file.replace(path, data)
    return data


def trace_csv(findings: Findings) -> bytes:
    """Return a row per stage as CSV: what a decision saw, what came, and what each policy paid."""
    return as_csv(_columns(findings))


def as_csv(columns: Mapping[str, list[Any]]) -> bytes:
    """Return named columns as text that no spreadsheet takes for formulas."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(map(no_formula, columns))
    writer.writerows([_cell(value) for value in row] for row in zip(*columns.values(), strict=True))
    return out.getvalue().encode()


def trace_parquet(findings: Findings) -> bytes:
    """Return the same rows as Parquet, with whatever library of data frames there is."""
    out = io.BytesIO()
    framed(_columns(findings), "bocopt backtest").write_parquet(out)
    return out.getvalue()


def _columns(findings: Findings) -> dict[str, list[Any]]:
    series = findings.series
    return {
        "time": list(series.time),
        "line": series.lines.tolist(),
        **{f"sees {name}": series.x[:, i].tolist() for i, name in enumerate(series.x_names)},
        **{f"outcome {name}": series.xi[:, i].tolist() for i, name in enumerate(series.xi_names)},
        "known at stage": series.arrives.tolist(),
        **{f"cost, {name}": played.cost.tolist() for name, played in findings.played.items()},
    }


def _cell(value: str | float) -> str:
    """Return a number in its shortest form; a gap where there is none."""
    if isinstance(value, str):
        return no_formula(value)
    return "" if math.isnan(value) else repr(value)
