"""Shares of what is paid: against brute force, on degenerate outcomes, and by simulation."""

import numpy as np
import pytest
from scipy.stats import binomtest

from bocopt.core import Array
from bocopt.guarantees import betting, ratios
from bocopt.guarantees.ratios import BoundedSeries, shares

DELTA = 0.05


def between(values: Array, low: float, high: float) -> BoundedSeries:
    return BoundedSeries(values, np.full(values.shape, low), np.full(values.shape, high))


def coins(seed: int, stages: int = 200) -> tuple[BoundedSeries, BoundedSeries]:
    """What is paid is 1 or 10; a tenth of the time, nothing is paid instead."""
    rng = np.random.default_rng(seed)
    paid = np.where(rng.random(stages) < 0.5, 1.0, 10.0)
    saved = np.where(rng.random(stages) < 0.1, -paid, 0.0)
    return between(saved, -10.0, 0.0), between(paid, 1.0, 10.0)


def bets_of(pair: tuple[BoundedSeries, BoundedSeries]) -> list[tuple[Array, float, float, float]]:
    """One bet at a time: what has become of it, its weight, and what of d and p it is on."""
    found = []
    for a, b, weights in zip(ratios._D, ratios._P, ratios._LOG_WEIGHTS, strict=True):
        low = a * pair[0].low + np.minimum(b * pair[1].low, b * pair[1].high)
        high = a * pair[0].high + np.maximum(b * pair[1].low, b * pair[1].high)
        value = a * pair[0].value + b * pair[1].value
        sides = ((1.0, low, high, weights[0]), (-1.0, -high, -low, weights[1]))
        for sign, least, most, weight in sides:
            bets = betting.no_bets(())
            for y, one, other in zip(sign * value, least, most, strict=True):
                bets = betting.update(bets, y, one, other)
            found.append((bets, float(weight), sign * a, sign * b))
    return found


def test_its_ends_are_where_no_pair_of_sums_is_left() -> None:
    pair = coins(0, 60)
    found = shares(*pair, DELTA)
    assert found is not None
    low, high = found
    enough = np.log(1.0 / DELTA)
    payments, held = np.linspace(60.0, 600.0, 109), bets_of(pair)
    for end, inside in ((low, 2e-3), (high, -2e-3)):
        for share, left in ((end - inside, False), (end + inside, True)):
            logs = [
                weight + betting.log_capital(bets, a * -share * payments + b * payments)
                for bets, weight, a, b in held
            ]
            assert (np.logaddexp.reduce(logs, axis=0).min() < enough) == left


def test_it_is_about_what_a_bet_at_the_true_share_would_give() -> None:
    """That one holds for a share that never moves alone; this one is wider, but not by much."""
    (d, p), enough = coins(1, 400), np.log(2.0 / DELTA)
    found = shares(d, p, DELTA)
    assert found is not None
    for end, inward in zip(found, (1.0, -1.0), strict=True):
        share = end + 0.3 * inward * (found[1] - found[0])
        y = d.value + share * p.value
        low, high = d.low + share * p.low, d.high + share * p.high
        logs = []
        for value, least, most in ((y, low, high), (-y, -high, -low)):
            bets = betting.no_bets(())
            for one in zip(value, least, most, strict=True):
                bets = betting.update(bets, *one)
            logs.append(float(betting.log_capital(bets, 0.0)))
        assert max(logs) < enough  # what is left here is left there


def test_units_do_not_matter_and_more_is_known_of_more() -> None:
    d, p = coins(2)
    one = shares(d, p, DELTA)
    tens = [BoundedSeries(*(10.0 * part for part in each)) for each in (d, p)]
    tenfold = shares(tens[0], tens[1], DELTA)
    assert one is not None
    assert tenfold == pytest.approx(one, rel=1e-6)
    longer = shares(*coins(2, 800), DELTA)
    surer = shares(d, p, 0.5)
    assert longer is not None
    assert surer is not None
    assert longer[1] - longer[0] < one[1] - one[0]
    assert one[0] < surer[0] < surer[1] < one[1]


def test_a_missing_outcome_only_widens() -> None:
    d, p = coins(3)
    whole = shares(d, p, DELTA)
    hidden = np.arange(200) % 10 == 0
    gaps = [each._replace(value=np.where(hidden, np.nan, each.value)) for each in (d, p)]
    found = shares(gaps[0], gaps[1], DELTA)
    assert whole is not None
    assert found is not None
    assert found[0] < whole[0] < whole[1] < found[1]


def test_where_nothing_may_be_paid_there_is_no_share() -> None:
    d, p = coins(4, 30)
    assert shares(d, p._replace(low=p.low - 100.0), DELTA) is None
    assert shares(d, BoundedSeries(-p.value, -p.high, -p.low), DELTA) is None
    assert shares(d._replace(low=np.full(30, -np.inf)), p, DELTA) is None


def test_what_is_certain_is_known_exactly() -> None:
    half = np.full(50, 0.5)
    found = shares(
        BoundedSeries(-half, -half, -half), BoundedSeries(2 * half, 2 * half, 2 * half), DELTA
    )
    assert found == pytest.approx((0.5, 0.5), abs=1e-6)


def luck(rng: np.random.Generator, stages: int) -> tuple[BoundedSeries, BoundedSeries, Array]:
    """What is saved next follows what was won: the true share moves against the bets."""
    saved, paid, expected = np.zeros(stages), np.zeros(stages), np.zeros((2, stages))
    for t in range(stages):
        ahead = saved[:t].sum() - expected[0, :t].sum()
        chance = 0.3 if ahead < 0 else 0.1
        expected[:, t] = -chance, 2.0
        saved[t], paid[t] = -(rng.random() < chance), rng.choice([1.0, 3.0])
    return between(saved, -1.0, 0.0), between(paid, 1.0, 3.0), expected.cumsum(axis=1)


def misses(runs: int, delta: float) -> int:
    """Runs in which the true pair of sums, and so the true share, was ever refuted."""
    rng, missed = np.random.default_rng(0), 0
    for _ in range(runs):
        d, p, true = luck(rng, 100)
        for t in range(5, 101, 5):
            seen = [BoundedSeries(*(part[:t] for part in each)) for each in (d, p)]
            pairs = ratios.pairs_of(seen[0], seen[1], delta)
            assert pairs is not None
            if pairs.log_capital(true[:, t - 1]) >= pairs.enough:
                missed += 1
                break
    return missed


def test_a_share_that_follows_luck_is_covered_at_all_times() -> None:
    assert misses(20, 0.2) <= 8  # more has a chance of .01 where each has .2


@pytest.mark.full
@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_a_share_that_follows_luck_is_covered_in_many_runs(delta: float) -> None:
    assert binomtest(misses(400, delta), 400, delta, alternative="greater").pvalue > 0.01
