"""The second stage: the best of what each scenario has for itself, once v is decided.

    min over y  constant_s + cost_s . (v, y)   s.t.  the defining and uncertain rows of scenario s

Where scenarios differ in limits alone, an optimal basis of one is optimal for all in which its
point is feasible: one simplex run serves them all (bunching; Wets 1983).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray, IntArray
from bocopt.numeric.recent import Recent
from bocopt.problems.program import highs
from bocopt.problems.program.form import Form, Sparse


class Recourse(NamedTuple):
    """The second stage of s scenarios; r rows: the defining ones, then the uncertain ones."""

    cost: Array  # (s) +inf where the rows cannot hold, -inf where nothing bounds it
    lack: Array  # (s) by how much the rows fail to hold at best; 0 where they can
    dual: Array  # (s, r) what a unit more of a limit changes in the cost; if infinite, in the lack


class RecourseProgram(NamedTuple):
    """min cost . y  s.t.  least <= matrix y <= limit  for s scenarios at once."""

    cost: Array  # (s or 1, m)
    lower: Array  # (m)
    upper: Array  # (m)
    integer: BoolArray  # (m)
    matrix: Array  # (s or 1, r, m)
    least: Array  # (s, r) -inf, or the limit where the row is an equation
    limit: Array  # (s, r)

    @property
    def alike(self) -> bool:
        """True where scenarios differ in their limits alone, and no column is integer."""
        return len(self.cost) == 1 and len(self.matrix) == 1 and not self.integer.any()

    def of(self, scenarios: IntArray | BoolArray) -> "RecourseProgram":
        """Some of its scenarios."""
        return self._replace(
            cost=self.cost if len(self.cost) == 1 else self.cost[scenarios],
            matrix=self.matrix if len(self.matrix) == 1 else self.matrix[scenarios],
            least=self.least[scenarios],
            limit=self.limit[scenarios],
        )


class Optima(NamedTuple):
    """Optimal values of s scenarios, and their duals."""

    value: Array  # (s) +inf: infeasible, -inf: unbounded
    dual: Array  # (s, r)


def best(form: Form, v: Array, within: float = 0.0) -> Recourse:
    """(s or 1, h) -> the best second stage of each scenario; rows may fail by `within`.

    >>> from bocopt.problems.program.form import Rows
    >>> none = Rows(np.zeros((1, 0, 2)), np.zeros((1, 0)), np.zeros(0, bool))
    >>> buy = Rows(np.array([[[-1.0, -1.0]]]), np.array([[-3.0], [-7.0]]), np.zeros(1, bool))
    >>> two, lot, few = np.zeros(2), np.full(2, 9.0), np.zeros(2, bool)
    >>> zero, price = np.zeros(1), np.array([[1.0, 4.0]])
    >>> form = Form(two, lot, few, 1, 1, zero, price, none, buy, none)
    >>> best(form, np.array([[5.0]])).cost.tolist()  # 5, and two more at 4 in the second scenario
    [5.0, 13.0]
    """
    stage, paid = second_stage(form, v)
    value, dual, lack = (part.copy() for part in _LATEST.answer(form, (v,), lambda: _tried(stage)))
    near = np.flatnonzero(np.isposinf(value) & (lack <= within))
    if len(near):
        value[near], dual[near] = _one_by_one(_widened(stage.of(near), lack[near]))
    return Recourse(paid + value, lack, dual)


_LATEST = Recent(1)  # a way asks about the decision that it answers with, and then the judge does


def _tried(stage: RecourseProgram) -> tuple[Array, Array, Array]:
    """Values and duals where the rows can hold; elsewhere +inf, and lacks with their duals."""
    value, dual = _optima(stage)
    lack, fails = np.zeros(len(value)), np.flatnonzero(np.isposinf(value))
    if len(fails):
        least = _optima(_elastic(stage.of(fails)))
        lack[fails], dual[fails] = least.value, _folded(least.dual, stage)
    return value, dual, lack


def _beside(matrices: Sequence[Array], columns: int) -> Array:
    """Return one matrix (s or 1, r, columns) of the rows of all; no rows where there are none."""
    width = max((len(matrix) for matrix in matrices), default=1)
    wide = [np.broadcast_to(matrix, (width, *matrix.shape[1:])) for matrix in matrices]
    return np.concatenate(wide or [np.zeros((1, 0, columns))], axis=1)


def second_stage(form: Form, v: Array) -> tuple[RecourseProgram, Array]:
    """(s or 1, h) -> the programs of y once v is decided, and what v costs already (s)."""
    h = form.shared
    rows = (form.defining, form.uncertain)
    most = max(len(part) for row in rows for part in row[:2])
    s = max(len(v), len(form.constant), len(form.cost), most)
    left = [row.limit - (row.matrix[..., :h] @ v[:, :, None])[..., 0] for row in rows]
    limit = np.concatenate([np.broadcast_to(part, (s, part.shape[-1])) for part in left], axis=1)
    stage = RecourseProgram(
        form.cost[:, h:],
        form.lower[h:],
        form.upper[h:],
        form.integer[h:],
        _beside([row.matrix[..., h:] for row in rows if row.many], len(form.lower) - h),
        np.where(np.concatenate([row.equal for row in rows]), limit, -np.inf),
        limit,
    )
    paid = form.constant + (form.cost[:, :h] * v).sum(axis=-1)
    return stage, np.broadcast_to(paid, s)


def _optima(stage: RecourseProgram) -> Optima:
    return _in_bunches(stage) if stage.alike and len(stage.limit) > 1 else _one_by_one(stage)


def _one_by_one(stage: RecourseProgram) -> Optima:
    optima = _unsolved(stage)
    for i in range(len(stage.limit)):
        _note(optima, i, highs.solve(_linear(stage, i)))
    return optima


def _in_bunches(stage: RecourseProgram) -> Optima:
    """Solve a scenario, then all others that its basis serves, until none is left."""
    optima = _unsolved(stage)
    program = highs.Shifting(_linear(stage, 0))
    left = np.arange(len(stage.limit))
    while len(left):
        i, left = left[0], left[1:]
        found = program.solve(stage.least[i], stage.limit[i])
        _note(optima, i, found)
        if found.point is not None and len(left):
            value, served = _served(stage.of(left), found.point, *program.basis())
            optima.value[left[served]] = value[served]
            optima.dual[left[served]] = found.row_dual
            left = left[~served]
    return optima


def _served(
    stage: RecourseProgram, point: Array, basic: BoolArray, tight: BoolArray
) -> tuple[Array, BoolArray]:
    """(s) the values of a basis' points in all scenarios, and whether these are feasible."""
    matrix, cost = stage.matrix[0], stage.cost[0]
    resting = point.copy()
    resting[basic] = 0.0
    rest, free = matrix @ resting, matrix[:, basic]
    y = np.linalg.solve(free[tight], (stage.limit - rest)[:, tight].T).T
    activity = rest + y @ free.T
    misses = np.concatenate(
        [
            activity - stage.limit,
            stage.least - activity,
            stage.lower[basic] - y,
            y - stage.upper[basic],
        ],
        axis=1,
    )
    fits = misses.max(axis=1, initial=0.0) <= highs.FEASIBLE_WITHIN
    return y @ cost[basic] + cost @ resting, fits


