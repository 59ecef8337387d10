"""Rates of failure of certificates, by simulation, beside the rates that are allowed."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bocopt.core import BoolArray
from bocopt_studies.guarantees.cover import DELTAS, Cover, CoverBatch
from bocopt_studies.guarantees.simulations import SIMULATIONS
from bocopt_studies.report.blocks import Grid, Row, Section
from bocopt_studies.study import Size, Summary
from bocopt_studies.work.task import Record, Task

_WHAT = {
    "fair coin": "a cost of 1 with chance 1/2",
    "rare cost": "a cost of 1 with chance 1/50",
    "skewed": "costs U^9",
    "gambler": "rare costs while lucky, a fair coin otherwise: chances follow from the past",
    "drift": "a coin whose chance rises from 1/10 to 9/10, again and again",
    "duel": "two costs with luck in common, of which one is rarely hit while it is ahead",
    "stakes": "a fair coin for stakes that follow from the past",
    "wide stakes": "a fair coin for two stakes, of which one is wider than declared",
    "knapsack": "a running average on a knapsack of one item",
    "one coin": "five parameters that are lucky together",
    "a coin each": "five parameters with luck of their own, which the posterior follows",
    "restless": "one coin, with weights reset and losses rare when lucky",
    "squared error": "forecasts of a coin that follows from the past: mixable",
    "low forecasts": "forecasts near 0 of a fair coin: hardly mixable",
    "batch, one coin": "five parameters, all stages at once",
    "batch, a coin each": "fifty parameters, likewise",
}


def proportion(failed: BoolArray) -> dict[str, float | int]:
    """Return the share of failures with the binomial interval of Clopper and Pearson, 95%.

    >>> found = proportion(np.array([True] + [False] * 99))
    >>> found["failed"], round(found["low"], 4), round(found["high"], 4)
    (1, 0.0003, 0.0545)
    """
    from scipy.special import betaincinv

    k, n = int(failed.sum()), failed.size
    return {
        "failed": k,
        "mean": k / n,
        "low": float(betaincinv(k, n - k + 1, 0.025)) if k else 0.0,
        "high": float(betaincinv(k + 1, n - k, 0.975)) if k < n else 1.0,
    }


def tasks(size: Size) -> dict[str, Task]:
    """Return a task for each simulation and two for batches, by name."""
    return {
        **{
            name: Cover(simulation=name, seeds=size.seeds, horizon=size.horizon)
            for name in SIMULATIONS
        },
        "batch, one coin": CoverBatch(
            seeds=size.seeds, horizon=size.horizon, coins=1, parameters=5
        ),
        "batch, a coin each": CoverBatch(
            seeds=size.seeds, horizon=size.horizon, coins=50, parameters=50
        ),
    }


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return each certificate's rate of failure, and the number of intervals above delta."""
    rows: list[dict[str, Any]] = [
        {
            "simulation": simulation,
            "certificate": name.rsplit("/", 1)[0],
            "delta": float(name.rsplit("/", 1)[1]),
            **proportion(used > 1),
            "used": float(np.quantile(used, 1 - float(name.rsplit("/", 1)[1]))),
        }
        for simulation, record in records.items()
        for name, used in record.items()
    ]
    above = [
        row for row in rows if row["low"] > row["delta"] and "control" not in row["certificate"]
    ]
    return {**size._asdict(), "rows": rows, "intervals above delta": len(above)}


def show(summary: Summary) -> Section:
    """Return the section: the verdict in words, and the table of failures."""
    return Section("How often certificates fail", [_verdict(summary), _table(summary)])


def _certificates(summary: Summary) -> int:
    return sum("control" not in row["certificate"] for row in summary["rows"])


def _verdict(summary: Summary) -> str:
    run = {row["simulation"] for row in summary["rows"]}
    what = "; ".join(f"{name}: {text}" for name, text in _WHAT.items() if name in run)
    return (
        f"Intervals above their delta: {summary['intervals above delta']} of "
        f"{_certificates(summary)}. A run counts as failed if the true risk was above the bound "
        "after any of its stages (feasibility: outside the interval), that is when stopped at "
        "its worst time; a batch has one time. *Used* is the share of the slack that it "
        "would have taken for delta to be met exactly: had the slack been smaller by that factor, "
        f"the certificate would have failed too often. Simulations: {what}. The "
        "controls are bounds for one time, watched at all times."
    )


def _table(summary: Summary) -> Grid:
    pairs = dict.fromkeys((row["simulation"], row["certificate"]) for row in summary["rows"])
    found: dict[tuple[str, str, float], Mapping[str, Any]] = {
        (row["simulation"], row["certificate"], row["delta"]): row for row in summary["rows"]
    }
    return Grid(
        title=f"Failures: {Size.of(summary)}",
        header=[
            "simulation: certificate",
            *(part for delta in DELTAS for part in (f"failed, delta = {delta:g}", "used")),
        ],
        rows=[
            Row(
                [
                    ": ".join(pair),
                    *(cell for delta in DELTAS for cell in _cells(found[(*pair, delta)])),
                ],
                muted="control" in pair[1],
            )
            for pair in pairs
        ],
        caption="Share of runs, with the 95% interval of Clopper and Pearson.",
    )


def _cells(row: Mapping[str, Any]) -> tuple[str, str]:
    return f"{row['mean']:.4f} [{row['low']:.4f}, {row['high']:.4f}]", f"{row['used']:.2f}"
