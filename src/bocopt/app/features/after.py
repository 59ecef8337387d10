"""The state of a featuriser after a whole table: that of its rows one at a time, all at once."""

from typing import NamedTuple, TypeVar

import numpy as np

from bocopt.app.features.category import GAP
from bocopt.app.features.featuriser import Featuriser
from bocopt.app.features.memory import FeaturiserState, Memory, kept_since
from bocopt.app.features.spec import Spec
from bocopt.app.features.stages import Stages, stages_of
from bocopt.app.features.succession import zones_with
from bocopt.app.reading.columns import Table
from bocopt.app.reading.times import times_of
from bocopt.core import Array, BoolArray, IntArray

Numbers = TypeVar("Numbers", Array, IntArray)


def after_table(featuriser: Featuriser, frame: Table) -> FeaturiserState:
    """The state after all rows of a table, and what came of them.

    It has the bits of `decide` and `learn` of each row in the order of the stages.
    """
    spec, nothing = featuriser.spec, featuriser.begin()
    stages = stages_of(frame, spec)
    numbers = np.array([frame.numbers(name)[stages.rows] for name in spec.context], np.float64)
    numbers = numbers.reshape(len(spec.context), len(frame))
    codes = _codes(featuriser, frame, stages)
    gaps = np.isnan(numbers), codes == GAP
    filled = spec.missing == "last"
    memory = nothing.memory
    if spec.lags or spec.rolling:
        memory = _memory(memory, spec, stages, _told(frame, spec, stages))
    return FeaturiserState(
        t=np.array(len(frame)),
        time=stages.times[-1].astype(nothing.time.dtype),
        zones=_zones(nothing.zones, stages),
        numbers=_last_of(numbers, ~gaps[0], nothing.numbers) if filled else numbers[:, -1],
        codes=_last_of(codes, ~gaps[1], nothing.codes) if filled else codes[:, -1],
        shared=np.array(bool((np.diff(stages.moments) == 0).any())),
        filled=np.array(filled and bool(gaps[0].any() or gaps[1].any())),
        memory=memory,
    )


class _Told(NamedTuple):
    """Stages whose outcomes are told, rising."""

    stages: IntArray  # (n)
    xi: Array  # (n, m) NaN in all of one that came without a number
    after: Array | IntArray  # (n) each is known to what is later than this
    known: IntArray  # (n) the first stage at which each is known; T where none is


def _told(frame: Table, spec: Spec, stages: Stages) -> _Told:
    many = len(frame)
    xi = np.stack([frame.numbers(name)[stages.rows] for name in spec.outcome], axis=1)
    gap = np.asarray(np.isnan(xi).any(axis=1))
    if spec.arrives is None:
        which = np.flatnonzero(~gap)
        after = which + spec.delay
        return _Told(which, xi[which], after, np.minimum(after + 1, many))
    came = times_of(frame, spec.arrives, gaps=True)
    rows = np.arange(many)[stages.rows]
    which = np.flatnonzero(~came.missing[rows])
    order = came.order[rows][which]
    known: IntArray = np.asarray(np.searchsorted(stages.times, order, side="right"), np.int64)
    found = np.where(gap[which, None], np.nan, xi[which])
    return _Told(which, found, order, known)


def _memory(nothing: Memory, spec: Spec, stages: Stages, told: _Told) -> Memory:
    """The outcomes that later rows can ask for, after the last decision and what came since."""
    many = len(stages.times)
    came = told.known < many
    due = -1 if spec.arrives else max(many - 2 - spec.delay, -1)
    latest = max(due, int(told.stages[came].max(initial=-1)))
    real = came & ~np.isnan(told.xi).any(axis=1)
    known, values = told.stages[real], told.xi[real]
    arrived = np.argsort(told.known[real], kind="stable")  # of one decision by their stages
    recent = values[arrived]
    kept = slice(kept_since(known, spec, latest), None) if spec.lags else slice(0)
    return Memory(
        latest=np.array(latest),
        stages=known[kept],
        values=values[kept],
        recent=recent[max(0, len(recent) - max(spec.rolling, default=0)) :],
        waiting=told.stages[~came],
        after=np.concatenate([nothing.after, told.after[~came]]),
        outcomes=told.xi[~came],
    )


def _codes(featuriser: Featuriser, frame: Table, stages: Stages) -> IntArray:
    """(categories, T) as `Featuriser.decide` reads them."""
    found = []
    for category in featuriser.categories:
        texts = frame.texts(category.name)
        code_of = {text: category.code(category.text(text) or "") for text in {*texts}}
        codes = np.array([code_of[text] for text in texts], np.int64)
        found.append(codes[stages.rows])
    return np.array(found, np.int64).reshape(len(found), len(frame))


def _last_of(values: Numbers, known: BoolArray, nothing: Numbers) -> Numbers:
    """(n, T) -> (n) the last that is known; what there was before where none is."""
    many = values.shape[1]
    place = np.where(known, np.arange(many), -1).max(axis=1, initial=-1)
    return np.asarray(np.where(place < 0, nothing, values[np.arange(len(values)), place]))


def _zones(nothing: IntArray, stages: Stages) -> IntArray:
    """(2) The least and the largest offset from UTC."""
    if not stages.zoned or stages.clock is None:
        return nothing
    offsets = stages.clock.astype("M8[us]").astype(np.int64) - stages.times
    return zones_with(zones_with(nothing, int(offsets.min())), int(offsets.max()))
