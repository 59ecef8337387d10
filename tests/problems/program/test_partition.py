"""Groups of scenarios against the full model of all."""

import numpy as np
import pytest
from lengths import long
from stages_cases import full_optimum, is_optimal, judged, no_rows, rows, weights

from bocopt.core import Array
from bocopt.problems.program.form import Form, Rows, SolveTask
from bocopt.problems.program.strategies import partition
from bocopt.problems.risk import Chance, CVaR


def random_task(rng: np.random.Generator) -> SolveTask:
    """Recourse that may fail, equations, ties, both signs."""
    h, m, s = int(rng.integers(1, 4)), int(rng.integers(1, 5)), int(rng.integers(1, 15))
    n, digits = h + m, int(rng.integers(0, 2))
    defining, uncertain = (
        rows(
            rng.normal(0, 1, (1, r, n)).round(digits),
            rng.normal(4, 2, (int(rng.choice([1, s])), r)).round(digits),
            rng.random(r) < 0.1,
        )
        for r in rng.integers(0, 3, 2)
    )
    form = Form(
        np.zeros(n),
        np.where(rng.random(n) < 0.5, 4.0, 9.0),
        np.append(rng.random(h) < rng.choice([0.0, 0.5, 1.0]), np.zeros(m, bool)),
        h,
        h,
        rng.normal(0, 1, int(rng.choice([1, s]))),
        rng.normal(0, 1, (1, n)).round(digits),
        rows(rng.normal(0, 1, (1, 1, h)).round(1), rng.normal(3, 2, (1, 1))),
        defining,
        uncertain,
    )
    return judged(form, weights(rng, s), Chance(1.0))


def facility(demand: Array, gap: float) -> SolveTask:
    """Sites to open (6), before demand (s, 10) is known that they serve, or that is paid for."""
    rng, (s, customers), sites = np.random.default_rng(11), demand.shape, 6
    fixed, ship = rng.uniform(100, 200, sites), rng.uniform(1, 10, (sites, customers))
    room, n = rng.uniform(40, 80, sites), sites + sites * customers + customers
    matrix = np.zeros((1, sites + customers, n))
    for i in range(sites):
        served = sites + i * customers + np.arange(customers)
        matrix[0, i, i], matrix[0, i, served] = -room[i], 1.0
        matrix[0, sites + np.arange(customers), served] = -1.0
    matrix[0, sites + np.arange(customers), n - customers + np.arange(customers)] = -1.0
    form = Form(
        np.zeros(n),
        np.append(np.ones(sites), np.full(n - sites, np.inf)),
        np.arange(n) < sites,
        sites,
        sites,
        np.zeros(1),
        np.concatenate([fixed, ship.ravel(), np.full(customers, 25.0)])[None],
        no_rows(sites),
        no_rows(n),
        rows(matrix, np.hstack([np.zeros((s, sites)), -demand])),
    )
    return judged(form, np.full(s, 1 / s), Chance(1.0), gap)


@pytest.mark.parametrize("cuts", [0, 1, 30])
@pytest.mark.parametrize("many", [60, long(600)])
def test_equals_the_full_model(many: int, cuts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "_CUTS", cuts)
    rng = np.random.default_rng(12)
    infeasible = 0
    for _ in range(many):
        task = random_task(rng)
        assert partition.applies(task)
        answer = partition.solve(task)
        assert is_optimal(task, answer)
        infeasible += answer.z is None
    assert 0 < infeasible < many / 2


@pytest.mark.parametrize("gap", [1e-3, 1e-6])
@pytest.mark.parametrize("many", [20, long(100)])
def test_facilities(gap: float, many: int) -> None:
    task = facility(np.random.default_rng(13).gamma(4.0, 2.5, (many, 10)), gap)
    answer = partition.solve(task)
    best = full_optimum(task.form, task.w, task.risk)
    assert answer.z is not None
    value = task.judge(answer.z).value
    assert best - 1e-6 <= value <= answer.bound + gap * value
    assert answer.bound <= best + 1e-6


def test_applies_by_structure() -> None:
    task = facility(np.full((2, 10), 3.0), 1e-6)
    form = task.form
    assert partition.applies(task)
    assert not partition.applies(task._replace(risk=CVaR(0.5, alpha=1.0)))
    assert not partition.applies(task._replace(risk=Chance(0.9)))
    twice = Rows(np.repeat(form.uncertain.matrix, 2, axis=0), *form.uncertain[1:])
    others: list[Form] = [
        form._replace(uncertain=twice),
        form._replace(cost=np.repeat(form.cost, 2, axis=0)),
        form._replace(integer=np.ones(len(form.lower), bool)),
        form._replace(size=len(form.lower), shared=len(form.lower)),
    ]
    assert not any(partition.applies(task._replace(form=other)) for other in others)
