"""Outcomes that a decision knows: the one place that guards against looking ahead.

A stage s is known at stage t if its outcome arrives by then: `arrives[s] <= t`, where always
`arrives[s] > s`. Whatever is made of outcomes for stage t is made of those alone.
"""

from bisect import bisect_right, insort
from collections.abc import Sequence

import numpy as np

from bocopt.core import Array, BoolArray, IntArray


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


def lagged(due: IntArray, arrives: IntArray, lags: Sequence[int]) -> IntArray:
    """Return the stages (T, lags) whose outcomes are the lags of each stage; -1 where none is.

    `due` is when an outcome should come, whether it did or not: lags are counted from the latest
    stage that is due, so that they keep their distance around one that never came.

    >>> lagged(np.array([1, 2, 3, 4]), np.array([1, 4, 3, 4]), [1, 2])
    array([[-1, -1],
           [ 0, -1],
           [ 0,  0],
           [ 2,  0]])
    """
    stages = len(due)
    latest = _latest(due).tolist()
    coming = np.argsort(arrives, kind="stable")
    came = np.searchsorted(arrives[coming], np.arange(stages), side="right").tolist()
    queue, known, found = coming.tolist(), list[int](), []
    for t in range(stages):
        for s in queue[len(known) : came[t]]:
            insort(known, s)
        places = [bisect_right(known, latest[t] + 1 - lag) for lag in lags]
        found.append([known[place - 1] if place else -1 for place in places])
    return np.array(found, np.int64).reshape(stages, len(lags))


def _latest(due: IntArray) -> IntArray:
    """Return the latest stage (T) that is due at each stage; -1 where none is."""
    stages = np.arange(len(due))
    latest = np.full(len(due) + 1, -1)
    np.maximum.at(latest, due, stages)
    return np.maximum.accumulate(latest[:-1])


def recent_mean(xi: Array, arrives: IntArray, count: int) -> Array:
    """Return the means (T, m) of the outcomes that came last; NaN where none came yet.

    Each is a sum in the order of arrival, from the oldest, over their number: `mean_of_last` of the
    same outcomes has the same bits.

    >>> recent_mean(np.array([[1.0], [3.0], [8.0], [9.0]]), np.array([1, 2, 3, 4]), 2).ravel()
    array([nan, 1. , 2. , 5.5])
    """
    stages = len(arrives)
    coming = np.argsort(arrives, kind="stable")
    came = np.searchsorted(arrives[coming], np.arange(stages), side="right")
    values = xi[coming[: came[-1]]]
    start = values[: count - 1]
    first = np.cumsum(start, axis=0) / np.arange(1, len(start) + 1)[:, None]
    nothing = np.full((1, xi.shape[1]), np.nan)
    parts = [nothing, first]
    windows = len(values) - count + 1
    if windows > 0:
        total = values[:windows].copy()
        for later in range(1, count):  # one term of all sums at a time: their order is said above
            total += values[later : later + windows]
        parts.append(total / count)
    return np.asarray(np.concatenate(parts)[came])


def mean_of_last(recent: Array, count: int) -> Array:
    """Return the mean (m) of the last outcomes (n, m) in the order of arrival; NaN of none.

    >>> mean_of_last(np.array([[1.0], [3.0], [8.0]]), 2)
    array([5.5])
    """
    last = recent[-count:]
    if not len(last):
        return np.full(recent.shape[1], np.nan)
    return np.asarray(np.cumsum(last, axis=0)[-1] / len(last))  # a sum in this order


def names_of_lag(outcomes: Sequence[str], lag: int) -> tuple[str, ...]:
    """Return the names (m) of the columns of x that are a lag of all outcomes.

    >>> names_of_lag(["demand"], 7)
    ('demand, lag 7',)
    """
    return tuple(f"{outcome}, lag {lag}" for outcome in outcomes)


def names_of_mean(outcomes: Sequence[str], count: int) -> tuple[str, ...]:
    """Return the names (m) of the columns of x that are a mean of the last outcomes."""
    return tuple(f"{outcome}, mean of last {count}" for outcome in outcomes)
