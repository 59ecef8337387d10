"""The 0-1 knapsack against all choices, against HiGHS, and at its limits."""

import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from bocopt.checks import check_problem
from bocopt.core import Array, Status
from bocopt.problems.library.binary_knapsack import BinaryKnapsack

NO_CONTEXT = np.zeros(0)
KINDS = ("certain", "whole", "one decimal", "any", "negative")


def random_instance(rng: np.random.Generator, kind: str) -> tuple[BinaryKnapsack, Array, Array]:
    n, s = int(rng.integers(1, 10)), int(rng.integers(1, 7))
    low = -1.0 if kind == "negative" else 0.0
    value, weight = rng.uniform(2 * low, 5, (s, n)), rng.uniform(low, 4, (s, n))
    if kind in ("whole", "one decimal"):
        digits = 0 if kind == "whole" else 1
        value, weight = np.round(value, digits), np.round(weight, digits)
    problem = BinaryKnapsack(
        items=n,
        capacity=float(np.round(rng.uniform(0, 8), 1)),
        weights=weight[0].tolist() if kind == "certain" else None,
        alpha=float(rng.choice([0.3, 0.5, 0.8, 0.9, 1.0])),
        infeasible_reward=float(rng.choice([0.0, -3.0])),
    )
    xi = value if kind == "certain" else np.hstack([value, weight])
    return problem, xi, np.full(s, 1 / s) if rng.integers(2) else rng.dirichlet(np.ones(s))


def least_cost(problem: BinaryKnapsack, xi: Array, w: Array) -> float:
    """Over all choices, by the judge."""
    every = np.array(list(product([0.0, 1.0], repeat=problem.items)))[:, None, :]
    met = problem.risk.met(problem.violation(NO_CONTEXT, every, xi), w)
    costs = problem.risk.value(problem.cost(NO_CONTEXT, every, xi), w)
    return float(costs[met].min())


def assert_no_choice_is_better(rng: np.random.Generator, instances: int, kind: str) -> None:
    for _ in range(instances):
        problem, xi, w = random_instance(rng, kind)
        solution = problem.solve(xi, w, NO_CONTEXT)
        assert solution.status == Status.OPTIMAL
        assert float(solution.value) == pytest.approx(least_cost(problem, xi, w), abs=1e-9)
        assert problem.risk.met(problem.violation(NO_CONTEXT, solution.z, xi), w)


@pytest.mark.parametrize("kind", KINDS)
def test_no_choice_is_better(kind: str) -> None:
    assert_no_choice_is_better(np.random.default_rng(KINDS.index(kind)), 60, kind)


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_no_choice_is_better_at_length(kind: str) -> None:
    assert_no_choice_is_better(np.random.default_rng([9, KINDS.index(kind)]), 2000, kind)


def compare_with_highs(rng: np.random.Generator, instances: int) -> int:
    """48 items, certain weights: whole, quarters, any; values near to weights are hard.

    HiGHS takes what is too heavy by 1e-6: then it may only be better. Returns how often it was not.
    """
    compared = 0
    for i in range(instances):
        parts = (1.0, 4.0, 2.0**40)[i % 3]
        weight = np.rint(rng.uniform(1, 10, 48) * parts) / parts
        value = weight + 2.0 if i % 2 else rng.uniform(1, 10, 48)
        problem = BinaryKnapsack(items=48, capacity=60.0, weights=weight.tolist())
        solution = problem.solve(value[None], np.ones(1), NO_CONTEXT)
        found = milp(
            -value,
            integrality=np.ones(48, int),
            constraints=LinearConstraint(weight[None], ub=60.0),
            bounds=Bounds(0, 1),
            options={"mip_rel_gap": 0.0},
        )
        assert solution.status == Status.OPTIMAL
        assert problem.violation(NO_CONTEXT, solution.z, value) <= 0
        assert found.x is not None
        theirs = np.rint(found.x)
        if problem.violation(NO_CONTEXT, theirs, value) <= 0:
            compared += 1
            assert float(solution.value) == pytest.approx(-value @ theirs, rel=1e-9)
        else:
            assert float(solution.value) >= -value @ theirs
    return compared


def test_value_of_48_items_is_that_of_highs() -> None:
    assert compare_with_highs(np.random.default_rng(10), 12) >= 10


