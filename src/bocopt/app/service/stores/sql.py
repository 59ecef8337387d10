"""The store in SQL that both databases speak."""

from collections.abc import Sequence
from typing import Any

from bocopt.app.service.stores.schema import INDEXES, Database, Statement, check
from bocopt.app.service.stores.store import (
    Configured,
    EventRow,
    OutcomeTotals,
    Snapshot,
    Store,
    StreamRecord,
    StreamSummary,
)

_EVENT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_STAGE = "INSERT INTO stages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_UNSTAGED = "DELETE FROM stages WHERE stream = ? AND n >= ?"
_STALE = """DELETE FROM snapshots WHERE stream = ? AND seq >
(SELECT seq FROM events WHERE stream = ? AND decision = ? AND kind = 'outcome')"""
_WAIT = "INSERT INTO waiting VALUES (?, ?, ?)"
_ENDED = "DELETE FROM waiting WHERE stream = ? AND decision = ?"
_ENDS = ("outcome", "forgotten")

# Each of these is one look into an index, however long a log is; a join may read all of it.
_LATEST = "(SELECT {} FROM {} WHERE stream = s.id ORDER BY {} DESC LIMIT 1)"
_STAGED = ("n", "decision", "at", "known", "costs", "feasibles", "hindsights", "told")
_STANDINGS = f"""
SELECT l.*, (SELECT at FROM events
  WHERE stream = l.id AND decision = l.stage_decision AND kind = 'decision')
FROM (SELECT s.id, s.problem, s.created, {_LATEST.format("seq", "events", "seq")} AS seq,
  {_LATEST.format("at", "events", "seq")} AS last,
  (SELECT max(decision) FROM events WHERE stream = s.id) AS decision,
  (SELECT count(*) FROM waiting WHERE stream = s.id) AS many,
  (SELECT min(at) FROM waiting WHERE stream = s.id) AS oldest,
  {", ".join(f"{_LATEST.format(c, 'stages', 'n')} AS stage_{c}" for c in _STAGED)}
  FROM streams s{{where}}) l
ORDER BY l.id
"""


