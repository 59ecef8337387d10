"""The streams that have begun, and their kinds: kept in the store, and changed only here."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bocopt.app.service.commands import Create, RefusedError
from bocopt.app.service.stores import Configured, Store, StreamRecord
from bocopt.app.service.stream_template import StreamTemplate


@dataclass(frozen=True)
class Registry:
    """Streams as they are declared; what they know is a matter of shards."""

    store: Store
    templates: Mapping[str, StreamTemplate]
    numeric: str = ""  # of this machine

    def open(self, now: float) -> None:
        """Adopt all that have begun, and begin one of each kind; a RefusedError where one changed.

        Streams of a kind that is no longer in the file are left alone.
        """
        known = [each for each in self.store.streams() if each.problem in self.templates]
        changed = [self._adopted(each) for each in known]
        self.store.redeclare([each for each in changed if each is not None])
        self._configure(known, now)
        self.begin([Create(name) for name in self.templates], now)

    def _configure(self, known: Sequence[StreamRecord], now: float) -> None:
        """Log who decides from now on, and what is compared, where that has changed."""
        latest = {each.stream: (each.n, each.by) for each in self.store.configurations()}
        changed = list[Configured]()
        for declared in known:
            n, by = latest.get(declared.id, (0, ""))
            if by != self.templates[declared.problem].fold.by:
                first = self.store.last_decision(declared.id) + 1
                changed.append(self._configured(declared, n + 1, first, now))
        self.store.configure(changed)

    def _configured(self, declared: StreamRecord, n: int, first: int, now: float) -> Configured:
        template = self.templates[declared.problem]
        return Configured(declared.id, n, template.fold.by, first, now, template.about)

    def _adopted(self, declared: StreamRecord) -> StreamRecord | None:
        """A stream that has begun before, if it is to be declared anew."""
        template = self.templates[declared.problem]
        if declared.scale != template.scale:
            raise RefusedError(409, other_scale(declared, template))
        if declared.version != template.version:
            return declared._replace(version=template.version, fingerprint=template.fingerprint)
        if declared.fingerprint != template.fingerprint:
            raise RefusedError(
                409,
                f"Stream {declared.id!r} began with another problem or policy than "
                f"[cases.{template.name}] declares now. Undo that change, or raise its version "
                f"(it is {template.version!r}): all that was logged is then learned anew by the "
                "new policy.",
            )
        return None

    def begin(self, asked: Sequence[Create], now: float) -> list[bool | RefusedError]:
        """Streams like those of the file: whether each is new, or why it cannot be."""
        before = {begin.stream: self.store.stream(begin.stream) for begin in asked}
        wanted = [self._wanted(begin, before[begin.stream], now) for begin in asked]
        records = [want for want in wanted if isinstance(want, StreamRecord)]
        new = {want.id: want for want in reversed(records) if not before[want.id]}
        if new:
            first = [self._configured(each, 1, 0, now) for each in new.values()]
            self.store.declare(list(new.values()), first)

        def outcome(begin: Create, want: StreamRecord | RefusedError) -> bool | RefusedError:
            """Return whether a stream is new, or why it cannot be."""
            if isinstance(want, RefusedError):
                return want
            there = before[begin.stream] or self.store.stream(begin.stream)
            assert there is not None  # streams are never removed
            return _begun(begin, want, there) or (new.get(want.id) is want and there == want)

        return [outcome(*pair) for pair in zip(asked, wanted, strict=True)]

    def _wanted(
        self, begin: Create, before: StreamRecord | None, now: float
    ) -> StreamRecord | RefusedError:
        try:
            template = self._template(begin, before)
        except RefusedError as error:
            return error
        seed = template.seed if begin.seed is None else begin.seed
        return StreamRecord(
            id=begin.stream,
            problem=template.name,
            version=template.version,
            fingerprint=template.fingerprint,
            numeric=self.numeric,
            seed=seed,
            created=now,
            scale=template.scale,
        )

    def _template(self, begin: Create, before: StreamRecord | None) -> StreamTemplate:
        name = begin.case or (before and before.problem) or begin.stream
        if begin.case is None and name not in self.templates and len(self.templates) == 1:
            name = next(iter(self.templates))
        if name not in self.templates:
            near = difflib.get_close_matches(name, self.templates, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise RefusedError(
                404,
                f"No [cases.{name}] is declared in the configuration file, so no stream can be "
                f"like it.{hint}",
            )
        return self.templates[name]


def other_scale(declared: StreamRecord, template: StreamTemplate) -> str:
    """Why a stream cannot go on with another scale: its bets would be made after the outcomes."""
    before, now = (
        "without a scale" if scale is None else f"with scale = {scale:g}"
        for scale in (declared.scale, template.scale)
    )
    return (
        f"Stream {declared.id!r} began {before}, and [cases.{template.name}] is declared {now}. A "
        "scale counts only where it was declared before the outcomes, whatever the version. Put it "
        "back, or declare another [cases.NAME] for new streams."
    )


def _begun(begin: Create, wanted: StreamRecord, there: StreamRecord) -> RefusedError | None:
    """Why a stream cannot begin as it is wanted."""
    other = (there.problem, there.seed) != (wanted.problem, wanted.seed)
    if not other or (begin.case is None and begin.seed is None):
        return None
    return RefusedError(
        409,
        f"Stream {begin.stream!r} has begun already, like {there.problem!r} and with the seed "
        f"{there.seed}.",
    )
