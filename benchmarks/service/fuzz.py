"""Requests that mean no good, by the million: no 5xx, no change, and the service still answers.

python benchmarks/service/fuzz.py --bodies 1000000

nonsense.py makes them: JSON that is nearly right, bodies that are spoilt byte by byte, wrong
numbers, ids, keys, headers, methods and queries. None can be done, by construction. They are sent
many at a time on kept connections, and answered in order. Some more are raw bytes that are no HTTP
at all, each on its own connection. Before and after, all tables of the store are digested.

Writes benchmarks/results/service_fuzz.{md,json}.
"""

import argparse
import asyncio
import hashlib
import logging
import time
from collections import Counter, deque
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from random import Random
from typing import Any

from nonsense import nonsense
from proof_file import command, keep, progress, table
from subject import (
    STREAMS,
    Subject,
    ask,
    bocopt,
    empty_schema,
    postgres,
    rng_of,
    scratch,
    serving,
    stop,
    subject,
)

from bocopt.app.service.stores import open_store

_AHEAD = 24  # requests of a connection that wait for their answer
_QUIET = 60.0  # seconds without an answer that are a failure


@dataclass
class Tally:
    """What was answered."""

    left: int
    rng: Random
    statuses: Counter[int] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)  # the first that were answered with 5xx
    reconnected: int = 0
    sent: int = 0  # bytes

    @property
    def answered(self) -> int:
        return self.statuses.total()

    def next(self) -> bytes:
        self.left -= 1
        return nonsense(self.rng).sent()


async def _connection(server: Subject, tally: Tally) -> None:
    """Send ahead, read answers in order, and connect anew where the server hung up."""
    waiting: deque[bytes] = deque()
    while tally.left > 0 or waiting:
        reader, writer = await asyncio.open_connection(*server.address)
        sent = 0
        try:
            while tally.left > 0 or waiting:
                while tally.left > 0 and len(waiting) < _AHEAD:
                    waiting.append(tally.next())
                while sent < len(waiting):
                    writer.write(waiting[sent])
                    tally.sent += len(waiting[sent])
                    sent += 1
                await writer.drain()
                status, ends = await asyncio.wait_for(_answer(reader, waiting[0]), _QUIET)
                _count(tally, status, waiting.popleft())
                sent -= 1
                if ends:
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            if waiting and sent == len(waiting) and tally.reconnected > tally.answered + 1000:
                raise  # it never answers
        tally.reconnected += 1
        writer.close()


async def _answer(reader: asyncio.StreamReader, asked: bytes) -> tuple[int, bool]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = 0
    if b"content-length:" in head and not asked.startswith(b"HEAD "):
        length = int(head[head.index(b"content-length:") + 15 :].split(b"\r", 1)[0])
    await reader.readexactly(length)
    return int(head[9:12]), b"connection: close" in head


def _count(tally: Tally, status: int, asked: bytes) -> None:
    tally.statuses[status] += 1
    if status >= 500 and len(tally.bad) < 20:
        tally.bad.append(f"{status}: {asked[:300]!r}")


