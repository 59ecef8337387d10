"""The contract of a store of events, and its records.

The log is the truth. What a stream knows is a fold of its events; snapshots and stages are made
from them, and could be made again.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class EventRow(NamedTuple):
    """One event of a stream; (stream, seq) is unique, and so is a key of a stream."""

    stream: str
    seq: int  # 0, 1, 2, ... without gaps
    kind: (
        str  # decision, outcome or forgotten: each at most once for a decision; correction, lesson
    )
    decision: int  # of lessons, which are about none: -1, -2, -3, ...
    key: str | None  # by which a client repeats a request
    body: bytes
    at: float  # seconds since 1970
    nth: int = 0  # which correction of its decision, from 1


class Snapshot(NamedTuple):
    """The state of a stream after all events before `seq`: a cache."""

    stream: str
    seq: int
    state: bytes  # with a checksum in front
    apart: int = 1  # events that one of those kept is to be older than the newest, at least
    as_of: int = 0  # it knows what is right by corrections before this place, if that is after seq


class StreamRecord(NamedTuple):
    """A stream, and what decides on it."""

    id: str
    problem: str  # the name of its case, [cases.NAME] of the configuration file
    version: str
    fingerprint: str
    numeric: str  # of the machine and the libraries that it began with
    seed: int
    created: float
    scale: float | None = None  # of the headline, as it was declared before any outcome


class Configured(NamedTuple):
    """A configuration of a stream: who decides from a decision on, and who is compared."""

    stream: str
    n: int  # from 1
    by: str  # the configuration, as decisions name it
    decision: int  # the first that it takes
    at: float  # seconds since 1970
    about: str  # as JSON: see `StreamTemplate.about`


class OutcomeTotals(NamedTuple):
    """The n-th outcome of a stream, with sums over all up to it: for charts."""

    stream: str
    n: int  # from 1
    decision: int
    at: float
    cost: float | None  # None where the outcome was seen in part; so are the next two
    feasible: int | None
    hindsight: float | None  # None where it was not computed
    known: int  # outcomes so far that were seen in full: the sums below are of these
    costs: float
    feasibles: int
    hindsights: float | None
    told: str  # by the policy, as JSON: see `summaries.py`


class StreamSummary(NamedTuple):
    """A stream at a glance; None where nothing has come yet."""

    id: str
    problem: str
    created: float
    events: int
    decisions: int
    last: float | None  # when the latest event was
    open: int
    oldest: float | None  # when the oldest of those open was decided
    outcomes: int
    delay: float | None  # seconds from the latest decision with an outcome to that outcome
    known: int  # outcomes that were seen in full: the sums below are of these
    costs: float
    feasibles: int
    hindsights: float | None
    told: str


class ConflictError(Exception):
    """Another writer was quicker: nothing was written."""


class StoreError(Exception):
    """The store cannot be read or written; whether something was written may be unknown."""

    def __init__(self, message: str, *, full: bool = False) -> None:
        super().__init__(message)
        self.full = full  # whether there is no room left


class Store(Protocol):
    """A log of events with snapshots. It may be shared by threads and by processes."""

    def append(
        self,
        rows: Sequence[EventRow],
        snapshots: Sequence[Snapshot] = (),
        stages: Sequence[OutcomeTotals] = (),
    ) -> None:
        """All of it, durably, or nothing; a ConflictError where something is there already.

        With a correction among the rows, the stages of its stream from the first given on are
        replaced, and snapshots that know the wrong outcome are removed.
        """
        ...

    def tail(self, stream: str, after: int = -1, limit: int | None = None) -> list[EventRow]:
        """The events after one, in order."""
        ...

    def last_seq(self, stream: str) -> int:
        """The place of the latest event; -1 before any."""
        ...

    def snapshots(self, stream: str) -> list[Snapshot]:
        """The latest, newest first: one of them is as far back as snapshots are apart."""
        ...

    def by_key(self, stream: str, key: str) -> EventRow | None:
        """The decision that was asked for by a key."""
        ...

    def about(self, stream: str, decision: int) -> list[EventRow]:
        """All events of a decision, in order."""
        ...

    def corrections(self, stream: str, after: int = -1) -> list[tuple[EventRow, int]]:
        """Corrections after an event, in order, each with the place of the outcome it replaces."""
        ...

    def decided_at(self, stream: str, first: int) -> dict[int, float]:
        """When decisions were taken, from this one on."""
        ...

    def stages(self, stream: str, after: int = 0, limit: int | None = None) -> list[OutcomeTotals]:
        """Outcomes after the n-th, in order."""
        ...

    def last_stage(self, stream: str) -> OutcomeTotals | None:
        """The latest of them."""
        ...

    def stages_at(self, stream: str, places: Sequence[int]) -> list[OutcomeTotals]:
        """Return the outcomes with these n, in order."""
        ...

    def stages_of(self, stream: str, first: int, last: int) -> list[OutcomeTotals]:
        """Return the outcomes of decisions first to last, in the order of decisions."""
        ...

    def events_of(self, stream: str, first: int, last: int) -> list[EventRow]:
        """All events of decisions first to last, by decision."""
        ...

    def lessons(self, stream: str) -> int:
        """Return the number of lessons."""
        ...

    def last_decision(self, stream: str) -> int:
        """The number of the latest; -1 before any."""
        ...

    def waiting(self, stream: str, limit: int) -> list[tuple[int, float]]:
        """Decisions without an end and when they were taken, the oldest first."""
        ...

    def waiting_since(self, problem: str, before: float, limit: int) -> list[tuple[str, int]]:
        """Decisions of all streams of a kind that were taken before and have no end yet."""
        ...

    def standings(self, stream: str | None = None) -> list[StreamSummary]:
        """One stream at a glance, or all of them, by id."""
        ...

    def declare(
        self, declared: Sequence[StreamRecord], configured: Sequence[Configured] = ()
    ) -> None:
        """Begin streams, with who decides at first; those that have begun stay as they are."""
        ...

    def redeclare(self, declared: Sequence[StreamRecord]) -> None:
        """Another version, fingerprint or machine for streams that have begun."""
        ...

    def configure(self, configured: Sequence[Configured]) -> None:
        """Note who decides from now on; the n-th of a stream stays as it is."""
        ...

    def configurations(self, stream: str | None = None) -> list[Configured]:
        """Return configurations of one stream or of all, by stream and n; none is ever removed."""
        ...

    def streams(self) -> list[StreamRecord]:
        """All that have begun, by id."""
        ...

    def stream(self, stream: str) -> StreamRecord | None:
        """One of them."""
        ...

    def damage(self) -> list[str]:
        """Return messages on what is wrong with the tables and indexes themselves."""
        ...

    def close(self) -> None:
        """Close the store."""
        ...
