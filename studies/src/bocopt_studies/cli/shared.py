"""What the commands of studies do alike."""

from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager
from typing import Annotated

import typer

from bocopt.app.cli.shared import KILLED

Address = Annotated[
    str | None,
    typer.Option(
        help="Play on the workers of a Dask scheduler, such as tcp://host:8786.", metavar="ADDRESS"
    ),
]


@contextmanager
def workers_at(
    address: str, hear: Callable[[str], None]
) -> Iterator[tuple[Executor, Callable[[], int]]]:
    """Those of a cluster, and how many there are now, which is also told in words."""
    from bocopt_studies.work.cluster import cluster

    with cluster(address) as executor:

        def size() -> int:
            now = executor.size()
            hear(f"{now} worker{'s' * (now != 1)}" if now else "waiting for workers")
            return now

        yield executor, size


def ended(error: BrokenExecutor) -> str:
    """Why workers are gone, in a sentence."""
    from bocopt_studies.work.cluster import LostError

    if isinstance(error, LostError):
        return str(error)
    return KILLED


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
