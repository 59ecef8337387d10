"""Cut the power: what was acknowledged is on the disk, whatever the disk makes of the rest.

python benchmarks/service/power.py --cuts 500

A real `bocopt serve` on SQLite runs with a small library preloaded (power.c, compiled here) that
tapes every write, truncation, sync, and every name that comes or goes. Clients note how long the
tape was when an answer came. The tape is then cut at many places, half of them right after an
answer. Of what was not synced by then, all is dropped, or nothing, or each sector of 512 bytes
by chance (tape.py). SQLite opens what is left, and every answer given before the cut must be in it.
No file system in the kernel was needed for this, and one tape gives as many cuts as one likes.

Controls, which must lose something, or the test could not fail: the same with
`synchronous = NORMAL`, with `synchronous = OFF`, and on a disk whose syncs do nothing.

Writes benchmarks/results/service_power.{md,json}.
"""

import argparse
import random
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from clients import clients, finished
from proof_file import keep, progress, table
from subject import STREAMS, Subject, ask, rng_of, scratch, serving, subject
from tape import Disk, Record, records

from bocopt.app.service.config import Config, load_config
from bocopt.app.service.doctor import findings
from bocopt.app.service.stores import StoreError, open_store

_PATCHED = """
import sqlite3
class Connection(sqlite3.Connection):
    def execute(self, sql, *rest):
        return super().execute(sql.replace("synchronous = FULL", "synchronous = {how}"), *rest)
connect = sqlite3.connect
sqlite3.connect = lambda *words, **options: connect(*words, factory=Connection, **options)
from bocopt.app.cli import app
app()
"""


@dataclass(frozen=True)
class Case:
    """A way to run it, and whether it must lose something."""

    name: str
    synchronous: str = "FULL"
    lies: bool = False
    control: bool = True


CASES = (
    Case("as it is", control=False),
    Case("control: synchronous = NORMAL", "NORMAL"),
    Case("control: synchronous = OFF", "OFF"),
    Case("control: a disk whose syncs do nothing", lies=True),
)


@dataclass
class Found:
    """What came of the cuts of one case."""

    cuts: int = 0
    answers: int = 0  # given before a cut, over all cuts
    lost: int = 0
    cuts_that_lost: int = 0
    damaged: int = 0  # cuts after which the database was not whole, or did not fold
    syncs: int = 0
    writes: int = 0
    doctored: int = 0
    served: int = 0
    problems: list[str] = field(default_factory=list)


Answer = tuple[int, tuple[str, ...]]  # how long the tape was, and what was acknowledged


