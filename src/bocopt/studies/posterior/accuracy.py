"""Samplers against a posterior that is known."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bocopt import Gaussian, GibbsPosterior, LiuWest, ResampleMove
from bocopt.beliefs import EllipticalSlice, FittedCrankNicolson, RandomWalk
from bocopt.report import tables
from bocopt.report.blocks import Grid, Row, Section
from bocopt.studies.posterior.tasks import Oracle, Quadratic
from bocopt.studies.study import Size, Summary
from bocopt.studies.summaries import cell
from bocopt.trace import spread
from bocopt.work.task import Record, Task

_SAMPLERS: dict[str, dict[str, Any]] = {
    "pCN, 5 sweeps": {"sweeps": 5},
    "pCN, 20 sweeps": {"sweeps": 20},
    "fitted pCN, 5 sweeps": {"kernel": FittedCrankNicolson(), "sweeps": 5},
    "random walk, 5 sweeps": {"kernel": RandomWalk(), "sweeps": 5},
    "random walk, 20 sweeps": {"kernel": RandomWalk(), "sweeps": 20},
    "elliptical slice, 5 sweeps": {"kernel": EllipticalSlice(), "sweeps": 5},
    "waste-free pCN, chains of 5": {"chain_length": 5},
    "waste-free pCN, chains of 50": {"chain_length": 50},
    "200 particles, pCN, 20 sweeps": {"size": 200, "sweeps": 20},
    "200 particles, fitted pCN, 5 sweeps": {
        "size": 200,
        "kernel": FittedCrankNicolson(),
        "sweeps": 5,
    },
    "200 particles, waste-free pCN, chains of 5": {"size": 200, "chain_length": 5},
}
_DIM, _LAM = 48, 0.1


def tasks(size: Size) -> dict[str, Task]:
    prior, loss = Gaussian.isotropic(_DIM), Quadratic()

    def task(sampler: ResampleMove | GibbsPosterior) -> Oracle:
        return Oracle(sampler=sampler, lam=_LAM, dim=_DIM, seeds=size.seeds, horizon=size.horizon)

    moves = {"printed": LiuWest(mode="printed"), "corrected": LiuWest(mode="corrected")}
    liu_west: dict[str, ResampleMove | GibbsPosterior] = {
        f"Liu-West, {mode}": GibbsPosterior(prior=prior, loss=loss, lam=_LAM, size=1000, move=move)
        for mode, move in moves.items()
    }
    full_history: dict[str, ResampleMove | GibbsPosterior] = {
        name: ResampleMove(**{"prior": prior, "loss": loss, "lam": _LAM, "size": 1000, **options})
        for name, options in _SAMPLERS.items()
    }
    return {name: task(sampler) for name, sampler in {**liu_west, **full_history}.items()}


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    def row(record: Record) -> Summary:
        error = record["error"]
        found: Summary = {
            "error": float(np.sqrt((error**2).mean())),
            "variance": cell(spread(record["variance"].mean(axis=-1))),
            "moves": float(record["moves"].mean()),
        }
        if "standard_error" in record:
            z = error / record["standard_error"]
            found["standard_error"] = float(np.sqrt(np.nanmean(record["standard_error"] ** 2)))
            found["covered"] = float((np.abs(z[np.isfinite(z)]) < 2).mean())
        return found

    return {**size._asdict(), "rows": {name: row(record) for name, record in records.items()}}


def show(summary: Summary) -> Section:
    grid = Grid(
        title=f"48-dimensional Gaussian posterior, 1000 particles: {Size.of(summary)}",
        header=["sampler", "error", "standard error", "within 2", "variance", "moves"],
        rows=[
            Row(
                [
                    name,
                    tables.number(row["error"], 3),
                    tables.number(row.get("standard_error"), 3),
                    tables.number(row.get("covered")),
                    tables.spread(row["variance"]),
                    tables.number(row["moves"], 1),
                ]
            )
            for name, row in summary["rows"].items()
        ],
        caption="Error: root mean square of (particle mean - exact mean) in posterior sd; 1000 "
        "independent draws have 0.032. Standard error: what the sampler itself reports (Chan-Lai, "
        "Lee-Whiteley), and how often the exact mean is within two of them. Variance: found / "
        "exact, mean ± sd over trials. Moves: resamplings a trial.",
    )
    return Section("The posterior: accuracy", [grid])
