"""Work done ahead: what many streams decide or learn in a batch, by one stacked call a template.

Commands are then done one by one. Where the state of a stream is unchanged, the answer is there
already, with the same bits.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bocopt.app.service.commands import Command, Decide, Observe, RefusedError
from bocopt.app.service.contexts import context_of
from bocopt.app.service.outcomes import outcome_of
from bocopt.app.service.stores import StoreError
from bocopt.app.service.stream_state import DamagedError, StreamState
from bocopt.core import Array
from bocopt.live.fold import Decided, Event, Observed
from bocopt.live.record import Live
from bocopt.live.stacked import StackedFold
from bocopt.loop import Stage

_WORTH = 4  # streams that one stacked call is worth while for

Find = Callable[[str], StreamState]  # the state of a stream, or a RefusedError
Folds = Mapping[str, StackedFold[Any]]  # that play streams of one template at once, by its name


class _Asked(NamedTuple):
    state: StreamState
    x: Array


class _Observed(NamedTuple):
    state: StreamState
    event: Observed


class Precomputed:
    """Results computed ahead, by stream: of the first command of each."""

    def __init__(self) -> None:
        self._decided: dict[str, tuple[_Asked, Decided]] = {}
        self._learned: dict[str, tuple[_Observed, tuple[Live, Stage]]] = {}

    @classmethod
    def of(cls, commands: Sequence[Command], find: Find, folds: Folds) -> "Precomputed":
        """Nothing is refused here: what does not fit is left to be done alone."""
        found, first = cls(), dict[str, Command]()
        for command in commands:
            first.setdefault(command.stream, command)
        if len(first) < _WORTH:
            return found
        read = list(_read(first.values(), find))
        for name, together in folds.items():
            own = [each for each in read if each.state.template.name == name]
            asked = [each for each in own if isinstance(each, _Asked)]
            observed = [each for each in own if isinstance(each, _Observed)]
            if len(asked) >= _WORTH:
                found._decide(together, asked)
            if len(observed) >= _WORTH:
                found._learn(together, observed)
        return found

    def _decide(self, together: StackedFold[Any], asked: Sequence[_Asked]) -> None:
        events = together.decide([e.state.live for e in asked], [e.x for e in asked])
        for each, event in zip(asked, events, strict=True):
            if isinstance(event, Decided):
                self._decided[each.state.stream] = each, event

    def _learn(self, together: StackedFold[Any], observed: Sequence[_Observed]) -> None:
        lessons = together.observe([e.state.live for e in observed], [e.event for e in observed])
        for each, lesson in zip(observed, lessons, strict=True):
            if not isinstance(lesson, Exception):
                self._learned[each.state.stream] = each, lesson

    def decide(self, state: StreamState, x: Array) -> Decided:
        """Return the decision under a checked context x (k), from the cache if it is there."""
        if state.stream in self._decided:
            asked, event = self._decided[state.stream]
            if asked.state is state and np.array_equal(asked.x, x, equal_nan=True):
                return event
        return state.template.fold.decide(state.live, x)

    def apply(self, state: StreamState, event: Event) -> tuple[Live, Stage | None]:
        """Return the record and the stage after an event, from the cache if it is there."""
        if state.stream in self._learned and isinstance(event, Observed):
            observed, lesson = self._learned[state.stream]
            same = observed.state is state and observed.event.number == event.number
            if same and np.array_equal(observed.event.seen, event.seen):
                return lesson
        return state.template.fold.apply(state.live, event)


def _read(commands: Iterable[Command], find: Find) -> Iterator[_Asked | _Observed]:
    """Yield the valid commands that decide or observe, with the state of their stream."""
    for command in commands:
        try:
            if isinstance(command, Decide):
                state = find(command.stream)
                context = context_of(
                    state.template, state.live, state.features, "decisions", command.x
                )
                yield _Asked(state, context.x)
            elif isinstance(command, Observe):
                state = find(command.stream)
                if command.number in state.live.open:
                    xi = outcome_of(state.template, "outcome", command.xi)
                    yield _Observed(state, Observed(command.number, xi))
        except (RefusedError, DamagedError, StoreError, ValueError):
            continue
