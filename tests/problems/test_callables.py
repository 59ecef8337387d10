"""Problems from plain Python functions: the pool, every policy, and misbehaving functions."""

from typing import Any

import numpy as np
import pytest
from blackbox import KNAPSACK, ONE, X, wrapped
from registry import DIMS, STREAM, policies
from scipy.stats.qmc import Sobol
from trees import same_bits, through_a_file

from bocopt import Dims, Status, from_callables, play, record, run
from bocopt.core import Array
from bocopt.problems.scenarios import spread


def test_one_scenario_is_the_users_answer_and_many_the_best_of_the_pool() -> None:
    rng = np.random.default_rng(0)
    problem = wrapped()
    for _ in range(50):
        scenarios, w = rng.uniform(0.5, 3, (5, 2)), rng.dirichlet(np.ones(5))
        alone = problem.solve(X, scenarios[:1], ONE)
        assert (alone.z == KNAPSACK.solve(X, scenarios[:1], ONE).z).all()
        assert alone.status == Status.OPTIMAL
        pooled, exact = problem.solve(X, scenarios, w), KNAPSACK.solve(X, scenarios, w)
        assert pooled.value >= exact.value - 1e-9
        if pooled.status == Status.POOL:
            met = problem.violation(X, pooled.z, scenarios) <= 0
            assert w[met].sum() >= 0.8 - 1e-9
            assert np.isinf(pooled.gap)
    assert problem.solve(np.zeros((4, 1)), np.ones((3, 1, 5, 2)), np.full(5, 0.2)).z.shape == (
        3,
        4,
        2,
    )


def test_ties_in_the_pool_go_to_the_smallest() -> None:
    problem = from_callables(
        lambda x, xi: xi, lambda x, z, xi: 1.0, dims=Dims(None, 2, 2), fallback=[0, 0]
    )
    scenarios = np.array([[2.0, 1.0], [1.0, 5.0], [1.0, 3.0]])
    assert problem.solve(X, scenarios, np.full(3, 1 / 3)).z.tolist() == [1.0, 3.0]


def test_where_nothing_is_feasible_the_fallback_is_decided() -> None:
    problem = wrapped(solve=lambda x, xi: None, fallback=[3, 3])
    solution = problem.solve(X, np.ones((2, 2)), np.full(2, 0.5))
    assert solution.status == Status.FALLBACK  # the pool was empty: who knows what there is
    assert solution.gap == np.inf
    assert "one may exist" in Status.FALLBACK.message
    alone = problem.solve(X, np.ones((1, 2)), ONE)
    assert alone.status == Status.INFEASIBLE  # the solver said so
    assert solution.z.tolist() == [3, 3]
    assert solution.value == np.inf


@pytest.mark.parametrize("name", policies())
def test_works_with_every_policy(name: str) -> None:
    problem = wrapped(dims=DIMS)
    stages = run(policies(problem)[name], problem, STREAM, seeds=range(2), horizon=3)
    trace = record(stages, problem.sense)
    assert trace.reward.shape == (2, 3)
    assert (trace.regret >= -1e-9).all()


def fails(x: Array, *rest: Array) -> float:
    raise ZeroDivisionError("the simulator fell over")


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"solve": fails}, "The user's solve raised ZeroDivisionError: the simulator fell over"),
        ({"solve": lambda x, xi: [np.nan, 1]}, "'z' parameter of the user's solve must be finite"),
        ({"solve": lambda x, xi: [1.0]}, r"must be an array of shape \(..., 2\). Got \(1,\)"),
        ({"solve": lambda x, xi: [6, 6]}, r"\[6.0, 6.0\], which violates its own scenario by "),
        ({"solve": lambda x, xi: np.ones((3, 2))}, r"must be of shape \(2,\). Got \(3, 2\)"),
        ({"cost": lambda x, z, xi: "abc"}, "must return a finite number. Got 'abc'"),
        ({"cost": lambda x, z, xi: {}}, "must return a finite number. Got {}"),
        ({"solve": lambda x, xi: "abc"}, "must be an array of numbers. Got 'abc'"),
        ({"cost": fails}, "The user's cost raised ZeroDivisionError"),
        ({"cost": lambda x, z, xi: np.nan}, "The user's cost must return a finite number. Got nan"),
        ({"cost": lambda x, z, xi: z}, "The user's cost must return a finite number. Got array"),
        ({"violation": lambda x, z, xi: None}, "The user's violation must return a finite number"),
    ],
)
@pytest.mark.parametrize("name", ["BMA", "PtO", "SampleAverage"])
def test_a_misbehaving_function_is_named_and_changes_nothing(
    broken: dict[str, Any], message: str, name: str
) -> None:
    problem, spoiled = wrapped(dims=DIMS), wrapped(dims=DIMS, **broken)
    good, bad = policies(problem)[name], policies(spoiled)[name]
    rng = np.random.default_rng(2)
    state: Any = good.init(np.array(0))
    for t in range(3):
        _, state = play(good, problem, state, t, rng.normal(size=3), rng.uniform(1.5, 2, 2))
    before = through_a_file(state)
    with pytest.raises(ValueError, match=message):
        play(bad, spoiled, state, 3, np.zeros(3), np.full(2, 1.5))
    assert same_bits(before, state)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"solve": 3}, "'solve' parameter of from_callables must be a function. Got 3"),
        ({"dims": (1, 2, 2)}, "must be a Dims and a Sense"),
        ({"alpha": 0}, r"in \(0, 1\]. Got 0"),
        ({"fallback": [1]}, "'fallback' parameter of from_callables must be a sequence of 2"),
    ],
)
def test_bad_arguments_are_refused(broken: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wrapped(**broken)


def test_bad_weights_are_refused() -> None:
    for w in ([0.5, 0.6], [1.5, -0.5], [0.0, 0.0]):
        with pytest.raises(ValueError, match="must be non-negative with sum 1"):
            wrapped().solve(X, np.ones((2, 2)), np.array(w))


def test_functions_cannot_change_what_they_are_given() -> None:
    def greedy(x: Array, xi: Array) -> Array:
        xi[:] = 0
        return np.ones(2)

    scenarios = np.ones((2, 2))
    wrapped(solve=greedy).solve(X, scenarios, np.full(2, 0.5))
    assert (scenarios == 1).all()


@pytest.mark.parametrize("wanted", [10, 33, 50, 65, 129, 200])
def test_candidates_come_from_all_over_a_regular_pattern(wanted: int) -> None:
    """Of a low-discrepancy sequence too, where every so-manyth point lies in one corner."""
    points = Sobol(1, rng=0).random(1024)[:, 0]
    chosen = np.sort(points[spread(1024, wanted)])
    gaps = np.diff(np.concatenate([[0.0], chosen, [1.0]]))
    assert len(chosen) == wanted
    assert gaps.max() < 6.0 / wanted


def test_a_newsvendor_under_many_scenarios_is_near_its_quantile() -> None:
    demand = np.random.default_rng(0).gamma(4.0, 5.0, size=(1024, 1))
    newsvendor = from_callables(
        solve=lambda x, xi: xi,
        cost=lambda x, z, xi: float(9 * max(xi[0] - z[0], 0) + max(z[0] - xi[0], 0)),
        dims=Dims(x=None, z=1, xi=1),
        fallback=[0],
    )
    solution = newsvendor.solve(np.zeros(0), demand, np.full(1024, 1 / 1024))
    best = np.quantile(demand, 0.9)
    cost = [newsvendor.cost(np.zeros(0), z, demand).mean() for z in (np.array([best]), solution.z)]
    assert cost[1] < 1.05 * cost[0]
