"""Which streams have begun, and of which kind: kept in the store, and changed only here."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from bocopt.service.commands import Begin, RefusedError
from bocopt.service.kind import Kind
from bocopt.service.stores import Declared, Store


@dataclass(frozen=True)
class Registry:
    """Streams as they are declared; what they know is a matter of shards."""

    store: Store
    kinds: Mapping[str, Kind]
    numeric: str = ""  # of this machine

    def open(self, now: float) -> None:
        """Adopt all that have begun, and begin one of each kind; a RefusedError where one changed.

        Streams of a kind that is no longer in the file are left alone.
        """
        for declared in self.store.streams():
            if declared.problem in self.kinds:
                self._adopt(declared)
        for name in self.kinds:
            self.begin(Begin(name, None), now)

    def _adopt(self, declared: Declared) -> None:
        """A stream that has begun before, if its kind is still what it was."""
        kind = self.kinds[declared.problem]
        if declared.version != kind.version:
            to = declared._replace(version=kind.version, fingerprint=kind.fingerprint)
            self.store.redeclare(to)
        elif declared.fingerprint != kind.fingerprint:
            raise RefusedError(
                409,
                f"Stream {declared.id!r} began with another problem or policy than "
                f"[streams.{kind.name}] declares now. Undo that change, or raise its version "
                f"(it is {kind.version!r}): all that was logged is then learned anew by the new "
                "policy.",
            )

    def begin(self, begin: Begin, now: float) -> bool:
        """A stream like one of the file; whether it is new, or a RefusedError."""
        before = self.store.stream(begin.stream)
        kind = self._kind(begin, before)
        seed = kind.seed if begin.seed is None else begin.seed
        wanted = Declared(
            begin.stream, kind.name, kind.version, kind.fingerprint, self.numeric, seed, now
        )
        declared = before or self.store.declare(wanted)
        other = (declared.problem, declared.seed) != (kind.name, seed)
        if other and not (begin.kind is None and begin.seed is None):
            raise RefusedError(
                409,
                f"Stream {begin.stream!r} has begun already, like {declared.problem!r} and with "
                f"the seed {declared.seed}.",
            )
        return before is None and declared == wanted

    def _kind(self, begin: Begin, before: Declared | None) -> Kind:
        name = begin.kind or (before and before.problem) or begin.stream
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
