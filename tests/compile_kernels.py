"""Solve one scenario and several by every search, so that their machine code is there."""

import numpy as np

from bocopt import Knapsack
from bocopt.core import Problem
from bocopt.problems.binary_knapsack import BinaryKnapsack
from bocopt.problems.newsvendor import Newsvendor
from bocopt.problems.paths import grid


def main() -> None:
    others: list[Problem] = [
        Newsvendor(unit_cost=[1.0], price=2.0),
        grid(2, 2),
        BinaryKnapsack(items=1, capacity=1.0),
    ]
    for other in others:
        other.solve(np.zeros(0), np.ones((1, other.dims.xi)), np.ones(1))
    for readable in (False, True):
        problem = Knapsack(value=[12.0], capacity=[8.0], salvage=[3.0], readable_search=readable)
        for scenarios in (1, 2):
            w = np.full(scenarios, 1.0 / scenarios)
            problem.solve(np.zeros(0), np.ones((scenarios, 1)), w)


if __name__ == "__main__":
    main()
