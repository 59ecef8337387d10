"""The state of a stream in memory: a fold of its log, and never more than that."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from bocopt.app.features.memory import FeaturiserState
from bocopt.app.service.contexts import features_after
from bocopt.app.service.stores import EventRow, OutcomeTotals, Snapshot, Store, StreamRecord
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.app.service.summaries import stage_summary
from bocopt.live.events import (
    beside_snapshot,
    from_bytes,
    from_snapshot,
    kind_of,
    snapshot_bytes,
    to_bytes,
)
from bocopt.live.fold import Decided, Event, Taught
from bocopt.live.record import Live
from bocopt.loop import Stage
from bocopt.state import CheckpointError

_AT_ONCE = 100  # rows of a log that are read at once


class DamagedError(Exception):
    """A log that cannot be folded, by stream and place: it is damaged, or the policy fails."""


class StreamState(NamedTuple):
    """A stream after all events before `seq`; replaced as a whole."""

    declared: StreamRecord
    template: StreamTemplate
    live: Live
    features: FeaturiserState | None  # what rows to come can look back to, where there are any
    seq: int
    since: Mapping[int, float]  # when those open were decided
    snapped: int  # the place of the latest snapshot
    totals: OutcomeTotals  # of the latest outcome, or of none

    @property
    def stream(self) -> str:
        """Return the id of the stream."""
        return self.declared.id

    def apply(
        self,
        event: Event,
        at: float,
        key: str | None = None,
        known: tuple[Live, Stage | None] | None = None,
    ) -> tuple["StreamState", EventRow, OutcomeTotals | None]:
        """Return the state after an event, and what to log; `known` is the fold, if computed."""
        row = EventRow(self.stream, self.seq, *_place(event), key, to_bytes(event), at)
        features = features_after(self.template, self.live, self.features, event)
        live, stage = known or self.template.fold.apply(self.live, event)
        totals = None
        if stage is not None:
            totals = _added(self.totals, stage, at, stage_summary(self.template, live, stage))
        moved = self._moved(live, features, event, at)
        return moved._replace(totals=totals or self.totals), row, totals

    def caught_up(self, rows: Iterable[EventRow]) -> "StreamState":
        """Return the state after events of the log; the sums of outcomes are made anew."""
        state = self
        for row in rows:
            try:
                event = logged(row, state)
                features = features_after(state.template, state.live, state.features, event)
                live, stage = state.template.fold.apply(state.live, event)
            except CheckpointError as error:
                raise DamagedError(f"Event {row.seq} of stream {row.stream!r}: {error}") from error
            except Exception as error:  # of a policy that cannot take what another one could
                why = f"{type(error).__name__}: {error}"
                raise DamagedError(f"Event {row.seq} of stream {row.stream!r}: {why}") from error
            totals = state.totals
            if stage is not None:
                totals = _added(totals, stage, row.at, stage_summary(state.template, live, stage))
            state = state._moved(live, features, event, row.at)._replace(totals=totals)
        return state

    def _moved(
        self, live: Live, features: FeaturiserState | None, event: Event, at: float
    ) -> "StreamState":
        since = dict(self.since)
        if isinstance(event, Decided):
            since[event.number] = at
        elif not isinstance(event, Taught):
            since.pop(event.number, None)
        return self._replace(live=live, features=features, seq=self.seq + 1, since=since)

    def overdue(self, now: float) -> list[int]:
        """Decisions whose outcome is no longer waited for."""
        expire = self.template.limits.expire
        if expire is None:
            return []
        return [number for number, since in self.since.items() if now - since > expire]

    def snapshot(self) -> Snapshot:
        """Return a snapshot for the next start."""
        state = snapshot_bytes(self.template.fold, self.live, self.features or ())
        return Snapshot(self.stream, self.seq, state)


def logged(row: EventRow, state: StreamState) -> Event:
    """The event of a row that comes next, checked against what the row says of it."""
    if row.seq != state.seq:
        raise CheckpointError(f"it stands where event {state.seq} was due.")
    event = from_bytes(row.body, state.template.problem)
    if (row.kind, row.decision) != _place(event):
        said = "" if isinstance(event, Taught) else " of decision"
        said = f"{kind_of(event)}{said} {event.number}"
        raise CheckpointError(f"it is the {said}, and its row says otherwise.")
    return event


def _place(event: Event) -> tuple[str, int]:
    """Return the kind of an event, and the number that its row has for the decision."""
    taught = isinstance(event, Taught)
    return kind_of(event), lesson_place(event.number) if taught else event.number


def lesson_place(number: int) -> int:
    """Return the number that stands for the decision in a lesson's row, as it is about none.

    >>> [lesson_place(number) for number in (0, 1, 2)]
    [-1, -2, -3]
    """
    return -1 - number


def initial(template: StreamTemplate, declared: StreamRecord) -> StreamState:
    """Before any event."""
    live = template.fold.begin(declared.seed)
    nothing = OutcomeTotals(declared.id, 0, -1, 0.0, 0.0, 0, None, 0.0, 0, 0.0, "{}")
    features = template.featuriser.begin() if template.featuriser else None
    return StreamState(declared, template, live, features, 0, {}, 0, nothing)


def rebuilt(
    store: Store,
    template: StreamTemplate,
    declared: StreamRecord,
    beat: Callable[[], None] = lambda: None,
) -> StreamState:
    """Return the state from the latest sound snapshot and the rest of the log."""
    return followed(store, _from_snapshot(store, template, declared), beat)


def followed(
    store: Store, state: StreamState, beat: Callable[[], None] = lambda: None
) -> StreamState:
    """Return the state after all that was logged since; `beat` is called now and then."""
    while rows := store.tail(state.stream, state.seq - 1, _AT_ONCE):
        state = state.caught_up(rows)
        beat()
    return state


def as_it_was(store: Store, state: StreamState, seq: int, far: int) -> StreamState | None:
    """Before the event at `seq`; None where more than so many would have to be folded again."""
    start = _from_snapshot(store, state.template, state.declared, seq)
    if seq - start.seq > far:
        return None
    return start.caught_up(store.tail(state.stream, start.seq - 1, seq - start.seq))


def _from_snapshot(
    store: Store, template: StreamTemplate, declared: StreamRecord, up_to: int | None = None
) -> StreamState:
    """The latest that is sound and not after `up_to`, or the beginning."""
    first = initial(template, declared)
    for snapshot in store.snapshots(declared.id):
        if up_to is None or snapshot.seq <= up_to:
            state = _after_snapshot(store, first, snapshot)
            if state is not None:  # else the one before it, or the log alone, will do
                return state
    return first


def _after_snapshot(store: Store, first: StreamState, snapshot: Snapshot) -> StreamState | None:
    """Return the state that a snapshot is of; None where it is damaged, or the log lacks its part.

    `first` is the state of the same stream before any event.
    """
    try:
        live = from_snapshot(snapshot.state, first.template.fold, first.declared.seed)
        features = first.features and beside_snapshot(snapshot.state, first.features)
    except CheckpointError:
        return None
    times = store.decided_at(first.stream, min(live.open)) if live.open else {}
    known = store.stages(first.stream, live.learned - 1, 1) if live.learned else [first.totals]
    if not times.keys() >= live.open.keys() or not known or known[0].n != live.learned:
        return None
    return first._replace(
        live=live,
        features=features,
        seq=snapshot.seq,
        since={number: times[number] for number in live.open},
        snapped=snapshot.seq,
        totals=known[0],
    )


def _added(before: OutcomeTotals, stage: Stage, at: float, told: str) -> OutcomeTotals:
    cost, best = float(stage.cost), float(stage.hindsight)
    known = before.hindsights is not None and math.isfinite(best)
    feasible = int(bool(stage.feasible))
    return OutcomeTotals(
        stream=before.stream,
        n=before.n + 1,
        decision=stage.t,
        at=at,
        cost=cost,
        feasible=feasible,
        hindsight=best if math.isfinite(best) else None,
        costs=before.costs + cost,
        feasibles=before.feasibles + feasible,
        hindsights=(before.hindsights or 0.0) + best if known else None,
        told=told,
    )
