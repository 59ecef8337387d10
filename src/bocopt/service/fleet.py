"""All streams that are held in memory, each a fold of its part of the log."""

import difflib
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bocopt.service.commands import Begin, RefusedError, Reply
from bocopt.service.held import DamagedError, Held, followed, rebuilt
from bocopt.service.kind import Kind, compiled
from bocopt.service.shown import summary
from bocopt.service.stores import Declared, Snapshot, Store, StoreError

_log = logging.getLogger(__name__)


@dataclass
class Fleet:
    """Streams by id. What is dropped is built again from the log when it is next asked for."""

    store: Store
    kinds: Mapping[str, Kind]
    numeric: str = ""  # of this machine
    _held: dict[str, Held] = field(default_factory=dict)
    _begun: dict[str, Declared] = field(default_factory=dict)

    def open(self, now: float) -> None:
        """All streams of the store, and one for each kind; a RefusedError where one has changed."""
        for declared in self.store.streams():
            self._adopt(declared)
        for name in self.kinds:
            if name not in self._begun:
                self.begin(Begin(name, name), now)
        for kind in self.kinds.values():
            compiled(kind)
        for stream in self._begun:
            try:
                self.held(stream)
            except DamagedError as error:  # told to whoever asks for it; the others go on
                _log.error("%s Run `bocopt doctor`.", error)

    def _adopt(self, declared: Declared) -> None:
        """A stream that has begun before, if its kind is still what it was."""
        kind = self.kinds.get(declared.problem)
        if kind is None:  # no longer in the file: its log is left alone
            return
        if declared.version != kind.version:
            declared = declared._replace(version=kind.version, fingerprint=kind.fingerprint)
            self.store.redeclare(declared)
        elif declared.fingerprint != kind.fingerprint:
            raise RefusedError(
                409,
                f"Stream {declared.id!r} began with another problem or policy than "
                f"[streams.{kind.name}] declares now. Undo that change, or raise its version "
                f"(it is {kind.version!r}): all that was logged is then learned anew by the new "
                "policy.",
            )
        self._begun[declared.id] = declared

    def begin(self, begin: Begin, now: float) -> Reply:
        """A stream like one of the file; 201, or 200 where it has begun already."""
        kind = self._kind(begin)
        seed = kind.seed if begin.seed is None else begin.seed
        wanted = Declared(
            begin.stream, kind.name, kind.version, kind.fingerprint, self.numeric, seed, now
        )
        new = begin.stream not in self._begun
        declared = self.store.declare(wanted)
        other = (declared.problem, declared.seed) != (kind.name, seed)
        if other and not (begin.kind is None and begin.seed is None):
            raise RefusedError(
                409,
                f"Stream {begin.stream!r} has begun already, like {declared.problem!r} and with "
                f"the seed {declared.seed}.",
            )
        if new:
            self._adopt(declared)
        new = new and declared == wanted
        return Reply(201 if new else 200, summary(self.held(begin.stream)))

    def _kind(self, begin: Begin) -> Kind:
        declared = self._begun.get(begin.stream)
        name = begin.kind or (declared and declared.problem) or begin.stream
        if begin.kind is None and name not in self.kinds and len(self.kinds) == 1:
            name = next(iter(self.kinds))
        if name not in self.kinds:
            near = difflib.get_close_matches(name, self.kinds, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise RefusedError(
                404,
                f"No [streams.{name}] is declared in the configuration file, so no stream can be "
                f"like it.{hint}",
            )
        return self.kinds[name]

    def held(self, stream: str) -> Held:
        """A stream as it was last committed."""
        if stream not in self._held:
            if stream not in self._begun:
                self._look_for(stream)
            declared = self._begun[stream]
            self._held[stream] = rebuilt(self.store, self.kinds[declared.problem], declared)
        return self._held[stream]

    def _look_for(self, stream: str) -> None:
        """One that another server may have begun."""
        found = self.store.stream(stream)
        if found is not None:
            self._adopt(found)
        if stream not in self._begun:
            raise RefusedError(404, f"There is no stream {stream!r}.")

    def keep(self, held: Mapping[str, Held]) -> None:
        """What was committed."""
        self._held.update(held)

    def drop(self, streams: Iterable[str]) -> None:
        """Believe nothing that is in memory: whether it was committed is unknown."""
        for stream in streams:
            self._held.pop(stream, None)

    def drop_all(self) -> None:
        self._held.clear()

    def catch_up(self, streams: Iterable[str]) -> None:
        """With what another writer has logged."""
        for stream in streams:
            try:
                self._held[stream] = followed(self.store, self.held(stream))
            except (StoreError, DamagedError):  # told when it is next asked for
                self._held.pop(stream, None)

    def overdue(self, now: float) -> list[tuple[str, int]]:
        """Decisions whose outcome is no longer waited for."""
        return [
            (held.stream, number)
            for held in self._held.values()
            if held.kind.limits.expire is not None
            for number, since in held.since.items()
            if now - since > held.kind.limits.expire
        ]

    def snapshots(self) -> list[Snapshot]:
        """Of all that have gone on since their last one."""
        return [held.snapshot() for held in self._held.values() if held.seq > held.snapped]

    def counts(self) -> dict[str, float]:
        held = list(self._held.values())
        return {"streams": len(held), "open": sum(len(each.live.open) for each in held)}
