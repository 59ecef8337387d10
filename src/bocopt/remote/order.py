"""Orders that are sent to workers, and their answers."""

import hashlib
import pickle
from threading import Lock
from time import perf_counter
from typing import Any, NamedTuple, Protocol, Self

from bocopt.remote.origin import Origin, origin, processor
from bocopt.sources import modules_of, software

#: A worker may have several threads; states and solvers are not made for sharing a process.
_ONE_AT_A_TIME = Lock()


class Job(Protocol):
    """Work that can be sent to another process."""

    def run(self) -> Any:
        """Return the result of the work."""
        ...

    def short(self) -> Self:
        """Return as little of the work as needs the same machine code."""
        ...


class JobSpec(NamedTuple):
    """Work to do, and the code to do it with; the work is packed, so that any worker can look."""

    packed: bytes
    modules: frozenset[str]
    code: str  # the digest of what these depend on, here
    machine_code: str  # names the kernels: orders of one name need the same


class JobResult(NamedTuple):
    """Result of an order, or None where the worker has other code."""

    origin: Origin
    result: Any
    seconds: float


def order(work: Job, modules: frozenset[str] | None = None, machine_code: str = "") -> JobSpec:
    """All of the modules that it is made of count, unless others are named."""
    modules = modules_of(work) if modules is None else modules
    return JobSpec(pickle.dumps(work), modules, software(modules), machine_code)


def answer(order: JobSpec) -> JobResult:
    """Do an order on a worker; whoever sent it compares digests before it believes the answer.

    The files are looked at again afterwards: they may have changed meanwhile.
    """
    with _ONE_AT_A_TIME:
        here = origin(order.modules)
        if here.code != order.code:
            return JobResult(here, None, 0.0)
        work: Job = pickle.loads(order.packed)
        warm_up(work, repr((sorted(order.modules), order.machine_code)))
        started = perf_counter()
        result = work.run()
        return JobResult(origin(order.modules), result, perf_counter() - started)


def warm_up(work: Job, machine_code: str) -> None:
    """Do a little of the work if no process that shares our machine code has, one at a time.

    The others wait, and find the machine code when it is their turn.
    """
    from bocopt.numeric.compiled import alone, folder

    name = hashlib.sha256(f"{machine_code} {processor()}".encode()).hexdigest()[:32]
    marker = folder() / f"warm-{name}"
    if marker.exists():
        return
    with alone("warm"):
        if not marker.exists():
            work.short().run()
            marker.touch()
