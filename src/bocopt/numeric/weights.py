"""Weights in log space, where log_w (N) is always normalised, and resampling by weights w (N)."""

import numpy as np

from bocopt.core import Array, IntArray

_search = np.vectorize(
    lambda cumulative, point: np.searchsorted(cumulative, point, side="right"),
    signature="(n),(m)->(m)",
    otypes=[np.int64],
)


def uniform(lead: tuple[int, ...], size: int) -> Array:
    """Return equal log weights (N) for N = `size`, with leading axes `lead`."""
    return np.full((*lead, size), -np.log(size))


def log_total(log_w: Array) -> Array:
    """Return the log of the sum of the weights (), from log weights (N)."""
    top = log_w.max(axis=-1, keepdims=True)
    total: Array = (top + np.log(np.exp(log_w - top).sum(axis=-1, keepdims=True)))[..., 0]
    return total


def normalised(log_w: Array) -> Array:
    """Return log weights (N), normalised so that the weights sum to 1."""
    weights: Array = log_w - log_total(log_w)[..., None]
    return weights


def effective_size(log_w: Array) -> Array:
    """1 / sum w_i^2, between 1 and N.

    >>> float(effective_size(uniform((), 4)))
    4.0
    """
    size: Array = 1.0 / np.exp(2.0 * log_w).sum(axis=-1)
    return np.minimum(size, float(log_w.shape[-1]))  # rounding could put it a hair above


def multinomial(w: Array, u: Array) -> IntArray:
    """Draw independent indices (M) by weights (N), uniforms (M): I_k = i with probability w_i.

    >>> multinomial(np.array([0.2, 0.0, 0.8]), np.array([0.1, 0.2, 0.99])).tolist()
    [0, 2, 2]
    """
    cumulative = np.cumsum(w, axis=-1)
    total = cumulative[..., -1:]
    point = np.minimum(u * total, np.nextafter(total, 0.0))  # below the top whatever is rounded
    index: IntArray = _search(cumulative, point)
    return index


def systematic(w: Array, u: Array) -> IntArray:
    """Draw indices (N) by weights (N), one uniform (): i comes up floor or ceil of N w_i times.

    >>> systematic(np.array([0.5, 0.25, 0.25, 0.0]), np.array(0.3)).tolist()
    [0, 0, 1, 2]
    """
    size = w.shape[-1]
    return multinomial(w, (np.arange(size) + u[..., None]) / size)
