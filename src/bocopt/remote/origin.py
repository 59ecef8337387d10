"""Origin of a block: which process, on which host, with which code and libraries.

Code is shipped to nobody. A worker has its own, so it says which, and what comes from another one
is refused.
"""

import os
import platform
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import bocopt
from bocopt.sources import OURS, software, stamps, versions

#: What Python imports is what stands in the files now; if they change later, nobody knows.
_STARTED = stamps(*OURS)
_CHANGED = "changed since it was started"


class Origin(NamedTuple):
    """Origin that a worker states of itself, from its own files."""

    where: str
    code: str  # a digest of the code and the libraries that were asked about
    runs_on: Mapping[str, str]  # versions by name
    processor: str


class ForeignWorkerError(ValueError):
    """A worker has other code or other libraries: its results are not those of a digest."""


def origin(modules: frozenset[str]) -> Origin:
    """Return the origin of this process, for what depends on these modules."""
    folder = Path(bocopt.__file__).parent
    return Origin(
        where=f"process {os.getpid()} on host {platform.node()} (bocopt in {folder})",
        code=software(modules) if stamps(*OURS) == _STARTED else _CHANGED,
        runs_on={"bocopt": bocopt.__version__, "machine": platform.machine(), **versions()},
        processor=processor(),
    )


@cache
def processor() -> str:
    """Return the processor, and what numpy uses of it: last bits of numbers may depend on it."""
    import numpy as np

    name = import_module("llvmlite.binding").get_host_cpu_name()
    simd = np.show_config(mode="dicts")["SIMD Extensions"]
    return " ".join([name, *sorted(simd.get("found", ()))])


def refuse_foreign(there: Origin, modules: frozenset[str]) -> None:
    """An error that names the worker, and what it has that we have not."""
    if there.code == software(modules):
        return
    raise ForeignWorkerError(
        f"A worker is not like this one, so nothing of it was stored: {there.where}: "
        f"{_differences(there, origin(modules))}. Install there what is installed here, and start "
        "it again."
    )


def _differences(there: Origin, here: Origin) -> str:
    if there.code == _CHANGED:
        return f"its bocopt code has {_CHANGED}"
    found = [
        f"{name} {there.runs_on.get(name, 'missing')}, here {version}"
        for name, version in here.runs_on.items()
        if there.runs_on.get(name) != version
    ]
    same = f"its bocopt code differs (digest {there.code[:12]}, here {here.code[:12]})"
    return "; ".join(found) or same
