"""Features that are known before a decision: the calendar, and what came earlier."""

from collections.abc import Iterable

import numpy as np

from bocopt.core import Array
from bocopt_studies.learning.data.source import Times

_YEAR = 365.25  # days


def one_hot(values: Iterable[int], levels: Iterable[int]) -> Array:
    """(T), (levels) -> (T, levels)."""
    both = np.asarray(list(values))[:, None] == np.asarray(list(levels))
    return np.asarray(both, np.float64)


def weekday(times: Times) -> Array:
    """(T) -> (T), Monday is 0.

    >>> weekday(np.array(["2001-01-22", "2001-01-28"], "datetime64[D]")).tolist()
    [0.0, 6.0]
    """
    days = times.astype("datetime64[D]").astype(np.int64)
    return np.asarray((days + 3) % 7, np.float64)  # day 0 was a Thursday


def season(times: Times) -> Array:
    """(T) -> (T, 2): where in the year, on a circle."""
    angle = 2 * np.pi * times.astype("datetime64[D]").astype(np.float64) / _YEAR
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1)


def lagged(values: Array, *lags: int) -> Array:
    """(T, m) -> (T, m lags): what it was so many stages ago, and 0 before the beginning.

    >>> lagged(np.array([[1.0], [2.0], [3.0]]), 1, 2).tolist()
    [[0.0, 0.0], [1.0, 0.0], [2.0, 1.0]]
    """
    zeros = np.zeros((max(lags), values.shape[-1]))
    padded, n = np.concatenate([zeros, values]), len(values)
    return np.concatenate([padded[max(lags) - lag :][:n] for lag in lags], axis=-1)


def joined(*features: Array) -> Array:
    """(T), (T, k) ... -> (T, all of them)."""
    return np.concatenate([f[:, None] if f.ndim == 1 else f for f in features], axis=-1)
