"""The exact search against all decisions, and its limits."""

import time
from collections import Counter

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from search_cases import KINDS, best_value, random_task, rows, task_of

from bocopt.core import Array
from bocopt.problems.program.form import Judged, SolveLimits, SolveTask
from bocopt.problems.program.strategies import exact, search
from bocopt.problems.risk import CVaR, WorstCase


def assert_optimal(task: SolveTask) -> bool:
    """Whether there is a feasible decision."""
    assert search.applies(task)
    best, answer = best_value(task), search.solve(task)
    if best == np.inf:
        assert answer.z is None
        assert answer.bound == np.inf
        return False
    assert answer.z is not None
    verdict = task.judge(answer.z)
    assert verdict.met
    assert verdict.value == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert best - 1e-8 * max(1.0, abs(best)) <= answer.bound <= best
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_equals_enumeration(kind: str) -> None:
    rng = np.random.default_rng([1, KINDS.index(kind)])
    feasible = Counter(assert_optimal(random_task(rng, kind)) for _ in range(50))
    assert feasible[True] > 10


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_equals_enumeration_often(kind: str) -> None:
    rng = np.random.default_rng([2, KINDS.index(kind)])
    feasible = Counter(assert_optimal(random_task(rng, kind)) for _ in range(1000))
    print(f"\n{kind}: {feasible[True]} feasible, {feasible[False]} not")
    assert feasible[True] > 200


def test_equals_enumeration_with_prices_of_single_scenarios(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A first round of a few nodes: the second has each scenario's own prices."""
    monkeypatch.setattr(exact, "FIRST_NODES", 5)
    rng = np.random.default_rng(3)
    for kind in KINDS:
        for _ in range(10):
            assert_optimal(random_task(rng, kind))


def large(
    seed: int, items: int, most: int, scenarios: int = 50, limits: SolveLimits | None = None
) -> SolveTask:
    """A chance-constrained knapsack with five rows."""
    rng = np.random.default_rng(seed)
    usual = rng.uniform(1.0, 10.0, (5, items))
    return task_of(
        upper=np.full(items, float(most)),
        cost=-rng.uniform(5.0, 15.0, items),
        uncertain=rows(
            usual * rng.uniform(0.5, 1.5, (scenarios, 5, items)),
            np.full((1, 5), 0.3 * most * usual.sum(axis=1).mean()),
        ),
        w=np.full(scenarios, 1.0 / scenarios),
        alpha=0.9,
        limits=limits,
    )


def big_m(task: SolveTask) -> float:
    """The optimal value by a mixed-integer program with the least M that is safe, alpha .9."""
    form, w = task.form, task.w
    matrix, limit = form.uncertain.matrix, form.uncertain.limit
    s, r, d = matrix.shape
    over: Array = np.maximum(matrix @ form.upper - limit, 0.0)  # (s, r)
    switch = np.einsum("sr,st->srt", over, np.eye(s)).reshape(s * r, s)
    held = np.hstack([matrix.reshape(s * r, d), switch])
    result = milp(
        np.concatenate([form.cost[0], np.zeros(s)]),
        integrality=np.ones(d + s),
        bounds=Bounds(0.0, np.concatenate([form.upper, np.ones(s)])),
        constraints=[
            LinearConstraint(held, ub=(over + limit).reshape(-1)),
            LinearConstraint(np.concatenate([np.zeros(d), w]), lb=0.9),
        ],
    )
    assert result.fun is not None
    return float(result.fun)


@pytest.mark.parametrize(("items", "most"), [(8, 1), (5, 4)])
def test_equals_a_mixed_integer_program(items: int, most: int) -> None:
    task = large(4, items, most, scenarios=20)
    answer = search.solve(task)
    assert answer.z is not None
    assert task.judge(answer.z).value == pytest.approx(big_m(task), rel=1e-6)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_is_many_times_faster_than_big_m(seed: int) -> None:
    """20 items, 5 rows, 50 scenarios."""
    search.solve(large(seed, items=4, most=1))  # compile
    task, began = large(seed, items=20, most=1), time.process_time()
    answer = search.solve(task)
    ours, began = time.process_time() - began, time.process_time()
    value = big_m(task)
    theirs = time.process_time() - began
    print(f"\n{1e3 * ours:.1f} ms, big-M {theirs:.2f} s: {theirs / ours:.0f} x")
    assert answer.z is not None
    assert task.judge(answer.z).value == pytest.approx(value, rel=1e-6)
    assert theirs > 20.0 * ours


def test_the_limit_of_nodes_leaves_a_decision_and_a_bound() -> None:
    task = large(5, items=20, most=3, limits=SolveLimits(nodes=25))
    first, second = search.solve(task), search.solve(task)
    assert first.z is not None
    assert second.z is not None
    assert first.z.tolist() == second.z.tolist()
    assert first.bound == second.bound
    verdict = task.judge(first.z)
    assert verdict.met
    assert 1.3 * verdict.value < first.bound < verdict.value


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_at_the_limit_is_valid(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "NODES", 1)
    rng = np.random.default_rng([6, KINDS.index(kind)])
    for _ in range(20):
        task = random_task(rng, kind)
        task = task._replace(limits=SolveLimits(nodes=int(rng.integers(1, 40))))
        answer, best = search.solve(task), best_value(task)
        assert answer.bound <= best
        assert answer.z is None or task.judge(answer.z).met


def test_a_deadline_is_kept() -> None:
    search.solve(large(5, items=4, most=1))  # compile
    task = large(5, items=20, most=4)
    began = time.perf_counter()
    answer = search.solve(task._replace(limits=SolveLimits(deadline=began + 0.1)))
    assert time.perf_counter() - began < 1.0  # the node limit is some ten seconds
    assert answer.z is not None
    assert task.judge(answer.z).met


@pytest.mark.parametrize("seed", range(5))
def test_the_judge_decides(seed: int) -> None:
    """A judge that refuses the best that the rows allow gets the second best."""
    task = random_task(np.random.default_rng([7, seed]), "plain")
    best = search.solve(task).z
    assert best is not None

    def strict(z: Array) -> Judged:
        verdict = task.judge(z)
        return verdict._replace(met=verdict.met and bool((z != best).any()))

    second = search.solve(task._replace(judge=strict)).z
    value = np.inf if second is None else task.judge(second).value
    assert value == pytest.approx(best_value(task, besides=best), rel=1e-9)


def test_where_it_applies() -> None:
    task = random_task(np.random.default_rng(8), "certain rows")
    form, d = task.form, task.form.size
    assert search.applies(task)
    others = [
        task._replace(risk=CVaR(0.9, alpha=0.9)),
        task._replace(risk=WorstCase(alpha=0.9)),
        task._replace(form=form._replace(lower=form.lower - 1.0)),
        task._replace(form=form._replace(integer=np.zeros(d, bool))),
        task._replace(form=form._replace(defining=form.certain)),
        task._replace(
            form=form._replace(uncertain=rows(-form.uncertain.matrix - 1.0, form.uncertain.limit))
        ),
        task._replace(
            form=form._replace(
                uncertain=form.uncertain._replace(equal=np.ones(form.uncertain.many, bool))
            )
        ),
    ]
    assert not any(search.applies(other) for other in others)
