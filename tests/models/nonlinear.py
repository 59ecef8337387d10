"""Streams whose mean is no line, and members that are fitted to them."""

import numpy as np

from bocopt.core import Array
from bocopt.models.design import Design
from bocopt.models.member import Member, Moments


def sine(n: int, seed: int) -> tuple[Array, Array, Array]:
    """Contexts, means and outcomes."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, size=(n, 2))
    mean = 6 + 3 * np.sin(2 * x[:, :1] + np.arange(3))
    return x, mean, mean + 0.5 * rng.normal(size=(n, 3))


def fitted(member: Member, past: Design, at: Array) -> Moments:
    fit = member.init(past.x.shape[:-2], past.x.shape[-1], past.xi.shape[-1])
    return member.predict(member.refit(fit, past), past.regression, past.regression.standard(at))


def error(found: Array, mean: Array) -> float:
    return float(((found - mean) ** 2).mean())
