"""Families of noise: how far xi spreads around its regression, given x.

Each is fitted again and again from where it was; one fit costs a few passes over the outcomes that
still count.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from bocopt import arguments
from bocopt.core import Array
from bocopt.models.design import Design, Ground, with_one

Fit = tuple[Array, ...]
_MOST_PRODUCTS = 10  # contexts whose products are looked at


class Moments(NamedTuple):
    """Where xi is expected, how far from there it lies, and how light the tails can be."""

    location: Array  # (m)
    scale: Array  # (m)
    df: float = 60.0  # at most so many degrees of freedom


class Member(Protocol):
    """One family. All three functions are pure."""

    def start(self, lead: tuple[int, ...], dim_x: int, dim_xi: int) -> Fit:
        """What is known before any outcome, of the shapes that `refit` returns."""
        ...

    def refit(self, fit: Fit, past: Design) -> Fit:
        """The fit to the past, from the fit to an earlier one."""
        ...

    def predict(self, fit: Fit, ground: Ground, x: Array) -> Moments:
        """(k) standardised -> the law of xi."""
        ...


def _ridge(ground: Ground, x: Array) -> tuple[Array, Array]:
    """(k) -> (m) the regression, and () the variance of its estimate in units of the noise's."""
    phi = with_one(x)[..., None, :]
    location = ground.mean + np.matmul(phi, ground.coefficients)[..., 0, :]
    leverage = (np.matmul(phi, ground.inverse) * phi).sum(axis=-1)
    return location, leverage


def _inverse(matrix: Array) -> Array:
    return np.linalg.inv(matrix).astype(np.float64, copy=False)


def _pooled(past: Design) -> Array:
    """(m): the variance of the residuals, with a guess worth two of them."""
    scatter = np.matmul(past.weight[None, :], past.residual**2)[..., 0, :]
    variance: Array = (scatter + 2 * past.ground.variance) / (past.ground.size + 2)
    return variance


@dataclass(frozen=True)
class ConstantVariance:
    """xi = B (1, x) + noise of the same spread everywhere, by least squares."""

    def start(self, lead: tuple[int, ...], dim_x: int, dim_xi: int) -> Fit:
        return (np.ones((*lead, dim_xi)),)

    def refit(self, fit: Fit, past: Design) -> Fit:
        size = past.ground.size
        spent = 0.5 * np.minimum(past.phi.shape[-1], size)  # by the regression, at half weight
        return (_pooled(past) * (size + 2) / (size + 2 - spent),)

    def predict(self, fit: Fit, ground: Ground, x: Array) -> Moments:
        location, leverage = _ridge(ground, x)
        return Moments(location, np.sqrt(fit[0] * (1 + leverage)))


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
            covariance = _inverse(total(weight * near / noise) + precision)
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

    def start(self, lead: tuple[int, ...], dim_x: int, dim_xi: int) -> Fit:
        terms = _quadratic(np.zeros(dim_x)).shape[-1]
        return np.zeros((*lead, terms, dim_xi)), np.zeros((*lead, dim_xi))

    def refit(self, fit: Fit, past: Design) -> Fit:
        """Coefficients beside the log of the pooled variance, from which they are counted."""
        terms = _quadratic(past.x)
        level = np.log(_pooled(past))
        stiffness = np.array([0.5, *[self.ridge] * (terms.shape[-1] - 1)])
        weighted = np.swapaxes(terms, -1, -2) * past.weight
        information = np.matmul(weighted, terms) / 2 + np.diag(stiffness)
        inverse, coefficients = _inverse(information), fit[0]
        for _ in range(self.steps):
            ratio = past.residual**2 * np.exp(-_log_variance(terms, coefficients, level))
            score = np.matmul(weighted, np.minimum(ratio, 20.0) - 1) / 2
            pull = stiffness[:, None] * coefficients
            coefficients = coefficients + np.matmul(inverse, score - pull)
        return coefficients, level

    def predict(self, fit: Fit, ground: Ground, x: Array) -> Moments:
        location, leverage = _ridge(ground, x)
        log_variance = _log_variance(_quadratic(x)[..., None, :], *fit)[..., 0, :]
        return Moments(location, np.exp(log_variance / 2) * np.sqrt(1 + leverage))


def _quadratic(x: Array) -> Array:
    """(k) -> (1, x, products), with x cut at four sd: the exponential goes far."""
    x = np.clip(x, -4.0, 4.0)
    if x.shape[-1] > _MOST_PRODUCTS:
        return np.concatenate([with_one(x), x**2], axis=-1)
    i, j = np.triu_indices(x.shape[-1])
    return np.concatenate([with_one(x), x[..., i] * x[..., j]], axis=-1)


def _log_variance(terms: Array, coefficients: Array, level: Array) -> Array:
    """(n, terms) -> (n, m), not too far from the pooled one."""
    beside = np.clip(np.matmul(terms, coefficients), -8.0, 5.0)
    return np.asarray(level[..., None, :] + beside)


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

    def start(self, lead: tuple[int, ...], dim_x: int, dim_xi: int) -> Fit:
        return (
            np.zeros((*lead, 1, dim_x)),
            np.zeros((*lead, 1, dim_xi)),
            np.zeros(1),
            np.ones((*lead, dim_xi)),
        )

    def refit(self, fit: Fit, past: Design) -> Fit:
        last = slice(-self.rows, None)
        square = past.residual[..., last, :] ** 2
        return past.x[..., last, :].copy(), square, past.weight[last], _pooled(past)

    def predict(self, fit: Fit, ground: Ground, x: Array) -> Moments:
        rows, square, weight, pooled = fit
        location, leverage = _ridge(ground, x)
        width = np.maximum(weight.sum(), 1.0) ** (-1.0 / (x.shape[-1] + 4))
        distance = ((rows - x[..., None, :]) ** 2).sum(axis=-1)
        near = weight * np.exp(-0.5 * distance / width**2)
        around = np.matmul(near[..., None, :], square)[..., 0, :]
        variance = (around + self.prior * pooled) / (near.sum(axis=-1)[..., None] + self.prior)
        return Moments(location, np.sqrt(variance * (1 + leverage)))