class SqlStore(Store):
    """The tables of the log, in any database that speaks SQL."""

    def __init__(self, database: Database, name: str) -> None:
        self._database, self._dialect = database, database.dialect
        check(database, name)

    def append(
        self,
        rows: Sequence[EventRow],
        snapshots: Sequence[Snapshot] = (),
        stages: Sequence[OutcomeTotals] = (),
    ) -> None:
        """Write all rows in one transaction, and remove snapshots that nobody needs any more."""
        again = [row for row in rows if row.kind == "correction"]
        corrected, replaced = {row.stream for row in again}, dict[str, int]()
        for stage in stages:
            if stage.stream in corrected:
                replaced[stage.stream] = min(stage.n, replaced.get(stage.stream, stage.n))
        statements: list[Statement] = [
            (_EVENT, rows),
            (_WAIT, [(row.stream, row.decision, row.at) for row in rows if row.kind == "decision"]),
            (_ENDED, [(row.stream, row.decision) for row in rows if row.kind in _ENDS]),
            (_UNSTAGED, sorted(replaced.items())),
            (_STAGE, stages),
            (_STALE, [(row.stream, row.stream, row.decision) for row in again]),
            (self._dialect.put_snapshot, snapshots),
            ("DELETE FROM snapshots WHERE stream = ? AND seq = ?", self._superseded(snapshots)),
        ]
        self._database.write([(sql, values) for sql, values in statements if values])

    def _superseded(self, snapshots: Sequence[Snapshot]) -> list[tuple[str, int]]:
        """Return the snapshots that are to be removed once these are there, by stream and place."""
        found = list[tuple[str, int]]()
        for stream in sorted({snapshot.stream for snapshot in snapshots}):
            own = [snapshot for snapshot in snapshots if snapshot.stream == stream]
            rows = self._database.read("SELECT seq FROM snapshots WHERE stream = ?", (stream,))
            places = {int(seq) for (seq,) in rows} | {snapshot.seq for snapshot in own}
            found += [(stream, seq) for seq in sorted(places - kept(places, own[-1].apart))]
        return found

    def tail(self, stream: str, after: int = -1, limit: int | None = None) -> list[EventRow]:
        """Return at most `limit` events after place `after`, in order."""
        sql = "SELECT * FROM events WHERE stream = ? AND seq > ? ORDER BY seq"
        return [EventRow(*row) for row in self._limited(sql, (stream, after), limit)]

    def last_seq(self, stream: str) -> int:
        """Return the place of the latest event; -1 before any."""
        sql = "SELECT max(seq) FROM events WHERE stream = ?"
        [(last,)] = self._database.read(sql, (stream,))
        return -1 if last is None else int(last)

    def snapshots(self, stream: str) -> list[Snapshot]:
        """Return the latest snapshots, newest first."""
        sql = "SELECT * FROM snapshots WHERE stream = ? ORDER BY seq DESC"
        return [Snapshot(*row) for row in self._database.read(sql, (stream,))]

    def by_key(self, stream: str, key: str) -> EventRow | None:
        """Return the decision that was asked for by a key; None if there is none."""
        sql = f"SELECT * FROM events WHERE stream = ? AND {self._dialect.key} = ?"
        return next((EventRow(*row) for row in self._database.read(sql, (stream, key))), None)

    def about(self, stream: str, decision: int) -> list[EventRow]:
        """Return all events of a decision, in order; numbers below 0 are lessons."""
        sql = "SELECT * FROM events WHERE stream = ? AND decision = ? ORDER BY seq"
        return [EventRow(*row) for row in self._database.read(sql, (stream, decision))]

    def corrections(self, stream: str, after: int = -1) -> list[tuple[EventRow, int]]:
        """Return corrections after place `after`, each with the place of the wrong outcome."""
        sql = """SELECT c.*, o.seq FROM events c JOIN events o
            ON o.stream = c.stream AND o.decision = c.decision AND o.kind = 'outcome'
            WHERE c.stream = ? AND c.seq > ? AND c.kind = 'correction' ORDER BY c.seq"""
        rows = self._database.read(sql, (stream, after))
        return [(EventRow(*row), int(seq)) for *row, seq in rows]

    def decided_at(self, stream: str, first: int) -> dict[int, float]:
        """Return when each decision from `first` on was taken, in seconds since 1970."""
        sql = """SELECT decision, at FROM events
            WHERE stream = ? AND decision >= ? AND kind = 'decision'"""
        return {int(n): float(at) for n, at in self._database.read(sql, (stream, first))}

    def stages(self, stream: str, after: int = 0, limit: int | None = None) -> list[OutcomeTotals]:
        """Return at most `limit` outcomes after the n-th, n = `after`, in order."""
        sql = "SELECT * FROM stages WHERE stream = ? AND n > ? ORDER BY n"
        return [OutcomeTotals(*row) for row in self._limited(sql, (stream, after), limit)]

    def last_stage(self, stream: str) -> OutcomeTotals | None:
        """Return the latest outcome; None before any."""
        sql = "SELECT * FROM stages WHERE stream = ? ORDER BY n DESC"
        return next((OutcomeTotals(*row) for row in self._limited(sql, (stream,), 1)), None)

    def stages_at(self, stream: str, places: Sequence[int]) -> list[OutcomeTotals]:
        """Return the outcomes with these n, in order."""
        if not places:
            return []
        among = ", ".join("?" * len(places))
        sql = f"SELECT * FROM stages WHERE stream = ? AND n IN ({among}) ORDER BY n"
        return [OutcomeTotals(*row) for row in self._database.read(sql, (stream, *places))]

    def stages_of(self, stream: str, first: int, last: int) -> list[OutcomeTotals]:
        """Return the outcomes of decisions first to last, in the order of decisions."""
        sql = "SELECT * FROM stages WHERE stream = ? AND decision BETWEEN ? AND ? ORDER BY decision"
        return [OutcomeTotals(*row) for row in self._database.read(sql, (stream, first, last))]

    def events_of(self, stream: str, first: int, last: int) -> list[EventRow]:
        """Return all events of decisions first to last, by decision."""
        sql = """SELECT * FROM events WHERE stream = ? AND decision BETWEEN ? AND ?
            ORDER BY decision, seq"""
        return [EventRow(*row) for row in self._database.read(sql, (stream, first, last))]

    def lessons(self, stream: str) -> int:
        """Return the number of lessons, from the least number of a decision: -1, -2, ..."""
        sql = "SELECT min(decision) FROM events WHERE stream = ?"
        [(first,)] = self._database.read(sql, (stream,))
        return max(0, -int(first or 0))

    def last_decision(self, stream: str) -> int:
        """Return the number of the latest decision; -1 before any."""
        sql = "SELECT max(decision) FROM events WHERE stream = ?"
        [(last,)] = self._database.read(sql, (stream,))
        return -1 if last is None else max(-1, int(last))

    def waiting(self, stream: str, limit: int) -> list[tuple[int, float]]:
        """Return at most `limit` open decisions and their times, the oldest first."""
        sql = "SELECT decision, at FROM waiting WHERE stream = ? ORDER BY decision"
        return [(int(n), float(at)) for n, at in self._limited(sql, (stream,), limit)]

    def waiting_since(self, problem: str, before: float, limit: int) -> list[tuple[str, int]]:
        """Return at most `limit` open decisions of a kind that were taken before a time."""
        sql = """SELECT w.stream, w.decision FROM waiting w JOIN streams s ON s.id = w.stream
            WHERE s.problem = ? AND w.at < ? ORDER BY w.at"""
        return [(stream, int(n)) for stream, n in self._limited(sql, (problem, before), limit)]

    def standings(self, stream: str | None = None) -> list[StreamSummary]:
        """Return the summary of one stream, or of all of them, by id."""
        where, values = ("", ()) if stream is None else (" WHERE s.id = ?", (stream,))
        rows = self._database.read(_STANDINGS.format(where=where), values)
        return [_standing(*row) for row in rows]

    def declare(
        self, declared: Sequence[StreamRecord], configured: Sequence[Configured] = ()
    ) -> None:
        """Insert streams and their configurations; those that exist stay as they are."""
        begun = self._if_new("streams", "id", StreamRecord), sorted(declared)
        self._database.write([begun, self._configuring(configured)])

    def redeclare(self, declared: Sequence[StreamRecord]) -> None:
        """Update the problem, version, fingerprint and machine of streams by id."""
        to = [(d.problem, d.version, d.fingerprint, d.numeric, d.id) for d in sorted(declared)]
        sql = f"""UPDATE streams SET problem = ?, version = ?, fingerprint = ?,
            {self._dialect.numeric} = ? WHERE id = ?"""
        self._database.write([(sql, to)])

    def configure(self, configured: Sequence[Configured]) -> None:
        """Insert configurations; the n-th of a stream stays as it is."""
        self._database.write([self._configuring(configured)])

    def configurations(self, stream: str | None = None) -> list[Configured]:
        """Return the configurations of one stream, or of all, by stream and n."""
        where, values = ("", ()) if stream is None else (" WHERE stream = ?", (stream,))
        rows = self._database.read(
            f"SELECT * FROM configurations{where} ORDER BY stream, n", values
        )
        return [Configured(*row) for row in rows]

    def streams(self) -> list[StreamRecord]:
        """Return all streams that have begun, by id."""
        return [
            StreamRecord(*row) for row in self._database.read("SELECT * FROM streams ORDER BY id")
        ]

    def stream(self, stream: str) -> StreamRecord | None:
        """Return the stream with this id; None if it has not begun."""
        found = self._database.read("SELECT * FROM streams WHERE id = ?", (stream,))
        return next((StreamRecord(*row) for row in found), None)

    def damage(self) -> list[str]:
        """Return messages on what is wrong with the tables and indexes themselves."""
        return self._database.damage(INDEXES)

    def close(self) -> None:
        """Close the connection to the database."""
        self._database.close()

    def _configuring(self, configured: Sequence[Configured]) -> Statement:
        return self._if_new("configurations", "stream, n", Configured), sorted(configured)

    def _if_new(self, table: str, key: str, record: type[StreamRecord] | type[Configured]) -> str:
        """Return the statement that inserts a row unless there is one with its key."""
        values = ", ".join("?" * len(record._fields))
        return self._dialect.insert_or_skip.format(table=table, values=values, key=key)

    def _limited(
        self, sql: str, values: tuple[Any, ...], limit: int | None
    ) -> list[tuple[Any, ...]]:
        if limit is None:
            return self._database.read(sql, values)
        return self._database.read(f"{sql} LIMIT ?", (*values, limit))


