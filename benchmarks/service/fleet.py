"""Thousands of streams, each with a decision a minute, and no room in memory for all of them.

python benchmarks/service/fleet.py --streams 10000 --minutes 10 --held 1000
python benchmarks/service/fleet.py --streams 500 --held 100 --kills 1000

Time is simulated: a minute is over when every stream has reported the outcome of its last decision
and has got the next one. With `--kills`, worker processes are killed at random moments meanwhile,
and minutes go on until there were as many. In the end some streams are played again from their
first event, deciding anew in a process where they never leave memory, and each decision and what
is known in the end are compared with what the service left, bit for bit; and every acknowledged
event is looked for in the log.

Writes benchmarks/results/service_fleet.{md,json}; rows of other settings in there are kept.
"""

import argparse
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import Any, TypeVar

from clients import Client
from proof_file import before, command, keep, progress, table
from subject import Subject, empty_schema, postgres, rng_of, scratch, serving, stop, subject
from subject import workers as workers_of
from traffic import every, quantile, used
from verdict import missing, twice

from bocopt.app.service.config import Config, load_config
from bocopt.app.service.refolding import rebuilt
from bocopt.app.service.replay import rows_of
from bocopt.app.service.stores import EventRow, Store, open_store
from bocopt.app.service.stream_state import initial
from bocopt.live.events import from_bytes, snapshot_bytes, to_bytes
from bocopt.live.fold import Decided

T = TypeVar("T")

_NAME = "service_fleet"
_SAMPLED = 50  # streams whose bits are compared
_PAUSE = 0.2  # seconds from one kill to the next, at most twice as long


class Shops(Client):
    """A client of many shops: in each minute it reports for each of them, and asks for it."""

    sees_parts = False

    def __init__(self, name: str, server: Subject, shops: list[str], seed: int) -> None:
        super().__init__(name, [server], shops, 0.0, seed)
        self.took: list[float] = []
        self._shops = shops

    def begin(self, kind: str) -> None:
        for shop in self._shops:
            self._answered("PUT", f"/v1/streams/{shop}", {"case": kind})

    def minute(self) -> None:
        waiting, self._open = {each.stream: each for each in self._open}, []
        for shop in self._rng.sample(self._shops, len(self._shops)):
            if shop in waiting:
                self._timed(self._end, waiting[shop])
            self._timed(self._decide, shop)

    def _timed(self, act: Callable[[T], None], what: T) -> None:
        started = time.perf_counter()
        act(what)
        self.took.append(time.perf_counter() - started)


class Killer(threading.Thread):
    """Kills a worker process at random moments, until it has killed enough."""

    def __init__(self, server: int, kills: int, seed: int) -> None:
        super().__init__(daemon=True)
        self._server, self._left, self._rng = server, kills, rng_of(seed, "killer")
        self.kills = 0

    def run(self) -> None:
        while self.kills < self._left:
            time.sleep(self._rng.uniform(0, 2 * _PAUSE))
            found = workers_of(self._server)
            with suppress(ProcessLookupError, IndexError):
                os.kill(self._rng.choice(found), signal.SIGKILL)
                self.kills += 1


def played(settings: argparse.Namespace, server: Subject, process: int) -> dict[str, Any]:
    """All minutes, and how the service fared."""
    names = [f"shop-{i}" for i in range(settings.streams)]
    clients = [
        Shops(f"c{i}", server, names[i :: settings.clients], settings.seed)
        for i in range(settings.clients)
    ]
    memory: list[int] = []
    over = threading.Event()
    watch = threading.Thread(
        target=every,
        args=(1.0, lambda: memory.append(used(process).memory), over.is_set),
        daemon=True,
    )
    killer = Killer(process, settings.kills, settings.seed)
    with ThreadPoolExecutor(settings.clients) as pool:
        started = time.monotonic()
        list(pool.map(lambda client: client.begin(settings.policy), clients))
        begun_in = time.monotonic() - started
        watch.start()
        started, minutes = time.monotonic(), 0
        if settings.kills:
            killer.start()
        while minutes < settings.minutes or (settings.kills and killer.is_alive()):
            list(pool.map(Shops.minute, clients))
            minutes += 1
            progress(f"minute {minutes}, {killer.kills} kills", started)
        seconds = time.monotonic() - started
    over.set()
    watch.join()
    took = sorted(t for client in clients for t in client.took)
    return {
        "notes": [client.notes for client in clients],
        "minutes": minutes,
        "kills": killer.kills,
        "begun_seconds": round(begun_in, 1),
        "seconds": round(seconds, 1),
        "requests": len(took),
        "per_second": round(len(took) / seconds, 1),
        "ms": {
            name: 1000 * quantile(took, share)
            for name, share in (("p50", 0.5), ("p99", 0.99), ("most", 1.0))
        },
        "memory_mb": {"first": memory[0] / 2**20, "most": max(memory) / 2**20},
    }


