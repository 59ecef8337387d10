"""Checks of a row against the rows before it: its time, repetitions of it, and gaps."""

from collections.abc import Iterator, Sequence

import numpy as np

from bocopt.app.features.memory import FeaturiserState
from bocopt.app.features.row import Row, wrong_field
from bocopt.app.features.spec import Spec
from bocopt.app.features.stages import Stages
from bocopt.app.reading.times import SUMMER_TIME, Time
from bocopt.core import Array, IntArray

_MICROSECONDS = 1_000_000
_APART = SUMMER_TIME.total_seconds() * _MICROSECONDS  # that the zones of all rows may be


def zones_with(zones: IntArray, offset: int | None) -> IntArray:
    """Return the least and the largest offset from UTC (2), with one more."""
    if offset is None:
        return zones
    return np.array([min(zones[0], offset), max(zones[1], offset)], np.int64)


def zones_of(nothing: IntArray, stages: Stages) -> IntArray:
    """Return the least and the largest offset from UTC (2) of all stages."""
    if not stages.zoned or stages.clock is None:
        return nothing
    offsets = stages.clock.astype("M8[us]").astype(np.int64) - stages.times
    return zones_with(zones_with(nothing, int(offsets.min())), int(offsets.max()))


def wrong_times(
    state: FeaturiserState, row: Row, spec: Spec, time: Time, zoned: bool, words: str
) -> Iterator[str]:
    """Yield all that is wrong with the time of a row."""
    name = str(spec.time)
    if (time.offset is not None) != zoned:
        yield wrong_field(row, name, words)
        return
    low, high = zones_with(state.zones, time.offset).tolist()
    if time.offset is not None and high - low > _APART:
        yield wrong_field(row, name, "in a time zone at most an hour from that of the rows before")
    if state.t == 0 or time.order > state.time:
        return
    before = _shown(state.time, time.clock is not None, zoned)
    if time.order < state.time:
        yield wrong_field(row, name, f"{before} or later, as the row before has that time")
    elif spec.repeated == "refuse":
        expected = f'later than {before}, the time of the row before, or repeated = "keep"'
        yield wrong_field(row, name, expected)
    elif spec.lags or spec.rolling:
        asked = " and ".join(f"'{one}'" for one in ("lags", "rolling") if getattr(spec, one))
        expected = f"later than {before}, the time of the row before, where there are {asked}"
        yield wrong_field(row, name, expected)


def wrong_gaps(
    state: FeaturiserState, spec: Spec, gaps: Sequence[str], shared: bool
) -> Iterator[str]:
    """Yield all that is wrong with gaps in a row, and with filled ones where times repeat."""
    if spec.missing == "refuse":
        yield from (f"The field '{name}' is missing." for name in gaps)
    elif spec.missing == "last" and shared:
        why = "and where rows share a time, the row before may be of another series"
        yield from (
            f"The field '{name}' is missing, {why}: its value cannot stand here." for name in gaps
        )
        if state.filled and not gaps:
            yield f'Gaps were filled from rows before, {why}: say missing = "keep".'


def _shown(order: Array | IntArray, clock: bool, zoned: bool) -> str:
    """Return a time as a text, in UTC where it has a zone."""
    if not clock:
        return f"{float(order):g}"
    text = str(np.datetime_as_string(np.datetime64(int(order), "us"), unit="auto"))
    return f"{text}+00:00" if zoned else text
