"""Ranges of differences, against brute force; and what is said where no range is known."""

from importlib import import_module
from itertools import product
from re import search
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import long

from bocopt import Sense, Solution, from_callables, from_cvxpy
from bocopt.core import Array, Dims, Problem, RangedDifference, knows_differences
from bocopt.problems import BinaryKnapsack, Expectation, Knapsack, Newsvendor, grid
from bocopt.problems.ranges import why_unranged

NONE = np.zeros(0)
LITTLE = 1e-9  # above what is just feasible


def assert_kept_and_attained(problem: RangedDifference, z: Array, other: Array, xi: Array) -> None:
    """No outcome exceeds the ends, and both are attained or approached; neither is the fallback."""
    assert problem.possible(NONE, xi).all()
    more = problem.cost(NONE, z, xi) - problem.cost(NONE, other, xi)
    low, high = problem.range_of_difference(NONE, z, other)
    size = 1e-6 * max(1.0, np.abs(more).max())
    assert low - 1e-6 * size <= more.min() <= low + size
    assert high - size <= more.max() <= high + 1e-6 * size
    (least, largest), (least_other, largest_other) = (problem.range(NONE, d) for d in (z, other))
    assert low >= least - largest_other - size
    assert high <= largest - least_other + size
    turned = problem.range_of_difference(NONE, other, z)
    np.testing.assert_allclose(turned, (-high, -low), atol=size)


def heavy_and_light(z: Array, other: Array, capacity: float) -> Array:
    """(n, d) rows of weights that use up a capacity, alone or together, or a little more."""
    d = len(z)
    rows = [np.zeros(d)]
    for j in range(d):
        uses = [capacity / taken for taken in (z[j], other[j]) if taken > 0]
        rows += [use * (1 + more) * np.eye(d)[j] for use in uses for more in (-LITTLE, LITTLE)]
        rows.append((1e3 + 1e3 * capacity) * np.eye(d)[j])
    return np.array(rows + [one + two for one, two in product(rows[1:], repeat=2)])


def check_knapsack(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, resources = int(rng.integers(1, 3)), int(rng.integers(1, 3))
    problem = Knapsack(
        value=rng.choice([0.0, 1.0, 3.0, 12.0], d).tolist(),
        capacity=rng.choice([1.0, 8.0, 30.0], resources).tolist(),
        salvage=rng.choice([0.0, 1.0, 3.0], resources).tolist(),
        lower=int(rng.integers(0, 2)),
        upper=4,
        infeasible_reward=float(rng.choice([0.0, -5.0])),
    )
    z, other = rng.integers(0, 6, (2, d)).astype(float)  # some are outside of the box
    if rng.random() < 0.2:
        other = z + 0.5 * rng.integers(0, 2)
    rows = [heavy_and_light(z, other, b) for b in problem.capacity]
    xi = np.array([np.concatenate(a) for a in product(*rows)])
    assert_kept_and_attained(problem, z, other, xi)


@pytest.mark.parametrize("many", [40, long(3000)])
def test_no_weights_take_two_knapsack_decisions_further_apart(many: int) -> None:
    for seed in range(many):
        check_knapsack(seed)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_a_newsvendor_turns_where_one_of_both_orders_is_sold_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cost, profit, penalty = rng.choice([0.0, 0.5, 2.0], (3, 2))
    problem = Newsvendor(
        unit_cost=cost + 1,
        price=cost + 1 + profit,
        salvage=rng.uniform(0, 1, 2).tolist(),
        penalty=penalty,
        largest_demand=rng.choice([0.0, 4.0, 10.0], 2).tolist(),
    )
    z, other = rng.choice([0.0, 2.0, 3.5, 7.0, 12.0], (2, 2))
    most = np.array(problem.largest_demand)
    turns = np.minimum([np.zeros(2), z, other, most, rng.uniform(0, most)], most)
    demands = np.array([[turns[i, 0], turns[j, 1]] for i, j in product(range(5), repeat=2)])
    assert_kept_and_attained(problem, z, other, demands)


def test_newsvendors_differ_by_no_more_than_their_orders_however_large_the_demand() -> None:
    problem = Newsvendor(unit_cost=[1.0], price=3.0, penalty=2.0)
    low, high = problem.range_of_difference(NONE, np.array([5.0]), np.array([3.0]))
    assert (float(low), float(high)) == (-8.0, 2.0)
    assert problem.range(NONE, np.array([5.0]))[1] == np.inf


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_choices_differ_by_the_items_that_they_do_not_share(seed: int) -> None:
    rng = np.random.default_rng(seed)
    certain = rng.random() < 0.5
    problem = BinaryKnapsack(
        items=3,
        capacity=2.0,
        weights=rng.integers(0, 3, 3).tolist() if certain else None,
        infeasible_reward=float(rng.choice([0.0, -1.0])),
        largest_value=float(rng.choice([0.0, 5.0])),
    )
    z, other = rng.choice([0.0, 1.0, 0.5], (2, 3), p=[0.45, 0.5, 0.05])
    most = problem.largest_value
    values, weights = list(product([0.0, most], repeat=3)), list(product([0.0, 9.0], repeat=3))
    xi = values if certain else [(*v, *a) for v, a in product(values, weights)]
    assert_kept_and_attained(problem, z, other, np.array(xi))


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_paths_differ_by_the_edges_that_they_do_not_share(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, corners = grid(2, 3, largest_cost=4.0), np.array(list(product([0.0, 4.0], repeat=7)))
    z, other = (problem.solve(rng.random((1, 7)), np.ones(1), NONE).z for _ in range(2))
    assert_kept_and_attained(problem, z, other, corners)


def test_two_paths_without_a_largest_cost_have_no_ends_but_a_path_and_itself_have() -> None:
    problem = grid(2, 2)
    z, other = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0, 1.0])
    assert tuple(map(float, problem.range_of_difference(NONE, z, other))) == (-np.inf, np.inf)
    assert not np.any(problem.range_of_difference(NONE, z, z))


