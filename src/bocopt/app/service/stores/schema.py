"""The tables of the store, and what a database must be able to do."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from bocopt.app.service.stores.store import StoreError

Statement = tuple[str, Sequence[Sequence[Any]]]  # SQL with ? for values, once for each of them

#: Raised with every change of the tables below, or of what their rows mean: a test has the digest
#: of each. 3: lessons are events too. 4: snapshots have their checksum inside alone. 5: outcomes
#: may be corrected, and their cost may be unknown.
SCHEMA = 5


class Dialect(NamedTuple):
    """What each database says in a way of its own; {...} stand for what a statement is about."""

    bytes: str  # the type of blobs
    word: str = "TEXT"  # the type of text in a key or an index, where some need a length
    key: str = "key"  # two columns, quoted where they are words of its SQL
    numeric: str = '"numeric"'
    insert_or_skip: str = "INSERT INTO {table} VALUES ({values}) ON CONFLICT ({key}) DO NOTHING"
    put_snapshot: str = """INSERT INTO snapshots VALUES (?, ?, ?, ?, ?)
ON CONFLICT (stream, seq) DO UPDATE
SET state = excluded.state, apart = excluded.apart, as_of = excluded.as_of"""
    make_index: str = (
        "CREATE {unique}INDEX IF NOT EXISTS {name} ON {table} ({columns})"  # "": inside
    )
    index_inside: str = ""  # an index as part of its table, with a comma before


class Index(NamedTuple):
    """An index of a table."""

    name: str
    columns: str
    unique: str = "UNIQUE "


class Table(NamedTuple):
    """A table, its columns with the {words} of a dialect, and its indexes."""

    name: str
    columns: str
    indexes: tuple[Index, ...] = ()

    def made(self, dialect: Dialect) -> list[str]:
        """Return the statements that make it and its indexes where they are not there."""
        columns = self.columns.format(**dialect._asdict())
        about = [
            each._asdict()
            | {"table": self.name, "columns": each.columns.format(**dialect._asdict())}
            for each in self.indexes
        ]
        inside = "".join(dialect.index_inside.format(**each) for each in about)
        after = [dialect.make_index.format(**each) for each in about] if dialect.make_index else []
        return [f"CREATE TABLE IF NOT EXISTS {self.name} ({columns}{inside})", *after]


TABLES = (
    Table("about", "name {word} PRIMARY KEY, value BIGINT NOT NULL"),
    Table(
        "streams",
        """
  id {word} PRIMARY KEY, problem TEXT NOT NULL, version TEXT NOT NULL, fingerprint TEXT NOT NULL,
  {numeric} TEXT NOT NULL, seed BIGINT NOT NULL, created DOUBLE PRECISION NOT NULL,
  scale DOUBLE PRECISION""",
    ),
    Table(
        "configurations",
        """
  stream {word} NOT NULL REFERENCES streams (id), n BIGINT NOT NULL, decided_by TEXT NOT NULL,
  decision BIGINT NOT NULL, at DOUBLE PRECISION NOT NULL, about TEXT NOT NULL,
  PRIMARY KEY (stream, n)""",
    ),
    Table(
        "events",
        """
  stream {word} NOT NULL REFERENCES streams (id), seq BIGINT NOT NULL, kind {word} NOT NULL,
  decision BIGINT NOT NULL, {key} {word}, body {bytes} NOT NULL, at DOUBLE PRECISION NOT NULL,
  nth BIGINT NOT NULL, PRIMARY KEY (stream, seq)""",
        (
            Index("events_once", "stream, decision, kind, nth"),
            Index("events_key", "stream, {key}"),
        ),
    ),
    Table(
        "snapshots",
        """
  stream {word} NOT NULL REFERENCES streams (id), seq BIGINT NOT NULL, state {bytes} NOT NULL,
  apart BIGINT NOT NULL, as_of BIGINT NOT NULL, PRIMARY KEY (stream, seq)""",
    ),
    Table(
        "stages",
        """
  stream {word} NOT NULL REFERENCES streams (id), n BIGINT NOT NULL, decision BIGINT NOT NULL,
  at DOUBLE PRECISION NOT NULL, cost DOUBLE PRECISION, feasible BIGINT,
  hindsight DOUBLE PRECISION, known BIGINT NOT NULL, costs DOUBLE PRECISION NOT NULL,
  feasibles BIGINT NOT NULL, hindsights DOUBLE PRECISION, told TEXT NOT NULL,
  PRIMARY KEY (stream, n)""",
        (Index("stages_once", "stream, decision"),),
    ),
    Table(
        "waiting",
        """
  stream {word} NOT NULL REFERENCES streams (id), decision BIGINT NOT NULL,
  at DOUBLE PRECISION NOT NULL, PRIMARY KEY (stream, decision)""",
        (Index("waiting_since", "at", unique=""),),
    ),
)
INDEXES = tuple(each.name for table in TABLES for each in table.indexes if each.unique)


class Database(Protocol):
    """One connection, for one thread at a time."""

    @property
    def dialect(self) -> Dialect:
        """Its own SQL."""
        ...

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


def tables(dialect: Dialect) -> list[Statement]:
    """Return the statements that make missing tables."""
    version = dialect.insert_or_skip.format(table="about", values="'schema', ?", key="name")
    created = [sql for table in TABLES for sql in table.made(dialect)]
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
