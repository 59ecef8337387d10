"""The extensive form against enumeration."""

import numpy as np
import pytest
from chance_cases import best, random_task

from bocopt.problems.program import extensive


def _agree(seed: int) -> None:
    task = random_task(seed)
    answer = extensive.solve(task)
    optimum = best(task)
    value = np.inf if answer.z is None else task.judge(answer.z).value
    assert answer.bound <= optimum + 1e-6
    if answer.z is not None:
        assert task.judge(answer.z).met
    if task.otherwise is None and task.form.shared == len(task.form.lower):
        assert value == pytest.approx(optimum, abs=1e-6)
        assert answer.bound == pytest.approx(optimum, abs=1e-5)
    else:
        assert value >= optimum - 1e-9


@pytest.mark.parametrize("seed", range(400))
def test_it_finds_the_optimum(seed: int) -> None:
    _agree(seed)
