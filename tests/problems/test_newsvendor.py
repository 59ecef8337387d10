"""The newsvendor against linear programs, against all corners, and at its limits."""

import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from bocopt.checks import check_problem
from bocopt.core import Array, Status
from bocopt.problems.library.newsvendor import Newsvendor

NO_CONTEXT = np.zeros(0)
Instance = tuple[Newsvendor, Array, Array]


def random_instance(rng: np.random.Generator, most: int = 12) -> Instance:
    """Of all sorts: whole numbers and ties, tight and no capacity, products without volume."""
    d, s = int(rng.integers(1, 5)), int(rng.integers(1, most))
    whole = bool(rng.integers(2))
    unit_cost = rng.integers(1, 4, d) if whole else rng.uniform(0.5, 3, d)
    salvage = unit_cost * rng.choice([0.0, 0.5, 1.0])
    price = np.maximum(salvage, rng.integers(1, 6, d) if whole else rng.uniform(0.5, 6, d))
    volume = rng.integers(0, 3, d) if whole else rng.uniform(0, 2, d)
    problem = Newsvendor(
        unit_cost=unit_cost.tolist(),
        price=price.tolist(),
        salvage=salvage.tolist(),
        penalty=(rng.choice([0.0, 2.0]) * rng.uniform(0, 1, d)).tolist(),
        volume=volume.tolist(),
        capacity=[None, 0.0, 3.0, float(rng.uniform(0, 20))][rng.integers(4)],
        upper=[None, 4.0, rng.uniform(0, 8, d).tolist()][rng.integers(3)],
    )
    demand = rng.integers(0, 5, (s, d)).astype(float) if whole else rng.uniform(-1, 8, (s, d))
    w = [np.full(s, 1 / s), rng.dirichlet(np.ones(s)), rng.dirichlet(np.full(s, 0.1))]
    return problem, demand, w[rng.integers(3)]


