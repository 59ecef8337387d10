"""Kill the service again and again while clients use it: nothing acknowledged is lost or doubled.

python benchmarks/service/kills.py --kills 100 --store sqlite
python benchmarks/service/kills.py --kills 20 --store postgres-itself --append

Kills come in rounds, each on a new store. In a round, clients decide, report and repeat without a
pause; the server gets a SIGKILL at a random moment and is started again. A part of the kills comes
while it starts. At the end of a round it is stopped gracefully, and the log is compared with what
the clients were told: see verdict.py. Stores:

sqlite, postgres   the server is killed
two-servers        two servers write the same streams of one PostgreSQL; either is killed
postgres-itself    PostgreSQL is stopped hard (`pg_ctl stop -m immediate`) and started again
workers            only worker processes of a server on SQLite are killed

Writes benchmarks/results/service_kills.{md,json}; other stores in there are kept.
"""

import argparse
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from clients import Client, clients, finished
from proof_file import before, command, keep, progress, table
from subject import (
    SCRIPT,
    STREAMS,
    Subject,
    another,
    ask,
    begin,
    empty_schema,
    family,
    is_ready,
    kill,
    left_behind,
    postgres,
    rng_of,
    scratch,
    stop,
    subject,
    until_ready,
    workers,
)
from verdict import judged, some

STORES = ("sqlite", "postgres", "two-servers", "postgres-itself", "workers")
_NAME = "service_kills"
_ANSWER = 30.0  # seconds to wait for an answer before a kill
_ORPHANS = 15.0  # seconds that the children of a killed server have to end
_ADDED = (
    "kills while_starting rounds seconds events acknowledged lost doubled streams same cut "
    "were_done refused repeats in_part corrected too_late problems"
).split()
_COUNTED = ("cut", "were_done", "refused", "repeats", "in_part", "corrected", "too_late")


