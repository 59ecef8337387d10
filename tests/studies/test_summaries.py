"""Summaries against direct computation and SciPy."""

import numpy as np
import pytest
from scipy import stats

from bocopt_studies.summaries import (
    along_time,
    band,
    clairvoyant,
    differences,
    over_trials,
    paired,
    running,
    shown,
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


def test_an_interval_for_a_difference_of_shares_holds_no_impossible_one() -> None:
    ours, theirs = (
        {"reward": np.array([9.0, 1.0]), "feasibility_last": np.array(values)}
        for values in ([1.0, 0.0], [0.0, 0.3])
    )
    found = differences(ours, theirs)
    assert (found["feasibility_last"].low, found["feasibility_last"].high) == (-1.0, 1.0)
    assert (
        found["feasibility_last"].mean
        == paired(*(d["feasibility_last"] for d in (ours, theirs))).mean
    )
    alone = differences({"feasibility": ours["reward"][:1]}, {"feasibility": ours["reward"][:1]})
    assert np.isnan(alone["feasibility"].low)
    ours["reward"] *= 2
    assert differences(ours, theirs)["reward"] == paired(ours["reward"], theirs["reward"])


@pytest.mark.parametrize("sense", ["reward", "cost"])
def test_records_of_either_sense_can_be_shown(sense: str) -> None:
    record = {sense: VALUES, "feasible": VALUES > 1, f"hindsight_{sense}": VALUES / 2}
    record["solvable"] = record["feasible"]
    assert list(shown(record)) == list(clairvoyant(record)) == [sense, "feasibility"]
    assert (clairvoyant(record)[sense] == VALUES / 2).all()


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
