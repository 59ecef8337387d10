"""Random programs, a judge from their arrays alone, and the optimum by enumeration."""

import itertools

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from bocopt.core import Array, BoolArray, Risk
from bocopt.problems.program.form import Form, Judged, Limits, Rows, Task
from bocopt.problems.risk import Chance, CVaR, WorstCase

TOLERANCE = 1e-6


def rows(matrix: Array, limit: Array, equal: BoolArray | None = None) -> Rows:
    many = matrix.shape[1]
    return Rows(matrix, limit, np.zeros(many, bool) if equal is None else equal)


def none(width: int) -> Rows:
    return rows(np.zeros((1, 0, width)), np.zeros((1, 0)))


def judge(task: Task, z: Array) -> Judged:
    """From the arrays: a linear program for each scenario where there is more than z."""
    form, s = task.form, len(task.w)
    costs, violations = np.empty(s), np.empty(s)
    for i in range(s):
        costs[i], violations[i] = _scenario(form, i, z)
        if violations[i] > 0 and task.otherwise is not None:
            costs[i] = task.otherwise
    met = bool(task.risk.met(violations, task.w))
    certain = form.certain
    if certain.many and form.shared == form.size:
        met &= _excess(certain.matrix[0], certain.limit[0], certain.equal, z, form.integer) <= 0
    return Judged(costs, violations, float(task.risk.value(costs, task.w)), met)


def task(
    form: Form, w: Array, risk: Risk, otherwise: float | None = None, limits: Limits | None = None
) -> Task:
    made: Task

    def verdict(z: Array) -> Judged:
        return judge(made, z)

    made = Task(form, w, risk, otherwise, verdict, limits or Limits())
    return made


def best(asked: Task) -> float:
    """The optimum over all integer z by enumeration; +inf if none is feasible."""
    form = asked.form
    ranges = [
        np.arange(low, high + 1)
        for low, high in zip(form.lower[: form.size], form.upper[: form.size], strict=True)
    ]
    least = np.inf
    for point in itertools.product(*ranges):
        judged = asked.judge(np.array(point))
        if judged.met:
            least = min(least, judged.value)
    return least


def random_task(seed: int) -> Task:
    """Small: integer z, recourse columns at times, all risks, unequal weights, both signs."""
    rng = np.random.default_rng(seed)
    d, s = int(rng.integers(1, 4)), int(rng.integers(1, 7))
    own = int(rng.integers(1, 3)) if rng.random() < 0.4 else 0
    n = d + own
    lower = np.concatenate([rng.integers(-2, 1, d), np.zeros(own)]).astype(float)
    upper = np.concatenate([rng.integers(1, 4, d), np.full(own, 5.0)])
    whole = np.arange(n) < d
    ties = rng.random() < 0.3

    def draw(*shape: int) -> Array:
        drawn: Array = rng.normal(0.3, 2.0, shape).round(0 if ties else 1)
        return drawn

    cost = draw(s, n)
    cost[:, d:] = np.abs(cost[:, d:])
    uncertain = draw(s, int(rng.integers(1, 3)), n)
    if own:  # what a scenario has for itself helps its rows
        uncertain[..., d:] = -np.abs(uncertain[..., d:])
    limit = draw(s, uncertain.shape[1]) + 1.0
    defining = none(n)
    if own and rng.random() < 0.5:  # t >= e
        matrix = draw(s, 1, n)
        matrix[..., d:] = 0.0
        matrix[..., d] = -1.0
        defining = rows(matrix, draw(s, 1))
        upper[d] = np.inf
    certain = none(d)
    if rng.random() < 0.4:
        equal = np.array([rng.random() < 0.3])
        certain = rows(rng.integers(-2, 3, (1, 1, d)).astype(float), draw(1, 1).round() + 1, equal)
    w = rng.dirichlet(np.ones(s)) if rng.random() < 0.6 else np.full(s, 1 / s)
    alpha = float(rng.choice([1.0, 0.9, 0.6, 0.4]))
    risks: list[Risk] = [Chance(alpha), CVaR(0.6, alpha), WorstCase(alpha)]
    risk = risks[int(rng.integers(3))]
    form = Form(lower, upper, whole, d, d, draw(s), cost, certain, defining, rows(uncertain, limit))
    otherwise = float(rng.normal(2.0, 6.0)) if rng.random() < 0.4 and not own else None
    return task(form, w, risk, otherwise)


def _excess(matrix: Array, limit: Array, equal: BoolArray, v: Array, integer: BoolArray) -> float:
    over = (matrix * v).cumsum(axis=-1)[:, -1] - limit
    over = np.where(equal, np.abs(over), over)
    mixed = ((matrix != 0) & ~integer[: len(v)]).any(axis=-1)
    return float(np.where(mixed, over - TOLERANCE, over).max(initial=-np.inf))


def _scenario(form: Form, i: int, z: Array) -> tuple[float, float]:
    """The least cost in one scenario, and by how much its rows are exceeded."""

    def of(array: Array) -> Array:
        one: Array = array[min(i, len(array) - 1)]
        return one

    cost, constant = of(form.cost), float(of(form.constant))
    uncertain, defining = form.uncertain, form.defining
    if len(form.lower) == form.size:
        excess = _excess(
            of(uncertain.matrix), of(uncertain.limit), uncertain.equal, z, form.integer
        )
        return constant + float(cost @ z), excess
    held = [of(defining.matrix)], [of(defining.limit)]
    free = _recourse(form, z, cost, *held)
    met = _recourse(
        form, z, cost, [*held[0], of(uncertain.matrix)], [*held[1], of(uncertain.limit)]
    )
    if np.isfinite(met):
        return constant + met, 0.0
    return constant + free, 1.0


def _recourse(
    form: Form, z: Array, cost: Array, matrices: list[Array], limits: list[Array]
) -> float:
    d = form.size
    matrix, limit = np.concatenate(matrices), np.concatenate(limits)
    bounds = Bounds(form.lower[d:], form.upper[d:])
    within = LinearConstraint(matrix[:, d:], -np.inf, limit - matrix[:, :d] @ z)
    answer = milp(cost[d:], bounds=bounds, constraints=within)
    return float(cost[:d] @ z) + float(answer.fun or 0.0) if answer.status == 0 else np.inf
