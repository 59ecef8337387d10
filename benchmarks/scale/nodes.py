"""A whole node, as `bocopt serve` runs it: its start, its rate, and how a worker returns."""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bocopt.app.service.shard import place_of
from bocopt.app.service.stores import open_store
from scale.client import Client
from scale.deciding import played
from scale.processes import cpu, cpu_of_server, workers
from scale.subject import KINDS, SHOP, Server, declared, folder, place_in

KNOWN = 100  # outcomes of each stream that a node starts with
CONNECTIONS, SECONDS, WARM = 16, 10.0, 2.0
KILLS = 5
_CODE = "from bocopt.app.cli import app; app()"


class Node(NamedTuple):
    """A service that runs."""

    pid: int
    address: str
    started: float  # seconds from its start to being ready
    cpu: float  # seconds that all its processes took for that


@contextmanager
def node(policy: str, url: str, place: Path) -> Iterator[Node]:
    (place / "shop.py").write_text(SHOP)
    settings = f'[service]\nstore = "{url}"\nport = 0\n\n[cases.{policy}]\n'
    (place / "bocopt.toml").write_text(
        f'{settings}problem = "shop:problem"\npolicies = ["{policy}"]\n'
    )
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", _CODE, "serve", str(place / "bocopt.toml")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        address = process.stdout.readline().removeprefix("Listening on ").strip()
        assert process.stdout.readline().startswith("Ready"), "the service did not start"
        started = time.perf_counter() - begun
        used = cpu(process.pid) + sum(map(cpu, workers(process.pid)))
        yield Node(process.pid, address, started, used)
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def starts(counts: Sequence[int], policy: str = "SampleAverage") -> dict[str, Any]:
    """A node with so many streams, each with a snapshot after `KNOWN` outcomes, on SQLite."""
    found = {}
    for count in counts:
        with folder() as place:
            _filled(place, policy, count)
            with node(policy, "sqlite:///log.db", place) as running:
                found[str(count)] = {"seconds": running.started, "cpu_s": running.cpu}
    return found


def _filled(place: Path, policy: str, count: int) -> None:
    """Of the log, only what a start reads: the snapshot, and the sums that go with it."""
    with closing(open_store("sqlite:///log.db", place)) as store:
        play = played(store, KINDS[policy], "first", KNOWN, 0)
        names = [f"stream-{i:07d}" for i in range(count - 1)]
        declared(store, KINDS[policy], names)
        tally = play.stages[-1].tally
        for at in range(0, min(count - 1, 10_000), 1000):
            some = names[at : at + 1000]
            store.append(
                (),
                [play.snapshot._replace(stream=name) for name in some],
                [tally._replace(stream=name) for name in some],
            )


def replacements(policy: str = "SampleAverage") -> dict[str, Any]:
    """Seconds from killing all workers until each of them has answered a request again."""
    seconds = []
    with folder() as place:
        _filled(place, policy, 1000)
        with node(policy, "sqlite:///log.db", place) as running:
            many = len(workers(running.pid))
            names = {place_of(name, many): name for name in map("stream-{:07d}".format, range(99))}
            clients = [Client(running.address, names[at]) for at in range(many)]
            for _ in range(KILLS):
                for worker in workers(running.pid):
                    os.kill(worker, signal.SIGKILL)
                begun = time.perf_counter()
                for client in clients:
                    client.until_answered()
                seconds.append(time.perf_counter() - begun)
            for client in clients:
                client.socket.close()
    return {"kills": KILLS, "seconds": seconds, "median_s": float(np.median(seconds))}


def driven(policy: str, store: str, server: Server) -> dict[str, Any]:
    """What a node does for clients that never pause: rates, latencies, and who used the CPU."""
    with folder() as place:
        url = "sqlite:///log.db" if store == "SQLite" else place_in(server)
        with node(policy, url, place) as running:
            clients = [Client(running.address, f"stream-{i}") for i in range(CONNECTIONS)]
            for client in clients:
                client.begin()
            _loop(clients, WARM)
            before, begun, mine = _used(running, server), time.perf_counter(), time.process_time()
            latencies = _loop(clients, SECONDS)
            seconds = time.perf_counter() - begun
            mine = time.process_time() - mine
            after = _used(running, server)
            for client in clients:
                client.socket.close()
    requests = len(latencies)
    p50, p99 = np.quantile(latencies, [0.5, 0.99])
    return {
        "connections": CONNECTIONS,
        "requests": requests,
        "decisions_per_s": requests / 2 / seconds,
        "p50_s": float(p50),
        "p99_s": float(p99),
        "client_cpu_s": mine / requests,
        **{f"{who}_cpu_s": (after[who] - before[who]) / requests for who in after},
    }


def _loop(clients: Sequence[Client], seconds: float) -> list[float]:
    """Each sends as soon as it was answered; how long answers took."""
    latencies = []
    until = time.perf_counter() + seconds
    with selectors.DefaultSelector() as ready:
        for client in clients:
            client.send()
            ready.register(client.socket, selectors.EVENT_READ, client)
        waiting = len(clients)
        while waiting:
            for key, _ in ready.select():
                client = key.data
                assert client.heard() == 201
                latencies.append(time.perf_counter() - client.sent)
                if time.perf_counter() < until:
                    client.send()
                else:
                    waiting -= 1
    return latencies


def _used(running: Node, server: Server) -> dict[str, float]:
    """CPU seconds so far."""
    return {
        "front": cpu(running.pid),
        "workers": sum(map(cpu, workers(running.pid))),
        "server": cpu_of_server(server.pid),
    }
