"""What learns a batch at once: chains with and without a drift, and proximity to the least loss."""

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from laws import assert_pure_and_free_of_leading_axes, same
from posteriors import Quadratic, outcomes
from registry import INSTANCES, KNAPSACK, LINEAR, PARALLEL, STREAM, the

from bocopt.beliefs import (
    ApproximateBayes,
    Draws,
    MetropolisHastings,
    TowardsDecision,
    TowardsOutcome,
    average,
)
from bocopt.core import Array
from bocopt.paper import BMA, Gaussian, ResampleMove, SigmoidLinear

LAM, STAGES, TRIALS, DIM = 0.1, 50, 2, 3
SEEDS = np.arange(TRIALS)
PRECISION = 1 + LAM * STAGES


class Pull:
    """A multiple of the gradient of `Quadratic`."""

    def __init__(self, strength: float) -> None:
        self.strength = strength

    def gradient(self, theta: Array, x: Array, xi: Array) -> Array:
        return self.strength * (theta - xi)


def batch_of(dim: int) -> tuple[Array, Array]:
    xi = outcomes(STAGES, TRIALS, dim).swapaxes(0, 1)
    return np.zeros((TRIALS, STAGES, 1)), xi


def chain(dim: int = DIM, **options: Any) -> MetropolisHastings:
    given = {"prior": Gaussian.isotropic(dim), "loss": Quadratic(), "lam": LAM, "burn_in": 300}
    return MetropolisHastings(**{**given, "draws": 500, "chains": 16, **options})


def z_scores(draws: Draws, exact: Array) -> Array:
    found = average(draws, draws.theta)
    scores: Array = (found.mean - exact) / found.standard_error
    return scores


@pytest.mark.parametrize("drift", [None, Pull(1.0), Pull(0.4), Pull(1.8), Pull(-0.2)])
def test_any_drift_leaves_the_posterior_as_it_is(drift: Pull | None) -> None:
    """Towards it, too little, too much, or away from it: only the speed is another."""
    x, xi = batch_of(DIM)
    draws = chain(drift=drift).fit(SEEDS, x, xi)
    scores = z_scores(draws, LAM * xi.sum(axis=1) / PRECISION)
    assert np.abs(scores).max() < 4
    variance = draws.theta.var(axis=-2) * PRECISION
    assert abs(variance.mean() - 1) < 0.08
    assert (draws.info.acceptance > 0.15).all()


def test_a_good_drift_is_worth_many_draws() -> None:
    x, xi = batch_of(12)
    blind, driven = (
        average(draws, draws.theta).effective_size.mean()
        for draws in (chain(12, drift=drift).fit(SEEDS, x, xi) for drift in (None, Pull(1.0)))
    )
    assert driven > 3 * blind


class Absolute:
    """|theta - xi|: no gradient where it matters."""

    lower, dim_noise = 0.0, 0

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        loss: Array = np.abs(theta - xi).sum(axis=-1)
        return loss


def test_a_smooth_drift_finds_the_posterior_of_a_loss_that_is_not() -> None:
    x, xi = batch_of(1)
    draws = chain(1, loss=Absolute(), drift=Pull(0.5)).fit(SEEDS, x, xi)
    grid = np.linspace(-4.0, 4.0, 4001)
    energy = LAM * np.abs(grid - xi).sum(axis=1) + grid**2 / 2
    density = np.exp(energy.min(axis=-1, keepdims=True) - energy)
    density /= density.sum(axis=-1, keepdims=True)
    mean = (density * grid).sum(axis=-1)
    variance = (density * (grid - mean[:, None]) ** 2).sum(axis=-1)
    assert np.abs(z_scores(draws, mean[:, None])).max() < 4
    assert draws.theta.var(axis=-2)[:, 0] == pytest.approx(variance, rel=0.15)


def test_no_pull_is_no_drift() -> None:
    x, xi = batch_of(DIM)
    without, with_none = (chain(drift=d, burn_in=0, draws=40) for d in (None, Pull(0.0)))
    one, other = (sampler.fit(SEEDS, x, xi) for sampler in (without, with_none))
    assert one.theta == pytest.approx(other.theta, abs=1e-9)


