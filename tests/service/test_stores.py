"""Every store: all or nothing, nothing twice, whoever else writes."""

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from bocopt.app.service.stores import (
    ConflictError,
    EventRow,
    OutcomeTotals,
    Snapshot,
    Store,
    StoreError,
    StreamRecord,
    open_store,
)

SHOP = StreamRecord("shop", "shop", "1", "print", "machine", 7, 12.5)


def row(seq: int, kind: str = "decision", decision: int = 0, key: str | None = None) -> EventRow:
    return EventRow("shop", seq, kind, decision, key, bytes(range(256)), 1.5)


def tally(n: int) -> OutcomeTotals:
    return OutcomeTotals("shop", n, n, 1.5, -3.0, 1, None, n, -3.0 * n, n, None, "{}")


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = open_store(url)
    opened.declare([SHOP])
    yield opened
    opened.close()


def test_what_is_appended_is_read_back(store: Store, url: str) -> None:
    rows = [row(0, key="a"), row(1, decision=1), row(2, "outcome"), row(3, "forgotten", 1)]
    store.append(rows, [Snapshot("shop", 2, b"\0state")], [tally(1)])
    for reader in (store, open_store(url), open_store(url, read_only=True)):
        assert reader.tail("shop") == rows
        assert reader.tail("shop", 1) == rows[2:]
        assert reader.tail("shop", 0, limit=2) == rows[1:3]
        assert reader.tail("other") == []
        assert (reader.last_seq("shop"), reader.last_seq("other")) == (3, -1)
        assert reader.decided_at("shop", 1) == {1: 1.5}
        assert reader.by_key("shop", "a") == rows[0]
        assert reader.by_key("shop", "b") is None
        assert reader.about("shop", 0) == [rows[0], rows[2]]
        assert reader.snapshots("shop") == [Snapshot("shop", 2, b"\0state")]
        assert reader.stages("shop") == [tally(1)] == [reader.last_stage("shop")]
        assert reader.stages("shop", after=1) == []
        assert reader.streams() == [SHOP] == [reader.stream("shop")]
        assert reader.stream("other") is None
        assert reader.damage() == []
        if reader is not store:
            reader.close()


TAKEN = {
    "the same place": row(1, decision=5),
    "a decision twice": row(2),
    "an outcome twice": row(2, "outcome"),
    "a key twice": row(2, decision=5, key="a"),
}


@pytest.mark.parametrize("taken", TAKEN)
def test_a_conflict_writes_nothing_at_all(store: Store, taken: str) -> None:
    before = [row(0, key="a"), row(1, "outcome")]
    store.append(before)
    fine = row(9, decision=9)
    for rows in ([fine, TAKEN[taken]], [TAKEN[taken], fine]):
        with pytest.raises(ConflictError):
            store.append(rows, [Snapshot("shop", 2, b"state")], [tally(1)])
    assert store.tail("shop") == before
    assert store.snapshots("shop") == []
    assert store.last_stage("shop") is None
    store.append([fine])
    assert store.tail("shop") == [*before, fine]


def test_many_events_may_have_no_key(store: Store) -> None:
    store.append([row(i, decision=i) for i in range(5)])
    assert len(store.tail("shop")) == 5


def test_the_latest_two_snapshots_are_kept(store: Store) -> None:
    for seq in (3, 7, 5, 9):
        store.append([], [Snapshot("shop", seq, b"state %d" % seq)])
    assert [found.seq for found in store.snapshots("shop")] == [9, 7]
    store.append([], [Snapshot("shop", 9, b"again")])
    assert [found.state for found in store.snapshots("shop")] == [b"again", b"state 7"]


def test_a_stream_begins_once(store: Store) -> None:
    other = SHOP._replace(seed=8, version="2", fingerprint="other")
    north = SHOP._replace(id="north")
    store.declare([other, north])
    assert store.streams() == [north, SHOP]
    store.redeclare([other])
    store.declare([SHOP])
    assert store.stream("shop") == SHOP._replace(version="2", fingerprint="other")


def test_of_many_writers_one_has_each_place(store: Store, url: str) -> None:
    """Each retries at the next place: no event is lost, none is doubled, there are no gaps."""
    start, done = threading.Barrier(4), []

    def write(me: int) -> None:
        own = open_store(url)
        start.wait()
        for i in range(10):
            while True:
                seq = len(own.tail("shop"))
                try:
                    own.append([row(seq, decision=100 * me + i)])
                    break
                except ConflictError:
                    continue
            done.append((seq, 100 * me + i))
        own.close()

    threads = [threading.Thread(target=write, args=(me,)) for me in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [(event.seq, event.decision) for event in store.tail("shop")]
    assert found == sorted(done)
    assert [seq for seq, _ in found] == list(range(40))


def test_a_reader_cannot_write(store: Store, url: str) -> None:
    reader = open_store(url, read_only=True)
    with pytest.raises(StoreError):
        reader.append([row(0)])
    reader.close()
    assert store.tail("shop") == []


def test_a_lost_connection_is_made_anew(postgres: str) -> None:
    import psycopg

    store = open_store(postgres)
    with psycopg.connect(postgres, autocommit=True) as other:
        others = "pid <> pg_backend_pid() AND backend_type = 'client backend'"
        sql = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"
        other.execute(sql.encode())
    with pytest.raises(StoreError, match=r"^postgresql://127.0.0.1/postgres: "):
        store.streams()
    assert store.streams() == []
    store.close()


def test_errors_do_not_show_a_password() -> None:
    with pytest.raises(StoreError) as told:
        open_store("postgresql://me:secret@127.0.0.1:1/nowhere")
    assert "secret" not in str(told.value)


@pytest.mark.parametrize("url", ["", "log.db", "sqlite://log.db", "sqlite:///", "mysql://a/b"])
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match="A store must be 'sqlite:///FILE' or 'postgresql://"):
        open_store(url)


