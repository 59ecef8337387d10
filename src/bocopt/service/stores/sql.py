"""The store in SQL that both databases speak."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from bocopt.service.stores.store import Declared, Row, Snapshot, Store, StoreError, Tally

Statement = tuple[str, Sequence[Sequence[Any]]]  # SQL with ? for values, once for each of them

_SCHEMA = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS streams (
  id TEXT PRIMARY KEY, problem TEXT NOT NULL, version TEXT NOT NULL, fingerprint TEXT NOT NULL,
  "numeric" TEXT NOT NULL, seed BIGINT NOT NULL, created DOUBLE PRECISION NOT NULL);
CREATE TABLE IF NOT EXISTS events (
  stream TEXT NOT NULL REFERENCES streams (id), seq BIGINT NOT NULL, kind TEXT NOT NULL,
  decision BIGINT NOT NULL, key TEXT, body {bytes} NOT NULL, at DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (stream, seq));
CREATE UNIQUE INDEX IF NOT EXISTS events_once ON events (stream, decision, kind);
CREATE UNIQUE INDEX IF NOT EXISTS events_key ON events (stream, key);
CREATE TABLE IF NOT EXISTS snapshots (
  stream TEXT NOT NULL REFERENCES streams (id), seq BIGINT NOT NULL, sha256 TEXT NOT NULL,
  state {bytes} NOT NULL, PRIMARY KEY (stream, seq));
CREATE TABLE IF NOT EXISTS stages (
  stream TEXT NOT NULL REFERENCES streams (id), n BIGINT NOT NULL, decision BIGINT NOT NULL,
  at DOUBLE PRECISION NOT NULL, cost DOUBLE PRECISION NOT NULL, feasible BIGINT NOT NULL,
  hindsight DOUBLE PRECISION, costs DOUBLE PRECISION NOT NULL, feasibles BIGINT NOT NULL,
  hindsights DOUBLE PRECISION, PRIMARY KEY (stream, n));
"""
INDEXES = ("events_once", "events_key")

_EVENT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)"
_STAGE = "INSERT INTO stages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SNAPSHOT = """INSERT INTO snapshots VALUES (?, ?, ?, ?)
ON CONFLICT (stream, seq) DO UPDATE SET sha256 = excluded.sha256, state = excluded.state"""
_ONLY_TWO = """DELETE FROM snapshots WHERE stream = ? AND seq NOT IN
(SELECT seq FROM snapshots WHERE stream = ? ORDER BY seq DESC LIMIT 2)"""
_DECLARE = "INSERT INTO streams VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"
_REDECLARE = (
    'UPDATE streams SET problem = ?, version = ?, fingerprint = ?, "numeric" = ? WHERE id = ?'
)


class Database(Protocol):
    """One connection, for one thread at a time."""

    def read(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        ...

    def write(self, statements: Iterable[Statement]) -> None:
        """One transaction; a ConflictError where a row is there already."""
        ...

    def damage(self, indexes: Sequence[str]) -> list[str]:
        """What the database finds wrong with itself, and which indexes are missing."""
        ...

    def close(self) -> None: ...


def tables(kind_of_bytes: str) -> list[Statement]:
    """What makes the tables where there are none."""
    created = _TABLES.format(bytes=kind_of_bytes).split(";")[:-1]
    version = "INSERT INTO about VALUES ('schema', ?) ON CONFLICT (name) DO NOTHING"
    return [*((sql, [()]) for sql in created), (version, [(_SCHEMA,)])]


class SqlStore(Store):
    """The tables of the log, in any database that speaks SQL."""

    def __init__(self, database: Database, name: str) -> None:
        self._database = database
        [(schema,)] = database.read("SELECT value FROM about WHERE name = 'schema'")
        if schema != _SCHEMA:
            raise StoreError(
                f"{name} has schema version {schema}; this bocopt reads version {_SCHEMA}. Go on "
                "with the version of bocopt that wrote it, or begin anew elsewhere."
            )

    def append(
        self,
        rows: Sequence[Row],
        snapshots: Sequence[Snapshot] = (),
        stages: Sequence[Tally] = (),
    ) -> None:
        touched = sorted({snapshot.stream for snapshot in snapshots})
        statements: list[Statement] = [
            (_EVENT, rows),
            (_STAGE, stages),
            (_SNAPSHOT, snapshots),
            (_ONLY_TWO, [(stream, stream) for stream in touched]),
        ]
        self._database.write([(sql, values) for sql, values in statements if values])

    def tail(self, stream: str, after: int = -1, limit: int | None = None) -> list[Row]:
        sql = "SELECT * FROM events WHERE stream = ? AND seq > ? ORDER BY seq"
        return [Row(*row) for row in self._limited(sql, (stream, after), limit)]

    def last_seq(self, stream: str) -> int:
        sql = "SELECT max(seq) FROM events WHERE stream = ?"
        [(last,)] = self._database.read(sql, (stream,))
        return -1 if last is None else int(last)

    def snapshots(self, stream: str) -> list[Snapshot]:
        sql = "SELECT * FROM snapshots WHERE stream = ? ORDER BY seq DESC"
        return [Snapshot(*row) for row in self._limited(sql, (stream,), 2)]

    def by_key(self, stream: str, key: str) -> Row | None:
        sql = "SELECT * FROM events WHERE stream = ? AND key = ?"
        return next((Row(*row) for row in self._database.read(sql, (stream, key))), None)

    def about(self, stream: str, decision: int) -> list[Row]:
        sql = "SELECT * FROM events WHERE stream = ? AND decision = ? ORDER BY seq"
        return [Row(*row) for row in self._database.read(sql, (stream, decision))]

    def decided_at(self, stream: str, first: int) -> dict[int, float]:
        sql = """SELECT decision, at FROM events
            WHERE stream = ? AND decision >= ? AND kind = 'decision'"""
        return {int(n): float(at) for n, at in self._database.read(sql, (stream, first))}

    def stages(self, stream: str, after: int = 0, limit: int | None = None) -> list[Tally]:
        sql = "SELECT * FROM stages WHERE stream = ? AND n > ? ORDER BY n"
        return [Tally(*row) for row in self._limited(sql, (stream, after), limit)]

    def last_stage(self, stream: str) -> Tally | None:
        sql = "SELECT * FROM stages WHERE stream = ? ORDER BY n DESC"
        return next((Tally(*row) for row in self._limited(sql, (stream,), 1)), None)

    def declare(self, declared: Sequence[Declared]) -> None:
        self._database.write([(_DECLARE, sorted(declared))])

    def redeclare(self, declared: Sequence[Declared]) -> None:
        to = [(d.problem, d.version, d.fingerprint, d.numeric, d.id) for d in sorted(declared)]
        self._database.write([(_REDECLARE, to)])

    def streams(self) -> list[Declared]:
        return [Declared(*row) for row in self._database.read("SELECT * FROM streams ORDER BY id")]

    def stream(self, stream: str) -> Declared | None:
        found = self._database.read("SELECT * FROM streams WHERE id = ?", (stream,))
        return next((Declared(*row) for row in found), None)

    def damage(self) -> list[str]:
        return self._database.damage(INDEXES)

    def close(self) -> None:
        self._database.close()

    def _limited(
        self, sql: str, values: tuple[Any, ...], limit: int | None
    ) -> list[tuple[Any, ...]]:
        if limit is None:
            return self._database.read(sql, values)
        return self._database.read(f"{sql} LIMIT ?", (*values, limit))
