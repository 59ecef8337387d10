"""Without weights scenarios weigh the same, and without a context none is read."""

from typing import Any

import numpy as np
import pytest
from registry import INSTANCES, of_kind

from bocopt import binary, minimise, pos, program
from bocopt.core import Problem

SCENARIOS = np.array([[0.4, 1.3], [1.1, 0.6], [0.7, 0.9]])
OURS = [name for name in of_kind("problem") if type(INSTANCES[name]).__module__[:6] == "bocopt"]


@pytest.mark.parametrize("name", OURS)
def test_a_problem_of_ours_is_solved_under_scenarios_alone(name: str) -> None:
    problem: Any = INSTANCES[name]
    scenarios = np.resize(SCENARIOS, (3, problem.dims.xi))
    x = np.zeros(problem.dims.x or 0)
    expected = problem.solve(scenarios, np.full(3, 1 / 3), x)
    short = problem.solve(scenarios, x=x) if problem.dims.x else problem.solve(scenarios)
    assert all(np.array_equal(*pair) for pair in zip(short, expected, strict=True))
    assert problem.solve(scenarios.tolist(), [0.5, 0.25, 0.25], x).z.shape == (problem.dims.z,)


def test_a_batch_of_scenarios_has_leading_axes() -> None:
    batch = np.stack([SCENARIOS, SCENARIOS[::-1], SCENARIOS + 1, SCENARIOS * 2])
    knapsack: Problem = INSTANCES["Knapsack"]
    assert knapsack.solve(batch, np.full(3, 1 / 3), np.empty(0)).z.shape == (4, knapsack.dims.z)


@program(x=2, xi=2, pick=binary(2))
def follows(x: Any, xi: Any, pick: Any) -> Any:
    return minimise(pos(xi + x - pick).sum() + 0.3 * pick.sum())


def test_a_context_that_is_read_is_missed() -> None:
    assert follows.solve(SCENARIOS, x=np.ones(2)).z.tolist() == [1.0, 1.0]
    expected = r"'x' parameter of follows.solve must be a context of 2 numbers. Got None instead."
    with pytest.raises(ValueError, match=expected):
        follows.solve(SCENARIOS)
