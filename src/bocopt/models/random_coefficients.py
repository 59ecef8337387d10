"""Regression coefficients that are drawn anew for each outcome."""

from dataclasses import dataclass

import numpy as np

from bocopt import arguments
from bocopt.core import Array, IntArray
from bocopt.models.design import Design, RidgeFit, with_one
from bocopt.models.member import Fit, Moments, inverse, ridge

_MOST_CONTEXTS = 8  # that the variance depends on: the cost grows with their square
_LEAST = 1e-12  # of a variance, in units of the outcomes': rounding may leave less than nothing


@dataclass(frozen=True)
class RandomCoefficients:
    """xi_k = (1, x)'b with b ~ N(M_k, S_k) drawn anew each time: the variance is quadratic in x.

    M and S are found by expectation maximisation, `sweeps` at a time, with a weak inverse-Wishart
    prior worth `prior` outcomes that allows each standardised context `slope` of the variance.
    With few degrees of freedom `df` the noise has heavy tails, and far outcomes count less. With
    more than eight contexts, only the eight that are shrunk least have such coefficients; those of
    the others are fixed.

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

    def init(self, lead: tuple[int, ...], dim_x: int, dim_xi: int) -> Fit:
        """Return the fit before any outcome: slopes, their covariances, and the first contexts."""
        q = 1 + min(dim_x, _MOST_CONTEXTS)
        return (
            np.zeros((*lead, dim_xi, q)),
            np.zeros((*lead, dim_xi, q, q)),
            np.zeros((*lead, dim_xi, q, q)),
            np.broadcast_to(np.arange(q - 1.0), (*lead, q - 1)),
        )

    def refit(self, fit: Fit, past: Design) -> Fit:
        """Sums over outcomes are products with the squares (1, x)(1, x)' as rows."""
        variance, n = past.regression.variance, past.regression.size
        chosen, around = _chosen(past.regression.ridge), _to_explain(past)
        phi = _some(past.x, chosen[..., None, :])
        lead, q = phi.shape[:-2], phi.shape[-1]
        shape = (*lead, variance.shape[-1], q, q)
        squares = (phi[..., :, None] * phi[..., None, :]).reshape(*lead, -1, q * q)
        prior = variance[..., None, None] * np.diag([1.0, *[self.slope] * (q - 1)])
        precision = np.diag([1e-6, *[self.ridge] * (q - 1)]) / variance[..., None, None]
        weight = past.weight[:, None]

        def quadratic(matrix: Array) -> Array:
            """(m, q, q) -> (n, m): phi'S phi."""
            flat = np.swapaxes(matrix.reshape(*shape[:-2], q * q), -1, -2)
            return np.maximum(np.matmul(squares, flat), _LEAST * variance[..., None, :])

        def total(values: Array) -> Array:
            """(n, m) -> (m, q, q): sum of value phi phi'."""
            flat: Array = np.matmul(np.swapaxes(squares, -1, -2), values)
            return np.swapaxes(flat, -1, -2).reshape(shape)

        others = (fit[3] != chosen).any(axis=-1)[..., None, None, None]
        fresh = others | (fit[2].max(axis=(-1, -2), keepdims=True) == 0)
        spread: Array = np.where(fresh, prior, fit[2])
        slopes = np.where(others[..., 0], 0.0, fit[0])
        for _ in range(self.sweeps):
            noise = quadratic(spread)
            residual = around - np.matmul(phi, np.swapaxes(slopes, -1, -2))
            near = (self.df + 1) / (self.df + residual**2 / noise)  # small for far outcomes
            covariance = inverse(total(weight * near / noise) + precision)
            moment = np.matmul(np.swapaxes(phi, -1, -2), weight * near * around / noise)
            slopes = np.matmul(covariance, np.swapaxes(moment, -1, -2)[..., None])[..., 0]
            residual = around - np.matmul(phi, np.swapaxes(slopes, -1, -2))
            near = (self.df + 1) / (self.df + residual**2 / noise)
            square = near * (residual**2 + quadratic(covariance))
            push = total(weight * (square / noise - 1) / noise)
            spread = n * spread + np.matmul(np.matmul(spread, push), spread)
            spread = (spread + self.prior * prior) / (n + self.prior)
            spread = (spread + np.swapaxes(spread, -1, -2)) / 2
        return slopes, covariance, spread, chosen.astype(np.float64)

    def predict(self, fit: Fit, regression: RidgeFit, x: Array) -> Moments:
        """Return the location and scale (m) of xi at x (k), whose variance is quadratic in x."""
        slopes, covariance, spread, chosen = fit
        phi = _some(x, chosen.astype(np.int64))[..., None, :]
        location, leverage = regression.mean, np.zeros(1)
        if chosen.shape[-1] < x.shape[-1]:
            location, leverage = ridge(regression, x)
        along = np.matmul(covariance + spread, phi[..., None])[..., 0]
        variance = np.maximum((along * phi).sum(axis=-1), _LEAST * regression.variance)
        variance = variance * (1 + leverage)
        return Moments(location + (slopes * phi).sum(axis=-1), np.sqrt(variance), self.df)


def _chosen(strength: Array) -> IntArray:
    """(k) -> at most eight contexts, in their order: those that are shrunk least."""
    if strength.shape[-1] <= _MOST_CONTEXTS:
        return np.broadcast_to(np.arange(strength.shape[-1]), strength.shape)
    least = np.argsort(strength, axis=-1, kind="stable")[..., :_MOST_CONTEXTS]
    return np.sort(least, axis=-1)


def _some(x: Array, chosen: IntArray) -> Array:
    """(k) -> (q): one, and some of the contexts."""
    lead = np.broadcast_shapes(x.shape[:-1], chosen.shape[:-1])
    every = np.broadcast_to(x, (*lead, x.shape[-1]))
    return with_one(
        np.take_along_axis(every, np.broadcast_to(chosen, (*lead, chosen.shape[-1])), axis=-1)
    )


def _to_explain(past: Design) -> Array:
    """(n, m): what the coefficients of these contexts have to explain."""
    few = past.x.shape[-1] <= _MOST_CONTEXTS
    return past.xi - past.regression.mean[..., None, :] if few else past.residual
