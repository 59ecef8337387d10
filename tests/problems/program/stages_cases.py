"""Programs by their arrays, and what SciPy says of them: all scenarios in one big model."""

from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from bocopt.core import Array, BoolArray, Risk
from bocopt.problems.program.form import (
    BestFound,
    Form,
    Judged,
    Rows,
    SolveLimits,
    SolveTask,
    tidied,
)
from bocopt.problems.risk import CVaR, WorstCase


def rows(matrix: Array, limit: Array, equal: BoolArray | None = None) -> Rows:
    """(s or 1, r, n), (s or 1, r), (r) -> the rows."""
    return Rows(matrix, limit, np.zeros(matrix.shape[1], bool) if equal is None else equal)


def no_rows(columns: int) -> Rows:
    return rows(np.zeros((1, 0, columns)), np.zeros((1, 0)))


def weights(rng: np.random.Generator, s: int) -> Array:
    return rng.dirichlet(np.ones(s)) if rng.random() < 0.7 else np.full(s, 1 / s)


def judged(form: Form, w: Array, risk: Risk, gap: float = 1e-6) -> SolveTask:
    """A task whose judge is the full model with z held fast, and float64 where all is integer."""

    def judge(z: Array) -> Judged:
        value = full_optimum(form, w, risk, z)
        met = bool(np.isfinite(value)) and _exactly(form, z)
        return Judged(np.zeros(0), np.zeros(0), value, met)

    return SolveTask(form, w, risk, None, judge, SolveLimits(gap=gap))


def full_optimum(form: Form, w: Array, risk: Risk, z: Array | None = None) -> float:
    """The optimum over all decisions, or of one; +inf: infeasible, -inf: unbounded."""
    return full_model(form, w, risk, z)[0]


def full_model(
    form: Form, w: Array, risk: Risk, z: Array | None = None
) -> tuple[float, Array | None]:
    """The optimum of all scenarios in one model, and its decision."""
    s, n, h = len(w), len(form.lower), form.shared
    own = n - h
    tail = isinstance(risk, CVaR | WorstCase)
    columns = h + s * own + (1 + s if tail else 0)
    cost, constant = np.broadcast_to(form.cost, (s, n)), np.broadcast_to(form.constant, s)
    lower, upper = np.full(columns, -np.inf), np.full(columns, np.inf)
    lower[: h + s * own] = np.append(form.lower[:h], np.tile(form.lower[h:], s))
    upper[: h + s * own] = np.append(form.upper[:h], np.tile(form.upper[h:], s))
    lower[columns - s :] = np.where(tail, 0.0, lower[columns - s :])
    if z is not None:
        lower[: form.size] = upper[: form.size] = z
    integer = np.zeros(columns, np.int64)
    integer[: h + s * own] = np.append(form.integer[:h], np.tile(form.integer[h:], s))
    matrix, least, limit = _all_rows(form, s, columns)
    objective = np.zeros(columns)
    if tail:
        t = h + s * own
        epigraph = np.zeros((s, columns))
        for i in range(s):
            epigraph[i, :h], epigraph[i, t] = cost[i, :h], -1.0
            epigraph[i, h + i * own : h + (i + 1) * own] = cost[i, h:]
            epigraph[i, t + 1 + i] = -1.0 if isinstance(risk, CVaR) else 0.0
        matrix = np.vstack([matrix, epigraph])
        least, limit = np.append(least, np.full(s, -np.inf)), np.append(limit, -constant)
        objective[t] = 1.0
        if isinstance(risk, CVaR):
            objective[t + 1 :] = w / (1 - risk.beta) / w.sum()
    else:
        objective[:h] = w @ cost[:, :h]
        objective[h:] = (w[:, None] * cost[:, h:]).ravel()
    result: Any = milp(
        objective,
        bounds=Bounds(lower, upper),
        integrality=integer,
        constraints=LinearConstraint(matrix, least, limit) if len(matrix) else None,
        options={"mip_rel_gap": 0.0},
    )
    if result.status in (2, 3):
        return (np.inf if result.status == 2 else -np.inf), None
    assert result.status in (0, 4), result.message
    if result.x is None:  # unbounded or infeasible: HiGHS did not look further
        return -np.inf, None
    value = float(result.fun) + (0.0 if tail else float(w @ constant))
    return value, tidied(result.x[: form.size], form)


def is_optimal(task: SolveTask, answer: BestFound) -> bool:
    """Whether an answer is the full model's; an infeasible task must be called so."""
    best, z = full_model(task.form, task.w, task.risk)
    if answer.z is None:
        return best == answer.bound
    verdict = task.judge(answer.z)
    near = max(2 * task.limits.gap, 1e-7) * max(1.0, abs(best))
    if z is not None and not task.judge(z).met:  # SciPy's decision holds up to rounding only
        return verdict.met and best - near <= answer.bound <= verdict.value
    return verdict.met and max(abs(verdict.value - best), abs(answer.bound - best)) <= near


def _all_rows(form: Form, s: int, columns: int) -> tuple[Array, Array, Array]:
    h, own = form.shared, len(form.lower) - form.shared
    matrix, least, limit = [], [], []
    for row, most, equal in zip(
        form.certain.matrix[0], form.certain.limit[0], form.certain.equal, strict=True
    ):
        matrix.append(np.append(row, np.zeros(columns - h)))
        least.append(most if equal else -np.inf)
        limit.append(most)
    for part in (form.defining, form.uncertain):
        coefficients = np.broadcast_to(part.matrix, (s, part.many, h + own))
        limits = np.broadcast_to(part.limit, (s, part.many))
        for i in range(s):
            for k in range(part.many):
                line = np.zeros(columns)
                line[:h] = coefficients[i, k, :h]
                line[h + i * own : h + (i + 1) * own] = coefficients[i, k, h:]
                matrix.append(line)
                least.append(limits[i, k] if part.equal[k] else -np.inf)
                limit.append(limits[i, k])
    return np.reshape(matrix, (len(matrix), columns)), np.array(least), np.array(limit)


def _exactly(form: Form, z: Array) -> bool:
    """Whether the rows of integer decisions alone hold without any tolerance."""
    d = form.size
    for part in (form.certain, form.uncertain):
        for matrix, limit in zip(
            *np.broadcast_arrays(part.matrix, part.limit[..., None]), strict=True
        ):
            alone = ~matrix[:, d:].any(axis=1) & ~matrix[:, :d][:, ~form.integer[:d]].any(axis=1)
            activity = np.cumsum(matrix[:, :d] * z, axis=1)[:, -1]
            if (activity[alone & ~part.equal] > limit[alone & ~part.equal, 0]).any():
                return False
    return True
