"""Many clients at once: how long an answer takes, and how many a second there are.

python benchmarks/service/load.py --clients 32 --requests 10000 --store sqlite

Each client has one connection and one request at a time: a decision with a key, then its outcome,
and so on. The clients are one process with raw sockets, whose CPU time is told. `--requests` is of
each client. Streams are like a SampleAverage; with `--policy learner` like an Ensemble.

Writes benchmarks/results/service_load.{md,json}; rows of other settings in there are kept.
"""

import argparse
import os
import time
from contextlib import ExitStack
from typing import Any

from proof_file import before, command, keep, progress, table
from subject import empty_schema, postgres, scratch, serving, stop, subject
from traffic import Heard, quantile, sent, used

_NAME = "service_load"


def measured(settings: argparse.Namespace) -> dict[str, Any]:
    heard = Heard()
    names = tuple(f"{settings.policy}{i}" for i in range(settings.streams))
    with ExitStack() as stack:
        here = stack.enter_context(scratch("load"))
        url = "sqlite:///log.db"
        if settings.store == "postgres":
            url = empty_schema(stack.enter_context(postgres())[0])
        limits = "snapshot = 1000"
        made = subject(here, url, streams=names, service=settings.service, stream=limits)
        process = stack.enter_context(serving(made))
        sent(made, names, settings.clients, 20, settings.seed + 1, Heard())  # warm
        server, own = used(process.pid), time.process_time()
        sent(made, names, settings.clients, settings.requests, settings.seed, heard)
        own, after = time.process_time() - own, used(process.pid)
        code = stop(process)
    seconds, took = max(heard.at), sorted(heard.took)
    good = sum(n for status, n in heard.statuses.items() if status < 300)
    return {
        "store": settings.store,
        "policy": settings.policy,
        "service": settings.service,
        "clients": settings.clients,
        "streams": settings.streams,
        "requests": len(took),
        "seconds": round(seconds, 1),
        "per_second": round(len(took) / seconds, 1),
        "ms": {
            "mean": 1000 * sum(took) / len(took),
            "p50": 1000 * quantile(took, 0.5),
            "p99": 1000 * quantile(took, 0.99),
            "most": 1000 * took[-1],
        },
        "statuses": {str(status): n for status, n in sorted(heard.statuses.items())},
        "not_2xx": len(took) - good,
        "connections_lost": heard.lost,
        "others": heard.others,
        "server_cpu": round((after.cpu - server.cpu) / seconds, 3),
        "clients_cpu": round(own / seconds, 3),
        "processes": after.processes,
        "memory_mb": round(after.memory / 2**20, 1),
        "cores": os.cpu_count(),
        "exit_code": code,
        "command": command(),
    }


def key_of(row: dict[str, Any]) -> str:
    return f"{row['store']}, {row['policy']}, {row['clients']} clients, {row['service']}"


def page(rows: dict[str, Any]) -> list[str]:
    head = [
        "store", "policy", "settings", "clients", "streams", "requests", "p50 ms", "p99 ms",
        "mean ms", "a second", "not 2xx", "server, cores", "clients, cores",
    ]  # fmt: skip
    body = [
        [
            row["store"], row["policy"], row["service"] or "-", row["clients"], row["streams"],
            row["requests"], row["ms"]["p50"], row["ms"]["p99"], row["ms"]["mean"],
            row["per_second"], row["not_2xx"], row["server_cpu"], row["clients_cpu"],
        ]
        for row in rows.values()
    ]  # fmt: skip
    return [
        "# The service under load",
        "",
        "Half decisions with a key, half outcomes; one request of a client at a time. Clients and "
        "server share the machine. Cores: CPU seconds a second.",
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
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--requests", type=int, default=10_000, help="of each client")
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--streams", type=int, default=8)
    parser.add_argument("--policy", choices=("average", "learner"), default="average")
    parser.add_argument("--service", default="", help="lines for [service], as 'workers = 2'")
    parser.add_argument("--seed", type=int, default=0)
    settings, started = parser.parse_args(), time.monotonic()
    row = measured(settings)
    rows = {**before(_NAME).get("rows", {}), key_of(row): row}
    keep(_NAME, {"rows": rows}, page(rows))
    progress(f"{key_of(row)}: {row['statuses']}", started)
    if row["not_2xx"] or row["connections_lost"] or row["exit_code"]:
        raise SystemExit("\n".join(row["others"]) or f"exit code {row['exit_code']}")


if __name__ == "__main__":
    main()
