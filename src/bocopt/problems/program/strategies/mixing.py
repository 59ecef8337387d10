"""A chance constraint where only limits differ between scenarios: the mixing-set formulation.

A row is T v <= b_s unless s is dropped. Its limits, sorted, have levels b_1 < b_2 < ... Scenarios
below the last levels weigh more than 1 - alpha together, so one level L always holds, and

    T v <= b_1 + sum over l < L of (b_l+1 - b_l) p_l,     1 >= p_1 >= p_2 >= ... >= 0
    p_l <= q_s                                             for each scenario s at level l

says that a level may be exceeded only if all scenarios at it and below are dropped. No M is needed
and its relaxation is as strong as that of one row can be. Reference: Luedtke, Ahmed, Nemhauser, An
integer programming approach for linear programs with probabilistic constraints, 2010.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray
from bocopt.problems.program.form import BestFound, Form, Rows, SolveTask
from bocopt.problems.program.strategies import bigm
from bocopt.problems.program.strategies.assembly import Assembly, Columns
from bocopt.problems.program.strategies.model import ExtensiveModel, of_all
from bocopt.problems.program.strategies.recheck import settled
from bocopt.problems.program.strategies.start import first_decision

_LARGEST_WHOLE = 2.0**40  # products of such numbers are exact


class Levels(NamedTuple):
    """The limits of one row that may be exceeded, and the one that may not."""

    limit: Array  # (l + 1) increasing
    scenario: Columns  # the scenarios below the last limit
    level: Columns  # and the level of each


def applies(task: SolveTask) -> bool:
    """Return whether uncertain rows differ in limits alone, and no cost depends on what holds."""
    form = task.form
    uncertain = form.uncertain
    return (
        uncertain.many > 0
        and task.infeasible_objective is None
        and len(uncertain.matrix) == 1
        and not uncertain.equal.any()
        and not uncertain.matrix[..., form.shared :].any()
        and bool(bigm.droppable(task).any())
    )


def solve(task: SolveTask) -> BestFound:
    """The best decision within the limits."""
    return settled(task, lambda inside: model(task, inside), first_decision)


def model(task: SolveTask, inside: bool = False) -> ExtensiveModel:
    """The extensive form with mixing sets."""
    return of_all(task, add_rows, inside)


def add_rows(assembly: Assembly, task: SolveTask, table: Columns, inside: Array) -> Columns:
    """Add the uncertain rows and their binaries: -> the columns q (s), 1 where rows are dropped."""
    form, rows = task.form, task.form.uncertain
    limits = rounded(form, rows) - inside
    every = [_levels(limits[:, row], task) for row in range(rows.many)]
    useful = np.zeros(len(task.w), bool)
    for levels in every:
        useful[levels.scenario] = True
    dropped = bigm.add_binaries(assembly, task, np.zeros(len(task.w), bool))
    assembly.tighten(dropped[~useful], np.zeros((~useful).sum()), np.zeros((~useful).sum()))
    shared = table[0, : form.shared]
    for row, levels in enumerate(every):
        _mix(assembly, rows.matrix[0, row, : form.shared], shared, levels, dropped)
    return dropped


def rounded(form: Form, rows: Rows) -> Array:
    """Limits of rows whose coefficients and columns are whole may be whole too: (s, r)."""
    matrix = rows.matrix[0]
    whole: BoolArray = ((matrix == np.rint(matrix)) & (np.abs(matrix) < _LARGEST_WHOLE)) & (
        form.integer | (matrix == 0)
    )
    limits: Array = np.where(whole.all(axis=1), np.floor(rows.limit), rows.limit)
    return limits


def _levels(limit: Array, task: SolveTask) -> Levels:
    """(s) -> the levels of a row."""
    allowed = task.w.sum() - bigm.need(task)
    distinct, level = np.unique(limit, return_inverse=True)
    dropped = np.cumsum(np.bincount(level, task.w))  # where a level and all below it are
    last = int((dropped <= allowed + 1e-9).sum())
    below = (level < last).nonzero()[0]
    return Levels(distinct[: last + 1], below, level[below])


def _mix(assembly: Assembly, row: Array, shared: Columns, levels: Levels, dropped: Columns) -> None:
    steps = np.diff(levels.limit)
    passed = assembly.columns(np.zeros(len(steps)), np.ones(len(steps)))
    assembly.rows(
        np.concatenate([row, -steps])[None, None],
        np.concatenate([shared, passed])[None],
        levels.limit[None, :1],
    )
    lower, higher = passed[:-1], passed[1:]
    pairs = (
        np.stack([higher, lower], axis=1),
        np.stack([passed[levels.level], dropped[levels.scenario]], axis=1),
    )
    for pair in pairs:
        assembly.rows(np.array([[[1.0, -1.0]]]), pair, np.zeros((len(pair), 1)))
