"""The rows of a table as stages: in time order, and with what is known when."""

from functools import partial
from typing import NamedTuple

import numpy as np

from bocopt.app.faults import Fault
from bocopt.app.features.gaps import gaps_note
from bocopt.app.features.known import StageOutcomes, after_arrival, after_delay
from bocopt.app.features.repeats import (
    notes_of_copies,
    refuse_looking_back,
    refuse_repeated,
)
from bocopt.app.features.spec import Spec
from bocopt.app.reading.columns import Table, TableError, all_of, at_rows
from bocopt.app.reading.times import Clock, Kind, Times, times_of
from bocopt.core import Array, BoolArray, IntArray

Rows = IntArray | slice  # in time order; a slice where they stand so, and nothing is to be copied


class Stages(NamedTuple):
    """Stages of a table: all but their numbers."""

    rows: Rows  # (T)
    shown: tuple[str, ...]  # (T) the time
    times: Array | IntArray  # (T) never falling
    moments: IntArray  # (T) the number of the time, from 0: rows of one time share one
    clock: Clock | None  # (T) for the calendar; None where times are numbers, or there are none
    kind: Kind
    zoned: bool
    notes: tuple[str, ...]

    @property
    def unit(self) -> str:
        """Return the unit of delays and of the warm-up: rows, or times where rows share one."""
        return "rows" if self.moments[-1] == len(self.moments) - 1 else "times"

    def first(self, count: int) -> int:
        """Return the number of stages in the first rows or times."""
        return int(np.searchsorted(self.moments, count))


class TableColumns(NamedTuple):
    """Numbers, categories and outcomes of all rows of a table, in the order of its stages."""

    numbers: Array  # (contexts, T) NaN for a gap
    codes: IntArray  # (categories, T)
    outcomes: StageOutcomes


def stages_of(frame: Table, spec: Spec) -> Stages:
    """Return the rows of a table as stages, sorted by time; rows of one time stay as they stand."""
    if spec.time is None:
        numbers = np.arange(len(frame))
        counted = tuple(str(number + 1) for number in range(len(frame)))
        return Stages(slice(None), counted, numbers, numbers, None, "number", False, ())
    times = _times(frame, spec, spec.time)
    rows, notes = _sorted(frame, spec.time, times)
    order = times.order[rows]
    same = np.flatnonzero(np.diff(order) == 0)
    if len(same):
        refuse = refuse_repeated if spec.repeated == "refuse" else refuse_looking_back
        refuse(frame, spec, times.order)
        notes += [*_kept(same, len(frame)), *notes_of_copies(frame, times.order)]
    shown = _in_order(times.shown, rows)
    clock = None if times.clock is None else times.clock[rows]
    gap = gaps_note(times.kind, order, clock, shown)
    moments = np.concatenate([[0], np.cumsum(np.diff(order) > 0)]).astype(np.int64)
    said = (
        *times.notes,
        *notes_of_zones(spec.time, times),
        *notes,
        *([gap] if gap else []),
    )
    return Stages(
        rows, tuple(shown), order, moments, clock, times.kind, bool(times.zones), tuple(said)
    )


def _sorted(frame: Table, name: str, times: Times) -> tuple[Rows, list[str]]:
    falls = np.flatnonzero(np.diff(times.order) < 0)
    if not len(falls):
        return slice(None), []
    first = frame.places[falls[0] + 1]
    note = f"Rows are not in the order of '{name}' ({frame.place} {first} is the first that is not)"
    return np.argsort(times.order, kind="stable"), [f"{note}: they are sorted."]


def _in_order(shown: list[str], rows: Rows) -> list[str]:
    return shown if isinstance(rows, slice) else [shown[row] for row in rows]


def _times(frame: Table, spec: Spec, name: str) -> Times:
    """Return the times of the rows; an error of some lists faults of the others as well."""
    try:
        return times_of(frame, name)
    except TableError as error:
        wrong = error
    numbers: dict[str, int] = {}
    texts = np.array([numbers.setdefault(text, len(numbers)) for text in frame.texts(name)])
    alone = np.where(frame.gaps(name, of_texts=True), -1 - np.arange(len(frame)), texts)
    refuse = refuse_repeated if spec.repeated == "refuse" else refuse_looking_back

    def raised() -> None:
        """Raise the error of the times that are wrong."""
        raise wrong

    all_of([raised, partial(refuse, frame, spec, alone)])
    raise wrong


def _kept(same: IntArray, count: int) -> list[str]:
    if not len(same):
        return []
    what = f"{len(same)} of {count} rows have the time of the row before"
    return [f"{what}: all rows of one time are decided before any outcome of it is known."]


def notes_of_zones(name: str, times: Times) -> list[str]:
    """Return a note on the zones of times, where they have some."""
    if not times.zones:
        return []
    zones = " and ".join(times.zones)
    return [f"The times of '{name}' are {zones} from UTC; calendars follow the clock as written."]


class Due(NamedTuple):
    """Stages at which outcomes should be known."""

    stages: IntArray  # (T) the first at which each should
    after: Array | IntArray  # (T) decisions later than this know it: a stage, or a time (`arrives`)
    missing: BoolArray  # (T) whether it never comes
    notes: tuple[str, ...]  # what was assumed


def due_of(frame: Table, spec: Spec, stages: Stages, came: Times | None) -> Due:
    """Return the stages (T) at which outcomes are due, by a delay or by the column of arrivals."""
    if spec.arrives is None or came is None:
        unit = "stages" if stages.unit == "rows" else stages.unit
        note = f"An outcome is known {spec.delay + 1} {unit} after its decision."
        after, missing = np.arange(len(frame)) + spec.delay, np.zeros(len(frame), bool)
        due = after_delay(stages.moments, spec.delay)
        return Due(due, after, missing, (note,) if spec.delay else ())
    _check_comparable(frame, spec, stages, came)
    order, missing = came.order[stages.rows], came.missing[stages.rows]
    _refuse_early(frame, spec.arrives, stages, ~missing & (order < stages.times))
    notes = [f"An outcome is known to decisions later than its '{spec.arrives}'."]
    if missing.any():
        rows = f"{missing.sum()} of {len(frame)} rows"
        notes.append(f"{rows} have no '{spec.arrives}': their outcomes never arrive.")
    return Due(after_arrival(stages.times, order, missing), order, missing, tuple(notes))


def _refuse_early(frame: Table, name: str, stages: Stages, early: BoolArray) -> None:
    """Raise an error of all outcomes that come before their decision."""
    rows = np.arange(len(frame))[stages.rows]
    decided = dict(zip(rows[early].tolist(), np.flatnonzero(early).tolist(), strict=True))

    def fault(row: int) -> Fault:
        """Return the fault of an outcome that comes before its decision."""
        time = stages.shown[decided[row]]
        return frame.fault(row, name, f"a time from {time} on, that of the decision,")

    if early.any():
        raise at_rows(np.array(sorted(decided)), fault)


def _check_comparable(frame: Table, spec: Spec, stages: Stages, came: Times) -> None:
    kinds = {"date": "day", "moment": "day"}  # both are counted in microseconds
    if came.missing.all():
        return
    if kinds.get(came.kind, came.kind) != kinds.get(stages.kind, stages.kind):
        what = f"the kind of '{spec.time}' expected ({stages.kind}s), {came.kind}s found"
        raise TableError(f"{frame.path}, column '{spec.arrives}': {what}.")
    if bool(came.zones) != stages.zoned:
        what = f"times with a time zone are in only one of '{spec.time}' and '{spec.arrives}'"
        raise TableError(f"{frame.path}: {what}.")
