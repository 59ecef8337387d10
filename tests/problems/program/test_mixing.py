"""Random limits by mixing sets: against enumeration and against the big M."""

import numpy as np
import pytest
from chance_cases import best, random_task
from staffing_cases import staffing

from bocopt.problems.program import highs
from bocopt.problems.program.strategies import bigm, extensive, mixing
from bocopt.problems.program.strategies.model import of_all


def _agrees_with_enumeration(seed: int) -> bool:
    asked = random_task(seed, limits_only=True)
    if not mixing.applies(asked):
        return False
    answer, optimum = mixing.solve(asked), best(asked)
    value = np.inf if answer.z is None else asked.judge(answer.z).value
    assert value == pytest.approx(optimum, abs=1e-6)
    assert answer.bound == pytest.approx(optimum, abs=1e-5)
    return True


def test_it_finds_the_optimum() -> None:
    assert sum(_agrees_with_enumeration(seed) for seed in range(160)) >= 50


@pytest.mark.full
def test_it_finds_the_optimum_of_many() -> None:
    assert sum(_agrees_with_enumeration(seed) for seed in range(1000, 2600)) >= 500


def test_it_is_at_least_as_strong_as_a_big_m() -> None:
    asked = staffing(40, seed=1)
    mixed = highs.solve(mixing.model(asked).linear._replace(integer=None)).value
    plain = of_all(asked, bigm.add_rows, inside=False).linear
    assert mixed >= highs.solve(plain._replace(integer=None)).value - 1e-6


def test_staffing_has_the_same_optimum_as_by_the_extensive_form() -> None:
    asked = staffing(12, seed=2, alpha=0.75)
    mixed, plain = mixing.solve(asked), extensive.solve(asked)
    assert mixed.z is not None
    assert plain.z is not None
    assert asked.judge(mixed.z).value == pytest.approx(asked.judge(plain.z).value, abs=1e-6)
    assert mixed.bound == pytest.approx(plain.bound, abs=1e-4)


@pytest.mark.full
def test_staffing_of_200_scenarios_is_proved() -> None:
    for seed in range(3):
        asked = staffing(200, seed)
        answer = mixing.solve(asked)
        assert answer.z is not None
        assert asked.judge(answer.z).value - answer.bound <= 1e-6 * abs(answer.bound)


def test_where_it_does_not_apply() -> None:
    asked = staffing(20, seed=0)
    assert mixing.applies(asked)
    assert not mixing.applies(asked._replace(infeasible_objective=3.0))
    assert not mixing.applies(staffing(20, seed=0, alpha=1.0))
    assert not mixing.applies(staffing(20, seed=0, alpha=0.96))  # one of 20 is more than 0.04
    several = asked.form.uncertain._replace(matrix=np.tile(asked.form.uncertain.matrix, (20, 1, 1)))
    assert not mixing.applies(asked._replace(form=asked.form._replace(uncertain=several)))
