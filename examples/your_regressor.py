"""A regressor of scikit-learn beside the library's own members: it gets weight where it is better.

Two products are ordered each morning, once where demand moves in steps, which the regressor knows
to look for, and once where it is a line. A forecaster that is no regression takes part as an arm.

    python examples/your_regressor.py        needs scikit-learn: pip install "bocopt[sklearn]"
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bocopt import Ensemble, Mixture, Replay, minimise, pos, program, real, run
from bocopt.models import default_members
from bocopt.policies import Predictive
from bocopt.trace import record

try:
    from sklearn.base import clone
    from sklearn.linear_model import RidgeCV
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Binarizer, PolynomialFeatures
except ImportError as error:
    raise SystemExit('This example needs scikit-learn: pip install "bocopt[sklearn]"') from error

regressor = make_pipeline(Binarizer(), PolynomialFeatures(3, interaction_only=True), RidgeCV())


@lru_cache(maxsize=4)
def trained(rows, x, xi):
    """The regressor, remembered by what it was trained on: fits are arrays, so that they last."""
    x, xi = (np.frombuffer(part).reshape(rows, -1) for part in (x, xi))
    return clone(regressor).fit(x, xi)


def as_given(regression, x):
    """Contexts as the stream gives them: how they are standardised changes from fit to fit."""
    return regression.centre + x * np.where(np.isinf(regression.width), 0.0, regression.width)


class ScikitLearn:
    """What the regressor says, with the spread of its errors in cross-validation; one stream."""

    least_discount = 0.99  # no discounted copy of it

    def init(self, lead, dim_x, dim_xi):
        """Contexts and outcomes it was trained on, the variance, and how often it was asked to."""
        nothing = np.zeros((*lead, 0, dim_x)), np.zeros((*lead, 0, dim_xi))
        return *nothing, np.ones((*lead, dim_xi)), np.zeros(lead)

    def refit(self, fit, past):
        asked = fit[3] + 1
        if asked % 10:  # a mixture asks when two per cent of the past are new: not every time
            return *fit[:3], asked
        x, guess = as_given(past.regression, past.x), past.regression.variance
        errors = past.xi - cross_val_predict(regressor, x, past.xi, cv=5)
        return x, past.xi.copy(), ((errors**2).sum(axis=0) + 2 * guess) / (len(x) + 2), asked

    def predict(self, fit, regression, x):
        seen, xi, variance, _ = fit
        if not seen.size:
            return regression.mean, np.sqrt(regression.variance), 60.0
        own = trained(len(seen), seen.tobytes(), xi.tobytes())
        return own.predict(as_given(regression, x)[None, :])[0], np.sqrt(variance), 60.0


class Latest(NamedTuple):
    outcomes: np.ndarray  # (kept, m) the newest first
    known: np.ndarray  # (kept) 1 for those that there are
    info: tuple = ()


class LatestOutcomes:
    """A model of your own: the last outcomes are the scenarios."""

    def __init__(self, dim_xi, kept=16):
        self.dim_xi, self.kept = dim_xi, kept

    def init(self, seeds):
        lead = (*seeds.shape, self.kept)
        return Latest(np.zeros((*lead, self.dim_xi)), np.zeros(lead))

    def step(self, state, t, x, xi):
        outcomes, known = np.roll(state.outcomes, 1, axis=-2), np.roll(state.known, 1, axis=-1)
        outcomes[..., 0, :], known[..., 0] = xi, 1
        return Latest(outcomes, known)

    def sample(self, state, x):
        return state.outcomes, state.known / state.known.sum(axis=-1, keepdims=True)


@program(xi=2, order=real(2, upper=200))
def newsvendor(xi, order):
    lost = pos(xi - order)
    return minimise(3 * order.sum() - 5 * (xi - lost).sum()), order.sum() <= 150


def mornings(mean, many, seed=0):
    """Four contexts, and demands around their mean."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (many, 4))
    return x, np.maximum(0, mean(x) + rng.normal(0, 5, (many, 2)))


def in_steps(x):
    return 60 + 20 * np.sign(x[:, :1] * x[:, 1:2] * x[:, 2:3]) * [1, -1]


def on_a_line(x):
    return 60 + 20 * x[:, :2]


def main(many=80):
    own = Mixture(dim_xi=2, scenarios=128)
    with_yours = Mixture(dim_xi=2, members=[*default_members(), ScikitLearn()], scenarios=128)
    yours = ["ScikitLearn" in name for name in with_yours.law_names]
    arm = Predictive(newsvendor, LatestOutcomes(dim_xi=2))
    for mean in (in_steps, on_a_line):
        x, demand = mornings(mean, many)
        costs = []
        for policy in (Ensemble(newsvendor, own), Ensemble(newsvendor, with_yours, arms=[arm])):
            stages = list(run(policy, Replay(x, demand), hindsight=False))
            costs.append(record(stages, newsvendor.sense).cost[many // 2 :].mean())
        weight, arms = stages[-1].info["weights"][yours].sum(), stages[-1].info["arm_weights"]
        name = mean.__name__.replace("_", " ")
        print(
            f"demand {name:9}: the regressor has {weight:3.0%} of the weight;"
            f" {-costs[1]:5.1f} earned a day, {-costs[0]:5.1f} without it;"
            f" your arm has {arms[-1]:.0%}"
        )


if __name__ == "__main__":
    main()
