"""What open pages cost: how soon they hear of an event, and whether decisions wait for them.

python benchmarks/service_page.py  writes benchmarks/results/service_page.{md,json}

A service of its own process, with 4 streams of 300 outcomes each in SQLite. One client asks for
decisions and reports outcomes, as fast as they are answered. A page is a client that does as a
browser does: it follows the events of a stream, and gets the page anew when something has come, at
most every two seconds. Blocks without pages and with 20 of them take turns in one run; each
latency is that of a request, from sending it to its answer. How soon pages hear of an event is
looked at twice: while decisions follow each other as fast as they can, and one by one.
"""

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import numpy as np
from results_file import write, write_markdown

STREAMS, BEFORE, PAGES, BLOCKS, STAGES = 4, 300, 20, 5, 200
SPARSE, APART = 40, 0.1  # stages of a block that come one by one, and seconds from one to the next
PAUSE = 2.0  # seconds between two looks at a page: see live.js
SHOP = """\
from bocopt import SampleAverage
from bocopt.problems import Knapsack

problem = Knapsack(value=[12, 9], capacity=[8], salvage=[1], upper=8)
policy = SampleAverage(problem, initial_decision=[1, 1])
"""
CONFIG = """\
[service]
port = 0

[cases.shop]
problem = "shop:problem"
policies = ["policy"]
"""


@contextmanager
def serving() -> Iterator[int]:
    """The port of a service in a folder that is thrown away."""
    folder = Path(tempfile.mkdtemp(prefix="bocopt-page-"))
    (folder / "shop.py").write_text(SHOP)
    (folder / "bocopt.toml").write_text(CONFIG)
    program = Path(sys.executable).parent / "bocopt"
    command = [str(program), "serve", str(folder / "bocopt.toml")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline().rpartition(":")[2])
        assert process.stdout.readline().startswith("Ready")
        yield port
    finally:
        process.terminate()
        process.wait(30)
        shutil.rmtree(folder)


class Client:
    """One that asks for decisions, and knows how long each answer took."""

    def __init__(self, port: int) -> None:
        self.connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self.rng = np.random.default_rng(0)
        self.answered: dict[tuple[str, int], tuple[float, float]] = {}  # asked and answered

    def ask(self, method: str, path: str, body: Any) -> tuple[float, float, Any]:
        asked = time.perf_counter()
        self.connection.request(method, f"/v1/streams/{path}", json.dumps(body))
        response = self.connection.getresponse()
        found = json.loads(response.read())
        assert response.status in (200, 201), found
        return asked, time.perf_counter(), found

    def stage(self, stream: str) -> list[float]:
        """Seconds of a decision, and of its outcome."""
        asked, answered, found = self.ask(
            "POST", f"{stream}/decisions", {"x": [float(self.rng.normal())]}
        )
        self.answered[stream, found["id"]] = asked, answered
        xi = self.rng.uniform(0.5, 1.5, 2).tolist()
        sent, done, _ = self.ask("PUT", f"{stream}/decisions/{found['id']}/outcome", {"xi": xi})
        return [answered - asked, done - sent]


class Page(threading.Thread):
    """An open page: when it heard of each decision, and how often it looked."""

    def __init__(self, port: int, stream: str, over: Event) -> None:
        super().__init__(daemon=True)
        self.port, self.stream, self.over = port, stream, over
        self.heard: dict[tuple[str, int], float] = {}
        self.looks, self.looked = 0, 0.0
        self.follows = threading.Event()

    def look(self) -> None:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", f"/streams/{self.stream}", headers={"Accept": "text/html"})
        assert connection.getresponse().read().endswith(b"</html>\n")
        connection.close()
        self.looks, self.looked = self.looks + 1, time.perf_counter()

    def run(self) -> None:
        """The feed in one thread, and the looks in another, as a browser has them."""
        self.look()
        come = threading.Event()
        looking = threading.Thread(target=self._look_again, args=(come,), daemon=True)
        looking.start()
        asked = f"GET /v1/streams/{self.stream}/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with socket.create_connection(("127.0.0.1", self.port)) as feed:
            feed.sendall(asked.encode())
            feed.settimeout(0.2)
            data = b""
            while not self.over.is_set():
                with suppress(TimeoutError):
                    data += feed.recv(65536)
                    self.follows.set()
                    *whole, data = data.split(b"\n\n")
                    self._hear(whole, time.perf_counter())
                    come.set()
        looking.join()

    def _hear(self, events: list[bytes], now: float) -> None:
        for event in events:
            if b"event: decision" in event:
                number = json.loads(event.partition(b"data: ")[2])["decision"]
                self.heard[self.stream, number] = now

    def _look_again(self, come: threading.Event) -> None:
        while not self.over.is_set():
            if come.wait(0.1):
                come.clear()
                time.sleep(max(0.2, self.looked + PAUSE - time.perf_counter()))
                self.look()


