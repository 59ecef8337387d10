"""The state of a stream in memory: a fold of its log, and never more than that."""

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from bocopt.app.features.memory import FeaturiserState
from bocopt.app.service.contexts import features_after
from bocopt.app.service.stores import EventRow, OutcomeTotals, Snapshot, StreamRecord
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.app.service.summaries import stage_summary
from bocopt.core import Bounds
from bocopt.live import sales
from bocopt.live.events import from_bytes, kind_of, snapshot_bytes, to_bytes
from bocopt.live.fold import Corrected, Decided, Event, Observed, Taught
from bocopt.live.record import Live
from bocopt.loop import Stage
from bocopt.state import CheckpointError

Right = Mapping[int, Bounds]  # outcomes that were corrected, by decision


class DamagedError(Exception):
    """A log that cannot be folded, by stream and place: it is damaged, or the policy fails."""


class Beside(NamedTuple):
    """What is folded of the same events beside the state of the agent."""

    features: FeaturiserState | tuple[()]  # what rows to come can look back to, if anything
    sales: sales.Sales | tuple[()]  # whether outcomes look like sales, where they may be


class StreamState(NamedTuple):
    """A stream after all events before `seq`; replaced as a whole."""

    declared: StreamRecord
    template: StreamTemplate
    live: Live
    beside: Beside
    seq: int
    since: Mapping[int, float]  # when those open were decided
    snapped: int  # the place of the latest snapshot
    totals: OutcomeTotals  # of the latest outcome, or of none

    @property
    def stream(self) -> str:
        """Return the id of the stream."""
        return self.declared.id

    @property
    def features(self) -> FeaturiserState | None:
        """Return what rows to come can look back to; None where there are no features."""
        return self.beside.features or None

    def apply(
        self,
        event: Event,
        at: float,
        key: str | None = None,
        known: tuple[Live, Stage | None] | None = None,
    ) -> tuple["StreamState", EventRow, OutcomeTotals | None]:
        """Return the state after an event, and what to log; `known` is the fold, if computed."""
        after, totals = self._after(event, at, known)
        return after, self.row(event, at, key), totals

    def row(self, event: Event, at: float, key: str | None = None, nth: int = 0) -> EventRow:
        """Return what to log of the next event."""
        return EventRow(self.stream, self.seq, *_place(event), key, to_bytes(event), at, nth)

    def caught_up(self, rows: Iterable[EventRow], right: Right | None = None) -> "StreamState":
        """Return the state after events of the log; the sums of outcomes are made anew.

        `right` are those of its outcomes that later events correct.
        """
        return next((s for s, _ in deque(self.folded(rows, right or {}), maxlen=1)), self)

    def folded(
        self, rows: Iterable[EventRow], right: Right
    ) -> Iterator[tuple["StreamState", OutcomeTotals | None]]:
        """Yield the state after each event, and the sums where it is an outcome."""
        state = self
        for row in rows:
            try:
                event = logged(row, state)
                if isinstance(event, Corrected):
                    if event.number not in right:
                        raise CheckpointError("it corrects an outcome that there is not.")
                    state, totals = state._replace(seq=row.seq + 1), None
                else:
                    state, totals = state._ready(event)._after(_put_right(event, right), row.at)
            except CheckpointError as error:
                raise DamagedError(f"Event {row.seq} of stream {row.stream!r}: {error}") from error
            except Exception as error:  # of a policy that cannot take what another one could
                why = f"{type(error).__name__}: {error}"
                raise DamagedError(f"Event {row.seq} of stream {row.stream!r}: {why}") from error
            yield state, totals

    def _ready(self, event: Event) -> "StreamState":
        """Return the same, seen in part where the event was: also if that was corrected since."""
        if isinstance(event, Decided | Taught) and event.in_part:
            return self._replace(live=self.template.fold.seen_in_part(self.live))
        return self

    def _after(
        self, event: Event, at: float, known: tuple[Live, Stage | None] | None = None
    ) -> tuple["StreamState", OutcomeTotals | None]:
        """Return the state after an event that is no correction, and the sums of an outcome."""
        features = features_after(self.template, self.live, self.features, event) or ()
        live, stage = known or self.template.fold.apply(self.live, event)
        totals, questions = None, self.beside.sales
        if stage is not None and isinstance(event, Observed):
            if isinstance(questions, sales.Sales):
                questions = sales.after(questions, stage.decision.solution.z, event.seen)
            told = stage_summary(self.template, live, stage, questions)
            totals = _added(self.totals, stage, at, told)
        since = dict(self.since)
        if isinstance(event, Decided):
            since[event.number] = at
        elif not isinstance(event, Taught):
            since.pop(event.number, None)
        moved = self._replace(
            live=live,
            beside=Beside(features, questions),
            seq=self.seq + 1,
            since=since,
            totals=totals or self.totals,
        )
        return moved, totals

    def overdue(self, now: float) -> list[int]:
        """Decisions whose outcome is no longer waited for."""
        expire = self.template.limits.expire
        if expire is None:
            return []
        return [number for number, since in self.since.items() if now - since > expire]

    def snapshot(self) -> Snapshot:
        """Return a snapshot for the next start."""
        state = snapshot_bytes(self.template.fold, self.live, self.beside)
        return Snapshot(self.stream, self.seq, state, self.template.limits.snapshot)


def _put_right(event: Event, right: Right) -> Event:
    if isinstance(event, Observed) and event.number in right:
        return event._replace(seen=right[event.number])
    return event


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
    nothing = OutcomeTotals(declared.id, 0, -1, 0.0, None, None, None, 0, 0.0, 0, 0.0, "{}")
    problem = template.problem
    beside = Beside(
        template.featuriser.begin() if template.featuriser else (),
        sales.begin(problem.dims.xi) if sales.comparable(problem) else (),
    )
    return StreamState(declared, template, live, beside, 0, {}, 0, nothing)


def _added(before: OutcomeTotals, stage: Stage, at: float, told: str) -> OutcomeTotals:
    """Return the sums after a stage; one of which a part was seen adds nothing to them."""
    in_full = stage.seen is None
    cost = float(stage.cost) if in_full else None
    feasible = int(bool(stage.feasible)) if in_full else None
    best = float(stage.hindsight) if in_full else math.nan
    known = before.hindsights is not None and (math.isfinite(best) or not in_full)
    return OutcomeTotals(
        stream=before.stream,
        n=before.n + 1,
        decision=stage.t,
        at=at,
        cost=cost,
        feasible=feasible,
        hindsight=best if math.isfinite(best) else None,
        known=before.known + in_full,
        costs=before.costs + (cost or 0.0),
        feasibles=before.feasibles + (feasible or 0),
        hindsights=before.hindsights + (best if in_full else 0.0)
        if known and before.hindsights is not None
        else None,
        told=told,
    )
