"""Which streams have begun, and of which kind: kept in the store, and changed only here."""

import difflib
from collections.abc import Mapping, Sequence
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
        changed = [
            self._adopted(each) for each in self.store.streams() if each.problem in self.kinds
        ]
        self.store.redeclare([each for each in changed if each is not None])
        self.begin([Begin(name) for name in self.kinds], now)

    def _adopted(self, declared: Declared) -> Declared | None:
        """A stream that has begun before, if it is to be declared anew."""
        kind = self.kinds[declared.problem]
        if declared.version != kind.version:
            return declared._replace(version=kind.version, fingerprint=kind.fingerprint)
        if declared.fingerprint != kind.fingerprint:
            raise RefusedError(
                409,
                f"Stream {declared.id!r} began with another problem or policy than "
                f"[streams.{kind.name}] declares now. Undo that change, or raise its version "
                f"(it is {kind.version!r}): all that was logged is then learned anew by the new "
                "policy.",
            )
        return None

    def begin(self, asked: Sequence[Begin], now: float) -> list[bool | RefusedError]:
        """Streams like those of the file: whether each is new, or why it cannot be."""
        before = {begin.stream: self.store.stream(begin.stream) for begin in asked}
        wanted = [self._wanted(begin, before[begin.stream], now) for begin in asked]
        new = {w.id: w for w in reversed(wanted) if isinstance(w, Declared) and not before[w.id]}
        if new:
            self.store.declare(list(new.values()))
        found: list[bool | RefusedError] = []
        for begin, want in zip(asked, wanted, strict=True):
            if isinstance(want, RefusedError):
                found.append(want)
                continue
            there = before[begin.stream] or self.store.stream(begin.stream)
            assert there is not None  # streams are never removed
            mine = new.get(want.id) is want and there == want
            found.append(_begun(begin, want, there) or mine)
        return found

    def _wanted(self, begin: Begin, before: Declared | None, now: float) -> Declared | RefusedError:
        try:
            kind = self._kind(begin, before)
        except RefusedError as error:
            return error
        seed = kind.seed if begin.seed is None else begin.seed
        return Declared(
            begin.stream, kind.name, kind.version, kind.fingerprint, self.numeric, seed, now
        )

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


def _begun(begin: Begin, wanted: Declared, there: Declared) -> RefusedError | None:
    """Why a stream cannot begin as it is wanted."""
    other = (there.problem, there.seed) != (wanted.problem, wanted.seed)
    if not other or (begin.kind is None and begin.seed is None):
        return None
    return RefusedError(
        409,
        f"Stream {begin.stream!r} has begun already, like {there.problem!r} and with the seed "
        f"{there.seed}.",
    )
