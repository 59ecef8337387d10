"""Decisions and outcomes in bulk, beside single requests: how many a second, and a second of CPU.

python benchmarks/service/bulk.py --items 10000

One client with one connection. First `--single` decisions and their outcomes one by one, then
`--items` of each by `decide_all` and `observe_all`; so several times, in turn, in one run of the
service. CPU seconds
are those of the service and of the client, so that other work on the machine counts little.

Writes benchmarks/results/service_bulk.{md,json}.
"""

import argparse
import time
from contextlib import ExitStack
from statistics import mean
from typing import Any

from proof_file import keep, progress, table
from subject import scratch, serving, stop, subject
from traffic import used

from bocopt.client import _AT_ONCE, Client, Ticket

_NAME = "service_bulk"


def single(client: Client, streams: list[str], many: int, turn: int) -> None:
    for i in range(many):
        stream = streams[i % len(streams)]
        ticket = client.decide(stream, [0.1 * (i % 7)], key=f"single-{turn}-{i}")
        client.observe(stream, ticket.id, [1.0, 1.2])


def bulk(client: Client, streams: list[str], many: int, turn: int) -> None:
    """All decisions, then all outcomes."""
    pairs = [(streams[i % len(streams)], [0.1 * (i % 7)]) for i in range(many)]
    tickets = client.decide_all(pairs, [f"bulk-{turn}-{i}" for i in range(many)])
    triples = [
        (stream, ticket.id, [1.0, 1.2])
        for (stream, _), ticket in zip(pairs, tickets, strict=True)
        if isinstance(ticket, Ticket)
    ]
    learned = client.observe_all(triples)
    good = sum(isinstance(each, dict) for each in learned)
    if good != many:
        raise SystemExit(f"{many - good} of {many} were refused, such as {tickets[0]}.")


def measured(settings: argparse.Namespace) -> dict[str, Any]:
    names = [f"shop{i}" for i in range(settings.streams)]
    ways = {"single": (single, settings.single), "bulk": (bulk, settings.items)}
    found: dict[str, list[tuple[float, float, float]]] = {way: [] for way in ways}
    with ExitStack() as stack:
        here = stack.enter_context(scratch("bulk"))
        made = subject(
            here,
            "sqlite:///log.db",
            streams=("average",),
            service=settings.service,
            stream="snapshot = 1000",
        )
        process = stack.enter_context(serving(made))
        client = stack.enter_context(Client(f"http://127.0.0.1:{made.port}", patience=600))
        for name in names:
            client.begin(name, case="average")
        for way, _ in ways.values():
            way(client, names, 100, -1)  # warm
        for turn in range(settings.turns):
            for name, (way, many) in ways.items():
                server, own, began = used(process.pid).cpu, time.process_time(), time.monotonic()
                way(client, names, many, turn)
                took, own = time.monotonic() - began, time.process_time() - own
                server = used(process.pid).cpu - server
                found[name].append((2 * many / took, 2 * many / server, 2 * many / (own + server)))
        code = stop(process)
    return {
        "streams": settings.streams,
        "turns": settings.turns,
        "service": settings.service,
        "items": {"single": settings.single, "bulk": settings.items},
        "items_a_request": {"single": 1, "bulk": min(_AT_ONCE, settings.items)},
        "per_second": {name: [round(each[0], 1) for each in all_] for name, all_ in found.items()},
        "per_server_cpu": {
            name: [round(each[1], 1) for each in all_] for name, all_ in found.items()
        },
        "per_cpu": {name: [round(each[2], 1) for each in all_] for name, all_ in found.items()},
        "exit_code": code,
    }


def page(found: dict[str, Any]) -> list[str]:
    def shown(values: list[float]) -> str:
        """Return the mean and the range of all turns."""
        return f"{mean(values):,.0f} ({min(values):,.0f} to {max(values):,.0f})"

    columns = ("per_second", "per_server_cpu", "per_cpu")
    rows = [
        [
            name,
            f"{found['items_a_request'][name]:,}",
            *(shown(found[column][name]) for column in columns),
        ]
        for name in ("single", "bulk")
    ]
    ratios = [mean(found[c]["bulk"]) / mean(found[c]["single"]) for c in columns]
    rows.append(["ratio", "", *(f"{ratio:.1f}" for ratio in ratios)])
    head = ["", "items a request", "a second", "a CPU second of the service", "of both"]
    return [
        "# Bulk requests of the service",
        "",
        f"Half decisions with a key, half outcomes, for {found['streams']} streams like a "
        f"SampleAverage, on SQLite; one client with one connection, {found['turns']} turns of each "
        "in one run: mean, least and most.",
        "",
        *table(head, rows),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--single", type=int, default=1000)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--service", default="", help="lines for [service], as 'at_once = 512'")
    settings, started = parser.parse_args(), time.monotonic()
    found = measured(settings)
    keep(_NAME, found, page(found))
    progress(f"{settings.turns} turns", started)


if __name__ == "__main__":
    main()
