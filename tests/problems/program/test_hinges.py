"""Positive parts against the full model of all scenarios."""

import numpy as np
import pytest
from lengths import long
from stages_cases import full_optimum, is_optimal, judged, no_rows, rows, weights

from bocopt.core import Array
from bocopt.problems.program.form import Form, Rows, SolveTask
from bocopt.problems.program.strategies import hinged, hinges
from bocopt.problems.program.strategies.fixed import Relaxation
from bocopt.problems.risk import Chance, CVaR


def random_task(rng: np.random.Generator, most: int = 12) -> SolveTask:
    """Terms of one column or of all, slopes that differ or not, prices of zero, ties."""
    h, k, s = int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(rng.integers(1, most))
    digits = int(rng.integers(0, 2))
    slopes, limits, costs = (int(rng.choice([1, s])) for _ in range(3))
    term = np.zeros((slopes, k, h + k))
    term[..., :h] = rng.normal(0, 1, (slopes, k, h)).round(digits)
    term[:, np.arange(k), h + rng.permutation(k)] = -1.0
    if rng.random() < 0.5:  # each term depends on one column
        term[..., :h] *= np.arange(k)[:, None] % h == np.arange(h)
    cost = rng.normal(0, 0.5, (costs, h + k)).round(digits)
    cost[:, h:] = rng.uniform(0, 2, (costs, k)).round(digits)
    form = Form(
        np.append(np.where(rng.random(h) < 0.5, 0.0, -5.0), np.zeros(k)),
        np.append(np.full(h, 6.0), np.full(k, np.inf)),
        np.append(rng.random(h) < rng.choice([0.0, 0.5, 1.0]), np.zeros(k, bool)),
        h,
        h,
        rng.normal(0, 1, s),
        cost,
        rows(rng.normal(0, 1, (1, 2, h)).round(1), rng.normal(3, 3, (1, 2)), rng.random(2) < 0.1),
        rows(term, rng.normal(0, 3, (limits, k)).round(digits)),
        no_rows(h + k),
    )
    return judged(form, weights(rng, s), Chance(1.0))


@pytest.mark.parametrize("many", [60, long(600)])
def test_equals_the_full_model(many: int) -> None:
    rng = np.random.default_rng(2)
    infeasible = 0
    for _ in range(many):
        task = random_task(rng)
        assert hinges.applies(task)
        answer = hinges.solve(task)
        assert is_optimal(task, answer)
        infeasible += answer.z is None
    assert 0 < infeasible < many / 2


@pytest.mark.parametrize("many", [8, long(100)])
def test_bundles_of_many_hinges_are_exact(many: int) -> None:
    rng = np.random.default_rng(3)
    bundled = 0
    for _ in range(many):
        task = random_task(rng, most=500)
        bundled += len(task.w) * task.form.defining.many > 300
        assert is_optimal(task, hinges.solve(task))
    assert bundled >= many / 4


def test_the_newsvendor_orders_the_critical_quantile() -> None:
    demand = np.random.default_rng(4).uniform(0, 100, 999)
    form = _newsvendor(demand)
    answer = hinges.solve(judged(form, np.full(999, 1 / 999), Chance(1.0)))
    assert answer.z is not None
    assert answer.z[0] == pytest.approx(np.quantile(demand, 0.75, method="inverted_cdf"))


def test_a_wrong_optimum_is_noticed_and_sought_in_another_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    task = judged(_newsvendor(np.arange(40.0)), np.full(40, 1 / 40), Chance(1.0))
    right, relaxed = hinges.solve(task), hinged.relaxed
    monkeypatch.setattr(hinged, "relaxed", lambda program: _moved(relaxed(program)))
    assert is_optimal(task, right)
    assert is_optimal(task, hinges.solve(task))


def test_nothing_bounds_it() -> None:
    form = _newsvendor(np.array([1.0, 2.0]))
    cost = np.array([[-5.0, 4.0]])
    answer = hinges.solve(judged(form._replace(cost=cost), np.full(2, 0.5), Chance(1.0)))
    assert answer.z is None
    assert answer.bound == -np.inf == full_optimum(form._replace(cost=cost), *_half())


def test_applies_by_structure() -> None:
    form = _newsvendor(np.array([1.0, 2.0]))
    task = judged(form, *_half())
    assert hinges.applies(task)
    assert not hinges.applies(task._replace(risk=CVaR(0.5, alpha=1.0)))
    term = form.defining
    others: list[Form] = [
        form._replace(cost=np.array([[1.0, -4.0]])),  # not convex
        form._replace(lower=np.array([0.0, -1.0])),
        form._replace(upper=np.array([np.inf, 9.0])),
        form._replace(integer=np.array([False, True])),
        form._replace(defining=term._replace(equal=np.ones(1, bool))),
        form._replace(defining=term._replace(matrix=2 * term.matrix)),
        form._replace(defining=_twice(term)),
        form._replace(uncertain=rows(np.ones((1, 1, 2)), np.ones((1, 1)))),
        form._replace(size=2, shared=2),
    ]
    assert not any(hinges.applies(task._replace(form=other)) for other in others)


def _moved(point: Relaxation) -> Relaxation:
    assert point.columns is not None
    return point._replace(columns=point.columns + 3.0)


def _twice(term: Rows) -> Rows:
    matrix, limit, equal, _ = term
    return Rows(np.repeat(matrix, 2, axis=1), np.repeat(limit, 2, axis=1), np.repeat(equal, 2))


def _half() -> tuple[Array, Chance]:
    return np.full(2, 0.5), Chance(1.0)


def _newsvendor(demand: Array) -> Form:
    """Order at 1, and pay 4 for each one missing."""
    return Form(
        np.zeros(2),
        np.full(2, np.inf),
        np.zeros(2, bool),
        1,
        1,
        np.zeros(1),
        np.array([[1.0, 4.0]]),
        no_rows(1),
        rows(np.array([[[-1.0, -1.0]]]), -demand[:, None]),
        no_rows(2),
    )
