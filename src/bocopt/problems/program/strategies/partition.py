"""The expected cost of two stages, where scenarios differ in limits and constants alone.

The best second stage is convex in its limits: one scenario with the mean limits of a group costs no
more than the group. So a program with few groups bounds the full one from below. It is exact where
all scenarios of a group have the same duals at its optimum: groups are split by their duals there.

Where integers are decided first, programs with many groups take long. There each decision first
gives a cut: a plane below the expected second stage that touches it at the decision. Few of them
do, because the program has a mean scenario beside them; groups are split when they do not.

References: Song, Luedtke, An adaptive partition-based approach for solving two-stage stochastic
programs with fixed recourse, 2015; Crainic, Hewitt, Maggioni, Rei, Partial Benders decomposition,
2021.
"""

from time import perf_counter
from typing import NamedTuple

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.problems.program import highs, second_stage
from bocopt.problems.program.form import BestFound, Form, SolveTask, Sparse, tidied
from bocopt.problems.program.strategies.fixed import (
    Relaxation,
    RowSystem,
    answered,
    close,
    expected,
    mean,
    own_columns,
    shrunk,
    solved,
    stacked,
    sums,
    together,
)

_DIGITS = 9  # to which duals are compared
_WITHIN = 1e-7  # by which rows of the second stage may fail, because HiGHS rounds v
_CUTS = 30  # in a row, before groups are split


class Cut(NamedTuple):
    """The expected cost of the second stage is at least level + slope . v."""

    slope: Array  # (h)
    level: float


def applies(task: SolveTask) -> bool:
    """Return whether there is a second stage without integers that differs in limits alone."""
    form = task.form
    return (
        expected(task)
        and (task.risk.alpha == 1 or not form.uncertain.many)
        and own_columns(form) > 0
        and not form.integer[form.shared :].any()
        and len(form.cost) == 1
        and len(form.defining.matrix) == 1
        and len(form.uncertain.matrix) == 1
    )


def solve(task: SolveTask) -> BestFound:
    """Split groups until the bound meets the value."""
    form = task.form
    rows = together(form, form.certain)

    def relaxed(inside: float) -> Relaxation:
        """Return the solution with rows of integer columns by `inside` within their limits."""
        return _narrowed(task, shrunk(rows, form.integer[: form.shared], inside))

    return answered(task, relaxed)


def _narrowed(task: SolveTask, rows: RowSystem) -> Relaxation:
    """Begin with all scenarios in one group."""
    form, w = task.form, task.w
    groups, cuts = np.zeros(len(w), np.int64), list[Cut]()
    chosen, lowest, bound, spare = None, np.inf, -np.inf, 0.0
    while True:
        program = _with_cuts(_grouped(form, rows, w, groups), form.shared, cuts)
        columns, least, limited = solved(program, task, spare, chosen)
        bound = max(bound, least)
        if columns is None:
            return Relaxation(chosen, bound)
        v = columns[: form.shared]
        v[: form.size] = tidied(v[: form.size], form)
        began = perf_counter()
        stage = _of_all(second_stage.best(form, v[None], _WITHIN), len(w))
        spare = perf_counter() - began  # for the next decision
        value = float(w @ stage.cost)
        if value <= lowest:
            chosen, lowest = v, value
        finer = _split(groups, stage)
        done = limited or close(lowest, bound, task.limits.gap / 2)
        if done or (finer == groups).all():
            return Relaxation(chosen, bound)
        if np.isfinite(value) and form.integer.any() and not groups.any() and len(cuts) < _CUTS:
            cuts.append(_cut(form, w, v, stage))
        else:
            groups, cuts = finer, []  # beside many groups, cuts would make the program slow


def _of_all(stage: second_stage.Recourse, many: int) -> second_stage.Recourse:
    """Broadcast the second stage to `many` scenarios: one stands for all where none differ."""
    parts = (np.broadcast_to(part, (many, *part.shape[1:])) for part in stage)
    return second_stage.Recourse(*parts)


