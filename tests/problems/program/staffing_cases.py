"""Staffing: shifts of eight hours that cover a day of random demand."""

import numpy as np
from chance_cases import none, rows, task

from bocopt.core import Array
from bocopt.problems.program.form import Form, Judged, SolveLimits, SolveTask
from bocopt.problems.risk import Chance

HOURS, SHIFT = 24, 8


def on_duty() -> Array:
    """(hour, start) -> 1 where who starts then works."""
    hour, start = np.indices((HOURS, HOURS))
    works: Array = ((hour - start) % HOURS < SHIFT).astype(float)
    return works


def staffing(
    many: int, seed: int, alpha: float = 0.9, limits: SolveLimits | None = None
) -> SolveTask:
    rng = np.random.default_rng(seed)
    usual = 20 + 12 * np.sin(2 * np.pi * (np.arange(HOURS) - 8) / HOURS)
    busy = rng.normal(1.0, 0.15, (many, 1))
    demand = np.maximum(0.0, usual * busy * rng.lognormal(0.0, 0.15, (many, HOURS)))
    wage = 1 + 0.5 * rng.random(HOURS)
    form = Form(
        lower=np.zeros(HOURS),
        upper=np.full(HOURS, 60.0),
        integer=np.ones(HOURS, bool),
        size=HOURS,
        shared=HOURS,
        constant=np.zeros(1),
        cost=wage[None],
        certain=none(HOURS),
        defining=none(HOURS),
        uncertain=rows(-on_duty()[None], -demand),
    )
    asked = task(form, np.full(many, 1 / many), Chance(alpha), None, limits)
    return asked._replace(judge=lambda z: _judged(asked, wage, demand, z))


def _judged(asked: SolveTask, wage: Array, demand: Array, z: Array) -> Judged:
    violations = (demand - on_duty() @ z).max(axis=1)
    costs = np.full(len(demand), wage @ z)
    met = bool(asked.risk.met(violations, asked.w))
    return Judged(costs, violations, float(wage @ z), met)
