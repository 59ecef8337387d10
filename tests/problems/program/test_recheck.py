"""Every decision is judged once more: none is refused, none is worse than by enumeration."""

import numpy as np
import pytest
from chance_cases import none, rows, task

from bocopt.core import Array
from bocopt.problems.program.form import Form, SolveTask
from bocopt.problems.program.strategies import extensive, recheck
from bocopt.problems.risk import Chance


def _knapsack(seed: int) -> SolveTask:
    """One-decimal numbers: sums meet their limits exactly, or miss them by rounding."""
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(3, 5)), int(rng.integers(1, 4))
    form = Form(
        lower=np.zeros(n),
        upper=np.full(n, 4.0),
        integer=np.ones(n, bool),
        size=n,
        shared=n,
        constant=np.zeros(1),
        cost=-rng.uniform(1.0, 3.0, (1, n)).round(1),
        certain=none(n),
        defining=none(n),
        uncertain=rows(
            rng.uniform(0.3, 2.0, (1, r, n)).round(1), rng.uniform(3, 6, (1, r)).round(1)
        ),
    )
    return task(form, np.ones(1), Chance(1.0))


def _best(asked: SolveTask) -> float:
    """By enumeration, with sums in the order of the judge."""
    form = asked.form
    points = np.stack(np.meshgrid(*[np.arange(5.0)] * form.size, indexing="ij"), -1)
    points = points.reshape(-1, form.size)
    sums: Array = (form.uncertain.matrix[0] * points[:, None]).cumsum(axis=-1)[..., -1]
    met = (sums <= form.uncertain.limit[0]).all(axis=1)
    return float((points[met] @ form.cost[0]).min())


def assert_never_worse(seed: int) -> None:
    asked = _knapsack(seed)
    answer = extensive.solve(asked)
    assert answer.z is not None
    assert asked.judge(answer.z).met
    assert asked.judge(answer.z).value == pytest.approx(_best(asked), abs=1e-9)
    assert answer.bound == pytest.approx(_best(asked), abs=1e-5)


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_one_decimal_knapsacks(first: int) -> None:
    for seed in range(first, first + 50):
        assert_never_worse(seed)


@pytest.mark.full
def test_1300_one_decimal_knapsacks() -> None:
    for seed in range(1300):
        assert_never_worse(seed)


def test_what_the_judge_refuses_is_sought_again() -> None:
    """0.1 + 0.2 > 0.3 by rounding: (1, 1) is refused though a solver takes it."""
    form = Form(
        lower=np.zeros(2),
        upper=np.ones(2),
        integer=np.ones(2, bool),
        size=2,
        shared=2,
        constant=np.zeros(1),
        cost=np.array([[-3.0, -2.0]]),
        certain=none(2),
        defining=none(2),
        uncertain=rows(np.array([[[0.1, 0.2]]]), np.array([[0.3]])),
    )
    answer = extensive.solve(task(form, np.ones(1), Chance(1.0)))
    assert answer.z is not None
    assert answer.z.tolist() == [1.0, 0.0]
    assert answer.bound == pytest.approx(-3.0)


def test_a_box_without_a_point_is_split_without_loss() -> None:
    box = recheck.Boxed(np.array([0.0, -1.0]), np.array([2.0, 1.0]), 0.0)
    z = np.array([1.0, -1.0])
    points = [np.array([a, b]) for a in (0.0, 1.0, 2.0) for b in (-1.0, 0.0, 1.0)]
    parts = recheck._split(box, z)
    for point in points:
        inside = sum((part.lower <= point).all() and (point <= part.upper).all() for part in parts)
        assert inside == (not np.array_equal(point, z))
