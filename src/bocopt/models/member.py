"""A family of noise: how far xi spreads around its regression, given x.

Each is fitted again and again from where it was; one fit costs a few passes over the outcomes that
still count.
"""

from typing import NamedTuple, Protocol

import numpy as np

from bocopt.abilities import NeedsOutcomes, SlowToFit
from bocopt.core import Array
from bocopt.models.design import Design, RidgeFit, with_one
from bocopt.wrappers import says

Fit = tuple[Array, ...]


class Moments(NamedTuple):
    """Location and scale of xi at a context, and how light the tails of its law can be."""

    location: Array  # (m)
    scale: Array  # (m)
    df: float = 60.0  # at most so many degrees of freedom


class Member(Protocol):
    """One family. All three functions are pure."""

    def init(self, lead: tuple[int, ...], dim_x: int, dim_xi: int) -> Fit:
        """Return the fit before any outcome, of the shapes that `refit` returns."""
        ...

    def refit(self, fit: Fit, past: Design) -> Fit:
        """The fit to the past, from the fit to an earlier one."""
        ...

    def predict(self, fit: Fit, regression: RidgeFit, x: Array) -> Moments:
        """(k) standardised -> the law of xi."""
        ...


def least_discount(member: Member) -> float:
    """The discount below which a member has too few outcomes, where it says so."""
    return float(says(member, NeedsOutcomes) or 0.0)


def renewed_at(member: Member) -> float:
    """The share of outcomes that must be new for a new fit, where a member says so."""
    return float(says(member, SlowToFit) or 0.0)


def ridge(regression: RidgeFit, x: Array) -> tuple[Array, Array]:
    """(k) -> (m) the regression, and () the variance of its estimate in units of the noise's."""
    phi = with_one(x)[..., None, :]
    location = regression.mean + np.matmul(phi, regression.coefficients)[..., 0, :]
    leverage = (np.matmul(phi, regression.inverse) * phi).sum(axis=-1)
    return location, leverage


def inverse(matrix: Array) -> Array:
    """Return the inverse (q, q) of each matrix (q, q)."""
    return np.linalg.inv(matrix).astype(np.float64, copy=False)


def pooled(past: Design) -> Array:
    """(m): the variance of the residuals, with a guess worth two of them."""
    scatter = np.matmul(past.weight[None, :], past.residual**2)[..., 0, :]
    variance: Array = (scatter + 2 * past.regression.variance) / (past.regression.size + 2)
    return variance


def widened(variance: Array, past: Design) -> Array:
    """(m): a variance of residuals, with what the regression spends, at half weight."""
    size = past.regression.size
    spent = 0.5 * np.minimum(past.phi.shape[-1], size)
    wider: Array = variance * (size + 2) / (size + 2 - spent)
    return wider
