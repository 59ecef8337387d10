"""Ours and another solver on the same instances, in the same run: CPU time and values."""

from collections.abc import Callable, Sequence
from functools import partial
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from bocopt.core import Array


class Row(NamedTuple):
    """One program: how long ours takes, how much longer SciPy, and whether values agree."""

    name: str
    target: str
    ours_ms: float
    scipy_ms: float | None
    worst: float  # relative difference of values, ours less theirs: negative is better
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return None if self.scipy_ms is None else self.scipy_ms / self.ours_ms


def cpu(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The median CPU time of a call in milliseconds, and its last answer."""
    times, answer = [], call() if repeats > 1 else None
    for _ in range(repeats):
        start = process_time()
        answer = call()
        times.append(process_time() - start)
    return 1e3 * float(np.median(times)), answer


def compared(
    name: str,
    target: str,
    ours: Callable[[Array], float],
    theirs: Callable[[Array], float],
    data: Sequence[Array],
    repeats: int = 3,
) -> Row:
    """Each instance by both, alternately."""
    own, other, differences = [], [], []
    for instance in data:
        taken, value = cpu(partial(ours, instance), repeats)
        other_taken, expected = cpu(partial(theirs, instance), 1)
        own.append(taken)
        other.append(other_taken)
        differences.append((value - expected) / max(1.0, abs(expected)))
    row = Row(name, target, float(np.median(own)), float(np.median(other)), max(differences))
    print(row.name, f"{row.ours_ms:.3f} ms, {row.ratio:.1f} x", flush=True)
    return row


HEAD = [
    "# Declared programs against SciPy",
    "",
    "`python benchmarks/programs.py`. CPU time, the median over instances; SciPy solves the same",
    "instances in the same run (`linprog`, `milp`: HiGHS). Difference: ours less SciPy's value,",
    "relative, the largest; a negative one is better.",
    "",
    "| program | ours, ms | SciPy, ms | ratio | difference | target | note |",
    "|---|---:|---:|---:|---:|---|---|",
]


def line(row: Row) -> str:
    theirs = "" if row.scipy_ms is None else f"{row.scipy_ms:.2f}"
    ratio = "" if row.ratio is None else f"{row.ratio:.1f}"
    cells = (
        row.name,
        f"{row.ours_ms:.3f}",
        theirs,
        ratio,
        f"{row.worst:.1e}",
        row.target,
        row.note,
    )
    return f"| {' | '.join(cells)} |"
