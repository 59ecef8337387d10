"""Bounds on how far beyond the past outcomes the next one may lie."""

import numpy as np

from bocopt.core import Array, IntArray

_FEW = 4.0  # sizes of an outcome beyond the first one; of n outcomes, a share 1 / n of that


def within_reach(lowest: Array, highest: Array, outcomes: IntArray) -> tuple[Array, Array]:
    """Return the ends (m), (m) that n `outcomes` between `lowest` and `highest` support.

    They are a whole range beyond what came, and more while outcomes are few:

        highest - lowest + 4 size / n,    size = max(|lowest|, |highest|).

    A component that was always 0 is taken to be as large as the largest of the others.

    >>> low, high = within_reach(np.array([50.0]), np.array([100.0]), np.array(400))
    >>> low.tolist(), high.tolist()
    ([-1.0], [151.0])
    """
    size = np.maximum(np.abs(lowest), np.abs(highest))
    size = np.where(size > 0, size, size.max(axis=-1, keepdims=True))
    beyond = highest - lowest + _FEW * size / np.asarray(outcomes)[..., None]
    return lowest - beyond, highest + beyond


def between(scenarios: Array, ends: tuple[Array, Array]) -> Array:
    """Return the scenarios (s, m), moved in to ends (m), (m)."""
    low, high = (end[..., None, :] for end in ends)
    return np.clip(scenarios, low, high)
