"""Bets against brute force, and the inequalities that they rest on."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import logsumexp

from bocopt.core import Array
from bocopt.guarantees import betting
from bocopt.guarantees.betting import log_capital, most, no_bets, of_counts, update

STAKES, LOG_WEIGHTS = betting.STAKES, betting.LOG_WEIGHTS


def played(outcomes: Array, wide: Array) -> Array:
    bets = no_bets(outcomes.shape[1:], 1.0)
    for y, w in zip(outcomes, wide, strict=True):
        bets = update(bets, y, np.zeros(np.shape(w)), w)
    return bets


def placed(wide: Array) -> Array:
    """(t) ranges [0, wide] -> (t, bets) Q."""
    each = 1.0 / betting._STAKES
    above = np.maximum(each, (2.0 * wide - 1.0)[:, None])
    beyond = wide[0] + np.maximum(each - 1.0, 2.0 * (wide - wide[0])[:, None])
    return np.concatenate([above, beyond], axis=1)


def by_hand(outcomes: Array, wide: Array, total: float) -> float:
    """log sum_k w_k prod (q - Y) / ((sum q - S) / t)^t, as it is written."""
    outcomes, wide = (a[wide > 0] for a in (outcomes, wide))
    q, t = placed(wide), len(wide)
    left = q.sum(axis=0) - total
    if (left <= 0).any():
        return np.inf
    exponents = np.log(q - outcomes[:, None]).sum(axis=0) - t * np.log(left / t)
    return float(logsumexp(LOG_WEIGHTS + exponents))


def cases() -> list[tuple[Array, Array]]:
    rng = np.random.default_rng(0)
    wide = [np.ones(50), rng.uniform(0.2, 1.0, 50), np.where(rng.random(50) < 0.1, 3.0, 0.7)]
    wide.append(np.where(rng.random(50) < 0.5, 0.0, 1.0))
    found = [(w * rng.random(50) ** 3, w) for w in wide]
    return [*found, (np.zeros(5), np.ones(5)), (np.ones(5), np.ones(5)), (wide[2], wide[2])]


@pytest.mark.parametrize("delta", [0.01, 0.05, 0.4])
@pytest.mark.parametrize(("outcomes", "wide"), cases())
def test_the_bound_is_where_the_capital_reaches_its_level(
    outcomes: Array, wide: Array, delta: float
) -> None:
    bets, level = played(outcomes, wide), np.log(1 / delta)
    for total in (0.3, outcomes.sum(), 0.9 * wide.sum()):
        assert log_capital(bets, np.array(total)) == pytest.approx(by_hand(outcomes, wide, total))
    found = float(most(bets, delta))
    q_sum = placed(wide[wide > 0]).sum(axis=0).min()
    exact = brentq(lambda s: by_hand(outcomes, wide, s) - level, 0.0, q_sum * (1 - 1e-12))
    assert found == pytest.approx(exact, rel=1e-7)
    assert found >= exact * (1 - 1e-12)  # on the safe side


def test_however_expectations_drift_the_capital_at_their_sum_is_no_more_than_a_martingale() -> None:
    """prod (q - Y) / (q - nu) for each stake, and E prod = 1 on two-point laws."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        wide = np.where(rng.random(30) < 0.2, 2.5, rng.uniform(0.1, 1.0, 30))
        nu = wide * rng.random(30) ** rng.uniform(0.2, 5.0)
        outcomes = np.where(rng.random(30) * wide < nu, wide, 0.0)
        q = placed(wide)
        factors = (q - outcomes[:, None]) / (q - nu[:, None])
        martingale = float(logsumexp(LOG_WEIGHTS + np.log(factors).sum(axis=0)))
        assert log_capital(played(outcomes, wide), nu.sum()) <= martingale + 1e-9
        chance = (nu / wide)[:, None]
        either = [(q - y) / (q - nu[:, None]) for y in (0.0, wide[:, None])]
        assert (1 - chance) * either[0] + chance * either[1] == pytest.approx(1.0)
        assert (either[1] > 0).all()
    assert np.exp(LOG_WEIGHTS).sum() == pytest.approx(1.0)


def test_counts_are_the_same_in_any_order() -> None:
    outcomes = np.array([1.0, 0.0, 0.0, 1.0, 0.0])
    one, other = played(outcomes, np.ones(5)), of_counts(np.array(2.0), np.array(3.0))
    assert most(one, 0.05) == pytest.approx(float(most(other, 0.05)))


def test_trials_do_not_depend_on_their_neighbours() -> None:
    rng = np.random.default_rng(2)
    wide = np.where(rng.random((40, 6)) < 0.1, 2.0, 1.0)
    outcomes = wide * rng.random((40, 6)) ** np.arange(1, 7)
    together = most(played(outcomes, wide), 0.05)
    for i in range(6):
        assert together[i] == most(played(outcomes[:, i], wide[:, i]), 0.05)


def test_nothing_and_endless_ranges() -> None:
    assert most(no_bets(()), 0.05) == 0.0
    certain = played(np.zeros(3), np.zeros(3))
    assert most(certain, 0.05) == 0.0
    endless = played(np.zeros((2, 2)), np.array([[1.0, 1.0], [np.inf, 1.0]]))
    found = most(endless, 0.05)
    assert np.isinf(found[0])
    assert np.isfinite(found[1])


def test_on_coins_it_is_nearly_what_knowing_the_best_stake_gives() -> None:
    """KL(seen, bound) t = log(1/delta) is the best that any fixed stake could do at that time."""

    def best(seen: float, t: int) -> float:
        def excess(m: float) -> float:
            kl = seen * np.log(seen / m) + (1 - seen) * np.log((1 - seen) / (1 - m))
            return float(t * kl - np.log(20))

        return float(brentq(excess, seen, 1 - 1e-9)) - seen

    for seen in (0.1, 0.5):
        for t in (100, 1000, 10_000):
            ones = np.array(seen * t)
            slack = float(most(of_counts(ones, t - ones), 0.05)) / t - seen
            assert 1.0 < slack / best(seen, t) < 1.45, (seen, t)
