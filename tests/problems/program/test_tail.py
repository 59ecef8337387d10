"""CVaR and the worst case against the full model of all scenarios."""

import numpy as np
import pytest
from lengths import long
from stages_cases import is_optimal, judged, no_rows, rows, weights

from bocopt.core import Risk
from bocopt.problems.program.form import Form, SolveTask
from bocopt.problems.program.strategies import tail
from bocopt.problems.risk import Chance, CVaR, WorstCase


def random_task(rng: np.random.Generator, risk: Risk, most: int = 20) -> SolveTask:
    """Continuous and integer columns, auxiliaries of z, ties, sometimes infeasible."""
    d, s = int(rng.integers(1, 5)), int(rng.integers(1, most))
    h = d + int(rng.integers(0, 2))  # the auxiliary is |z_0 - 1|
    digits = int(rng.integers(0, 2))
    costs = int(rng.choice([1, s, s, s]))
    cost = np.pad(rng.normal(0, 1, (costs, d)).round(digits), ((0, 0), (0, h - d)))
    cost[:, d:] = 0.3
    apart = np.zeros((1, 2 * (h - d), h))
    apart[:, :, 0], apart[:, :, d:] = [1.0, -1.0][: 2 * (h - d)], -1.0
    form = Form(
        np.append(np.where(rng.random(d) < 0.5, 0.0, -2.0), np.zeros(h - d)),
        np.append(np.full(d, 3.0), np.full(h - d, np.inf)),
        np.append(rng.random(d) < rng.choice([0.0, 0.5, 1.0]), np.zeros(h - d, bool)),
        d,
        h,
        rng.normal(0, 1, s).round(digits),
        cost,
        rows(rng.normal(0, 1, (1, 2, h)).round(1), rng.normal(2, 2, (1, 2)), rng.random(2) < 0.1),
        rows(apart, np.array([[1.0, -1.0]])[:, : 2 * (h - d)]),
        no_rows(h),
    )
    return judged(form, weights(rng, s), risk)


@pytest.mark.parametrize("risk", [CVaR(0.8, alpha=1.0), CVaR(0.0, alpha=1.0), WorstCase(alpha=1.0)])
@pytest.mark.parametrize("many", [20, long(500)])
def test_equals_the_full_model(risk: Risk, many: int) -> None:
    rng = np.random.default_rng(5)
    infeasible = 0
    for _ in range(many):
        task = random_task(rng, risk)
        assert tail.applies(task) == (risk != CVaR(0.0, alpha=1.0))  # the mean of all: `mean`
        answer = tail.solve(task)
        assert is_optimal(task, answer)
        infeasible += answer.z is None
    assert 0 < infeasible < many / 2


@pytest.mark.parametrize("risk", [CVaR(0.9, alpha=1.0), WorstCase(alpha=1.0)])
@pytest.mark.parametrize("many", [4, long(50)])
def test_many_scenarios(risk: Risk, many: int) -> None:
    rng = np.random.default_rng(6)
    for _ in range(many):
        task = random_task(rng, risk, most=800)
        assert is_optimal(task, tail.solve(task))


def test_applies_by_structure() -> None:
    task = random_task(np.random.default_rng(7), WorstCase(alpha=1.0))
    h = task.form.shared
    assert tail.applies(task)
    assert not tail.applies(task._replace(risk=Chance(1.0)))
    assert not tail.applies(task._replace(form=task.form._replace(size=h - 1, shared=h - 1)))
    uncertain = rows(np.ones((1, 1, h)), np.arange(2.0)[:, None])
    unsure = task._replace(form=task.form._replace(uncertain=uncertain))
    assert tail.applies(unsure)
    assert not tail.applies(unsure._replace(risk=WorstCase(alpha=0.5)))
