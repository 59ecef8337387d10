"""Predictors m(x; theta) from context to uncertainty. theta = (W row by row, bias)."""

from dataclasses import dataclass

import numpy as np

from bocopt import arguments
from bocopt.core import Array


@dataclass(frozen=True)
class Linear:
    """xi = W x + bias.

    >>> theta, x, no_noise = np.array([1.0, 2.0, 0.5]), np.array([10.0, 1.0]), np.empty(0)
    >>> Linear(dim_x=2, dim_xi=1).sample(theta, x, no_noise)
    array([12.5])
    """

    dim_x: int
    dim_xi: int

    def __post_init__(self) -> None:
        arguments.integer(type(self).__name__, "dim_x", self.dim_x, "[1, inf)")
        arguments.integer(type(self).__name__, "dim_xi", self.dim_xi, "[1, inf)")

    @property
    def dim(self) -> int:
        """Number of parameters p = m (k + 1)."""
        return self.dim_xi * (self.dim_x + 1)

    @property
    def dim_noise(self) -> int:
        """Number of noise variables: 0."""
        return 0

    def sample(self, theta: Array, x: Array, u: Array) -> Array:
        """(p), (k), (0) -> (m)."""
        theta = arguments.inner("Linear.sample", "theta", theta, self.dim)
        x = arguments.inner("Linear.sample", "x", x, self.dim_x)
        cut = self.dim_xi * self.dim_x
        weights = theta[..., :cut].reshape(*theta.shape[:-1], self.dim_xi, self.dim_x)
        # A stacked product, one per instance: the same bits whatever the leading axes are.
        xi: Array = np.matmul(weights, x[..., None])[..., 0] + theta[..., cut:]
        return xi

    def constant(self, xi: Array) -> Array:
        """(m) -> (p): no weights, and xi as bias."""
        xi = arguments.array("Linear.constant", "xi", xi, (self.dim_xi,))
        return np.concatenate([np.zeros((*xi.shape[:-1], self.dim_xi * self.dim_x)), xi], axis=-1)

    def pullback(self, theta: Array, x: Array, g: Array) -> Array:
        """(p), (k), (m) -> (p): dW = g x', dbias = g."""
        outer = g[..., :, None] * x[..., None, :]
        flat = outer.reshape(*outer.shape[:-2], -1)
        return np.concatenate([flat, np.broadcast_to(g, (*flat.shape[:-1], self.dim_xi))], axis=-1)


@dataclass(frozen=True)
class SigmoidLinear:
    """xi = scale * sigmoid(W x + bias): the paper's predictor with scale 2 (48 parameters).

    >>> SigmoidLinear(dim_x=3, dim_xi=12).dim
    48
    """

    dim_x: int
    dim_xi: int
    scale: float = 2.0

    def __post_init__(self) -> None:
        arguments.number("SigmoidLinear", "scale", self.scale, "(0, inf)")
        Linear(self.dim_x, self.dim_xi)

    @property
    def dim(self) -> int:
        """Number of parameters p = m (k + 1)."""
        return self._inner.dim

    @property
    def dim_noise(self) -> int:
        """Number of noise variables: 0."""
        return 0

    @property
    def _inner(self) -> Linear:
        return Linear(self.dim_x, self.dim_xi)

    def sample(self, theta: Array, x: Array, u: Array) -> Array:
        """(p), (k), (0) -> (m)."""
        return self.scale * _sigmoid(self._inner.sample(theta, x, u))

    def constant(self, xi: Array) -> Array:
        """(m) -> (p): the bias that predicts xi, or the nearest that is not extreme."""
        share = np.clip(xi / self.scale, 0.02, 0.98)
        return self._inner.constant(np.log(share / (1 - share)))

    def pullback(self, theta: Array, x: Array, g: Array) -> Array:
        """(p), (k), (m) -> (p): through sigmoid' = sigmoid (1 - sigmoid)."""
        s = _sigmoid(self._inner.sample(theta, x, np.empty(0)))
        return self._inner.pullback(theta, x, g * self.scale * s * (1 - s))


def _sigmoid(a: Array) -> Array:
    """1 / (1 + exp(-a)) without overflow, and without rounding small values to zero."""
    e = np.exp(-np.abs(a))
    return np.where(a >= 0, 1.0, e) / (1.0 + e)
