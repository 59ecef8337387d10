"""Processes of Linux: who descends from whom, and how much CPU time each took."""

import os
from pathlib import Path

_TICK = 1 / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    """From the state on: a name may have spaces."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def parents() -> dict[int, int]:
    """The parent of every process."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                found[int(entry.name)] = int(_stat(int(entry.name))[1])
            except OSError:  # it has just ended
                continue
    return found


def children(pid: int) -> list[int]:
    return sorted(child for child, parent in parents().items() if parent == pid)


def workers(front: int) -> list[int]:
    """Of a service: they are forked from a process that the front started."""
    return [worker for child in children(front) for worker in children(child)]


def cpu(pid: int, *, ended: bool = False) -> float:
    """Seconds of CPU that a process took; with those of its children that have ended."""
    return _TICK * sum(map(int, _stat(pid)[11 : 15 if ended else 13]))


def cpu_of_server(pid: int) -> float:
    """Of PostgreSQL: the process that listens, and all that it started."""
    return cpu(pid, ended=True) + sum(cpu(child) for child in children(pid))
