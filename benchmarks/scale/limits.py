"""What breaks first at a million streams: each number from what was measured, or simulated."""

from typing import Any

from scale import designs
from scale.designs import KNOWN, ONE_FILE, STREAMS
from scale.tables import grid, number

_ID = 18  # bytes of the id of a stream in a list, with its quotes and comma
_A_DAY = 86_400


def limits_table(inputs: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """What, how much, how it is known, and what to change."""
    average, ensemble = (inputs["policies"][name][KNOWN] for name in ("SampleAverage", "Ensemble"))
    rows = [
        *_room(average, ensemble),
        *_times(inputs, average, ensemble),
        *_rates(inputs, found, ensemble),
    ]
    return grid(["what", "at a million streams", "known by", "what to change"], rows, 4)


def _room(average: dict[str, Any], ensemble: dict[str, Any]) -> list[list[str]]:
    memory = [number(STREAMS * row["held_bytes"] / 1e9) for row in (average, ensemble)]
    disk = [number(2 * STREAMS * row["snapshot_bytes"] / 1e9) for row in (average, ensemble)]
    return [
        [
            "memory, if all are held",
            f"{memory[0]} GB (SampleAverage), {memory[1]} GB (Ensemble)",
            "measured, times 10^6",
            "`held` fits a node; more nodes; states that share what streams have in common",
        ],
        [
            "snapshots on the disk, two a stream",
            f"{disk[0]} GB, {disk[1]} GB",
            "measured, times 10^6",
            "keep one, compressed, in an object store",
        ],
    ]


def _times(
    inputs: dict[str, Any], average: dict[str, Any], ensemble: dict[str, Any]
) -> list[list[str]]:
    log = [number(STREAMS * row["from_log_cpu_s"] / 3600) for row in (average, ensemble)]
    return [
        [
            "a start lists all streams",
            f"{number(designs.start_seconds(inputs, STREAMS))} s",
            f"measured to {max(map(int, inputs['starts'])):,}, then a straight line",
            "list only the partition; check a stream when it is first asked for",
        ],
        [
            "all streams built from their logs, without snapshots",
            f"{log[0]} and {log[1]} CPU-hours",
            f"measured at {KNOWN} outcomes, times 10^6",
            "snapshots outside of the node; build on demand, as now",
        ],
        [
            "overdue outcomes",
            "each worker asks for the oldest 64 once a second, and gives up its own",
            "read in the code",
            "ask for those of a partition only; give up more at once",
        ],
        [
            "`GET /v1/streams`, and pages made of it",
            f"{number(STREAMS * _ID / 1e6)} MB an answer",
            f"reasoned: {_ID} bytes an id",
            "pages of a thousand, and a search by prefix",
        ],
    ]


def _rates(
    inputs: dict[str, Any], found: dict[str, Any], ensemble: dict[str, Any]
) -> list[list[str]]:
    one = found["policies"]["Ensemble"][ONE_FILE]
    alone = 1 / (ensemble["decision"]["mean_s"] + ensemble["outcome"]["mean_s"])
    front = [
        number(0.5 / inputs["node"][policy]["SQLite"]["front_cpu_s"])
        for policy in ("SampleAverage", "Ensemble")
    ]
    events = inputs["bytes_per_event"]["Ensemble"]["PostgreSQL"]
    snapshot = ensemble["snapshot_bytes"]
    missed = one["at_most"]["missed"]
    commit = designs.line(inputs["commits"]["PostgreSQL"], "p50_s")
    return [
        [
            "streams that are not in memory",
            f"{100 * missed:.0f}% of requests of one node, each with a snapshot of "
            f"{number(snapshot / 1e3)} kB read and one written: "
            f"{number(2 * one['decisions_per_s'] * missed * snapshot / 1e6)} MB/s written",
            "simulated",
            "route streams to nodes by hash, so that memories add up; log a small state",
        ],
        [
            "one hot stream: one worker",
            f"{number(alone)} decisions/s (Ensemble)",
            "measured",
            "a cheaper policy for it; one stream a segment; refuse with 429",
        ],
        [
            "one front a node",
            f"{front[0]} decisions/s (SampleAverage), {front[1]} (Ensemble)",
            "measured",
            "several fronts a node, each with its workers and its connection",
        ],
        [
            "commits of one connection to PostgreSQL",
            f"{number(64 / commit(64) / 2)} decisions/s in batches of 64, "
            f"{number(1 / commit(1) / 2)} one by one",
            "measured",
            "a connection a worker",
        ],
        [
            "the table of events, at one decision a stream and minute",
            f"{number(2 * STREAMS * 1440 * events / 1e12)} TB a day; "
            f"{number(2 * STREAMS * events / 1e9)} GB a day at one a day",
            "measured, times 10^6",
            "partitions by hash and month; events older than two snapshots go to an archive",
        ],
    ]
