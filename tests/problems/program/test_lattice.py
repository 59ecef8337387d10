"""Programs that are knapsacks, against `Knapsack` itself and against all decisions."""

import time
from dataclasses import replace

import numpy as np
import pytest
from search_cases import best_value, random_task, rows, task_of

from bocopt import Status
from bocopt.core import Array
from bocopt.problems import Knapsack
from bocopt.problems.program.form import SolveLimits, SolveTask
from bocopt.problems.program.strategies import lattice, search

NO_CONTEXT = np.zeros(0)


def random_knapsack(rng: np.random.Generator) -> tuple[Knapsack, Array, Array]:
    """A small one, its weights (s, r, d), and the weights of these scenarios."""
    d, r, s = (int(rng.integers(*ends)) for ends in ((1, 5), (1, 4), (1, 31)))
    digits = int(rng.choice([0, 1, 15]))
    problem = Knapsack(
        value=list(rng.uniform(0.0, 12.0, d).round(digits)),
        capacity=list(rng.uniform(0.0, 8.0, r).round(digits)),
        salvage=list((rng.uniform(0.0, 3.0, r) * (rng.random() < 0.7)).round(digits)),
        upper=int(rng.integers(1, 6)),
        lower=int(rng.random() < 0.1),
        alpha=float(rng.choice([0.5, 0.9, 1.0])),
        infeasible_reward=float(-rng.uniform(0.0, 5.0) * (rng.random() < 0.5)),
    )
    weights = (rng.uniform(0.0, 3.0, (s, r, d)) * (rng.random((s, r, d)) < 0.9)).round(digits)
    return problem, weights, rng.dirichlet(np.ones(s))


def declared(problem: Knapsack, weights: Array, w: Array) -> SolveTask:
    """The same as a program: costs compiled from c'z + q'(b - A z)."""
    value, capacity, salvage = map(np.array, (problem.value, problem.capacity, problem.salvage))
    return task_of(
        lower=np.array(problem.lower, float),
        upper=np.array(problem.upper, float),
        cost=np.einsum("r,srd->sd", salvage, weights) - value,
        constant=np.full(1, -(salvage @ capacity)),
        uncertain=rows(weights, capacity[None]),
        w=w,
        alpha=problem.alpha,
        otherwise=0.0 - problem.infeasible_reward,
    )


def assert_same(problem: Knapsack, weights: Array, w: Array) -> None:
    task = declared(problem, weights, w)
    assert lattice.applies(task)
    answer = lattice.solve(task)
    expected = problem.solve(weights.reshape(len(w), -1), w, NO_CONTEXT)
    if expected.status == Status.INFEASIBLE:
        assert answer.z is None
        assert answer.bound == np.inf == best_value(task)
        return
    assert answer.z is not None
    value = task.judge(answer.z).value
    assert value == pytest.approx(float(expected.value), rel=1e-9, abs=1e-9)
    assert value == pytest.approx(best_value(task), rel=1e-9, abs=1e-9)
    assert value - 1e-9 * max(1.0, abs(value)) <= answer.bound <= value + 1e-9


@pytest.mark.parametrize(
    "instances", [100, pytest.param(1000, marks=pytest.mark.full)], ids=["few", "many"]
)
def test_equals_the_knapsack(instances: int) -> None:
    rng = np.random.default_rng(1)
    for _ in range(instances):
        assert_same(*random_knapsack(rng))


def paper_like(rng: np.random.Generator, scenarios: int) -> SolveTask:
    problem = Knapsack(value=[12.0] * 4, capacity=[8.0] * 3, salvage=[3.0] * 3, upper=100)
    weights = rng.uniform(0.2, 2.0, (scenarios, 3, 4))
    return declared(problem, weights, np.full(scenarios, 1.0 / scenarios))


def test_finds_the_numbers_of_the_knapsack() -> None:
    found = lattice.knapsack_of(paper_like(np.random.default_rng(2), 20).form)
    assert found is not None
    assert found.value.tolist() == [12.0] * 4
    assert found.salvage.tolist() == [3.0] * 3
    assert found.capacity.tolist() == [8.0] * 3


def test_the_search_in_z_agrees() -> None:
    """20 and 100 scenarios of the paper's size, the lattice off."""
    for scenarios in (20, 100):
        task = paper_like(np.random.default_rng(3), scenarios)
        by_lattice, by_search = lattice.solve(task), search.solve(task)
        assert by_lattice.z is not None
        assert by_search.z is not None
        value = task.judge(by_lattice.z).value
        assert task.judge(by_search.z).value == pytest.approx(value, rel=1e-9)
        assert by_search.bound == pytest.approx(value, rel=1e-8)


def test_where_all_must_be_met_no_payment_matters() -> None:
    rng = np.random.default_rng(4)
    for otherwise in (None, -50.0, 50.0):
        problem, weights, w = random_knapsack(rng)
        task = declared(replace(problem, alpha=1.0), weights, w)._replace(
            infeasible_objective=otherwise
        )
        assert lattice.applies(task)
        answer = lattice.solve(task)
        value = np.inf if answer.z is None else task.judge(answer.z).value
        assert value == pytest.approx(best_value(task), rel=1e-9)


def test_what_is_no_knapsack() -> None:
    task = paper_like(np.random.default_rng(5), 20)
    form = task.form
    limit = np.repeat(form.uncertain.limit, 20, axis=0)
    limit[3, 1] += 1e-9
    others = [
        task._replace(infeasible_objective=None),
        task._replace(infeasible_objective=-1.0),
        task._replace(form=form._replace(constant=form.constant + 1e-6)),
        task._replace(form=form._replace(constant=np.append(np.repeat(form.constant, 19), -71.0))),
        task._replace(form=form._replace(cost=form.cost + 1e-6 * np.eye(20, 4))),
        task._replace(form=form._replace(cost=form.cost + 13.0)),
        task._replace(form=form._replace(uncertain=form.uncertain._replace(limit=limit))),
        random_task(np.random.default_rng(6), "certain rows"),
    ]
    assert lattice.applies(task)
    assert not any(lattice.applies(other) for other in others)


def test_limits() -> None:
    task = paper_like(np.random.default_rng(7), 100)
    best = lattice.solve(task)
    late = SolveLimits(deadline=time.perf_counter())
    stopped = lattice.solve(task._replace(limits=late))
    assert best.z is not None
    assert stopped.z is not None
    verdict = task.judge(stopped.z)
    assert verdict.met
    assert stopped.bound < task.judge(best.z).value < verdict.value
