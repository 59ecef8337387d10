"""Parts that strategies share: rows that hold in all scenarios, answers that the judge accepts."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray, IntArray
from bocopt.problems.program import highs
from bocopt.problems.program.form import BestFound, Form, Rows, SolveTask, Sparse, tidied
from bocopt.problems.risk import WEIGHT_TOLERANCE, is_mean

INSIDE = 1e-7  # how far inside a limit a decision is sought that rounding put outside


class RowSystem(NamedTuple):
    """least <= matrix . columns <= limit, one row after another."""

    matrix: Array  # (r, n)
    least: Array  # (r)
    limit: Array  # (r)


class Relaxation(NamedTuple):
    """Solution of a relaxation: its columns, and a value that none falls below."""

    columns: Array | None
    bound: float
    limited: bool = False  # it stopped at a limit, short of its optimum


def expected(task: SolveTask) -> bool:
    """Return whether the risk is the mean of the costs; False for one that is not known."""
    return is_mean(task.risk)


def own_columns(form: Form) -> int:
    """Return the number of columns that each scenario has for itself."""
    return len(form.lower) - form.shared


def unbroken(task: SolveTask) -> bool:
    """Return whether the uncertain rows hold in every scenario, or else the decision is refused."""
    rows, alpha = task.form.uncertain, task.risk.alpha
    if not rows.many or alpha == 1:
        return True
    alike = len(rows.matrix) == 1 and len(rows.limit) == 1
    return alike and alpha is not None and alpha > WEIGHT_TOLERANCE


def without_stages(task: SolveTask) -> bool:
    """Return whether all columns are shared and all rows hold in every scenario."""
    return own_columns(task.form) == 0 and unbroken(task)


def together(form: Form, *parts: Rows) -> RowSystem:
    """Rows of the shared columns that hold in every scenario, each of them once."""
    fixed = [_merged(rows, form.shared) for rows in parts if rows.many]
    if not fixed:
        return RowSystem(np.zeros((0, form.shared)), np.zeros(0), np.zeros(0))
    return RowSystem(*(np.concatenate(part) for part in zip(*fixed, strict=True)))


def shrunk(fixed: RowSystem, integer: BoolArray, by: float) -> RowSystem:
    """The rows of integer columns, held by a margin: there the judge allows no rounding."""
    exact = ~(fixed.matrix[:, ~integer] != 0).any(axis=1) & np.isneginf(fixed.least)
    return fixed._replace(limit=np.where(exact, fixed.limit - by, fixed.limit))


def mean(per_scenario: Array, w: Array) -> Array:
    """(s or 1, ...), (s) -> (...)."""
    if len(per_scenario) == 1:
        return np.asarray(per_scenario[0] * w.sum())
    return np.asarray(np.tensordot(w, per_scenario, axes=1))


def close(value: float, bound: float, gap: float) -> bool:
    """Return whether a value is proved to be within a relative gap."""
    return bool(np.isfinite(value)) and value - bound <= gap * max(1.0, abs(value))


def sums(groups: IntArray, values: Array) -> Array:
    """(i), (i) -> (g)."""
    return np.asarray(np.bincount(groups, values), np.float64)


def stacked(above: Sparse, below: Sparse) -> Sparse:
    """The rows of both."""
    return Sparse(
        np.concatenate([above.start, below.start + np.int32(len(above.value))]),
        np.concatenate([above.column, below.column]),
        np.concatenate([above.value, below.value]),
    )


def answered(task: SolveTask, relaxed: Callable[[float], Relaxation]) -> BestFound:
    """Ask for a decision, and once more by a margin inside if the judge refuses the first."""
    columns, bound, _ = relaxed(0.0)
    if columns is None:
        return BestFound(None, bound)
    z = tidied(columns[: task.form.size], task.form)
    if task.judge(z).met:
        return BestFound(z, bound)
    columns = relaxed(INSIDE).columns
    if columns is None:
        return BestFound(None, bound)
    z = tidied(columns[: task.form.size], task.form)
    return BestFound(z if task.judge(z).met else None, bound)


def solved(
    program: highs.LinearProgram, task: SolveTask, spare: float = 0.0, first: Array | None = None
) -> Relaxation:
    """A linear or integer program within the limits of a task; `spare` seconds are left over.

    `first` are columns to begin with, the first ones of the program.
    """
    limits = task.limits
    deadline = None if limits.deadline is None else limits.deadline - spare
    start = None if first is None else np.full(len(program.cost), np.nan)
    if start is not None and first is not None:
        start[: len(first)] = first
    found = highs.solve(
        program, nodes=limits.nodes, gap=limits.gap / 2, deadline=deadline, start=start
    )
    limited = found.point is not None and not close(found.value, found.bound, limits.gap)
    return Relaxation(found.point, found.bound, limited)


def _merged(rows: Rows, shared: int) -> RowSystem:
    """Return the rows of all scenarios; where limits alone differ, the tightest of them."""
    matrix = rows.matrix[..., :shared]
    if len(matrix) == 1:
        least = np.where(rows.equal, rows.limit.max(axis=0), -np.inf)
        return RowSystem(matrix[0], least, rows.limit.min(axis=0))
    s, r, _ = matrix.shape
    limit = np.broadcast_to(rows.limit, (s, r))
    least = np.where(rows.equal, limit, -np.inf)
    return RowSystem(matrix.reshape(s * r, shared), least.ravel(), limit.ravel())
