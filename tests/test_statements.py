"""Printed sentences claim what is true: `benchmarks/statements.py` in small, and its own test."""

import numpy as np
import pytest
import statements
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
from claims import (
    OWN,
    ROUGHLY,
    WIDTH,
    Claim,
    in_band,
    in_large_sentence,
    in_monitor,
    in_words,
    is_untrue,
)
from games import Game
from printed import certified, claims, on_page, printed, served
from scipy.stats import binom
from statements import allowed, counted, too_few


def play(name: str, stages: int = 150, seed: int = 0) -> Game:
    rng = np.random.default_rng(seed)
    return ADVERSARIES[name](rng, stages).decided(rng)


CHEAP = [name for name in ADVERSARIES if not name.startswith(("share", "a tenth"))]


@pytest.mark.parametrize("name", CHEAP)
def test_printed_claims_are_seldom_untrue(name: str) -> None:
    """Where each is untrue with a chance of delta, more than these are with one of .001."""
    for kind, (made, untrue) in counted(name, 0.2, 8).items():
        assert untrue <= binom.ppf(0.999, made, allowed(kind, 0.2)), (kind, made, untrue)


def test_runs_go_on_where_a_kind_of_claim_is_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    """By how often it was claimed, and not by how often it was untrue."""
    for untrue in (False, True):

        def one(name: str, delta: float, seed: int, wrong: bool = untrue) -> dict[str, bool]:
            return {"often": False} | ({"rare": wrong} if seed % 10 == 5 else {})

        monkeypatch.setattr(statements, "untrue_kinds", one)
        assert counted("", 0.2, 8, 1000) == {"often": (126, 0), "rare": (13, 13 * untrue)}
        assert counted("", 0.2, 8, 50) == {"often": (50, 0), "rare": (5, 5 * untrue)}


@pytest.mark.parametrize(("delta", "needed"), [(0.05, 55), (0.2, 13)])
def test_none_untrue_of_enough_runs_shows_it(delta: float, needed: int) -> None:
    assert too_few(needed - 1, 1.3 * delta)
    assert not too_few(needed, 1.3 * delta)


def test_both_kinds_of_a_profit_are_claimed() -> None:
    """An amount as long as it is open whether anything is earned, and a percent then."""
    games = [play("share of a profit", 200, seed) for seed in range(6)]
    first = [{claim.kind for claim in claims(game.until(66), 0.2)} for game in games]
    last = [{claim.kind for claim in claims(game, 0.2)} for game in games]
    assert sum("amount" in kinds for kinds in first) >= 2
    assert sum("percent" in kinds for kinds in last) >= 2


@pytest.mark.full
@pytest.mark.parametrize("name", ["share of a profit", "share of a small profit"])
def test_both_kinds_of_a_profit_are_claimed_in_many_runs(name: str) -> None:
    found = counted(name, 0.2, 40)
    assert min(found["percent"][0], found["amount"][0]) >= 4


@pytest.mark.full
@pytest.mark.parametrize("name", ADVERSARIES)
def test_printed_claims_are_seldom_untrue_in_more_runs(name: str) -> None:
    for kind, (made, untrue) in counted(name, 0.2, 40).items():
        assert untrue <= binom.ppf(0.999, made, allowed(kind, 0.2)), (kind, made, untrue)


@pytest.mark.parametrize("name", ["share of a small profit", "share with heavy tails"])
def test_what_was_not_expected_is_found_untrue(name: str) -> None:
    """With other expectations than the ones it was drawn by: all that is claimed of it is wrong."""
    game = play(name)
    other = game._replace(
        expected=game.expected + np.array([-200.0, 200.0]), feasible=0.2, own=game.own * 3.0
    )
    said, certificates = certified(game, 0.05)
    made = [*claims(game, 0.05), *in_monitor(said, game.earned), *on_page(game, certificates, 0.05)]
    for claim in (each for each in made if each.kind != ROUGHLY):
        assert not is_untrue(game, claim)
        assert is_untrue(other, claim) or claim.of == OWN  # which bounds one side


