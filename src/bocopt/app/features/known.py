"""Outcomes that a decision knows: the one place that guards against looking ahead.

A stage s is known at stage t if its outcome arrives by then: `arrives[s] <= t`, where always
`arrives[s] > s`. Whatever is made of outcomes for stage t is made of those alone.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray, IntArray


class StageOutcomes(NamedTuple):
    """Outcomes of all stages of a table, and when decisions know them."""

    xi: Array  # (T, m) NaN in all of a row that has none
    due: IntArray  # (T) the first stage at which each should be known; T where there is none
    arrives: IntArray  # (T) the first stage at which it is; T where it never is
    after: Array | IntArray  # (T) decisions later than this know it: a stage, or a time
    reported: BoolArray  # (T) whether anything ever comes, if only that there is no number


def after_delay(moments: IntArray, delay: int) -> IntArray:
    """Return the first stages (T) whose moments are 1 + delay moments later; T where there is none.

    Moments are counted from 0, and several stages may share one.

    >>> after_delay(np.array([0, 1, 1, 2]), 0)
    array([1, 3, 3, 4])
    """
    return np.searchsorted(moments, moments + 1 + delay).astype(np.int64)


def after_arrival(times: Array | IntArray, came: Array | IntArray, missing: BoolArray) -> IntArray:
    """Return the first stages (T) later than what came; T where none is, or where it is missing.

    >>> after_arrival(np.array([1, 2, 3]), np.array([2, 2, 2]), np.array([False, False, True]))
    array([2, 2, 3])
    """
    return np.where(missing, len(times), np.searchsorted(times, came, side="right"))
