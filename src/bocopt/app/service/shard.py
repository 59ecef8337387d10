"""Some of the streams: who decides and learns for them, and proposes what is to be logged.

    propose -> the front commits -> settle

Nothing that is proposed is believed before it is settled.
"""

import hashlib
import logging
from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from bocopt.app.service.batch import Batch, StaleError
from bocopt.app.service.commands import Command, Forget, RefusedError, Reply
from bocopt.app.service.precompute import Precomputed
from bocopt.app.service.stores import EventRow, OutcomeTotals, Snapshot, Store, StoreError
from bocopt.app.service.stream_cache import StreamCache
from bocopt.app.service.stream_state import DamagedError
from bocopt.app.service.stream_template import compiled
from bocopt.live.stacked import StackedFold

_TRIES = 50  # of a batch, while other writers are quicker
_LOOK = 1.0  # seconds between looks at what is overdue
_AT_ONCE = 64  # that are given up at once
_AT_START = 100  # streams that are built before the first request

_log = logging.getLogger(__name__)

Answer = Reply | RefusedError


def place_of(stream: str, of: int) -> int:
    """Return which of `of` deciders, from 0, decides for a stream: always the same.

    >>> [place_of(stream, 4) for stream in ("north", "south", "west")]
    [1, 3, 2]
    """
    return int.from_bytes(hashlib.blake2b(stream.encode(), digest_size=8).digest()) % of


class Proposal(NamedTuple):
    """Rows to log, and the answers to give once they are logged."""

    answers: Sequence[Answer]
    rows: Sequence[EventRow] = ()
    snapshots: Sequence[Snapshot] = ()
    stages: Sequence[OutcomeTotals] = ()
    streams: int = 0  # in memory
    open: int = 0  # decisions of theirs that wait for their outcome


class CommitResult(Enum):
    """The result of committing a proposal."""

    KEPT = "it is logged"
    BEATEN = "another writer was quicker: nothing is logged"
    UNKNOWN = "it may be logged or not"


class Decider(Protocol):
    """Decides for some of the streams, in this process or in another."""

    def open(self) -> None:
        """Be ready to decide; an exception where that cannot be."""
        ...

    def propose(self, commands: Sequence[Command], now: float, alone: bool = False) -> Proposal:
        """Do commands, and give up what is overdue; nothing is believed before `settle`.

        `alone`: one by one, also where many could be done at once.
        """
        ...

    def settle(self, verdict: CommitResult) -> None:
        """Keep, update or drop the streams of the latest proposal, by the result."""
        ...

    def close(self) -> Sequence[Snapshot]:
        """Snapshots for the next start; nothing is asked after it."""
        ...


class Shard:
    """Decides in this process."""

    def __init__(
        self,
        store: Store,
        cache: StreamCache,
        *,
        place: int = 0,
        of: int = 1,
        beat: Callable[[int], None] = lambda at: None,
    ) -> None:
        self._store, self.cache, self._beat = store, cache, beat
        self._place, self._of = place, of
        self._together = {
            name: StackedFold(template.fold) for name, template in cache.templates.items()
        }
        self._looked = -_LOOK
        self._batch = Batch(store, cache.state, 0.0)
        self._leaving: list[str] = []

    def open(self) -> None:
        """Compile the machine code, then build some streams from the log."""
        self.compile()
        self.warm()

    def compile(self) -> None:
        """Load the machine code, or make it."""
        for template in self.cache.templates.values():
            compiled(template)

    def warm(self) -> None:
        """Build some streams before they are asked for."""
        streams = [
            each.id for each in self._store.streams() if each.problem in self.cache.templates
        ]
        mine = list(filter(self._is_mine, streams))
        for stream in mine[: min(_AT_START, self.cache.most)]:
            try:
                self.cache.state(stream)
            except (DamagedError, RefusedError) as error:  # told to whoever asks for it
                _log.error("%s Run `bocopt doctor`.", error)

    def _is_mine(self, stream: str) -> bool:
        return place_of(stream, self._of) == self._place

    def propose(self, commands: Sequence[Command], now: float, alone: bool = False) -> Proposal:
        """Return what to log and to answer; a batch on stale states is done again."""
        look = now - self._looked >= _LOOK or now < self._looked
        for _ in range(_TRIES):
            find = self.cache.state
            ahead = Precomputed() if alone else Precomputed.of(commands, find, self._together)
            self._batch = Batch(self._store, find, now, ahead, self.cache.beat)
            try:
                if look:
                    self._give_up_overdue(now)
                answers = [self._done(at, command) for at, command in enumerate(commands)]
            except StaleError as error:
                self.cache.catch_up([error.stream])
                continue
            except StoreError as error:  # while looking for what is overdue
                return Proposal([RefusedError(503, str(error))] * len(commands))
            self._looked = now if look else self._looked
            return self._proposal(answers)
        return Proposal([BUSY] * len(commands))

    def _proposal(self, answers: Sequence[Answer]) -> Proposal:
        batch, leaving = self._batch, self.cache.surplus(self._batch.states)
        self._leaving = [state.stream for state in leaving]
        snapshots = batch.snapshots() + [h.snapshot() for h in leaving if h.seq > h.snapped]
        streams, waiting = self.cache.counted(batch.states)
        return Proposal(answers, batch.rows, snapshots, batch.stages, streams, waiting)

    def _give_up_overdue(self, now: float) -> None:
        for template in self.cache.templates.values():
            if template.limits.expire is not None:
                since = now - template.limits.expire
                for stream, number in self._store.waiting_since(template.name, since, _AT_ONCE):
                    if self._is_mine(stream):
                        self._done(-1, Forget(stream, number))

    def _done(self, at: int, command: Command) -> Answer:
        self._beat(at)
        try:
            return self._batch.do(command)
        except StaleError:
            raise
        except RefusedError as error:
            return error
        except DamagedError as error:
            return RefusedError(503, f"{error} Run `bocopt doctor`.", damaged=True)
        except StoreError as error:
            return RefusedError(503, str(error))
        except Exception as error:  # of a user's problem or policy: the streams are as they were
            _log.exception("A %s failed.", type(command).__name__)
            return RefusedError(500, f"{type(error).__name__}: {error}")

    def settle(self, verdict: CommitResult) -> None:
        """Keep the proposed states, catch up with the log, or drop them, by the result."""
        if verdict is CommitResult.KEPT:
            self.cache.keep(self._batch.states)
        elif verdict is CommitResult.BEATEN:
            self.cache.catch_up(self._batch.states)
        else:
            self.cache.evict(self._batch.states)
        self.cache.evict(self._leaving)
        self._leaving = []

    def close(self) -> Sequence[Snapshot]:
        """Return snapshots of the states that have changed since their last one."""
        return [state.snapshot() for state in self.cache.all() if state.seq > state.snapped]


BUSY = RefusedError(503, "Other servers write to the same streams too fast. Try again.")
