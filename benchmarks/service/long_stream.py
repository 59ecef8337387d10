"""One stream that goes on and on: memory stays flat, and so does the time of an event.

python benchmarks/service/long_stream.py --outcomes 100000

A few clients decide and report on one stream. The resident memory of the server and of all that it
started is looked at every second; the first third is compared with the last one, after a warm-up
of a tenth.

Writes benchmarks/results/service_long_stream.{md,json}; rows of other policies there are kept.
"""

import argparse
import threading
import time
from contextlib import ExitStack
from itertools import pairwise
from statistics import mean
from typing import Any

from proof_file import before, command, keep, progress, table
from subject import bocopt, empty_schema, postgres, scratch, serving, stop, subject
from traffic import Heard, every, sent, used

_NAME = "service_long_stream"


def measured(settings: argparse.Namespace) -> dict[str, Any]:
    heard, looks, started = Heard(), [], time.monotonic()
    done = threading.Event()
    name = settings.policy
    with ExitStack() as stack:
        here = stack.enter_context(scratch("long"))
        url = "sqlite:///log.db"
        if settings.store == "postgres":
            url = empty_schema(stack.enter_context(postgres())[0])
        made = subject(
            here, url, streams=(name,), service=settings.service, stream="snapshot = 1000"
        )
        process = stack.enter_context(serving(made))

        def look() -> None:
            looks.append((len(heard.took), used(process.pid)))
            if len(looks) % 30 == 0:
                memory = looks[-1][1].memory / 2**20
                progress(f"{len(heard.took)} events, {memory:.1f} MB", started)

        watch = threading.Thread(target=every, args=(1.0, look, done.is_set), daemon=True)
        watch.start()
        requests = 2 * settings.outcomes // settings.clients
        try:
            sent(made, [name], settings.clients, requests, settings.seed, heard)
        finally:
            done.set()
            watch.join()
        code = stop(process)
        doctor = bocopt("doctor", made.config)
    return _summed(settings, heard, looks) | {"exit_code": code, "doctor": doctor[0]}


def _summed(settings: argparse.Namespace, heard: Heard, looks: list[Any]) -> dict[str, Any]:
    events = len(heard.took)
    kept = [(n, found.memory / 2**20) for n, found in looks if n >= events / 10]
    first = [mb for n, mb in kept if n < events * 0.4]
    last = [mb for n, mb in kept if n >= events * 0.7]
    tenths = [heard.at[min(i * events // 10, events - 1)] for i in range(11)]
    return {
        "store": settings.store,
        "policy": settings.policy,
        "service": settings.service,
        "clients": settings.clients,
        "events": events,
        "outcomes": events // 2,
        "statuses": {str(status): n for status, n in sorted(heard.statuses.items())},
        "others": heard.others,
        "connections_lost": heard.lost,
        "seconds": round(max(heard.at), 1),
        "memory_mb": {
            "first_third": round(mean(first), 2) if first else None,
            "last_third": round(mean(last), 2) if last else None,
            "most": round(max(mb for _, mb in kept), 2) if kept else None,
        },
        "ms_an_event_by_tenth": [round(1e4 * (b - a) / events, 4) for a, b in pairwise(tenths)],
        "processes": looks[-1][1].processes,
        "command": command(),
    }


def page(rows: dict[str, Any]) -> list[str]:
    head = ["stream", "outcomes", "MB, first third", "last third", "most", "ms an event, by tenth"]
    body = [
        [
            name,
            row["outcomes"],
            *(row["memory_mb"][part] for part in ("first_third", "last_third", "most")),
            " ".join(f"{ms:.2f}" for ms in row["ms_an_event_by_tenth"]),
        ]
        for name, row in rows.items()
    ]
    return [
        "# One long stream",
        "",
        "Resident memory of the server with all that it started, looked at every second; thirds of "
        "the events after the first tenth. The time of an event is the time of all divided by "
        "their number: several clients wait at once.",
        "",
        *table(head, body),
        "",
        "Made by:",
        "",
        *(f"- `{row['command']}`" for row in rows.values()),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--outcomes", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--policy", choices=("average", "learner"), default="average")
    parser.add_argument("--service", default="", help="lines for [service], as 'workers = 2'")
    parser.add_argument("--seed", type=int, default=0)
    settings = parser.parse_args()
    row = measured(settings)
    name = f"{row['policy']}, {row['store']}" + (f", {row['service']}" if row["service"] else "")
    rows = {**before(_NAME).get("rows", {}), name: row}
    keep(_NAME, {"rows": rows}, page(rows))
    if row["others"] or row["connections_lost"] or row["exit_code"] or row["doctor"]:
        raise SystemExit("\n".join(row["others"]) or "It did not end well: see the JSON file.")


if __name__ == "__main__":
    main()
