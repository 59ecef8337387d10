"""Calibration: nothing is changed that needs no change, and the rest is put right."""

import numpy as np
import pytest

from bocopt.core import Array
from bocopt.models.calibration import Calibration, initial


def _after(levels: Array) -> Calibration:
    """(n, m)."""
    found = initial((), levels.shape[-1])
    for probability in levels:
        found = found.update(probability)
    return found


def test_uniform_levels_change_next_to_nothing() -> None:
    found = _after(np.random.default_rng(0).random((400, 3)))
    grid = np.linspace(0.01, 0.99, 50)[:, None] * np.ones(3)
    assert np.array([found.level(u) for u in grid]) == pytest.approx(grid, abs=0.01)


@pytest.mark.parametrize("power", [0.5, 2.0])
def test_levels_that_are_not_uniform_become_so(power: float) -> None:
    rng = np.random.default_rng(1)
    found = _after(rng.random((1500, 2)) ** power)
    later = np.array([found.level(u) for u in rng.random((2000, 2)) ** power])
    sd = np.sqrt(0.25 / 500)  # of a share: old outcomes count less, all together as many as 500
    for share in (0.25, 0.5, 0.75, 0.9):
        assert (later < share).mean(axis=0) == pytest.approx([share, share], abs=3 * sd)


def test_scenarios_follow_the_levels_and_keep_their_ranks() -> None:
    rng = np.random.default_rng(2)
    found = _after(rng.random((1500, 2)) ** 2)
    scenarios = rng.normal(size=(1024, 2))
    moved = found.correct(scenarios)
    in_order = np.take_along_axis(moved, scenarios.argsort(axis=0), axis=0)
    assert (np.diff(in_order, axis=0) >= 0).all()
    # of the levels u = v^2, a quarter is below 1/16 and half below 1/4
    for share in (0.25, 0.5, 0.9):
        expected = np.quantile(scenarios, share**2, axis=0)
        assert np.quantile(moved, share, axis=0) == pytest.approx(expected, abs=0.12)


def test_levels_of_0_and_1_count() -> None:
    found = _after(np.array([[0.0, 1.0]] * 50))
    assert found.counts[0, 0] == found.counts[1, -1] > 40
    assert (found.level(np.array([0.0, 1.0])) == [0.0, 1.0]).all()


def test_trials_are_apart() -> None:
    rng = np.random.default_rng(3)
    levels = rng.random((60, 2, 3)) ** np.array([1.0, 3.0])[:, None]
    both = initial((2,), 3)
    for probability in levels:
        both = both.update(probability)
    scenarios = rng.normal(size=(2, 64, 3))
    for i in range(2):
        alone = _after(levels[:, i])
        assert (both.correct(scenarios)[i] == alone.correct(scenarios[i])).all()
