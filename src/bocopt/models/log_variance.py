"""A log variance that is a quadratic of the context."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from bocopt import arguments
from bocopt.core import Array, IntArray
from bocopt.models.design import Design, RidgeFit, with_one
from bocopt.models.member import Fit, Moments, inverse, pooled, ridge

_MOST_PRODUCTS = 10  # contexts whose products are looked at
_MOST_UNSURE = 2.0  # that is taken into account of a log variance


@dataclass(frozen=True)
class LogVariance:
    """log variance = a quadratic of x, fitted by Fisher scoring with a ridge on its slopes.

    With more than ten contexts, their squares but not their products: the cost grows with the cube
    of the number of terms.

    Reference: Aitkin (1987), Modelling variance heterogeneity in normal regression using GLIM.
    """

    steps: int = 2
    ridge: float = 30.0

    def __post_init__(self) -> None:
        arguments.integer("LogVariance", "steps", self.steps, "[1, inf)")
        arguments.number("LogVariance", "ridge", self.ridge, "(0, inf)")

    def init(self, lead: tuple[int, ...], dim_x: int, dim_xi: int) -> Fit:
        """Return the fit before any outcome: coefficients, levels and inverse information of 0."""
        terms = _quadratic(np.zeros(dim_x)).shape[-1]
        return (
            np.zeros((*lead, terms, dim_xi)),
            np.zeros((*lead, dim_xi)),
            np.zeros((*lead, terms, terms)),
        )

    def refit(self, fit: Fit, past: Design) -> Fit:
        """Coefficients beside the log of the pooled variance, from which they are counted."""
        terms = _quadratic(past.x)
        level = np.log(pooled(past))
        stiffness = np.array([0.5, *[self.ridge] * (terms.shape[-1] - 1)])
        weighted = np.swapaxes(terms, -1, -2) * past.weight
        information = np.matmul(weighted, terms) / 2 + np.diag(stiffness)
        back, coefficients = inverse(information), fit[0]
        for _ in range(self.steps):
            ratio = past.residual**2 * np.exp(-_log_variance(terms, coefficients, level))
            score = np.matmul(weighted, np.minimum(ratio, 20.0) - 1) / 2
            pull = stiffness[:, None] * coefficients
            coefficients = coefficients + np.matmul(back, score - pull)
        return coefficients, level, back

    def predict(self, fit: Fit, regression: RidgeFit, x: Array) -> Moments:
        """Return the regression (m) at x (k), and the scale (m) by the quadratic of x."""
        location, leverage = ridge(regression, x)
        coefficients, level, back = fit
        terms = _quadratic(x)[..., None, :]
        log_variance = _log_variance(terms, coefficients, level)[..., 0, :]
        unsure = (np.matmul(terms, back) * terms).sum(axis=-1)  # the variance of log_variance
        log_variance = log_variance + np.minimum(unsure, _MOST_UNSURE) / 2
        return Moments(location, np.exp(log_variance / 2) * np.sqrt(1 + leverage))


def _quadratic(x: Array) -> Array:
    """(k) -> (1, x, products), with x cut at four sd: the exponential goes far."""
    x = np.clip(x, -4.0, 4.0)
    if x.shape[-1] > _MOST_PRODUCTS:
        return np.concatenate([with_one(x), x**2], axis=-1)
    i, j = _pairs(x.shape[-1])
    return np.concatenate([with_one(x), x[..., i] * x[..., j]], axis=-1)


@cache
def _pairs(size: int) -> tuple[IntArray, IntArray]:
    return np.triu_indices(size)


def _log_variance(terms: Array, coefficients: Array, level: Array) -> Array:
    """(n, terms) -> (n, m), not too far from the pooled one."""
    beside = np.clip(np.matmul(terms, coefficients), -8.0, 5.0)
    return np.asarray(level[..., None, :] + beside)
