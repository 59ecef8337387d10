"""Priors."""

import numpy as np
import pytest
from scipy.stats import norm

from bocopt.paper import Gaussian


def test_density_and_samples_of_a_diagonal_gaussian() -> None:
    prior = Gaussian(mean=[1.0, -2.0], sd=[0.5, 3.0])
    theta = prior.sample(np.random.default_rng(0).normal(size=(20_000, 2)))
    assert theta.mean(axis=0) == pytest.approx([1.0, -2.0], abs=0.1)
    assert theta.std(axis=0) == pytest.approx([0.5, 3.0], rel=0.05)
    expected = np.asarray(norm.logpdf(theta, [1.0, -2.0], [0.5, 3.0])).sum(axis=-1)
    assert prior.log_density(theta) == pytest.approx(expected)


def test_isotropic() -> None:
    assert Gaussian.isotropic(3, 0.15) == Gaussian(mean=[0, 0, 0], sd=[0.15, 0.15, 0.15])
