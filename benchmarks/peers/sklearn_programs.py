"""Regressors of scikit-learn and LightGBM under our program, beside the default ensemble.

Two real data sets with the decisions that belong to them, 1000 stages each, all from scratch. Each
regressor is a model by `from_sklearn` with its defaults: a fit every 50 outcomes, errors from five
blocks in time order. None was tuned here. When the ensemble's defaults were chosen, the pizzas were
in view, among others; the gasoline was held out.

    pip install "bocopt[sklearn]" lightgbm
    OMP_NUM_THREADS=1 python benchmarks/peers/sklearn_programs.py

writes benchmarks/results/sklearn_programs.{md,json}.
"""

import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bocopt import Ensemble, SampleAverage
from bocopt.interop import from_sklearn
from bocopt.policies import Predictive
from bocopt_studies.learning.data import data_world

sys.path.append(str(Path(__file__).parents[1]))
results_file: Any = import_module("results_file")
series: Any = import_module("series")

PLACES = ("pizzas", "gasoline (held out)")
STAGES = 1000


def regressors() -> dict[str, Any]:
    """As one would try them first."""
    linear, ensemble = (import_module(f"sklearn.{part}") for part in ("linear_model", "ensemble"))
    scaled = import_module("sklearn.pipeline").make_pipeline(
        import_module("sklearn.preprocessing").StandardScaler(), linear.RidgeCV()
    )
    return {
        "RidgeCV": scaled,
        "RandomForestRegressor": ensemble.RandomForestRegressor(min_samples_leaf=5),
        "HistGradientBoostingRegressor": ensemble.HistGradientBoostingRegressor(),
        "LGBMRegressor": import_module("lightgbm").LGBMRegressor(verbose=-1, n_jobs=1),
    }


def rows_of(place: str) -> list[dict[str, Any]]:
    world = data_world(place)
    problem, stream = world.problem, world.stream
    players: dict[str, Any] = {"Ensemble": (Ensemble(problem), stream)}
    for name, regressor in regressors().items():
        players[name] = Predictive(problem, from_sklearn(regressor)), stream
    players["SampleAverage"] = SampleAverage(problem), stream
    rows: list[dict[str, Any]] = series.rows_of(problem, players, STAGES)
    return rows


def main() -> None:
    found = {place: rows_of(place) for place in PLACES}
    versions = {name: version(name) for name in ("scikit-learn", "lightgbm")}
    results_file.write("sklearn_programs", {"peers": versions, "rows": found}, "benchmarks/peers")
    lines = [
        "# Regressors of scikit-learn under our program, beside the ensemble",
        "",
        f"{STAGES} stages of real data, one series, all learn from scratch; a regressor is a model",
        "by `from_sklearn` with its defaults. Differences are paired, in per cent of what the",
        "ensemble pays; intervals by a block bootstrap. Costs below zero are earned. When the",
        "ensemble's defaults were chosen, the pizzas were in view; the gasoline was held out.",
        f"scikit-learn {versions['scikit-learn']}, LightGBM {versions['lightgbm']}.",
        "`OMP_NUM_THREADS=1 python benchmarks/peers/sklearn_programs.py`",
    ]
    for place, rows in found.items():
        lines += series.lines_of(place, rows)
    results_file.write_markdown("sklearn_programs", lines)


if __name__ == "__main__":
    main()
