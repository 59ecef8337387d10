"""The outlook: ranks by hand, capital that is a martingale, and a test that speaks when it should.

How often it is wrong is in `test_outlook_coverage`.
"""

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from bocopt.core import Array
from bocopt.guarantees import Evidence, Outlook, kernels
from bocopt.guarantees.outlook import _POWERS, BlockAverages


def played(outlook: Outlook, costs: Array) -> tuple[BlockAverages, Array]:
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


def test_it_says_which_block_it_is_about() -> None:
    """The next whole one; while one has begun, the one after it."""
    outlook = Outlook(ahead=4, window=19)
    for stages, said in [(100, "101 to 104"), (101, "105 to 108"), (103, "105 to 108")]:
        state = outlook.init(())
        for cost in np.random.default_rng(0).normal(size=stages):
            state = outlook.step(state, Evidence(np.array(cost)))
        whole = f"average cost of the next whole block of 4 decisions (stages {said})"
        assert outlook.certificate(state).risk == whole
    apart = state._replace(t=np.array([8.0, 12.0]), begun=np.zeros(2))
    assert outlook._when(apart) == ""  # of streams at different stages


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
    assert "Began anew after stage 7" in silent.note
    assert "more stages" in silent.note
    assert outlook.certificate(later).applicable.all()
    assert np.nanmean(kept[-20:]) > 0.8


@pytest.mark.parametrize(
    ("before", "after", "within"), [(0.3, 0.5, 40), (0.05, 0.15, 60), (0.01, 0.1, 40)]
)
def test_costs_of_few_values_are_refuted_as_well(before: float, after: float, within: int) -> None:
    """Most blocks have averages that others have too: what is inside them tells them apart."""
    rng = np.random.default_rng(4)
    past, then = rng.random((50 * 20, 100)) < before, rng.random((within * 20, 100)) < after
    state, _ = played(Outlook(ahead=20), np.concatenate([past, then]).astype(float))
    assert (state.refuted > 0).mean() > 0.7


def test_ranks_by_hand() -> None:
    """Among 1, 2, 2 with seconds 5, 6, 7; of two tests, one compares with the last alone."""
    averages, seconds = np.array([1.0, 2.0, 2.0]), np.array([5.0, 6.0, 7.0])
    for average, second, top, bottom in [
        (3.0, 0.0, [1, 1], [4, 2]),
        (2.0, 6.5, [2, 2], [3, 1]),
        (2.0, 7.0, [2, 2], [4, 2]),  # equal to one: extreme from neither side
        (1.0, 4.0, [4, 2], [1, 1]),
        (np.nan, 0.0, [4, 2], [4, 2]),  # no number is never news
    ]:
        found = kernels.ranks.ranked(averages, seconds, np.array([3.0, 1.0]), average, second)
        assert [ranks.tolist() for ranks in found] == [top, bottom]


def test_gains_are_one_on_average_and_less_for_larger_ranks() -> None:
    for n in (1, 2, 7, 100):
        rank = np.arange(1.0, n + 1.0)
        capital, total = kernels.ranks.staked(
            rank[:, None], rank[::-1, None], np.full(1, n - 1.0), np.zeros((1, 10)), _POWERS
        )
        assert np.exp(capital).mean(axis=0) == pytest.approx(1.0)
        assert np.exp(total[:, 0]) == pytest.approx(np.exp(capital[:, 0]).sum(axis=-1))
        assert (np.diff(capital[:, 0, :3], axis=0) < 0).all()  # bets on high ones
        assert (np.diff(capital[:, 0, 3:6], axis=0) > 0).all()  # on low ones


def test_the_capital_of_each_test_is_a_martingale() -> None:
    """Exactly: on average over all orders of eight blocks; the second test begins anew at 5."""
    orders = np.array(list(permutations(range(8))), float).T
    outlook = Outlook(ahead=1, window=9, delta=0.2, doubt=1e-9)
    state = outlook.init(orders.shape[1:])
    for cost in orders:
        state = outlook.step(state, Evidence(cost))
        assert np.exp(state.capital).sum(axis=-1).mean(axis=0) == pytest.approx([1.0, 1.0])
    assert state.compared[0].tolist() == [8.0, 3.0]


def test_tests_do_not_share_capital() -> None:
    costs = np.random.default_rng(5).normal(size=(80, 1))
    outlook = Outlook(ahead=1, window=20)
    state, _ = played(outlook, costs)
    other = state._replace(capital=state.capital + np.array([0.0, 2.0])[:, None])
    one, two = (outlook.step(s, Evidence(np.zeros(1))).capital for s in (state, other))
    assert np.array_equal(one[:, 0], two[:, 0])
    assert two[:, 1] == pytest.approx(one[:, 1] + 2.0)


def test_ties_gain_no_more_than_in_any_order() -> None:
    """Why no random numbers are needed: each of them is a martingale that holds as much."""
    rng, outlook = np.random.default_rng(6), Outlook(ahead=1, window=19, doubt=1e-9)
    costs = rng.integers(0, 3, size=(60, 1)).astype(float)
    ordered = costs + 1e-6 * rng.random((60, 500))
    tied, broken = outlook.init((1,)), outlook.init((500,))
    for cost, other in zip(costs, ordered, strict=True):
        tied = outlook.step(tied, Evidence(cost))
        broken = outlook.step(broken, Evidence(other))
        assert (tied.capital <= broken.capital + 1e-9).all()


def test_a_batch_is_each_alone() -> None:
    costs = np.random.default_rng(7).integers(0, 2, size=(400, 3)).astype(float)
    costs[200:, 1] += 3.0
    outlook = Outlook(ahead=4, window=60)
    batch, _ = played(outlook, costs)
    for i in range(3):
        alone, _ = played(outlook, costs[:, i])
        for own, row in zip(alone, batch, strict=True):
            assert np.array_equal(own, row[i], equal_nan=True)
    assert batch.refuted.tolist() == [0.0, 1.0, 0.0]


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
