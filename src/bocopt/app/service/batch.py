"""A batch of commands, done on copies: what is to be logged, and what to answer once it is."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from bocopt.app.service.commands import (
    Command,
    Decide,
    Forget,
    Observe,
    Query,
    RefusedError,
    Reply,
    Teach,
)
from bocopt.app.service.contexts import Context, context_of, outcome_of, row_of
from bocopt.app.service.precompute import Find, Precomputed
from bocopt.app.service.shown import outcome_shown, shown, ticket
from bocopt.app.service.stores import EventRow, OutcomeTotals, Snapshot, Store
from bocopt.app.service.stream_state import StreamState, lesson_place
from bocopt.core import Array
from bocopt.live.events import from_bytes
from bocopt.live.fold import Decided, Event, Forgotten, Observed, Taught

T = TypeVar("T")


class StaleError(Exception):
    """Another writer has gone on with a stream: what is held of it must catch up first."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.stream = stream


class Batch:
    """Commands are done one after the other; nothing is seen outside before it is committed.

    The store is only read.
    """

    def __init__(
        self, store: Store, find: Find, now: float, ahead: Precomputed | None = None
    ) -> None:
        self._store, self._find, self._now = store, find, now
        self._ahead = ahead or Precomputed()
        self.held: dict[str, StreamState] = {}  # streams as they will be
        self.rows: list[EventRow] = []
        self.stages: list[OutcomeTotals] = []

    def do(self, command: Command) -> Reply:
        """The answer, which counts once the rows are committed; or a RefusedError."""
        if isinstance(command, Decide):
            return self._ask(command)
        if isinstance(command, Observe):
            return self._tell(command)
        if isinstance(command, Teach):
            return self._teach(command)
        if isinstance(command, Forget):
            return self._drop(command)
        assert isinstance(command, Query)
        self._be_fresh(command.stream)
        return Reply(200, shown(self._store, self._of(command.stream), command))

    def snapshots(self) -> list[Snapshot]:
        """Return snapshots of the streams that are due for one, and note that they have it."""
        due = [h for h in self.held.values() if h.seq - h.snapped >= h.kind.limits.snapshot]
        self.held |= {held.stream: held._replace(snapped=held.seq) for held in due}
        return [held.snapshot() for held in due]

    def _of(self, stream: str) -> StreamState:
        return self.held.get(stream) or self._find(stream)

    def _be_fresh(self, stream: str) -> None:
        """Raise a StaleError if the log has events of a stream that its state in memory lacks."""
        if self._store.last_seq(stream) != self._find(stream).seq - 1:
            raise StaleError(stream)

    def _ask(self, ask: Decide) -> Reply:
        held = self._of(ask.stream)
        waiting = held.live.open
        before = self._asked_before(ask)
        if before is not None:
            return self._again(held, before, ask.x)
        x, row_sent, missing = _context(held, "decisions", ask.x)
        if len(waiting) >= held.kind.limits.max_open:
            self._be_fresh(ask.stream)
            raise RefusedError(
                409,
                f"{len(waiting)} decisions of {ask.stream!r} wait for their outcome, as many as "
                "max_open allows. Report or delete some first.",
            )
        event = self._ahead.decide(held, x)._replace(row=row_sent)
        row = self._log(held, event, ask.key)
        return Reply(201, ticket(held.kind, event, row.at) | _said(held, missing))

    def _asked_before(self, ask: Decide) -> EventRow | None:
        if ask.key is None:
            return None
        place = (ask.stream, ask.key)
        fresh = next((row for row in self.rows if (row.stream, row.key) == place), None)
        return fresh or self._store.by_key(*place)

    def _again(self, held: StreamState, row: EventRow, given: Any) -> Reply:
        event = from_bytes(row.body, held.kind.problem)
        assert isinstance(event, Decided)
        missing: tuple[str, ...] = ()
        if isinstance(given, Mapping) and held.kind.featuriser is not None:
            same = event.row == row_of(given)
            missing = held.kind.featuriser.missing(given) if same else ()
        else:
            x = _context(held, "decisions", given).x
            same = np.array_equal(event.waiting.x, x, equal_nan=True)
        if not same:
            raise RefusedError(
                422,
                f"The key {row.key!r} was used for decision {row.decision}, which had another "
                "context.",
            )
        return Reply(200, ticket(held.kind, event, row.at) | _said(held, missing))

    def _tell(self, tell: Observe) -> Reply:
        held = self._of(tell.stream)
        xi = _valid(lambda: outcome_of(held.kind, "outcome", tell.xi))
        if tell.number not in held.live.open:
            ended = self._ended(held, tell.number)
            if isinstance(ended, Forgotten):
                raise RefusedError(409, f"Decision {tell.number} was given up.")
            if not np.array_equal(ended.xi, xi):
                raise RefusedError(409, f"Decision {tell.number} already has another outcome.")
            return Reply(200, {"id": tell.number, "learned": True})
        self._log(held, Observed(tell.number, xi))
        return Reply(201, outcome_shown(held.kind, self.stages[-1]))

    def _teach(self, teach: Teach) -> Reply:
        held = self._of(teach.stream)
        done = {"lesson": teach.number, "learned": True}
        known, waiting = held.live.taught, held.live.open
        if teach.number < known:
            if not self._is_lesson(held, teach):
                raise RefusedError(
                    409, f"Lesson {teach.number} of {teach.stream!r} is another row."
                )
            return Reply(200, done)
        x, row, _ = _context(held, "lessons", teach.x)
        xi = _lesson_outcome(held, teach.xi)
        if teach.number > known or waiting:
            self._be_fresh(teach.stream)
            if not waiting:
                raise RefusedError(409, f"Lesson {known} of {teach.stream!r} comes before.")
            raise RefusedError(
                409,
                f"{len(waiting)} decisions of {teach.stream!r} wait for their outcome. Report or "
                "delete them first: it belongs to what was known when they were taken.",
            )
        event = held.kind.fold.teach(held.live, x, xi)
        self._log(held, event._replace(row=row, came=teach.came))
        return Reply(201, done)

    def _is_lesson(self, held: StreamState, teach: Teach) -> bool:
        """Return True if the command equals the lesson that is logged under its number."""
        before, xi = self._lesson(held, teach.number), _lesson_outcome(held, teach.xi)
        if held.kind.featuriser is not None and isinstance(teach.x, Mapping):
            same = before.row == row_of(teach.x) and before.came == teach.came
        else:
            x = _context(held, "lessons", teach.x).x
            same = np.array_equal(before.x, x, equal_nan=True)
        return same and np.array_equal(before.xi, xi, equal_nan=True)

    def _lesson(self, held: StreamState, number: int) -> Taught:
        place = held.stream, lesson_place(number)
        fresh = [row for row in self.rows if (row.stream, row.decision) == place]
        [row] = fresh or self._store.about(*place)
        event = from_bytes(row.body, held.kind.problem)
        assert isinstance(event, Taught)
        return event

    def _drop(self, drop: Forget) -> Reply:
        held = self._of(drop.stream)
        if drop.number in held.live.open:
            self._log(held, Forgotten(drop.number))
        elif isinstance(self._ended(held, drop.number), Observed):
            raise RefusedError(409, f"Decision {drop.number} has an outcome, which was learned.")
        return Reply(200, {"id": drop.number, "forgotten": True})

    def _ended(self, held: StreamState, number: int) -> Observed | Forgotten:
        """Return the event that closed a decision; a RefusedError (404) if there is none."""
        fresh = [row for row in self.rows if (row.stream, row.decision) == (held.stream, number)]
        events = [
            from_bytes(row.body, held.kind.problem)
            for row in [*self._store.about(held.stream, number), *fresh]
        ]
        ended = next((e for e in events if isinstance(e, Observed | Forgotten)), None)
        if ended is None:
            self._be_fresh(held.stream)
            raise RefusedError(404, f"There is no decision {number} of {held.stream!r}.")
        return ended

    def _log(self, held: StreamState, event: Event, key: str | None = None) -> EventRow:
        known = self._ahead.apply(held, event)
        after, row, tally = held.after(event, self._now, key, known)
        self.held[held.stream] = after
        self.rows.append(row)
        if tally is not None:
            self.stages.append(tally)
        return row


def _context(held: StreamState, owner: str, given: Any) -> Context:
    """One that fits the problem, those before it, and the configuration file."""
    return _valid(lambda: context_of(held.kind, held.live, held.features, owner, given))


def _lesson_outcome(held: StreamState, given: Any) -> Array:
    """One that came, or NaN in all of one that never did, where features count stages."""
    unknown = np.full(held.kind.problem.dims.xi, np.nan)
    if held.kind.featuriser is not None and np.array_equal(given, unknown, equal_nan=True):
        return unknown
    return _valid(lambda: outcome_of(held.kind, "lessons", given))


def _said(held: StreamState, missing: tuple[str, ...]) -> dict[str, Any]:
    """Return the names of absent fields for the reply, where contexts are made of fields."""
    return {"missing": list(missing)} if held.kind.featuriser is not None else {}


def _valid(check: Callable[[], T]) -> T:
    try:
        return check()
    except ValueError as error:
        raise RefusedError(422, str(error)) from None
