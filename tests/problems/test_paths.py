"""Shortest paths against all flows, linear programs and the laws, with and without cycles."""

import re
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from bocopt.checks import check_problem
from bocopt.core import Array, Status
from bocopt.problems.library.paths import ShortestPath, grid

NO_CONTEXT = np.zeros(0)


def random_graph(rng: np.random.Generator, edges: int, acyclic: bool) -> ShortestPath:
    """Vertices 0 to 5 (or as far as the target), some edges twice, some far from any path."""
    while True:
        pairs = rng.integers(0, 6, (edges, 2))
        if acyclic:
            pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=-1)
            pairs = rng.permutation(6)[pairs]
        if len(pairs) == 0:
            continue
        source, target = rng.integers(0, pairs.max() + 1, 2)
        with suppress(ValueError):  # no way from source to target
            return ShortestPath(
                edges=[(int(a), int(b)) for a, b in pairs], source=int(source), target=int(target)
            )


def incidence(problem: ShortestPath) -> tuple[Array, Array]:
    ends = np.array(problem.edges)
    a, b = np.zeros((ends.max() + 1, len(ends))), np.zeros(ends.max() + 1)
    for edge, (tail, head) in enumerate(ends):
        a[tail, edge] += 1
        a[head, edge] -= 1
    b[problem.source], b[problem.target] = 1, -1
    return a, b


def flows(problem: ShortestPath) -> Array:
    """All z in {0, 1} that keep the balance at every vertex."""
    a, b = incidence(problem)
    every = np.array(list(product([0.0, 1.0], repeat=len(problem.edges))))
    kept: Array = every[(every @ a.T == b).all(axis=-1)]
    return kept


def compare_with_all_flows(rng: np.random.Generator, instances: int) -> dict[str, int]:
    seen = dict.fromkeys(("cyclic", "limit", "tied"), 0)
    for i in range(instances):
        problem = random_graph(rng, int(rng.integers(3, 11)), acyclic=i % 2 == 0)
        s, whole = int(rng.integers(1, 5)), bool(rng.integers(2))
        low = 0.0 if rng.integers(2) else -2.0
        costs = rng.uniform(low, 5, (s, problem.dims.xi))
        costs = np.rint(costs / 3) if whole else costs
        w = np.full(s, 1 / s) if whole else rng.dirichlet(np.ones(s))
        solution = problem.solve(costs, w, NO_CONTEXT)
        paid = flows(problem) @ (w @ costs)
        best, value = paid.min(), float(solution.value)
        assert (problem.violation(NO_CONTEXT, solution.z, costs) <= 0).all()
        assert value == pytest.approx(solution.z @ (w @ costs), abs=1e-12)
        if solution.status == Status.LIMIT:
            assert not problem.acyclic
            assert best - 1e-12 <= value <= best + float(solution.gap) + 1e-12
        else:
            assert value == pytest.approx(best, abs=1e-12)
            assert solution.gap == 0
        seen["cyclic"] += not problem.acyclic
        seen["limit"] += bool(solution.status == Status.LIMIT)
        seen["tied"] += int((paid < best + 1e-12).sum() > 1)
    return seen


def test_no_flow_is_cheaper() -> None:
    seen = compare_with_all_flows(np.random.default_rng(0), 300)
    assert min(seen.values()) > 10


@pytest.mark.full
def test_no_flow_is_cheaper_at_length() -> None:
    seen = compare_with_all_flows(np.random.default_rng(1), 5000)
    assert min(seen.values()) > 150


@pytest.mark.parametrize("cyclic", [False, True])
def test_value_is_that_of_the_linear_program(cyclic: bool) -> None:
    rng = np.random.default_rng(2)
    problem = grid(6, 7)
    if cyclic:
        edges = [*problem.edges, *((head, tail) for tail, head in problem.edges)]
        problem = ShortestPath(edges=edges, source=3, target=problem.target)
    a, b = incidence(problem)
    costs = rng.uniform(0 if cyclic else -1, 1, (50, problem.dims.xi))
    batch = problem.solve(costs[:, None], np.ones(1), NO_CONTEXT)
    assert (batch.status == Status.OPTIMAL).all()
    for c, value in zip(costs, batch.value, strict=True):
        found = linprog(c, A_eq=a, b_eq=b, bounds=(0, 1))
        assert float(value) == pytest.approx(found.fun, abs=1e-9)


def test_negative_costs_without_a_negative_cycle_are_proved() -> None:
    problem = ShortestPath(edges=[(0, 1), (1, 0), (1, 2), (0, 2)], source=0, target=2)
    proved = problem.solve(np.array([[3.0, -1.0, -2.0, 1.5]]), np.ones(1), NO_CONTEXT)
    assert proved.z.tolist() == [1, 0, 1, 0]
    assert proved.status == Status.OPTIMAL
    stuck = problem.solve(np.array([[3.0, -4.0, -2.0, 1.5]]), np.ones(1), NO_CONTEXT)
    assert [float(part) for part in stuck[1:]] == [1.5, Status.LIMIT, 6.0]


