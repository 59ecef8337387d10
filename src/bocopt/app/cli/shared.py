"""Options, errors and output that all commands share."""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated

import typer

from bocopt.app.text import plain

_KILLED = "A worker process was killed, perhaps for want of memory."
GOES_ON = "What is finished is stored; the same command goes on from there."

Settings = Annotated[str, typer.Argument(help="The configuration file.", metavar="BOCOPT.TOML")]
Where = Annotated[str, typer.Option(help="The configuration file.", metavar="BOCOPT.TOML")]
CaseName = Annotated[
    str | None, typer.Option("--case", help="Which case, if there are several.", metavar="NAME")
]
Jobs = Annotated[
    str, typer.Option(help="Worker processes, at most 4 a core, or 'auto' for one a core.")
]
Address = Annotated[
    str | None,
    typer.Option(
        help="Play on the workers of a Dask scheduler, such as tcp://host:8786.", metavar="ADDRESS"
    ),
]


def say(text: str, err: bool = False) -> None:
    """Print a line that every screen can show; on stderr where `err`."""
    typer.echo(plain(text), err=err)


@contextmanager
def exit_on(
    *errors: type[Exception], kept: str = "", ends: tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """End a command with a sentence instead of a traceback, and exit with 1, or 130 on Ctrl-C.

    So end errors of the system, modules of extras that are missing, worker processes that are
    killed, and all `errors`, whose messages are for users. Those in `ends` stop work under way:
    `kept`, which is said of them, of Ctrl-C and of killed workers, tells what is left of it.
    """
    stopping: tuple[type[Exception], ...] = (BrokenExecutor, *ends)
    known: tuple[type[Exception], ...] = (OSError, ModuleNotFoundError, *errors)
    try:
        yield
    except KeyboardInterrupt:
        if kept:
            say(f"Interrupted. {kept}")
        raise typer.Exit(130) from None
    except BrokenPipeError:
        raise  # nobody reads on: the files are written, and Typer ends quietly
    except stopping as error:
        sentence = _in_words(error) if isinstance(error, ends) else _KILLED
        say(f"{sentence.removesuffix('.')}. {kept}".rstrip(), err=True)
        raise typer.Exit(1) from None
    except known as error:
        for line in _in_words(error).split("\n"):
            say(line, err=True)
        raise typer.Exit(1) from None


def _in_words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error)


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


def workers_here(jobs: str, cluster: str | None) -> int:
    """How many processes work here; an error where both a number and a cluster are asked for."""
    if cluster is not None and jobs != "auto":
        message = "says how many processes work here; with --cluster, none do."
        raise typer.BadParameter(message, param_hint="--jobs")
    return workers(jobs)


@contextmanager
def workers_at(
    address: str, hear: Callable[[str], None]
) -> Iterator[tuple[Executor, Callable[[], int]]]:
    """Yield a cluster's executor, and a function that counts its workers and reports to `hear`."""
    from bocopt.remote.cluster import cluster

    with cluster(address) as executor:

        def size() -> int:
            """Return the number of workers now, and report it to `hear` in words."""
            now = executor.size()
            hear(f"{now} worker{'s' * (now != 1)}" if now else "waiting for workers")
            return now

        yield executor, size
