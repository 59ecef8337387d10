"""The posterior of the paper's problem against a long reference, and what early rejection spares.

The loss is piecewise constant with many local optima, between which no local kernel moves: a few
chains stay where they are, however long they run. The reference is therefore a large population:
1000 particles carried from the prior, then moved on at the end, once with each of two kernels.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bocopt.beliefs import CrankNicolson, EllipticalSlice, FittedCrankNicolson, RandomWalk
from bocopt.core import Array
from bocopt.paper import Gaussian, ResampleMove
from bocopt.trace import mean_sd
from bocopt_studies.posterior.samplers import LOSS, PREDICTOR, STREAM
from bocopt_studies.posterior.tasks import LossSpread
from bocopt_studies.report import tables
from bocopt_studies.report.blocks import Grid, Row, Section
from bocopt_studies.study import Size, Summary
from bocopt_studies.summaries import cell, paired
from bocopt_studies.work.task import Record, Task

_BASE = ResampleMove(
    prior=Gaussian.isotropic(PREDICTOR.dim),
    loss=LOSS,
    lam=1e-2,
    size=200,
    kernel=CrankNicolson(),
    sweeps=5,
)
_LONG = replace(_BASE, size=1000, sweeps=20)
_MORE = 20
REFERENCES: dict[str, tuple[ResampleMove, int]] = {
    f"1000 particles, pCN, 20 sweeps, then {_MORE}": (_LONG, _MORE),
    f"1000 particles, random walk, 20 sweeps, then {_MORE}": (
        replace(_LONG, kernel=RandomWalk()),
        _MORE,
    ),
}
SAMPLERS: dict[str, tuple[ResampleMove, int]] = {
    "pCN, 5 sweeps": (_BASE, 0),
    "random walk, 5 sweeps": (replace(_BASE, kernel=RandomWalk()), 0),
    "fitted pCN, 5 sweeps": (replace(_BASE, kernel=FittedCrankNicolson()), 0),
    "elliptical slice, 3 sweeps": (replace(_BASE, kernel=EllipticalSlice(), sweeps=3), 0),
    "waste-free pCN, chains of 5": (replace(_BASE, chain_length=5), 0),
    **REFERENCES,
}


def tasks(size: Size) -> dict[str, Task]:
    """Return the task of each sampler, the references included, by name."""
    return {
        name: LossSpread(
            sampler=sampler,
            stream=STREAM,
            more_sweeps=more,
            seeds=size.seeds,
            horizon=size.horizon,
        )
        for name, (sampler, more) in SAMPLERS.items()
    }


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return losses under the posterior by sampler, and how far the references differ."""

    def moments(record: Record) -> tuple[Array, Array]:
        """(trials), (trials): the posterior's mean and sd of the mean loss per stage."""
        w = np.exp(record["log_w"])
        loss = record["total"] / size.horizon
        mean = (w * loss).sum(axis=-1)
        return mean, np.sqrt((w * (loss - mean[:, None]) ** 2).sum(axis=-1))

    one, other = (moments(records[name]) for name in REFERENCES)
    reference = (one[0] + other[0]) / 2

    def row(name: str, record: Record) -> Summary:
        """Return one sampler's mean and sd of the loss, its distance and its costs."""
        mean, sd = moments(record)
        share = record["spared"] / np.maximum(record["spared"] + record["evaluated"], 1)
        return {
            "mean": cell(mean_sd(mean)),
            "sd": cell(mean_sd(sd)),
            "minus_reference": None if name in REFERENCES else cell(paired(mean, reference)),
            "evaluated": float(record["evaluated"].mean()),
            "spared": cell(mean_sd(share)),
        }

    return {
        **size._asdict(),
        "rows": {name: row(name, record) for name, record in records.items()},
        "kernels": {
            "mean": cell(paired(one[0], other[0])),
            "sd": cell(paired(one[1], other[1])),
        },
    }


def show(summary: Summary) -> Section:
    """Return the section: the table of samplers and references."""
    grid = Grid(
        title=f"Decision-loss posterior of the knapsack, lambda 1e-2: {Size.of(summary)}",
        header=["sampler", "mean loss", "sd of loss", "minus reference", "computed", "spared"],
        rows=[
            Row(
                [
                    name,
                    tables.format_mean_sd(row["mean"]),
                    tables.format_mean_sd(row["sd"], 3),
                    tables.interval(row["minus_reference"]) if row["minus_reference"] else "",
                    f"{row['evaluated']:,.0f}",
                    tables.format_mean_sd(row["spared"], 3),
                ]
            )
            for name, row in summary["rows"].items()
        ],
        caption="200 particles, where nothing else is said. Mean and sd, over the posterior, of "
        "the mean loss per stage (mean ± sd over trials of each); the reference is the average of "
        "the last two rows, which differ by "
        f"{tables.interval(summary['kernels']['mean'])} in the mean and by "
        f"{tables.interval(summary['kernels']['sd'], 3)} in the sd (pCN minus random walk, paired "
        "95%). Computed and spared: losses of proposals up to the last stage, and the share that "
        "early rejection left out.",
    )
    return Section("The posterior of the knapsack", [grid])
