"""Samplers against a posterior that is known."""

from collections.abc import Mapping

import numpy as np

from bocopt import Gaussian, GibbsPosterior, LiuWest, ResampleMove
from bocopt.experiments.beliefs import Oracle, Quadratic
from bocopt.experiments.study import Size, Study, Summary
from bocopt.experiments.summaries import cell
from bocopt.experiments.tasks import Record, Task
from bocopt.report import tables
from bocopt.report.blocks import Grid, Row, Section
from bocopt.smc import CrankNicolson, EllipticalSlice, FittedCrankNicolson, RandomWalk
from bocopt.smc.kernels import Kernel
from bocopt.trace import spread

_SAMPLERS: dict[str, tuple[Kernel, int, int | None]] = {
    "pCN, 5 sweeps": (CrankNicolson(), 5, None),
    "pCN, 10 sweeps": (CrankNicolson(), 10, None),
    "pCN, 20 sweeps": (CrankNicolson(), 20, None),
    "fitted pCN, 2 sweeps": (FittedCrankNicolson(), 2, None),
    "fitted pCN, 5 sweeps": (FittedCrankNicolson(), 5, None),
    "random walk, 10 sweeps": (RandomWalk(), 10, None),
    "random walk, 40 sweeps": (RandomWalk(), 40, None),
    "elliptical slice, 5 sweeps": (EllipticalSlice(), 5, None),
    "waste-free pCN, chains of 50": (CrankNicolson(), 1, 50),
}
_DIM, _LAM = 48, 0.1


def size(full: Size) -> Size:
    return Size(max(1, full.trials // 5), max(1, full.horizon // 10), full.seed)


def tasks(size: Size) -> dict[str, Task]:
    prior, loss = Gaussian.isotropic(_DIM), Quadratic()

    def task(sampler: ResampleMove | GibbsPosterior) -> Oracle:
        return Oracle(sampler=sampler, lam=_LAM, dim=_DIM, seeds=size.seeds, horizon=size.horizon)

    moves = {"printed": LiuWest(mode="printed"), "corrected": LiuWest(mode="corrected")}
    liu_west: dict[str, ResampleMove | GibbsPosterior] = {
        f"Liu-West, {mode}": GibbsPosterior(prior=prior, loss=loss, lam=_LAM, size=1000, move=move)
        for mode, move in moves.items()
    }
    exact_ones: dict[str, ResampleMove | GibbsPosterior] = {
        name: ResampleMove(
            prior=prior,
            loss=loss,
            lam=_LAM,
            size=1000,
            kernel=kernel,
            sweeps=sweeps,
            chain_length=chain,
        )
        for name, (kernel, sweeps, chain) in _SAMPLERS.items()
    }
    return {name: task(sampler) for name, sampler in {**liu_west, **exact_ones}.items()}


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


STUDY = Study("posterior-accuracy", size, tasks, summarise, show)