PROBLEMS: list[RangedDifference] = [
    Knapsack(value=[12.0] * 3, capacity=[8.0], salvage=[3.0], upper=9),
    Newsvendor(unit_cost=[1.0, 2.0, 1.0], price=3.0, penalty=1.0),
    BinaryKnapsack(items=3, capacity=2.0, largest_value=5.0),
]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_leading_axes_of_a_context_and_of_two_decisions_are_free(problem: RangedDifference) -> None:
    rng = np.random.default_rng(0)
    z, other = rng.choice([0.0, 1.0], (4, 1, 3)), rng.choice([0.0, 1.0], (5, 3))
    found = problem.range_of_difference(np.zeros((1, 1, 2)), z, other)
    for i, j in np.ndindex(4, 5):
        alone = problem.range_of_difference(np.zeros(2), z[i, 0], other[j])
        assert tuple(end[i, j] for end in found) == alone


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_bad_decision_is_named(problem: RangedDifference) -> None:
    name = type(problem).__name__
    good = np.zeros(3)
    for bad in (np.zeros(2), np.full(3, np.nan)):
        with pytest.raises(ValueError, match=f"'z' parameter of {name}.range_of_difference"):
            problem.range_of_difference(NONE, bad, good)
        with pytest.raises(ValueError, match=f"'other' parameter of {name}.range_of_difference"):
            problem.range_of_difference(NONE, good, bad)


def staffing(**options: Any) -> Any:
    return from_callables(
        solve=lambda x, xi: [np.ceil(xi[0])],
        cost=lambda x, z, xi: 20 * z[0] + 50 * max(xi[0] - z[0], 0),
        dims=Dims(x=None, z=1, xi=1),
        fallback=[40],
        **options,
    )


def test_a_users_bounds_of_a_difference_are_kept_within_those_of_both_costs() -> None:
    z, other = np.array([10.0]), np.array([11.0])
    ends = staffing().range_of_difference(NONE, z, other)
    assert tuple(map(float, ends)) == (-np.inf, np.inf)
    bounds = {"bounds": lambda x, z: (20 * z[0], 20 * z[0] + 50 * max(40 - z[0], 0))}
    ends = staffing(**bounds).range_of_difference(NONE, z, other)
    assert tuple(map(float, ends)) == (200 - 1670, 1700 - 220)
    narrow = staffing(**bounds, bounds_of_difference=lambda x, z, other: (-20, 30))
    assert tuple(map(float, narrow.range_of_difference(NONE, z, other))) == (-20, 30)
    assert not np.any(narrow.range_of_difference(NONE, z, z))
    wrong = staffing(bounds_of_difference=lambda x, z, other: (3, 1))
    with pytest.raises(ValueError, match="The user's bounds_of_difference must return two numbers"):
        wrong.range_of_difference(NONE, z, other)
    with pytest.raises(ValueError, match="'bounds_of_difference' parameter of from_callables"):
        staffing(bounds_of_difference=3)


class Mine:
    """A problem that knows no range."""

    dims, sense, risk = Dims(x=None, z=1, xi=1), Sense.MINIMISE, Expectation()

    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        raise NotImplementedError

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        raise NotImplementedError

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        raise NotImplementedError


def cvxpy_problem() -> Problem:
    cp: Any = import_module("cvxpy")
    return from_cvxpy(xi=1, z=1)(lambda xi, z: (cp.Minimize(cp.sum_squares(z - xi)), z >= 0))


UNRANGED: list[tuple[Problem, str]] = [
    (Mine(), r"^write range\(x, z\), .* and possible\(x, xi\) for Mine$"),
    (staffing(), r"^give bounds=... and support=... to from_callables\(...\)$"),
    (Newsvendor(unit_cost=[1.0], price=2.0), r"^give largest_demand=... to Newsvendor\(...\)$"),
    (grid(2, 2), r"^give largest_cost=... to ShortestPath\(...\)$"),
    (BinaryKnapsack(items=1, capacity=1.0), "^give largest_value=... to BinaryKnapsack"),
    (cvxpy_problem(), r"possible\(x, xi\) in a class around it: from_cvxpy knows none$"),
]


@pytest.mark.parametrize(("problem", "cure"), UNRANGED, ids=[c for _, c in UNRANGED])
def test_a_problem_without_a_range_names_the_cure(problem: Problem, cure: str) -> None:
    assert search(cure, why_unranged(problem))


def test_who_knows_differences() -> None:
    assert all(knows_differences(problem) for problem in PROBLEMS)
    assert not knows_differences(Mine())
    assert not knows_differences(cvxpy_problem())