def kept(places: set[int], apart: int) -> set[int]:
    """Return which snapshots a stream keeps: the newest, and one that is `apart` events older.

    So an outcome of the latest events can be corrected from there. The next after that one stays
    too, to be as old some time.

    >>> sorted(kept({100, 400, 450, 520}, 300)), sorted(kept({100, 400, 520, 700}, 300))
    ([100, 400, 520], [400, 520, 700])
    """
    newest = max(places)
    base = max((place for place in places if place <= newest - apart), default=-1)
    following = min(place for place in places if place > base)
    return places & {base, following, newest}


def _standing(
    stream: str,
    problem: str,
    created: float,
    seq: int | None,
    last: float | None,
    decision: int | None,
    waiting: int | None,
    oldest: float | None,
    n: int | None,
    of: int | None,
    at: float | None,
    known: int | None,
    costs: float | None,
    feasibles: int | None,
    hindsights: float | None,
    told: str | None,
    decided: float | None,
) -> StreamSummary:
    return StreamSummary(
        id=stream,
        problem=problem,
        created=created,
        events=0 if seq is None else seq + 1,
        decisions=0 if decision is None else max(0, decision + 1),  # lessons are below 0
        last=last,
        open=waiting or 0,
        oldest=oldest,
        outcomes=n or 0,
        delay=None if at is None or decided is None else at - decided,
        known=known or 0,
        costs=costs or 0.0,
        feasibles=feasibles or 0,
        hindsights=hindsights,
        told=told or "{}",
    )
