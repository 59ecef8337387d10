"""Whole numbers: spread for the laws, whole again in scenarios, as probable as they are."""

import numpy as np
import pytest

from bocopt import Mixture
from bocopt.core import Array
from bocopt.models import ConstantVariance
from bocopt.models.mixture_state import MixtureState

NOTHING = np.zeros((2, 1))


def _learned(outcomes: Array) -> tuple[Mixture, list[MixtureState]]:
    """(n, 2, 1) -> after each of them."""
    mixture = Mixture(dim_xi=1, members=[ConstantVariance()], scenarios=1024)
    states = [mixture.init(np.arange(2))]
    for t, xi in enumerate(outcomes):
        states.append(mixture.step(states[-1], t, NOTHING, xi))
    return mixture, states[1:]


@pytest.mark.parametrize("mean", [0.1, 0.5, 3.0, 40.0])
def test_counts_are_as_probable_as_they_are(mean: float) -> None:
    outcomes = np.random.default_rng(0).poisson(mean, (400, 2, 1)).astype(float)
    mixture, states = _learned(outcomes)
    scenarios, _ = mixture.sample(states[-1], NOTHING)
    assert (scenarios == np.rint(scenarios)).all()
    for count in np.quantile(outcomes, [0.1, 0.5, 0.9]):
        expected = (outcomes <= count).mean(axis=0)
        assert (scenarios <= count).mean(axis=-2) == pytest.approx(expected, abs=0.08)


def test_levels_of_counts_are_uniform() -> None:
    outcomes = np.random.default_rng(1).poisson(0.5, (500, 2, 1)).astype(float)
    levels = np.array([state.info.probability for state in _learned(outcomes)[1][100:]])
    assert ((levels > 0.25) & (levels < 0.75)).mean() == pytest.approx(0.5, abs=0.04)
    assert ((levels > 0.05) & (levels < 0.95)).mean() == pytest.approx(0.9, abs=0.04)


def test_what_turns_out_not_to_be_whole_is_taken_as_it_was() -> None:
    outcomes = np.random.default_rng(2).integers(0, 9, (30, 2, 1)).astype(float)
    outcomes[-1, 1] = 0.25
    _, states = _learned(outcomes)
    assert (states[-2].whole == [[True], [True]]).all()
    assert (states[-1].whole == [[True], [False]]).all()
    kept = states[-1].xi.rows
    assert (kept[1] == outcomes[:, 1]).all()
    assert (np.floor(kept[0]) == outcomes[:, 0]).all()
    assert (kept[0] > outcomes[:, 0]).all()
    assert (np.floor(states[-2].xi.rows) == outcomes[:-1].swapaxes(0, 1)).all()  # as it was before


def test_scenarios_of_other_numbers_are_not_whole() -> None:
    outcomes = np.random.default_rng(3).gamma(2.0, size=(30, 2, 1))
    mixture, states = _learned(outcomes)
    scenarios, _ = mixture.sample(states[-1], NOTHING)
    assert (states[0].whole == np.zeros((2, 1))).all()
    assert (scenarios != np.rint(scenarios)).mean() > 0.9
