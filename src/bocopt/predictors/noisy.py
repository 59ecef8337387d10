"""Predictors that carry noise: theta gives a whole law of xi given x.

All have independent components, xi_k = location_k(x) + scale_k(x) e_k, with e normal or, with `df`,
Student's t. For laws that are fitted rather than held by particles, see `bocopt.models`.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from bocopt import arguments
from bocopt.core import Array, Predictor
from bocopt.predictors.linear import Linear

_LARGEST = 30.0  # of a log scale, either way: beyond, numbers overflow
_GUESS = 0.3  # the spread of an outcome of which nothing is known, in units of its size


@dataclass(frozen=True)
class _LocationScale(ABC):
    dim_x: int
    dim_xi: int
    df: float | None = None

    def __post_init__(self) -> None:
        Linear(self.dim_x, self.dim_xi)
        if self.df is not None:
            arguments.number(type(self).__name__, "df", self.df, "(0, inf)")

    @property
    @abstractmethod
    def _scale_terms(self) -> int:
        """Parameters of the scale of each component."""

    @abstractmethod
    def _scale(self, parameters: Array, x: Array) -> Array:
        """(m, terms), (k) -> (m)."""

    @property
    def dim(self) -> int:
        """Number of parameters p: those of the mean, and those of each component's scale."""
        return self._mean.dim + self.dim_xi * self._scale_terms

    @property
    def dim_noise(self) -> int:
        """Number of noise variables m: one for each component."""
        return self.dim_xi

    @cached_property
    def _mean(self) -> Linear:
        return Linear(self.dim_x, self.dim_xi)

    def location_scale(self, theta: Array, x: Array) -> tuple[Array, Array]:
        """(p), (k) -> (m), (m)."""
        name = f"{type(self).__name__}.sample"
        theta = arguments.inner(name, "theta", theta, self.dim)
        x = arguments.finite_and_squarable(name, "x", x, self.dim_x)
        location = self._mean.sample(theta[..., : self._mean.dim], x, np.empty(0))
        parameters = theta[..., self._mean.dim :]
        shape = (*theta.shape[:-1], self.dim_xi, self._scale_terms)
        return location, self._scale(parameters.reshape(shape), x)

    def sample(self, theta: Array, x: Array, u: Array) -> Array:
        """(p), (k), (m) -> (m)."""
        location, scale = self.location_scale(theta, x)
        if self.df is not None:
            from scipy.special import ndtr, stdtrit

            u = np.asarray(stdtrit(self.df, ndtr(u)))
        return location + scale * u

    def log_density(self, theta: Array, x: Array, xi: Array) -> Array:
        """(p), (k), (m) -> ()."""
        from scipy.special import gammaln

        location, scale = self.location_scale(theta, x)
        with np.errstate(over="ignore"):  # too far out to have any density
            square = ((xi - location) / scale) ** 2
        if self.df is None:
            log = -0.5 * (square + np.log(2 * np.pi))
        else:
            constant = gammaln((self.df + 1) / 2) - gammaln(self.df / 2)
            constant -= 0.5 * np.log(self.df * np.pi)
            log = constant - (self.df + 1) / 2 * np.log1p(square / self.df)
        density: Array = (log - np.log(scale)).sum(axis=-1)
        return density

    def constant(self, xi: Array) -> Array:
        """(m) -> (p): xi whatever the context, with a spread of 0.3 |xi|."""
        scale = np.log(_GUESS * np.abs(xi) + np.exp(-_LARGEST))
        terms = np.full((*xi.shape, self._scale_terms), self._without_context)
        terms[..., 0] = scale
        flat = terms.reshape(*xi.shape[:-1], -1)
        return np.concatenate([self._mean.constant(xi), flat], axis=-1)

    @property
    def _without_context(self) -> float:
        """The parameter that takes a context out of the scale."""
        return 0.0


@dataclass(frozen=True)
class NoisyLinear(_LocationScale):
    """The same spread everywhere: theta = (W, bias, log scale).

    >>> predictor = NoisyLinear(dim_x=1, dim_xi=1)
    >>> theta, x = np.array([2.0, 1.0, np.log(0.5)]), np.array([3.0])
    >>> predictor.sample(theta, x, np.array([1.0]))
    array([7.5])
    """

    @property
    def _scale_terms(self) -> int:
        return 1

    def _scale(self, parameters: Array, x: Array) -> Array:
        return _exp(parameters[..., 0])


@dataclass(frozen=True)
class LogScale(_LocationScale):
    """log scale = a quadratic of x: theta = (W, bias, coefficients of (1, x, products of x))."""

    @property
    def _scale_terms(self) -> int:
        return 1 + self.dim_x + self.dim_x * (self.dim_x + 1) // 2

    def _scale(self, parameters: Array, x: Array) -> Array:
        i, j = np.triu_indices(self.dim_x)
        one = np.ones((*x.shape[:-1], 1))
        terms = np.concatenate([one, x, x[..., i] * x[..., j]], axis=-1)
        return _exp(np.matmul(parameters, terms[..., None])[..., 0])


@dataclass(frozen=True)
class RandomSlopes(_LocationScale):
    """xi_k = (1, x)'b with b ~ N(mean, diag(sd^2)): theta = (W, bias, log sd of (1, x))."""

    @property
    def _scale_terms(self) -> int:
        return 1 + self.dim_x

    def _scale(self, parameters: Array, x: Array) -> Array:
        squares = np.concatenate([np.ones((*x.shape[:-1], 1)), x**2], axis=-1)
        scale: Array = np.sqrt(np.matmul(_exp(2 * parameters), squares[..., None])[..., 0])
        return scale

    @property
    def _without_context(self) -> float:
        return -_LARGEST / 2


@dataclass(frozen=True, eq=False)
class WithResiduals:
    """Any predictor plus one of these residuals (n, m), drawn evenly: ER-SAA by particles."""

    predictor: Predictor
    residuals: ArrayLike

    def __post_init__(self) -> None:
        arguments.kind("WithResiduals", "predictor", self.predictor, Predictor)
        residuals = arguments.array("WithResiduals", "residuals", self.residuals, (None, None))
        object.__setattr__(self, "residuals", residuals.copy())

    @property
    def dim(self) -> int:
        """Number of parameters p of the predictor."""
        return self.predictor.dim

    @property
    def dim_noise(self) -> int:
        """Number of noise variables: the predictor's, and one that picks the residual."""
        return self.predictor.dim_noise + 1

    def sample(self, theta: Array, x: Array, u: Array) -> Array:
        """(p), (k), (n) -> (m); the last number of the noise picks the residual."""
        from scipy.special import ndtr

        residuals = np.asarray(self.residuals)
        which = np.minimum((ndtr(u[..., -1]) * len(residuals)).astype(int), len(residuals) - 1)
        return np.asarray(self.predictor.sample(theta, x, u[..., :-1]) + residuals[which])


def _exp(log_scale: Array) -> Array:
    return np.asarray(np.exp(np.clip(log_scale, -_LARGEST, _LARGEST)))
