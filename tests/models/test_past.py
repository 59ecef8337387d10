"""Features of the past: lags by stage, waves of seasons, means for gaps."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocopt.core import Array
from bocopt.models import gaps, past
from bocopt.models.past import season, waves

SERIES = np.arange(12.0).reshape(6, 2)


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=4, unique=True), st.integers(1, 30), st.data()
)
def test_a_lag_is_the_outcome_of_that_stage(
    lags: list[int], stages: int, data: st.DataObject
) -> None:
    """However many rows are kept, and whatever stages never had an outcome."""
    lost = data.draw(st.sets(st.integers(0, stages - 1)))
    known = past.initial((), 0)
    for t in sorted(set(range(stages)) - lost):
        known = known.update(t, np.array([10.0 * t, -t]), max(lags))
    found = known.lagged(stages, lags, np.array([np.nan, 7.0]))
    for lag, values in zip(lags, found, strict=True):
        t = stages - lag
        missing = t < 0 or t in lost
        np.testing.assert_array_equal(values, [np.nan, 7.0] if missing else [10.0 * t, -t])


def test_late_outcomes_are_found_under_their_own_stage() -> None:
    for order in permutations(range(3)):
        known = past.initial((), 0)
        for t in order:
            known = known.update(t, SERIES[t], kept=3)
        found = known.lagged(3, [1, 2, 3], np.zeros(2))
        assert np.array_equal(found, SERIES[2::-1])
        assert known.next == 3


def test_no_more_outcomes_are_kept_than_the_longest_lag() -> None:
    known = past.initial((2,), 0)
    for t in range(1000):
        known = known.update(t, np.ones((2, 3)), kept=24)
    assert known.rows.rows.shape == (2, 24, 4)
    assert known.rows.buffer.shape[-2] <= 48


@pytest.mark.parametrize(("periods", "harmonics"), [((7,), 3), ((24, 168), 2), ((8, 56), 4)])
def test_seasons_repeat_exactly_and_explain_any_course_of_a_period(
    periods: tuple[int, ...], harmonics: int
) -> None:
    of = waves(periods, harmonics)
    rows = np.array([season(t, of) for t in range(max(periods))])
    assert np.linalg.matrix_rank(rows) == rows.shape[1]  # nothing twice, nothing constant
    assert np.abs(rows.mean(axis=0)).max() < 1e-12
    far = max(periods) * 10**9
    assert np.array_equal([season(far + t, of) for t in range(max(periods))], rows)


def test_all_harmonics_of_a_period_explain_everything_in_it() -> None:
    of = waves((6,), harmonics=3)
    rows = np.array([[1.0, *season(t, of)] for t in range(6)])
    assert np.linalg.matrix_rank(rows) == 6


def _filled(contexts: Array) -> Array:
    """(T, k) -> (T, k): stage by stage."""
    state, found = gaps.initial((0,)), []
    for x in contexts:
        found.append(state.filled(x))
        state = state.update(x)
    return np.array(found)


def test_gaps_are_the_mean_of_what_was_seen_before() -> None:
    nan = np.nan
    x = np.array([[1.0, 5.0], [nan, 6.0], [2.0, nan], [nan, nan], [9.0, 9.0]])
    expected = [[1.0, 5.0], [1.0, 6.0], [2.0, 5.5], [1.5, 5.5], [9.0, 9.0]]
    assert np.allclose(_filled(x), expected)


def test_what_begins_late_is_measured_from_its_first_value() -> None:
    x = np.array([[np.nan], [np.nan], [100.0], [102.0], [np.nan]])
    assert np.allclose(_filled(x), [[0.0], [0.0], [0.0], [2.0], [1.0]])


def test_without_gaps_nothing_is_changed() -> None:
    assert np.array_equal(_filled(SERIES), SERIES)
