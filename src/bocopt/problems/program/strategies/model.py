"""The extensive form: one program with the columns and rows of all scenarios.

    columns   v, y_1 .. y_s;  q_s where rows may be dropped;  what the risk needs
    rows      certain; defining_s; uncertain_s, all of them or as a chance constraint

With a payment p where rows are dropped, what is paid is a column theta_s >= cost_s - M q_s,
theta_s >= L_s + (p - L_s) q_s, where L_s bounds the cost from below. The solver may then drop a
scenario whose rows hold: the bound stays valid, and the value is the judge's.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.problems.program.form import EndlessError, Form, Judged, Rows, SolveTask, Sparse
from bocopt.problems.program.highs import INF, LinearProgram
from bocopt.problems.program.strategies import bigm
from bocopt.problems.program.strategies.assembly import Assembly, Columns
from bocopt.problems.program.strategies.bounds import ColumnBounds, box, largest, smallest
from bocopt.problems.risk import TailMean, tail_means_of

_INSIDE = 1e-7  # how far inside its limits a decision is sought when the judge refused the first
ChanceRows = Callable[[Assembly, SolveTask, Columns, Array], Columns | None]
Charge = Callable[[Assembly, SolveTask, "ScenarioCosts"], float]


class ExtensiveModel(NamedTuple):
    """A program and where its parts stand; z is its first columns."""

    linear: LinearProgram
    dropped: Columns | None = None  # (s) the columns that say which scenarios need not hold

    def start(self, z: Array, judged: Judged) -> Array:
        """Return a point (n) to start from: z, and which scenarios are dropped; NaN elsewhere."""
        point = np.full(len(self.linear.cost), np.nan)
        point[: len(z)] = z
        if self.dropped is not None:
            point[self.dropped] = judged.violations > 0
        return point


class ScenarioCosts(NamedTuple):
    """Costs paid in each scenario: constant + cost . columns."""

    constant: Array  # (s)
    cost: Array  # (s, m)
    table: Columns  # (s, m)


def charge_tail_means(assembly: Assembly, task: SolveTask, priced: ScenarioCosts) -> float:
    """Charge the risk of what is paid: -> its constant part."""
    parts = tail_means_of(task.risk)
    return float(sum(_charged(assembly, task.w, priced, part) for part in parts))


def of_all(
    task: SolveTask, chance_rows: ChanceRows, inside: bool, charge: Charge = charge_tail_means
) -> ExtensiveModel:
    """The extensive form, with the rows that may be dropped as `chance_rows` has them.

    `charge` adds the risk of what is paid in each scenario, and returns its constant part.
    """
    form, s, h = task.form, len(task.w), task.form.shared
    assembly = Assembly()
    shared = assembly.columns(form.lower[:h], form.upper[:h], form.integer[:h])
    own = assembly.columns(np.tile(form.lower[h:], (s, 1)), form.upper[h:], form.integer[h:])
    table = np.concatenate([np.broadcast_to(shared, (s, h)), own], axis=1)
    _hold(assembly, form, form.certain, table[:1, :h], inside)
    _hold(assembly, form, form.defining, table, inside)
    dropped = None
    if form.uncertain.many and bigm.droppable(task).any():
        dropped = chance_rows(assembly, task, table, _margin(form, form.uncertain, inside))
    else:
        _hold(assembly, form, form.uncertain, table, inside)
    offset = charge(assembly, task, _priced(assembly, task, table, dropped))
    return ExtensiveModel(assembly.linear(offset), dropped)


def _hold(assembly: Assembly, form: Form, rows: Rows, table: Columns, inside: bool) -> None:
    """Add rows that hold in every scenario."""
    if not rows.many:
        return
    upper = rows.limit - _margin(form, rows, inside)
    if len(rows.matrix) == len(upper) == 1 and not rows.matrix[..., form.shared :].any():
        table = table[:1]
    assembly.rows(rows.matrix, table, upper, np.where(rows.equal, upper, -INF))


def _margin(form: Form, rows: Rows, inside: bool) -> Array:
    """Return the margins (s or 1, r) inside the limits of rows: those of integer columns alone."""
    if not inside:
        return np.zeros((1, rows.many))
    whole = ~((rows.matrix != 0) & ~form.integer[: rows.matrix.shape[-1]]).any(axis=(0, 2))
    margin: Array = np.where(whole & ~rows.equal, _INSIDE * np.maximum(1, np.abs(rows.limit)), 0.0)
    return margin


def _priced(
    assembly: Assembly, task: SolveTask, table: Columns, dropped: Columns | None
) -> ScenarioCosts:
    """Return the cost paid in each scenario, as columns: the cost itself, or theta."""
    form, s = task.form, len(task.w)
    cost, constant = np.broadcast_to(form.cost, table.shape), np.broadcast_to(form.constant, s)
    if dropped is None or task.infeasible_objective is None:
        return ScenarioCosts(constant, cost, table)
    found = box(form, task.w, bigm.need(task))
    least = smallest(form.cost[:, None], found)[:, 0] + constant
    most = largest(form.cost[:, None], found)[:, 0] + constant
    _refuse_endless(form, found, np.where(np.isfinite(least), most, least))
    paid = assembly.columns(np.minimum(least, task.infeasible_objective), np.full(s, INF))
    one, beyond = np.ones((s, 1)), np.maximum(most - task.infeasible_objective, 0.0)
    assembly.rows(
        np.concatenate([cost, -beyond[:, None], -one], axis=1)[:, None],
        np.concatenate([table, dropped[:, None], paid[:, None]], axis=1),
        -constant[:, None],
    )
    assembly.rows(
        np.stack([task.infeasible_objective - least, -one[:, 0]], axis=1)[:, None],
        np.stack([dropped, paid], axis=1),
        -least[:, None],
    )
    return ScenarioCosts(np.zeros(s), one, paid[:, None])


def _refuse_endless(form: Form, found: ColumnBounds, bounds: Array) -> None:
    if np.isfinite(bounds).all():
        return
    endless = np.isinf(found.low).any(axis=0) | np.isinf(found.high).any(axis=0)
    column = int((endless & (form.cost != 0).any(axis=0)).argmax())
    raise EndlessError(
        form, column, "it is part of a cost that is not paid where `infeasible_objective` is"
    )


def _charged(assembly: Assembly, w: Array, priced: ScenarioCosts, part: TailMean) -> float:
    """Charge the mean of some worst scenarios: -> its constant part."""
    s, (weight, share) = len(w), part
    if share == 1.0:
        assembly.charge(priced.table, weight * w[:, None] * priced.cost)
        return weight * float(w @ priced.constant)
    threshold = assembly.columns(np.full(1, -INF), np.full(1, INF))
    assembly.charge(threshold, weight)
    extra = [np.broadcast_to(threshold, (s, 1))]
    if share:
        above = assembly.columns(np.zeros((s, 1)), np.full((s, 1), INF))
        assembly.charge(above, weight * w[:, None] / (share * w.sum()))
        extra.append(above)
    assembly.rows(
        np.concatenate([priced.cost, -np.ones((s, len(extra)))], axis=1)[:, None],
        np.concatenate([priced.table, *extra], axis=1),
        -priced.constant[:, None],
    )
    return 0.0


def of_one(form: Form, inside: bool) -> ExtensiveModel:
    """The program of one scenario: no risk, nothing to drop."""
    rows = _stacked([r for r in (form.certain, form.defining, form.uncertain) if r.many], form)
    upper = (rows.limit - _margin(form, rows, inside))[0] if inside else rows.limit[0]
    linear = LinearProgram(
        cost=form.cost[0],
        lower=form.lower,
        upper=form.upper,
        rows=rows.sparse or Sparse.of(rows.matrix[0]),
        row_lower=np.where(rows.equal, upper, -INF),
        row_upper=upper,
        integer=form.integer if form.integer.any() else None,
        offset=float(form.constant[0]),
    )
    return ExtensiveModel(linear)


def _stacked(blocks: list[Rows], form: Form) -> Rows:
    """All rows of one scenario as one block."""
    n = len(form.lower)
    if len(blocks) == 1 and blocks[0].matrix.shape[-1] == n:
        return blocks[0]
    matrix = np.zeros((1, sum(rows.many for rows in blocks), n))
    first = 0
    for rows in blocks:
        matrix[:, first : first + rows.many, : rows.matrix.shape[-1]] = rows.matrix[:1]
        first += rows.many
    limit = np.concatenate([np.zeros((1, 0)), *(rows.limit[:1] for rows in blocks)], axis=1)
    equal = np.concatenate([np.zeros(0, bool), *(rows.equal for rows in blocks)])
    return Rows(matrix, limit, equal)
