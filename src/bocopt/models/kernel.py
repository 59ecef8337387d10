"""The variance of the residuals nearby."""

from dataclasses import dataclass

import numpy as np

from bocopt import arguments
from bocopt.core import Array
from bocopt.models.design import Design, RidgeFit
from bocopt.models.member import Fit, Moments, pooled, ridge


@dataclass(frozen=True)
class KernelVariance:
    """The variance at x is that of the residuals nearby, and of all of them, worth `prior`.

    A Gaussian kernel of width n^(-1/(k + 4)) in units of the contexts' sd; of the latest `rows`
    outcomes.

    Reference: Fan, Yao (1998), Efficient estimation of conditional variance functions.
    """

    prior: float = 5.0
    rows: int = 1000

    def __post_init__(self) -> None:
        arguments.number("KernelVariance", "prior", self.prior, "(0, inf)")
        arguments.integer("KernelVariance", "rows", self.rows, "[1, inf)")

    def init(self, lead: tuple[int, ...], dim_x: int, dim_xi: int) -> Fit:
        """Return the fit before any outcome: one row of weight 0, and pooled variances (m) of 1."""
        return (
            np.zeros((*lead, 1, dim_x)),
            np.zeros((*lead, 1, dim_xi)),
            np.zeros(1),
            np.ones((*lead, dim_xi)),
        )

    def refit(self, fit: Fit, past: Design) -> Fit:
        """Return the latest contexts, squared residuals and weights, and pooled variances (m)."""
        last = slice(-self.rows, None)
        square = past.residual[..., last, :] ** 2
        return past.x[..., last, :].copy(), square, past.weight[last], pooled(past)

    def predict(self, fit: Fit, regression: RidgeFit, x: Array) -> Moments:
        """Return the regression (m) at x (k), and the scale (m) of the residuals nearby."""
        location, leverage = ridge(regression, x)
        variance = nearby(x, self.prior, *fit)
        return Moments(location, np.sqrt(variance * (1 + leverage)))


def nearby(
    x: Array, prior: float, rows: Array, square: Array, weight: Array, pooled: Array
) -> Array:
    """(k), (), (n, k), (n, m), (n), (m) -> (m): the mean of the squares near x."""
    width = np.maximum(weight.sum(), 1.0) ** (-1.0 / (x.shape[-1] + 4))
    distance = ((rows - x[..., None, :]) ** 2).sum(axis=-1)
    near = weight * np.exp(-0.5 * distance / width**2)
    around = np.matmul(near[..., None, :], square)[..., 0, :]
    variance: Array = (around + prior * pooled) / (near.sum(axis=-1)[..., None] + prior)
    return variance
