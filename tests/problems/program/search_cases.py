"""Small chance-constrained programs in integers, their judge, and all of their decisions."""

from itertools import product

import numpy as np

from bocopt.core import Array
from bocopt.problems.program.form import Form, Judged, Rows, SolveLimits, SolveTask
from bocopt.problems.risk import Chance

KINDS = (
    "plain",
    "both signs",
    "otherwise",
    "otherwise below",
    "one decimal",
    "tied",
    "certain rows",
    "equality",
    "hard to meet",
    "all scenarios",
)


def rows(matrix: Array, limit: Array, equal: Array | None = None) -> Rows:
    many = matrix.shape[1]
    return Rows(matrix, limit, np.zeros(many, bool) if equal is None else equal.astype(bool))


def no_rows(columns: int) -> Rows:
    return rows(np.zeros((1, 0, columns)), np.zeros((1, 0)))


def judged(form: Form, w: Array, risk: Chance, otherwise: float | None, z: Array) -> Judged:
    """One decision."""
    costs, violations = verdicts(form, len(w), otherwise, z[None])
    value, met = risk.value(costs, w)[0], risk.met(violations, w)[0]
    return Judged(costs[0], violations[0], float(value), bool(met))


def verdicts(form: Form, s: int, otherwise: float | None, z: Array) -> tuple[Array, Array]:
    """Decisions (n, d) -> costs and violations (n, s), each sum in the order of the columns."""

    def over(part: Rows) -> Array:
        total = np.zeros((len(z), *part.limit.shape))
        for column in range(z.shape[1]):
            total = total + part.matrix[..., column] * z[:, None, None, column]
        off = total - part.limit
        most: Array = np.where(part.equal, np.abs(off), off).max(axis=-1, initial=-np.inf)
        return most

    uncertain = np.broadcast_to(over(form.uncertain), (len(z), s))
    costs = np.broadcast_to(form.constant + z @ form.cost.T, (len(z), s))
    if otherwise is not None:
        costs = np.where(uncertain <= 0.0, costs, otherwise)
    return costs, np.maximum(uncertain, over(form.certain))


def task_of(
    *,
    upper: Array,
    cost: Array,
    uncertain: Rows,
    w: Array,
    alpha: float,
    constant: Array | None = None,
    lower: Array | None = None,
    certain: Rows | None = None,
    otherwise: float | None = None,
    limits: SolveLimits | None = None,
) -> SolveTask:
    d, risk = len(upper), Chance(alpha)
    form = Form(
        lower=np.zeros(d) if lower is None else lower,
        upper=upper,
        integer=np.ones(d, bool),
        size=d,
        shared=d,
        constant=np.zeros(1) if constant is None else constant,
        cost=np.atleast_2d(cost),
        certain=no_rows(d) if certain is None else certain,
        defining=no_rows(d),
        uncertain=uncertain,
    )

    def judge(z: Array) -> Judged:
        return judged(form, w, risk, otherwise, z)

    return SolveTask(form, w, risk, otherwise, judge, SolveLimits() if limits is None else limits)


def random_task(rng: np.random.Generator, kind: str) -> SolveTask:
    """Up to 1500 decisions or so, 2 to 40 scenarios."""
    d, r, s = (int(rng.integers(*ends)) for ends in ((1, 6), (1, 4), (2, 41)))
    highest = {1: 40, 2: 20, 3: 9, 4: 4, 5: 3}[d]
    lower: Array = (rng.integers(0, 2, d) * (rng.random() < 0.3)).astype(np.float64)
    upper: Array = lower + rng.integers(0, highest, d)
    matrix = rng.uniform(0.0, 4.0, (1 if rng.random() < 0.2 else s, r, d))
    matrix *= rng.random(matrix.shape) < 0.9
    limit = matrix.mean(axis=0) @ (lower + rng.uniform(0.1, 0.8) * (upper - lower))
    limit = limit * rng.uniform(0.6, 1.5, (1 if rng.random() < 0.5 else s, r))
    w = rng.dirichlet(np.ones(s)) if rng.random() < 0.6 else np.full(s, 1.0 / s)
    cost = rng.uniform(-5.0, 0.5, (1 if rng.random() < 0.5 else s, d))
    constant = rng.uniform(-3.0, 0.0, 1 if rng.random() < 0.5 else s)
    alpha, otherwise, certain = float(rng.choice([0.3, 0.7, 0.9, 0.95])), None, None
    if kind in ("both signs", "certain rows", "equality"):
        cost = cost + rng.uniform(0.0, 5.0, d)
    if kind.startswith("otherwise") or rng.random() < 0.2:
        otherwise = 10.0 * d if kind != "otherwise below" else float(rng.uniform(-20.0, 0.0))
    if kind in ("one decimal", "tied"):
        digits = 1 if kind == "one decimal" else 0
        matrix, limit = matrix.round(digits), limit.round(digits)
        cost, constant = cost.round(digits), constant.round(digits)
    if kind in ("certain rows", "equality"):
        certain = certain_rows(rng, lower, upper, kind == "equality")
    if kind == "hard to meet":
        limit = limit * rng.uniform(0.0, 0.6)
    if kind == "all scenarios":
        alpha = 1.0
    return task_of(
        lower=lower,
        upper=upper,
        cost=cost,
        constant=constant,
        uncertain=rows(matrix, limit),
        certain=certain,
        w=w,
        alpha=alpha,
        otherwise=otherwise,
    )


def certain_rows(rng: np.random.Generator, lower: Array, upper: Array, equal: bool) -> Rows:
    """Two rows of either sign, of small integers; one may be an equality."""
    matrix = rng.integers(-2, 4, (1, 2, len(lower))).astype(float)
    inside = rng.integers(lower.astype(int), upper.astype(int) + 1).astype(float)
    limit = matrix @ inside + rng.integers(0, 3, (1, 2)) * np.array([0 if equal else 1, 1])
    return rows(matrix, limit, np.array([equal, False]))


def best_value(task: SolveTask, besides: Array | None = None) -> float:
    """By looking at all decisions, but for one perhaps; inf if none is feasible."""
    form = task.form
    ends = zip(form.lower, form.upper, strict=True)
    every = np.array(list(product(*(np.arange(low, high + 1.0) for low, high in ends))))
    if besides is not None:
        every = every[(every != besides).any(axis=1)]
    costs, violations = verdicts(form, len(task.w), task.infeasible_objective, every)
    values = np.where(task.risk.met(violations, task.w), task.risk.value(costs, task.w), np.inf)
    return float(values.min())
