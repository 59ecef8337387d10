"""Weights in log space. log_w (N) is always normalised."""

import numpy as np

from bocopt.core import Array


def uniform(lead: tuple[int, ...], size: int) -> Array:
    return np.full((*lead, size), -np.log(size))


def log_total(log_w: Array) -> Array:
    """(N) -> (): log of the sum of the weights."""
    top = log_w.max(axis=-1, keepdims=True)
    total: Array = (top + np.log(np.exp(log_w - top).sum(axis=-1, keepdims=True)))[..., 0]
    return total


def normalised(log_w: Array) -> Array:
    """The same weights, with sum 1."""
    weights: Array = log_w - log_total(log_w)[..., None]
    return weights


def effective_size(log_w: Array) -> Array:
    """1 / sum w_i^2, between 1 and N.

    >>> float(effective_size(uniform((), 4)))
    4.0
    """
    size: Array = 1.0 / np.exp(2.0 * log_w).sum(axis=-1)
    return np.minimum(size, float(log_w.shape[-1]))  # rounding could put it a hair above
