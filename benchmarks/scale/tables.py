"""The tables of docs/scale.md, from the JSON files alone."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from scale import designs
from scale.designs import ASSUMED, NAMES

Inputs = dict[str, Any]

CORE_HOUR, GB_MONTH = 0.04, 0.10  # dollars: an example that a reader replaces


def number(value: float) -> str:
    """Three digits, or all before the point; nothing where there is none.

    >>> number(12345.6), number(45.67), number(0.012345)
    ('12,346', '45.7', '0.0123')
    """
    if math.isnan(value):
        return ""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def grid(header: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> list[str]:
    """A table whose first columns are words, and the others numbers."""
    marks = ["---"] * words + ["---:"] * (len(header) - words)
    lines = [list(header), marks, *map(list, rows)]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def measured(inputs: Inputs) -> list[str]:
    """All that was measured."""
    parts = (streams_table, commits_table, nodes_table, starts_table)
    return [line for part in parts for line in (*part(inputs), "")] + [_load(inputs)]


def _load(inputs: Inputs) -> str:
    """On what, and whether times by the clock are to be believed."""
    load, cores = inputs["load_before"], inputs["cores"]
    told = f"Measured on {cores} cores, with a load of {load:.1f} before."
    if load < cores / 2:
        return told
    return f"{told} **Other programs ran: times by the clock are too long, and rates too low.**"


def streams_table(inputs: Inputs) -> list[str]:
    columns = [
        (policy, outcomes, row)
        for policy, rows in inputs["policies"].items()
        for outcomes, row in rows.items()
    ]

    def cells(words: str, of: Callable[[dict[str, Any]], float]) -> list[str]:
        return [words, *(number(of(row)) for _, _, row in columns)]

    rows = [
        cells("a decision, ms of CPU", lambda row: 1e3 * row["decision"]["mean_s"]),
        cells("an outcome, ms of CPU", lambda row: 1e3 * row["outcome"]["mean_s"]),
        cells("a snapshot, kB", lambda row: row["snapshot_bytes"] / 1e3),
        cells("in memory, kB", lambda row: row["held_bytes"] / 1e3),
        cells("snapshot made, ms of CPU", lambda row: 1e3 * row["snapshot_cpu_s"]),
        cells("built from a snapshot, ms of CPU", lambda row: 1e3 * row["from_snapshot_cpu_s"]),
        cells("built from the log, ms of CPU", lambda row: 1e3 * _or_nan(row["from_log_cpu_s"])),
    ]
    header = [f"{policy}, {int(outcomes):,}" for policy, outcomes, _ in columns]
    return grid(["a stream, by policy and outcomes so far", *header], rows)


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def commits_table(inputs: Inputs) -> list[str]:
    commits, leaving = inputs["commits"], inputs["commits_of_a_snapshot"]
    batches = list(commits["SQLite"])

    def cells(words: str, by_events: dict[str, Any], key: str) -> list[str]:
        return [words, *(number(1e3 * by_events[events][key]) for events in batches)]

    rows = [cells(f"{name}, ms", by_events, "p50_s") for name, by_events in commits.items()]
    rows += [
        cells("SQLite, ms of CPU of the front", commits["SQLite"], "cpu_s"),
        cells("PostgreSQL, ms of CPU of the front", commits["PostgreSQL"], "cpu_s"),
        cells("PostgreSQL, ms of CPU of the server", commits["PostgreSQL"], "server_cpu_s"),
    ]
    first = grid(["a commit, by events", *batches], rows)
    stores = [store for store in commits if store in leaving["Ensemble"]]
    rows = [
        [policy, *(number(1e3 * by_store[store]["p50_s"]) for store in stores)]
        for policy, by_store in leaving.items()
    ]
    header = ["a commit of one snapshot, ms", *stores]
    return [*first, "", *grid(header, rows)]


def nodes_table(inputs: Inputs) -> list[str]:
    rows = [
        [
            f"{policy}, {store}",
            number(row["decisions_per_s"]),
            number(1e3 * row["p50_s"]),
            number(1e3 * row["p99_s"]),
            number(1e3 * row["front_cpu_s"]),
            number(1e3 * row["workers_cpu_s"]),
            number(1e3 * row["server_cpu_s"]),
            number(inputs["bytes_per_event"][policy][store]),
        ]
        for policy, by_store in inputs["node"].items()
        for store, row in by_store.items()
    ]
    header = [
        "a node, end to end",
        "decisions/s",
        "p50, ms",
        "p99, ms",
        "CPU of a request: front, ms",
    ]
    return grid([*header, "workers, ms", "database, ms", "bytes of an event"], rows)


def starts_table(inputs: Inputs) -> list[str]:
    rows = [
        [f"start with {int(count):,} streams", number(row["seconds"]), number(row["cpu_s"])]
        for count, row in inputs["starts"].items()
    ]
    back = inputs["replacement"]
    rows.append([f"a worker killed, until it answers again ({back['kills']} times)"])
    rows[-1] += [number(back["median_s"]), ""]
    return grid(["", "s", "s of CPU"], rows)


def designs_table(inputs: Inputs, found: dict[str, Any]) -> list[str]:
    """What each design carries, keeps, costs, and how it comes back."""
    rows = []
    for policy, by_design in found["policies"].items():
        for name in NAMES:
            row, hours = by_design[name], designs.cpu_hours(inputs, policy, name)
            size = designs.bytes_per_event(inputs, policy, name)
            gigabytes = 2e6 * size / 1e9
            rows.append(
                [
                    policy,
                    name,
                    number(row["decisions_per_s"]),
                    row["at_most"]["saturates"],
                    number(size),
                    number(row["death"]["seconds"]),
                    number(hours),
                    number(gigabytes),
                    f"{CORE_HOUR * hours + GB_MONTH * gigabytes:.2f}",
                ]
            )
    header = "policy|design|decisions/s|busiest|bytes an event|s to recover|CPU-hours|GB|dollars"
    return grid(header.split("|"), rows, 2)


def stress_table(found: dict[str, Any]) -> list[str]:
    """Hot streams, little memory, bursts and deaths."""
    rows = [
        [
            policy,
            name,
            number(row["decisions_per_s"]),
            number(row["hot_decisions_per_s"]),
            number(row["default_memory_decisions_per_s"]),
            f"{100 * row['at_most']['missed']:.0f}%",
            number(row["at_most"]["batch"]),
            number(row["burst"]["seconds"]),
            f"{100 * row['burst']['over_1_s']:.0f}%",
            f"{100 * row['death']['over_1_s']:.0f}%",
        ]
        for policy, by_design in found["policies"].items()
        for name, row in by_design.items()
    ]
    header = (
        "policy|design|decisions/s|hot streams|1,000 held|not in memory|events a commit"
        "|s until a burst is over|over 1 s: burst|death"
    )
    return grid(header.split("|"), rows, 2)


def assumed_table() -> list[str]:
    words = {
        "detect_s": "seconds until it is known that a node has died",
        "replicas_s": "seconds until two more brokers of the log have a batch",
        "replicas": "copies of the log",
        "brokers": "brokers of the log",
        "record_bytes": "bytes of the log around an event",
        "database_cores": "cores of one PostgreSQL that eight nodes share",
        "partition_cores": "cores of each of several",
    }
    return grid(["assumed", ""], [[words[name], number(value)] for name, value in ASSUMED.items()])
