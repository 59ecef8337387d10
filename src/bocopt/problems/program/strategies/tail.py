"""Risks of the worst scenarios, as hinges of one more column t for each share of them.

    a share of them   min  t + sum_s w_s pos(cost_s(v) - t) / share
    the worst one     min  t   s.t.  cost_s(v) - t <= 0
    all of them       the mean, as it is

Reference: Rockafellar, Uryasev, Optimization of conditional value-at-risk, 2000.
"""

import numpy as np

from bocopt.problems.program.form import BestFound, SolveTask
from bocopt.problems.program.strategies import bundles
from bocopt.problems.program.strategies.fixed import (
    Relaxation,
    answered,
    expected,
    mean,
    shrunk,
    together,
    without_stages,
)
from bocopt.problems.program.strategies.hinged import Hinged, Hinges
from bocopt.problems.risk import tail_means_of


def applies(task: SolveTask) -> bool:
    """Return whether the risk is a tail of costs, linear in columns decided before xi."""
    return not expected(task) and without_stages(task)


def solve(task: SolveTask) -> BestFound:
    """One hinge for each scenario."""
    program = _program(task)

    def relaxed(inside: float) -> Relaxation:
        """Return the solution with rows of integer columns by `inside` within their limits."""
        tightened = shrunk(program.rows, program.integer, inside)
        return bundles.best(program._replace(rows=tightened), task, alike=False)

    return answered(task, relaxed)


def _program(task: SolveTask) -> Hinged:
    """Columns v, and t of each tail."""
    form, w, s, h = task.form, task.w, len(task.w), task.form.shared
    rows = together(form, form.certain, form.defining, form.uncertain)
    parts = tail_means_of(task.risk)
    tails, of_all = [p for p in parts if p.share < 1.0], [p for p in parts if p.share == 1.0]
    many = len(tails)
    cost, offset = np.zeros(h), 0.0
    for part in of_all:
        cost = cost + part.weight * mean(form.cost, w)
        offset += part.weight * float(mean(form.constant, w))
    slope = np.zeros((many, s, h + many))
    slope[:, :, :h] = form.cost
    for j in range(many):
        slope[j, :, h + j] = -1.0
    most = [p.weight * w / (p.share * w.sum()) if p.share else np.full(s, np.inf) for p in tails]
    knee = np.tile(-np.broadcast_to(form.constant, s), many)
    group = np.repeat(np.arange(many), s)
    return Hinged(
        np.append(cost, [part.weight for part in tails]),
        offset,
        np.append(form.lower, np.full(many, -np.inf)),
        np.append(form.upper, np.full(many, np.inf)),
        np.append(form.integer, np.zeros(many, bool)),
        rows._replace(matrix=np.pad(rows.matrix, ((0, 0), (0, many)))),
        Hinges(
            slope.reshape(many * s, h + many), knee, np.concatenate([np.zeros(0), *most]), group
        ),
    )
