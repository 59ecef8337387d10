"""The extensive form against enumeration, and against one program for each choice of scenarios."""

import numpy as np
import pytest
from chance_cases import best, best_of_subsets, none, random_task, rows, task
from scipy.optimize import Bounds, LinearConstraint, milp

from bocopt.core import Array
from bocopt.problems.program.form import Form, Judged, SolveTask
from bocopt.problems.program.strategies import extensive
from bocopt.problems.risk import Chance


def _value(asked: SolveTask, z: Array | None) -> float:
    if z is None:
        return np.inf
    verdict = asked.judge(z)
    assert verdict.met
    return verdict.value


def assert_agrees_with_enumeration(seed: int) -> None:
    asked = random_task(seed)
    answer, optimum = extensive.solve(asked), best(asked)
    value = _value(asked, answer.z)
    assert value == pytest.approx(optimum, abs=1e-6)
    assert answer.bound == pytest.approx(optimum, abs=1e-5)


def assert_agrees_with_subsets(seed: int) -> None:
    asked = random_task(seed, recourse=True)
    answer, relaxed = extensive.solve(asked), best_of_subsets(asked)
    value = _value(asked, answer.z)
    assert answer.bound >= relaxed - 1e-5
    assert value >= answer.bound - 1e-5
    if asked.infeasible_objective is None and asked.risk.alpha == 1:
        assert value == pytest.approx(relaxed, abs=1e-5)


@pytest.mark.parametrize("seed", range(50))
def test_it_finds_the_optimum(seed: int) -> None:
    assert_agrees_with_enumeration(seed)


@pytest.mark.parametrize("seed", range(50))
def test_it_finds_the_optimum_with_recourse(seed: int) -> None:
    assert_agrees_with_subsets(seed)


@pytest.mark.full
@pytest.mark.parametrize("first", range(1000, 1500, 50))
def test_it_finds_the_optimum_of_many(first: int) -> None:
    for seed in range(first, first + 50):
        assert_agrees_with_enumeration(seed)
        assert_agrees_with_subsets(seed)


def _linear(rng: np.random.Generator) -> SolveTask:
    matrix, cost = rng.normal(size=(1, 50, 20)), rng.normal(size=(1, 20))
    form = Form(
        lower=np.zeros(20),
        upper=np.full(20, 5.0),
        integer=np.zeros(20, bool),
        size=20,
        shared=20,
        constant=np.ones(1),
        cost=cost,
        certain=none(20),
        defining=none(20),
        uncertain=rows(matrix, rng.uniform(1.0, 5.0, (1, 50))),
    )
    return task(form, np.ones(1), Chance(1.0))


def test_one_scenario_is_a_plain_linear_program() -> None:
    for seed in range(20):
        asked = _linear(np.random.default_rng(seed))
        form, answer = asked.form, extensive.solve(asked)
        wanted = milp(
            form.cost[0],
            bounds=Bounds(form.lower, form.upper),
            constraints=LinearConstraint(
                form.uncertain.matrix[0], -np.inf, form.uncertain.limit[0]
            ),
        )
        optimum = float(form.cost[0] @ wanted.x) + 1.0
        assert _value(asked, answer.z) == pytest.approx(optimum, abs=1e-6)
        assert answer.bound == pytest.approx(optimum, abs=1e-6)


def _with_shared_auxiliary(seed: int) -> SolveTask:
    """min E cost_s z + 2 max(0, a z - b), where the larger is a shared column t."""
    rng = np.random.default_rng(seed)
    s, cost, a, b = 5, rng.normal(size=(5, 2)), rng.normal(size=2), float(rng.normal())
    matrix, limit = rng.normal(size=(s, 1, 2)), rng.normal(0.5, 1.0, (s, 1))
    whole = np.array([True, True, False])
    form = Form(
        lower=np.array([-2.0, -2.0, 0.0]),
        upper=np.array([2.0, 2.0, np.inf]),
        integer=whole,
        size=2,
        shared=3,
        constant=np.zeros(1),
        cost=np.concatenate([cost, np.full((s, 1), 2.0)], axis=1),
        certain=rows(np.array([[[*a, -1.0]]]), np.array([[b]])),
        defining=none(3),
        uncertain=rows(np.concatenate([matrix, np.ones((s, 1, 1))], axis=2), limit),
    )
    w = rng.dirichlet(np.ones(s))

    def judge(z: Array) -> Judged:
        larger = max(0.0, float(a @ z) - b)
        costs = cost @ z + 2.0 * larger
        violations = (matrix[:, 0] @ z + larger - limit[:, 0]) - 1e-6
        return Judged(costs, violations, float(w @ costs), bool(Chance(0.6).met(violations, w)))

    return SolveTask(form, w, Chance(0.6), None, judge)


@pytest.mark.parametrize("seed", range(20))
def test_shared_auxiliaries(seed: int) -> None:
    asked = _with_shared_auxiliary(seed)
    answer, optimum = extensive.solve(asked), best(asked)
    assert _value(asked, answer.z) == pytest.approx(optimum, abs=1e-5)
    assert answer.bound == pytest.approx(optimum, abs=1e-5)


def test_what_has_no_bounds_is_named() -> None:
    asked = _chance_with_upper(np.array([3.0, np.inf]))
    with pytest.raises(ValueError, match=r"bounds of column 1 must be finite.*Got \[0, inf\]"):
        extensive.solve(asked)
    assert extensive.solve(_chance_with_upper(np.array([3.0, 9.0]))).z is not None


def test_a_payment_needs_bounds_of_the_cost() -> None:
    asked = _chance_with_upper(np.array([3.0, np.inf]))
    alone = rows(asked.form.uncertain.matrix * [1.0, 0.0], asked.form.uncertain.limit)
    asked = asked._replace(form=asked.form._replace(uncertain=alone), infeasible_objective=0.0)
    with pytest.raises(ValueError, match="column 1 must be finite: it is part of a cost"):
        extensive.solve(asked)


def _chance_with_upper(upper: Array) -> SolveTask:
    rng = np.random.default_rng(0)
    form = Form(
        lower=np.zeros(2),
        upper=upper,
        integer=np.zeros(2, bool),
        size=2,
        shared=2,
        constant=np.zeros(1),
        cost=-np.ones((1, 2)),
        certain=none(2),
        defining=none(2),
        uncertain=rows(np.array([[[1.0, 1.0]], [[1.0, -1.0]]]), rng.uniform(1, 3, (2, 1))),
    )
    return task(form, np.array([0.5, 0.5]), Chance(0.5))
