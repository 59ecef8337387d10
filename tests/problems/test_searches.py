"""The searches against brute force over the whole lattice, ties and statuses included."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from instances import KINDS, Instance, brute_force, points, random_instance

from bocopt import Status
from bocopt.problems import Knapsack

NO_CONTEXT = np.zeros(0)
U = 2.0**-49


def assert_equal_to_brute_force(instance: Instance) -> Status:
    """Both the readable and the fast searches."""
    expected = brute_force(instance)
    for problem in (instance.problem, replace(instance.problem, readable_search=True)):
        got = problem.solve(instance.scenarios, instance.w, NO_CONTEXT)
        assert got.status == expected.status, instance
        assert got.z.tolist() == expected.z.tolist(), instance
        assert got.value == expected.value, instance  # bit for bit
        assert got.gap == 0
    return Status(int(expected.status))


@pytest.mark.parametrize("kind", KINDS)
def test_equals_brute_force(kind: str) -> None:
    rng = np.random.default_rng([1, KINDS.index(kind)])
    for _ in range(250):
        assert_equal_to_brute_force(random_instance(rng, kind, most_points=2000))


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_equals_brute_force_up_to_1e5_points(kind: str) -> None:
    rng = np.random.default_rng([2, KINDS.index(kind)])
    statuses, largest, many_scenarios = Counter[str](), 0, 0
    for _ in range(3000):
        instance = random_instance(rng, kind, most_points=100_000)
        statuses[assert_equal_to_brute_force(instance).name] += 1
        largest = max(largest, points(instance))
        many_scenarios += len(instance.w) > 1
    print(
        f"\n{kind}: {dict(statuses)}, {many_scenarios} with several scenarios, to {largest} points"
    )
    assert largest > 50_000


@pytest.mark.parametrize(
    ("lower", "upper", "capacity", "weights", "z"),
    [
        ([0, 1, 1], [32, 1, 1], 16384.0, [512.0, 1e-12, 1e-12], [32, 1, 1]),
        ([8, 1, 1, 1], [8, 1, 1, 1], 8.0, [1.0, 3e-16, 3e-16, 3e-16], [8, 1, 1, 1]),
        ([1, 0, 0, 0], [1] * 4, 8.0, [8 + 3 * U, -0.6 * U, -0.6 * U, -0.6 * U], [1] * 4),
    ],
)
def test_rounding_never_prunes_what_the_judge_accepts(
    lower: list[int], upper: list[int], capacity: float, weights: list[float], z: list[int]
) -> None:
    problem = Knapsack(
        value=[1.0] * len(z), capacity=[capacity], salvage=[0.0], lower=lower, upper=upper
    )
    instance = Instance(problem, np.array([weights]), np.ones(1))
    assert brute_force(instance).z.tolist() == z
    assert assert_equal_to_brute_force(instance) is Status.OPTIMAL


def test_ties_are_those_of_the_weighted_objective() -> None:
    """A single weight that is not quite 1 rounds two objectives to one: then the smaller z."""
    problem = Knapsack(
        value=[0.1, 0.1], capacity=[0.49999999999999994], salvage=[1.0], lower=[0, 1], upper=[1, 8]
    )
    instance = Instance(problem, np.array([[0.1, 0.1]]), np.array([1.0000000009]))
    assert_equal_to_brute_force(instance)


def test_an_alpha_of_nothing_asks_for_nothing() -> None:
    problem = Knapsack(value=[1.0], capacity=[1.0], salvage=[0.0], lower=1, upper=3, alpha=1e-12)
    for w in (np.ones(1), np.full(2, 0.5)):
        instance = Instance(problem, np.full((len(w), 1), 2.0), w)
        assert assert_equal_to_brute_force(instance) is Status.OPTIMAL


@pytest.mark.parametrize("readable", [False, True])
@pytest.mark.parametrize("scenarios", [1, 3])
def test_a_node_limit_keeps_a_feasible_lower_end(readable: bool, scenarios: int) -> None:
    problem = Knapsack(
        value=[12.0] * 4,
        capacity=[8.0] * 3,
        salvage=[3.0] * 3,
        node_limit=2,
        readable_search=readable,
    )
    weights = np.random.default_rng(12).uniform(0.1, 0.4, (50, scenarios, 12))
    solution = problem.solve(weights, np.full(scenarios, 1 / scenarios), NO_CONTEXT)
    assert (solution.status == Status.LIMIT).any()
    assert np.isfinite(solution.value).all()
    assert np.isfinite(solution.gap).all()


def test_the_node_limit_bounds_the_scan_of_an_item_that_earns_nothing() -> None:
    problem = Knapsack(
        value=[0.0, 0.0], capacity=[8.0], salvage=[3.0], upper=1_000_000, node_limit=1000
    )
    solution = problem.solve(np.zeros((1, 2)), np.ones(1), NO_CONTEXT)
    assert solution.status == Status.LIMIT
    assert solution.z.tolist() == [0, 0]


def test_negative_weights_make_items_worth_dropping_worth_taking() -> None:
    problem = Knapsack(value=[12, 12], capacity=[8, 8], salvage=[3, 3], upper=50)
    solution = problem.solve(np.array([[-2.0, 4.0, 6.0, -2.0]]), np.ones(1), NO_CONTEXT)
    assert float(-solution.value) == 66
