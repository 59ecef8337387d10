"""The Student law against SciPy and against its own draws."""

import numpy as np
import pytest
from scipy.stats import multivariate_t, spearmanr, t

from bocopt.models import Law
from bocopt.models.law import base_points

_CORRELATION = np.array([[1.0, 0.6, -0.2], [0.6, 1.0, 0.1], [-0.2, 0.1, 1.0]])
_LAW = Law(
    location=np.array([1.0, -2.0, 0.5]),
    scale=np.array([0.5, 2.0, 1.0]),
    factor=np.linalg.cholesky(_CORRELATION),
    df=np.array(5.0),
)


def test_the_density_is_scipys() -> None:
    shape = _CORRELATION * _LAW.scale[:, None] * _LAW.scale
    for xi in np.random.default_rng(0).normal(size=(5, 3)):
        exact = multivariate_t(_LAW.location, shape, df=5).logpdf(xi)
        assert _LAW.log_density(xi) == pytest.approx(exact)


def test_the_probability_of_a_smaller_outcome_is_scipys() -> None:
    xi = np.array([0.7, -1.0, 2.0])
    exact = t(df=5, loc=_LAW.location, scale=_LAW.scale).cdf(xi)
    assert _LAW.probability(xi) == pytest.approx(exact)


def test_scenarios_have_the_law() -> None:
    scenarios = _LAW.sample(*base_points(4096, 3))
    inside = _LAW.probability(scenarios)
    assert np.quantile(inside, [0.1, 0.5, 0.9], axis=0) == pytest.approx(
        np.repeat([[0.1], [0.5], [0.9]], 3, axis=1), abs=0.01
    )
    ranks = spearmanr(scenarios[:, 0], scenarios[:, 1]).statistic
    assert ranks == pytest.approx(0.58, abs=0.05)  # of a correlation of 0.6


def test_trials_are_independent_of_each_other() -> None:
    location, scale, factor = (np.stack([part, part]) for part in _LAW[:3])
    two = Law(location, scale, factor, np.array([5.0, 9.0]))
    base = base_points(64, 3)
    assert (two.sample(*base)[0] == _LAW.sample(*base)).all()
    assert (two.log_density(np.zeros(3))[0] == _LAW.log_density(np.zeros(3))).all()
