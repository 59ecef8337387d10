"""Summaries against direct computation and SciPy."""

import numpy as np
import pytest
from scipy import stats

from bocopt.experiments.summaries import (
    along_time,
    band,
    over_trials,
    paired,
    running,
    stages_shown,
)

VALUES = np.random.default_rng(0).gamma(2.0, size=(7, 30))


def test_paired_interval_is_students() -> None:
    ours, theirs = VALUES[:, 0], VALUES[:, 1]
    expected = stats.ttest_rel(ours, theirs).confidence_interval(0.95)
    found = paired(ours, theirs)
    assert found.mean == pytest.approx((ours - theirs).mean())
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_one_trial_has_no_interval_and_no_spread() -> None:
    found = paired(VALUES[:1, 0], VALUES[:1, 1])
    assert np.isnan(found.low)
    assert np.isnan(found.high)
    assert over_trials({"reward": VALUES[:1]})["reward"]["sd"] is None


def test_running_average() -> None:
    expected = [[row[: t + 1].mean() for t in range(row.size)] for row in VALUES]
    assert running(VALUES) == pytest.approx(np.array(expected))


def test_along_time_is_the_spread_of_the_curve() -> None:
    curve = running(VALUES).mean(axis=0)
    cells = along_time({"reward": VALUES})
    assert cells["reward"]["mean"] == pytest.approx(curve.mean())
    assert cells["reward"]["sd"] == pytest.approx(curve.std(ddof=1))
    assert cells["reward_last"]["mean"] == pytest.approx(curve[15:].mean())


def test_band_is_of_percentiles_over_trials() -> None:
    found = band(VALUES)
    assert found["low"] == pytest.approx(np.quantile(VALUES, 0.1, axis=0), rel=1e-5)
    assert found["high"] == pytest.approx(np.quantile(VALUES, 0.9, axis=0), rel=1e-5)
    assert found["mean"] == pytest.approx(VALUES.mean(axis=0), rel=1e-5)


@pytest.mark.parametrize("horizon", [1, 2, 19, 20, 21, 150, 1000, 12345])
def test_stages_shown_are_few_and_include_both_ends(horizon: int) -> None:
    shown = stages_shown(horizon)
    assert shown == sorted(set(shown))
    assert shown[0] == 1
    assert shown[-1] == horizon
    assert len(shown) <= 200
    assert set(range(1, min(20, horizon) + 1)) <= set(shown)