async def _raw(server: Subject, count: int, rng: Random) -> Counter[str]:
    """Bytes that are no HTTP, or nearly."""
    found: Counter[str] = Counter()
    right = (
        b"POST /v1/streams/north/decisions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
    )
    for _ in range(count):
        data = bytearray(right if rng.random() < 0.7 else rng.randbytes(rng.randrange(1, 200)))
        for _ in range(rng.randint(1, 6)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        reader, writer = await asyncio.open_connection(*server.address)
        writer.write(bytes(data))  # the body never comes, so that nothing can be done
        try:
            writer.write_eof()
            got = await asyncio.wait_for(reader.read(400), 2)
            found[got[9:12].decode(errors="replace") or "hung up"] += 1
        except (ConnectionError, TimeoutError):
            found["hung up"] += 1
        writer.close()
    return found


def digest(made: Subject) -> str:
    """Of all tables, by way of the store."""
    total = hashlib.sha256()
    with closing(open_store(made.url, made.folder, read_only=True)) as store:
        for declared in store.streams():
            total.update(repr(declared).encode())
            for part in (store.tail(declared.id), store.stages(declared.id)):
                total.update(repr(part).encode())
    return total.hexdigest()


def shown(made: Subject) -> list[Any]:
    """What the service itself says of its streams."""
    names = ask(made, "GET", "/v1/streams")[1]["streams"]
    return [ask(made, "GET", f"/v1/streams/{name}")[1] for name in names]


async def _all(made: Subject, tally: Tally, settings: argparse.Namespace) -> Counter[str]:
    started, total = time.monotonic(), tally.left

    async def told() -> None:
        while True:
            await asyncio.sleep(20)
            progress(f"{tally.answered} of {total}: {dict(tally.statuses)}", started)

    telling = asyncio.create_task(told())
    await asyncio.gather(*(_connection(made, tally) for _ in range(settings.connections)))
    telling.cancel()
    return await _raw(made, settings.raw, rng_of(settings.seed, "raw"))


def fuzzed(settings: argparse.Namespace) -> dict[str, Any]:
    tally = Tally(settings.bodies, rng_of(settings.seed, "bodies"))
    with ExitStack() as stack:
        here, url = stack.enter_context(scratch("fuzz")), "sqlite:///log.db"
        if settings.store == "postgres":
            url = empty_schema(stack.enter_context(postgres())[0])
        made = subject(here, url, streams=STREAMS[:-1], service=settings.service)
        process = stack.enter_context(serving(made))
        for name in STREAMS[:-1]:
            for i in range(3):  # some decisions with an outcome, and one that waits
                ask(made, "POST", f"/v1/streams/{name}/decisions", {"x": [0.3]})
                if i < 2:
                    path = f"/v1/streams/{name}/decisions/{i}/outcome"
                    ask(made, "PUT", path, {"xi": [1.0, 1.1]})
        before, said = digest(made), shown(made)
        began, own = time.monotonic(), time.process_time()
        raw = asyncio.run(_all(made, tally, settings))
        seconds, own = time.monotonic() - began, time.process_time() - own
        same, as_said = digest(made) == before, shown(made) == said
        after = ask(made, "PUT", "/v1/streams/north/decisions/2/outcome", {"xi": [1.0, 1.0]})[0]
        code = stop(process)
        doctor = bocopt("doctor", made.config)[0]
    return {
        "store": settings.store,
        "bodies": tally.answered,
        "bytes": tally.sent,
        "statuses": {str(status): n for status, n in sorted(tally.statuses.items())},
        "answered_5xx": sum(n for status, n in tally.statuses.items() if status >= 500),
        "bad": tally.bad,
        "reconnected": tally.reconnected,
        "raw": dict(raw),
        "store_unchanged": same,
        "summaries_unchanged": as_said,
        "first_outcome_after": after,
        "exit_code": code,
        "doctor": doctor,
        "seconds": round(seconds, 1),
        "per_second": round(tally.answered / seconds, 1),
        "generator_cpu": round(own / seconds, 3),
        "seed": settings.seed,
        "command": command(),
    }


def page(found: dict[str, Any]) -> list[str]:
    statuses = ", ".join(f"{status}: {n:,}" for status, n in found["statuses"].items())
    raw = ", ".join(f"{status}: {n:,}" for status, n in sorted(found["raw"].items()))
    rows = [
        ["requests answered", found["bodies"]],
        ["answered with 5xx", found["answered_5xx"]],
        ["statuses", statuses],
        ["raw bytes that are no HTTP", raw],
        ["the store is as before", found["store_unchanged"]],
        ["what the service says of its streams is as before", found["summaries_unchanged"]],
        ["an outcome that is right, afterwards", found["first_outcome_after"]],
        ["exit code of the service, of doctor", f"{found['exit_code']}, {found['doctor']}"],
        ["seconds; requests a second", f"{found['seconds']}; {found['per_second']}"],
    ]
    return [
        "# The service and nonsense",
        "",
        f"`{found['command']}`",
        "",
        *table(["", ""], [[name, str(value)] for name, value in rows]),
        *(f"- `{bad}`" for bad in found["bad"]),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bodies", type=int, default=1_000_000)
    parser.add_argument("--raw", type=int, default=2000, help="that are no HTTP at all")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--service", default="", help="lines for [service], as 'workers = 2'")
    parser.add_argument("--seed", type=int, default=0)
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns where the server has hung up
    found = fuzzed(parser.parse_args())
    keep("service_fuzz", found, page(found))
    fine = found["store_unchanged"] and found["summaries_unchanged"]
    fine = fine and found["first_outcome_after"] == 201 and not found["answered_5xx"]
    if not fine or found["exit_code"] or found["doctor"]:
        raise SystemExit("The service did not stand it: see benchmarks/results/service_fuzz.json.")


if __name__ == "__main__":
    main()
