"""A forest of scikit-learn and a regression of river, each as the model under one program.

Two products are ordered each morning. The forest is fitted to the past on a schedule; the
regression learns outcome by outcome. What each of them missed so far is the noise of its scenarios.

    python examples/their_forecasters.py        needs: pip install scikit-learn river
"""

import numpy as np

from bocopt import backtest, minimise, pos, program, real
from bocopt.interop import from_river, from_sklearn
from bocopt.policies import Predictive

try:
    from river.linear_model import BayesianLinearRegression
    from sklearn.ensemble import RandomForestRegressor
except ImportError as error:
    raise SystemExit("This example needs: pip install scikit-learn river") from error

forest = RandomForestRegressor(n_estimators=50, min_samples_leaf=3)
regression = BayesianLinearRegression()


@program(xi=2, order=real(2, upper=200))
def newsvendor(xi, order):
    lost = pos(xi - order)
    return minimise(3 * order.sum() - 5 * (xi - lost).sum()), order.sum() <= 150


def mornings(many, seed=0):
    """A constant, the temperature and whether there is a market; and demands that depend on it."""
    rng = np.random.default_rng(seed)
    warm, market = rng.uniform(-1, 1, many), rng.integers(0, 2, many)
    mean = np.stack([40 + 20 * warm * market, 60 - 25 * np.abs(warm)], axis=1)
    x = np.stack([np.ones(many), warm, market], axis=1)
    return x, np.maximum(0, mean + rng.normal(0, 3, (many, 2)))


def main(many=200):
    x, demand = mornings(many)
    for name, model in (
        ("forest, fitted on a schedule", from_sklearn(forest)),
        ("regression, learning online", from_river(regression)),
    ):
        policy = Predictive(newsvendor, model)
        trace = backtest(policy, x, demand)
        earned, best = -trace.cost[10:].mean(), -trace.hindsight[10:].mean()
        print(f"{name:29} earns {earned:5.1f} a day; in hindsight {best:5.1f}")


if __name__ == "__main__":
    main()
