"""Outcomes that are whole numbers: spread over the unit above them, and cut down again.

The density of a law at a count has no limit: the narrowest law around zero would win where there
are many zeros. Spread evenly over [y, y + 1), a count has a density that its probability bounds,
and its level is uniform where predictions are calibrated.

Reference: Czado, Gneiting, Held (2009), Predictive model assessment for count data; Machado, Santos
Silva (2005), Quantiles for counts.
"""

import numpy as np

from bocopt.core import Array, BoolArray, IntArray
from bocopt.numeric import noise
from bocopt.numeric.history import History
from bocopt.numeric.noise import When

_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0


def still_whole(whole: BoolArray, xi: Array) -> BoolArray:
    """(m), (m) -> (m): components that were whole numbers so far, and now."""
    return np.asarray(whole & (xi == np.rint(xi)))


def jitter(whole: BoolArray, xi: Array, seeds: IntArray, t: When) -> Array:
    """(m), (m) -> (m): whole numbers, each somewhere in the unit above it.

    Places follow each other as multiples of the golden ratio: soon they are all over the unit.
    """
    if not whole.any():
        return xi
    first = noise.uniform(seeds, 0, "mixture.count", xi.shape[-1:])
    turns = np.asarray(t)[..., None] * _GOLDEN
    return np.where(whole, xi + (first + turns) % 1.0, xi)


def cut(whole: BoolArray, values: Array) -> Array:
    """(m), (n, m) -> (n, m): what was spread as it was, whole numbers in these components.

    >>> cut(np.array([True, False]), np.array([[2.7, 2.7]])).tolist()
    [[2.0, 2.7]]
    """
    if not whole.any():
        return values
    return np.where(whole[..., None, :], np.floor(values), values)


def restored(past: History, ended: BoolArray) -> History:
    """Past outcomes as they were, in components that turned out not to be whole."""
    return past.with_rows(cut(ended, past.rows)) if ended.any() else past
