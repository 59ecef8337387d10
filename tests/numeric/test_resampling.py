"""Resampling: unbiased, and never a particle without weight."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocopt.beliefs import multinomial, systematic

weights = st.lists(st.floats(0, 1), min_size=1, max_size=30).filter(lambda w: sum(w) > 1e-6)


@given(weights, st.floats(0, 1, exclude_max=True))
def test_systematic_counts_are_floor_or_ceil(values: list[float], u: float) -> None:
    w = np.array(values) / sum(values)
    counts = np.bincount(systematic(w, np.array(u)), minlength=len(w))
    assert counts.sum() == len(w)
    assert (abs(counts - len(w) * w) < 1 + 1e-9).all()


@given(weights, st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=50))
def test_nothing_without_weight_is_drawn(values: list[float], u: list[float]) -> None:
    w = np.array(values) / sum(values)
    assert (w[multinomial(w, np.array(u))] > 0).all()


def test_largest_uniform_below_one() -> None:
    w = np.append(np.full(7, 1 / 7), 0.0)
    assert multinomial(w, np.array([np.nextafter(1, 0)])) == 6


def test_frequencies() -> None:
    w = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]])
    drawn = multinomial(w, np.random.default_rng(0).random((2, 40_000)))
    for row in range(2):
        share = np.bincount(drawn[row], minlength=3) / 40_000
        assert share == pytest.approx(w[row], abs=0.01)
