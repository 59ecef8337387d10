"""The rows of a table as stages: in time order, and with what is known when."""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.tables.reading.columns import Frame, TableError
from bocopt.tables.reading.times import Clock, Times, times_of
from bocopt.tables.timeline.gaps import gaps_note
from bocopt.tables.timeline.known import after_arrival, after_delay
from bocopt.tables.timeline.spec import Spec

Rows = IntArray | slice  # in time order; a slice where they stand so, and nothing is to be copied


class Stages(NamedTuple):
    """All but the numbers."""

    rows: Rows  # (T)
    shown: tuple[str, ...]  # (T) the time
    times: Array | IntArray  # (T) never falling
    moments: IntArray  # (T) the number of the time, from 0: rows of one time share one
    clock: Clock | None  # (T) for the calendar; None where times are numbers, or there are none
    kind: str
    zoned: bool
    notes: tuple[str, ...]


def stages_of(frame: Frame, spec: Spec) -> Stages:
    """Sorted by time; rows of one time stay as they stand."""
    if spec.time is None:
        numbers = np.arange(len(frame))
        counted = tuple(str(number + 1) for number in range(len(frame)))
        return Stages(slice(None), counted, numbers, numbers, None, "number", False, ())
    times = times_of(frame, spec.time)
    rows, notes = _sorted(frame, spec.time, times)
    order = times.order[rows]
    same = np.flatnonzero(np.diff(order) == 0)
    if len(same) and spec.repeated == "refuse":
        raise _repeated(frame, spec.time, np.arange(len(frame))[rows][same[0] : same[0] + 2])
    shown = _in_order(times.shown, rows)
    clock = None if times.clock is None else times.clock[rows]
    gap = gaps_note(times.kind, order, clock, shown)
    moments = np.concatenate([[0], np.cumsum(np.diff(order) > 0)]).astype(np.int64)
    said = (
        *times.notes,
        *_zones(spec.time, times),
        *notes,
        *_kept(same, len(frame)),
        *([gap] if gap else []),
    )
    return Stages(
        rows, tuple(shown), order, moments, clock, times.kind, bool(times.zones), tuple(said)
    )


def _sorted(frame: Frame, name: str, times: Times) -> tuple[Rows, list[str]]:
    falls = np.flatnonzero(np.diff(times.order) < 0)
    if not len(falls):
        return slice(None), []
    first = frame.places[falls[0] + 1]
    note = f"Rows are not in the order of '{name}' ({frame.place} {first} is the first that is not)"
    return np.argsort(times.order, kind="stable"), [f"{note}: they are sorted."]


def _in_order(shown: list[str], rows: Rows) -> list[str]:
    return shown if isinstance(rows, slice) else [shown[row] for row in rows]


def _repeated(frame: Frame, name: str, rows: IntArray) -> TableError:
    what = (
        f"both at {frame.texts(name)[rows[0]]}. Where a time has several decisions, "
        'say repeated = "keep".'
    )
    return frame.error_of_two(rows.tolist(), name, what)


def _kept(same: IntArray, count: int) -> list[str]:
    if not len(same):
        return []
    what = f"{len(same)} of {count} rows have the time of the row before"
    return [f"{what}: all rows of one time are decided before any outcome of it is known."]


def _zones(name: str, times: Times) -> list[str]:
    if not times.zones:
        return []
    zones = " and ".join(times.zones)
    return [f"The times of '{name}' are {zones} from UTC; calendars follow the clock as written."]


def due_of(frame: Frame, spec: Spec, stages: Stages) -> tuple[IntArray, list[str]]:
    """(T) the first stage at which each outcome should be known, and what was assumed."""
    if spec.arrives is None:
        unit = "stages" if stages.moments[-1] == len(frame) - 1 else "times"
        note = f"An outcome is known {spec.delay + 1} {unit} after its decision."
        return after_delay(stages.moments, spec.delay), [note] if spec.delay else []
    came = times_of(frame, spec.arrives, gaps=True)
    _check_comparable(frame, spec, stages, came)
    order, missing = came.order[stages.rows], came.missing[stages.rows]
    early = np.flatnonzero(~missing & (order < stages.times))
    if len(early):
        row = int(np.arange(len(frame))[stages.rows][early[0]])
        expected = f"a time from {stages.shown[early[0]]} on, that of the decision,"
        raise frame.error(row, spec.arrives, expected, came.shown[row])
    notes = [f"An outcome is known to decisions later than its '{spec.arrives}'."]
    if missing.any():
        rows = f"{missing.sum()} of {len(frame)} rows"
        notes.append(f"{rows} have no '{spec.arrives}': their outcomes never arrive.")
    return after_arrival(stages.times, order, missing), notes


def _check_comparable(frame: Frame, spec: Spec, stages: Stages, came: Times) -> None:
    kinds = {"date": "day", "moment": "day"}  # both are counted in microseconds
    if came.missing.all():
        return
    if kinds.get(came.kind, came.kind) != kinds.get(stages.kind, stages.kind):
        what = f"the kind of '{spec.time}' expected ({stages.kind}s), {came.kind}s found"
        raise TableError(f"{frame.path}, column '{spec.arrives}': {what}.")
    if bool(came.zones) != stages.zoned:
        what = f"times with a time zone are in only one of '{spec.time}' and '{spec.arrives}'"
        raise TableError(f"{frame.path}: {what}.")
