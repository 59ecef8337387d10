"""A stream that is one of a fleet: the exact posterior, and a fleet whose law is known."""

import numpy as np
from scipy.stats import multivariate_t, norm
from scipy.stats import t as student

from bocopt.core import Array
from bocopt.models.fleet import fleet_prior_of
from bocopt.models.hierarchical import FleetPrior, initial, predict, update, weakened
from bocopt.models.scale import Plain
from bocopt.problems import Newsvendor

RNG = np.random.default_rng(0)


def _prior(covariance: Array) -> FleetPrior:
    """One component, one context, as they are."""
    return FleetPrior(
        params=(),
        centre=np.zeros(1),
        width=np.ones(1),
        middle=np.zeros(1),
        unit=np.ones(1),
        mean=np.array([[2.0, -1.0]]),
        covariance=covariance[None],
        shape=np.array([3.0]),
        rate=np.array([2.0]),
        correlation=np.eye(1),
    )


FLEET = _prior(np.array([[1.0, 0.3], [0.3, 0.5]]))


def test_predictions_multiply_to_the_exact_likelihood() -> None:
    """Under the belief, all outcomes together are a multivariate t: nothing is lost on the way."""
    x = RNG.normal(size=(12, 1))
    y = 2.0 - x + RNG.normal(size=(12, 1))
    posterior, score = initial(FLEET, ()), 0.0
    for row, outcome in zip(x, y, strict=True):
        phi = FLEET.regressors(Plain(), row)
        expected = predict(FLEET, posterior, phi)
        score += float(
            student.logpdf(outcome[0], expected.df, expected.location[0], expected.scale[0])
        )
        posterior = update(FLEET, posterior, phi, outcome)
    design = np.column_stack([np.ones(12), x])
    together = np.eye(12) + design @ FLEET.covariance[0] @ design.T
    exact = multivariate_t(design @ FLEET.mean[0], 2.0 / 3.0 * together, df=6)
    assert np.isclose(score, exact.logpdf(y[:, 0]), rtol=1e-10)


def test_the_law_of_laws_is_found() -> None:
    """From 400 streams whose coefficients and noise were drawn from it."""
    streams = []
    for _ in range(400):
        v = 1.0 / RNG.gamma(5.0, 1.0 / 4.0)
        beta = RNG.multivariate_normal([10.0, -2.0], v * np.array([[2.0, 0.5], [0.5, 1.0]]))
        x = RNG.normal(size=(25, 1))
        streams.append((x, beta[0] + beta[1] * x + np.sqrt(v) * RNG.normal(size=(25, 1))))
    found = fleet_prior_of(Plain(), streams)
    to_x = np.array([[1.0, -found.centre[0] / found.width[0]], [0.0, 1.0 / found.width[0]]])
    mean = found.unit[0] * to_x @ found.mean[0] + [found.middle[0], 0.0]
    assert np.allclose(mean, [10.0, -2.0], atol=0.2)
    assert np.allclose(
        to_x @ found.covariance[0] @ to_x.T, [[2.0, 0.5], [0.5, 1.0]], rtol=0.2, atol=0.1
    )
    assert 3.5 < found.shape[0] < 7.0
    precision = found.shape / found.rate / found.unit**2
    assert np.isclose(precision[0], 5.0 / 4.0, rtol=0.1)


def test_identical_streams_leave_nothing_to_learn() -> None:
    """Of N(30, 4^2) a newsvendor knows the optimum; the first decision is all but that good."""
    streams = [(np.empty((100, 0)), RNG.normal(30.0, 4.0, (100, 1))) for _ in range(20)]
    fleet = fleet_prior_of(Plain(), streams)
    first = predict(fleet, initial(fleet, ()), np.ones(1))
    location = fleet.inverse(Plain(), first.location)[0]
    scale = (first.scale * fleet.unit)[0]
    assert abs(location - 30.0) < 0.4  # four standard errors of 2000 outcomes
    assert np.isclose(scale, 4.0, rtol=0.1)
    problem = Newsvendor(unit_cost=[1.0], price=[3.0])
    truth = norm.ppf((np.arange(4000) + 0.5) / 4000, 30.0, 4.0)[:, None]
    w = np.full(4000, 1 / 4000)
    best = -float(problem.solve(truth, w, np.zeros(0)).value)
    z = np.array([student.ppf(2 / 3, first.df, location, scale)])
    assert -float(problem.cost(np.zeros(0), z, truth) @ w) > 0.999 * best


def test_unrelated_streams_leave_all_to_learn() -> None:
    """Levels a hundred noises apart: one outcome says more than the fleet."""
    streams = [(np.empty((50, 0)), RNG.normal(m, 1.0, (50, 1))) for m in RNG.normal(0, 100, 10)]
    fleet = fleet_prior_of(Plain(), streams)
    posterior = update(
        fleet, initial(fleet, ()), np.ones(1), fleet.outcome(Plain(), np.array([55.0]))
    )
    location = fleet.inverse(Plain(), predict(fleet, posterior, np.ones(1)).location)
    assert abs(location[0] - 55.0) < 0.1


def test_far_kin_are_surer_of_nothing() -> None:
    far = weakened(FLEET)
    for x in (-2.0, 0.0, 1.5):
        near, wide = (
            predict(h, initial(h, ()), h.regressors(Plain(), np.array([x]))) for h in (FLEET, far)
        )
        assert (wide.scale > near.scale).all()
        assert wide.df < near.df
    assert far.mean[0, 1] == 0.0
    assert far.mean[0, 0] == FLEET.mean[0, 0]


def test_one_wild_outcome_says_no_more_than_a_far_one() -> None:
    phi, posterior = np.array([1.0, 0.5]), initial(FLEET, ())
    wild, far = (update(FLEET, posterior, phi, np.array([y])) for y in (1e9, 1e6))
    assert all((a == b).all() for a, b in zip(wild, far, strict=True))
