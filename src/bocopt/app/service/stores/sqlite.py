"""The log in one SQLite file: WAL, and every commit synced to the disk."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import quote

from bocopt.app.service.stores.schema import Dialect, Statement, check, tables
from bocopt.app.service.stores.sql import SqlStore
from bocopt.app.service.stores.store import ConflictError, Store, StoreError

_PATIENCE = 10.0  # seconds to wait for another writer
_TWICE = (sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE)


def open_sqlite(path: Path, *, read_only: bool = False) -> Store:
    """The store in this file, which is made where there is none; for reading it must be there."""
    database = _Sqlite(path, read_only)
    try:
        return SqlStore(database, str(path))
    except BaseException:
        database.close()
        raise


class _Sqlite:
    dialect = Dialect(bytes="BLOB")

    def __init__(self, path: Path, read_only: bool) -> None:
        self._path, self._lock = path, Lock()
        with self._as_store_errors():
            self._connection = sqlite3.connect(
                f"file:{quote(str(path))}?mode={'ro' if read_only else 'rwc'}",
                uri=True,
                timeout=_PATIENCE,
                isolation_level=None,  # transactions are begun here, and nowhere else
                check_same_thread=False,
            )
        try:
            self._prepare(read_only)
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self, read_only: bool) -> None:
        with self._as_store_errors():
            self._connection.execute("PRAGMA foreign_keys = ON")
            if not read_only:
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")
        if not read_only:
            if self.read("SELECT 1 FROM sqlite_master WHERE name = 'about'"):
                check(self, str(self._path))
            self.write(tables(self.dialect))

    def read(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with (
            self._lock,
            self._as_store_errors(),
            closing(self._connection.execute(sql, values)) as found,
        ):
            return found.fetchall()

    def write(self, statements: Iterable[Statement]) -> None:
        """Run statements in one transaction, rolled back if one of them fails."""
        with self._lock, self._as_store_errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                for sql, values in statements:
                    self._connection.executemany(sql, values)
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # some errors have rolled back already
                    self._connection.execute("ROLLBACK")
                raise

    def damage(self, indexes: Sequence[str]) -> list[str]:
        """Return what the integrity check finds, and a message for each missing index."""
        found = [text for (text,) in self.read("PRAGMA integrity_check") if text != "ok"]
        there = {name for (name,) in self.read("SELECT name FROM sqlite_master WHERE sql <> ''")}
        return found + [f"The index {name} is missing." for name in indexes if name not in there]

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _as_store_errors(self) -> Iterator[None]:
        """Errors of the database in the words of a store."""
        try:
            yield
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) in _TWICE:
                raise ConflictError(str(error)) from error
            full = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
            raise StoreError(f"{self._path}: {error}.", full=full) from error
