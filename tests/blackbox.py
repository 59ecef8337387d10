"""A knapsack as a black box that solves one scenario at a time, and policies on it."""

from typing import Any

import numpy as np

from bocopt import (
    BGS,
    BMA,
    DFL,
    DecisionRegret,
    Dims,
    Gaussian,
    GibbsPosterior,
    Knapsack,
    Linear,
    PtO,
    SampleAverage,
    Status,
    from_callables,
)
from bocopt.core import Array, Policy, Problem

KNAPSACK = Knapsack(value=[12.0] * 2, capacity=[8.0], salvage=[3.0], upper=6, alpha=0.8)
X, ONE = np.zeros(1), np.ones(1)


def wrapped(**changes: Any) -> Problem:
    """The knapsack as a black box that solves one scenario at a time."""

    def solve(x: Array, xi: Array) -> Array | None:
        solution = KNAPSACK.solve(x, xi[None], ONE)
        return None if solution.status == Status.INFEASIBLE else solution.z

    functions = {"solve": solve, "cost": KNAPSACK.cost, "violation": KNAPSACK.violation}
    options = {"dims": Dims(1, 2, 2), "fallback": [0, 0], "alpha": 0.8, "sense": KNAPSACK.sense}
    return from_callables(**{**functions, **options, **changes})


def policies(problem: Problem) -> dict[str, Policy[Any]]:
    predictor = Linear(1, 2)
    prior = Gaussian([0.1, 0.1, 1.0, 1.0], sd=0.05)
    posterior = GibbsPosterior(
        prior=prior, loss=DecisionRegret(problem, predictor), lam=0.01, size=6
    )
    return {
        "BMA": BMA(problem, predictor, posterior),
        "BGS": BGS(problem, predictor, posterior),
        "DFL": DFL(problem=problem, predictor=predictor, prior=prior, perturbations=4, floor=0.1),
        "PtO": PtO(problem=problem, predictor=predictor, prior=prior),
        "SAA": SampleAverage(problem, first=[0, 0]),
    }
