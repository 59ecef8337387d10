"""Many comparisons at once: e-BH by brute force, and by simulation of fleets."""

import itertools

import numpy as np
import pytest
from scipy.stats import beta

from bocopt.core import Array
from bocopt.guarantees import Comparison, Evidence
from bocopt.guarantees.certificate import Shadow, nan_is_no_news
from bocopt.guarantees.many import discoveries, share


def stage(d: Array) -> Evidence:
    one = np.ones(d.shape)
    return Evidence(2.0 * one, shadows=(Shadow(2.0 + d, -one, one),))


def least(times: int, of: int) -> float:
    """Of a chance, with 97.5% confidence (Clopper, Pearson)."""
    return float(beta.ppf(0.025, times, of - times + 1)) if times else 0.0


def by_brute_force(e: Array, w: Array, q: float) -> set[int]:
    """The largest set whose every member has w e >= 1 / (q size)."""
    for size in range(len(e), 0, -1):
        for some in itertools.combinations(range(len(e)), size):
            if all(w[i] * e[i] * q * size >= 1.0 for i in some):
                return set(some)
    return set()


def test_as_many_are_believed_as_the_definition_allows() -> None:
    rng, sizes = np.random.default_rng(0), set[int]()
    for _ in range(300):
        n = int(rng.integers(1, 8))
        e, w = np.exp(rng.normal(3.0, 2.0, n)), rng.dirichlet(np.ones(n)) * rng.uniform(0.3, 1)
        found = set(np.flatnonzero(discoveries(np.log(e), w, q=0.2)).tolist())
        assert found == by_brute_force(e, w, 0.2)
        sizes.add(len(found))
    assert {0, 1, 2, 3} <= sizes


def test_nothing_sure_and_refuted_for_sure() -> None:
    log_e = np.array([np.inf, -np.inf, 0.0])
    assert discoveries(log_e, np.full(3, 1 / 3)).tolist() == [True, False, False]
    assert discoveries(log_e[1:], np.array([0.5, 0.5])).tolist() == [False, False]
    assert discoveries(np.zeros(0), np.zeros(0)).tolist() == []


