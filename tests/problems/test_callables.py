"""Problems from plain Python functions: the pool, every policy, and misbehaving functions."""

from typing import Any

import numpy as np
import pytest
from blackbox import KNAPSACK, ONE, X, wrapped
from lengths import long
from registry import DIMS, STREAM, played_on, policies
from trees import same_bits, through_a_file

from bocopt import Status, from_callables, run
from bocopt.checks import check_problem
from bocopt.core import Array, Dims
from bocopt.loop import play
from bocopt.problems import CVaR, WorstCase
from bocopt.problems.scenarios import thin
from bocopt.trace import record


def test_one_scenario_is_the_users_answer_and_many_the_best_of_the_pool() -> None:
    rng = np.random.default_rng(0)
    problem = wrapped()
    for _ in range(50):
        scenarios, w = rng.uniform(0.5, 3, (5, 2)), rng.dirichlet(np.ones(5))
        alone = problem.solve(scenarios[:1], ONE, X)
        assert (alone.z == KNAPSACK.solve(scenarios[:1], ONE, X).z).all()
        assert alone.status == Status.OPTIMAL
        pooled, exact = problem.solve(scenarios, w, X), KNAPSACK.solve(scenarios, w, X)
        assert pooled.value >= exact.value - 1e-9
        if pooled.status == Status.POOL:
            met = problem.violation(X, pooled.z, scenarios) <= 0
            assert w[met].sum() >= 0.8 - 1e-9
            assert np.isinf(pooled.gap)
    assert problem.solve(np.ones((3, 1, 5, 2)), np.full(5, 0.2), np.zeros((4, 1))).z.shape == (
        3,
        4,
        2,
    )


def test_ties_in_the_pool_go_to_the_smallest() -> None:
    problem = from_callables(
        lambda x, xi: xi,
        lambda x, z, xi: 1.0,
        dims=Dims(None, 2, 2),
        fallback=[0, 0],
        synthetic=False,
    )
    scenarios = np.array([[2.0, 1.0], [1.0, 5.0], [1.0, 3.0]])
    assert problem.solve(scenarios, np.full(3, 1 / 3), X).z.tolist() == [1.0, 3.0]


def test_where_nothing_is_feasible_the_fallback_is_decided() -> None:
    problem = wrapped(solve=lambda x, xi: None, fallback=[3, 3])
    solution = problem.solve(np.eye(2), np.full(2, 0.5), X)
    assert solution.status == Status.FALLBACK  # the pool was empty: who knows what there is
    assert solution.gap == np.inf
    assert "one may exist" in Status.FALLBACK.message
    alone = problem.solve(np.ones((1, 2)), ONE, X)
    assert alone.status == Status.INFEASIBLE  # the solver said so
    assert solution.z.tolist() == [3, 3]
    assert solution.value == np.inf