def test_a_negative_cycle_beside_the_path_is_not_overlooked() -> None:
    """0 -> 1 is one way to flow; with the cycle 2 -> 3 -> 2, which nothing leads to, another."""
    problem = ShortestPath(edges=[(0, 1), (2, 3), (3, 2)], source=0, target=1)
    solution = problem.solve(np.array([[1.0, -1.0, 0.5]]), np.ones(1), NO_CONTEXT)
    assert solution.status == Status.LIMIT
    assert solution.value - solution.gap <= 0.5


def test_what_is_no_path_is_refused() -> None:
    problem = grid(2, 2)  # 0 1 / 2 3 with edges 01 02 13 23
    for z, violation in (
        ([1, 0, 1, 0], 0.0),
        ([0, 1, 0, 1], 0.0),
        ([1, 1, 1, 1], 1.0),
        ([0, 0, 0, 0], 1.0),
        ([0.5, 0.5, 0.5, 0.5], 0.5),
        ([1, 0, 1 + 1e-12, 0], 1e-12),
        ([2, -1, 2, -1], 1.0),
    ):
        found = problem.violation(NO_CONTEXT, np.array(z, float), np.ones(4))
        assert float(found) == pytest.approx(violation, rel=1e-3)
        assert (found > 0) == (violation > 0)


@pytest.mark.parametrize("largest", [None, 3.0])
def test_it_keeps_the_laws_of_problems(largest: float | None) -> None:
    rng = np.random.default_rng(3)
    there = grid(3, 3, largest_cost=largest)
    both = [*there.edges, *((head, tail) for tail, head in there.edges)]
    back = ShortestPath(edges=both, source=8, target=1, largest_cost=largest)
    for problem in (there, back):
        check_problem(problem, np.zeros((9, 2)), rng.uniform(0, 3, (9, problem.dims.xi)))
        check_problem(
            problem, np.zeros((9, 2)), rng.integers(0, 2, (9, problem.dims.xi)).astype(float)
        )


def test_leading_axes_are_free() -> None:
    rng = np.random.default_rng(4)
    problem = grid(3, 4)
    costs, w = rng.uniform(0, 6, (2, 1, 8, problem.dims.xi)), rng.dirichlet(np.ones(8), 3)
    batch = problem.solve(costs, w, np.zeros((2, 1, 4)))
    assert batch.z.shape == (2, 3, problem.dims.z)
    for i, j in product(range(2), range(3)):
        alone = problem.solve(costs[i, 0], w[j], np.zeros(4))
        assert (alone.z == batch.z[i, j]).all()
        assert alone.value == batch.value[i, j]


def test_range_is_attained() -> None:
    problem = grid(2, 2, largest_cost=3.0)
    z = np.array([1.0, 0.0, 1.0, 0.0])
    assert [float(end) for end in problem.range(NO_CONTEXT, z)] == [0.0, 6.0]
    assert [float(end) for end in grid(2, 2).range(NO_CONTEXT, z)] == [0.0, np.inf]
    assert problem.possible(NO_CONTEXT, np.array([[3, 0, 1, 1], [3.1, 0, 1, 1.0]])).tolist() == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"edges": []}, "'edges' parameter of ShortestPath must be a sequence of pairs"),
        ({"edges": [(0, 1, 2)]}, "'edges' parameter of ShortestPath must be a sequence of pairs"),
        ({"edges": [(0, 1), (1,)]}, "'edges' parameter of ShortestPath must be a sequence of"),
        ({"edges": [(0, -1)]}, "'edges' parameter of ShortestPath must be a sequence of pairs"),
        ({"edges": [(0, 1.5)]}, "'edges' parameter of ShortestPath must be a sequence of pairs"),
        ({"source": 7}, "'source' parameter of ShortestPath must be an integer in [0, 2]"),
        ({"target": 0}, "'target' parameter of ShortestPath must be another vertex than source"),
        ({"source": 2, "target": 0}, "a vertex that can be reached from source = 2. Got 0 instead"),
        ({"largest_cost": -1}, "'largest_cost' parameter of ShortestPath must be a number in"),
    ],
)
def test_bad_arguments_are_refused(wrong: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"edges": [(0, 1), (1, 2)], "source": 0, "target": 2} | wrong
    with pytest.raises(ValueError, match=re.escape(message)):
        ShortestPath(**arguments)
    with pytest.raises(ValueError, match="'rows' parameter of grid"):
        grid(0, 3)
