"""A posterior that is known exactly: quadratic loss and Gaussian prior."""

from typing import Any

import numpy as np

from bocopt import Gaussian, ResampleMove
from bocopt.core import Array
from bocopt.smc import Belief


class Quadratic:
    """|theta - xi|^2 / 2: the posterior is N(lam sum xi / n, I / n) with n = 1 + lam t."""

    lower, dim_noise = 0.0, 0

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        loss: Array = 0.5 * ((theta - xi) ** 2).sum(axis=-1)
        return loss


def outcomes(stages: int, trials: int, dim: int) -> Array:
    return np.random.default_rng(0).normal(0.5, 1.0, (stages, trials, dim))


def learned(xi: Array, **options: Any) -> Belief:
    """The belief after all stages (T, trials, p)."""
    _, trials, dim = xi.shape
    sampler = ResampleMove(**{"prior": Gaussian.isotropic(dim), "loss": Quadratic(), **options})
    belief = sampler.init(np.arange(trials))
    for t, y in enumerate(xi):
        belief = sampler.step(belief, t, np.zeros((trials, 1)), y)
    return belief


def moments(belief: Belief) -> tuple[Array, Array]:
    """(p) mean and variance of the particles."""
    w = np.exp(belief.log_w)[..., None]
    mean = (w * belief.theta).sum(axis=-2)
    return mean, (w * (belief.theta - mean[..., None, :]) ** 2).sum(axis=-2)


def errors(belief: Belief, xi: Array, counts: Array) -> tuple[float, float]:
    """Root mean square error of the mean in posterior sd, and variance found / exact.

    counts (T) or (T, 1, 1): lam times the weight with which each stage counts.
    """
    counts = np.broadcast_to(np.reshape(counts, (-1, 1, 1)), (len(xi), 1, 1))
    precision = 1 + counts.sum()
    mean, variance = moments(belief)
    error = (mean - (counts * xi).sum(axis=0) / precision) * np.sqrt(precision)
    return float(np.sqrt((error**2).mean())), float((variance * precision).mean())