@pytest.mark.parametrize("name", policies())
def test_works_with_every_policy(name: str) -> None:
    mine = wrapped(dims=DIMS)
    policy = policies(mine)[name]
    problem = played_on(policy, mine)
    stages = run(policy, STREAM, problem=problem, seeds=range(2), horizon=3)
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
@pytest.mark.parametrize("name", ["BMA", *map(long, ("PtO", "SampleAverage"))])
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
        ({"risk": 0.9, "alpha": 0.9}, "'risk' parameter of from_callables must be a Risk"),
        ({"risk": CVaR(0.5)}, "'alpha' parameter .* left out where 'risk' is given. Got 0.8"),
        ({"violation": 3}, "'violation' parameter of from_callables must be a function. Got 3"),
        ({"solve_many": 3}, "'solve_many' parameter of from_callables must be a function. Got 3"),
        ({"candidates": 0}, "'candidates' parameter of from_callables must be an integer"),
        ({"synthetic": 1}, "'synthetic' parameter of from_callables must be a bool. Got 1"),
        ({"vectorised": "no"}, "'vectorised' parameter of from_callables must be a bool. Got 'no'"),
        ({"prices_infeasibility": 1}, "'prices_infeasibility' parameter of from_callables"),
        ({"moves": -1}, r"'moves' parameter of from_callables must be an integer in \[0, inf\)"),
        ({"box": 3}, r"'box' parameter of from_callables must be a pair \(lower, upper\). Got 3"),
        ({"box": (0, [1, 2, 3])}, "must be a pair .* each a number or 2 numbers"),
        ({"box": (0, np.nan)}, "must be a pair .* each a number or 2 numbers"),
        ({"box": (0, "1")}, "must be a pair .* each a number or 2 numbers"),
        ({"box": (1, [2, 0])}, r"must be a pair with lower <= upper. Got \(1, \[2, 0\]\)"),
        ({"box": (0.2, 0.8), "integer": True}, "must be a pair with an integer between"),
        ({"box": (0, 6), "integer": [True]}, "'integer' parameter .* True, False, or 2 of them"),
        ({"integer": True}, "'integer' parameter of from_callables must be False without a box"),
        ({"workers": 0}, r"'workers' parameter of from_callables must be an integer in \[1, inf\)"),
        ({"timeout": 1.0}, "'timeout' parameter of from_callables must be None without workers"),
        ({"workers": 1, "timeout": 0}, r"'timeout' parameter .* must be a number in \(0, inf\)"),
    ],
)
def test_bad_arguments_are_refused(broken: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wrapped(**broken)


def test_bad_weights_are_refused() -> None:
    for w in ([0.5, 0.6], [1.5, -0.5], [0.0, 0.0]):
        with pytest.raises(ValueError, match="must be non-negative with sum 1"):
            wrapped().solve(np.ones((2, 2)), np.array(w), X)


def test_functions_cannot_change_what_they_are_given() -> None:
    def greedy(x: Array, xi: Array) -> Array:
        xi[:] = 0
        return np.ones(2)

    scenarios = np.ones((2, 2))
    wrapped(solve=greedy).solve(scenarios, np.full(2, 0.5), X)
    assert (scenarios == 1).all()


def test_a_newsvendor_under_many_scenarios_is_near_its_quantile() -> None:
    demand = np.random.default_rng(0).gamma(4.0, 5.0, size=(1024, 1))
    newsvendor = from_callables(
        solve=lambda x, xi: xi,
        cost=lambda x, z, xi: float(9 * max(xi[0] - z[0], 0) + max(z[0] - xi[0], 0)),
        dims=Dims(x=None, z=1, xi=1),
        fallback=[0],
    )
    solution = newsvendor.solve(demand, np.full(1024, 1 / 1024), np.zeros(0))
    best = np.quantile(demand, 0.9)
    cost = [newsvendor.cost(np.zeros(0), z, demand).mean() for z in (np.array([best]), solution.z)]
    assert cost[1] < 1.05 * cost[0]


def by_rows(**changes: Any) -> Any:
    """Two products and an uncertain room for both, in functions that take many scenarios too."""
    functions = {
        "solve": lambda x, xi: np.minimum(xi, [9.0, 3.0]),
        "cost": lambda x, z, xi: z.sum() - 3 * np.minimum(z, xi).sum(axis=-1),
        "violation": lambda x, z, xi: z.sum() - (xi[..., 0] + 3.0),
    }
    options = {"dims": Dims(None, 2, 2), "fallback": [0, 0], "alpha": 0.8}
    return from_callables(**{**functions, **options, **changes})


def test_functions_by_rows_answer_as_one_by_one() -> None:
    rng = np.random.default_rng(0)
    one_by_one, many = (by_rows(vectorised=v, box=(0, 9)) for v in (False, True))
    for size in (1, 2, 40, 300):
        scenarios = rng.uniform(0, 5, (size, 2))
        w = rng.dirichlet(np.ones(size))
        assert same_bits(one_by_one.solve(scenarios, w, X), many.solve(scenarios, w, X))
    z, xi = rng.uniform(0, 4, (3, 1, 2)), rng.uniform(0, 5, (3, 7, 2))
    for lead in (z, np.broadcast_to(z, (3, 7, 2)), z[0], z[0, 0]):
        assert same_bits(one_by_one.cost(X, lead, xi), many.cost(X, lead, xi))
        assert same_bits(one_by_one.violation(X, lead, xi[0, 0]), many.violation(X, lead, xi[0, 0]))
    check_problem(many, np.zeros((6, 1)), rng.uniform(0, 5, (6, 2)))


def test_functions_by_rows_are_called_once_for_all_scenarios() -> None:
    calls = []

    def cost(x: Array, z: Array, xi: Array) -> Any:
        calls.append(xi.shape)
        return z.sum() - 3 * np.minimum(z, xi).sum(axis=-1)

    problem = by_rows(vectorised=True, cost=cost)
    scenarios, w = np.random.default_rng(0).uniform(0, 5, (1024, 2)), np.full(1024, 1 / 1024)
    problem.solve(scenarios, w, X)
    calls.clear()  # the first time, some scenarios are asked for one by one
    problem.solve(scenarios, w, X)
    assert {shape[0] for shape in calls} == {128, 1024}
    assert len(calls) <= 26 + 8


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (lambda x, z, xi: 1.0, r"cost must return 5 numbers for xi of shape \(5, 2\).*shape \(\)"),
        (lambda x, z, xi: xi, r"Got an array of shape \(5, 2\) instead"),
        (lambda x, z, xi: [[1], [1, 2]], "Got "),
        (lambda x, z, xi: ["a"] * len(xi), "Got "),
        (lambda x, z, xi: np.full(len(xi), np.nan), r"finite numbers. Got nan at \[0\] instead"),
        (lambda x, z, xi: np.arange(len(xi)), "scenario 1 the same .* Got 1.0 among many and 0.0"),
        (lambda x, z, xi: (xi - xi.mean(axis=0)).sum(axis=1), "same number among many as alone"),
        (fails, "The user's cost raised ZeroDivisionError"),
    ],
)
def test_functions_that_do_not_take_rows_are_found_out(cost: Any, message: str) -> None:
    scenarios = np.random.default_rng(0).uniform(0, 5, (5, 2))
    with pytest.raises(ValueError, match=message):
        by_rows(cost=cost, vectorised=True).solve(scenarios, np.full(5, 0.2), X)


