"""Each statement that databases say differently is asked of the dialect of the one that is open."""

from pathlib import Path

import pytest

from bocopt.app.service.stores import Configured, EventRow, Snapshot, StreamRecord, open_store
from bocopt.app.service.stores import sqlite as sqlite_store
from bocopt.app.service.stores.schema import INDEXES, Dialect, tables

#: Nothing of it is what SQLite and PostgreSQL are told; SQLite takes it all the same.
ANOTHER = Dialect(
    bytes="BINARY",
    word="VARCHAR(191)",
    key="`key`",
    numeric="`numeric`",
    insert_or_skip="INSERT OR IGNORE INTO {table} VALUES ({values})",
    put_snapshot="INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)",
)
SHOP = StreamRecord("shop", "shop", "1", "print", "machine", 7, 12.5)


def test_a_store_in_another_dialect_is_the_same_store(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sqlite_store._Sqlite, "dialect", ANOTHER)
    store = open_store("sqlite:///log.db", tmp_path)
    first = Configured("shop", 1, "one", 0, 1.5, "{}")
    store.declare([SHOP], [first])
    store.declare([SHOP._replace(seed=8)], [first._replace(by="two")])
    assert store.streams() == [SHOP]
    assert store.configurations() == [first]
    store.redeclare([SHOP._replace(numeric="another machine")])
    assert store.stream("shop") == SHOP._replace(numeric="another machine")
    row = EventRow("shop", 0, "decision", 0, "asked", b"body", 1.5)
    store.append([row], [Snapshot("shop", seq, b"%d" % seq) for seq in (3, 7, 5, 9)])
    store.append([], [Snapshot("shop", 9, b"again")])
    assert store.by_key("shop", "asked") == row
    assert store.snapshots("shop") == [Snapshot("shop", 9, b"again"), Snapshot("shop", 7, b"7")]
    assert store.damage() == []
    store.close()
    again = open_store("sqlite:///log.db", tmp_path)
    assert again.stream("shop") == SHOP._replace(numeric="another machine")
    again.close()


def test_words_of_the_standard_dialect_are_in_no_statement_of_another() -> None:
    own = "\n".join(sql for sql, _ in tables(ANOTHER))
    assert '"' not in own
    assert "ON CONFLICT" not in own
    assert " key " not in own
    assert "stream TEXT" not in own


def test_indexes_may_be_parts_of_their_tables() -> None:
    """Where a database cannot make an index that may be there already."""
    inside = ", {unique}KEY {name} ({columns})"
    made = [sql for sql, _ in tables(ANOTHER._replace(make_index="", index_inside=inside))]
    assert all(sql.startswith(("CREATE TABLE", "INSERT")) for sql in made)
    [events] = [sql for sql in made if " events " in sql]
    assert events.endswith(
        "UNIQUE KEY events_once (stream, decision, kind, nth), "
        "UNIQUE KEY events_key (stream, `key`))"
    )
    assert all(any(name in sql for sql in made) for name in INDEXES)
