"""A regressor that a user brings as a member, as the example does."""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mixtures import plain

from bocopt import Mixture
from bocopt.models import ConstantVariance, RandomCoefficients
from bocopt.models.mixture_state import MixtureState
from bocopt.state import flatten, rebuild

EXAMPLE = Path(__file__).parents[2] / "examples" / "your_regressor.py"
MANY = 60


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLE))


def _learned(example: dict[str, Any], mean: str) -> tuple[Mixture, MixtureState]:
    members = [RandomCoefficients(), ConstantVariance(), example["ScikitLearn"]()]
    mixture = plain(dim_xi=2, members=members, scenarios=64)
    state = mixture.init(np.array(0))
    for t, (x, xi) in enumerate(zip(*example["mornings"](example[mean], MANY), strict=True)):
        state = mixture.step(state, t, x, xi)
    return mixture, state


@pytest.mark.parametrize(("mean", "takes_over"), [("in_steps", True), ("on_a_line", False)])
def test_it_gets_the_weight_where_it_is_better(
    example: dict[str, Any], mean: str, takes_over: bool
) -> None:
    mixture, state = _learned(example, mean)
    yours = mixture.law_names.index("ScikitLearn")
    assert (state.info.weights[yours] > 0.9) == takes_over
    assert (state.info.weights[yours] < 0.1) != takes_over
    assert not state.info.failed.any()


def test_a_fit_is_all_that_it_needs_after_a_restart(example: dict[str, Any]) -> None:
    mixture, state = _learned(example, "in_steps")
    x = np.full(4, 0.5)
    before = mixture.sample(state, x)[0]
    example["trained"].cache_clear()
    again = plain(dim_xi=2, members=mixture.members, scenarios=64)
    after = again.sample(rebuild(mixture.init(np.array(0)), flatten(state)), x)[0]
    assert (before == after).all()
    assert example["trained"].cache_info().misses == 1
