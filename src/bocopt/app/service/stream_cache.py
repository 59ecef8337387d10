"""Streams that are held in memory, each a fold of its part of the log; the rest wait in the log."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice

from bocopt.app.service.commands import RefusedError
from bocopt.app.service.refolding import followed, rebuilt
from bocopt.app.service.registry import other_scale
from bocopt.app.service.stores import Store, StoreError, StreamRecord
from bocopt.app.service.stream_state import DamagedError, StreamState
from bocopt.app.service.stream_template import StreamTemplate


@dataclass
class StreamCache:
    """Streams by id, the least recently used first. At most so many are held for long.

    What is dropped is built again from its latest snapshot and the log when it is next asked for.
    """

    store: Store
    templates: Mapping[str, StreamTemplate]
    most: int = 1000
    beat: Callable[[], None] = lambda: None  # called now and then while a log is folded
    _states: dict[str, StreamState] = field(default_factory=dict)
    _open: int = 0  # decisions of those held that wait for their outcome

    def state(self, stream: str) -> StreamState:
        """A stream as it was last committed."""
        found = self._out(stream) or self._rebuilt(stream)
        self._in(found)
        return found

    def _out(self, stream: str) -> StreamState | None:
        found = self._states.pop(stream, None)
        self._open -= len(found.live.open) if found else 0
        return found

    def _in(self, state: StreamState) -> None:
        self._out(state.stream)
        self._states[state.stream] = state  # the latest is last
        self._open += len(state.live.open)

    def _rebuilt(self, stream: str) -> StreamState:
        declared = self.store.stream(stream)
        if declared is None or declared.problem not in self.templates:
            raise RefusedError(404, f"There is no stream {stream!r}.")
        template = self.templates[declared.problem]
        if (declared.version, declared.fingerprint) != (template.version, template.fingerprint):
            raise RefusedError(409, _other(declared, template))
        if declared.scale != template.scale:
            raise RefusedError(409, other_scale(declared, template))
        return rebuilt(self.store, template, declared, self.beat)

    def keep(self, states: Mapping[str, StreamState]) -> None:
        """Replace states by those that were committed, as the most recently used."""
        for each in states.values():
            self._in(each)

    def evict(self, streams: Iterable[str]) -> None:
        """Believe nothing that is in memory: whether it was committed is unknown."""
        for stream in streams:
            self._out(stream)

    def drop_all(self) -> None:
        """Drop all states from memory; each is built again from the log when asked for."""
        self.evict(list(self._states))

    def catch_up(self, streams: Iterable[str]) -> None:
        """Fold in what another writer has logged; drop the streams where that fails."""
        for stream in streams:
            try:
                self._in(followed(self.store, self.state(stream), self.beat))
            except (StoreError, DamagedError):  # told when it is next asked for
                self._out(stream)

    def counted(self, changed: Mapping[str, StreamState]) -> tuple[int, int]:
        """Streams in memory, and open decisions of theirs, once some are kept as they will be."""
        before = [self._states[stream] for stream in changed if stream in self._states]
        more = sum(len(state.live.open) for state in changed.values())
        less = sum(len(state.live.open) for state in before)
        return len(self._states) + len(changed) - len(before), self._open + more - less

    def surplus(self, busy: Mapping[str, StreamState]) -> list[StreamState]:
        """Return the least recently used idle states that exceed the most allowed in memory."""
        many = self.counted(busy)[0] - self.most
        idle = (state for stream, state in self._states.items() if stream not in busy)
        return list(islice(idle, max(many, 0)))

    def __len__(self) -> int:
        return len(self._states)

    def all(self) -> list[StreamState]:
        """Return all states in memory, the least recently used first."""
        return list(self._states.values())


def _other(declared: StreamRecord, template: StreamTemplate) -> str:
    return (
        f"Stream {declared.id!r} is at version {declared.version!r} of another problem or policy "
        f"than this server has, which is at {template.version!r}. Start it again with the same "
        "files as the others."
    )