@dataclass
class Servers:
    """The servers of a round, and what became of them."""

    subjects: list[Subject]
    processes: "list[subprocess.Popen[bytes]]" = field(default_factory=list)
    kills: int = 0
    while_starting: int = 0
    children: set[int] = field(default_factory=set)  # of servers that were killed
    clients: list[Client] = field(default_factory=list)

    def use(self, rng: random.Random, live: float) -> None:
        """Until somebody was answered since the last kill, and for a while after that."""
        before, deadline = self._answered(), time.monotonic() + _ANSWER
        while self._answered() == before and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(rng.uniform(0, live))

    def _answered(self) -> int:
        return sum(len(each.notes.decisions) + len(each.notes.ends) for each in self.clients)

    def start(self) -> None:
        self.processes = [begin(each) for each in self.subjects]
        for each, process in zip(self.subjects, self.processes, strict=True):
            until_ready(each, process)

    def kill_one(self, rng: random.Random, settings: argparse.Namespace) -> None:
        """At a random moment, three of four when it is ready; then start it again."""
        i = rng.randrange(len(self.subjects))
        if rng.random() < settings.starting:
            time.sleep(rng.uniform(0, settings.start))
        else:
            until_ready(self.subjects[i], self.processes[i])
            self.use(rng, settings.live)
        self.while_starting += not is_ready(self.subjects[i])
        self.children |= set(family(self.processes[i].pid)[1:])
        kill(self.processes[i])
        self.processes[i] = begin(self.subjects[i])
        self.kills += 1

    def kill_worker(self, rng: random.Random, settings: argparse.Namespace) -> None:
        until_ready(self.subjects[0], self.processes[0])
        self.use(rng, settings.live)
        deadline = time.monotonic() + _ANSWER
        while not (found := workers(self.processes[0].pid)):  # others may take their places now
            if time.monotonic() > deadline:
                raise SystemExit("This service has no worker processes to kill.")
            time.sleep(0.01)
        with suppress(ProcessLookupError):
            os.kill(rng.choice(found), signal.SIGKILL)
            self.kills += 1

    def end(self) -> list[str]:
        """Gracefully, one after the other; what went wrong."""
        self.children |= {pid for each in self.processes for pid in family(each.pid)[1:]}
        codes = [stop(each) for each in self.processes]
        wrong = [f"a graceful stop ended with exit code {code}" for code in codes if code]
        left = left_behind(self.children, _ORPHANS)
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return [*wrong, *([f"{len(left)} processes of killed servers stayed"] * bool(left))]

    def abandon(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                kill(process)


@contextmanager
def _place(store: str) -> Iterator[tuple[str, Callable[[], str]]]:
    """The folder of PostgreSQL, and a function that makes an empty store."""
    if store in ("sqlite", "workers"):
        yield "", lambda: "sqlite:///log.db"
    else:
        with postgres() as (server, folder):
            yield folder, lambda: empty_schema(server)


def one_round(
    settings: argparse.Namespace, kills: int, seed: int, url: str, folder: str
) -> dict[str, Any]:
    """So many kills on a new store, and the verdict."""
    rng, started = rng_of(seed, "kills"), time.monotonic()
    with scratch("kills") as here:
        learner = seed % settings.learner == 0
        streams = STREAMS if learner else STREAMS[:-1]
        first = subject(here, url, service=settings.service, streams=streams)
        two = settings.store == "two-servers"
        servers = Servers([first, another(first)] if two else [first])
        try:
            servers.start()
            servers.clients = clients(servers.subjects, settings.clients, seed, learner)
            for client in servers.clients:
                client.start()
            for _ in range(kills):
                if settings.store == "postgres-itself":
                    servers.use(rng, settings.live)
                    _stop_postgres(rng, folder)
                    servers.kills += 1
                elif settings.store == "workers":
                    servers.kill_worker(rng, settings)
                else:
                    servers.kill_one(rng, settings)
            for each, process in zip(servers.subjects, servers.processes, strict=True):
                until_ready(each, process)
            notes = finished(servers.clients)
            for name in streams:  # a worker that took another's place may not hold it yet
                ask(first, "GET", f"/v1/streams/{name}")
            wrong = servers.end()
        finally:
            servers.abandon()
        found = judged(first, notes)
    return {
        "kills": servers.kills,
        "while_starting": servers.while_starting,
        "rounds": 1,
        "seconds": round(time.monotonic() - started, 1),
        **found.numbers(),
        **{what: sum(getattr(note, what) for note in notes) for what in _COUNTED},
        "problems": [*found.problems, *wrong],
    }


def _stop_postgres(rng: random.Random, folder: str) -> None:
    subprocess.run([SCRIPT, "stop", folder, "immediate"], check=True)
    time.sleep(rng.uniform(0, 0.3))
    subprocess.run([SCRIPT, "again", folder], check=True)


def added(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {name: one.get(name, 0) + other[name] for name in _ADDED if name in other}


def page(found: dict[str, Any]) -> list[str]:
    head = [
        "store", "kills", "while starting", "acknowledged", "in part", "corrections", "lost",
        "doubled", "cut short", "of those done", "replay = live", "rounds", "seconds a kill",
    ]  # fmt: skip
    rows = [
        [
            store, row["kills"], row["while_starting"], row["acknowledged"],
            row.get("in_part", 0), row.get("corrected", 0), row["lost"], row["doubled"],
            row["cut"], row["were_done"], f"{row['same']} of {row['streams']}",
            row["rounds"], row["seconds"] / max(row["kills"], 1),
        ]
        for store, row in found.items()
    ]  # fmt: skip
    commands = [f"`{typed}`" for row in found.values() for typed in row["commands"]]
    problems = [f"- {store}: {words}" for store, r in found.items() for words in r["problems"]]
    return [
        "# The service, killed",
        "",
        "Acknowledged: decisions, outcomes, corrections and decisions given up that a client was "
        "told of. In part: outcomes and corrections of them with bounds, or with a number that was "
        "not seen; rows without any are from before there were such. Cut "
        "short: requests whose answer never came; they were repeated by key until one came. Replay "
        "= live: streams whose state in memory, left by a graceful stop at the end of a round, is "
        "bit for bit the fold of their log from its first event.",
        "",
        *table(head, rows),
        "",
        "Made by:",
        "",
        *(f"- {typed}" for typed in commands),
        *(["", "Problems:", "", *problems] if problems else []),
    ]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=50, help="in all")
    parser.add_argument("--store", choices=STORES, default="sqlite")
    parser.add_argument("--round", type=int, default=50, help="kills on one store, then a new one")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--learner", type=int, default=5, help="an Ensemble too in every nth round")
    parser.add_argument("--seed", type=int, default=0, help="of the first round; then 1 more each")
    parser.add_argument("--live", type=float, default=0.5, help="most seconds of use before a kill")
    parser.add_argument("--starting", type=float, default=0.25, help="share of kills at the start")
    parser.add_argument(
        "--start", type=float, default=1.5, help="most seconds of a start till then"
    )
    parser.add_argument("--service", default="", help="lines for [service], as 'workers = 2'")
    parser.add_argument("--append", action="store_true", help="add to the counts of this store")
    parser.add_argument("--row", help="what its row is called; as the store, if not said")
    return parser.parse_args()


def _row(settings: argparse.Namespace) -> dict[str, Any]:
    return dict(before(_NAME).get("stores", {}).get(settings.row or settings.store, {}))


def main() -> None:
    settings, started = _arguments(), time.monotonic()
    row = _row(settings) if settings.append else {}
    typed, done = [*row.get("commands", []), command()], 0
    with _place(settings.store) as (folder, empty):
        for number in range(-(-settings.kills // settings.round)):
            kills = min(settings.round, settings.kills - done)
            seed = settings.seed + number
            found = one_round(settings, kills, seed, empty(), folder)
            done += kills
            row = (added(row, found) if row else found) | {"commands": typed}
            rows = {**before(_NAME).get("stores", {}), settings.row or settings.store: row}
            keep(_NAME, {"stores": rows}, page(rows))
            words = ", ".join(f"{k} {v}" for k, v in found.items() if k != "problems")
            progress(f"seed {seed}, {done} of {settings.kills}: {words}", started)
            if found["problems"]:
                raise SystemExit(some(found["problems"]))


if __name__ == "__main__":
    main()
