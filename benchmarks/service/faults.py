"""What goes wrong with stores: a full disk, one that cannot be written, and damage. What is told?

python benchmarks/service/faults.py            all of it; some need root, to mount a small disk
python benchmarks/service/faults.py --only damaged

Each fault is done to a real `bocopt serve`, or to its store while it is stopped. The table says
what was done, and what was answered then and afterwards. After each, `doctor` and the log say
whether anything was lost.

Writes benchmarks/results/service_faults.{md,json}.
"""

import argparse
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from proof_file import before, command, keep, progress, table
from store_faults import NAMES, Step, asked, decide, doctor, filled, played, small_disk
from subject import (
    Subject,
    ask,
    begin,
    empty_schema,
    kill,
    postgres,
    said,
    scratch,
    serving,
    subject,
)

_MOST = 4000  # requests until a small disk must be full
_FEW = 20  # requests that are answered before it is


def _until_full(made: Subject, ballast: Path) -> tuple[Step, list[str]]:
    """Decide until it is refused; the keys that were answered."""
    answered: list[str] = []
    for i in range(_MOST):
        status, message = decide(made, key=f"k{i}")
        if status != 201:
            break
        answered.append(f"k{i}")
        if i == _FEW:
            filled(ballast)
    return Step("the disk is full", str(status), message, status == 507), answered


def _full(made: Subject, ballast: Path) -> Iterator[Step]:
    played(made)
    step, answered = _until_full(made, ballast)
    yield step
    yield asked("again, still full", made, 507)
    status, told = ask(made, "GET", "/v1/streams/north")
    yield Step("reading goes on", str(status), f"{told['events']} events", status == 200)
    ballast.unlink()
    yield asked("there is room again", made, 201)
    again = [decide(made, key=key)[0] for key in answered]
    words = f"{len(again)} that were answered are answered the same"
    yield Step("all keys again", "200", words, set(again) <= {200})


def disk_full_sqlite() -> Iterator[Step]:
    with small_disk("12m") as disk:
        made = subject(disk / "s", "sqlite:///log.db", streams=NAMES)
        with serving(made):
            yield from _full(made, disk / "ballast")
        yield doctor("doctor, afterwards", made, 0)


def disk_full_postgres() -> Iterator[Step]:
    with small_disk("160m") as disk, postgres(disk) as (server, _), scratch("faults") as here:
        made = subject(here, empty_schema(server), streams=NAMES)
        with serving(made):
            yield from _full(made, disk / "ballast")
        yield doctor("doctor, afterwards", made, 0)


def read_only_sqlite() -> Iterator[Step]:
    """Only the store is on that disk: its log files would keep it busy."""
    with small_disk("8m") as disk, scratch("faults") as here:
        made = subject(here, f"sqlite:///{disk}/log.db", streams=NAMES)
        with serving(made):
            played(made)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        process = begin(made)
        code = process.wait(60)
        told = said(made).strip().splitlines()[-1]
        yield Step("started on a read-only disk", f"exit code {code}", told, code == 1)
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
        with serving(made):
            yield asked("started when it can be written again", made, 201)
        yield doctor("doctor, afterwards", made, 0)


def read_only_postgres() -> Iterator[Step]:
    import psycopg

    with postgres() as (server, _), scratch("faults") as here:
        made = subject(here, empty_schema(server), streams=NAMES)

        def told(how: str) -> None:
            with psycopg.connect(server, autocommit=True) as connection:
                connection.execute(b"SET default_transaction_read_only = off")
                sql = f"ALTER DATABASE postgres SET default_transaction_read_only = {how}"
                connection.execute(sql.encode())
                connection.execute(
                    b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    b"WHERE datname = 'postgres' AND pid <> pg_backend_pid()"
                )

        with serving(made):
            played(made)
            told("on")
            status, message = decide(made)
            yield Step("connections were cut", str(status), message, status == 503)
            yield asked("the database is read only", made, 503)
            told("off")
            decide(made)
            yield asked("it can be written again", made, 201)
        yield doctor("doctor, afterwards", made, 0)


def _changed(made: Subject, sql: str) -> None:
    with closing(sqlite3.connect(made.folder / "log.db")) as connection, connection:
        assert connection.execute(sql).rowcount > 0


def _prepared(here: Path) -> Subject:
    made = subject(here, "sqlite:///log.db", streams=NAMES)
    with serving(made):
        played(made)
    return made


def damaged_snapshot() -> Iterator[Step]:
    with scratch("faults") as here:
        made = _prepared(here)
        with serving(made):
            before = ask(made, "GET", "/v1/streams/north")[1]
            certificates = ask(made, "GET", "/v1/streams/north/certificates")[1]
        _changed(made, "UPDATE snapshots SET state = zeroblob(100) WHERE stream = 'north'")
        yield doctor("the snapshots of north were overwritten: doctor", made, 1, "is not used")
        with serving(made):
            same = ask(made, "GET", "/v1/streams/north")[1] == before
            same = same and ask(made, "GET", "/v1/streams/north/certificates")[1] == certificates
            words = f"{before['events']} events were folded; all numbers are as before"
            yield Step("started on it", "200", words if same else "other numbers", same)
            yield asked("and goes on", made, 201)
        yield doctor("doctor, after a graceful stop", made, 1, "is what the log says")


