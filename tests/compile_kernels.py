"""Use every kernel once, so that their machine code is there.

python tests/compile_kernels.py knapsack|others
"""

import sys
from importlib import import_module
from typing import Any

import numpy as np

from bocopt import Mixture, integer, maximise, program
from bocopt.core import Problem, knows_differences
from bocopt.models import AcrossSeries, Forest
from bocopt.problems import BinaryKnapsack, Knapsack, Newsvendor, grid


@program(xi=1, chance=0.9, take=integer(1, upper=3))
def search(xi: Any, take: Any) -> Any:
    return maximise(take[0]), xi[0] * take[0] <= 2


PARTS: dict[str, list[Problem]] = {
    "knapsack": [
        Knapsack(value=[12.0], capacity=[8.0], salvage=[3.0]),
        Knapsack(value=[12.0], capacity=[8.0], salvage=[3.0], readable_search=True),
        Knapsack(value=[12.0], capacity=[8.0], salvage=[3.0], pays_worst_feasible=True),
    ],
    "others": [
        Newsvendor(unit_cost=[1.0], price=2.0),
        grid(2, 2),
        BinaryKnapsack(items=1, capacity=1.0),
        search,
    ],
}


def main() -> None:
    for problem in PARTS[sys.argv[1]]:
        for many in (1, 2):
            scenarios = np.linspace(1, 2, many)[:, None] * np.ones(problem.dims.xi)
            z = problem.solve(scenarios, np.full(many, 1 / many), np.zeros(0)).z
            problem.cost(np.zeros(0), np.full(problem.dims.z, 99.0), scenarios)
            if knows_differences(problem):
                problem.range_of_difference(np.zeros(0), z, z)
    if sys.argv[1] == "others":
        mixture = Mixture(dim_xi=1, members=[Forest(trees=1)], scenarios=2)
        known = mixture.step(mixture.init(np.array(0)), 1, np.zeros(1), np.ones(1))
        mixture.sample(known, np.zeros(1))
        across = AcrossSeries(trees=1)
        state = across.init(np.array(0))
        rows = np.ones((1, 3))
        state = across.refit(across.learn(state, np.array([0]), rows, np.ones(1)))
        across.quantiles(state, rows)
        import_module("bocopt.models.kernels.light.learning")
        import_module("bocopt.models.kernels.light.sampling")
        import_module("bocopt.guarantees.kernels.bets")
        import_module("bocopt.guarantees.kernels.folds")
        import_module("bocopt.guarantees.kernels.ranks")


if __name__ == "__main__":
    main()