@pytest.mark.parametrize(
    ("log_e", "shares", "why"),
    [
        ([0.0], [0.5, 0.5], "log_e"),
        ([np.nan], [1.0], "log_e"),
        ([0.0, 0.0], [0.9, 0.9], "shares"),
        ([0.0, 0.0], [0.0, 0.9], "shares"),
    ],
)
def test_what_makes_no_sense_is_refused(log_e: list[float], shares: list[float], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        discoveries(np.array(log_e), np.array(shares))


def test_shares_sum_to_one_whatever_is_declared() -> None:
    numbers = np.random.default_rng(0).integers(1, 9, 2000)
    total = sum(n * share(j, of=int(n)) for j, n in enumerate(numbers, start=1))
    assert total == pytest.approx(1.0 - 1.0 / 2001)


def no_difference(rng: np.random.Generator, streams: int, stages: int) -> Array:
    """(stages, streams) log e-values of shadows that are no better, nor worse."""
    guarantee, found = Comparison(), []
    state = guarantee.init((streams,))
    with nan_is_no_news():
        for _ in range(stages):
            state = guarantee.step(state, stage(rng.choice([-1.0, 1.0], streams)))
            found.append(guarantee.log_evidence(state))
    return np.array(found)


def test_an_e_value_is_one_on_average_at_most_and_evidence_is_its_capital() -> None:
    """At a fixed time, and at the first time that it is 5: worth 1 at most, by Markov 1/5."""
    log_e = no_difference(np.random.default_rng(0), 2000, 60)
    first = (log_e >= np.log(5.0)).argmax(axis=0)
    stopped = log_e[np.where((log_e >= np.log(5.0)).any(axis=0), first, -1), np.arange(2000)]
    for e in (np.exp(log_e[-1]), np.exp(stopped)):
        assert e.mean() - 3.0 * e.std() / np.sqrt(len(e)) <= 1.0
    assert (log_e.max(axis=0) >= np.log(5.0)).mean() > 0.02  # or nothing was tested


def test_evidence_says_nothing_where_the_comparison_does_not_apply() -> None:
    guarantee = Comparison()
    state = guarantee.init(())
    with nan_is_no_news():
        for d in (-0.5, -0.5, -0.5):
            state = guarantee.step(state, stage(np.array(d)))
        assert guarantee.log_evidence(state) > 0.0
        broken = guarantee.step(state, stage(np.array(-1.5)))
        assert guarantee.log_evidence(broken) == -np.inf
        assert guarantee.log_evidence(guarantee.step(state, Evidence(np.array(1.0)))) == -np.inf


def test_what_the_ranges_say_alone_is_sure_and_missing_outcomes_count_against_it() -> None:
    guarantee, one = Comparison(), np.array(1.0)
    state = missing = guarantee.init(())
    with nan_is_no_news():
        for _ in range(5):
            certain = Evidence(one, shadows=(Shadow(0.5 * one, -0.5 * one, -0.5 * one),))
            state = guarantee.step(state, certain)
        assert guarantee.log_evidence(state) == np.inf
        nearly, tiny = guarantee.init(()), np.array(-1e-17)
        nearly = guarantee.step(nearly, Evidence(one, shadows=(Shadow(one + tiny, tiny, tiny),)))
        assert guarantee.log_evidence(nearly) == 0.0  # rounding is no evidence
        for _ in range(20):
            missing = guarantee.step(missing, stage(np.array(-0.9)))
        before = guarantee.log_evidence(missing)
        never = stage(np.array(np.nan))
        never = never._replace(shadows=(never.shadows[0].where(np.array(False)),))
        assert guarantee.log_evidence(guarantee.step(missing, never)) < before


def believed_ever(log_e: Array, q: float) -> int:
    """At how many streams of one fleet a shadow is believed at some stage; each has one."""
    shares = np.full(log_e.shape[1], share(1, of=1) / log_e.shape[1])
    return int(np.any([discoveries(now, shares, q) for now in log_e], axis=0).sum())


@pytest.mark.full
def test_of_ten_thousand_streams_without_a_difference_none_is_told_so() -> None:
    """With each at its own 5%, about 130 of them were; of a fleet, any is one at 5% at most."""
    log_e = no_difference(np.random.default_rng(0), 10_000, 200)
    alone = int((log_e.max(axis=0) >= np.log(2.0 / 0.05)).sum())
    assert alone > 30
    assert believed_ever(log_e, 0.05) == 0


def test_a_fleet_without_a_difference_is_rarely_told_anything() -> None:
    """500 fleets of 8 streams: the chance that any is ever believed is q at most."""
    log_e = no_difference(np.random.default_rng(1), 4000, 150).reshape(150, 500, 8)
    told = sum(believed_ever(log_e[:, i], 0.4) > 0 for i in range(500))
    assert 0 < told
    assert least(told, 500) <= 0.4


def renamed(rng: np.random.Generator, runs: int, names: int, stages: int) -> tuple[int, int]:
    """How often one of so many names in a row is called better: at its own 5%, and by shares."""
    alone, together = np.zeros(runs, bool), np.zeros(runs, bool)
    for j in range(1, names + 1):
        most = no_difference(rng, runs, stages).max(axis=0)
        alone |= most >= np.log(2.0 / 0.05)
        together |= [bool(discoveries(e[None], np.array([share(j, of=1)]))[0]) for e in most]
    return int(alone.sum()), int(together.sum())


def test_a_shadow_under_twenty_names_has_no_twenty_chances() -> None:
    alone, together = renamed(np.random.default_rng(2), 500, 20, 60)
    assert least(alone, 500) > 0.05
    assert least(together, 500) <= 0.05


def test_shares_that_follow_what_was_seen_would_promise_too_much() -> None:
    """Fair bets of 2 or 0, until one wins: with 1 / (how many) they are worth 1.39, not 1."""
    naive = sum(0.5**j * 2.0 / j for j in range(1, 60))
    fixed = sum(0.5**j * 2.0 * share(j, of=1) for j in range(1, 60))
    # those that are not declared yet are worth their share
    left = sum(0.5**j * (1.0 - sum(share(i, of=1) for i in range(1, j + 1))) for j in range(1, 60))
    assert naive == pytest.approx(2.0 * np.log(2.0))
    assert fixed + left == pytest.approx(1.0)


def test_those_that_are_better_are_found_and_few_others() -> None:
    """200 streams, of which 40 are better by 0.3: the false share is q at most, on average."""
    rng, false = np.random.default_rng(3), []
    mean = np.where(np.arange(200) < 40, -0.3, 0.0)
    for _ in range(10):
        guarantee = Comparison()
        state = guarantee.init((200,))
        with nan_is_no_news():
            for _ in range(400):
                d = np.where(rng.random(200) < (1.0 + mean) / 2.0, 1.0, -1.0)
                state = guarantee.step(state, stage(d))
        shares = np.full(200, share(1, of=1) / 200)
        found = discoveries(guarantee.log_evidence(state), shares, q=0.1)
        assert found[:40].mean() > 0.8
        false.append(found[40:].sum() / max(found.sum(), 1))
    assert np.mean(false) <= 0.1
