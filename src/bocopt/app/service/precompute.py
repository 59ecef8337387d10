"""Work done ahead: what many streams decide or learn in a batch, by one stacked call for each kind.

Commands are done one by one after it, as if there were no such thing. Where a stream is then what
it was ahead, the answer is there already; it has the same bits.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bocopt.app.service.commands import Command, Decide, Observe, RefusedError
from bocopt.app.service.contexts import context_of, outcome_of
from bocopt.app.service.stores import StoreError
from bocopt.app.service.stream_state import DamagedError, StreamState
from bocopt.core import Array
from bocopt.live.fold import Decided, Event, Observed
from bocopt.live.record import Live
from bocopt.live.stacked import StackedFold
from bocopt.loop import Stage

_WORTH = 4  # streams that one stacked call is worth while for

Find = Callable[[str], StreamState]  # what is held of a stream, or a RefusedError
Kinds = Mapping[str, StackedFold[Any]]  # who plays streams of a kind at once, by its name


class _Asked(NamedTuple):
    held: StreamState
    x: Array


class _Told(NamedTuple):
    held: StreamState
    event: Observed


class Precomputed:
    """Results computed ahead, by stream: of the first command of each."""

    def __init__(self) -> None:
        self._decided: dict[str, tuple[_Asked, Decided]] = {}
        self._learned: dict[str, tuple[_Told, tuple[Live, Stage]]] = {}

    @classmethod
    def of(
        cls, commands: Sequence[Command], find: Find, kinds: Mapping[str, StackedFold[Any]]
    ) -> "Precomputed":
        """Nothing is refused here: what does not fit is left to be done alone."""
        found, first = cls(), dict[str, Command]()
        for command in commands:
            first.setdefault(command.stream, command)
        if len(first) < _WORTH:
            return found
        read = list(_read(first.values(), find))
        for name, together in kinds.items():
            own = [each for each in read if each.held.kind.name == name]
            asked = [each for each in own if isinstance(each, _Asked)]
            told = [each for each in own if isinstance(each, _Told)]
            if len(asked) >= _WORTH:
                found._decide(together, asked)
            if len(told) >= _WORTH:
                found._learn(together, told)
        return found

    def _decide(self, together: StackedFold[Any], asked: Sequence[_Asked]) -> None:
        events = together.decide([e.held.live for e in asked], [e.x for e in asked])
        for each, event in zip(asked, events, strict=True):
            if isinstance(event, Decided):
                self._decided[each.held.stream] = each, event

    def _learn(self, together: StackedFold[Any], told: Sequence[_Told]) -> None:
        lessons = together.observe([e.held.live for e in told], [e.event for e in told])
        for each, lesson in zip(told, lessons, strict=True):
            if not isinstance(lesson, Exception):
                self._learned[each.held.stream] = each, lesson

    def decide(self, held: StreamState, x: Array) -> Decided:
        """Return the decision under a checked context x (k), from the cache if it is there."""
        if held.stream in self._decided:
            asked, event = self._decided[held.stream]
            if asked.held is held and np.array_equal(asked.x, x, equal_nan=True):
                return event
        return held.kind.fold.decide(held.live, x)

    def apply(self, held: StreamState, event: Event) -> tuple[Live, Stage | None]:
        """Return the record and the stage after an event, from the cache if it is there."""
        if held.stream in self._learned and isinstance(event, Observed):
            told, lesson = self._learned[held.stream]
            same = told.held is held and told.event.number == event.number
            if same and np.array_equal(told.event.xi, event.xi):
                return lesson
        return held.kind.fold.apply(held.live, event)


def _read(commands: Iterable[Command], find: Find) -> Iterator[_Asked | _Told]:
    """Yield the valid commands that decide or observe, with the state of their stream."""
    for command in commands:
        try:
            if isinstance(command, Decide):
                held = find(command.stream)
                context = context_of(held.kind, held.live, held.features, "decisions", command.x)
                yield _Asked(held, context.x)
            elif isinstance(command, Observe):
                held = find(command.stream)
                if command.number in held.live.open:
                    xi = outcome_of(held.kind, "outcome", command.xi)
                    yield _Told(held, Observed(command.number, xi))
        except (RefusedError, DamagedError, StoreError, ValueError):
            continue