def test_a_chain_may_start_at_a_belief() -> None:
    x, xi = batch_of(12)
    sampler = ResampleMove(prior=Gaussian.isotropic(12), loss=Quadratic(), lam=LAM, sweeps=10)
    belief = sampler.fit(SEEDS, x, xi)
    short = chain(12, burn_in=0, draws=1, chains=50)
    near, far = (short.fit(SEEDS, x, xi, start).total.mean() for start in (belief, None))
    assert near == pytest.approx(float((np.exp(belief.log_w) * belief.total).sum(-1).mean()), 0.03)
    assert far > 1.5 * near
    for wrong in (sampler.init(np.array(0)), chain_of_two()):
        with pytest.raises(ValueError, match=r"'start' parameter of MetropolisHastings\.fit must"):
            short.fit(SEEDS, x, xi, wrong)


def chain_of_two() -> Any:
    return ResampleMove(prior=Gaussian.isotropic(2), loss=Quadratic(), lam=LAM).init(SEEDS)


@pytest.mark.parametrize("name", ["ApproximateBayes", "MetropolisHastings, drifting"])
def test_a_trial_alone_learns_the_same(name: str) -> None:
    learner, seeds = INSTANCES[name], np.arange(3)
    x, xi = (np.stack(part, axis=1) for part in zip(*islice(STREAM.stages(seeds), 9), strict=True))
    together = learner.fit(seeds, x, xi)
    assert same(learner.fit(seeds, x, xi), together)
    for i in range(3):
        alone = learner.fit(seeds[i], x[i], xi[i])
        assert same(
            (alone[:-1], alone.info), [part[i] for part in (*together[:-1], *together.info)]
        )


def test_a_policy_decides_from_draws() -> None:
    learner = INSTANCES["MetropolisHastings"]
    x, xi = (np.stack(part) for part in zip(*islice(STREAM.stages(np.array(0)), 9), strict=True))
    draws = learner.fit(np.array(0), x, xi)
    found = BMA(KNAPSACK, LINEAR, INSTANCES["GibbsPosterior by LiuWest"]).decide(draws, 9, x[-1])
    scenarios = LINEAR.sample(draws.theta, x[-1], np.zeros(0))
    expected = KNAPSACK.solve(scenarios, np.full(len(scenarios), 1 / len(scenarios)), x[-1])
    assert found.solution.z.tolist() == expected.z.tolist()


def test_standard_errors_hold_about_as_often_as_they_say() -> None:
    x, xi = (part[0] for part in batch_of(12))
    sampler = chain(12, drift=Pull(1.0), draws=200, chains=8)
    scores = z_scores(sampler.fit(np.arange(10), x, xi), LAM * xi.sum(axis=0) / PRECISION)
    assert 0.9 < (np.abs(scores) < 2).mean() < 0.99
    assert 0.9 < scores.std() < 1.2


def near(dim: int = 2, **options: Any) -> ApproximateBayes:
    given = {"prior": Gaussian.isotropic(dim), "loss": Quadratic(), "tolerance": 20.0, "size": 1000}
    return ApproximateBayes(**{**given, **options})


def least_of(xi: Array) -> Array:
    least: Array = 0.5 * ((xi - xi.mean(axis=1, keepdims=True)) ** 2).sum(axis=(1, 2))
    return least


@pytest.mark.parametrize("tolerance", [4.0, 20.0, 60.0])
def test_proximity_is_the_prior_within_the_tolerance(tolerance: float) -> None:
    """And not the Gibbs posterior: moments of a normal cut off at a disc, on a grid."""
    x, xi = batch_of(2)
    draws = near(tolerance=tolerance).fit(SEEDS, x, xi, least_of(xi))
    centre, radius = xi.mean(axis=1), np.sqrt(2 * tolerance / STAGES)
    around = np.stack(np.meshgrid(*[np.linspace(-1, 1, 401)] * 2), axis=-1).reshape(-1, 2)
    points = centre[:, None] + radius * around[(around**2).sum(axis=-1) <= 1]
    density = np.exp(-0.5 * (points**2).sum(axis=-1))
    w = (density / density.sum(axis=-1, keepdims=True))[..., None]
    mean = (w * points).sum(axis=1)
    variance = (w * (points - mean[:, None]) ** 2).sum(axis=1)
    assert np.abs(z_scores(draws, mean)).max() < 4
    assert (draws.theta.var(axis=-2) / variance).mean() == pytest.approx(1.0, abs=0.05)


