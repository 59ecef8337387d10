"""Lags and means of known outcomes: of one stage after the other, or of all stages of a table.

Each is defined here and nowhere else, in two ways that give the same bits. `take` goes on by one
stage and needs a memory whose size does not grow; `take_all` looks at a whole table at once, which
is some 25 times as fast.
"""

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bocopt.app.features.known import StageOutcomes
from bocopt.app.features.memory import Memory
from bocopt.core import Array, IntArray


@dataclass(frozen=True)
class LookingBack:
    """Columns of x that are lags, and means of the last of the known outcomes.

    >>> outcomes = LookingBack(lags=[7], means=[2])
    >>> outcomes.names(["demand"])
    ('demand, lag 7', 'demand, mean of last 2')
    """

    lags: Sequence[int]
    means: Sequence[int]  # of so many outcomes that came last

    def names(self, outcomes: Sequence[str]) -> tuple[str, ...]:
        """Return the names (m (lags + means)) of the columns, for the names (m) of the outcomes."""
        endings = [f"lag {lag}" for lag in self.lags]
        endings += [f"mean of last {count}" for count in self.means]
        return tuple(f"{outcome}, {ending}" for ending in endings for outcome in outcomes)

    def take(self, memory: Memory, now: float, latest: int) -> tuple[Memory, Array]:
        """Return the memory at the next stage, and its columns (m (lags + means)), NaN where none.

        All becomes known that waited for what is earlier than `now`; what comes between two stages
        comes at once, in the order of stages. `latest` is the latest stage that is due by a delay.
        """
        if not (self.lags or self.means):
            return memory, np.zeros(0)
        came = memory.after < now
        order = np.argsort(memory.waiting[came])
        stages, xi = memory.waiting[came][order], memory.outcomes[came][order]
        latest = max(latest, int(memory.latest), *stages.tolist())
        real = ~np.isnan(xi).any(axis=1)
        stages, xi = stages[real], xi[real]
        known, values = np.append(memory.stages, stages), np.concatenate([memory.values, xi])
        rising = np.argsort(known)
        kept = rising[self._kept(known[rising], latest)]
        after = Memory(
            latest=np.array(latest),
            stages=known[kept],
            values=values[kept],
            recent=self._recent(np.concatenate([memory.recent, xi])),
            waiting=memory.waiting[~came],
            after=memory.after[~came],
            outcomes=memory.outcomes[~came],
        )
        wanted = latest + 1 - np.array(self.lags, np.int64)
        places = np.searchsorted(after.stages, wanted, side="right") - 1
        lags = _at(after.values, places)
        return after, np.concatenate([lags.ravel(), *(mean(after.recent, n) for n in self.means)])

    def take_all(self, nothing: Memory, outcomes: StageOutcomes) -> tuple[Memory, Array]:
        """Return the memory after all stages, and the columns (T, m (lags + means)).

        `nothing` is the memory before the first.
        """
        xi, due, arrives = outcomes.xi, outcomes.due, outcomes.arrives
        stages = len(xi)
        if not (self.lags or self.means):
            return nothing, np.zeros((stages, 0))
        places = lagged(due, arrives, self.lags)
        columns = [_at(xi, place) for place in places.T]
        columns += [means(xi, arrives, count) for count in self.means]
        latest = int(_latest(due)[-1])
        waits = outcomes.reported & (due == stages)
        known = np.flatnonzero(arrives < stages)
        coming = known[np.argsort(arrives[known], kind="stable")]
        kept = known[self._kept(known, latest)]
        after = Memory(
            latest=np.array(latest),
            stages=kept,
            values=xi[kept],
            recent=self._recent(xi[coming]),
            waiting=np.flatnonzero(waits),
            after=np.concatenate([nothing.after, outcomes.after[waits]]),
            outcomes=xi[waits],
        )
        return after, np.concatenate(columns, axis=1)

    def _kept(self, known: IntArray, latest: int) -> slice:
        """Return which of the known stages, rising, a lag can still ask for, now or later."""
        if not self.lags:
            return slice(0)
        oldest = latest + 1 - max(self.lags)
        return slice(max(0, int(np.searchsorted(known, oldest, side="right")) - 1), None)

    def _recent(self, came: Array) -> Array:
        """Return the outcomes, of those in the order of arrival, that a mean can still ask for."""
        return came[max(0, len(came) - max(self.means, default=0)) :]


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
    queue, came = _in_order_of_arrival(arrives)
    coming, known, found = queue.tolist(), list[int](), []
    for t, count in enumerate(came.tolist()):
        for s in coming[len(known) : count]:
            insort(known, s)
        places = [bisect_right(known, latest[t] + 1 - lag) for lag in lags]
        found.append([known[place - 1] if place else -1 for place in places])
    return np.array(found, np.int64).reshape(stages, len(lags))


def means(xi: Array, arrives: IntArray, count: int) -> Array:
    """Return the means (T, m) of the outcomes that came last at each stage; NaN where none came.

    Each is a sum in the order of arrival, from the oldest, over their number, as in `mean`.

    >>> means(np.array([[1.0], [3.0], [8.0], [9.0]]), np.array([1, 2, 3, 4]), 2).ravel()
    array([nan, 1. , 2. , 5.5])
    """
    queue, came = _in_order_of_arrival(arrives)
    values = xi[queue[: came[-1]]]
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


def mean(recent: Array, count: int) -> Array:
    """Return the mean (m) of the last outcomes (n, m) in the order of arrival; NaN of none.

    >>> mean(np.array([[1.0], [3.0], [8.0]]), 2)
    array([5.5])
    """
    last = recent[-count:]
    if not len(last):
        return np.full(recent.shape[1], np.nan)
    return np.asarray(np.cumsum(last, axis=0)[-1] / len(last))  # a sum in this order


def _at(xi: Array, places: IntArray) -> Array:
    """Return the outcomes (places, m) at some places; NaN at place -1."""
    padded = np.concatenate([xi, np.full((1, xi.shape[1]), np.nan)])
    return padded[places]


def _in_order_of_arrival(arrives: IntArray) -> tuple[IntArray, IntArray]:
    """Return the stages (T) in the order in which they arrive, and how many have at each (T)."""
    queue = np.argsort(arrives, kind="stable")
    came = np.searchsorted(arrives[queue], np.arange(len(arrives)), side="right")
    return queue, np.asarray(came, np.int64)


def _latest(due: IntArray) -> IntArray:
    """Return the latest stage (T) that is due at each stage; -1 where none is."""
    stages = np.arange(len(due))
    latest = np.full(len(due) + 1, -1)
    np.maximum.at(latest, due, stages)
    return np.maximum.accumulate(latest[:-1])