@pytest.mark.full
def test_value_of_48_items_is_that_of_highs_at_length() -> None:
    assert compare_with_highs(np.random.default_rng(11), 150) >= 120


def test_node_limit_gives_a_feasible_choice_and_a_true_gap() -> None:
    rng = np.random.default_rng(12)
    value = rng.uniform(1, 10, (40, 1, 20)) * rng.uniform(0.6, 1.4, (40, 15, 20))
    weight = rng.uniform(1, 10, (40, 1, 20)) * rng.uniform(0.6, 1.4, (40, 15, 20))
    xi, w = np.concatenate([value, weight], axis=-1), np.full(15, 1 / 15)
    exact = BinaryKnapsack(items=20, capacity=30.0).solve(xi, w, NO_CONTEXT)
    assert (exact.status == Status.OPTIMAL).all()
    for limit in (1, 10, 100, 1000):
        limited = BinaryKnapsack(items=20, capacity=30.0, node_limit=limit)
        found = limited.solve(xi, w, NO_CONTEXT)
        stopped = found.status == Status.LIMIT
        assert stopped.any()
        assert (found.gap[stopped] > 0).all()
        assert (found.gap[~stopped] == 0).all()
        assert (found.value >= exact.value - 1e-9).all()
        assert (found.value - found.gap <= exact.value + 1e-9).all()
        met = limited.violation(NO_CONTEXT, found.z[:, None], xi)
        assert limited.risk.met(met, w).all()


def test_what_does_not_fit_is_paid_for() -> None:
    problem = BinaryKnapsack(items=2, capacity=3.0, infeasible_reward=-7.0)
    xi = np.array([5.0, 4.0, 2.0, 1.5])
    for z, cost, violation in (
        ([1.0, 0.0], -5.0, -1.0),
        ([1.0, 1.0], 7.0, 0.5),
        ([0.5, 0.0], 7.0, 0.5),
        ([-1.0, 0.0], 7.0, 1.0),
    ):
        assert problem.cost(NO_CONTEXT, np.array(z), xi) == cost
        assert problem.violation(NO_CONTEXT, np.array(z), xi) == violation


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 3.0, 2.5]])
@pytest.mark.parametrize("largest", [None, 5.0])
def test_it_keeps_the_laws_of_problems(weights: list[float] | None, largest: float | None) -> None:
    rng = np.random.default_rng(13)
    problem = BinaryKnapsack(items=4, capacity=4.0, weights=weights, largest_value=largest)
    for xi in (rng.uniform(0, 5, (9, problem.dims.xi)), rng.integers(0, 4, (9, problem.dims.xi))):
        check_problem(problem, np.zeros((9, 2)), xi.astype(float))


def test_leading_axes_are_free() -> None:
    rng = np.random.default_rng(14)
    problem = BinaryKnapsack(items=6, capacity=9.0)
    xi, w = rng.uniform(0, 6, (2, 1, 5, 12)), rng.dirichlet(np.ones(5), 3)
    batch = problem.solve(xi, w, np.zeros((2, 1, 4)))
    assert batch.z.shape == (2, 3, 6)
    for i, j in product(range(2), range(3)):
        alone = problem.solve(xi[i, 0], w[j], np.zeros(4))
        assert (alone.z == batch.z[i, j]).all()
        assert alone.value == batch.value[i, j]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"items": 0}, "'items' parameter of BinaryKnapsack must be an integer in [1, 10000]"),
        ({"capacity": -1}, "'capacity' parameter of BinaryKnapsack must be a number in [0, 1e100]"),
        ({"alpha": 0.0}, "'alpha' parameter of BinaryKnapsack must be a number in (0, 1]"),
        ({"weights": [1.0]}, "'weights' parameter of BinaryKnapsack must be a sequence of 2"),
        ({"weights": [1.0, -1.0]}, "'weights' parameter of BinaryKnapsack must be a number in"),
        ({"infeasible_reward": 1.0}, "'infeasible_reward' parameter of BinaryKnapsack must be"),
        ({"node_limit": 0}, "'node_limit' parameter of BinaryKnapsack must be an integer in"),
        ({"largest_value": np.inf}, "'largest_value' parameter of BinaryKnapsack must be a number"),
    ],
)
def test_bad_arguments_are_refused(wrong: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"items": 2, "capacity": 3.0} | wrong
    with pytest.raises(ValueError, match=re.escape(message)):
        BinaryKnapsack(**arguments)
