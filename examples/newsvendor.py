"""Order five products each morning, before the demand of the day is known.

Ten lines declare the program; the ensemble learns the demand from the context (weekday and
temperature). Beside it: ordering for the average of all past days.

    python examples/newsvendor.py
"""

import numpy as np

from bocopt import Ensemble, Mixture, SampleAverage, backtest, minimise, pos, program, real

cost = np.array([3.0, 2.0, 5.0, 4.0, 1.0])
price = np.array([5.0, 4.0, 9.0, 6.0, 3.0])
volume = np.array([1.0, 1.0, 2.0, 1.5, 0.5])


@program(xi=5, order=real(5, upper=200))
def newsvendor(xi, order):
    lost = pos(xi - order)
    return minimise(cost @ order - price @ (xi - lost)), volume @ order <= 300


def days(many, seed=0):
    """Contexts (weekend, temperature) and demands."""
    rng = np.random.default_rng(seed)
    x = np.stack([np.arange(many) % 7 >= 5, rng.uniform(-1, 1, many)], axis=1).astype(float)
    mean = [60, 50, 40, 30, 80] + x @ np.array([[30, 0, 20, -10, 40], [10, 25, -10, 0, 5.0]])
    return x, rng.gamma(16, mean / 16)


def main(many=120):
    x, demand = days(many)
    for policy in (
        Ensemble(newsvendor, Mixture(dim_xi=5, scenarios=128)),
        SampleAverage(newsvendor),
    ):
        trace = backtest(policy, x, demand)
        earned, best = -trace.cost[20:].mean(), -trace.hindsight[20:].mean()
        print(f"{type(policy).__name__:14} earns {earned:6.1f} a day; in hindsight {best:6.1f}")


if __name__ == "__main__":
    main()