def test_a_verdict_that_rounds_otherwise_among_many_is_found_out() -> None:
    def violation(x: Array, z: Array, xi: Array) -> Any:
        return np.full(len(xi), 1e-17 if len(xi) > 1 else 0.0)

    with pytest.raises(ValueError, match="user's violation must give scenario 0 the same"):
        by_rows(violation=violation, vectorised=True).solve(np.eye(2), np.full(2, 0.5), X)


def test_the_users_own_solver_for_many_joins_the_pool() -> None:
    seen = []

    def solve_many(x: Array, scenarios: Array, w: Array) -> Any:
        seen.append((scenarios.shape, w.sum()))
        return [1.5, 2.5]

    scenarios = np.array([[1.0, 4.0], [4.0, 1.0], [4.0, 1.0]])
    options: Any = {"solve": lambda x, xi: None, "alpha": 0.9}
    problem = by_rows(**options, solve_many=solve_many)
    solution = problem.solve(scenarios, np.full(3, 1 / 3), X)
    assert solution.z.tolist() == [1.5, 2.5]
    assert solution.status == Status.POOL
    assert seen == [((2, 2), 1.0)]  # what is twice the same is told once
    refused = by_rows(**options, solve_many=lambda x, scenarios, w: [9, 9])
    assert refused.solve(scenarios, np.full(3, 1 / 3), X).status == Status.FALLBACK
    silent = by_rows(**options, solve_many=lambda x, scenarios, w: None)
    assert silent.solve(scenarios, np.full(3, 1 / 3), X).status == Status.FALLBACK
    for bad, message in (
        (lambda *_: [1.0], r"'z' parameter of the user's solve_many .* shape \(..., 2\)"),
        (lambda *_: [np.nan] * 2, "'z' parameter of the user's solve_many must be finite"),
        (fails, "The user's solve_many raised ZeroDivisionError"),
    ):
        with pytest.raises(ValueError, match=message):
            by_rows(**options, solve_many=bad).solve(scenarios, np.full(3, 1 / 3), X)


@pytest.mark.parametrize("risk", [CVaR(0.7), WorstCase(), CVaR(0.5, alpha=0.9), WorstCase(0.6)])
def test_any_risk_is_what_the_pool_is_judged_by(risk: Any) -> None:
    rng = np.random.default_rng(0)
    problem = by_rows(risk=risk, alpha=0.9, vectorised=True)
    scenarios, w = rng.uniform(0, 5, (30, 2)), rng.dirichlet(np.ones(30))
    solution = problem.solve(scenarios, w, X)
    assert solution.status == Status.POOL
    assert solution.value == risk.value(problem.cost(X, solution.z, scenarios), w)
    assert risk.met(problem.violation(X, solution.z, scenarios), w)
    for xi in scenarios[thin(30, 13)]:
        z = np.minimum(xi, [9.0, 3.0])
        if risk.met(problem.violation(X, z, scenarios), w):
            assert solution.value <= risk.value(problem.cost(X, z, scenarios), w)


def test_a_made_up_scenario_that_solve_cannot_take_is_named() -> None:
    def of_a_table(x: Array, xi: Array) -> Any:
        return {1.0: [0.0], 4.5: [1.0]}[float(xi[0])]

    table: Any = {"cost": lambda x, z, xi: 0.0, "dims": Dims(None, 1, 1), "fallback": [0]}
    scenarios, w = np.array([[1.0], [4.5]]), np.full(2, 0.5)
    with pytest.raises(ValueError, match=r"KeyError: 2.75 It was asked for a made-up scenario"):
        from_callables(of_a_table, **table).solve(scenarios, w, X)
    for known in ({"synthetic": False}, {"support": lambda x, xi: xi[0] in (1.0, 4.5)}):
        solution = from_callables(of_a_table, **table, **known).solve(scenarios, w, X)
        assert solution.status == Status.POOL
