"""River's Bayesian linear regression as the model under our program, beside our own models.

Two real data sets with the decisions that belong to them, 1000 stages each, all from scratch. The
regression is a model by `from_river` with its defaults: its latest 200 errors are the noise. It has
no intercept, so it is shown a constant beside the context. Ours: the mixture, its linear member
alone, and the ensemble.

    pip install "bocopt[sklearn]" river
    python benchmarks/peers/river_model.py     writes benchmarks/results/river_model.{md,json}
"""

import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from bocopt import Ensemble, Mixture, Replay, SampleAverage
from bocopt.interop import from_river
from bocopt.models import ConstantVariance
from bocopt.policies import Predictive
from bocopt_studies.learning.data import data_world

sys.path.append(str(Path(__file__).parents[1]))
results_file: Any = import_module("results_file")
series: Any = import_module("series")

PLACES = ("pizzas", "gasoline (held out)")
STAGES = 1000


def with_a_constant(stream: Any) -> Replay:
    x = np.asarray(stream.x)
    return Replay(np.concatenate([x, np.ones((len(x), 1))], axis=1), stream.xi)


def rows_of(place: str) -> list[dict[str, Any]]:
    world = data_world(place)
    problem, stream = world.problem, world.stream
    size = problem.dims.xi
    regression = import_module("river.linear_model").BayesianLinearRegression()
    linear = Mixture(dim_xi=size, members=[ConstantVariance()], discounts=[1.0])
    players: dict[str, Any] = {
        "Mixture": (Predictive(problem, Mixture(dim_xi=size)), stream),
        "its linear member alone": (Predictive(problem, linear), stream),
        "BayesianLinearRegression": (
            Predictive(problem, from_river(regression)),
            with_a_constant(stream),
        ),
        "Ensemble": (Ensemble(problem), stream),
        "SampleAverage": (SampleAverage(problem), stream),
    }
    rows: list[dict[str, Any]] = series.rows_of(problem, players, STAGES)
    return rows


def main() -> None:
    found = {place: rows_of(place) for place in PLACES}
    river = version("river")
    results_file.write(
        "river_model", {"peers": {"river": river}, "rows": found}, "benchmarks/peers"
    )
    lines = [
        "# River's Bayesian linear regression under our program, beside our models",
        "",
        f"{STAGES} stages of real data, one series, all learn from scratch; the regression is a",
        "model by `from_river` with its defaults. Differences are paired, in per cent of what the",
        "mixture pays; intervals by a block bootstrap. Costs below zero are earned.",
        f"river {river}. `python benchmarks/peers/river_model.py`",
    ]
    for place, rows in found.items():
        lines += series.lines_of(place, rows)
    results_file.write_markdown("river_model", lines)


if __name__ == "__main__":
    main()