def library(folder: Path) -> Path:
    """power.c, compiled."""
    made, source = folder / "power.so", Path(__file__).with_name("power.c")
    flags = ["-O2", "-shared", "-fPIC", "-o", str(made), str(source), "-ldl", "-lpthread"]
    try:
        subprocess.run(["gcc", *flags], check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise SystemExit("power.c needs gcc to be compiled.") from None
    return made


def taped(
    here: Path, case: Case, settings: argparse.Namespace, seed: int
) -> tuple[Subject, list[Answer], bytes]:
    """A server used by clients for a while, and what it did to its files."""
    made = subject(
        here / "live", "sqlite:///log.db", streams=STREAMS[:-1], service=settings.service
    )
    made = replace(made, folder=made.folder.resolve())
    tape = here / "tape"
    tape.touch()
    environment = {
        "LD_PRELOAD": str(library(here)),
        "POWER_TAPE": str(tape),
        "POWER_FOLDER": str(made.folder),
    }
    answers: list[Answer] = []
    for life in range(settings.lives):
        code = _PATCHED.replace("{how}", case.synchronous)
        with serving(made, code=code, environment=environment):
            active = clients([made], settings.clients, seed * settings.lives + life)
            for client in active:
                client.acknowledged = lambda about: answers.append((tape.stat().st_size, about))
                client.start()
            time.sleep(settings.seconds)
            notes = finished(active)
        wrong = [told for note in notes for told in note.wrong]
        if wrong:
            raise SystemExit("\n".join(wrong[:5]))
    return made, sorted(answers), tape.read_bytes()


def places(
    tape: Sequence[Record], answers: Sequence[Answer], cuts: int, rng: random.Random
) -> list[int]:
    """Where to cut: half right after an answer, half anywhere."""
    after = [rng.choice(answers)[0] for _ in range(cuts // 2)]
    return sorted([*after, *(rng.choice(tape).end for _ in range(cuts - len(after)))])


def cuts(
    case: Case, tape: Sequence[Record], where: Sequence[int], rng: random.Random
) -> Iterator[tuple[int, dict[str, bytes], Disk]]:
    """What is left after each of them."""
    disk, at = Disk(lies=case.lies), 0
    for place in where:
        while at < len(tape) and tape[at].end <= place:
            disk.play(tape[at])
            at += 1
        yield place, disk.cut(rng), disk


def logged(path: Path) -> set[tuple[str, ...]]:
    """Events of a database after its recovery; an sqlite3.DatabaseError where it is damaged."""
    with closing(sqlite3.connect(path)) as connection:
        [(fine,)] = connection.execute("PRAGMA integrity_check(1)").fetchall()
        if fine != "ok":
            raise sqlite3.DatabaseError(fine)
        there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'events'").fetchall()
        if not there:
            return set()
        rows = connection.execute("SELECT stream, kind, decision, nth FROM events").fetchall()
    told = ((*row[:3], *(row[3:] if row[1] == "correction" else ())) for row in rows)
    return {tuple(map(str, each)) for each in told}


def looked_at(
    found: Found, folder: Path, left: dict[str, bytes], answers: set[tuple[str, ...]]
) -> None:
    """Write what is left, open it, and compare."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in left.items():
        (folder / name).write_bytes(data)
    found.cuts += 1
    found.answers += len(answers)
    try:
        lost = len(answers - logged(folder / "log.db"))
    except sqlite3.DatabaseError as error:
        found.damaged += 1
        lost = len(answers)
        found.problems.append(f"cut {found.cuts}: {error}")
    found.lost += lost
    found.cuts_that_lost += lost > 0


def doctored(found: Found, config: Config, folder: Path) -> None:
    """Folds the log from its first event, and looks at tables, indexes and snapshots."""
    found.doctored += 1
    try:
        with closing(open_store("sqlite:///log.db", folder)) as store:
            wrong = [each.words for each in findings(config, store, None) if not each.fine]
    except StoreError as error:
        wrong = [str(error)]
    found.damaged += bool(wrong)
    found.problems += [f"cut {found.cuts}: doctor: {words}" for words in wrong[:3]]


def served(found: Found, made: Subject, folder: Path) -> None:
    """The real service starts on what is left, and goes on."""
    for name in ("bocopt.toml", "shop.py"):
        shutil.copy(made.folder / name, folder)
    again = replace(made, folder=folder)
    with serving(again):
        status, told = ask(again, "POST", "/v1/streams/north/decisions", {"x": [0.5]})
    found.served += 1
    if status != 201:
        found.problems.append(f"cut {found.cuts}: after the start {status} {told}")


def tried(case: Case, settings: argparse.Namespace) -> Found:
    """One tape, and all its cuts."""
    found, rng = Found(), rng_of(settings.seed, case.name)
    number = settings.cuts if not case.control else max(settings.cuts // 5, 10)
    with scratch("power") as here:
        made, answers, data = taped(here, case, settings, settings.seed)
        config = load_config(made.config)
        tape = list(records(data))
        where = places(tape, answers, number, rng)
        found.writes = sum(record.kind == "w" for record in tape)
        for place, left, disk in cuts(case, tape, where, rng):
            given = {about for size, about in answers if size <= place}
            looked_at(found, here / "left", left, given)
            found.syncs = disk.syncs
            if not case.control and "log.db" in left:
                if found.cuts % settings.doctor == 0:
                    doctored(found, config, here / "left")
                if settings.serve and found.cuts % max(number // settings.serve, 1) == 0:
                    served(found, made, here / "left")
    return found


def page(rows: dict[str, Any], typed: argparse.Namespace) -> list[str]:
    head = ["", "cuts", "answers before a cut", "lost", "cuts that lost", "damaged", "syncs"]
    keys = ["cuts", "answers", "lost", "cuts_that_lost", "damaged", "syncs"]
    first = rows[CASES[0].name]
    return [
        "# The service, its power cut",
        "",
        f"`python benchmarks/service/power.py --cuts {typed.cuts} --seed {typed.seed}`: writes of "
        "SQLite were taped by a preloaded library, and what was not synced at a cut was dropped, "
        "kept, or kept by sectors of 512 bytes. Answers are summed over the cuts.",
        "",
        *table(head, [[name, *(row[key] for key in keys)] for name, row in rows.items()]),
        "",
        f"As it is: `doctor` folded what was left after {first['doctored']} of the cuts, and the "
        f"service was started again and went on after {first['served']}.",
        *(f"- {words}" for words in first["problems"][:20]),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cuts", type=int, default=500, help="of the service as it is")
    parser.add_argument("--seconds", type=float, default=4.0, help="of use, in each life")
    parser.add_argument("--lives", type=int, default=2, help="of a server on one tape")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--doctor", type=int, default=10, help="after every nth cut")
    parser.add_argument("--serve", type=int, default=3, help="so often the service goes on")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--service", default="", help="lines for [service]")
    settings, started = parser.parse_args(), time.monotonic()
    rows: dict[str, Any] = {}
    for case in CASES:
        found = tried(case, settings)
        rows[case.name] = vars(found) | {"problems": found.problems[:20]}
        words = f"{found.cuts} cuts, {found.lost} lost, {found.damaged} damaged"
        progress(f"{case.name}: {words}", started)
    keep("service_power", {"settings": vars(settings), "cases": rows}, page(rows, settings))
    first = rows[CASES[0].name]
    harmless = [case.name for case in CASES if case.control and not rows[case.name]["lost"]]
    if first["lost"] or first["problems"] or harmless:
        raise SystemExit(f"Lost: {first['lost']}. Controls that lost nothing: {harmless}.")


if __name__ == "__main__":
    main()
