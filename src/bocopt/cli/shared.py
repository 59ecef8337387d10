"""What all commands do alike."""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated

import typer

from bocopt.report.text import plain

GOES_ON = "What is finished is stored; the same command goes on from there."

Address = Annotated[
    str | None,
    typer.Option(
        help="Play on the workers of a Dask scheduler, such as tcp://host:8786.", metavar="ADDRESS"
    ),
]

Jobs = Annotated[
    str, typer.Option(help="Worker processes, at most 4 a core, or 'auto' for one a core.")
]


def say(text: str, err: bool = False) -> None:
    typer.echo(plain(text), err=err)


def folder(out: str, hint: str = "--out") -> Path:
    """A folder that can be written to, made where it is missing."""
    if not out:
        raise typer.BadParameter("must name a folder. Got '' instead.", param_hint=hint)
    path = Path(out)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=path):
            pass
    except (OSError, ValueError) as error:  # a ValueError: no system has such a name
        why = error.strerror if isinstance(error, OSError) else error
        message = plain(f"cannot write to {path}: {why}.")
        raise typer.BadParameter(message, param_hint=hint) from error
    return path


@contextmanager
def workers_at(
    address: str, hear: Callable[[str], None]
) -> Iterator[tuple[Executor, Callable[[], int]]]:
    """Those of a cluster, and how many there are now, which is also told in words."""
    from bocopt.work.cluster import cluster

    with cluster(address) as executor:

        def size() -> int:
            now = executor.size()
            hear(f"{now} worker{'s' * (now != 1)}" if now else "waiting for workers")
            return now

        yield executor, size


def ended(error: BrokenExecutor) -> str:
    """Why workers are gone, in a sentence."""
    from bocopt.work.cluster import LostError

    if isinstance(error, LostError):
        return str(error)
    return "A worker process was killed, perhaps for want of memory."


def versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version
    from platform import python_version

    found = {"python": python_version()}
    for name in ("bocopt", "numpy", "numba", "scipy", "matplotlib"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # matplotlib is an extra
            found[name] = "not installed"
    return found


def workers(jobs: str) -> int:
    """How many processes `--jobs` asks for."""
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    most = 4 * cores
    if jobs == "auto":
        return cores
    if jobs.isdecimal() and len(jobs) < 10 and 0 < int(jobs) <= most:
        return int(jobs)
    raise typer.BadParameter(
        f"must be 'auto' or a positive integer, at most four for each core, here {most}. "
        f"Got {jobs!r} instead.",
        param_hint="--jobs",
    )
