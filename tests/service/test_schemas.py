"""A number of a schema stands for what is written: whoever changes it has to raise the number."""

import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import schemas

from bocopt.app.service.stores import (
    Configured,
    EventRow,
    OutcomeTotals,
    Snapshot,
    Store,
    StoreError,
    StreamRecord,
    open_store,
)
from bocopt.app.service.stores.schema import SCHEMA, Dialect, tables

RECORDS: dict[str, Any] = {
    "streams": StreamRecord,
    "configurations": Configured,
    "events": EventRow,
    "snapshots": Snapshot,
    "stages": OutcomeTotals,
}


def test_other_tables_have_another_number() -> None:
    made = "".join(f"{sql};\n" for sql, _ in tables(Dialect(bytes="{bytes}"))[:-1])
    digest = sha256(" ".join(made.split()).encode()).hexdigest()[:16]
    assert (SCHEMA, digest) == schemas.latest("store")


def test_a_number_never_stands_for_something_else() -> None:
    """A digest that is rewritten under its number fails, and so does a second one."""
    schemas.check()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("checkpoint 5 97922793e2e55794", "checkpoint 5 0000000000000000", "was changed"),
        ("store 2 a907d0aac2038c16\n", "", "or removed"),
        ("store 1", "checkpoint 5 0000000000000000\nstore 1", "Raise the number"),
    ],
)
def test_a_history_that_was_rewritten_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, old: str, new: str, said: str
) -> None:
    text = schemas.FILE.read_text(encoding="utf-8")
    assert old in text
    committed = set(text.splitlines())
    (tmp_path / "schemas.txt").write_text(text.replace(old, new), encoding="utf-8")
    monkeypatch.setattr(schemas, "FILE", tmp_path / "schemas.txt")
    monkeypatch.setattr(schemas, "_committed", lambda: committed)
    with pytest.raises(AssertionError, match=said):
        schemas.check()


def test_records_have_the_columns_of_their_tables(tmp_path: Path) -> None:
    database: Any = open_store("sqlite:///log.db", tmp_path)
    for table, record in RECORDS.items():
        columns = database._database.read(f"PRAGMA table_info({table})")
        assert len(columns) == len(record._fields), table
    database.close()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_store_of_another_schema_is_refused_by_number_and_not_changed(
    tmp_path: Path, read_only: bool
) -> None:
    """Before any table is made: as it was written two versions ago, with a column less."""
    with closing(sqlite3.connect(tmp_path / "log.db")) as old:
        old.execute("CREATE TABLE about (name TEXT PRIMARY KEY, value BIGINT NOT NULL)")
        old.execute("INSERT INTO about VALUES ('schema', 1)")
        old.execute("CREATE TABLE stages (stream TEXT, n BIGINT)")
        old.commit()
        with pytest.raises(StoreError, match=rf"schema 1; this bocopt reads schema {SCHEMA}"):
            open_store("sqlite:///log.db", tmp_path, read_only=read_only)
        there = old.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        assert there == [("about",), ("stages",)]


def test_a_database_of_another_schema_is_refused_and_not_changed(postgres: str) -> None:
    import psycopg
    from databases import empty_schema

    url = empty_schema(postgres)
    with psycopg.connect(url, autocommit=True) as old:
        old.execute("CREATE TABLE about (name TEXT PRIMARY KEY, value BIGINT NOT NULL)")
        old.execute("INSERT INTO about VALUES ('schema', 1)")
        with pytest.raises(StoreError, match="schema 1; this bocopt reads"):
            open_store(url)
        sql = (
            "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
        )
        assert old.execute(sql).fetchall() == [("about",)]


def test_configurations_are_kept_in_order_and_none_is_changed(store: Store) -> None:
    shops = [StreamRecord(name, "shop", "1", "print", "machine", 7, 12.5, 160.0) for name in "ab"]
    store.declare(shops)
    assert store.streams() == shops
    first = Configured("b", 1, "one", 0, 1.5, "{}")
    rows = [Configured("a", 1, "one", 0, 1.5, "{}"), first, first._replace(n=2, by="two")]
    store.configure(rows[::-1])
    store.configure([first._replace(by="three", decision=9)])
    assert store.configurations() == rows
    assert store.configurations("b") == rows[1:]
    assert store.configurations("none") == []
