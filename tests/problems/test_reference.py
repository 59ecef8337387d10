"""The readable search against brute force over the whole lattice, ties and statuses included."""

from collections import Counter

import numpy as np
import pytest
from instances import KINDS, Instance, brute_force, points, random_instance

from bocopt import Status

NO_CONTEXT = np.zeros(0)


def assert_equal_to_brute_force(instance: Instance) -> Status:
    expected = brute_force(instance)
    got = instance.problem.solve(NO_CONTEXT, instance.scenarios, instance.w)
    assert got.status == expected.status, instance
    assert got.z.tolist() == expected.z.tolist(), instance
    assert got.value == expected.value, instance  # bit for bit
    assert got.gap == 0
    return Status(int(got.status))


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


def test_negative_weights_make_items_worth_dropping_worth_taking() -> None:
    from bocopt import Knapsack

    problem = Knapsack(value=[12, 12], capacity=[8, 8], salvage=[3, 3], upper=50)
    solution = problem.solve(NO_CONTEXT, np.array([[-2.0, 4.0, 6.0, -2.0]]), np.ones(1))
    assert float(-solution.value) == 66