def look_on(port: int, streams: list[str], ready: Event, over: Event, answer: Any) -> None:
    """All pages, in a process of their own: whoever asks for decisions does not wait for them."""
    pages = [Page(port, streams[i % len(streams)], over) for i in range(PAGES)]
    for page in pages:
        page.start()
    for page in pages:
        assert page.follows.wait(60)
    ready.set()
    for page in pages:
        page.join()
    assert all(page.looks > 1 for page in pages)
    answer.put([item for page in pages for item in page.heard.items()])


def block(client: Client, streams: list[str]) -> list[float]:
    """Seconds of requests."""
    return [second for i in range(STAGES) for second in client.stage(streams[i % len(streams)])]


Delays = list[tuple[float, float]]  # seconds after asking and after the answer


def block_with_pages(
    client: Client, port: int, streams: list[str]
) -> tuple[list[float], Delays, Delays]:
    """Also when each page had heard of each decision: of those in a row, and of those apart."""
    spawn = get_context("spawn")
    ready, over, answer = spawn.Event(), spawn.Event(), spawn.Queue()
    pages = spawn.Process(target=look_on, args=(port, streams, ready, over, answer))
    pages.start()
    ready.wait()
    took, in_a_row = block(client, streams), set(client.answered)
    time.sleep(1.0)
    for i in range(SPARSE):
        client.stage(streams[i % len(streams)])
        time.sleep(APART)
    time.sleep(1.0)
    over.set()
    heard = answer.get(timeout=60)
    pages.join()
    assert len(heard) == PAGES * (STAGES + SPARSE) // len(streams)
    delays: tuple[Delays, Delays] = [], []
    for key, at in heard:
        asked, answered = client.answered[key]
        delays[key not in in_a_row].append((at - asked, at - answered))
    return took, *delays


def all_of(blocks: list[list[float]]) -> list[float]:
    return [second for each in blocks for second in each]


def told(seconds: Sequence[float]) -> dict[str, float]:
    p50, p99 = (round(1e3 * float(np.percentile(seconds, p)), 2) for p in (50, 99))
    return {"n": len(seconds), "p50_ms": p50, "p99_ms": p99}


def main() -> None:
    with serving() as port:
        client, streams = Client(port), [f"shop-{i}" for i in range(STREAMS)]
        for stream in streams:
            client.ask("PUT", stream, {"case": "shop"})
            for _ in range(BEFORE):
                client.stage(stream)
        alone: list[list[float]] = []
        beside: list[list[float]] = []
        delays: Delays = []
        apart: Delays = []
        for _ in range(BLOCKS):
            alone.append(block(client, streams))
            took, heard, heard_apart = block_with_pages(client, port, streams)
            beside.append(took)
            delays += heard
            apart += heard_apart
    requests = {"0 pages": told(all_of(alone)), f"{PAGES} pages": told(all_of(beside))}
    events = {
        f"{how}, after {what}": told([pair[i] for pair in found])
        for how, found in (("in a row", delays), ("one by one", apart))
        for i, what in enumerate(("asking", "the answer"))
    }
    numbers = {
        "settings": {"pages": PAGES, "blocks": BLOCKS, "stages": STAGES, "streams": STREAMS},
        "requests": requests,
        "blocks": {"0 pages": [*map(told, alone)], f"{PAGES} pages": [*map(told, beside)]},
        "events": events,
    }
    ratios = {
        key: [round(told(b)[key] / told(a)[key], 2) for a, b in zip(alone, beside, strict=True)]
        for key in ("p50_ms", "p99_ms")
    }
    write("service_page", {**numbers, "ratios": ratios})
    rows = [*requests.items(), *((f"event, {when}", row) for when, row in events.items())]
    write_markdown(
        "service_page",
        [
            f"# Open pages\n\n{BLOCKS} blocks of {STAGES} stages each, on {STREAMS} streams.\n",
            "| | n | p50 (ms) | p99 (ms) |\n|---|---:|---:|---:|",
            *(f"| {name} | {r['n']:,} | {r['p50_ms']:g} | {r['p99_ms']:g} |" for name, r in rows),
            f"\nWith {PAGES} pages against none, block by block: p50 "
            f"{', '.join(f'{r:g}' for r in ratios['p50_ms'])}; p99 "
            f"{', '.join(f'{r:g}' for r in ratios['p99_ms'])} times as long.",
            "\nRequests: from sending to the answer. Events: from asking for a decision, or from "
            "the answer, to when a page has heard of it; below 0, the page knew first. "
            "A page is told at most every 50 ms, and at once where nothing has come for as long.",
        ],
    )


if __name__ == "__main__":
    main()
