"""A chance constraint by one binary per scenario, with the smallest M that is quick to compute.

    uncertain_s . (v, y_s) <= limit_s + M_s q_s,     sum over s of w_s q_s <= 1 - alpha

M_rs is what row r of scenario s can exceed its limit by, where other scenarios of weight alpha
hold: for each of them the row is bounded by a continuous knapsack, and a weighted quantile of
these bounds is valid. Reference: Song, Luedtke, Kucukyavuz, Chance-constrained binary packing
problems, 2014.
"""

import time

import numpy as np

from bocopt.core import Array, BoolArray
from bocopt.problems.program.form import EndlessError, Form, Rows, SolveTask
from bocopt.problems.program.strategies.assembly import Assembly, Columns
from bocopt.problems.program.strategies.bounds import (
    ColumnBounds,
    box,
    inequalities,
    largest,
    quantile,
    smallest,
)
from bocopt.problems.risk import WEIGHT_TOLERANCE

_WORK = 40_000_000  # products that tightening may take
_SHARE = 0.2  # of the time until a deadline
_TOLERANCE = 1e-6  # relative: what the judge may allow
_ROUNDING = 1e-9  # relative: a computed M may be too small by this


def need(task: SolveTask) -> float:
    """The weight in which the uncertain rows must hold."""
    return (task.risk.alpha or 0.0) * float(task.w.sum()) - WEIGHT_TOLERANCE


def droppable(task: SolveTask) -> BoolArray:
    """Scenarios whose rows need not hold: (s)."""
    free: BoolArray = task.w <= task.w.sum() - need(task)
    return free


def add_rows(assembly: Assembly, task: SolveTask, table: Columns, inside: Array) -> Columns:
    """Add the uncertain rows and their binaries: -> the columns q (s), 1 where rows are dropped.

    Limits are kept by `inside` (s or 1, r) more than asked.
    """
    form, free = task.form, droppable(task)[:, None]
    rows = inequalities(form.uncertain)
    inside = np.pad(inside, ((0, 0), (0, rows.many - inside.shape[1])))
    found = box(form, task.w, need(task))
    whole = np.flatnonzero(form.integer[: form.shared])
    assembly.tighten(table[0, whole], found.low[0, whole], found.high[0, whole])
    excess = np.where(free, largest(rows.matrix, found) - rows.limit, 0.0)
    _refuse_endless(form, rows, found, excess)
    never = rows.limit + _TOLERANCE * (1 + np.abs(rows.limit))
    hopeless = np.any(smallest(rows.matrix, found) > never, axis=1)
    dropped = add_binaries(assembly, task, hopeless)
    needed = ((excess > 0) & ~hopeless[:, None]) | ~free
    excess = np.clip(_tightened(task, rows, found), 0.0, np.maximum(excess, 0.0))
    big = np.where(free, excess + _ROUNDING * (1 + np.abs(rows.limit) + excess), 0.0)
    scenario, row = needed.nonzero()
    matrix = np.broadcast_to(rows.matrix, (*needed.shape, rows.matrix.shape[-1]))
    limit = np.broadcast_to(rows.limit - inside, needed.shape)
    assembly.rows(
        np.concatenate([matrix[scenario, row], -big[scenario, row, None]], axis=1)[:, None],
        np.concatenate([table[scenario], dropped[scenario, None]], axis=1),
        limit[scenario, row, None],
    )
    return dropped


def add_binaries(assembly: Assembly, task: SolveTask, hopeless: BoolArray) -> Columns:
    """Add q (s) and the row that limits their weight."""
    s, free = len(task.w), droppable(task)
    dropped = assembly.columns(hopeless.astype(float), (hopeless | free).astype(float), True)
    allowed = task.w.sum() - need(task)
    if (task.w == task.w[0]).all():  # whole numbers leave no room for tolerances
        assembly.rows(
            np.ones((1, 1, s)), dropped[None], np.array([[np.floor(allowed / task.w[0])]])
        )
    else:
        assembly.rows(task.w[None, None] * s, dropped[None], np.array([[allowed * s]]))
    return dropped


def _refuse_endless(form: Form, rows: Rows, found: ColumnBounds, excess: Array) -> None:
    if np.isfinite(excess).all():
        return
    read = (rows.matrix > 0) & np.isinf(found.high)[:, None]
    read |= (rows.matrix < 0) & np.isinf(found.low)[:, None]
    column = int(read.any(axis=(0, 1)).argmax())
    raise EndlessError(form, column, "rows that need not hold in every scenario read it")


def _tightened(task: SolveTask, rows: Rows, found: ColumnBounds) -> Array:
    """The quantile of the bounds that other scenarios imply: (s, r), +inf where too much work."""
    s, h = len(task.w), task.form.shared
    r = rows.many
    if s * s * r * h * (h + 1) > _WORK or len(rows.matrix) == 1:
        return np.full((s, r), np.inf)
    own = np.where(np.arange(rows.matrix.shape[-1]) >= h, rows.matrix, 0.0)
    beside = largest(own, found)  # what the columns of the scenario itself can add
    limit = rows.limit - smallest(own, found)
    low, high = found.low[0, :h], found.high[0, :h]
    if not (np.isfinite(low).all() and np.isfinite(high).all() and np.isfinite(limit).all()):
        return np.full((s, r), np.inf)
    shared = rows.matrix[..., :h]
    limit = np.broadcast_to(limit, (s, r))
    most = np.full((s, r), np.inf)
    stop = _part_of_the_time(task.limits.deadline)
    for scenario in range(s):
        if time.perf_counter() >= stop:
            break
        bounds = _knapsack(shared[scenario], shared, limit, low, high)
        bounds[scenario] = -np.inf  # it is another's turn where this one is dropped
        most[scenario] = quantile(bounds, task.w, need(task))
    excess: Array = most + beside - rows.limit
    return excess


def _part_of_the_time(deadline: float | None) -> float:
    now = time.perf_counter()
    return np.inf if deadline is None else now + _SHARE * (deadline - now)


def _knapsack(value: Array, weight: Array, limit: Array, low: Array, high: Array) -> Array:
    """max value . v s.t. weight_k . v <= limit_k, low <= v <= high: (r, h), (k, r, h) -> (k, r).

    By its dual, min over lam >= 0 of lam limit + (value - lam weight)^+ . (high - low), whose
    minimum is at 0 or where a term turns.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        turns = value / weight
    turns = np.where(np.isfinite(turns) & (turns > 0), turns, 0.0)
    multipliers = np.concatenate([turns, np.zeros((*limit.shape, 1))], axis=-1)
    terms = value[:, None] - multipliers[..., None] * weight[:, :, None]  # (k, r, turns, h)
    np.maximum(terms, 0.0, out=terms)
    spare = limit - weight @ low
    bounds = (terms @ (high - low) + multipliers * spare[..., None]).min(axis=-1)
    bound: Array = bounds + value @ low
    return bound
