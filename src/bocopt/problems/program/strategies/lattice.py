"""Programs that are a knapsack: solved by the lattice search of `problems.knapsack`.

Where the scenarios are met, such a program earns c'z + q'(b - A z) with c, q >= 0, where they are
not, it earns a payment <= 0. So its costs are

    cost_s = q'A_s - c,   constant_s = -q'b,   infeasible_objective = -payment,

and c, q >= 0 are found from them by least squares. If all scenarios must be met, no payment
matters.
"""

import time
from typing import NamedTuple

import numpy as np

from bocopt.core import Array, Status
from bocopt.problems.program.form import BestFound, Form, SolveTask
from bocopt.problems.program.strategies import search
from bocopt.problems.risk import WEIGHT_TOLERANCE

MOST_ITEMS = 8
LARGEST = 1e6  # of the box, as of a `KnapsackForm`
EXACT = 1e-12  # relative: what the costs may differ from those of a knapsack


class KnapsackForm(NamedTuple):
    """Coefficients of the reward of a knapsack."""

    value: Array  # (d) c
    capacity: Array  # (r) b
    salvage: Array  # (r) q
    off: float  # how far its numbers are from those of the program, at the most


def applies(task: SolveTask) -> bool:
    """Return whether the program is a knapsack of a few items."""
    form = task.form
    return (
        search.applies(task)
        and form.size <= MOST_ITEMS
        and form.certain.many == 0
        and bool((form.upper <= LARGEST).all())
        and (
            _all_are_met(task)
            or (task.infeasible_objective is not None and task.infeasible_objective >= 0.0)
        )
        and knapsack_of(form) is not None
    )


def solve(task: SolveTask) -> BestFound:
    """The optimum, or the best after about a second of work."""
    from bocopt.problems.knapsack import lattice

    form, knapsack = task.form, knapsack_of(task.form)
    if knapsack is None:
        return BestFound(None, -np.inf)
    size = len(task.w), form.uncertain.many, form.size
    value, capacity, salvage, off = knapsack
    z, cost, status, gap = lattice.solve(
        np.ascontiguousarray(np.broadcast_to(form.uncertain.matrix, size)),
        task.w,
        (value, capacity, salvage, form.lower, form.upper),
        1.0 if task.risk.alpha is None else task.risk.alpha,
        0.0 if _all_are_met(task) else -(task.infeasible_objective or 0.0),
        _nodes(task, lattice.nodes_in_a_second(*size, readably=False)),
        False,
    )
    if status == Status.INFEASIBLE:
        return BestFound(None, np.inf)
    rounding = off * (1.0 + form.upper.sum()) + EXACT * abs(cost)
    bound = float(cost - gap - rounding)
    if not np.isfinite(cost) or not task.judge(z).met:
        return BestFound(None, bound)
    return BestFound(z, bound)


def knapsack_of(form: Form) -> KnapsackForm | None:
    """c, b and q if the costs are those of a knapsack with the same limits in all scenarios."""
    limit, constant = form.uncertain.limit, form.constant
    same = np.abs(constant - constant[0]) <= EXACT * np.abs(constant[0])
    if (limit != limit[0]).any() or (limit < 0.0).any() or not same.all():
        return None
    equations, wanted = _equations(form)
    found, size = _non_negative(equations, wanted), np.abs(wanted).max()
    for worth in (np.round(found, 9), found):  # numbers as a user writes them, if they fit
        off = np.abs(equations @ worth - wanted)
        if (off <= EXACT * (np.abs(equations) @ worth + size)).all():
            return KnapsackForm(worth[: form.size], limit[0].copy(), worth[form.size :], off.max())
    return None


def _equations(form: Form) -> tuple[Array, Array]:
    """q'A_s - c = cost_s and -q'b = constant, as a matrix on (c, q) and the right sides."""
    matrix, cost = form.uncertain.matrix, form.cost
    scenarios, (r, d) = max(len(matrix), len(cost)), matrix.shape[1:]
    uses = np.broadcast_to(matrix, (scenarios, r, d)).transpose(0, 2, 1).reshape(-1, r)
    items = np.tile(np.eye(d), (scenarios, 1))
    last = np.concatenate([np.zeros(d), -form.uncertain.limit[0]])
    wanted = np.append(np.broadcast_to(cost, (scenarios, d)).reshape(-1), form.constant[0])
    return np.vstack([np.hstack([-items, uses]), last]), wanted


def _non_negative(equations: Array, wanted: Array) -> Array:
    """The least squares solution, non-negative: few scenarios have many solutions."""
    found = np.asarray(np.linalg.lstsq(equations, wanted)[0], np.float64)
    if (found < -EXACT * np.abs(wanted).max()).any():
        from scipy.optimize import nnls

        found = np.asarray(nnls(equations, wanted)[0], np.float64)
    return np.maximum(found, 0.0)


def _all_are_met(task: SolveTask) -> bool:
    return task.risk.alpha == 1.0 and bool(task.w.min() > 10.0 * WEIGHT_TOLERANCE)


def _nodes(task: SolveTask, in_a_second: int) -> int:
    """The limit of nodes, from that of a branch and bound or the time that is left."""
    nodes = min(search.NODES * task.limits.nodes, in_a_second)
    if task.limits.deadline is None:
        return nodes
    left = max(0.0, task.limits.deadline - time.perf_counter())
    return max(1, min(nodes, int(in_a_second * left)))
