"""Shortest paths whose costs are a polynomial of the context: normalised regret against degree."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bocopt import Ensemble, Mixture, SampleAverage
from bocopt.app.text import count
from bocopt.core import Array, Policy
from bocopt.paper import DFL, Adam, Gaussian, Linear, PtO, SPOPlus
from bocopt.policies.gradient import OneModel
from bocopt.problems import grid
from bocopt.trace import last_half, mean_sd
from bocopt_studies.problems.task import OwnLaws, Race
from bocopt_studies.report import tables
from bocopt_studies.report.blocks import Chart, Curve, Grid, Row, Section
from bocopt_studies.study import Size, Summary
from bocopt_studies.summaries import cell
from bocopt_studies.work.task import Record, Task

DEGREES = (1, 2, 4, 6, 8)
AVERAGE = "SampleAverage"
NOISES = {"exact": 0.0, "noisy": 0.5}
_PROBLEM = grid(5, 5)
_SCENARIOS = 64  # of the mixture
#: The best of 0.1, 0.03, 0.01, 0.003 and 0.001 on seeds 1000 to 1009: degrees 1, 4, 8, both noises.
_RATES: Mapping[type[OneModel], float] = {SPOPlus: 0.003, PtO: 0.001, DFL: 0.03}


def policies() -> dict[str, Policy[Any]]:
    """Return the ensemble, SPO+, PtO, DFL and the sample average, by name."""
    mixture = Mixture(dim_xi=_PROBLEM.dims.xi, scenarios=_SCENARIOS)
    return {
        "Ensemble": Ensemble(_PROBLEM, mixture),
        "SPO+": descent(SPOPlus),
        "PtO": descent(PtO),
        "DFL": descent(DFL),
        AVERAGE: SampleAverage(_PROBLEM),
    }


def descent(model_class: type[OneModel], rate: float | None = None) -> OneModel:
    """A linear predictor that begins near 1, about the size of all costs."""
    predictor = Linear(dim_x=5, dim_xi=_PROBLEM.dims.xi)
    ones = predictor.constant(np.ones(predictor.dim_xi)).tolist()
    return model_class(
        problem=_PROBLEM,
        predictor=predictor,
        prior=Gaussian(mean=ones, sd=0.01),
        adam=Adam(rate=_RATES[model_class] if rate is None else rate),
    )


def tasks(size: Size) -> dict[str, Task]:
    """Return the tasks of all policies, by `noise/degree/policy`."""
    return {
        f"{noise}/{degree}/{name}": Race(
            policy=policy,
            problem=_PROBLEM,
            stream=OwnLaws(degree, half_width),
            seeds=size.seeds,
            horizon=size.horizon,
        )
        for noise, half_width in NOISES.items()
        for degree in DEGREES
        for name, policy in policies().items()
    }


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return the normalised regret, by noise, policy and degree."""
    return {
        **size._asdict(),
        "degrees": list(DEGREES),
        "regret": {
            noise: {
                name: [_numbers(regret(records[f"{noise}/{d}/{name}"])) for d in DEGREES]
                for name in policies()
            }
            for noise in NOISES
        },
    }


def regret(record: Record) -> Array:
    """(trials): over the last half of the stages, in per cent of what the shortest paths cost."""
    missed, least = (last_half(record[name]).sum(axis=-1) for name in ("missed", "least"))
    return np.asarray(100 * missed / least)


def _numbers(values: Array) -> Summary:
    low, high = np.percentile(values, [10, 90]).tolist()
    return {**cell(mean_sd(values)), "low": low, "high": high}


def show(summary: Summary) -> Section:
    """Return the section: a table and a chart for each noise."""
    return Section(
        "Polynomial shortest paths",
        [
            *(_table(summary, noise) for noise in NOISES),
            *(_chart(summary, noise) for noise in NOISES),
        ],
    )


def _table(summary: Summary, noise: str) -> Grid:
    return Grid(
        title=f"Normalised regret in per cent, {_words(noise)}: {Size.of(summary)}",
        header=["policy", *(f"degree {degree}" for degree in summary["degrees"])],
        rows=[
            Row([name, *(tables.format_mean_sd(cell) for cell in cells)])
            for name, cells in summary["regret"][noise].items()
        ],
        caption="What paths cost above the shortest, by the mean costs given the context, summed "
        "over the last half of the stages and divided by what the shortest cost. Mean ± sd over "
        "trials, each with its own matrix. The rates of SPO+, PtO and DFL were tuned on other "
        "seeds.",
    )


def _chart(summary: Summary, noise: str) -> Chart:
    return Chart(
        name=f"problems-paths-{noise}",
        title=f"Regret against degree, {_words(noise)}",
        y_label="normalised regret (%)",
        curves=[
            Curve(name, summary["degrees"], *_over_degrees(cells))
            for name, cells in summary["regret"][noise].items()
            if name != AVERAGE
        ],
        caption=f"Mean over {count(summary['trials'], 'trial')}, bands: the 10% to 90% percentiles "
        "over trials. The higher the degree, the less linear the costs. SampleAverage, which does "
        "not read the context, is far above.",
        x_label="degree of the polynomial",
    )


def _over_degrees(cells: list[Mapping[str, float]]) -> list[list[float]]:
    return [[cell[name] for cell in cells] for name in ("mean", "low", "high")]


def _words(noise: str) -> str:
    return f"noise half-width {NOISES[noise]:g}"
