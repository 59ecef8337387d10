"""Decision rules against direct computation from the particles."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from bocopt.checks import check_policy
from bocopt.core import Array, Status
from bocopt.numeric.weights import normalised
from bocopt.paper import (
    DecisionRegret,
    Gaussian,
    GibbsPosterior,
    MeanPrediction,
    MostProbable,
    PaperStream,
    ResampleMove,
    SigmoidLinear,
    Vote,
)
from bocopt.problems import Knapsack

PROBLEM = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3)
PREDICTOR = SigmoidLinear(3, 12)
OPTIONS: dict[str, Any] = {
    "prior": Gaussian.isotropic(48, 0.3),
    "loss": DecisionRegret(PROBLEM, PREDICTOR),
    "lam": 1e-2,
    "size": 30,
}
X, SEEDS = np.array([[0.5, -1.0, 0.3], [2.0, 1.0, -0.5]]), np.array([4, 5])


def belief() -> Any:
    sampler = ResampleMove(**OPTIONS)
    state = sampler.init(SEEDS)
    for t, (x, xi) in zip(range(12), PaperStream().stages(SEEDS), strict=False):
        state = sampler.step(state, t, x, xi)
    return state


def uneven() -> Any:
    """The same with weights of which a few have the most."""
    state = belief()
    return state._replace(log_w=normalised(2 * np.random.default_rng(0).normal(size=(2, 30))))


def alone(theta: Array, x: Array) -> Array:
    predicted = PREDICTOR.sample(theta, x, np.empty(0))
    return PROBLEM.solve(predicted[None], np.ones(1), x).z


@pytest.mark.parametrize("rule", [MostProbable, MeanPrediction, Vote])
@pytest.mark.parametrize("sampler", [ResampleMove(**OPTIONS), GibbsPosterior(**OPTIONS)])
def test_rules_keep_the_laws_of_policies(rule: Any, sampler: Any) -> None:
    check_policy(rule(PROBLEM, PREDICTOR, sampler), PaperStream(), horizon=12)


def test_the_most_probable_particle_has_the_highest_density() -> None:
    state = belief()
    z = MostProbable(PROBLEM, PREDICTOR, ResampleMove(**OPTIONS)).decide(state, 12, X).solution.z
    for trial in range(2):
        density = [
            -0.5 * (u**2).sum() - 1e-2 * total
            for u, total in zip(state.u[trial], state.total[trial], strict=True)
        ]
        best = int(np.argmax(density))
        assert (z[trial] == alone(state.theta[trial, best], X[trial])).all()


def test_the_mean_prediction_is_weighted() -> None:
    state = uneven()
    z = MeanPrediction(PROBLEM, PREDICTOR, ResampleMove(**OPTIONS)).decide(state, 12, X).solution.z
    for trial in range(2):
        w = np.exp(state.log_w[trial])
        mean = w @ PREDICTOR.sample(state.theta[trial], X[trial], np.empty(0))
        assert (z[trial] == PROBLEM.solve(mean[None], np.ones(1), X[trial]).z).all()


def test_the_vote_is_won_by_weight() -> None:
    state = uneven()
    decision = Vote(PROBLEM, PREDICTOR, ResampleMove(**OPTIONS)).decide(state, 12, X).solution
    for trial in range(2):
        votes: defaultdict[tuple[float, ...], float] = defaultdict(float)
        for theta, log_w in zip(state.theta[trial], state.log_w[trial], strict=True):
            votes[tuple(alone(theta, X[trial]))] += float(np.exp(log_w))
        most = max(votes.values())
        winner = min(z for z, weight in votes.items() if weight > most - 1e-12)
        assert tuple(decision.z[trial]) == winner
        predicted = PREDICTOR.sample(state.theta[trial], X[trial], np.empty(0))
        cost = PROBLEM.cost(X[trial], decision.z[trial], predicted)
        assert decision.value[trial] == pytest.approx((np.exp(state.log_w[trial]) * cost).sum())
    assert (decision.status == Status.POOL).all()
