"""Posteriors to test on: one that is known exactly, and that of the paper's knapsack."""

from itertools import islice
from typing import Any

import numpy as np

from bocopt.beliefs import Belief
from bocopt.beliefs.belief import MoveInfo
from bocopt.beliefs.kernels import Chain, Draw, Energy, Shape, Swept
from bocopt.core import Array, IntArray
from bocopt.paper import DecisionRegret, Gaussian, PaperStream, ResampleMove, SigmoidLinear
from bocopt.problems import Knapsack
from bocopt.state import mapped


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


PROBLEM = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3)
PREDICTOR = SigmoidLinear(3, 12)
REGRET = DecisionRegret(PROBLEM, PREDICTOR)


def knapsack(**options: Any) -> ResampleMove:
    given = {"prior": Gaussian.isotropic(48, 0.5), "loss": REGRET, "lam": 1e-2, "size": 20}
    return ResampleMove(**{**given, **options})


NOTHING: MoveInfo = mapped(lambda part: np.zeros(0), knapsack().init(np.array(0)).info)


def after(sampler: ResampleMove, stages: int, seeds: IntArray) -> tuple[Belief, Array, Array]:
    """The belief after some stages of the paper's stream, and what it saw: (T, trials, ...)."""
    belief, seen = sampler.init(seeds), list(islice(PaperStream().stages(seeds), stages))
    for t, (x, xi) in enumerate(seen):
        belief = sampler.step(belief, t, x, xi)
    return belief, np.stack([x for x, _ in seen]), np.stack([xi for _, xi in seen])


class Still:
    """A kernel that moves nobody: particles stay where their parents were."""

    wanted, first_scale, largest_scale = 0.5, 0.5, 1.0

    def sweep(self, chain: Chain, shape: Shape, scale: Array, energy: Energy, draw: Draw) -> Swept:
        return Swept(chain, np.full(scale.shape, self.wanted))