def _unsolved(stage: RecourseProgram) -> Optima:
    return Optima(np.full(len(stage.limit), np.inf), np.zeros_like(stage.limit))


def _note(optima: Optima, i: int, found: highs.LinearSolution) -> None:
    if found.point is None:
        optima.value[i] = found.bound
    else:
        optima.value[i] = found.value
        if len(found.row_dual):  # integer columns have none
            optima.dual[i] = found.row_dual


def _linear(stage: RecourseProgram, i: int) -> highs.LinearProgram:
    return highs.LinearProgram(
        stage.cost[i if len(stage.cost) > 1 else 0],
        stage.lower,
        stage.upper,
        Sparse.of(stage.matrix[i if len(stage.matrix) > 1 else 0]),
        stage.least[i],
        stage.limit[i],
        stage.integer if stage.integer.any() else None,
    )


def _elastic(stage: RecourseProgram) -> RecourseProgram:
    """The least by which all rows must give way: one column more, and equations as two rows."""
    equal = np.isfinite(stage.least[0])
    matrix = np.concatenate([stage.matrix, -stage.matrix[:, equal]], axis=1)
    limit = np.concatenate([stage.limit, -stage.limit[:, equal]], axis=1)
    give = np.full((*matrix.shape[:2], 1), -1.0)
    return RecourseProgram(
        np.append(np.zeros(len(stage.lower)), 1.0)[None],
        np.append(stage.lower, 0.0),
        np.append(stage.upper, np.inf),
        np.append(stage.integer, False),
        np.concatenate([matrix, give], axis=2),
        np.full(limit.shape, -np.inf),
        limit,
    )


def _folded(dual: Array, stage: RecourseProgram) -> Array:
    """The duals of an elastic program for the rows that it was made from."""
    equal = np.isfinite(stage.least[0])
    folded = dual[:, : len(equal)].copy()
    folded[:, equal] -= dual[:, len(equal) :]
    return folded


def _widened(stage: RecourseProgram, lack: Array) -> RecourseProgram:
    room = lack[:, None] + 10 * highs.FEASIBLE_WITHIN
    return stage._replace(least=stage.least - room, limit=stage.limit + room)
