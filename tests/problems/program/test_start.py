"""A first decision is feasible, near the optimum, and comes with a valid bound."""

import time

import numpy as np
import pytest
from chance_cases import best, random_task
from staffing_cases import staffing

from bocopt.problems.program.form import SolveLimits
from bocopt.problems.program.strategies import bigm, mixing
from bocopt.problems.program.strategies.model import of_all
from bocopt.problems.program.strategies.start import first_decision, improved


def test_it_is_feasible_and_the_bound_is_valid() -> None:
    found = 0
    for seed in range(40):
        asked = random_task(seed)
        answer = first_decision(asked, of_all(asked, bigm.add_rows, inside=False))
        assert answer.bound <= best(asked) + 1e-6
        if answer.z is not None:
            assert asked.judge(answer.z).met
            found += 1
    assert found >= 12


@pytest.mark.parametrize("seed", range(3))
def test_it_is_within_five_percent_on_staffing(seed: int) -> None:
    asked = staffing(300, seed)
    answer = first_decision(asked, mixing.model(asked))
    assert answer.z is not None
    assert asked.judge(answer.z).met
    assert asked.judge(answer.z).value <= 1.05 * answer.bound


def test_moves_never_make_it_worse_and_find_what_one_step_finds() -> None:
    asked = staffing(50, seed=0)
    z = np.full(24, 20.0)
    better = improved(asked, z)
    assert asked.judge(better).met
    assert asked.judge(better).value < 0.5 * asked.judge(z).value
    for j in range(24):
        less = better.copy()
        less[j] -= 1
        assert less[j] < 0 or not asked.judge(less).met


def test_a_deadline_leaves_a_decision_and_a_bound() -> None:
    asked = staffing(200, seed=0)
    deadline = time.perf_counter() + 1.0
    answer = mixing.solve(asked._replace(limits=SolveLimits(deadline=deadline)))
    assert time.perf_counter() < deadline + 0.5  # 50 ms on an idle machine
    assert answer.z is not None
    assert asked.judge(answer.z).met
    assert np.isfinite(answer.bound)


def test_no_time_gives_no_decision() -> None:
    asked = staffing(50, seed=0, limits=SolveLimits(deadline=time.perf_counter()))
    answer = mixing.solve(asked)
    assert answer.z is None
    assert answer.bound == -np.inf
