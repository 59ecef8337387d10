"""A real scheduler and real workers on this machine, started by the lines of docs/cluster.md."""

import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "cluster.md"


def lines() -> list[str]:
    """What the page tells a reader to type, to start one here."""
    first = PAGE.read_text(encoding="utf-8").split("```sh\n")[1].split("```")[0]
    return first.splitlines()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _listens(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def running(line: str, port: int, **environment: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A line of the page, at another port."""
    dask, *words = shlex.split(line.replace("8786", str(port)))
    assert dask == "dask"
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *words, "--no-dashboard"],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def scheduler(**environment: str) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """Its address, once it listens, and its process."""
    port = free_port()
    with running(lines()[0], port, **environment) as process:
        end = time.monotonic() + 60
        while not _listens(port):
            assert time.monotonic() < end, "the scheduler did not start"
            assert process.poll() is None, "the scheduler ended"
            time.sleep(0.05)
        yield f"tcp://127.0.0.1:{port}", process


@contextmanager
def workers(address: str, **environment: str) -> Iterator["subprocess.Popen[bytes]"]:
    with running(lines()[1], int(address.rpartition(":")[2]), **environment) as process:
        yield process
