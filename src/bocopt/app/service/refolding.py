"""Logs folded with corrections: the right outcomes in their places, whoever reads them and when.

A correction changes the past. So a state, or a snapshot, after which an outcome of before it is
corrected says nothing of what comes after that correction: what is needed is folded again, from a
snapshot that is older than the wrong outcome.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from bocopt.app.service.stores import EventRow, OutcomeTotals, Snapshot, Store, StreamRecord
from bocopt.app.service.stream_state import (
    Beside,
    DamagedError,
    Right,
    StreamState,
    initial,
)
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.live.events import beside_snapshot, from_bytes, from_snapshot
from bocopt.live.fold import Corrected
from bocopt.state import CheckpointError

_AT_ONCE = 100  # rows of a log that are read at once
_KEPT = 12  # states that a walk along a log can go back to

Beat = Callable[[], None]  # called now and then while a log is folded


def _quiet() -> None:
    return


def rebuilt(
    store: Store, template: StreamTemplate, declared: StreamRecord, beat: Beat = _quiet
) -> StreamState:
    """Return the state from the latest snapshot that is of use, and the rest of the log."""
    end = store.last_seq(declared.id) + 1
    return followed(store, _from_snapshot(store, template, declared, end, end), beat)


def followed(store: Store, state: StreamState, beat: Beat = _quiet) -> StreamState:
    """Return the state after all that was logged since."""
    while state.seq < (end := store.last_seq(state.stream) + 1):
        later = _before(store.corrections(state.stream, state.seq - 1), end)
        if any(wrong < state.seq for _, wrong in later):
            state = _from_snapshot(store, state.template, state.declared, end, end)
            later = _before(store.corrections(state.stream, state.seq - 1), end)
        right = right_of(state.template, [row for row, _ in later])
        while state.seq < end:
            rows = store.tail(state.stream, state.seq - 1, min(_AT_ONCE, end - state.seq))
            if not rows:
                raise DamagedError(f"Event {state.seq} of stream {state.stream!r} is missing.")
            state = state.caught_up(rows, right)
            beat()
    return state


def as_it_was(store: Store, state: StreamState, seq: int, far: int) -> StreamState | None:
    """Before the event at `seq`, with what was known then; corrections of later are not.

    None where more than so many events would have to be folded again.
    """
    start = _from_snapshot(store, state.template, state.declared, seq, seq)
    if seq - start.seq > far:
        return None
    rows = store.tail(state.stream, start.seq - 1, seq - start.seq)
    return start.caught_up(rows, right_of(state.template, rows))


def before_outcome(
    store: Store, state: StreamState, wrong: int, fresh: Sequence[EventRow]
) -> tuple[StreamState, list[EventRow]] | None:
    """Return a state before the first wrong outcome, and the rows from there on.

    `fresh` are rows that are not in the store yet, the last of `state`. None where more rows than
    the stream's limit would have to be folded again.
    """
    end = state.seq - len(fresh)
    start = _from_snapshot(store, state.template, state.declared, wrong, end)
    if state.seq - start.seq > state.template.limits.correctable:
        return None
    return start, [*store.tail(state.stream, start.seq - 1, end - start.seq), *fresh]


class Refolded(NamedTuple):
    """What comes of rows once the outcomes among them that were wrong are right."""

    state: StreamState
    totals: list[OutcomeTotals]  # of each outcome
    snapshots: list[Snapshot]  # at the places that were asked for


def corrected(
    start: StreamState, rows: Sequence[EventRow], places: Collection[int], beat: Beat = _quiet
) -> Refolded:
    """Return what comes of rows that correct outcomes among them, with snapshots at some places.

    A snapshot is made anew, or the next correction would have to begin before this one.
    """
    found, as_of = Refolded(start, [], []), rows[-1].seq + 1
    for state, totals in start.folded(rows, right_of(start.template, rows)):
        found = found._replace(state=state)
        if totals is not None:
            found.totals.append(totals)
        if state.seq in places:
            found.snapshots.append(state.snapshot()._replace(as_of=as_of))
        if state.seq % _AT_ONCE == 0:
            beat()
    return found


def right_of(template: StreamTemplate, rows: Sequence[EventRow]) -> Right:
    """Return what is right by the corrections among some rows, by decision: the latest counts."""
    events = [from_bytes(row.body, template.problem) for row in rows if row.kind == "correction"]
    return {event.number: event.seen for event in events if isinstance(event, Corrected)}


class Walk:
    """A log event by event from its first, as whoever wrote it knew it at each.

    So a decision is found with the outcomes that were believed when it was taken, the wrong ones
    before their correction.
    """

    def __init__(self, store: Store, first: StreamState) -> None:
        self.state, self._store = first, store
        self._first, self._past = first, [first]
        self._apart = max(_AT_ONCE, first.template.limits.correctable // (_KEPT - 2))

    def step(self, row: EventRow) -> None:
        """Go on by one event; a DamagedError where it cannot be folded."""
        if row.kind != "correction":
            self.state = self.state.caught_up([row])
        else:
            self.state = self._again(row)
        if self.state.seq - self._past[-1].seq >= self._apart:
            self._past = [*self._past[1 - _KEPT :], self.state]

    def back(self, seq: int) -> StreamState:
        """Return the state before an event of before, with what is right by now."""
        if seq == self.state.seq:
            return self.state
        start = [each for each in [self._first, *self._past] if each.seq <= seq][-1]
        rows = self._store.tail(start.stream, start.seq - 1, self.state.seq - start.seq)
        return start.caught_up(rows[: seq - start.seq], right_of(start.template, rows))

    def _again(self, row: EventRow) -> StreamState:
        found = self._store.corrections(row.stream, row.seq - 1)[:1]
        wrong = found[0][1] if found else row.seq
        self._past = [each for each in self._past if each.seq <= wrong] or [self._first]
        start = self._past[-1]
        rows = self._store.tail(row.stream, start.seq - 1, row.seq + 1 - start.seq)
        return start.caught_up(rows, right_of(start.template, rows) if found else {})


def _before(corrections: Sequence[tuple[EventRow, int]], end: int) -> list[tuple[EventRow, int]]:
    return [(row, wrong) for row, wrong in corrections if row.seq < end]


def _from_snapshot(
    store: Store, template: StreamTemplate, declared: StreamRecord, up_to: int, end: int
) -> StreamState:
    """Return the latest snapshot that is sound and not after `up_to`, or the beginning.

    None of what it knows is corrected before `end`.
    """
    first = initial(template, declared)
    for snapshot in _of_use(store, declared.id, up_to, end):
        state = _after_snapshot(store, first, snapshot)
        if state is not None:  # else the one before it, or the log alone, will do
            return state
    return first


def _of_use(store: Store, stream: str, up_to: int, end: int) -> Iterator[Snapshot]:
    for snapshot in store.snapshots(stream):
        as_of = max(snapshot.seq, snapshot.as_of)
        if snapshot.seq <= up_to and as_of <= end:
            later = _before(store.corrections(stream, as_of - 1), end)
            if all(wrong >= snapshot.seq for _, wrong in later):
                yield snapshot


def _after_snapshot(store: Store, first: StreamState, snapshot: Snapshot) -> StreamState | None:
    """Return the state that a snapshot is of; None where it is damaged, or the log lacks its part.

    `first` is the state of the same stream before any event.
    """
    try:
        live = from_snapshot(snapshot.state, first.template.fold, first.declared.seed)
        beside: Beside = beside_snapshot(snapshot.state, first.beside)
    except CheckpointError:
        return None
    times = store.decided_at(first.stream, min(live.open)) if live.open else {}
    known = store.stages(first.stream, live.learned - 1, 1) if live.learned else [first.totals]
    if not times.keys() >= live.open.keys() or not known or known[0].n != live.learned:
        return None
    return first._replace(
        live=live,
        beside=beside,
        seq=snapshot.seq,
        since={number: times[number] for number in live.open},
        snapped=snapshot.seq,
        totals=known[0],
    )
