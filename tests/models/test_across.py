"""One model for many series: beside a readable one, and by the laws that all models keep."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bocopt import checkpoint
from bocopt.core import Array, IntArray
from bocopt.models import AcrossSeries
from bocopt.models.across import AcrossState
from bocopt.models.across_fit import levels_of
from bocopt.models.kernels import across as kernel
from bocopt.state import flatten, rebuild

MODEL = AcrossSeries(lags=[1], trees=8, levels=5)
SEED = np.array(3)


def taught(
    model: AcrossSeries, y: Array, known: Array, first: IntArray | None = None
) -> AcrossState:
    """The state after outcomes (T, n): a context is known, the other one is the last outcome.

    Series begin at the times `first` (n).
    """
    state, begins = model.init(SEED), np.zeros(y.shape[1], int) if first is None else first
    for t, came in enumerate(y):
        here = np.flatnonzero(begins <= t)
        x = np.stack([known[t, here], y[t - 1, here] if t else np.full(len(here), np.nan)], axis=1)
        x[begins[here] == t, 1] = np.nan
        if model.is_due(state):
            state = model.refit(state)
        state = model.learn(state, here, model.rows(state, here, x), came[here])
    return model.refit(state)


def shops(rng: np.random.Generator, days: int = 60, many: int = 12) -> tuple[Array, Array]:
    """Outcomes (T, n) of shops whose sizes differ by a factor of ten, and promotions (T, n)."""
    promotion = (rng.random((days, many)) < 0.3).astype(float)
    size = np.geomspace(10.0, 100.0, many) * (1.0 + promotion)
    return size * np.exp(0.1 * rng.standard_normal((days, many))), promotion


@pytest.fixture(scope="module")
def played() -> tuple[AcrossState, Array]:
    """The state after all outcomes of shops, and rows of them all at the next time."""
    y, promotion = shops(np.random.default_rng(0))
    state = taught(MODEL, y, promotion)
    x = np.stack([np.arange(12) % 2.0, y[-1]], axis=1)
    return state, MODEL.rows(state, np.arange(12), x)


def test_quantiles_rise(played: tuple[AcrossState, Array]) -> None:
    found = MODEL.quantiles(*played)
    assert (np.diff(found, axis=1) >= 0).all()
    assert (found[:, -1] > found[:, 0]).all()


def test_the_same_outcomes_give_the_same_bits(played: tuple[AcrossState, Array]) -> None:
    again = taught(MODEL, *shops(np.random.default_rng(0)))
    assert (MODEL.quantiles(again, played[1]) == MODEL.quantiles(*played)).all()


def test_another_seed_gives_another_forest(played: tuple[AcrossState, Array]) -> None:
    state, rows = played
    other = MODEL.refit(state._replace(seed=SEED + 1, fresh=state.seen, seen=state.fresh))
    assert (MODEL.quantiles(other, rows) != MODEL.quantiles(state, rows)).any()


def test_a_row_alone_has_the_quantiles_that_it_has_among_others(
    played: tuple[AcrossState, Array],
) -> None:
    state, rows = played
    alone = [MODEL.quantiles(state, row[None])[0] for row in rows]
    assert (np.stack(alone) == MODEL.quantiles(state, rows)).all()


def test_restored_as_uninterrupted(played: tuple[AcrossState, Array], tmp_path: Path) -> None:
    state, rows = played
    checkpoint.save(tmp_path / "across", {}, flatten(state))
    _, arrays = checkpoint.load(tmp_path / "across")
    restored = rebuild(MODEL.init(SEED), arrays)
    after = [MODEL.learn(each, np.arange(12), rows, rows[:, 1]) for each in (state, restored)]
    one, other = (MODEL.quantiles(MODEL.refit(each), rows) for each in after)
    assert (one == other).all()


def test_learning_changes_no_state_before_it(played: tuple[AcrossState, Array]) -> None:
    state, rows = played
    before = {name: leaf.copy() for name, leaf in flatten(state).items()}
    MODEL.refit(MODEL.learn(state, np.arange(12), rows, 7.0 * rows[:, 1]))
    assert all((leaf == before[name]).all() for name, leaf in flatten(state).items())


def test_rows_and_quantiles_know_nothing_of_their_time_or_later() -> None:
    y, promotion = shops(np.random.default_rng(1))
    other = y.copy()
    other[40:] *= 5.0
    found = []
    for outcomes in (y, other):
        state = taught(MODEL, outcomes[:40], promotion)
        rows = MODEL.rows(state, np.arange(12), np.stack([promotion[40], outcomes[39]], axis=1))
        found.append(MODEL.quantiles(state, rows))
    assert (found[0] == found[1]).all()


def test_the_law_is_calibrated_where_rows_are_many() -> None:
    rng = np.random.default_rng(2)
    y, promotion = shops(rng, days=200, many=20)
    state = taught(AcrossSeries(lags=[1]), y[:-40], promotion)
    model, met = AcrossSeries(lags=[1]), []
    for t in range(160, 200):
        rows = model.rows(state, np.arange(20), np.stack([promotion[t], y[t - 1]], axis=1))
        met.append(y[t, :, None] <= model.quantiles(state, rows))
    assert np.abs(np.mean(met, axis=(0, 1)) - levels_of(15)).max() < 0.06


def test_a_new_series_of_another_size_learns_from_the_others() -> None:
    """Of a promotion, before it had one."""
    y, promotion = shops(np.random.default_rng(4), days=80)
    y[:, -1], promotion[:, -1] = 1000.0, 0.0
    first = np.zeros(12, int)
    first[-1] = 76
    state = taught(MODEL, y, promotion, first)
    x = np.array([[0.0, 1000.0], [1.0, 1000.0]])
    rows = np.concatenate([MODEL.rows(state, np.array([11]), row[None]) for row in x])
    plain, promoted = MODEL.quantiles(state, rows)[:, 2]
    assert 800 < plain < 1250
    assert promoted > 1.5 * plain


def test_nothing_is_known_before_a_fit_or_of_zeros_alone() -> None:
    y, promotion = shops(np.random.default_rng(5))
    y[:, 3] = 0.0
    state = taught(MODEL, y, promotion)
    rows = MODEL.rows(state, np.array([2, 3]), np.ones((2, 2)))
    assert np.isnan(rows[:, 2]).tolist() == [False, True]
    assert np.isnan(MODEL.quantiles(state, rows)).all(axis=1).tolist() == [False, True]
    first = MODEL.init(SEED)
    rows = MODEL.rows(first, np.array([0]), np.ones((1, 2)))
    assert np.isnan(MODEL.quantiles(first, rows)).all()


def test_a_series_without_an_outcome_is_thought_to_be_like_those_of_its_kind() -> None:
    rng = np.random.default_rng(10)
    large = np.arange(20) % 2
    y = np.where(large, 1000.0, 10.0) * np.exp(0.1 * rng.standard_normal((60, 20)))
    state = taught(MODEL, y, np.broadcast_to(large.astype(float), y.shape))
    x = np.array([[0.0, np.nan], [1.0, np.nan], [np.nan, np.nan]])
    found = MODEL.quantiles(state, MODEL.rows(state, np.arange(20, 23), x))
    assert (np.abs(found[0] / 10.0 - 1.0) < 0.5).all()
    assert (np.abs(found[1] / 1000.0 - 1.0) < 0.5).all()
    assert np.isnan(found[2]).all()


def test_zeros_and_whole_numbers_stay_what_they_are() -> None:
    rng = np.random.default_rng(6)
    sizes = np.geomspace(0.2, 20.0, 12)
    y = rng.poisson(sizes, (100, 12)).astype(float)
    state = taught(MODEL, y, np.zeros((100, 12)))
    x = np.stack([np.zeros(12), y[-1]], axis=1)
    found = MODEL.quantiles(state, MODEL.rows(state, np.arange(12), x))
    assert (found == np.rint(found)).all()
    assert (found[0, :3] == 0.0).all()  # of mean 0.2: four in five are zeros
    assert (found[-1] > 0.0).all()


def test_outcomes_may_be_negative_or_all_the_same() -> None:
    rng = np.random.default_rng(7)
    y = rng.standard_normal((60, 12))
    state = taught(MODEL, y, np.zeros((60, 12)))
    rows = MODEL.rows(state, np.arange(12), np.stack([np.zeros(12), y[-1]], axis=1))
    middle = MODEL.quantiles(state, rows)
    assert (middle[:, 0] < 0).all()
    assert (middle[:, -1] > 0).all()
    state = taught(MODEL, np.full((30, 12), 4.5), np.zeros((30, 12)))
    rows = MODEL.rows(state, np.arange(12), np.tile([0.0, 4.5], (12, 1)))
    assert np.allclose(MODEL.quantiles(state, rows), 4.5, rtol=1e-6)


def test_memory_is_bounded() -> None:
    y, promotion = shops(np.random.default_rng(8))
    state = taught(AcrossSeries(lags=[1], trees=2, most_rows=100), y, promotion)
    assert len(state.seen) == 100
    assert int(state.total) == 59 * 12


def readable_quantiles(state: AcrossState, x: Array, trees: int) -> Array:
    """The leaves of x, tree by tree, and the quantiles of all that they hold."""
    held = []
    for node in range(trees):
        context, cut, place = state.fit.nodes[node]
        while context >= 0:
            context, cut, place = state.fit.nodes[int(place) + (x[int(context)] > cut)]
        held.extend(state.fit.quantiles[int(place)])
    many = state.fit.quantiles.shape[1]
    return np.array([sorted(held)[(2 * level + 1) * trees // 2] for level in range(many)])


def test_quantiles_are_those_of_all_leaves_together(played: tuple[AcrossState, Array]) -> None:
    fit = played[0].fit
    for x in np.random.default_rng(9).normal(size=(20, len(fit.centre) + 1)):
        found = kernel.pooled(fit.nodes, fit.quantiles, x, MODEL.trees)
        assert (found == readable_quantiles(played[0], x, MODEL.trees)).all()


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("series", lambda state: MODEL.rows(state, np.array([0, 0]), np.ones((2, 2)))),
        ("series", lambda state: MODEL.rows(state, np.array([0.5]), np.ones((1, 2)))),
        ("x", lambda state: MODEL.rows(state, np.array([0]), np.ones((2, 2)))),
        ("x", lambda state: MODEL.rows(state, np.array([0]), np.ones((1, 1)))),
        ("rows", lambda state: MODEL.learn(state, np.array([0]), np.ones((1, 9)), np.ones(1))),
        ("y", lambda state: MODEL.learn(state, np.array([0]), np.ones((1, 4)), np.full(1, np.inf))),
        ("lags", lambda _: AcrossSeries(lags=[-1])),
        ("trees", lambda _: AcrossSeries(trees=0)),
    ],
)
def test_what_does_not_fit_is_named(
    played: tuple[AcrossState, Array], name: str, call: Any
) -> None:
    state = MODEL.learn(played[0], np.arange(12), played[1], np.ones(12))
    with pytest.raises(ValueError, match=f"The '{name}' parameter of AcrossSeries"):
        call(state)


@pytest.mark.parametrize("size", [1e-100, 1.0, 1e100])
def test_outcomes_of_any_size_are_predicted_in_their_units(size: float) -> None:
    y, promotion = shops(np.random.default_rng(11))
    state = taught(MODEL, size * y, promotion)
    x = np.stack([np.zeros(12), size * y[-1]], axis=1)
    found = MODEL.quantiles(state, MODEL.rows(state, np.arange(12), x))
    assert (np.abs(found[:, 2] / (size * np.geomspace(10.0, 100.0, 12)) - 1.0) < 0.5).all()


def test_a_single_row_is_fitted() -> None:
    state = MODEL.init(SEED)
    for t in range(2):
        rows = MODEL.rows(state, np.array([0]), np.array([[0.0, 5.0 if t else np.nan]]))
        state = MODEL.learn(state, np.array([0]), rows, np.array([5.0]))
    rows = MODEL.rows(state, np.array([0]), np.array([[0.0, 5.0]]))
    assert np.allclose(MODEL.quantiles(MODEL.refit(state), rows), 5.0)


def test_nothing_far_beyond_what_was_seen_is_expected() -> None:
    y, promotion = shops(np.random.default_rng(12))
    state = taught(MODEL, y, promotion)
    rows = MODEL.rows(state, np.arange(12), np.stack([np.full(12, 1e6), 1e6 * y[-1]], axis=1))
    assert (MODEL.quantiles(state, rows) < 10.0 * y.max(axis=0)[:, None]).all()