def same_bits(config: Config, store: Store, streams: list[str]) -> int:
    """Streams that decided and learned as one that never left memory, snapshots or not."""
    same = 0
    for stream in streams:
        declared = store.stream(stream)
        assert declared is not None
        kind = config.templates[declared.problem]
        alone = initial(kind, declared)
        decided = True
        for row in rows_of(store, stream):  # nothing is corrected here
            event = from_bytes(row.body, kind.problem)
            if isinstance(event, Decided):
                again = kind.fold.decide(alone.live, event.waiting.x)
                decided = decided and to_bytes(again) == row.body
            alone = alone.caught_up([row])
        left, whole = (
            snapshot_bytes(kind.fold, held.live) for held in (rebuilt(store, kind, declared), alone)
        )
        same += decided and left == whole
    return same


def judged(settings: argparse.Namespace, server: Subject, notes: list[Any]) -> dict[str, Any]:
    """What is lost or doubled, and whether streams are what they would be in memory."""
    config = load_config(server.config)
    store = open_store(config.store, config.folder, read_only=True)
    try:
        streams = [each.id for each in store.streams() if each.id.startswith("shop-")]
        rows: list[EventRow] = [row for stream in streams for row in rows_of(store, stream)]
        sampled = rng_of(settings.seed, "sample").sample(streams, min(_SAMPLED, len(streams)))
        return {
            "events": len(rows),
            "acknowledged": sum(len(n.decisions) + len(n.ends) for n in notes),
            "lost": len(missing(config, rows, notes, like=settings.policy)),
            "doubled": len(twice(rows, notes)),
            "refused": sum(n.refused for n in notes),
            "cut": sum(n.cut for n in notes),
            "wrong": [told for n in notes for told in n.wrong][:5],
            "sampled": len(sampled),
            "same_bits": same_bits(config, store, sampled),
            "snapshots": sum(bool(store.snapshots(stream)) for stream in sampled),
        }
    finally:
        store.close()


def measured(settings: argparse.Namespace) -> dict[str, Any]:
    with ExitStack() as stack:
        here, url = stack.enter_context(scratch("fleet")), "sqlite:///log.db"
        if settings.store == "postgres":
            url = empty_schema(stack.enter_context(postgres())[0])
        lines = f"held = {settings.held}\nworkers = {settings.workers}\n"
        made = subject(here, url, streams=(settings.policy,), service=lines, stream="")
        process = stack.enter_context(serving(made))
        found = played(settings, made, process.pid)
        code = stop(process)
        found |= judged(settings, made, found.pop("notes"))
    asked = {n: getattr(settings, n) for n in ("store", "policy", "streams", "held", "workers")}
    return {**asked, "clients": settings.clients, **found, "exit": code, "command": command()}


def key_of(row: dict[str, Any]) -> str:
    what = f"{row['store']}, {row['policy']}, {row['streams']} streams, {row['held']} held"
    return f"{what}, killed" if row["kills"] else what


def page(rows: dict[str, Any]) -> list[str]:
    head = [
        "store", "policy", "streams", "held", "kills", "requests", "a second", "p50 ms", "p99 ms",
        "MB at most", "acknowledged", "lost", "doubled", "same bits",
    ]  # fmt: skip
    body = [
        [
            row["store"], row["policy"], row["streams"], row["held"], row["kills"],
            row["requests"], row["per_second"], row["ms"]["p50"], row["ms"]["p99"],
            row["memory_mb"]["most"], row["acknowledged"], row["lost"], row["doubled"],
            f"{row['same_bits']} of {row['sampled']}",
        ]
        for row in rows.values()
    ]  # fmt: skip
    return [
        "# A fleet of streams",
        "",
        "Each stream has a decision a minute, in simulated minutes that follow each other as fast "
        "as they can. At most so many streams are held in memory; the others leave and come back. "
        "Same bits: sampled streams whose decisions and state are, bit for bit, those of a stream "
        "that was never dropped. MB: all processes of the service together, pages that they share "
        "counted in each. Clients and service share the machine.",
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
    parser.add_argument("--streams", type=int, default=10_000)
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--held", type=int, default=1000, help="streams in memory")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kills", type=int, default=0, help="of worker processes")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--policy", choices=("average", "learner"), default="average")
    parser.add_argument("--seed", type=int, default=0)
    settings = parser.parse_args()
    row = measured(settings)
    rows = {**before(_NAME).get("rows", {}), key_of(row): row}
    keep(_NAME, {"rows": rows}, page(rows))
    if row["lost"] or row["doubled"] or row["wrong"] or row["same_bits"] < row["sampled"]:
        raise SystemExit(f"Not as it should be: {row}")


if __name__ == "__main__":
    main()
