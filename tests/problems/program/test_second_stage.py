"""The second stage of many scenarios against SciPy, one scenario at a time."""

from typing import Any

import numpy as np
import pytest
from lengths import long
from scipy.optimize import Bounds, LinearConstraint, milp
from stages_cases import no_rows, rows

from bocopt.core import Array, IntArray
from bocopt.problems import facility_location
from bocopt.problems.program import second_stage
from bocopt.problems.program.form import Form, Rows
from bocopt.problems.program.strategies import partition


def random_form(rng: np.random.Generator, s: int) -> Form:
    """Limits that differ, and at times the matrix or the costs; integers, equations."""
    h, m, r = int(rng.integers(1, 4)), int(rng.integers(1, 5)), int(rng.integers(1, 4))
    n, digits = h + m, int(rng.integers(0, 2))
    matrices, costs = (int(rng.choice([1, 1, 1, s])) for _ in range(2))
    integer = np.zeros(n, bool)
    integer[h:] = rng.random(m) < rng.choice([0.0, 0.0, 0.5])
    return Form(
        np.where(rng.random(n) < 0.8, 0.0, -3.0),
        np.where(rng.random(n) < 0.8, 4.0, 9.0),
        integer,
        h,
        h,
        rng.normal(0, 1, int(rng.choice([1, s]))),
        rng.normal(0, 1, (costs, n)).round(digits),
        no_rows(h),
        rows(
            rng.normal(0, 1, (matrices, r, n)).round(digits),
            rng.normal(2, 3, (s, r)).round(digits),
            rng.random(r) < 0.2,
        ),
        rows(rng.normal(0, 1, (1, 1, n)).round(digits), rng.normal(3, 2, (s, 1))),
    )


def by_scipy(form: Form, v: Array, i: int) -> float:
    h, parts = form.shared, (form.defining, form.uncertain)

    def of(array: Array) -> Array:
        return np.asarray(array[i if len(array) > 1 else 0])

    matrix = np.concatenate([of(part.matrix) for part in parts])
    limit = np.concatenate([of(part.limit) for part in parts]) - matrix[:, :h] @ v
    least = np.where(np.concatenate([part.equal for part in parts]), limit, -np.inf)
    result: Any = milp(
        of(form.cost)[h:],
        bounds=Bounds(form.lower[h:], form.upper[h:]),
        integrality=form.integer[h:].astype(np.int64),
        constraints=LinearConstraint(matrix[:, h:], least, limit),
    )
    if result.status == 2:
        return np.inf
    return float(result.fun + of(form.constant) + of(form.cost)[:h] @ v)


@pytest.mark.parametrize("many", [60, long(600)])
def test_equals_one_at_a_time(many: int) -> None:
    rng = np.random.default_rng(8)
    feasible = 0
    for _ in range(many):
        s = int(rng.integers(1, 9))
        form = random_form(rng, s)
        v = rng.uniform(-1, 2, (int(rng.choice([1, s])), form.shared)).round(1)
        stage = second_stage.best(form, v)
        alone = [by_scipy(form, v[i if len(v) > 1 else 0], i) for i in range(s)]
        np.testing.assert_allclose(stage.cost, alone, rtol=1e-7, atol=1e-7)
        assert (np.isinf(stage.cost) == (stage.lack > 0)).all()
        feasible += np.isfinite(stage.cost).sum()
    assert many < feasible < 4.5 * many  # of about 4.5 scenarios each: some have none


def test_values_do_not_depend_on_the_order() -> None:
    rng = np.random.default_rng(9)
    for _ in range(10):
        form = random_form(rng, 40)._replace(constant=np.zeros(1))
        shuffled = rng.permutation(40)
        v = rng.uniform(0, 2, (1, form.shared))
        there, back = second_stage.best(form, v), second_stage.best(_ordered(form, shuffled), v)
        np.testing.assert_allclose(back.cost, there.cost[shuffled], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(back.lack, there.lack[shuffled], rtol=1e-9, atol=1e-9)


def test_duals_are_what_a_unit_of_a_limit_changes() -> None:
    rng = np.random.default_rng(10)
    compared = 0
    for _ in range(20):
        form = random_form(rng, 6)
        form = form._replace(
            integer=np.zeros(len(form.lower), bool),
            defining=form.defining._replace(limit=form.defining.limit + rng.normal(0, 0.1, 1)),
        )
        v = rng.uniform(0, 2, (1, form.shared))
        stage, step = second_stage.best(form, v), 1e-6
        more = form.uncertain._replace(limit=form.uncertain.limit + step)
        after = second_stage.best(form._replace(uncertain=more), v)
        value, then = (np.where(s.lack > 0, s.lack, s.cost) for s in (stage, after))
        change = (then - value) / step
        same = (stage.dual[:, -1] - after.dual[:, -1]) == 0  # no corner between
        np.testing.assert_allclose(change[same], stage.dual[same, -1], atol=1e-6)
        compared += same.sum()
    assert compared > 100


def test_rows_that_fail_by_no_more_than_rounding_count_as_held() -> None:
    buy = rows(np.array([[[-1.0, -1.0]]]), np.array([[-3.0], [-5.0 - 1e-8], [-6.0]]))
    form = Form(
        np.zeros(2),
        np.array([9.0, 2.0]),
        np.zeros(2, bool),
        1,
        1,
        np.zeros(1),
        np.array([[1.0, 4.0]]),
        no_rows(1),
        buy,
        no_rows(2),
    )
    v = np.array([[3.0]])
    assert second_stage.best(form, v).cost.tolist() == [3.0, np.inf, np.inf]
    stage = second_stage.best(form, v, within=1e-6)
    np.testing.assert_allclose(stage.cost, [3.0, 11.0, np.inf])
    np.testing.assert_allclose(stage.lack, [0.0, 1e-8, 1.0], atol=1e-12)
    assert stage.dual.ravel().tolist() == [0.0, -4.0, -1.0]  # of the cost, and at last of the lack


def _ordered(form: Form, order: IntArray) -> Form:
    def shuffled(array: Array) -> Array:
        return array if len(array) == 1 else array[order]

    def rows_of(part: Rows) -> Rows:
        return part._replace(matrix=shuffled(part.matrix), limit=shuffled(part.limit))

    return form._replace(
        cost=shuffled(form.cost),
        defining=rows_of(form.defining),
        uncertain=rows_of(form.uncertain),
    )


def test_what_a_way_has_solved_is_not_solved_again_to_judge_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = {second_stage._tried: 0, partition._split: 0}

    def counted(function: Any) -> Any:
        def call(*given: Any) -> Any:
            calls[function] += 1
            return function(*given)

        return call

    monkeypatch.setattr(second_stage, "_tried", counted(second_stage._tried))
    monkeypatch.setattr(partition, "_split", counted(partition._split))
    problem = facility_location(
        fixed=[5.0, 9.0], ship_cost=[[1.0, 3.0], [2.0, 1.0]], room=20.0, unmet_cost=25.0
    )
    demand = np.random.default_rng(3).uniform(1, 9, (20, 2))
    problem.solve(demand, np.full(20, 0.05), np.zeros(0))
    solved, looked_at = calls.values()
    assert solved == looked_at > 0
