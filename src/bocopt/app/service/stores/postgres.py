"""The log in a PostgreSQL database, which several servers may share."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from bocopt.app.service.stores.schema import Dialect, Statement, check, tables
from bocopt.app.service.stores.sql import SqlStore
from bocopt.app.service.stores.store import ConflictError, Store, StoreError

try:
    import psycopg
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        'A log in PostgreSQL needs psycopg: pip install "bocopt[postgres]"'
    ) from error

_INSERT = re.compile(r"(INSERT INTO \w+ VALUES )(\([?, ]+\))(.*)", re.DOTALL)
_TOGETHER = 500  # rows of one statement
_PATIENCE = 10  # seconds to wait for a connection
_ONE_AT_A_TIME = 0x62_6F_63_6F  # the lock under which tables are made


def open_postgres(url: str, *, read_only: bool = False) -> Store:
    """The store in this database; its tables are made where there are none."""
    database = _Postgres(url, read_only)
    try:
        if not read_only:
            database.prepare()
        return SqlStore(database, _shown(url))
    except BaseException:
        database.close()
        raise


def _shown(url: str) -> str:
    """Without the password."""
    parts = urlsplit(url)
    return f"postgresql://{parts.hostname or ''}{parts.path}"


class _Postgres:
    dialect = Dialect(bytes="BYTEA")

    def __init__(self, url: str, read_only: bool) -> None:
        self._url, self._read_only, self._lock = url, read_only, Lock()
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None

    def prepare(self) -> None:
        """Make the tables where there are none; a StoreError where there are others."""
        if self.read("SELECT to_regclass('about')") != [(None,)]:
            check(self, _shown(self._url))
        lock = (f"SELECT pg_advisory_xact_lock({_ONE_AT_A_TIME})", [()])
        self.write([lock, *tables(self.dialect)])

    def _connected(self) -> "psycopg.Connection[tuple[Any, ...]]":
        """A connection that works as far as is known; a lost one is made anew."""
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(
                self._url, autocommit=True, connect_timeout=_PATIENCE
            )
            self._connection.execute("SET synchronous_commit = on")
            if self._read_only:
                self._connection.execute("SET default_transaction_read_only = on")
        return self._connection

    def read(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self._lock, self._as_store_errors():
            found = self._connected().execute(_query(sql), values).fetchall()
        return [tuple(map(_plain, row)) for row in found]

    def write(self, statements: Iterable[Statement]) -> None:
        """Run statements in one transaction, with inserted rows sent in groups."""
        with self._lock, self._as_store_errors():
            connection = self._connected()
            with connection.transaction(), connection.cursor() as cursor:
                for sql, values in statements:
                    for some in _portions(sql, values):
                        cursor.execute(*some)

    def damage(self, indexes: Sequence[str]) -> list[str]:
        """Return a message for each unique index that is missing or invalid."""
        sql = """SELECT relname FROM pg_class JOIN pg_index ON oid = indexrelid
            WHERE indisvalid AND indisunique AND pg_table_is_visible(oid)"""
        there = {name for (name,) in self.read(sql)}
        return [f"The index {name} is missing." for name in indexes if name not in there]

    def close(self) -> None:
        """Close the connection if there is one."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()

    @contextmanager
    def _as_store_errors(self) -> Iterator[None]:
        """Errors of the database in the words of a store."""
        try:
            yield
        except psycopg.errors.UniqueViolation as error:
            raise ConflictError(_first_line(error)) from error
        except psycopg.Error as error:
            full = isinstance(error, psycopg.errors.DiskFull)
            if isinstance(error, psycopg.OperationalError) and self._connection is not None:
                self._connection.close()
            raise StoreError(f"{_shown(self._url)}: {_first_line(error)}.", full=full) from error


def _portions(sql: str, values: Sequence[Sequence[Any]]) -> Iterator[tuple[bytes, list[Any]]]:
    """Rows that are inserted go together in one statement; a pipeline would hide conflicts.

    >>> list(_portions("INSERT INTO t VALUES (?, ?) RETURNING a", [(1, 2), (3, 4)]))
    [(b'INSERT INTO t VALUES (%s, %s), (%s, %s) RETURNING a', [1, 2, 3, 4])]
    """
    parts = _INSERT.fullmatch(sql)
    for first in range(0, len(values), _TOGETHER if parts else 1):
        some = values[first : first + (_TOGETHER if parts else 1)]
        many = sql if parts is None else f"{parts[1]}{', '.join([parts[2]] * len(some))}{parts[3]}"
        yield _query(many), [value for row in some for value in row]


def _query(sql: str) -> bytes:
    return sql.replace("?", "%s").encode()


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
