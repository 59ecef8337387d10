"""Synthetic worlds that ask for more than a linear regression: nonlinear, skewed, drifting, wide.

Sizes were set so that the context matters to the decision, before policies were compared.
"""

from bocopt.core import Problem
from bocopt.problems import Knapsack, Newsvendor
from bocopt_studies.learning.laws import (
    Categories,
    ChangingCorrelation,
    FewFeatures,
    Multiplied,
    OwnPast,
    Process,
    RotatingLaw,
    Shown,
    Sine,
    TwoModes,
)
from bocopt_studies.learning.worlds import LearningWorld


def synthetic_worlds(horizon: int = 600) -> dict[str, LearningWorld]:
    """Return the nine worlds by name; `horizon` says how long drifts take."""
    return {
        "sine": _world(_knapsack(), Sine()),
        "categories": _world(_knapsack(), Categories()),
        "lognormal": _world(_newsvendor(), Multiplied(dim_xi=4)),
        "two modes": _world(_knapsack(), TwoModes()),
        "gradual drift": _world(_knapsack(), RotatingLaw(period=horizon)),
        "abrupt drift": _world(_knapsack(), RotatingLaw(period=horizon, abrupt=True)),
        "changing correlation": _world(_knapsack(), ChangingCorrelation()),
        "three of thirty features": _world(_knapsack(), FewFeatures()),
        "own past": _world(_newsvendor(), OwnPast(dim_xi=4)),
    }


def _world(problem: Problem, process: Process) -> LearningWorld:
    return LearningWorld(problem, Shown(process), process, knowing=process)


def _knapsack() -> Knapsack:
    """The paper's, with three items and two resources."""
    return Knapsack(value=[12] * 3, capacity=[8] * 2, salvage=[3] * 2, upper=100)


def _newsvendor() -> Newsvendor:
    """Four products in one lorry, which is a bit too small for all that is usually asked for."""
    return Newsvendor(
        unit_cost=[3, 4, 2, 5], price=[6, 9, 5, 9], salvage=1, volume=[1, 2, 1, 2], capacity=170
    )
