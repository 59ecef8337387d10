"""A feasible decision first, and a bound: what a chance-constrained program begins with.

1. The relaxation of the program is a bound, and says which scenarios it would rather drop.
2. Drop these, as far as 1 - alpha goes, and solve with the rows of all others.
3. Dropped scenarios that hold all the same leave room for others: those with the largest duals.
4. Round, and improve by integer moves.
"""

import time

import numpy as np

from bocopt.core import Array, BoolArray
from bocopt.problems.program import highs
from bocopt.problems.program.form import BestFound, Form, Rows, SolveTask, tidied
from bocopt.problems.program.strategies import bigm
from bocopt.problems.program.strategies.assembly import Assembly, Columns
from bocopt.problems.program.strategies.bigm import need
from bocopt.problems.program.strategies.bounds import inequalities
from bocopt.problems.program.strategies.model import ExtensiveModel, of_all

_ROUNDS = 4  # of dropping by duals
_NODES = 20  # to round a decision
_GAP = 0.002
_HOLDS = 1e-7  # up to this, a row holds
_WORK = 20_000_000  # products that moves may take in all
_CHUNK = 500_000  # products at a time


def first_decision(task: SolveTask, model: ExtensiveModel) -> BestFound:
    """A feasible decision, if one is found soon, and the bound of the relaxation."""
    if model.dropped is None:
        return BestFound(None, -np.inf)
    deadline, all_kept = task.limits.deadline, np.ones(len(task.w), bool)
    cautious = None if deadline is None else _rounded(task, all_kept)
    relaxed = highs.solve(model.linear._replace(integer=None), deadline=deadline)
    if relaxed.point is None:
        return BestFound(cautious, relaxed.bound)
    kept = _chosen(task, _without(task, all_kept, relaxed.point[model.dropped]))
    bold = None if kept is None else _rounded(task, kept)
    return BestFound(cautious if bold is None else improved(task, bold), relaxed.bound)


def _chosen(task: SolveTask, kept: BoolArray) -> BoolArray | None:
    """The scenarios to keep, after as many others have been dropped as may be."""
    for _ in range(_ROUNDS):
        sub = _PartialProgram(task, kept)
        found = highs.solve(sub.model()._replace(integer=None), deadline=task.limits.deadline)
        if found.point is None:
            return None
        holds = kept | _rows_hold(task, found.point)
        fewer = _without(task, holds, sub.prices(found.row_dual))
        if (fewer == holds).all():
            break
        kept = fewer
    return kept


def _without(task: SolveTask, kept: BoolArray, wish: Array) -> BoolArray:
    """Drop more scenarios, those with the largest wish first, while the weight allows it."""
    room = task.w.sum() - bigm.need(task) - task.w[~kept].sum()
    order = (-wish).argsort(kind="stable")
    order = order[kept[order] & (wish[order] > 0)]
    dropped = order[np.cumsum(task.w[order]) <= room + 1e-15]
    fewer = kept.copy()
    fewer[dropped] = False
    return fewer


def _rows_hold(task: SolveTask, point: Array) -> BoolArray:
    """Scenarios whose rows hold at v, where they have no columns for themselves: (s)."""
    form, rows = task.form, task.form.uncertain
    s, h = len(task.w), form.shared
    if rows.matrix[..., h:].any():
        return np.zeros(s, bool)
    value = rows.matrix[..., :h] @ point[:h]
    over = np.where(rows.equal, np.abs(value - rows.limit), value - rows.limit)
    return np.broadcast_to((over <= _HOLDS).all(axis=1), (s,))


def _rounded(task: SolveTask, kept: BoolArray) -> Array | None:
    for inside in (False, True):
        model = _PartialProgram(task, kept).model(inside)
        found = highs.solve(model, nodes=_NODES, gap=_GAP, deadline=task.limits.deadline)
        if found.point is None:
            return None
        z = tidied(found.point[: task.form.size], task.form)
        if task.judge(z).met:
            return z
    return None


