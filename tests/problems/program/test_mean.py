"""Mean coefficients against the full model of all scenarios."""

import numpy as np
import pytest
from lengths import long
from stages_cases import is_optimal, judged, no_rows, rows, weights

from bocopt.problems.program.form import Form, SolveTask
from bocopt.problems.program.strategies import mean
from bocopt.problems.risk import Chance, CVaR


def random_task(rng: np.random.Generator) -> SolveTask:
    """Continuous and integer columns, both signs, ties, often degenerate, sometimes infeasible."""
    h, s, r = int(rng.integers(1, 6)), int(rng.integers(1, 9)), int(rng.integers(0, 4))
    integer = rng.random(h) < rng.choice([0.0, 0.5, 1.0])
    digits = int(rng.integers(0, 2))
    lower = np.where(rng.random(h) < 0.5, 0.0, -3.0)
    certain = rows(
        rng.normal(0, 2, (1, r, h)).round(digits),
        rng.normal(2, 3, (1, r)).round(digits),
        rng.random(r) < 0.1,
    )
    uncertain = no_rows(h)
    if rng.random() < 0.6:  # the same, or limits that differ, or all: they must hold in all
        matrices, limits = int(rng.choice([1, 1, s])), int(rng.choice([1, s]))
        matrix = rng.normal(0, 1, (matrices, 2, h)).round(digits)
        uncertain = rows(matrix, rng.uniform(0, 6, (limits, 2)).round(digits))
    costs, constants = int(rng.choice([1, s])), int(rng.choice([1, s]))
    form = Form(
        lower,
        np.full(h, 4.0),
        integer,
        h,
        h,
        rng.normal(0, 1, constants),
        rng.normal(0, 1, (costs, h)).round(digits),
        certain,
        no_rows(h),
        uncertain,
    )
    return judged(form, weights(rng, s), Chance(1.0))


@pytest.mark.parametrize("many", [60, long(600)])
def test_equals_the_full_model(many: int) -> None:
    rng = np.random.default_rng(1)
    infeasible = 0
    for _ in range(many):
        task = random_task(rng)
        assert mean.applies(task)
        answer = mean.solve(task)
        assert is_optimal(task, answer)
        infeasible += answer.z is None
    assert 0 < infeasible < many / 2


def test_a_decision_that_rounding_puts_outside_is_sought_again_inside() -> None:
    row = rows(np.array([[[0.1, 0.2]]]), np.array([[0.3]]))  # 0.1 + 0.2 > 0.3 in float64
    form = Form(
        np.zeros(2),
        np.ones(2),
        np.ones(2, bool),
        2,
        2,
        np.zeros(1),
        np.array([[-1.0, -1.5]]),
        row,
        no_rows(2),
        no_rows(2),
    )
    answer = mean.solve(judged(form, np.ones(1), Chance(1.0)))
    assert answer.z is not None
    assert answer.z.tolist() == [0.0, 1.0]
    assert answer.bound == pytest.approx(-2.5)  # what was refused still bounds


def test_applies_by_structure() -> None:
    task = judged(_two_scenarios(), np.full(2, 0.5), Chance(1.0))
    assert mean.applies(task)
    assert not mean.applies(task._replace(risk=CVaR(0.5, alpha=1.0)))
    assert not mean.applies(task._replace(risk=Chance(0.5)))  # a scenario may be given up
    alike = task.form._replace(uncertain=rows(np.ones((1, 1, 1)), np.ones((1, 1))))
    assert mean.applies(task._replace(form=alike, risk=Chance(0.5)))
    assert not mean.applies(task._replace(form=task.form._replace(shared=0, size=0)))


def _two_scenarios() -> Form:
    return Form(
        np.zeros(1),
        np.ones(1),
        np.zeros(1, bool),
        1,
        1,
        np.zeros(1),
        np.array([[1.0], [2.0]]),
        no_rows(1),
        no_rows(1),
        rows(np.ones((1, 1, 1)), np.array([[1.0], [2.0]])),
    )
