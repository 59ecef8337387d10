"""The state of a featuriser: what later rows can still ask of those so far, and of their outcomes.

A memory says the same as `known` says of a whole table, one stage after the other. An outcome waits
until a stage comes whose decision may know it; so it changes nothing earlier, however soon it is
told.
"""

from typing import NamedTuple

import numpy as np

from bocopt.app.features.known import mean_of_last
from bocopt.app.features.spec import Spec
from bocopt.core import Array, BoolArray, IntArray


class Memory(NamedTuple):
    """Outcomes of m numbers; a stage that is older than what a lag can reach is dropped."""

    latest: IntArray  # () the latest stage whose outcome is due; -1 where none is
    stages: IntArray  # (n) whose outcomes are known, rising
    values: Array  # (n, m) these outcomes
    recent: Array  # (r, m) the outcomes that came last, the oldest first
    waiting: IntArray  # (w) stages whose outcomes are told, and known to no decision yet
    after: Array | IntArray  # (w) each is known to what is later than this
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


def told(memory: Memory, stage: int, xi: Array, after: Array | IntArray) -> Memory:
    """Return the memory with one more outcome (m) that waits; `after` (w) is for all that do."""
    return memory._replace(
        waiting=np.append(memory.waiting, stage),
        after=after,
        outcomes=np.concatenate([memory.outcomes, xi[None]]),
    )


def is_told(memory: Memory, stage: int) -> bool:
    """Return True if the outcome of a stage waits or is known, as far as is remembered."""
    return bool((memory.waiting == stage).any() or (memory.stages == stage).any())


def known_at(memory: Memory, spec: Spec, now: float, latest: int) -> Memory:
    """Return the memory with all known that waited for what is earlier than `now`; `latest` is the
    latest stage that is due by a delay.

    What comes between two decisions comes at once, in the order of stages.
    """
    came = memory.after < now
    order = np.argsort(memory.waiting[came])
    stages, xi = memory.waiting[came][order], memory.outcomes[came][order]
    latest = max(latest, int(memory.latest), *stages.tolist())
    real = ~np.isnan(xi).any(axis=1)
    stages, xi = stages[real], xi[real]
    recent = np.concatenate([memory.recent, xi])
    known, values = np.append(memory.stages, stages), np.concatenate([memory.values, xi])
    rising = np.argsort(known)
    first = kept_since(known[rising], spec, latest)
    kept = rising[first:] if spec.lags else rising[:0]
    return Memory(
        latest=np.array(latest),
        stages=known[kept],
        values=values[kept],
        recent=recent[max(0, len(recent) - max(spec.rolling, default=0)) :],
        waiting=memory.waiting[~came],
        after=memory.after[~came],
        outcomes=memory.outcomes[~came],
    )


def kept_since(known: IntArray, spec: Spec, latest: int) -> int:
    """Return the first place of rising stages that a lag can still ask for, now or later."""
    oldest = latest + 1 - max(spec.lags, default=0)
    return max(0, int(np.searchsorted(known, oldest, side="right")) - 1)


def lags_and_means(memory: Memory, spec: Spec) -> Array:
    """Return the columns (m (lags + means)) of x that look back; NaN where no outcome is known."""
    dim = memory.values.shape[1]
    wanted = int(memory.latest) + 1 - np.array(spec.lags, np.int64)
    places = np.searchsorted(memory.stages, wanted, side="right") - 1
    padded = np.concatenate([memory.values, np.full((1, dim), np.nan)])  # at place -1: none is
    means = [mean_of_last(memory.recent, count) for count in spec.rolling]
    return np.concatenate([padded[places].ravel(), *means])
