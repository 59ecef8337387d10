"""A batch of commands, done on copies: what is to be logged, and what to answer once it is."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from bocopt.app.service.commands import (
    Command,
    Correct,
    Decide,
    Forget,
    Observe,
    Query,
    RefusedError,
    Reply,
    Teach,
)
from bocopt.app.service.contexts import Context, context_of, row_of
from bocopt.app.service.outcomes import outcome_of
from bocopt.app.service.precompute import Find, Precomputed
from bocopt.app.service.refolding import Beat, before_outcome, corrected
from bocopt.app.service.shown import outcome_shown, shown, ticket
from bocopt.app.service.stores import EventRow, OutcomeTotals, Snapshot, Store
from bocopt.app.service.stream_state import DamagedError, StreamState, lesson_place
from bocopt.bounds import exactly, is_of_parts
from bocopt.core import Bounds
from bocopt.live.events import from_bytes
from bocopt.live.fold import Corrected, Decided, Event, Forgotten, Observed, Taught

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
        self,
        store: Store,
        find: Find,
        now: float,
        ahead: Precomputed | None = None,
        beat: Beat = lambda: None,
    ) -> None:
        self._store, self._find, self._now = store, find, now
        self._ahead, self._beat = ahead or Precomputed(), beat
        self._wrong: dict[str, int] = {}  # the first outcome of a stream that was corrected here
        self._renewed: dict[str, list[Snapshot]] = {}  # those that knew wrong outcomes, anew
        self.states: dict[str, StreamState] = {}  # streams as they will be
        self.rows: list[EventRow] = []
        self.stages: list[OutcomeTotals] = []

    def do(self, command: Command) -> Reply:
        """The answer, which counts once the rows are committed; or a RefusedError."""
        if isinstance(command, Decide):
            return self._decide(command)
        if isinstance(command, Observe):
            return self._observe(command)
        if isinstance(command, Correct):
            return self._correct(command)
        if isinstance(command, Teach):
            return self._teach(command)
        if isinstance(command, Forget):
            return self._forget(command)
        assert isinstance(command, Query)
        self._be_fresh(command.stream)
        return Reply(200, shown(self._store, self._of(command.stream), command))

    def snapshots(self) -> list[Snapshot]:
        """Return snapshots of the streams that are due for one, and note that they have it."""
        due = [h for h in self.states.values() if h.seq - h.snapped >= h.template.limits.snapshot]
        self.states |= {state.stream: state._replace(snapped=state.seq) for state in due}
        renewed = [snapshot for some in self._renewed.values() for snapshot in some]
        return [*renewed, *(state.snapshot() for state in due)]

    def _of(self, stream: str) -> StreamState:
        return self.states.get(stream) or self._find(stream)

    def _be_fresh(self, stream: str) -> None:
        """Raise a StaleError if the log has events of a stream that its state in memory lacks."""
        if self._store.last_seq(stream) != self._find(stream).seq - 1:
            raise StaleError(stream)

    def _decide(self, command: Decide) -> Reply:
        state = self._of(command.stream)
        waiting = state.live.open
        before = self._asked_before(command)
        if before is not None:
            return self._again(state, before, command.x)
        x, row_sent, missing = _context(state, "decisions", command.x)
        if len(waiting) >= state.template.limits.max_open:
            self._be_fresh(command.stream)
            raise RefusedError(
                409,
                f"{len(waiting)} decisions of {command.stream!r} wait for their outcome, as many "
                "as max_open allows. Report or delete some first.",
            )
        event = self._ahead.decide(state, x)._replace(row=row_sent)
        row = self._log(state, event, command.key)
        return Reply(201, ticket(state.template, event, row.at) | _said(state, missing))

    def _asked_before(self, command: Decide) -> EventRow | None:
        if command.key is None:
            return None
        place = (command.stream, command.key)
        fresh = next((row for row in self.rows if (row.stream, row.key) == place), None)
        return fresh or self._store.by_key(*place)

    def _again(self, state: StreamState, row: EventRow, given: Any) -> Reply:
        event = from_bytes(row.body, state.template.problem)
        assert isinstance(event, Decided)
        missing: tuple[str, ...] = ()
        if isinstance(given, Mapping) and state.template.featuriser is not None:
            same = event.row == row_of(given)
            missing = state.template.featuriser.missing(given) if same else ()
        else:
            x = _context(state, "decisions", given).x
            same = np.array_equal(event.waiting.x, x, equal_nan=True)
        if not same:
            raise RefusedError(
                422,
                f"The key {row.key!r} was used for decision {row.decision}, which had another "
                "context.",
            )
        return Reply(200, ticket(state.template, event, row.at) | _said(state, missing))

    def _observe(self, command: Observe) -> Reply:
        state = self._of(command.stream)
        xi = _valid(lambda: outcome_of(state.template, "outcome", command.xi))
        if command.number not in state.live.open:
            ended = self._ended(state, command.number)
            if isinstance(ended, Forgotten):
                raise RefusedError(409, f"Decision {command.number} was given up.")
            if not np.array_equal(ended.seen, xi):
                words = f"Decision {command.number} already has another outcome."
                how = f"PUT /v1/streams/{command.stream}/decisions/{command.number}/correction"
                raise RefusedError(409, f"{words} If that was wrong, correct it: {how}.")
            return Reply(200, {"id": command.number, "learned": True})
        self._log(state, Observed(command.number, xi))
        return Reply(201, outcome_shown(state.template, self.stages[-1]))

    def _correct(self, command: Correct) -> Reply:
        state, number = self._of(command.stream), command.number
        xi = _valid(lambda: outcome_of(state.template, "correction", command.xi))
        if number in state.live.open:
            self._be_fresh(command.stream)
            words = "has no outcome yet, so there is nothing to correct: report it."
            raise RefusedError(409, f"Decision {number} {words}")
        ended = self._ended(state, number)
        if isinstance(ended, Forgotten):
            words = f"Decision {number} was given up, so it has no outcome to correct."
            raise RefusedError(409, words)
        if np.array_equal(ended.seen, xi):
            return Reply(200, {"id": number, "learned": True})
        self._be_fresh(command.stream)  # or an outcome of another server might be missing
        totals = self._put_right(state, Corrected(number, xi))
        return Reply(201, outcome_shown(state.template, totals) | {"corrected": True})

    def _put_right(self, state: StreamState, event: Corrected) -> OutcomeTotals:
        """Log a correction, and fold what comes after the wrong outcome again; its new sums."""
        stream, rows = state.stream, self._about(state.stream, event.number)
        wrong = next(row.seq for row in rows if row.kind == "outcome")
        first = min(wrong, self._wrong.get(stream, wrong))
        fresh = [row for row in self.rows if row.stream == stream]
        found = before_outcome(self._store, state, first, fresh)
        if found is None:
            limit = state.template.limits.correctable
            raise RefusedError(
                409,
                f"The outcome of decision {event.number} of {stream!r} came too long ago to be "
                f"corrected: more than {limit:,} events would have to be folded again. "
                f"`correctable` in [cases.{state.template.name}] says how many may be.",
            )
        nth = 1 + sum(row.kind == "correction" for row in rows)
        row = state.row(event, self._now, nth=nth)
        start, again = found
        there = [*self._store.snapshots(stream), *self._renewed.get(stream, [])]
        places = {each.seq for each in there if each.seq > first}
        try:
            after, totals, renewed = corrected(start, [*again, row], places, self._beat)
        except DamagedError as error:  # the log is sound: it is this outcome that does not fit
            raise RefusedError(
                422, f"With this outcome the log cannot be learned. {error}"
            ) from error
        [of] = [each for each in totals if each.decision == event.number]
        self.stages = [each for each in self.stages if each.stream != stream or each.n < of.n]
        self.stages += [each for each in totals if each.n >= of.n]
        due = -state.template.limits.snapshot  # a snapshot now, not to fold all of it once more
        self.states[stream] = after._replace(snapped=due)
        self.rows.append(row)
        self._wrong[stream], self._renewed[stream] = first, renewed
        return of

    def _teach(self, command: Teach) -> Reply:
        state = self._of(command.stream)
        done = {"lesson": command.number, "learned": True}
        known, waiting = state.live.taught, state.live.open
        if command.number < known:
            if not self._is_lesson(state, command):
                raise RefusedError(
                    409, f"Lesson {command.number} of {command.stream!r} is another row."
                )
            return Reply(200, done)
        x, row, _ = _context(state, "lessons", command.x)
        xi = _lesson_outcome(state, command.xi)
        if command.number > known or waiting:
            self._be_fresh(command.stream)
            if not waiting:
                raise RefusedError(409, f"Lesson {known} of {command.stream!r} comes before.")
            raise RefusedError(
                409,
                f"{len(waiting)} decisions of {command.stream!r} wait for their outcome. Report or "
                "delete them first: it belongs to what was known when they were taken.",
            )
        event = state.template.fold.teach(state.live, x, xi)
        self._log(state, event._replace(row=row, came=command.came))
        return Reply(201, done)

    def _is_lesson(self, state: StreamState, command: Teach) -> bool:
        """Return True if the command equals the lesson that is logged under its number."""
        before, xi = self._lesson(state, command.number), _lesson_outcome(state, command.xi)
        if state.template.featuriser is not None and isinstance(command.x, Mapping):
            same = before.row == row_of(command.x) and before.came == command.came
        else:
            x = _context(state, "lessons", command.x).x
            same = np.array_equal(before.x, x, equal_nan=True)
        return same and np.array_equal(before.seen, xi, equal_nan=True)

    def _lesson(self, state: StreamState, number: int) -> Taught:
        place = state.stream, lesson_place(number)
        fresh = [row for row in self.rows if (row.stream, row.decision) == place]
        [row] = fresh or self._store.about(*place)
        event = from_bytes(row.body, state.template.problem)
        assert isinstance(event, Taught)
        return event

    def _forget(self, command: Forget) -> Reply:
        state = self._of(command.stream)
        if command.number in state.live.open:
            self._log(state, Forgotten(command.number))
        elif not isinstance(self._ended(state, command.number), Forgotten):
            raise RefusedError(409, f"Decision {command.number} has an outcome, which was learned.")
        return Reply(200, {"id": command.number, "forgotten": True})

    def _ended(self, state: StreamState, number: int) -> Observed | Forgotten | Corrected:
        """Return what is known of how a decision ended; a RefusedError (404) if it did not."""
        events = [
            from_bytes(row.body, state.template.problem)
            for row in self._about(state.stream, number)
        ]
        ends = [each for each in events if isinstance(each, Observed | Forgotten | Corrected)]
        if not ends:
            self._be_fresh(state.stream)
            raise RefusedError(404, f"There is no decision {number} of {state.stream!r}.")
        return ends[-1]

    def _about(self, stream: str, number: int) -> list[EventRow]:
        """Return all events of a decision so far, in order."""
        fresh = [row for row in self.rows if (row.stream, row.decision) == (stream, number)]
        return [*self._store.about(stream, number), *fresh]

    def _log(self, state: StreamState, event: Event, key: str | None = None) -> EventRow:
        known = self._ahead.apply(state, event)
        after, row, totals = state.apply(event, self._now, key, known)
        self.states[state.stream] = after
        self.rows.append(row)
        if totals is not None:
            self.stages.append(totals)
        return row


def _context(state: StreamState, owner: str, given: Any) -> Context:
    """One that fits the problem, those before it, and the configuration file."""
    return _valid(lambda: context_of(state.template, state.live, state.features, owner, given))


def _lesson_outcome(state: StreamState, given: Any) -> Bounds:
    """One that came, or NaN in all of one that never did, where features count stages."""
    unknown = np.full(state.template.problem.dims.xi, np.nan)
    counts = state.template.featuriser is not None and not is_of_parts(given)
    if counts and np.array_equal(given, unknown, equal_nan=True):
        return exactly(unknown)
    return _valid(lambda: outcome_of(state.template, "lessons", given))


def _said(state: StreamState, missing: tuple[str, ...]) -> dict[str, Any]:
    """Return the names of absent fields for the reply, where contexts are made of fields."""
    return {"missing": list(missing)} if state.template.featuriser is not None else {}


def _valid(check: Callable[[], T]) -> T:
    try:
        return check()
    except ValueError as error:
        raise RefusedError(422, str(error)) from None
