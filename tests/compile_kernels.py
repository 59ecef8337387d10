"""Solve something small by every search, so that their machine code is there."""

import numpy as np

from bocopt import Knapsack
from bocopt.problems.program import search
from bocopt.problems.program.form import Form, Judged, Rows, Task
from bocopt.problems.risk import Chance


def main() -> None:
    for readable in (False, True):
        problem = Knapsack(value=[12.0], capacity=[8.0], salvage=[3.0], readable_search=readable)
        for scenarios in (1, 2):
            w = np.full(scenarios, 1.0 / scenarios)
            problem.solve(np.zeros(0), np.ones((scenarios, 1)), w)
    search.solve(one_item())


def one_item() -> Task:
    """Take it as often as both scenarios allow."""
    one, free = np.ones(1), Rows(np.zeros((1, 0, 1)), np.zeros((1, 0)), np.zeros(0, bool))
    twice = Rows(np.ones((2, 1, 1)), np.full((2, 1), 2.0), np.zeros(1, bool))
    form = Form(0 * one, 3 * one, one == 1, 1, 1, 0 * one, -one[None], free, free, twice)
    return Task(
        form=form,
        w=np.full(2, 0.5),
        risk=Chance(0.9),
        otherwise=None,
        judge=lambda z: Judged(-z, z - 2.0, float(-z[0]), bool(z[0] <= 2.0)),
    )


if __name__ == "__main__":
    main()
