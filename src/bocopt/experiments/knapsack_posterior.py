"""The posterior of the paper's problem against long chains, and what early rejection spares."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bocopt import Gaussian, ResampleMove
from bocopt.experiments.beliefs import Spread
from bocopt.experiments.posterior import LOSS, PREDICTOR, STREAM
from bocopt.experiments.study import Size, Study, Summary
from bocopt.experiments.summaries import cell
from bocopt.experiments.tasks import Record, Task
from bocopt.report import tables
from bocopt.report.blocks import Grid, Row, Section
from bocopt.smc import CrankNicolson, EllipticalSlice, RandomWalk
from bocopt.trace import spread

_BASE = ResampleMove(
    prior=Gaussian.isotropic(PREDICTOR.dim), loss=LOSS, lam=1e-2, size=200, sweeps=5
)
_MANY = 300
SAMPLERS: dict[str, tuple[ResampleMove, int]] = {
    "pCN, 5 sweeps": (_BASE, 0),
    "random walk, 5 sweeps": (replace(_BASE, kernel=RandomWalk()), 0),
    "elliptical slice, 3 sweeps": (replace(_BASE, kernel=EllipticalSlice(), sweeps=3), 0),
    "waste-free pCN, chains of 5": (replace(_BASE, chain_length=5), 0),
    f"pCN, then {_MANY} sweeps": (replace(_BASE, kernel=CrankNicolson()), _MANY),
    f"random walk, then {_MANY} sweeps": (replace(_BASE, kernel=RandomWalk()), _MANY),
}


def size(full: Size) -> Size:
    return Size(max(1, full.trials // 20), max(1, full.horizon * 3 // 10), full.seed)


def tasks(size: Size) -> dict[str, Task]:
    return {
        name: Spread(
            sampler=sampler,
            stream=STREAM,
            more_sweeps=more,
            seeds=size.seeds,
            horizon=size.horizon,
        )
        for name, (sampler, more) in SAMPLERS.items()
    }


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    def row(record: Record) -> Summary:
        w = np.exp(record["log_w"])
        loss = record["total"] / size.horizon
        mean = (w * loss).sum(axis=-1)
        sd = np.sqrt((w * (loss - mean[:, None]) ** 2).sum(axis=-1))
        share = record["spared"] / np.maximum(record["spared"] + record["evaluated"], 1)
        return {
            "mean_loss": [float(m) for m in mean],
            "mean": cell(spread(mean)),
            "sd": cell(spread(sd)),
            "evaluated": float(record["evaluated"].mean()),
            "spared": cell(spread(share)),
        }

    return {**size._asdict(), "rows": {name: row(record) for name, record in records.items()}}


def show(summary: Summary) -> Section:
    grid = Grid(
        title=f"Decision-loss posterior of the knapsack, lambda 1e-2: {Size.of(summary)}",
        header=["sampler", "mean loss", "sd of loss", "losses computed", "spared"],
        rows=[
            Row(
                [
                    name,
                    tables.spread(row["mean"]),
                    tables.spread(row["sd"], 3),
                    f"{row['evaluated']:,.0f}",
                    tables.spread(row["spared"], 3),
                ]
            )
            for name, row in summary["rows"].items()
        ],
        caption="200 particles. Mean and sd, over the posterior, of the mean loss per stage (mean "
        "± sd over trials of each). The last two rows are long chains: two kernels that go on from "
        "the particles. Computed and spared: losses of proposals up to the last stage, and the "
        "share that early rejection left out.",
    )
    return Section("The posterior of the knapsack", [grid])


STUDY = Study("posterior-knapsack", size, tasks, summarise, show)
