"""Printed sentences claim what is true: `benchmarks/statements.py` in small, and its own test."""

import numpy as np
import pytest
from adversaries import ADVERSARIES
from alarms import (
    AHEAD,
    feasible_as_asked,
    outlook,
    outlooks,
    promotes,
    said_of_fleet,
    shop,
    too_rarely,
    worsening,
)
from claims import in_large_sentence, in_monitor, in_words, is_untrue
from printed import claims, monitored, printed
from scipy.stats import binom
from statements import allowed, counted

CHEAP = [name for name in ADVERSARIES if not name.startswith(("share", "a tenth"))]


@pytest.mark.parametrize("name", CHEAP)
def test_printed_claims_are_seldom_untrue(name: str) -> None:
    """Where each is untrue with a chance of delta, more than these are with one of .001."""
    for kind, (made, untrue) in counted(name, 0.2, 8).items():
        assert untrue <= binom.ppf(0.999, made, allowed(kind, 0.2)), (kind, made, untrue)


@pytest.mark.full
@pytest.mark.parametrize("name", ADVERSARIES)
def test_printed_claims_are_seldom_untrue_in_more_runs(name: str) -> None:
    for kind, (made, untrue) in counted(name, 0.2, 40).items():
        assert untrue <= binom.ppf(0.999, made, allowed(kind, 0.2)), (kind, made, untrue)


@pytest.mark.parametrize("name", ["share of a small profit", "share with heavy tails"])
def test_what_was_not_expected_is_found_untrue(name: str) -> None:
    """With other expectations than the ones it was drawn by: all that is claimed of it is wrong."""
    game = ADVERSARIES[name](np.random.default_rng(0), 150)
    other = game._replace(expected=game.expected - np.array([-200.0, 200.0]), feasible=0.2)
    said = monitored(game, 0.05, np.random.default_rng(0))
    for claim in (*claims(game, 0.05), *in_monitor(said, game.earned)):
        assert not is_untrue(game, claim)
        assert is_untrue(other, claim) or claim.kind == "headline"  # which bounds one side


def test_every_kind_of_sentence_is_read() -> None:
    """A claim that is not found in the text could not be judged."""
    kinds = {
        "high demand is hidden": {"whatever is missing", "amounts in words"},
        "no difference": {"amount", "amounts in words"},
        "share with heavy tails": {"percent", "amounts in words", "percent in words"},
        "always the same": {"percent", "amounts in words", "percent in words"},
    }
    for name, expected in kinds.items():
        game = ADVERSARIES[name](np.random.default_rng(0), 150)
        assert {claim.kind for claim in claims(game, 0.05)} == expected
    said = monitored(game, 0.05, np.random.default_rng(0))
    found = in_monitor(said, earned=False)
    assert [each.kind for each in found] == ["headline", "feasible", "comparison in words"]
    assert "all together with 85%" in said


def test_what_hides_outcomes_is_named_where_it_matters() -> None:
    game = ADVERSARIES["high demand is hidden"](np.random.default_rng(0), 300)
    large, words = printed(game, 0.05)
    assert large.startswith("Whatever the ")
    assert "If whether an outcome is missing does not depend on what it was" in large
    assert "which is better is open" in large.partition(" If ")[0]
    [whatever, *_] = in_large_sentence(large)
    assert whatever.whatever
    assert "whatever the" in words
    known = int((~game.hidden).sum())
    assert f"Feasible in 100% of the {known} stages whose outcome is known, with now 100%." in words
    assert in_words(words, earned=False)[0].low == pytest.approx(whatever.low, rel=0.01)


@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_alarms_are_seldom_false(delta: float) -> None:
    """Of `benchmarks/alarms.py`, but for its fleets of 10,000 streams."""
    for each in (*outlooks(delta, 5), *worsening(delta, 30), *feasible_as_asked(delta, 50)):
        assert each.untrue <= binom.ppf(0.999, each.runs, each.allowed), each


def test_alarms_are_read_where_they_are() -> None:
    """One that is not found in the text could not be counted."""
    kind = shop()
    assert promotes(said_of_fleet(kind, [12.0, 0.0]))
    assert not promotes(said_of_fleet(kind, [12.0], generation=500))
    level = iter(np.repeat([0.0, 9.0], [30, 32]))
    assert too_rarely(kind, 200, [180, 120, 180])
    assert not too_rarely(kind, 200, [180, 180, 180])
    assert outlook(lambda rng: rng.exponential(size=AHEAD) + next(level), 0.2, 0)[1]


def test_an_interval_without_width_is_one_number() -> None:
    game = ADVERSARIES["always the same"](np.random.default_rng(0), 150)
    assert printed(game, 0.05).large == "policy saved 3.3% (95%: 3.3) against what you do now."
    some = game._replace(hidden=np.arange(150) % 3 == 0)
    assert "policy saved 0.1 EUR a stage (95%) against" in printed(some, 0.05).large