def test_proximity_to_what_was_found() -> None:
    x, xi = batch_of(2)
    draws = near(tolerance=0.01).fit(SEEDS, x, xi)
    assert (draws.total <= draws.total.min(axis=-1, keepdims=True) + 0.01).all()
    assert draws.total.min(axis=-1) == pytest.approx(least_of(xi), abs=1e-3)
    assert np.abs(draws.theta - xi.mean(axis=1)[:, None]).max() < 0.03


class Rounded(Quadratic):
    """The loss in steps: many parameters lose alike."""

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        return np.floor(super().__call__(theta, x, xi, u))


def test_proximity_where_many_lose_alike() -> None:
    x, xi = batch_of(2)
    draws = near(loss=Rounded(), tolerance=0.0).fit(SEEDS, x, xi)
    assert (draws.total == draws.total.min(axis=-1, keepdims=True)).all()
    assert np.isfinite(draws.theta).all()


def test_proximity_that_cannot_be_had_is_an_error() -> None:
    x, xi = batch_of(2)
    with pytest.raises(RuntimeError, match="Give it a larger tolerance or more rounds"):
        near(tolerance=1.0, rounds=30).fit(SEEDS, x, xi, least=np.zeros(TRIALS))


def test_a_drift_is_the_gradient_of_its_loss() -> None:
    rng, predictor, h = np.random.default_rng(0), SigmoidLinear(3, 2), 1e-6
    theta, x, xi = rng.normal(size=8), rng.normal(size=3), rng.random(2)
    found = TowardsOutcome(predictor, strength=3.0).gradient(theta, x, xi)

    def loss(at: Array) -> float:
        return float(1.5 * ((predictor.sample(at, x, np.empty(0)) - xi) ** 2).sum())

    slopes = [(loss(theta + h * e) - loss(theta - h * e)) / (2 * h) for e in np.eye(8)]
    assert found == pytest.approx(slopes, abs=1e-6)


def test_the_drift_of_decisions_is_that_of_spo_plus() -> None:
    rng = np.random.default_rng(1)
    theta, x, xi = rng.normal(size=LINEAR.dim), rng.normal(size=3), rng.random(2)
    policy = the.SPOPlus(problem=PARALLEL, predictor=LINEAR, prior=Gaussian.isotropic(LINEAR.dim))
    predicted = LINEAR.sample(theta, x, np.empty(0))
    expected = LINEAR.pullback(theta, x, policy.gradient(np.array(0), 0, x, predicted, xi))
    found = TowardsDecision(PARALLEL, LINEAR, strength=0.5).gradient(theta, x, xi)
    assert found.tolist() == (0.5 * expected).tolist()
    assert expected.any()
    with pytest.raises(
        ValueError, match="'problem' parameter of TowardsDecision must be one whose"
    ):
        TowardsDecision(KNAPSACK_OF_ONE, LINEAR)


KNAPSACK_OF_ONE = replace(KNAPSACK, capacity=[8.0, 8.0], salvage=[3.0, 3.0])


@pytest.mark.parametrize("name", ["TowardsOutcome", "TowardsDecision"])
def test_drifts_are_free_of_leading_axes(name: str) -> None:
    rng = np.random.default_rng(2)
    given = rng.normal(size=(5, LINEAR.dim)), rng.normal(size=(5, 3)), rng.random((5, 2))
    assert_pure_and_free_of_leading_axes(INSTANCES[name].gradient, *given)


def test_one_batch_of_draws_says_nothing_of_its_error() -> None:
    x, xi = batch_of(DIM)
    draws = chain(chains=1, draws=1, burn_in=0).fit(SEEDS, x, xi)
    assert np.isnan(average(draws, draws.theta).standard_error).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": 0}, "'draws' parameter of MetropolisHastings must be an integer"),
        ({"lam": 0.0}, "'lam' parameter of MetropolisHastings must be a number"),
        ({"drift": 3}, "'drift' parameter of MetropolisHastings must be a Drift"),
    ],
)
def test_a_chain_refuses_what_it_cannot_use(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        chain(**options)


def test_a_drift_needs_a_prior_with_a_slope() -> None:
    class Log(Gaussian):
        pass

    class Other:
        dim = 3
        sample = log_density = staticmethod(np.exp)

    assert chain(prior=Log.isotropic(3), drift=Pull(1.0))
    with pytest.raises(ValueError, match="must be a Gaussian"):
        chain(prior=Other(), drift=Pull(1.0))
