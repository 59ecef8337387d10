"""What a commit takes, by how many events it has, and what an event takes on the disk."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bocopt.app.service.stores import EventRow, OutcomeTotals, Snapshot, Store, open_store
from scale.processes import cpu_of_server
from scale.subject import KINDS, STORES, Server, Stage, declared, empty, folder, place_in

BATCHES = (1, 8, 64)
TIMES = 100  # commits of each size
STREAMS, STAGES = 200, 50  # that are written for the bytes of an event
_MINE = ("events", "stages")

Rows = tuple[list[EventRow], list[OutcomeTotals]]


def batches(stage: Stage, streams: Sequence[str], events: int) -> Iterator[Rows]:
    """Events of many streams in turn, in the order in which they may be logged."""
    rows: list[EventRow] = []
    tallies: dict[int, OutcomeTotals] = {}
    for n in range(10**6):
        for stream in streams:
            pair, tally = stage.copied(stream, n)
            for row in pair:
                rows.append(row)
                if row.kind == "outcome":
                    tallies[len(rows)] = tally[0]
                if len(rows) == events:
                    yield rows, list(tallies.values())
                    rows, tallies = [], {}


def commits(store: str, server: Server, stage: Stage) -> dict[str, Any]:
    """Seconds by the clock, CPU of who writes, and CPU of the server, for each size of a batch."""
    found = {}
    for events in BATCHES:
        with empty(store, server) as (_, opened):
            streams = [f"stream-{i:07d}" for i in range(STREAMS)]
            declared(opened, KINDS["SampleAverage"], streams)
            ready = batches(stage, streams, events)
            before = cpu_of_server(server.pid)
            found[str(events)] = _timed(partial(_next_commit, opened, ready))
            if store == "PostgreSQL":
                theirs = (cpu_of_server(server.pid) - before) / TIMES
                found[str(events)]["server_cpu_s"] = theirs
    return found


def with_snapshots(store: str, server: Server, snapshot: Snapshot) -> dict[str, Any]:
    """A commit of one snapshot and nothing else, as a stream leaves when it leaves memory."""
    with empty(store, server) as (_, opened):
        streams = [f"stream-{i:07d}" for i in range(TIMES)]
        declared(opened, KINDS["SampleAverage"], streams)
        ready = iter([snapshot._replace(stream=name) for name in streams])
        return _timed(lambda: opened.append((), [next(ready)]))


def _next_commit(store: Store, ready: Iterator[Rows]) -> None:
    rows, tallies = next(ready)
    store.append(rows, (), tallies)


def appends(stage: Stage) -> dict[str, Any]:
    """The least that a log can do: append to a file and wait until it is on the disk."""
    found = {}
    for events in BATCHES:
        data = (stage.decision.body + stage.outcome.body) * events
        with folder() as place, open(place / "log", "ab", buffering=0) as file:
            found[str(events)] = _timed(partial(_append, file, data[: len(data) // 2]))
    return found


def _append(file: Any, data: bytes) -> None:
    file.write(data)
    os.fdatasync(file.fileno())


def _timed(call: Callable[[], None]) -> dict[str, Any]:
    seconds, before = [], time.process_time()
    for _ in range(TIMES):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    cpu = (time.process_time() - before) / TIMES
    p50, p99 = np.quantile(seconds, [0.5, 0.99])
    return {
        "p50_s": float(p50),
        "p99_s": float(p99),
        "mean_s": float(np.mean(seconds)),
        "cpu_s": cpu,
    }


def bytes_of_events(server: Server, stage: Stage) -> dict[str, Any]:
    """On the disk with all indexes and sums of outcomes, and of the event itself."""
    whole = {store: _written(store, server, stage) for store in STORES}
    rows, _ = stage.copied("stream-0000000", 0)
    bodies = sum(len(row.body) for row in rows) / len(rows)
    return {"events": 2 * STREAMS * STAGES, "body": bodies, **whole}


def _written(store: str, server: Server, stage: Stage) -> float:
    streams = [f"stream-{i:07d}" for i in range(STREAMS)]
    events = 2 * STREAMS * STAGES
    if store == "PostgreSQL":
        opened = open_store(url := place_in(server))
        _fill(opened, stage, streams)
        opened.close()
        return _relations(url) / events
    with folder() as place:
        opened = open_store("sqlite:///log.db", place)
        declared(opened, KINDS["SampleAverage"], streams)
        opened.close()  # which ends the write-ahead log
        before = _size(place)
        opened = open_store("sqlite:///log.db", place)
        _fill(opened, stage, streams)
        opened.close()
        return (_size(place) - before) / events


def _fill(store: Store, stage: Stage, streams: Sequence[str]) -> None:
    declared(store, KINDS["SampleAverage"], streams)
    ready = batches(stage, streams, 2 * len(streams))
    for _ in range(STAGES):
        _next_commit(store, ready)


def _size(place: Path) -> int:
    return sum(file.stat().st_size for file in place.iterdir())


def _relations(url: str) -> int:
    import psycopg

    with psycopg.connect(url) as connection:
        sizes = [
            connection.execute("SELECT pg_total_relation_size(%s)", (name,)).fetchone()
            for name in _MINE
        ]
    return sum(int(size[0]) for size in sizes if size is not None)
