"""Computed bounds and M: valid for every decision that holds in enough weight, and tight."""

import itertools

import numpy as np
import pytest
from chance_cases import random_task
from scipy.optimize import Bounds, LinearConstraint, milp

from bocopt.core import Array
from bocopt.problems.program.form import SolveTask
from bocopt.problems.program.strategies import bigm
from bocopt.problems.program.strategies.bounds import box, inequalities, quantile


def _feasible(asked: SolveTask) -> list[Array]:
    form = asked.form
    bounds = zip(form.lower, form.upper, strict=True)
    points = itertools.product(*(np.arange(low, high + 1) for low, high in bounds))
    return [z for z in map(np.array, points) if asked.judge(z).met]


def test_no_decision_is_outside_its_box_or_beyond_its_m() -> None:
    seen = tighter = 0
    for seed in range(60):
        asked = random_task(seed)
        rows = inequalities(asked.form.uncertain)
        found = box(asked.form, asked.w, bigm.need(asked))
        plain = (np.maximum(rows.matrix, 0) @ found.high[0]) + (
            np.minimum(rows.matrix, 0) @ found.low[0]
        )
        most = bigm._tightened(asked, rows, found)
        for z in _feasible(asked):
            assert (z >= found.low[0]).all()
            assert (z <= found.high[0]).all()
            excess = rows.matrix @ z - rows.limit
            dropped = asked.judge(z).violations > 0
            # a met scenario may be dropped too, if others have the weight: then M counts as well
            assert (excess[dropped] <= most[dropped] + 1e-6).all()
            seen += 1
        tighter += int((most < plain - rows.limit - 1e-6).any())
    assert seen > 200
    assert tighter > 10


def test_a_weighted_quantile() -> None:
    bounds, w = np.array([5.0, 1.0, 3.0]), np.array([0.5, 0.2, 0.3])
    assert [float(quantile(bounds, w, need)) for need in (0.5, 0.51, 0.8, 0.9)] == [5, 3, 3, 1]


def test_a_knapsack_bound_is_the_optimum_of_its_relaxation() -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        value, weight = rng.normal(size=(1, 4)), rng.normal(size=(1, 1, 4))
        low, high = -np.ones(4), np.ones(4)
        limit = np.array([[float(np.abs(weight).sum()) * rng.uniform(-0.5, 1.0)]])
        bound = float(bigm._knapsack(value, weight, limit, low, high)[0, 0])
        assert bound == pytest.approx(_relaxed(value[0], weight[0, 0], limit[0, 0]), abs=1e-7)


def _relaxed(value: Array, weight: Array, limit: float) -> float:
    within = LinearConstraint(weight[None], -np.inf, limit)
    answer = milp(-value, bounds=Bounds(-np.ones(4), np.ones(4)), constraints=within)
    assert answer.x is not None
    return float(value @ answer.x)
