"""How often certificates fail, by simulation: no more often than they may."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocopt.experiments.chances import DELTAS, Cover, CoverBatch
from bocopt.experiments.simulations import SIMULATIONS
from bocopt.experiments.study import Size, Study, Summary
from bocopt.experiments.tasks import Record, Task
from bocopt.report.blocks import Grid, Row, Section

_WHAT = {
    "fair coin": "a cost of 1 with chance 1/2",
    "rare cost": "a cost of 1 with chance 1/50",
    "skewed": "costs U^9",
    "gambler": "rare costs while lucky, a fair coin otherwise: chances follow from the past",
    "stakes": "a fair coin for stakes that follow from the past",
    "knapsack": "a running average on a knapsack of one item",
    "finite belief": "five parameters, one coin for all",
    "restless belief": "the same, with weights reset and losses rare when lucky",
    "squared error": "forecasts of a coin that follows from the past: mixable",
    "batch": "five parameters, one coin for all, all stages at once",
}
_BATCH = "batch"


def proportion(failed: NDArray[np.bool_]) -> dict[str, float | int]:
    """With the binomial interval of Clopper and Pearson, 95%.

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
    return {
        **{
            name: Cover(simulation=name, seeds=size.seeds, horizon=size.horizon)
            for name in SIMULATIONS
        },
        _BATCH: CoverBatch(seeds=size.seeds, horizon=size.horizon),
    }


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    rows: list[dict[str, Any]] = [
        {
            "simulation": simulation,
            "certificate": name.rsplit("/", 1)[0],
            "delta": float(name.rsplit("/", 1)[1]),
            **proportion(failed),
        }
        for simulation, record in records.items()
        for name, failed in record.items()
    ]
    above = [
        row for row in rows if row["low"] > row["delta"] and "control" not in row["certificate"]
    ]
    return {**size._asdict(), "rows": rows, "intervals above delta": len(above)}


def show(summary: Summary) -> Section:
    return Section("How often certificates fail", [_verdict(summary), _table(summary)])


def _certificates(summary: Summary) -> int:
    return sum("control" not in row["certificate"] for row in summary["rows"])


def _verdict(summary: Summary) -> str:
    what = "; ".join(f"{name}: {text}" for name, text in _WHAT.items())
    return (
        f"{summary['intervals above delta']} of {_certificates(summary)} intervals lie above "
        "their delta. A run counts as failed if the true risk was above the bound after any of its "
        "stages (feasibility: outside the interval), that is when stopped at its worst time; the "
        f"batch has one time. Simulations: {what}. The controls are bounds that are valid at any "
        "one time, watched at all times: they show what the simulations can detect."
    )


def _table(summary: Summary) -> Grid:
    pairs = dict.fromkeys((row["simulation"], row["certificate"]) for row in summary["rows"])
    found: dict[tuple[str, str, float], Mapping[str, Any]] = {
        (row["simulation"], row["certificate"], row["delta"]): row for row in summary["rows"]
    }
    return Grid(
        title=f"Failures: {Size.of(summary)}",
        header=["simulation: certificate", *(f"at delta = {delta:g}" for delta in DELTAS)],
        rows=[
            Row(
                [": ".join(pair), *(_cell(found[(*pair, delta)]) for delta in DELTAS)],
                muted="control" in pair[1],
            )
            for pair in pairs
        ],
        caption="Share of runs, with the 95% interval of Clopper and Pearson.",
    )


def _cell(row: Mapping[str, Any]) -> str:
    return f"{row['mean']:.4f} [{row['low']:.4f}, {row['high']:.4f}]"


STUDY = Study(
    "guarantees-coverage",
    lambda size: size._replace(trials=500 * size.trials, horizon=min(300, size.horizon)),
    tasks,
    summarise,
    show,
)
