"""Random programs, a judge from their arrays alone, and their optima by other means."""

import itertools
from collections.abc import Callable

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from bocopt.core import Array, BoolArray, Risk
from bocopt.problems.program.form import Form, Judged, Rows, SolveLimits, SolveTask
from bocopt.problems.risk import WEIGHT_TOLERANCE, Chance, CVaR, WorstCase

TOLERANCE = 1e-6


def rows(matrix: Array, limit: Array, equal: BoolArray | None = None) -> Rows:
    return Rows(matrix, limit, np.zeros(matrix.shape[1], bool) if equal is None else equal)


def none(width: int) -> Rows:
    return rows(np.zeros((1, 0, width)), np.zeros((1, 0)))


def task(
    form: Form,
    w: Array,
    risk: Risk,
    otherwise: float | None = None,
    limits: SolveLimits | None = None,
) -> SolveTask:
    def judge(z: Array) -> Judged:
        return judged(made, z)

    made = SolveTask(form, w, risk, otherwise, judge, limits or SolveLimits())
    return made


def judged(asked: SolveTask, z: Array) -> Judged:
    """From the arrays; where a scenario has columns for itself, by a program for each."""
    form = asked.form
    over_box = max((form.lower[: form.size] - z).max(), (z - form.upper[: form.size]).max())
    over = max(over_box, _excess(form, form.certain, z)[0])
    if len(form.lower) == form.size:
        costs = np.broadcast_to(form.constant + form.cost @ z, asked.w.shape)
        violations = np.maximum(_excess(form, form.uncertain, z), over)
        violations = np.broadcast_to(violations, asked.w.shape)
    else:
        both = np.array([_scenario(form, i, z) for i in range(len(asked.w))])
        costs, violations = both[:, 0], np.maximum(both[:, 1], over)
    if asked.infeasible_objective is not None:
        costs = np.where(violations > 0, asked.infeasible_objective, costs)
    met = bool(asked.risk.met(violations, asked.w)) and over <= 0 and np.isfinite(costs).all()
    return Judged(costs, violations, float(asked.risk.value(costs, asked.w)), bool(met))


def best(asked: SolveTask) -> float:
    """The optimum over all z, which are integer, by enumeration; +inf if none is feasible."""
    form = asked.form
    bounds = zip(form.lower[: form.size], form.upper[: form.size], strict=True)
    points = itertools.product(*(np.arange(low, high + 1) for low, high in bounds))
    verdicts = (asked.judge(np.array(point)) for point in points)
    return min((verdict.value for verdict in verdicts if verdict.met), default=np.inf)


def best_of_subsets(asked: SolveTask) -> float:
    """The optimum where the program also chooses which scenarios hold: one MILP a choice."""
    s, w = len(asked.w), asked.w
    need = (asked.risk.alpha or 0.0) * w.sum() - WEIGHT_TOLERANCE
    choices = [np.array(choice) for choice in itertools.product([True, False], repeat=s)]
    choices = [kept for kept in choices if w[kept].sum() >= need]
    if asked.infeasible_objective is None:  # to hold in more scenarios than needed brings nothing
        choices = [kept for kept in choices if (w[kept].sum() - w[kept] < need).all()]
    return min(_with_scenarios(asked, kept) for kept in choices)


def random_task(seed: int, *, limits_only: bool = False, recourse: bool = False) -> SolveTask:
    """Small: integer z, all risks, unequal weights, both signs, ties, often infeasible."""
    rng = np.random.default_rng(seed)
    d, s = int(rng.integers(1, 4)), int(rng.integers(1, 4 if recourse else 8))
    own = int(rng.integers(1, 3)) if recourse else 0
    draw = _drawing(rng, decimals=0 if rng.random() < 0.3 else 1)
    n, r = d + own, int(rng.integers(1, 3))
    cost, matrix = draw(s, n), draw(1 if limits_only else s, r, n)
    cost[:, d:] = np.abs(cost[:, d:])
    matrix[..., d:] = -np.abs(matrix[..., d:])  # what a scenario has for itself helps its rows
    equal = np.zeros(r, bool)
    if not limits_only and rng.random() < 0.15:
        equal[0], matrix = True, matrix.round()
    limit = draw(s, r).round() if equal.any() else draw(s, r) + 1.0
    upper = np.concatenate([rng.integers(1, 3, d), np.full(own, 5.0)])
    defining = none(n)
    if own and rng.random() < 0.5:  # t >= e
        shape = draw(s, 1, n)
        shape[..., d:] = np.where(np.arange(own) == 0, -1.0, 0.0)
        defining, upper[d] = rows(shape, draw(s, 1)), np.inf
    certain = none(d)
    if rng.random() < 0.4:
        certain = rows(draw(1, 1, d).round(), draw(1, 1).round() + 1, rng.random(1) < 0.3)
    form = Form(
        lower=np.concatenate([rng.integers(-2, 1, d), np.zeros(own)]),
        upper=upper,
        integer=np.arange(n) < d,
        size=d,
        shared=d,
        constant=draw(s),
        cost=cost,
        certain=certain,
        defining=defining,
        uncertain=rows(matrix, limit, equal),
    )
    w = rng.dirichlet(np.ones(s)) if rng.random() < 0.6 else np.full(s, 1 / s)
    alpha = float(rng.choice([1.0, 0.9, 0.6, 0.4]))
    risks: list[Risk] = [Chance(alpha), CVaR(0.6, alpha), WorstCase(alpha)]
    otherwise = float(rng.normal(2.0, 6.0)) if rng.random() < 0.4 and not limits_only else None
    return task(form, w, risks[int(rng.integers(3))], otherwise)


