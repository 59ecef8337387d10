"""Solve one scenario and several by every search, so that their machine code is there."""

import numpy as np

from bocopt import Knapsack


def main() -> None:
    for readable in (False, True):
        problem = Knapsack(value=[12.0], capacity=[8.0], salvage=[3.0], readable_search=readable)
        for scenarios in (1, 2):
            w = np.full(scenarios, 1.0 / scenarios)
            problem.solve(np.zeros(0), np.ones((scenarios, 1)), w)


if __name__ == "__main__":
    main()