class _PartialProgram:
    """The program where the rows of some scenarios hold, and the others do not matter."""

    def __init__(self, task: SolveTask, kept: BoolArray) -> None:
        self._task = task._replace(infeasible_objective=None)
        self._scenarios = kept.nonzero()[0]
        self._owner = np.zeros(0, np.intp)  # the scenario of each of these rows
        self._first = 0

    def model(self, inside: bool = False) -> highs.LinearProgram:
        """Return the linear program with the rows of the kept scenarios."""
        return of_all(self._task, self._add_rows, inside).linear

    def prices(self, row_dual: Array) -> Array:
        """Return the prices (s) of the rows of each scenario: the sums of their absolute duals."""
        duals = np.abs(row_dual[self._first : self._first + len(self._owner)])
        prices = np.zeros(len(self._task.w))
        np.add.at(prices, self._owner, duals)
        return prices

    def _add_rows(
        self, assembly: Assembly, task: SolveTask, table: Columns, inside: Array
    ) -> Columns | None:
        form, rows, scenarios = task.form, task.form.uncertain, self._scenarios
        upper = np.broadcast_to(rows.limit - inside, (len(task.w), rows.many))[scenarios]
        lower = np.where(rows.equal, upper, -highs.INF)
        self._first = assembly.height
        if _same_rows(form, rows):
            self._owner = scenarios[upper.argmin(axis=0)]
            assembly.rows(rows.matrix, table[:1], upper.min(axis=0, keepdims=True))
        else:
            self._owner = np.repeat(scenarios, rows.many)
            matrix = rows.matrix if len(rows.matrix) == 1 else rows.matrix[scenarios]
            assembly.rows(matrix, table[scenarios], upper, lower)
        return None


def _same_rows(form: Form, rows: Rows) -> bool:
    alike = len(rows.matrix) == 1 and not rows.equal.any()
    return alike and not rows.matrix[..., form.shared :].any()


def improved(task: SolveTask, z: Array) -> Array:
    """The decision after moves that the judge accepts, or the same."""
    form = task.form
    if len(form.lower) != form.size or not form.integer.all() or not form.uncertain.many:
        return z
    value = task.judge(z).value
    size = max(task.w.size * form.uncertain.many, 1)
    moves = _moves(task)
    left, at, since = _WORK // size, 0, 0
    step = max(1, _CHUNK // size)
    while left > 0 and since < len(moves) and not _late(task):
        some = moves[at : at + step]
        left -= len(some)
        since += len(some)
        at = (at + step) % len(moves) if at + step < len(moves) else 0
        for move in some[_possible(task, z, some)]:
            further, less = _along(task, z, value, move)
            if less < value:
                z, value, since = further, less, 0
    return z


def _along(task: SolveTask, z: Array, value: float, move: Array) -> tuple[Array, float]:
    """The same move for as long as the judge accepts it and it pays."""
    while True:
        judged = task.judge(z + move)
        if not judged.met or judged.value >= value:
            return z, value
        z, value = z + move, judged.value


def _late(task: SolveTask) -> bool:
    deadline = task.limits.deadline
    return deadline is not None and time.perf_counter() >= deadline


def _moves(task: SolveTask) -> Array:
    """All moves by 1 that lower the expected cost, the best first: (m, d)."""
    d = task.form.size
    steps = np.concatenate([np.eye(d), -np.eye(d)])
    first, second = np.triu_indices(2 * d, 1)
    pairs = steps[first] + steps[second]
    moves = np.concatenate([steps, pairs[np.abs(pairs).sum(axis=1) == 2]])
    gain = moves @ (task.w @ np.broadcast_to(task.form.cost, (len(task.w), d)))
    order = gain.argsort(kind="stable")
    return moves[order[gain[order] < 0]]


def _possible(task: SolveTask, z: Array, moves: Array) -> Columns:
    """Places of the moves that stay in the box and hold in enough weight."""
    form, rows = task.form, inequalities(task.form.uncertain)
    after = z + moves
    inside = np.flatnonzero(np.all((after >= form.lower) & (after <= form.upper), axis=1))
    spare = rows.limit - rows.matrix @ z  # (s, r)
    change = rows.matrix @ moves[inside].T  # (s or 1, r, m)
    holds = (change <= spare[..., None]).all(axis=1)  # (s, m)
    enough = task.w @ np.broadcast_to(holds, (len(task.w), len(inside))) >= need(task) - 1e-9
    return inside[enough]