def _drawing(rng: np.random.Generator, decimals: int) -> Callable[..., Array]:
    def draw(*shape: int) -> Array:
        drawn: Array = rng.normal(0.3, 2.0, shape).round(decimals)
        return drawn

    return draw


def _excess(form: Form, asked: Rows, v: Array) -> Array:
    """By how much the worst row is exceeded in each scenario."""
    matrix = asked.matrix[..., : len(v)]
    over = np.cumsum(np.concatenate([np.zeros((*matrix.shape[:-1], 1)), matrix * v], -1), -1)
    over = over[..., -1] - asked.limit
    over = np.where(asked.equal, np.abs(over), over)
    mixed = ((matrix != 0) & ~form.integer[: len(v)]).any(axis=-1)
    worst: Array = np.where(mixed, over - TOLERANCE, over).max(axis=-1, initial=-np.inf)
    return worst


def _scenario(form: Form, i: int, z: Array) -> tuple[float, float]:
    """The least cost in one scenario, and whether its rows can hold."""
    held, all_of_them = [form.defining], [form.defining, form.uncertain]
    constant = float(_of(form.constant, i))
    met = _recourse(form, i, z, all_of_them)
    if np.isfinite(met):
        return constant + met, 0.0
    return constant + _recourse(form, i, z, held), 1.0


def _recourse(form: Form, i: int, z: Array, blocks: list[Rows]) -> float:
    d, cost = form.size, _of(form.cost, i)
    within = [
        LinearConstraint(
            _of(block.matrix, i)[:, d:],
            np.where(block.equal, _of(block.limit, i), -np.inf) - _of(block.matrix, i)[:, :d] @ z,
            _of(block.limit, i) - _of(block.matrix, i)[:, :d] @ z,
        )
        for block in blocks
        if block.many
    ]
    answer = milp(cost[d:], bounds=Bounds(form.lower[d:], form.upper[d:]), constraints=within)
    return float(cost[:d] @ z) + float(answer.fun or 0.0) if answer.status == 0 else np.inf


def _of(array: Array, i: int) -> Array:
    one: Array = array[min(i, len(array) - 1)]
    return one


def _with_scenarios(asked: SolveTask, kept: BoolArray) -> float:
    """Columns: v, y_1 .. y_s, what is paid in each scenario, a threshold, what is above it."""
    form, s, h = asked.form, len(kept), asked.form.shared
    k = len(form.lower) - h
    paid, threshold, above = h + s * k, h + s * k + s, h + s * k + s + 1
    width = above + s
    lower, upper = np.full(width, -np.inf), np.full(width, np.inf)
    lower[:paid] = np.concatenate([form.lower[:h], np.tile(form.lower[h:], s)])
    upper[:paid] = np.concatenate([form.upper[:h], np.tile(form.upper[h:], s)])
    lower[above:] = 0.0
    whole = np.zeros(width, bool)
    whole[:paid] = np.concatenate([form.integer[:h], np.tile(form.integer[h:], s)])
    within = []
    for i in range(s):
        local = np.zeros((h + k, width))
        local[:h, :h] = np.eye(h)
        local[h:, h + i * k : h + (i + 1) * k] = np.eye(k)
        blocks = [form.certain, form.defining] + ([form.uncertain] if kept[i] else [])
        for block in blocks:
            if block.many:
                matrix = _of(block.matrix, i) @ local[: block.matrix.shape[-1]]
                limit = _of(block.limit, i)
                within.append(
                    LinearConstraint(matrix, np.where(block.equal, limit, -np.inf), limit)
                )
        due = np.zeros(width)
        due[paid + i] = -1.0
        fixed = asked.infeasible_objective
        if kept[i] or fixed is None:
            due += _of(form.cost, i) @ local
            fixed = float(_of(form.constant, i))
        within.append(LinearConstraint(due, -fixed, -fixed))
        over = np.zeros(width)
        over[[paid + i, threshold, above + i]] = 1.0, -1.0, -1.0
        within.append(LinearConstraint(over, -np.inf, 0.0))
    cost = np.zeros(width)
    if isinstance(asked.risk, Chance):
        cost[paid : paid + s] = asked.w
    else:
        cost[threshold] = 1.0
        if isinstance(asked.risk, CVaR):
            cost[above:] = asked.w / (1 - asked.risk.beta)
        else:
            upper[above:] = 0.0
    answer = milp(
        cost,
        integrality=whole,
        bounds=Bounds(lower, upper),
        constraints=within,
        options={"mip_rel_gap": 1e-9},
    )
    return float(answer.fun) if answer.status == 0 else np.inf
