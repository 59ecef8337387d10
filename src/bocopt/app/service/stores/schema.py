"""The tables of the store, and what a database must be able to do."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from bocopt.app.service.stores.store import StoreError

Statement = tuple[str, Sequence[Sequence[Any]]]  # SQL with ? for values, once for each of them

#: Raised with every change of the tables below, or of what their rows mean: a test has the digest
#: of each. 3: lessons are events too. 4: snapshots have their checksum inside alone.
SCHEMA = 4
TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS streams (
  id TEXT PRIMARY KEY, problem TEXT NOT NULL, version TEXT NOT NULL, fingerprint TEXT NOT NULL,
  "numeric" TEXT NOT NULL, seed BIGINT NOT NULL, created DOUBLE PRECISION NOT NULL,
  scale DOUBLE PRECISION);
CREATE TABLE IF NOT EXISTS configurations (
  stream TEXT NOT NULL REFERENCES streams (id), n BIGINT NOT NULL, decided_by TEXT NOT NULL,
  decision BIGINT NOT NULL, at DOUBLE PRECISION NOT NULL, about TEXT NOT NULL,
  PRIMARY KEY (stream, n));
CREATE TABLE IF NOT EXISTS events (
  stream TEXT NOT NULL REFERENCES streams (id), seq BIGINT NOT NULL, kind TEXT NOT NULL,
  decision BIGINT NOT NULL, key TEXT, body {bytes} NOT NULL, at DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (stream, seq));
CREATE UNIQUE INDEX IF NOT EXISTS events_once ON events (stream, decision, kind);
CREATE UNIQUE INDEX IF NOT EXISTS events_key ON events (stream, key);
CREATE TABLE IF NOT EXISTS snapshots (
  stream TEXT NOT NULL REFERENCES streams (id), seq BIGINT NOT NULL, state {bytes} NOT NULL,
  PRIMARY KEY (stream, seq));
CREATE TABLE IF NOT EXISTS stages (
  stream TEXT NOT NULL REFERENCES streams (id), n BIGINT NOT NULL, decision BIGINT NOT NULL,
  at DOUBLE PRECISION NOT NULL, cost DOUBLE PRECISION NOT NULL, feasible BIGINT NOT NULL,
  hindsight DOUBLE PRECISION, costs DOUBLE PRECISION NOT NULL, feasibles BIGINT NOT NULL,
  hindsights DOUBLE PRECISION, told TEXT NOT NULL, PRIMARY KEY (stream, n));
CREATE UNIQUE INDEX IF NOT EXISTS stages_once ON stages (stream, decision);
CREATE TABLE IF NOT EXISTS waiting (
  stream TEXT NOT NULL REFERENCES streams (id), decision BIGINT NOT NULL,
  at DOUBLE PRECISION NOT NULL, PRIMARY KEY (stream, decision));
CREATE INDEX IF NOT EXISTS waiting_since ON waiting (at);
"""
INDEXES = ("events_once", "events_key", "stages_once")


class Database(Protocol):
    """One connection, for one thread at a time."""

    def read(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        ...

    def write(self, statements: Iterable[Statement]) -> None:
        """One transaction; a ConflictError where a row is there already."""
        ...

    def damage(self, indexes: Sequence[str]) -> list[str]:
        """Return messages on damage that the database finds, and on missing indexes."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


def tables(kind_of_bytes: str) -> list[Statement]:
    """Return the statements that make missing tables; `kind_of_bytes` is the type of blobs."""
    created = TABLES.format(bytes=kind_of_bytes).split(";")[:-1]
    version = "INSERT INTO about VALUES ('schema', ?) ON CONFLICT (name) DO NOTHING"
    return [*((sql, [()]) for sql in created), (version, [(SCHEMA,)])]


def check(database: Database, name: str) -> None:
    """A StoreError where the tables are those of another version; nothing is changed."""
    [(schema,)] = database.read("SELECT value FROM about WHERE name = 'schema'")
    if schema != SCHEMA:
        raise StoreError(
            f"{name} has tables of schema {schema}; this bocopt reads schema {SCHEMA}, and has "
            "changed nothing. Go on with the version of bocopt that wrote it; or write its "
            "decisions to tables with that version (`bocopt export`), and begin a new store."
        )
