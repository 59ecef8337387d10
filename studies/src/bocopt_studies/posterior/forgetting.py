"""Accuracy of standard errors while stages leave a window, or fade."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.paper import Gaussian, ResampleMove
from bocopt.trace import mean_sd
from bocopt_studies.posterior.oracles import Oracle, Quadratic
from bocopt_studies.report import tables
from bocopt_studies.report.blocks import Grid, Row, Section
from bocopt_studies.study import Size, Summary
from bocopt_studies.summaries import cell
from bocopt_studies.work.task import Record, Task

_LAM, _DRAWS = 2.0, 1000  # of the bootstrap
_TIMES = {2: 50, 8: 12, 48: 1}  # parameters: as many more trials where a trial has few numbers


class ForgettingSetting(NamedTuple):
    """One row: what is forgotten, and below which effective size particles are moved."""

    dim: int
    forgets: str
    window: int | None = None
    discount: float = 1.0
    threshold: float | None = None


def _of(dim: int) -> list[ForgettingSetting]:
    found = [ForgettingSetting(dim, "nothing")]
    if dim < 48:
        found.append(ForgettingSetting(dim, "nothing", threshold=0.9))
    for threshold in (0.5, None):
        found.append(ForgettingSetting(dim, "window 20", window=20, threshold=threshold))
        found.append(ForgettingSetting(dim, "discount 0.95", discount=0.95, threshold=threshold))
    return sorted(found, key=lambda setting: setting.forgets, reverse=True)


def _name(setting: ForgettingSetting) -> str:
    at = "default" if setting.threshold is None else f"threshold {setting.threshold:g}"
    return f"{setting.dim}: {setting.forgets}, {at}"


SETTINGS: dict[str, ForgettingSetting] = {
    _name(setting): setting for dim in _TIMES for setting in _of(dim)
}


def tasks(size: Size) -> dict[str, Task]:
    """Return the task of each setting, by name."""

    def task(setting: ForgettingSetting) -> Oracle:
        """Return the task of one setting, with more trials where there are few parameters."""
        dim, world = setting.dim, Quadratic()
        return Oracle(
            sampler=ResampleMove(
                prior=Gaussian.isotropic(dim),
                loss=world,
                lam=_LAM,
                threshold=setting.threshold,
                discount=setting.discount,
                window=setting.window,
            ),
            world=world,
            lam=_LAM,
            dim=dim,
            discount=setting.discount,
            window=setting.window,
            seeds=size._replace(trials=_TIMES[dim] * size.trials).seeds,
            horizon=size.horizon,
        )

    return {name: task(setting) for name, setting in SETTINGS.items()}


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return errors beside standard errors, variances and costs, by setting."""

    def row(record: Record) -> Summary:
        """Return the numbers of one setting, with a bootstrap interval of the ratio."""
        error, se = record["error"], record["standard_error"]
        trials = len(error)
        drawn = np.random.default_rng(0).integers(0, trials, (_DRAWS, trials))
        ratios = [_ratio(error[draw], se[draw]) for draw in drawn]
        known = np.isfinite(se)
        return {
            "trials": trials,
            "error": _rms(error),
            "standard_error": _rms(se[known]),
            "ratio": _ratio(error, se),
            "ratio_interval": [float(q) for q in np.quantile(ratios, [0.025, 0.975])],
            "known": float(known.mean()),
            "covered": float((np.abs(error[known]) < 2 * se[known]).mean()),
            "variance": cell(mean_sd(record["variance"].mean(axis=-1))),
            "moves": float(record["moves"].mean()) / size.horizon,
            "sweeps": float(record["sweeps"].mean()) / size.horizon,
            "evaluated": float(record["evaluated"].mean()) / size.horizon,
        }

    return {**size._asdict(), "rows": {name: row(record) for name, record in records.items()}}


def _rms(values: Array) -> float:
    return float(np.sqrt((values**2).mean()))


def _ratio(error: Array, se: Array) -> float:
    """(trials, p) each -> how much larger errors are than they are said to be."""
    known = np.isfinite(se)
    return _rms(error[known]) / _rms(se[known])


def show(summary: Summary) -> Section:
    """Return the section: the table of settings."""

    def cells(name: str, row: Summary) -> list[str]:
        """Return the cells of one setting."""
        low, high = row["ratio_interval"]
        return [
            name,
            str(row["trials"]),
            tables.number(row["error"], 3),
            tables.number(row["standard_error"], 3),
            f"{row['ratio']:.2f} [{low:.2f}, {high:.2f}]",
            tables.number(row["covered"]),
            tables.number(row["known"]),
            tables.format_mean_sd(row["variance"]),
            tables.number(row["moves"], 1),
            tables.number(row["sweeps"], 1),
            f"{row['evaluated']:,.0f}",
        ]

    grid = Grid(
        title=f"Gaussian posteriors that forget: {summary['horizon']} stages, "
        f"seeds from {summary['seed']}",
        header=[
            "parameters: forgets, threshold",
            "trials",
            "error",
            "standard error",
            "ratio [95%]",
            "within 2",
            "given",
            "variance",
            "moves a stage",
            "sweeps a stage",
            "losses a stage",
        ],
        rows=[Row(cells(name, row)) for name, row in summary["rows"].items()],
        caption="200 particles, lambda 2, the default kernel and sweeps; each stage is one outcome "
        "of each parameter's own. Error: root mean square of (particle mean - exact mean) in "
        "posterior sd after the last stage; 200 independent draws have 0.071. Standard error: root "
        "mean square of what the sampler reports; ratio: the first over the second, with a "
        "bootstrap over trials. Within 2: how often the exact mean is within two standard errors. "
        "Given: in which share there is one. Variance: found / exact, mean ± sd over trials.",
    )
    return Section("The posterior: forgetting", [grid])
