"""A command, and what it took: by the clock, of the processors, of memory."""

import os
import subprocess
import sys
from collections.abc import Sequence
from time import perf_counter
from typing import Any

RUN = "from bocopt.app.cli import app; app()"


def took(*words: str | os.PathLike[str], check: Sequence[int] = (0,)) -> dict[str, Any]:
    """Run a command of ours to its end; CPU is that of all its processes."""
    start = perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in check:
        raise RuntimeError(f"bocopt {' '.join(map(str, words))} ended with {process.returncode}.")
    return {
        "seconds": perf_counter() - start,
        "seconds of CPU": usage.ru_utime + usage.ru_stime,
        "gigabytes, of the largest process": usage.ru_maxrss / 1e6,
    }
