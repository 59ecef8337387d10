"""The state of a featuriser: what later rows can still ask of those so far, and of their outcomes.

An outcome waits until a stage comes whose decision may know it; so it changes nothing earlier,
however soon it is told.
"""

from typing import NamedTuple, TypeVar

import numpy as np

from bocopt.core import Array, BoolArray, IntArray

Numbers = TypeVar("Numbers", Array, IntArray)


class Memory(NamedTuple):
    """Outcomes of m numbers; a stage that is older than what a lag can reach is dropped."""

    latest: IntArray  # () the latest stage whose outcome is due; -1 where none is
    stages: IntArray  # (n) whose outcomes are known, rising
    values: Array  # (n, m) these outcomes
    recent: Array  # (r, m) the outcomes that came last, the oldest first
    waiting: IntArray  # (w) stages whose outcomes are told, and known to no decision yet
    after: Array | IntArray  # (w) decisions later than this know it: a stage, or a time (`arrives`)
    outcomes: Array  # (w, m) these outcomes; NaN in all of one that will never come


class FeaturiserState(NamedTuple):
    """State of a featuriser after the rows so far: its size does not grow with their number."""

    t: IntArray  # () the stage that comes next
    time: Array | IntArray  # () of the row before
    zones: IntArray  # (2) the least and the largest offset from UTC so far, in microseconds
    numbers: Array  # (contexts) the last known; NaN where none was
    codes: IntArray  # (categories) likewise
    shared: BoolArray  # () whether a row had the time of the row before
    filled: BoolArray  # () whether a gap was filled from a row before
    memory: Memory


def no_memory(dim: int, after: Array | IntArray) -> Memory:
    """Return the memory before any outcome; `after` is an empty array of the type of times."""
    none, numbers = np.zeros(0, np.int64), np.zeros((0, dim))
    return Memory(np.array(-1), none, numbers, numbers, none, after, numbers)


def learn(memory: Memory, stage: int, xi: Array, after: Array | IntArray) -> Memory:
    """Return the memory with one more outcome (m) that waits; `after` (w) is for all that do."""
    return memory._replace(
        waiting=np.append(memory.waiting, stage),
        after=after,
        outcomes=np.concatenate([memory.outcomes, xi[None]]),
    )


def is_learned(memory: Memory, stage: int) -> bool:
    """Return True if the outcome of a stage waits or is known, as far as is remembered."""
    return bool((memory.waiting == stage).any() or (memory.stages == stage).any())


def filled(last: Numbers, now: Numbers, gaps: BoolArray) -> Numbers:
    """Return the numbers (n) of a row with the last known one in each gap."""
    return np.asarray(np.where(gaps, last, now))


def filled_all(last: Numbers, values: Numbers, gaps: BoolArray) -> Numbers:
    """Return the numbers (n, T) of all rows, `filled` one after the other from the last before.

    >>> values = np.array([[np.nan, 3.0, np.nan, 5.0]])
    >>> filled_all(np.array([np.nan]), values, np.isnan(values))
    array([[nan,  3.,  3.,  5.]])
    """
    if not gaps.any():
        return values
    places = np.maximum.accumulate(np.where(gaps, -1, np.arange(values.shape[1])), axis=1)
    known = np.take_along_axis(values, np.maximum(places, 0), axis=1)
    return np.asarray(np.where(places < 0, last[:, None], known))
