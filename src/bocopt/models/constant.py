"""Noise of the same spread everywhere."""

from dataclasses import dataclass

import numpy as np

from bocopt.core import Array
from bocopt.models.design import Design, RidgeFit
from bocopt.models.member import Fit, Moments, pooled, ridge, widened


@dataclass(frozen=True)
class ConstantVariance:
    """xi = B (1, x) + noise of the same spread everywhere, by least squares."""

    def init(self, lead: tuple[int, ...], dim_x: int, dim_xi: int) -> Fit:
        """Return the fit before any outcome: variances (m) of 1."""
        return (np.ones((*lead, dim_xi)),)

    def refit(self, fit: Fit, past: Design) -> Fit:
        """Return the variances (m) of the noise, from all residuals alike."""
        return (widened(pooled(past), past),)

    def predict(self, fit: Fit, regression: RidgeFit, x: Array) -> Moments:
        """Return the regression (m) at x (k), and the scale (m) of the noise with its leverage."""
        location, leverage = ridge(regression, x)
        return Moments(location, np.sqrt(fit[0] * (1 + leverage)))
