"""Outcomes that were seen in part: what is certified holds for all that they can have been."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from registry import INSTANCES, of_kind

from bocopt import Agent, SampleAverage, at_least
from bocopt.bounds import bounds_of
from bocopt.core import Array, Bounds, Dims, ShadowReport
from bocopt.guarantees import Comparison, Evidence, Feasibility, Monitor, certify, evidence_of
from bocopt.guarantees.certificate import Certificate, Shadow, folded
from bocopt.guarantees.decisions import RISK
from bocopt.policies import Constant, Shadowed
from bocopt.policies.baselines import given
from bocopt.problems import Knapsack, Newsvendor, from_callables
from bocopt.stages import Stage, review

NONE = np.zeros(0)
SHOP = Newsvendor(unit_cost=[1.0], price=3.0, penalty=2.0, largest_demand=20.0)
#: Those of the cost of the decisions taken, of which a bound rises with every cost.
RISING = {
    name: found
    for name, found in of_kind("guarantee").items()
    if found.certificate(found.init(())).risk == RISK and "Bernstein" not in name
}


def stage_of(problem: Any, z: float, seen: Bounds, others: Array | None = None) -> Stage:
    info = () if others is None else (ShadowReport(others),)
    decision = given([z], ())
    return review(problem, 0, NONE, decision, seen.low, info, False, seen)


def sold_out(at: float) -> Bounds:
    return bounds_of("a test", "xi", at_least(at), 1)


def hidden_costs(rng: np.random.Generator, stages: int) -> Iterator[tuple[Evidence, Evidence]]:
    """As it was, and as it was seen: costs in ranges of all widths, some seen between two ends."""
    for _ in range(stages):
        low, wide = rng.normal(), rng.choice([0.0, 0.5, 2.0])
        cost, least, most = low + wide * np.sort(rng.random(3))[[1, 0, 2]]
        apart = rng.uniform(-1.0, 1.0)
        ends = np.array(apart - rng.random()), np.array(min(apart + rng.random(), 1.0))
        shadow = Shadow(np.array(cost + apart), np.array(-2.0), np.array(1.0))
        feasible = np.array(rng.random() < 0.7)
        true = Evidence(np.array(cost), np.array(low), np.array(low + wide), shadows=(shadow,))
        true = true._replace(feasible=feasible)
        seen = true._replace(
            cost=np.array(np.nan),
            least=np.array(least),
            most=np.array(most),
            feasible=np.array(False),
            undecided=np.array(True),
            shadows=(shadow._replace(cost=np.array(np.nan), least=ends[0], most=ends[1]),),
            in_part=np.array(True),
        )
        yield true, seen if rng.random() < 0.5 else true


def pairs(seed: int, stages: int = 60) -> tuple[list[Evidence], list[Evidence]]:
    true, seen = zip(*hidden_costs(np.random.default_rng(seed), stages), strict=True)
    return list(true), list(seen)


@pytest.mark.parametrize("name", RISING)
def test_a_bound_on_costs_is_no_less_than_if_all_had_been_seen(name: str) -> None:
    for seed in range(20):
        true, seen = (certify(RISING[name], stages) for stages in pairs(seed))
        assert true.applicable == seen.applicable
        assert not seen.bound < true.bound - 1e-9
        assert seen.least <= true.value + 1e-9
        assert true.value <= seen.value + 1e-9


def test_both_ends_of_a_comparison_are_outside_of_those_if_all_had_been_seen() -> None:
    for seed in range(20):
        guarantee = Comparison()
        true, seen = (guarantee.difference(folded(guarantee, p)) for p in pairs(seed))
        assert seen.low <= true.low <= true.high <= seen.high
        assert seen.least <= true.seen <= seen.most
        if np.isfinite(seen.since):
            assert true.since <= seen.since
        for worse in (False, True):
            found = [guarantee.log_evidence(folded(guarantee, p), worse=worse) for p in pairs(seed)]
            assert found[1] <= found[0] + 1e-9


def test_so_is_the_band_of_feasible_decisions() -> None:
    for seed in range(20):
        guarantee = Feasibility()
        true, seen = (guarantee.interval(folded(guarantee, p)) for p in pairs(seed))
        assert seen[0] <= true[0]
        assert true[1] <= seen[1]


def test_what_is_printed_says_between_what_the_average_was() -> None:
    def words(*evidence: Evidence) -> list[str]:
        monitor = Monitor(SHOP, shadows=["two"])
        states = None
        for each in evidence:
            states = monitor.update(states, each)
        monitor.restore(states)
        return monitor.words("EUR")

    one, sold = np.array([[5.0]]), sold_out(5.0)
    partly = evidence_of(SHOP, stage_of(SHOP, 5.0, sold, 0 * one + 2.0))
    headline, feasible, comparison = words(partly)[:3]
    assert "(seen: between -10 EUR and 20 EUR)" in headline
    assert "The outcome was not seen in full on 1 stage, which counts at its worst." in headline
    assert "(seen: 0)" in feasible  # whatever was asked for, the order is allowed
    assert "(seen: 12 EUR more)" in comparison
    seven = evidence_of(SHOP, stage_of(SHOP, 5.0, sold, 0 * one + 7.0))
    assert "(seen: from 2 EUR more to 8 EUR less)" in words(seven)[2]
    assert not any("seen: 0)" in line for line in words(seven) if "feasib" not in line)


def test_a_cost_that_what_was_seen_determines_is_a_cost() -> None:
    """Without a penalty, what was missed costs nothing: all that was ordered was sold."""
    free = Newsvendor(unit_cost=[1.0], price=3.0)
    stage = stage_of(free, 5.0, sold_out(5.0), np.array([[2.0], [5.0], [7.0]]))
    assert (float(stage.cost), bool(stage.feasible)) == (-10.0, True)
    assert np.isnan(stage.xi).all()
    assert np.isnan([stage.hindsight, stage.solvable]).all()
    assert stage.shadows is not None
    assert stage.shadows.cost[:2].tolist() == [-4.0, -10.0]
    assert np.isnan(stage.shadows.cost[2])
    evidence = evidence_of(free, stage)
    assert np.isnan(evidence.least)
    said = certify(Monitor(free).guarantees[0], [evidence])
    assert (float(said.value), bool(np.isnan(said.least))) == (-10.0, True)
    assert "not seen in full" not in said.note


def test_an_outcome_of_which_nothing_is_known_has_manskis_ends() -> None:
    stage = stage_of(SHOP, 5.0, bounds_of("a test", "xi", None, 1))
    evidence = evidence_of(SHOP, stage)
    assert (float(evidence.least), float(evidence.most)) == tuple(
        float(end) for end in SHOP.range(NONE, np.array([5.0]))
    )
    assert evidence.possible


def test_what_no_possible_outcome_looks_like_gives_no_number() -> None:
    evidence = evidence_of(SHOP, stage_of(SHOP, 5.0, sold_out(21.0), np.array([[3.0]])))
    assert not evidence.possible
    for guarantee in (*Monitor(SHOP).guarantees[:1], Comparison()):
        said = certify(guarantee, [evidence])
        assert not said.applicable
        assert "The outcome was outside the support" in said.note
    assert np.isinf(Comparison().log_evidence(folded(Comparison(), [evidence])))


def test_without_a_range_there_is_no_number_and_the_same_cure() -> None:
    endless = Newsvendor(unit_cost=[1.0], price=3.0, penalty=2.0)
    monitor = Monitor(endless)
    monitor.observe(stage_of(endless, 5.0, sold_out(5.0)))
    said = monitor.headline()
    assert not said.applicable
    assert "No range was known before xi (give largest_demand=... to Newsvendor(...))" in said.note
    assert "outside its range" not in said.note


def test_a_problem_that_knows_nothing_of_bounds_has_the_ends_of_its_range() -> None:
    one = from_callables(
        solve=lambda x, xi: xi,
        cost=lambda x, z, xi: float(np.abs(z - xi).sum()),
        bounds=lambda x, z: (0.0, 7.0),
        fallback=[0],
        dims=Dims(None, 1, 1),
    )
    evidence = evidence_of(one, stage_of(one, 5.0, sold_out(5.0), np.array([[3.0], [5.0]])))
    assert (float(evidence.least), float(evidence.most)) == (0.0, 7.0)
    assert evidence.undecided
    apart, same = evidence.shadows
    assert (float(apart.least), float(apart.most)) == (-7.0, 7.0)
    assert (float(same.least), float(same.most)) == (0.0, 0.0)


def test_a_verdict_that_was_not_seen_counts_for_both_ends() -> None:
    kind = Knapsack(value=[12.0], capacity=[8.0], salvage=[3.0], alpha=0.5)
    said: Certificate = certify(
        Feasibility(alpha=0.5), [evidence_of(kind, stage_of(kind, 2.0, sold_out(3.0)))] * 400
    )
    assert (float(said.least), float(said.value)) == (0.0, 1.0)
    assert "(seen: between 0 and 1)" in said.words()
    assert "whether alpha = 0.5 is met is open" in said.note
    assert "does not show whether it was feasible on 400 stages" in said.note


#: What reads ends; all others rest on the whole outcome.
READS_ENDS = (
    "Bernstein",
    "Comparison",
    "Feasibility",
    "Tightest",
    "Worsening",
    "watch",
    "headline",
)


@pytest.mark.parametrize("name", of_kind("guarantee"))
def test_what_rests_on_all_of_an_outcome_says_so(name: str) -> None:
    _, seen = pairs(0, 12)
    said = certify(INSTANCES[name], seen)
    if name in RISING or any(each in name for each in READS_ENDS):
        assert "seen in part" not in said.note
    else:
        assert not said.applicable
        assert "The outcome was seen in part on " in said.note


def test_an_agent_that_sells_out_is_watched_as_who_saw_all_would_be_at_the_worst() -> None:
    rng = np.random.default_rng(4)
    policy = Shadowed(SampleAverage(SHOP), {"ten": Constant([10.0])})
    blind = Agent(policy)
    for demand in rng.uniform(0, 20, 40).tolist():
        ticket = blind.decide([0.0])
        z = float(ticket.z[0])
        stage = blind.observe(ticket.id, [demand if demand < z else at_least(z)])
        whole = review(SHOP, 0, NONE, given(ticket.z, ()), np.array([demand]), (), False)
        assert stage is not None
        if stage.within is not None:
            assert stage.within.least <= whole.cost <= stage.within.most
    assert blind.monitor.headline().applicable
    assert "between" in blind.monitor.words()[0]