def by_linprog(problem: Newsvendor, demand: Array, w: Array) -> float:
    """Columns z (d) and the sales of each scenario (s, d), which are as high as they can be."""
    unit_cost, price, salvage, penalty = (
        np.asarray(field)
        for field in (problem.unit_cost, problem.price, problem.salvage, problem.penalty)
    )
    s, d = demand.shape
    cost = np.concatenate(
        [unit_cost - salvage, (-w[:, None] * (price + penalty - salvage)).ravel()]
    )
    below_order = np.hstack([-np.tile(np.eye(d), (s, 1)), np.eye(s * d)])
    rows, limits = [below_order], [np.zeros(s * d)]
    if problem.capacity is not None:
        rows.append(np.concatenate([np.asarray(problem.volume), np.zeros(s * d)])[None])
        limits.append(np.array([problem.capacity]))
    upper = np.broadcast_to(np.inf if problem.upper is None else problem.upper, d)
    columns = [*((0.0, high) for high in upper), *((None, xi) for xi in demand.ravel())]
    found = linprog(
        cost,
        np.vstack(rows),
        np.concatenate(limits),
        bounds=columns,
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return float(found.fun + w @ (demand @ penalty))


def assert_worth_what_linprog_says(rng: np.random.Generator, instances: int) -> None:
    for _ in range(instances):
        problem, demand, w = random_instance(rng)
        solution = problem.solve(demand, w, NO_CONTEXT)
        assert float(solution.value) == pytest.approx(by_linprog(problem, demand, w), abs=1e-8)
        assert (problem.violation(NO_CONTEXT, solution.z, demand) <= 0).all()
        assert solution.status == Status.OPTIMAL
        paid = w @ problem.cost(NO_CONTEXT, solution.z, demand)
        assert float(solution.value) == pytest.approx(paid, abs=1e-12)


def test_value_is_that_of_the_linear_program() -> None:
    assert_worth_what_linprog_says(np.random.default_rng(0), 100)


@pytest.mark.full
def test_value_is_that_of_the_linear_program_at_length() -> None:
    assert_worth_what_linprog_says(np.random.default_rng(1), 3000)


def test_no_corner_is_better() -> None:
    """Without a capacity, some z of demands, 0 and the upper ends is optimal."""
    rng = np.random.default_rng(2)
    for _ in range(60):
        problem, demand, w = random_instance(rng, most=5)
        free = Newsvendor(
            unit_cost=problem.unit_cost,
            price=problem.price,
            salvage=problem.salvage,
            penalty=problem.penalty,
            upper=4.0,
        )
        ends = [np.clip([*column, 0.0, 4.0], 0, 4) for column in demand.T]
        best = min(
            float(w @ free.cost(NO_CONTEXT, np.array(z), demand)) for z in product(*map(set, ends))
        )
        assert float(free.solve(demand, w, NO_CONTEXT).value) == pytest.approx(best, abs=1e-12)


def test_orders_are_weighted_quantiles() -> None:
    problem = Newsvendor(unit_cost=[1.0], price=10.0)  # critical ratio 0.9
    demand = np.arange(1.0, 21.0)[:, None]
    assert problem.solve(demand, np.full(20, 0.05), NO_CONTEXT).z == 18.0
    w = np.r_[0.5, 0.45, np.full(18, 0.05 / 18)]
    assert problem.solve(demand, w, NO_CONTEXT).z == 2.0


def test_orders_fit_the_capacity_without_the_tolerance() -> None:
    rng = np.random.default_rng(3)
    for size in (1e-3, 1.0, 1e6, 1e15):
        problem = Newsvendor(
            unit_cost=[1.0] * 7,
            price=rng.uniform(2, 9, 7).tolist(),
            volume=rng.uniform(0.1, 3, 7).tolist(),
            capacity=10 * size,
            tolerance=0.0,
        )
        demand = size * rng.uniform(1, 9, (40, 30, 7))
        solution = problem.solve(demand, np.full(30, 1 / 30), NO_CONTEXT)
        assert (problem.violation(NO_CONTEXT, solution.z, demand[:, 0]) <= 0).all()
        used = (solution.z * np.asarray(problem.volume)).sum(axis=-1)
        assert used == pytest.approx(10 * size, rel=1e-12)


def test_violation_has_a_tolerance_and_names_each_limit() -> None:
    problem = Newsvendor(unit_cost=[1.0, 1.0], price=2.0, capacity=4.0, upper=3.0)
    cases: list[tuple[list[float], float]] = [
        ([3.0, 1.0 + 9e-7], 0.0),
        ([2.0, 3.0], 1.0),
        ([-0.25, 1.0], 0.25),
        ([3.5, 0.0], 0.5),
        ([0.0, 1.0], 0.0),
        ([1.0, 1.0], -1.0),
    ]
    for z, expected in cases:
        assert problem.violation(NO_CONTEXT, np.array(z), np.ones(2)) == pytest.approx(expected)


@pytest.mark.parametrize("largest", [None, [5.0, 6.0, 7.0]])
def test_it_keeps_the_laws_of_problems(largest: list[float] | None) -> None:
    rng = np.random.default_rng(4)
    problem = Newsvendor(
        unit_cost=[1.0, 2.0, 3.0],
        price=[4.0, 5.0, 5.0],
        salvage=0.5,
        penalty=[0.0, 1.0, 2.0],
        volume=[1.0, 2.0, 1.0],
        capacity=6.0,
        upper=5.0,
        largest_demand=largest,
    )
    check_problem(problem, rng.normal(size=(9, 2)), rng.uniform(0, 7, (9, 3)))


def test_leading_axes_are_free() -> None:
    rng = np.random.default_rng(5)
    problem = Newsvendor(unit_cost=[1.0] * 3, price=[3.0, 4.0, 5.0], capacity=7.0)
    demand, w = rng.uniform(0, 6, (2, 1, 8, 3)), rng.dirichlet(np.ones(8), 3)
    w[1] = 1 / 8  # equal weights take a quicker way
    batch = problem.solve(demand, w, np.zeros((2, 1, 4)))
    assert batch.z.shape == (2, 3, 3)
    for i, j in product(range(2), range(3)):
        alone = problem.solve(demand[i, 0], w[j], np.zeros(4))
        assert (alone.z == batch.z[i, j]).all()
        assert alone.value == batch.value[i, j]


def test_range_is_attained() -> None:
    problem = Newsvendor(unit_cost=[2.0], price=5.0, salvage=1.0, penalty=3.0, largest_demand=9.0)
    for z in (0.0, 2.0, 4.0, 9.0, 12.0):
        low, high = problem.range(NO_CONTEXT, np.array([z]))
        costs = problem.cost(NO_CONTEXT, np.array([z]), np.linspace(0, 9, 901)[:, None])
        assert low == pytest.approx(costs.min())
        assert high == pytest.approx(costs.max())
    free = Newsvendor(unit_cost=[2.0], price=5.0, penalty=1.0)
    assert free.range(NO_CONTEXT, np.array([4.0]))[1] == np.inf


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"unit_cost": []},
            "'unit_cost' parameter of Newsvendor must be a sequence of one or more",
        ),
        ({"price": [1.0]}, "'price' parameter of Newsvendor must be a sequence of 2 numbers"),
        ({"salvage": 1.5}, "'salvage' parameter of Newsvendor must be at most unit_cost"),
        ({"price": 0.5, "salvage": 0.7}, "'salvage' parameter of Newsvendor must be at most price"),
        ({"capacity": -1.0}, "'capacity' parameter of Newsvendor must be a number in [0, 1e100]"),
        ({"upper": [1.0, np.nan]}, "'upper' parameter of Newsvendor must be a number in"),
        ({"volume": None}, "'volume' parameter of Newsvendor must be a sequence of 2 numbers"),
        ({"tolerance": 2.0}, "'tolerance' parameter of Newsvendor must be a number in [0, 1]"),
    ],
)
def test_bad_arguments_are_refused(wrong: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"unit_cost": [1.0, 1.0], "price": 2.0} | wrong
    with pytest.raises(ValueError, match=re.escape(message)):
        Newsvendor(**arguments)


def test_demand_beyond_all_bounds_is_refused() -> None:
    problem = Newsvendor(unit_cost=[1.0], price=2.0)
    with pytest.raises(ValueError, match="'scenarios' parameter of Newsvendor"):
        problem.solve(np.array([[1e101]]), np.ones(1), NO_CONTEXT)