def damaged_row() -> Iterator[Step]:
    with scratch("faults") as here:
        made = _prepared(here)
        _changed(made, "UPDATE events SET body = zeroblob(99) WHERE stream = 'north' AND seq = 41")
        _changed(made, "DELETE FROM snapshots WHERE stream = 'north'")
        yield doctor("event 41 of north was overwritten: doctor", made, 1, "Event 41")
        with serving(made):
            yield asked("started on it, asked for north", made, 503)
            yield asked("asked for south", made, 201, "south")


def missing_row() -> Iterator[Step]:
    with scratch("faults") as here:
        made = _prepared(here)
        _changed(made, "DELETE FROM events WHERE stream = 'north' AND seq = 41")
        yield doctor("event 41 of north was removed: doctor", made, 1, "Event 42")


def damaged_file() -> Iterator[Step]:
    with scratch("faults") as here:
        made = _prepared(here)
        path = here / "log.db"
        with open(path, "r+b") as file:
            file.seek(path.stat().st_size // 8192 * 4096)
            file.write(b"\xa5" * 4096)
        yield doctor("a page in the middle of the file was overwritten: doctor", made, 1)


def missing_index() -> Iterator[Step]:
    with scratch("faults") as here:
        made = _prepared(here)
        with closing(sqlite3.connect(here / "log.db")) as connection, connection:
            connection.execute("DROP INDEX events_key")
        yield doctor("an index was dropped: doctor", made, 1, "events_key")
        with serving(made):
            yield asked("started on it: made anew", made, 201)
        yield doctor("doctor, afterwards", made, 0)


def locked() -> Iterator[Step]:
    """Longer than the service waits."""
    with scratch("faults") as here:
        made = _prepared(here)
        with serving(made), closing(sqlite3.connect(here / "log.db")) as connection:
            connection.isolation_level = None
            connection.execute("BEGIN IMMEDIATE")
            yield asked("another program holds the file for long", made, 503)
            connection.execute("ROLLBACK")
            yield asked("it has let go", made, 201)
        yield doctor("doctor, afterwards", made, 0)


def not_a_database() -> Iterator[Step]:
    with scratch("faults") as here:
        made = subject(here, "sqlite:///log.db", streams=NAMES)
        (here / "log.db").write_bytes(b"This is a text, and no database at all.\n" * 200)
        process = begin(made)
        try:
            code = process.wait(60)
        except subprocess.TimeoutExpired:
            kill(process)
            code = -9
        told = said(made).strip().splitlines()[-1]
        yield Step("the file is no database", f"exit code {code}", told, code == 1)


FAULTS: dict[str, Callable[[], Iterator[Step]]] = {
    "disk full, SQLite": disk_full_sqlite,
    "disk full, PostgreSQL": disk_full_postgres,
    "read only, SQLite": read_only_sqlite,
    "read only, PostgreSQL": read_only_postgres,
    "damaged snapshot": damaged_snapshot,
    "damaged event": damaged_row,
    "missing event": missing_row,
    "damaged file": damaged_file,
    "missing index": missing_index,
    "locked file": locked,
    "not a database": not_a_database,
}


def tried(name: str, fault: Callable[[], Iterator[Step]]) -> list[dict[str, Any]]:
    steps: list[Step] = []
    try:
        steps.extend(fault())
    except NotImplementedError as error:
        steps.append(Step("not tried", "-", str(error), False))
    except (AssertionError, OSError, RuntimeError, subprocess.SubprocessError) as error:
        steps.append(Step("failed", "-", repr(error), False))
    return [{"fault": name, **step.shown()._asdict()} for step in steps]


def page(rows: list[dict[str, Any]]) -> list[str]:
    head = ["fault", "done", "status", "message", "as it should be"]
    body = [
        [row["fault"], row["done"], row["status"], row["message"], "yes" if row["fine"] else "NO"]
        for row in rows
    ]
    return [
        "# The service and faults of its store",
        "",
        f"`{command()}`",
        "",
        *table(head, body),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", default="", help="faults whose name has this in it; others are kept"
    )
    settings, started = parser.parse_args(), time.monotonic()
    old, rows = before("service_faults").get("rows", []), []
    for name, fault in FAULTS.items():
        if settings.only not in name:
            rows += [row for row in old if row["fault"] == name]
        else:
            rows += tried(name, fault)
            progress(f"{name}: {rows[-1]['status']} {rows[-1]['message']}", started)
    keep("service_faults", {"rows": rows}, page(rows))
    wrong = [f"{row['fault']}, {row['done']}: {row['status']}" for row in rows if not row["fine"]]
    if wrong:
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    main()
