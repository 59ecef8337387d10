"""Regression coefficients that are drawn anew for each outcome."""

from dataclasses import dataclass

import numpy as np

from bocopt import arguments
from bocopt.core import Array
from bocopt.models.design import Design, Ground, with_one
from bocopt.models.member import Fit, Moments, inverse


@dataclass(frozen=True)
class RandomCoefficients:
    """xi_k = (1, x)'b with b ~ N(M_k, S_k) drawn anew each time: the variance is quadratic in x.

    M and S are found by expectation maximisation, `sweeps` at a time, with a weak inverse-Wishart
    prior worth `prior` outcomes that allows each standardised context `slope` of the variance.
    With few degrees of freedom `df` the noise has heavy tails, and far outcomes count less.

    Reference: Swamy (1970), Efficient inference in a random coefficient regression model; Lange,
    Little, Taylor (1989), Robust statistical modeling using the t distribution.
    """

    sweeps: int = 3
    prior: float = 0.1
    slope: float = 0.1
    ridge: float = 15.0
    df: float = 60.0

    def __post_init__(self) -> None:
        arguments.number("RandomCoefficients", "df", self.df, "[1, inf)")
        arguments.integer("RandomCoefficients", "sweeps", self.sweeps, "[1, inf)")
        for name in ("prior", "slope", "ridge"):
            arguments.number("RandomCoefficients", name, getattr(self, name), "(0, inf)")

    def start(self, lead: tuple[int, ...], dim_x: int, dim_xi: int) -> Fit:
        q = 1 + dim_x
        return (
            np.zeros((*lead, dim_xi, q)),
            np.zeros((*lead, dim_xi, q, q)),
            np.zeros((*lead, dim_xi, q, q)),
        )

    def refit(self, fit: Fit, past: Design) -> Fit:
        """Sums over outcomes are products with the squares (1, x)(1, x)' as rows."""
        mean, variance, n = past.ground.mean, past.ground.variance, past.ground.size
        lead, q = past.phi.shape[:-2], past.phi.shape[-1]
        shape = (*lead, mean.shape[-1], q, q)
        squares = (past.phi[..., :, None] * past.phi[..., None, :]).reshape(*lead, -1, q * q)
        prior = variance[..., None, None] * np.diag([1.0, *[self.slope] * (q - 1)])
        precision = np.diag([1e-6, *[self.ridge] * (q - 1)]) / variance[..., None, None]
        around = past.xi - mean[..., None, :]
        weight = past.weight[:, None]

        def quadratic(matrix: Array) -> Array:
            """(m, q, q) -> (n, m): phi'S phi."""
            flat = np.swapaxes(matrix.reshape(*shape[:-2], q * q), -1, -2)
            return np.maximum(np.matmul(squares, flat), 1e-12 * variance[..., None, :])

        def total(values: Array) -> Array:
            """(n, m) -> (m, q, q): sum of value phi phi'."""
            flat: Array = np.matmul(np.swapaxes(squares, -1, -2), values)
            return np.swapaxes(flat, -1, -2).reshape(shape)

        fresh = fit[2].max(axis=(-1, -2), keepdims=True) == 0
        spread: Array = np.where(fresh, prior, fit[2])
        slopes = fit[0]
        for _ in range(self.sweeps):
            noise = quadratic(spread)
            residual = around - np.matmul(past.phi, np.swapaxes(slopes, -1, -2))
            near = (self.df + 1) / (self.df + residual**2 / noise)  # small for far outcomes
            covariance = inverse(total(weight * near / noise) + precision)
            moment = np.matmul(np.swapaxes(past.phi, -1, -2), weight * near * around / noise)
            slopes = np.matmul(covariance, np.swapaxes(moment, -1, -2)[..., None])[..., 0]
            residual = around - np.matmul(past.phi, np.swapaxes(slopes, -1, -2))
            near = (self.df + 1) / (self.df + residual**2 / noise)
            square = near * (residual**2 + quadratic(covariance))
            push = total(weight * (square / noise - 1) / noise)
            spread = n * spread + np.matmul(np.matmul(spread, push), spread)
            spread = (spread + self.prior * prior) / (n + self.prior)
            spread = (spread + np.swapaxes(spread, -1, -2)) / 2
        return slopes, covariance, spread

    def predict(self, fit: Fit, ground: Ground, x: Array) -> Moments:
        slopes, covariance, spread = fit
        phi = with_one(x)[..., None, :]
        location = ground.mean + (slopes * phi).sum(axis=-1)
        along = np.matmul(covariance + spread, phi[..., None])[..., 0]
        return Moments(location, np.sqrt((along * phi).sum(axis=-1)), self.df)
