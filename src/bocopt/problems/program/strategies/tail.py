"""Risks of the worst scenarios, as hinges of one more column t.

    CVaR        min  t + sum_s w_s pos(cost_s(v) - t) / (1 - beta)
    WorstCase   min  t   s.t.  cost_s(v) - t <= 0

Reference: Rockafellar, Uryasev, Optimization of conditional value-at-risk, 2000.
"""

import numpy as np

from bocopt.problems.program.form import BestFound, SolveTask
from bocopt.problems.program.strategies import bundles
from bocopt.problems.program.strategies.fixed import (
    Relaxation,
    answered,
    expected,
    shrunk,
    together,
    without_stages,
)
from bocopt.problems.program.strategies.hinged import Hinged, Hinges
from bocopt.problems.risk import share_of_worst


def applies(task: SolveTask) -> bool:
    """Return whether the risk is a tail of costs, linear in columns decided before xi."""
    return not expected(task) and without_stages(task)


def solve(task: SolveTask) -> BestFound:
    """One hinge for each scenario."""
    program = _program(task)

    def relaxed(inside: float) -> Relaxation:
        """Return the solution with rows of integer columns by `inside` within their limits."""
        held = shrunk(program.rows, program.integer, inside)
        return bundles.best(program._replace(rows=held), task, alike=False)

    return answered(task, relaxed)


def _program(task: SolveTask) -> Hinged:
    """Columns v and t."""
    form, s, h = task.form, len(task.w), task.form.shared
    rows = together(form, form.certain, form.defining, form.uncertain)
    slope = np.full((s, h + 1), -1.0)
    slope[:, :h] = form.cost
    worst = share_of_worst(task.risk)
    most = task.w / (worst * task.w.sum()) if worst else np.full(s, np.inf)
    knee = -np.broadcast_to(form.constant, s)
    return Hinged(
        np.append(np.zeros(h), 1.0),
        0.0,
        np.append(form.lower, -np.inf),
        np.append(form.upper, np.inf),
        np.append(form.integer, False),
        rows._replace(matrix=np.pad(rows.matrix, ((0, 0), (0, 1)))),
        Hinges(slope, knee, most, np.zeros(s, np.int64)),
    )