def test_every_commit_is_synced(tmp_path: Path) -> None:
    from bocopt.app.service.stores.sqlite import _Sqlite

    database = _Sqlite(tmp_path / "log.db", read_only=False)
    assert database.read("PRAGMA journal_mode") == [("wal",)]
    assert database.read("PRAGMA synchronous") == [(2,)]
    database.close()


def test_a_full_disk_is_told_and_passes(tmp_path: Path) -> None:
    from bocopt.app.service.stores.sql import SqlStore
    from bocopt.app.service.stores.sqlite import _Sqlite

    database = _Sqlite(tmp_path / "log.db", read_only=False)
    store = SqlStore(database, "log")
    store.declare([SHOP])
    [(pages,)] = database.read("PRAGMA page_count")
    database.read(f"PRAGMA max_page_count = {pages + 2}")
    large = row(0)._replace(body=bytes(100_000))
    with pytest.raises(StoreError, match="full") as told:
        store.append([large])
    assert told.value.full
    assert store.tail("shop") == []
    database.read("PRAGMA max_page_count = 100000")
    store.append([large])
    assert store.tail("shop") == [large]
    store.close()


def test_a_missing_index_is_found(tmp_path: Path) -> None:
    store = open_store("sqlite:///log.db", tmp_path)
    store.declare([SHOP])
    store.append([row(i, decision=i) for i in range(200)])
    with sqlite3.connect(tmp_path / "log.db") as connection:
        connection.execute("DROP INDEX events_once")
    connection.close()
    assert store.damage() == ["The index events_once is missing."]
    store.close()


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.db").write_bytes(b"something else, and long enough to be looked at" * 50)
    with pytest.raises(StoreError, match="not a database"):
        open_store("sqlite:///log.db", tmp_path)


def test_what_a_page_reads(store: Store, url: str) -> None:
    """Against the log itself."""
    other = SHOP._replace(id="other", created=2.0)
    store.declare([other])
    kinds = ["decision", "decision", "outcome", "decision", "forgotten", "outcome"]
    numbers = [0, 1, 1, 2, 2, 0]
    pairs = enumerate(zip(kinds, numbers, strict=True))
    rows = [row(seq, kind, n)._replace(at=10.0 * seq) for seq, (kind, n) in pairs]
    stages = [tally(1)._replace(decision=1, at=20.0), tally(2)._replace(decision=0, at=50.0)]
    store.append(rows[:3], (), stages[:1])
    assert store.waiting("shop", 9) == [(0, 0.0)]
    store.append(rows[3:4])
    assert store.waiting("shop", 9) == [(0, 0.0), (2, 30.0)]
    assert store.waiting("shop", 1) == [(0, 0.0)]
    [_, shop] = store.standings()
    assert (shop.open, shop.oldest, shop.outcomes, shop.delay) == (2, 0.0, 1, 10.0)
    store.append(rows[4:], (), stages[1:])
    reader = open_store(url, read_only=True)
    assert reader.waiting("shop", 9) == []
    assert reader.stages_at("shop", [2, 1, 7]) == stages
    assert reader.stages_at("shop", []) == []
    assert reader.stages_of("shop", 0, 0) == stages[1:]
    assert reader.stages_of("shop", 0, 9) == stages[::-1]
    assert reader.events_of("shop", 1, 2) == rows[1:5]
    assert (reader.last_decision("shop"), reader.last_decision("other")) == (2, -1)
    empty, shop = reader.standings()
    assert (shop.id, shop.events, shop.decisions, shop.last) == ("shop", 6, 3, 50.0)
    assert (shop.open, shop.oldest, shop.outcomes, shop.delay) == (0, None, 2, 50.0)
    assert (shop.costs, shop.feasibles, shop.told) == (-6.0, 2, "{}")
    assert (empty.id, empty.events, empty.last, empty.outcomes) == ("other", 0, None, 0)
    assert reader.standings("shop") == [shop]
    assert reader.standings("none") == []
    reader.close()


def test_a_conflict_leaves_what_waits_as_it_was(store: Store) -> None:
    store.append([row(0)])
    with pytest.raises(ConflictError):
        store.append([row(1, "outcome"), row(1, decision=1)])
    assert store.waiting("shop", 9) == [(0, 1.5)]