def test_every_kind_of_sentence_is_read() -> None:
    """A claim that is not found in the text could not be judged."""
    kinds = {
        "high demand is hidden": {"whatever is missing", "amounts in words"},
        "no difference": {"amount", "amounts in words"},
        "share with heavy tails": {"percent", "amounts in words", "percent in words"},
        "always the same": {"percent", "amounts in words", "percent in words"},
    }
    for name, expected in kinds.items():
        game = play(name)
        rough = {ROUGHLY} if game.at_random and name != "always the same" else set()
        kinds_there = {claim.kind for claim in claims(game, 0.05)}
        assert kinds_there == expected | rough | {"feasible in a report"}
    said, certificates = certified(game, 0.05)
    found = in_monitor(said, earned=False)
    lines = ["headline", "feasible", "a note", "comparison in words"]
    assert [each.kind for each in found] == lines
    assert "all together with 85%" in said
    assert [each.kind for each in on_page(game, certificates, 0.05)] == [
        "feasible on a page",
        *(f"{line} in full on a page" for line in lines),
        *(f"{line} by its address" for line in lines),
    ]


def test_what_hides_outcomes_is_named_where_it_matters() -> None:
    game = ADVERSARIES["high demand is hidden"](np.random.default_rng(0), 300)
    large, words, _ = printed(game, 0.05)
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
    assert too_rarely(kind, 200, [160], 0.2)
    assert not too_rarely(kind, 200, [160], 0.001)
    assert promotes(said_of_fleet(kind, [2.5], delta=0.2))
    assert not promotes(said_of_fleet(kind, [2.5]))
    assert outlook(lambda rng: rng.exponential(size=AHEAD) + next(level), 0.2, 0)[1]


def test_an_interval_without_width_is_one_number() -> None:
    game = ADVERSARIES["always the same"](np.random.default_rng(0), 150)
    assert printed(game, 0.05).large == "policy saved 3.3% (95%: 3.3) against what you do now."
    some = game._replace(hidden=np.arange(150) % 3 == 0)
    assert "policy saved 0.1 EUR a stage (95%) against" in printed(some, 0.05).large


def test_a_side_that_is_known_since_a_stage_was_so_ever_since() -> None:
    """The average is on one side in the end, and was on the other a while after that stage."""
    ahead = np.where(np.arange(150) < 60, -1.0, 1.0)
    game = play("no difference")
    expected = np.stack([np.zeros(150), -ahead], axis=-1)  # the policy loses, and then gains
    game = game._replace(expected=expected)
    since = {120: False, 121: False, 100: True, 1: True}
    for stage, untrue in since.items():
        assert is_untrue(game, Claim("", 0.1, 0.3, 1, 0.0, since=stage)) == untrue
    said = in_words(
        "expected at these stages: 2 less; better on average, known since compared stage 7.", False
    )
    assert [each.since for each in said] == [7]


def test_a_note_of_costs_that_were_sure_is_untrue_of_others() -> None:
    said = "headline: not applicable. No outcome could change what they cost."
    [claim] = in_monitor(said, earned=False)
    assert claim.of == WIDTH
    for name, untrue in (
        ("always the same", False),
        ("no difference", True),
        ("a sure cost is not", True),
        ("share with heavy tails", True),
    ):
        assert is_untrue(play(name), claim) == untrue
    for name in ("no difference", "a sure cost is not"):
        assert "No outcome could change" not in certified(play(name), 0.05)[0]


def test_a_target_that_is_said_to_be_met_where_outcomes_are_hidden_is_untrue() -> None:
    game = play("high demand is hidden", 400)
    [claim] = in_band(
        "",
        "feasible in 100% of the stages (95%, at all times: 97.6 to 100): the target is met.",
    )
    assert is_untrue(game, claim)
    [claim] = in_band("", "feasible (95%, at all times: 60.0 to 100): the target of 90% is met.")
    assert is_untrue(game, claim)
    [claim] = in_band(
        "", "feasible (95%, at all times: 60 to 100): whether the target of 90% is met is open."
    )
    assert not is_untrue(game, claim)
    page, _ = served(game, certified(game, 0.05)[1], 0.05)
    assert "whether the target of 90% is met is open" in page
    assert "whether the target of 90% is met is open" in printed(game, 0.05).feasible
