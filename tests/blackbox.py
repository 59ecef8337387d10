"""A knapsack as a black box that solves one scenario at a time."""

from typing import Any

import numpy as np

from bocopt import Status, from_callables
from bocopt.core import Array, Dims, Problem
from bocopt.problems import Knapsack

KNAPSACK = Knapsack(value=[12.0] * 2, capacity=[8.0], salvage=[3.0], upper=6, alpha=0.8)
X, ONE = np.zeros(1), np.ones(1)


def wrapped(**changes: Any) -> Problem:
    """The knapsack as a black box that solves one scenario at a time."""

    def solve(x: Array, xi: Array) -> Array | None:
        solution = KNAPSACK.solve(xi[None], ONE, x)
        return None if solution.status == Status.INFEASIBLE else solution.z

    functions = {"solve": solve, "cost": KNAPSACK.cost, "violation": KNAPSACK.violation}
    options = {"dims": Dims(1, 2, 2), "fallback": [0, 0], "alpha": 0.8, "sense": KNAPSACK.sense}
    return from_callables(**{**functions, **options, **changes})
