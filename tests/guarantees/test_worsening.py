"""An alarm when a shadow costs more lately: rare without a change, soon after one."""

import numpy as np
import pytest
from test_comparison import stages
from test_many import stage

from bocopt.core import Array
from bocopt.guarantees import Comparison, Evidence, Worsening
from bocopt.guarantees.certificate import Shadow, nan_is_no_news
from bocopt.guarantees.worsening import _STAKES

WIDE = 5.0


def after(guarantee: Worsening, differences: Array, width: float = 1.0) -> Array:
    """(stages, ...) its alarms after each stage."""
    state, found = guarantee.init(differences.shape[1:]), []
    one = np.full(differences.shape[1:], width)
    with nan_is_no_news():
        for d in differences:
            evidence = Evidence(2.0 + 0.0 * one, shadows=(Shadow(2.0 + d, -one, one),))
            state = guarantee.step(state, evidence)
            found.append(guarantee.alarm(state))
    return np.array(found)


def test_it_is_the_sum_of_bets_begun_at_every_stage() -> None:
    """Against the definition: the product of gains from each start on, and both directions."""
    d = np.clip(np.random.default_rng(0).normal(0.1, 0.6, 120), -1, 1)
    rate, began, told = 0.05, {1: 0, -1: 0}, 0
    found = after(Worsening(rate=rate), d)
    for t in range(1, len(d) + 1):
        for sign in (1, -1):
            gains = 1.0 + _STAKES * sign * d[began[sign] : t, None]
            total = np.flip(np.cumprod(np.flip(gains, 0), axis=0)).sum() / len(_STAKES)
            if total >= 1.0 / rate:
                began[sign], told = t, t if sign > 0 else 0
        assert np.nan_to_num(found[t - 1]) == told
    assert began[1] > 0


def test_false_alarms_are_as_rare_as_it_says() -> None:
    """1,000 shadows that are no better, nor worse, and some that are better in bursts."""
    rng, rate = np.random.default_rng(1), 0.02
    for mean in (0.0, -0.1):
        d = np.where(rng.random((300, 1000)) < (1.0 + mean) / 2.0, 1.0, -1.0)
        alarms = np.diff(np.nan_to_num(after(Worsening(rate=rate), d)), axis=0) > 0
        many = alarms.sum(axis=0)
        assert many.mean() - 3.0 * many.std() / np.sqrt(1000) <= rate * 300
        if mean == 0.0:
            assert many.mean() > 0.2 * rate * 300  # or nothing was tested


def lengths(rng: np.random.Generator, rate: float, runs: int, most: int) -> Array:
    """(runs) stages until the first false alarm of a fair coin, cut at the most."""
    found = after(Worsening(rate=rate), rng.choice([-1.0, 1.0], (most, runs)))
    alarmed = np.isfinite(found)
    return np.where(alarmed.any(axis=0), 1 + alarmed.argmax(axis=0), most)


@pytest.mark.full
def test_the_first_false_alarm_comes_no_sooner_than_it_says() -> None:
    cut = lengths(np.random.default_rng(2), 0.01, 2000, 2000)
    assert cut.mean() + 3.0 * cut.std() / np.sqrt(2000) >= 100


def changed(rng: np.random.Generator, runs: int, before: int, then: int) -> Array:
    """(stages, runs) better by 1 on average, then worse by 0.3; noise of sd 1 in +-5."""
    mean = np.repeat([-1.0, 0.3], [before, then])[:, None]
    return np.clip(mean + rng.normal(0.0, 1.0, (before + then, runs)), -WIDE, WIDE)


def test_a_change_for_the_worse_is_told_while_the_average_is_still_better() -> None:
    d = changed(np.random.default_rng(3), 50, 200, 200)
    guarantee, state = Comparison(), Comparison().init((50,))
    with nan_is_no_news():
        for now in d / WIDE:
            state = guarantee.step(state, stage(now))
    assert (guarantee.difference(state).high < 0).mean() > 0.95  # "better", of the average so far
    found = after(Worsening(), d, WIDE)
    assert np.isnan(found[:200]).mean() > 0.99
    assert np.isfinite(found[-1]).mean() > 0.9


def test_an_alarm_is_over_where_it_is_better_again() -> None:
    d = np.concatenate([changed(np.random.default_rng(4), 50, 100, 300), -np.ones((100, 50))])
    found = after(Worsening(), d, WIDE)
    assert np.isfinite(found[399]).mean() > 0.95
    assert np.isnan(found[-1]).all()


def test_a_wide_stage_is_bet_on_less_and_certain_ones_are_none() -> None:
    guarantee = Worsening(scale=1.0)
    with nan_is_no_news():
        state = guarantee.init(())
        for e in stages([-900.0], -1000.0, 1000.0):
            state = guarantee.step(state, e)
        assert (state[9:14] == 1.0 - _STAKES * 0.9).all()
        same = state
        for e in stages([0.5], 0.5, 0.5):
            state = guarantee.step(state, e)
        assert (state[9:] == same[9:]).all()


def test_an_outcome_that_never_came_tells_of_no_change() -> None:
    """In neither direction, whatever hides outcomes: it counts as the one that says least."""
    guarantee = Worsening(scale=2.0)
    state = guarantee.init(())
    never = next(stages([np.nan]))
    never = never._replace(shadows=(never.shadows[0].where(np.array(False)),))
    with nan_is_no_news():
        after = guarantee.step(state, never)
        assert (after[9:] == np.tile(1.0 - _STAKES, 2)).all()
        assert guarantee.certificate(after).applicable


def test_what_breaks_its_range_is_told_and_gives_no_number() -> None:
    guarantee = Worsening(name="b")
    for e, why in [
        (next(stages([0.7], -0.5, 0.5)), "The difference was outside its range on 1 stage"),
        (next(stages([0.1], np.nan, np.nan)), "No range was known before xi on 1 stage"),
        (Evidence(np.array(2.0)), "b did not decide on 1 stage"),
    ]:
        with nan_is_no_news():
            found = guarantee.certificate(guarantee.step(guarantee.init(()), e))
        assert not found.applicable
        assert why in found.note


def test_its_words() -> None:
    guarantee, state = Worsening(name="b", rate=0.1), Worsening(rate=0.1).init(())
    for t, e in enumerate(stages(np.ones(30))):
        said = guarantee.certificate(state)
        assert said.applicable
        assert said.bound == 0.1
        if t == 0:
            assert "No sign that b costs more lately." in said.words()
        state = guarantee.step(state, e)
    assert "b has cost more lately: alarm at compared stage" in guarantee.certificate(state).words()
