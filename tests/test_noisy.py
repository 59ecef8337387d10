"""Predictors that carry noise, and the losses that judge a whole law."""

from typing import Any

import numpy as np
import pytest
from registry import of_kind
from scipy.stats import norm, t

from bocopt.core import Density
from bocopt.losses import EnergyScore, LogScore, PinballScore, ScenarioRegret
from bocopt.paper import Gaussian, ResampleMove
from bocopt.predictors import Linear, LogScale, NoisyLinear, RandomSlopes, WithResiduals
from bocopt.problems import Knapsack
from bocopt.problems.hindsight import regret

RNG = np.random.default_rng(0)
PROBLEM = Knapsack(value=[12] * 2, capacity=[8], salvage=[3])
#: Those whose law has a density.
PREDICTORS = {n: p for n, p in of_kind("predictor").items() if hasattr(p, "log_density")}


@pytest.mark.parametrize("predictor", PREDICTORS.values(), ids=PREDICTORS)
def test_density_and_draws_agree(predictor: Any) -> None:
    theta, x = 0.3 * RNG.normal(size=predictor.dim), np.array([1.5, -0.5, 0.2])
    location, scale = predictor.location_scale(theta, x)
    law = norm(location, scale) if predictor.df is None else t(predictor.df, location, scale)
    xi = RNG.normal(size=2)
    assert predictor.log_density(theta, x, xi) == pytest.approx(law.logpdf(xi).sum())
    u = RNG.normal(size=(4000, 2))
    inside = law.cdf(predictor.sample(theta, x, u))
    assert inside == pytest.approx(norm.cdf(u), rel=1e-9)  # the noise is normal, the draw its law's


@pytest.mark.parametrize("predictor", PREDICTORS.values(), ids=PREDICTORS)
def test_it_can_be_told_what_to_predict(predictor: Any) -> None:
    x = np.array([3.0, -2.0, 1.0])
    for xi, spread in (([2.0, -1.0], [0.6, 0.3]), ([0.0, -1.0], [None, 0.3])):
        location, scale = predictor.location_scale(predictor.constant(np.array(xi)), x)
        assert location == pytest.approx(xi)
        known = [i for i, expected in enumerate(spread) if expected is not None]
        assert scale[known] == pytest.approx([spread[i] for i in known], rel=1e-3)


def test_random_slopes_have_the_variance_of_random_coefficients() -> None:
    predictor, x = RandomSlopes(2, 1), np.array([2.0, -3.0])
    sd = np.array([0.1, 0.5, 0.2])
    theta = np.concatenate([[1.0, 1.0, 0.0], np.log(sd)])
    b = np.array([0.0, 1.0, 1.0]) + sd * RNG.normal(size=(100_000, 3))
    drawn = b @ np.array([1.0, *x])
    location, scale = predictor.location_scale(theta, x)
    assert location == pytest.approx(drawn.mean(), abs=0.02)
    assert scale == pytest.approx(drawn.std(), rel=0.01)


def test_residuals_are_drawn_evenly() -> None:
    predictor = WithResiduals(Linear(1, 2), [[0.0, 1.0], [5.0, 5.0], [7.0, 7.0]])
    theta = np.zeros(predictor.dim)
    drawn = predictor.sample(theta, np.zeros(1), RNG.normal(size=(3000, 1)))
    assert sorted({float(d) for d in drawn[:, 0]}) == [0.0, 5.0, 7.0]
    assert (drawn[:, 0] == 5.0).mean() == pytest.approx(1 / 3, abs=0.03)


def test_the_log_score_is_minus_the_density() -> None:
    predictor: Density = NoisyLinear(2, 3)
    theta, x, xi = np.zeros(predictor.dim), np.ones(2), np.ones(3)
    loss = LogScore(predictor)(theta, x, xi, np.empty(0))
    assert loss == pytest.approx(-norm.logpdf(xi).sum())


def test_the_energy_score_by_hand() -> None:
    """Two draws, at 0 and 4, which are 4 apart; the outcome is 1: (1 + 3) / 2 - 4 / 2."""
    predictor = WithResiduals(Linear(1, 1), [[0.0], [4.0]])
    loss = EnergyScore(predictor, draws=2)
    found = loss(np.zeros(2), np.zeros(1), np.array([1.0]), np.array([-1.0, 1.0]))
    assert found == pytest.approx(2.0 - 2.0)


