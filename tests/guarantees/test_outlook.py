"""The outlook: ranks by hand, coverage, and a test that speaks when it should."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, kstest

from bocopt.core import Array
from bocopt.guarantees import Evidence, Outlook, kernels
from bocopt.guarantees.outlook import _POWERS, Blocks


def played(outlook: Outlook, costs: Array) -> tuple[Blocks, Array]:
    """(T, runs) -> the last state, and of each block (runs) whether it was as foreseen, or NaN."""
    state, kept, n = outlook.init(costs.shape[1:]), [], outlook.ahead
    for block in costs.reshape(-1, n, *costs.shape[1:]):
        low, high = outlook.interval(state)
        for cost in block:
            state = outlook.step(state, Evidence(cost))
        average = block.mean(axis=0)
        inside = (low <= average) & (average <= high)
        kept.append(np.where(np.isnan(low), np.nan, inside))
    return state, np.array(kept)


def test_the_interval_is_between_ranks() -> None:
    costs = np.random.default_rng(0).exponential(size=(4 * 40, 1))
    outlook = Outlook(ahead=4, window=30, delta=0.2)
    state, _ = played(outlook, costs)
    latest = np.sort(costs.reshape(-1, 4).mean(axis=1)[-30:])
    assert outlook.interval(state)[0] == pytest.approx(latest[2])  # floor(31 x 0.1) left out
    assert outlook.interval(state)[1] == pytest.approx(latest[-3])
    found = outlook.certificate(state)
    assert found.value == pytest.approx(latest.mean())
    assert found.bound == pytest.approx(latest[-3])
    assert "average cost of the next 4 decisions" in found.risk


def test_it_holds_while_the_future_is_like_the_past_and_seldom_falls_silent() -> None:
    rng = np.random.default_rng(1)
    season = np.tile([0.0, 3.0, 1.0, 0.0, 2.0], 200)[:, None]  # shorter than a block
    for costs in (rng.exponential(size=(1000, 300)), season + rng.normal(size=(1000, 300))):
        outlook = Outlook(ahead=5, window=59)
        state, kept = played(outlook, costs)
        hits = kept[np.isfinite(kept)]
        assert hits.mean() == pytest.approx(0.9, abs=0.02)
        assert binomtest(int((state.refuted > 0).sum()), 300).proportion_ci(0.99).low <= 0.05


def test_it_falls_silent_when_costs_change_and_comes_back() -> None:
    rng = np.random.default_rng(2)
    costs = rng.normal(size=(1200, 20))
    costs[600:] += 2.0
    outlook = Outlook(ahead=10)
    before, _ = played(outlook, costs[:600])
    soon, _ = played(outlook, costs[:780])
    later, kept = played(outlook, costs)
    assert outlook.certificate(before).applicable.all()
    assert (soon.refuted == 1).mean() > 0.9
    silent = outlook.certificate(soon)
    assert not silent.applicable[soon.refuted == 1].any()
    assert "Switched off after stage 7" in silent.note
    assert "more stages" in silent.note
    assert outlook.certificate(later).applicable.all()
    assert np.nanmean(kept[-20:]) > 0.8


def test_ranks_are_uniform_and_gains_are_one_in_expectation() -> None:
    rng, outlook = np.random.default_rng(3), Outlook(ahead=1, window=20, doubt=1e-9)
    state, ranks = outlook.init(()), []
    for _ in range(3000):
        cost = np.array(float(rng.integers(0, 3)))  # many ties
        ranks.append(outlook._rank(state, cost))
        state = outlook.step(state, Evidence(cost))
    assert state.refuted == 0
    for test in (0, 1):
        assert kstest(np.array(ranks)[:, test], "uniform").pvalue > 0.01
    grid = (np.arange(200_000) + 0.5) / 200_000
    rank = np.stack([grid, grid], axis=-1)
    gains = np.exp(kernels.ranks.staked(rank, np.zeros((2, 10)), _POWERS)[0]).mean(axis=0)
    assert (gains < 1.0 + 1e-9).all()  # sums on a grid miss some where the gain is endless
    assert gains[:, [2, 5, 8, 9]] == pytest.approx(1.0, abs=0.01)


def test_too_few_blocks_say_how_many_are_missing() -> None:
    state, _ = played(Outlook(ahead=20), np.ones((60, 1)))
    found = Outlook(ahead=20).certificate(state)
    assert not found.applicable.any()
    assert "It needs 320 more stages." in found.note


@pytest.mark.parametrize(
    ("bad", "name"),
    [
        ({"ahead": 0}, "ahead"),
        ({"window": 18}, "window"),
        ({"delta": 1.0}, "delta"),
        ({"doubt": 0.0}, "doubt"),
    ],
)
def test_misuse_is_named(bad: dict[str, Any], name: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}' parameter of Outlook"):
        Outlook(**bad)
