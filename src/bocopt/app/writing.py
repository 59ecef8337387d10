"""The files that a backtest leaves."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bocopt import file
from bocopt.app.case import Case
from bocopt.app.features.series import Series
from bocopt.app.findings import Findings
from bocopt.app.kept_features import save_features
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
    return as_rows([[no_formula(name)] for name in columns]) + as_rows(
        [cells(values) for values in columns.values()]
    )


def as_rows(columns: Sequence[Sequence[str]]) -> bytes:
    """Return columns of cells as rows of CSV."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows(zip(*columns, strict=True))
    return out.getvalue().encode()


def cells(values: Iterable[str | float]) -> list[str]:
    """Return a column as text: numbers in their shortest form, a gap where there is none.

    >>> cells(["=1+1", 2.5, float("nan")])
    ["'=1+1", '2.5', '']
    """
    return [
        no_formula(value) if isinstance(value, str) else "" if value != value else repr(value)
        for value in values
    ]


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
        **_at_least(series),
        "known at stage": series.arrives.tolist(),
        **{f"cost, {name}": played.cost.tolist() for name, played in findings.played.items()},
    }


def _at_least(series: Series) -> dict[str, list[Any]]:
    """Return the low ends of outcomes that were seen in part, where there are any."""
    if series.seen is None:
        return {}
    low = np.where(np.isfinite(series.xi) | np.isinf(series.seen.low), np.nan, series.seen.low)
    return {
        f"outcome {name} is at least": low[:, i].tolist() for i, name in enumerate(series.xi_names)
    }