def test_the_pinball_score_by_hand() -> None:
    predictor = WithResiduals(Linear(1, 1), [[0.0], [4.0]])
    loss = PinballScore(predictor, draws=2, levels=[0.5, 0.75])
    found = loss(np.zeros(2), np.zeros(1), np.array([1.0]), np.array([-1.0, 1.0]))
    assert found == pytest.approx(0.5 * 1.0 + 0.25 * 2.0)  # quantiles 2 and 3, both above


def test_a_law_of_one_point_has_the_regret_of_its_prediction() -> None:
    loss = ScenarioRegret(Linear(1, 2), PROBLEM, draws=3)
    theta, x, xi = np.array([0.1, 0.2, 1.0, 1.5]), np.ones(1), np.array([1.2, 1.4])
    predicted = Linear(1, 2).sample(theta, x, np.empty(0))
    assert loss(theta, x, xi, np.empty(0)) == regret(PROBLEM, x, predicted, xi)


def test_each_law_decides_under_all_its_draws() -> None:
    predictor = NoisyLinear(1, 2)
    loss = ScenarioRegret(predictor, PROBLEM, draws=30)
    theta, x, xi = np.array([0.0, 0.0, 1.0, 1.0, -1.0, -1.0]), np.ones(1), np.array([1.2, 1.4])
    u = RNG.normal(size=60)
    scenarios = predictor.sample(theta, x, u.reshape(30, 2))
    z = PROBLEM.solve(scenarios, np.full(30, 1 / 30), x).z
    best = PROBLEM.cost(x, PROBLEM.solve(xi[None], np.ones(1), x).z, xi)
    assert loss(theta, x, xi, u) == PROBLEM.cost(x, z, xi) - best
    assert (z != PROBLEM.solve(scenarios[:1], np.ones(1), x).z).any()


@pytest.mark.parametrize("score", [EnergyScore, PinballScore, LogScore])
def test_scores_are_least_for_the_true_law(score: Any) -> None:
    predictor, x = NoisyLinear(1, 1), np.zeros((2000, 1))
    options = {} if score is LogScore else {"draws": 20 if score is EnergyScore else 100}
    loss = score(predictor, **options)
    xi = 2.0 + 0.5 * RNG.normal(size=(2000, 1))
    u = RNG.normal(size=(2000, loss.dim_noise))
    means = {
        name: loss(np.array([0.0, location, np.log(scale)]), x, xi, u).mean()
        for name, location, scale in (
            ("true", 2.0, 0.5),
            ("shifted", 2.5, 0.5),
            ("wide", 2.0, 0.6),
            ("narrow", 2.0, 0.4),
        )
    }
    assert min(means, key=lambda name: means[name]) == "true"


def test_the_log_score_finds_the_noise() -> None:
    """Bayes' posterior of location and scale, from a batch."""
    predictor = NoisyLinear(1, 1)
    xi = 3.0 + 0.5 * np.random.default_rng(1).normal(size=(200, 1))
    prior = Gaussian(mean=[0.0, 2.0, 0.0], sd=[1.0, 2.0, 1.0])
    sampler = ResampleMove(prior=prior, loss=LogScore(predictor), lam=1.0, size=400, sweeps=10)
    belief = sampler.fit(np.array(0), np.zeros((200, 1)), xi)
    w = np.exp(belief.log_w)
    assert (w * belief.theta[:, 1]).sum() == pytest.approx(xi.mean(), abs=0.05)
    assert (w * np.exp(belief.theta[:, 2])).sum() == pytest.approx(xi.std(), rel=0.1)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: NoisyLinear(0, 1), "'dim_x'"),
        (lambda: NoisyLinear(1, 1, df=0.0), "'df'"),
        (lambda: WithResiduals(Linear(1, 1), np.zeros((0, 1))), "'residuals'"),
        (lambda: EnergyScore(Linear(1, 1), draws=1), "'draws'"),
        (lambda: PinballScore(Linear(1, 1), levels=[1.0]), "'levels'"),
        (lambda: LogScale(2, 1).sample(np.zeros(3), np.zeros(2), np.zeros(1)), "'theta'"),
    ],
)
def test_bad_settings_are_named(build: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()
