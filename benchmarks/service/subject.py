"""The service that is put to the proof: its folder, its store, and its real processes."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from uuid import uuid4

SCRIPT = Path(__file__).parents[2] / "scripts" / "postgres"
STREAMS = ("north", "south", "east", "learner")
_CODE = "from bocopt.app.cli import app; app()"
_START = 120.0  # seconds that a start may take, the compilation included
_STOP = 60.0
_SHOP = """\
from bocopt import Ensemble, SampleAverage
from bocopt.problems import Knapsack

problem = Knapsack(value=[12, 9], capacity=[8], salvage=[1], upper=8)
average = SampleAverage(problem, initial_decision=[1, 1], latest=20)
learner = Ensemble(problem)
"""


@dataclass(frozen=True)
class Subject:
    """A configuration file on disk, and the port that its service listens on."""

    folder: Path
    url: str
    port: int

    @property
    def config(self) -> str:
        return str(self.folder / "bocopt.toml")

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", self.port


def free_port() -> int:
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def subject(
    folder: Path,
    url: str,
    *,
    streams: tuple[str, ...] = STREAMS,
    service: str = "",
    stream: str = "snapshot = 50",
) -> Subject:
    """Write its files; a stream called learner has an Ensemble, the others a SampleAverage."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "shop.py").write_text(_SHOP)
    lines = ["[service]", f'store = "{url}"', service]
    for name in streams:
        policy = "learner" if name.startswith("learner") else "average"
        lines += [f"[cases.{name}]", 'problem = "shop:problem"', f'policies = ["{policy}"]']
        lines += ["max_open = 100000", stream]
    (folder / "bocopt.toml").write_text("\n".join(lines) + "\n")
    return Subject(folder, url, free_port())


def another(first: Subject) -> Subject:
    """A second server on the same store."""
    return replace(first, port=free_port())


def begin(
    subject: Subject, code: str = _CODE, environment: dict[str, str] | None = None
) -> "subprocess.Popen[bytes]":
    """Start a server, and do not wait for it; what it says goes to its log."""
    command = [sys.executable, "-c", code, "serve", subject.config, "--port", str(subject.port)]
    with open(subject.folder / f"server-{subject.port}.log", "ab") as log:
        return subprocess.Popen(
            command, stdout=log, stderr=log, env={**os.environ, **(environment or {})}
        )


def is_ready(subject: Subject) -> bool:
    try:
        return ask(subject, "GET", "/readyz", timeout=2)[0] == 200
    except (OSError, HTTPException):
        return False


def until_ready(subject: Subject, process: "subprocess.Popen[bytes]") -> None:
    """A RuntimeError with what the server said, where it ends or takes too long."""
    deadline = time.monotonic() + _START
    while time.monotonic() < deadline:
        if is_ready(subject):
            return
        if process.poll() is not None:
            break
        time.sleep(0.01)
    raise RuntimeError(f"The service did not start:\n{said(subject)}")


def said(subject: Subject) -> str:
    """The end of its log."""
    path = subject.folder / f"server-{subject.port}.log"
    return path.read_text(errors="replace")[-2000:] if path.exists() else ""


def kill(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def stop(process: "subprocess.Popen[bytes]") -> int:
    """Gracefully; its exit code."""
    process.terminate()
    try:
        return process.wait(_STOP)
    except subprocess.TimeoutExpired:
        kill(process)
        return -signal.SIGKILL


@contextmanager
def serving(subject: Subject, **options: Any) -> Iterator["subprocess.Popen[bytes]"]:
    """A server that is ready; stopped gracefully, unless it has ended already."""
    process = begin(subject, **options)
    try:
        until_ready(subject, process)
        yield process
    finally:
        if process.poll() is None:
            stop(process)


def ask(
    subject: Subject,
    method: str,
    path: str,
    body: Any = None,
    headers: Mapping[str, str] | None = None,
    timeout: float = 40,
) -> tuple[int, Any]:
    """One request on a connection of its own; the answer is JSON, or None where it is not."""
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    with closing(HTTPConnection(*subject.address, timeout=timeout)) as connection:
        connection.request(method, path, data, dict(headers or {}))
        found = connection.getresponse()
        text = found.read()
    try:
        return found.status, json.loads(text)
    except ValueError:
        return found.status, None


def bocopt(*words: str) -> tuple[int, str]:
    """A command as a user types it; its exit code, and what it said."""
    done = subprocess.run(
        [sys.executable, "-c", _CODE, *words], capture_output=True, text=True, timeout=3600
    )
    return done.returncode, done.stdout + done.stderr


@contextmanager
def scratch(name: str, under: str | None = None) -> Iterator[Path]:
    """A folder that is thrown away."""
    folder = Path(tempfile.mkdtemp(prefix=f"bocopt-{name}-", dir=under))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def postgres(under: Path | None = None) -> Iterator[tuple[str, str]]:
    """A PostgreSQL server to throw away, and its folder."""
    with scratch("postgres", str(under) if under else None) as folder:
        started = subprocess.run([SCRIPT, "start", folder], capture_output=True, text=True)
        if started.returncode:
            raise SystemExit(f"No PostgreSQL: {started.stderr.strip()}")
        try:
            yield started.stdout.strip(), str(folder)
        finally:
            subprocess.run([SCRIPT, "stop", folder, "immediate"], check=False)


def empty_schema(server: str) -> str:
    """An address in the server where nothing is yet."""
    import psycopg

    name = f"proof_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    return f"{server}?options=-csearch_path%3D{name}"


def family(pid: int) -> list[int]:
    """A process and all that it started, itself first."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                rest = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended meanwhile
                continue
            parents[int(entry.name)] = int(rest[1])
    found = [pid]
    for each in found:  # it grows while we look at it
        found += sorted(child for child, parent in parents.items() if parent == each)
    return found


def workers(pid: int) -> list[int]:
    """The processes of a server that decide and learn, without the helpers of Python.

    One helper is what workers are forked from: they look like it, but are not the server's own
    children.
    """
    tree = family(pid)[1:]
    own = {each for each in tree if _parent(each) == pid}
    found = []
    for each in tree:
        command = _command(each)
        helps = "resource_tracker" in command or ("forkserver" in command and each in own)
        if command and not helps:
            found.append(each)
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def left_behind(pids: Iterable[int], seconds: float) -> list[int]:
    """Of the processes of servers that were killed, those that do not end by themselves."""
    left, deadline = set(pids), time.monotonic() + seconds
    while left and time.monotonic() < deadline:
        left = {pid for pid in left if "bocopt" in _command(pid) or "multiproc" in _command(pid)}
        time.sleep(0.1)
    return sorted(left)


def rng_of(seed: int, purpose: str) -> random.Random:
    """The same numbers for the same purpose, whatever else is drawn."""
    return random.Random(f"{seed} {purpose}")
