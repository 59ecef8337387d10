"""Choose among 12 projects whose profit and effort are both uncertain, with a chance of 0.9.

python examples/knapsack.py
"""

import numpy as np

from bocopt import Ensemble, Mixture, SampleAverage, backtest, binary, maximise, program


@program(xi=24, chance=0.9, infeasible_objective=0.0, take=binary(12))
def knapsack(xi, take):
    return maximise(xi[:12] @ take), xi[12:] @ take <= 30


def quarters(many, seed=0):
    """The state of the market, and what projects bring and take."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(many, 2))
    profit = np.maximum(
        0, [4, 5, 6] * 4 + x @ rng.normal(size=(2, 12)) + rng.normal(size=(many, 12))
    )
    effort = np.maximum(
        1, [3, 5, 7] * 4 + 0.5 * x @ rng.normal(size=(2, 12)) + 0.5 * rng.normal(size=(many, 12))
    )
    return x, np.concatenate([profit, effort], axis=1)


def main(many=80):
    x, xi = quarters(many)
    for policy in (Ensemble(knapsack, Mixture(dim_xi=24, scenarios=64)), SampleAverage(knapsack)):
        trace = backtest(policy, x, xi)
        earned, fits = -trace.cost[20:].mean(), trace.feasible[20:].mean()
        print(f"{type(policy).__name__:14} earns {earned:5.2f}, and {fits:.0%} of choices fit")


if __name__ == "__main__":
    main()