def _cut(form: Form, w: Array, v: Array, stage: second_stage.Recourse) -> Cut:
    """Return the cut by the duals at v (h), which are feasible wherever v is."""
    h = form.shared
    matrix = np.concatenate([form.defining.matrix[0, :, :h], form.uncertain.matrix[0, :, :h]])
    slope: Array = -(w @ stage.dual) @ matrix
    first = float(mean(form.constant, w) + form.cost[0, :h] @ v * w.sum())
    return Cut(slope, float(w @ stage.cost) - first - float(slope @ v))


def _with_cuts(program: highs.LinearProgram, shared: int, cuts: list[Cut]) -> highs.LinearProgram:
    """The same, with one column more: what the others cost beyond the shared ones, by cuts too."""
    if not cuts:
        return program
    many, later = len(program.cost), program.cost[shared:]
    above = np.concatenate([later, [-1.0]])[None]
    below = np.array([[*cut.slope, -1.0] for cut in cuts])
    return program._replace(
        cost=np.concatenate([program.cost[:shared], np.zeros(len(later)), [1.0]]),
        lower=np.append(program.lower, -np.inf),
        upper=np.append(program.upper, np.inf),
        rows=stacked(
            stacked(program.rows, _placed(above, np.arange(shared, many + 1))),
            _placed(below, np.append(np.arange(shared), many)),
        ),
        row_lower=np.concatenate([program.row_lower, np.full(1 + len(cuts), -np.inf)]),
        row_upper=np.concatenate([program.row_upper, [0.0], [-cut.level for cut in cuts]]),
        integer=None if program.integer is None else np.append(program.integer, False),
    )


def _placed(matrix: Array, columns: IntArray) -> Sparse:
    """Return a matrix (r, m) as rows of some columns (m) of a larger program."""
    rows = Sparse.of(matrix)
    return rows._replace(column=columns[rows.column].astype(np.int32))


def _split(groups: IntArray, stage: second_stage.Recourse) -> IntArray:
    """(s) Groups of scenarios that were together, and have the same duals."""
    duals = stage.dual.round(_DIGITS) + 0.0  # no negative zeros
    marks = np.column_stack([groups, duals, np.isinf(stage.cost)])
    return np.unique(marks, axis=0, return_inverse=True)[1]


def _grouped(form: Form, rows: RowSystem, w: Array, groups: IntArray) -> highs.LinearProgram:
    """The program with one scenario for each group: columns v, then those of each group."""
    h, weight = form.shared, sums(groups, w)
    many = len(weight)
    matrix = np.concatenate([form.defining.matrix[0], form.uncertain.matrix[0]])
    limit = np.concatenate(
        [_means(part.limit, w, groups, weight) for part in (form.defining, form.uncertain)], axis=1
    )
    equal = np.concatenate([form.defining.equal, form.uncertain.equal])
    integer = np.concatenate([form.integer[:h], np.zeros(many * own_columns(form), bool)])
    return highs.LinearProgram(
        np.concatenate([form.cost[0, :h] * w.sum(), np.outer(weight, form.cost[0, h:]).ravel()]),
        np.concatenate([form.lower[:h], np.tile(form.lower[h:], many)]),
        np.concatenate([form.upper[:h], np.tile(form.upper[h:], many)]),
        stacked(Sparse.of(rows.matrix), _blocks(matrix, h, many)),
        np.concatenate([rows.least, np.where(equal, limit, -np.inf).ravel()]),
        np.concatenate([rows.limit, limit.ravel()]),
        integer if integer.any() else None,
        float(mean(form.constant, w)),
    )


def _means(limit: Array, w: Array, groups: IntArray, weight: Array) -> Array:
    """(s or 1, r) -> (g, r) the mean limits of each group."""
    if len(limit) == 1:
        return np.repeat(limit, len(weight), axis=0)
    means = [sums(groups, w * part) / weight for part in limit.T]
    return np.stack(means, axis=1) if means else np.zeros((len(weight), 0))


def _blocks(matrix: Array, shared: int, many: int) -> Sparse:
    """(r, n) -> its rows again and again, each time with other columns beyond the shared ones."""
    once, own = Sparse.of(matrix), matrix.shape[1] - shared
    block = np.arange(many)[:, None]
    column = once.column + np.where(once.column >= shared, own * block, 0)
    return Sparse(
        (once.start + len(once.value) * block).ravel().astype(np.int32),
        column.ravel().astype(np.int32),
        np.tile(once.value, many),
    )
