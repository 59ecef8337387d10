"""Samplers against posteriors that are known."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bocopt.beliefs import CrankNicolson, FittedCrankNicolson
from bocopt.paper import Gaussian, GibbsPosterior, LiuWest, ResampleMove
from bocopt.trace import mean_sd
from bocopt_studies.posterior.oracles import OneDirection, Oracle, Quadratic, World
from bocopt_studies.report import tables
from bocopt_studies.report.blocks import Grid, Row, Section
from bocopt_studies.study import Size, Summary
from bocopt_studies.summaries import cell
from bocopt_studies.work.task import Record, Task

_DIM, _LAM = 48, 0.1
_BEFORE: dict[str, Any] = {"kernel": CrankNicolson(), "sweeps": 5}
_FITTED = FittedCrankNicolson()


class Setting(NamedTuple):
    """One row: a posterior, and a sampler for it."""

    world: World
    options: Mapping[str, Any]  # of ResampleMove; `move` makes it a GibbsPosterior
    longer: int = 1  # times as many stages


def _both(world: World, size: int, longer: int = 1) -> dict[str, Setting]:
    """The default of 0.1, and the present one."""
    return {
        "before (pCN, 5 sweeps)": Setting(world, {"size": size, **_BEFORE}, longer),
        "default": Setting(world, {"size": size}, longer),
    }


def _named(prefix: str, settings: Mapping[str, Setting]) -> dict[str, Setting]:
    return {f"{prefix}: {name}": setting for name, setting in settings.items()}


_EQUAL, _UNEQUAL, _LINE = Quadratic(), Quadratic(ratio=30.0), OneDirection()
SETTINGS: dict[str, Setting] = {
    "200: Liu-West, printed": Setting(_EQUAL, {"size": 200, "move": LiuWest(mode="printed")}),
    "200: Liu-West, corrected": Setting(_EQUAL, {"size": 200, "move": LiuWest()}),
    **_named("200", _both(_EQUAL, 200)),
    "200: pCN, 20 sweeps": Setting(_EQUAL, {"size": 200, "kernel": CrankNicolson(), "sweeps": 20}),
    "200: fitted pCN, 5 sweeps": Setting(_EQUAL, {"size": 200, "kernel": _FITTED, "sweeps": 5}),
    "200: waste-free pCN, chains of 5": Setting(
        _EQUAL, {"size": 200, "kernel": CrankNicolson(), "chain_length": 5}
    ),
    **_named("200, three times the stages", _both(_EQUAL, 200, longer=3)),
    **_named("unequal scales, 200", _both(_UNEQUAL, 200)),
    **_named("unequal scales, 1000", _both(_UNEQUAL, 1000)),
    "unequal scales, 1000: waste-free fitted pCN, chains of 20": Setting(
        _UNEQUAL, {"size": 1000, "kernel": _FITTED, "chain_length": 20}
    ),
    **_named("one direction a stage, 200", _both(_LINE, 200)),
}


def tasks(size: Size) -> dict[str, Task]:
    """Return the task of each setting, by name."""

    def task(setting: Setting) -> Oracle:
        """Return the task that runs a setting's sampler against its exact posterior."""
        common = {"prior": Gaussian.isotropic(_DIM), "loss": setting.world, "lam": _LAM}
        sampler = GibbsPosterior if "move" in setting.options else ResampleMove
        return Oracle(
            sampler=sampler(**{**common, **setting.options}),
            world=setting.world,
            lam=_LAM,
            dim=_DIM,
            seeds=size.seeds,
            horizon=setting.longer * size.horizon,
        )

    return {name: task(setting) for name, setting in SETTINGS.items()}


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return errors, variances, standard errors and costs, by setting."""

    def row(record: Record) -> Summary:
        """Return the numbers of one setting; only some samplers have standard errors."""
        error = record["error"]
        found: Summary = {
            "error": float(np.sqrt((error**2).mean())),
            "variance": cell(mean_sd(record["variance"].mean(axis=-1))),
            "moves": float(record["moves"].mean()),
        }
        if "standard_error" in record:
            se = record["standard_error"]
            known = np.isfinite(se)
            found["sweeps"] = float((record["sweeps"] / np.maximum(record["moves"], 1)).mean())
            found["evaluated"] = float(record["evaluated"].mean())
            found["known"] = float(known.mean())
            if known.any():
                found["standard_error"] = float(np.sqrt((se[known] ** 2).mean()))
                found["covered"] = float((np.abs(error[known]) < 2 * se[known]).mean())
        return found

    return {**size._asdict(), "rows": {name: row(record) for name, record in records.items()}}


def show(summary: Summary) -> Section:
    """Return the section: the table of samplers."""

    def cells(name: str, row: Summary) -> list[str]:
        """Return the cells of one setting."""
        return [
            name,
            tables.number(row["error"], 3),
            tables.number(row.get("standard_error"), 3),
            tables.number(row.get("covered")),
            tables.number(row.get("known")),
            tables.format_mean_sd(row["variance"]),
            tables.number(row["moves"], 1),
            tables.number(row.get("sweeps"), 1),
            f"{row['evaluated']:,.0f}" if "evaluated" in row else tables.number(None),
        ]

    header = ["particles: sampler", "error", "standard error", "within 2", "given", "variance"]
    grid = Grid(
        title=f"48-dimensional Gaussian posteriors: {Size.of(summary)}",
        header=[*header, "moves", "sweeps a move", "losses"],
        rows=[Row(cells(name, row)) for name, row in summary["rows"].items()],
        caption="Error: root mean square of (particle mean - exact mean) in posterior sd; N "
        "independent draws have 1 / sqrt(N): 0.071 and 0.032. Standard error: what the sampler "
        "itself reports, how often the exact mean is within two of them, and in which share of "
        "the trials one is given at all: not where particles have not mixed. Variance: found / "
        "exact, mean ± sd over trials. Moves: resamplings a trial. Losses: computed for "
        "proposals, a trial. Unequal scales: precisions of a stage from 1/30 to 30. One direction "
        "a stage: every outcome is a number, x'theta and noise.",
    )
    return Section("The posterior: accuracy", [grid])
