"""Designs made of what was measured, and what was assumed where nothing could be."""

from typing import Any

import numpy as np

from scale.simulation import NOTHING, Design, Line

NODES, WORKERS = 8, 4
KNOWN = "100"  # outcomes of each stream, for the times that were measured
MEMORY = 8e9  # bytes for streams, of a node
STREAMS = 1_000_000
#: Assumed, not measured: each is a setting of the page.
ASSUMED = {
    "detect_s": 5.0,  # until it is known that a node has died
    "replicas_s": 0.005,  # until two more brokers have a batch
    "replicas": 3,  # copies of a log
    "brokers": 3,
    "record_bytes": 70,  # of a log, around an event: stream, place, time and checksum
    "database_cores": 8,  # of one PostgreSQL that all nodes share
    "partition_cores": 2,  # of each of several
}
ONE_FILE, ONE_DATABASE = "one node, SQLite", "one node, PostgreSQL"
SHARED = f"{NODES} nodes, one PostgreSQL"
PARTITIONED = f"{NODES} nodes, {NODES} PostgreSQL"
LOG = f"{NODES} nodes, a log in front"
NAMES = (ONE_FILE, ONE_DATABASE, SHARED, PARTITIONED, LOG)


def line(by_events: dict[str, Any], key: str) -> Line:
    """Through what the smallest and the largest batch took; no less than nothing."""
    few, many = min(map(int, by_events)), max(map(int, by_events))
    first, last = by_events[str(few)][key], by_events[str(many)][key]
    event = max(0.0, (last - first) / (many - few))
    return Line(max(0.0, first - event * few), event)


def start_seconds(inputs: dict[str, Any], streams: float) -> float:
    """How long a node takes to start, by the straight line through all starts measured."""
    counts = np.array([float(count) for count in inputs["starts"]])
    seconds = np.array([start["seconds"] for start in inputs["starts"].values()])
    slope, first = np.polyfit(counts, seconds, 1)
    return float(max(seconds.min(), first + max(0.0, slope) * streams))


def held(inputs: dict[str, Any], policy: str) -> int:
    """Streams that fit into the memory of a node."""
    return int(MEMORY / inputs["policies"][policy][KNOWN]["held_bytes"])


def design(inputs: dict[str, Any], policy: str, name: str) -> Design:
    """One of the names, for one policy."""
    known = inputs["policies"][policy][KNOWN]
    store = "SQLite" if name == ONE_FILE else "PostgreSQL"
    commits = inputs["commits"]["a file" if name == LOG else store]
    served = name not in (ONE_FILE, LOG)
    return Design(
        name=name,
        nodes=1 if name in (ONE_FILE, ONE_DATABASE) else NODES,
        workers=WORKERS,
        held=held(inputs, policy),
        front=inputs["node"][policy]["SQLite" if name == LOG else store]["front_cpu_s"],
        parts=tuple(known["decision"]["parts_s"] + known["outcome"]["parts_s"]),
        restore=known["from_snapshot_cpu_s"] + known["snapshot_cpu_s"],
        leave=0.0 if name == LOG else _leaves(inputs, policy, store),
        commit=line(commits, "p50_s"),
        one_connection=name != LOG,
        database=line(commits, "server_cpu_s") if served else NOTHING,
        databases={PARTITIONED: NODES, LOG: int(ASSUMED["brokers"])}.get(name, 1),
        cores=int(ASSUMED["database_cores" if name == SHARED else "partition_cores"]),
        delay=ASSUMED["replicas_s"] if name == LOG else 0.0,
    )


def _leaves(inputs: dict[str, Any], policy: str, store: str) -> float:
    """What a snapshot adds to a commit: what it takes alone, less what any commit takes."""
    alone = inputs["commits_of_a_snapshot"][policy][store]
    commit = line(inputs["commits"][store], "p50_s")
    return float(max(alone["p50_s"] - commit.batch, alone["cpu_s"]))


def away_seconds(inputs: dict[str, Any], name: str) -> float:
    """How long the streams of a node that died have nobody: it starts again, or another takes over.

    It lists all streams of its store. Behind a log, another process that runs already takes over.
    """
    if name == LOG:
        return float(ASSUMED["detect_s"])
    streams = STREAMS / (NODES if name == PARTITIONED else 1)
    return float(ASSUMED["detect_s"]) + start_seconds(inputs, streams)


def cpu_hours(inputs: dict[str, Any], policy: str, name: str) -> float:
    """Of a million decisions with their outcomes: workers, front and database."""
    known = inputs["policies"][policy][KNOWN]
    node = inputs["node"][policy]["SQLite" if name in (ONE_FILE, LOG) else "PostgreSQL"]
    each = known["decision"]["mean_s"] + known["outcome"]["mean_s"]
    return float(1e6 * (each + 2 * (node["front_cpu_s"] + node["server_cpu_s"])) / 3600)


def bytes_per_event(inputs: dict[str, Any], policy: str, name: str) -> float:
    """On all disks together, without snapshots."""
    room = inputs["bytes_per_event"][policy]
    if name == LOG:
        return float(ASSUMED["replicas"] * (room["body"] + ASSUMED["record_bytes"]))
    return float(room["SQLite" if name == ONE_FILE else "PostgreSQL"])
