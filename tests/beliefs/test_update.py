"""Gibbs weights and effective sample size."""

import numpy as np
import pytest

from bocopt.beliefs.update import gibbs_update
from bocopt.numeric.weights import effective_size, uniform


def test_update_is_the_normalised_product() -> None:
    rng = np.random.default_rng(0)
    w, loss = rng.dirichlet(np.ones(7), 5), rng.uniform(0, 30, (5, 7))
    update = gibbs_update(np.log(w), loss, lam=0.1)
    product = w * np.exp(-0.1 * loss)
    assert np.exp(update.log_w) == pytest.approx(product / product.sum(axis=-1, keepdims=True))
    assert update.losses.mean_loss == pytest.approx((w * loss).sum(axis=-1))
    assert update.losses.mix_loss == pytest.approx(-10 * np.log(product.sum(axis=-1)))
    assert (update.losses.mix_loss <= update.losses.mean_loss).all()  # Jensen


def test_losses_that_underflow_keep_their_order() -> None:
    update = gibbs_update(uniform((), 3), np.array([1e6, 1e6 + 1, 2e6]), lam=1.0)
    assert np.exp(update.log_w) == pytest.approx([1 / (1 + np.exp(-1)), 1 / (1 + np.e), 0])
    assert np.isfinite(update.log_w).all()


def test_many_updates_equal_one_with_the_sum() -> None:
    losses = np.random.default_rng(1).uniform(0, 50, (100, 9))
    log_w = uniform((), 9)
    for loss in losses:
        log_w = gibbs_update(log_w, loss, lam=1e-2).log_w
    assert log_w == pytest.approx(gibbs_update(uniform((), 9), losses.sum(axis=0), 1e-2).log_w)


def test_effective_size_between_one_and_all() -> None:
    for size in range(1, 50):
        assert effective_size(uniform((), size)) <= size
    assert effective_size(uniform((3,), 8)) == pytest.approx([8, 8, 8])
    assert effective_size(gibbs_update(uniform((), 8), 1e5 * np.arange(8.0), 1.0).log_w) == 1
