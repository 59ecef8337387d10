"""Many clients on kept connections, in one lean process: half decisions, half outcomes."""

import asyncio
import time
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from subject import Subject, family, rng_of

_TICKS = 100  # of a second, in /proc
_PAGE = 4096


@dataclass
class Heard:
    """What all clients were answered."""

    took: "array[float]" = field(default_factory=lambda: array("d"))  # seconds a request
    at: "array[float]" = field(default_factory=lambda: array("d"))  # seconds since the start
    statuses: dict[int, int] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)  # the first that are not 2xx
    lost: int = 0  # connections that ended early
    began: float = field(default_factory=time.perf_counter)

    def answer(self, status: int, body: bytes, sent: float, now: float) -> None:
        self.took.append(now - sent)
        self.at.append(now - self.began)
        self.statuses[status] = self.statuses.get(status, 0) + 1
        if status >= 300 and len(self.others) < 20:
            self.others.append(f"{status} {body[:200].decode(errors='replace')}")


class _Client(asyncio.Protocol):
    """Asks for a decision, reports its outcome, and so on, one request at a time."""

    def __init__(self, name: str, stream: str, requests: int, heard: Heard, seed: int) -> None:
        self.name, self._path = name, f"/v1/streams/{stream}/decisions"
        self._left, self._heard, self._rng = requests, heard, rng_of(seed, name)
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._got, self._sent, self._number = b"", 0.0, -1
        self._out: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._out = transport
        self._next()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self._heard.lost += 1
            self.done.set_result(None)

    def _next(self) -> None:
        assert self._out is not None
        if self._left == 0:
            self.done.set_result(None)
            self._out.close()
            return
        self._left -= 1
        if self._number < 0:
            text = f'{{"x":[{self._rng.gauss(0, 1):.3f}]}}'
            head = f"POST {self._path} HTTP/1.1\r\nIdempotency-Key: {self.name}-{self._left}"
        else:
            one, other = self._rng.uniform(0.5, 1.5), self._rng.uniform(0.5, 1.5)
            text = f'{{"xi":[{one:.3f},{other:.3f}]}}'
            head = f"PUT {self._path}/{self._number}/outcome HTTP/1.1"
        self._sent = time.perf_counter()
        told = f"{head}\r\nHost: localhost\r\nContent-Length: {len(text)}\r\n\r\n{text}"
        self._out.write(told.encode())

    def data_received(self, data: bytes) -> None:
        self._got += data
        head, gap, body = self._got.partition(b"\r\n\r\n")
        if not gap:
            return
        low = head.lower()
        at = low.index(b"content-length:") + 15
        if len(body) < int(low[at:].split(b"\r", 1)[0]):
            return
        status, self._got = int(head[9:12]), b""
        self._heard.answer(status, body, self._sent, time.perf_counter())
        decided = self._number < 0 and status in (200, 201)
        self._number = int(body[6:].split(b",", 1)[0]) if decided else -1  # {"id":7,...
        self._next()


async def _sent(
    server: Subject, streams: Sequence[str], clients: int, requests: int, seed: int, heard: Heard
) -> None:
    loop = asyncio.get_running_loop()
    heard.began = time.perf_counter()
    made = []
    for i in range(clients):
        name, stream = f"t{seed}-{i}", streams[i % len(streams)]

        def client(name: str = name, stream: str = stream) -> _Client:
            return _Client(name, stream, requests, heard, seed)

        _, protocol = await loop.create_connection(client, *server.address)
        made.append(protocol.done)
    await asyncio.gather(*made)


def sent(
    server: Subject, streams: Sequence[str], clients: int, requests: int, seed: int, heard: Heard
) -> None:
    """So many requests of each client."""
    asyncio.run(_sent(server, streams, clients, requests, seed, heard))


class Used(NamedTuple):
    """By a process and all that it started."""

    cpu: float  # seconds so far, of those that still run
    memory: int  # bytes
    processes: int


def used(pid: int) -> Used:
    cpu, memory, found = 0, 0, family(pid)
    for each in found:
        with suppress(OSError):
            rest = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            cpu += int(rest[11]) + int(rest[12])
            memory += int(rest[21]) * _PAGE
    return Used(cpu / _TICKS, memory, len(found))


def quantile(sorted_values: Sequence[float], share: float) -> float:
    """The smallest that so many are not above."""
    return sorted_values[min(int(share * len(sorted_values)), len(sorted_values) - 1)]


def every(seconds: float, look: Callable[[], None], ended: Callable[[], bool]) -> None:
    """Look again and again, for a thread; it sleeps in small steps so that it ends in time."""
    following = time.monotonic()
    while not ended():
        if time.monotonic() >= following:
            look()
            following += seconds
        time.sleep(min(0.2, seconds))
