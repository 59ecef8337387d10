"""Comparisons: against brute force, in words, in agents, and over trials."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from bocopt import (
    Agent,
    Monitor,
    Recorded,
    Replay,
    Rule,
    SampleAverage,
    compare,
    from_callables,
    run,
)
from bocopt.core import Array, Dims, ShadowReport
from bocopt.guarantees import Comparison, Evidence, comparisons, evidence_of
from bocopt.guarantees.certificate import Shadow, nan_is_no_news
from bocopt.numeric.blocks import block_interval, block_length
from bocopt.paper import PaperStream
from bocopt.policies import Constant, Shadowed
from bocopt.problems import Knapsack

NOTHING: Any = 3
PROBLEM = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3)


def stages(differences: ArrayLike, low: float = -1.0, high: float = 1.0) -> Iterator[Evidence]:
    for d in np.asarray(differences, float):
        beside = Shadow(*(np.array(v) for v in (2.0 + d, low, high)))
        yield Evidence(np.array(2.0), shadows=(beside,))


def folded(guarantee: Comparison, evidence: Iterator[Evidence]) -> list[Array]:
    states, state = [], guarantee.init(())
    for e in evidence:
        with nan_is_no_news():
            state = guarantee.step(state, e)
        states.append(state)
    return states


def test_since_is_the_stage_at_which_the_interval_left_zero() -> None:
    rng = np.random.default_rng(0)
    for mean in (-0.3, 0.0, 0.3):
        differences = np.clip(mean + rng.normal(0, 0.4, 400), -1, 1)
        guarantee = Comparison()
        since = 0.0
        for t, state in enumerate(folded(guarantee, stages(differences)), start=1):
            found = guarantee.difference(state)
            sure = bool((found.low > 0) | (found.high < 0))
            since = (since or t) if sure else 0.0
            assert np.nan_to_num(found.since) == since
            assert found.low <= found.seen <= found.high
        assert found.seen == pytest.approx(differences.mean())
        assert (since > 0) == (mean != 0)
        said = guarantee.certificate(state).words()
        assert ("better" if mean < 0 else "worse") in said or mean == 0
        assert ("open" in said) == (mean == 0)


def test_both_sides_are_mirrors() -> None:
    differences = np.random.default_rng(1).uniform(-1, 0.5, 60)
    one, other = (
        Comparison().difference(folded(Comparison(), stages(sign * differences))[-1])
        for sign in (1, -1)
    )
    assert one.low == pytest.approx(-float(other.high))
    assert one.high == pytest.approx(-float(other.low))
    assert one.since == other.since


def test_differences_that_are_certain_cost_nothing() -> None:
    """Where both decisions are the same, nothing is bet and nothing is paid."""
    guarantee, some = Comparison(), np.full(50, -0.5)
    state = folded(guarantee, stages(some))[-1]
    before = guarantee.difference(state)
    for e in stages(np.zeros(50), 0.0, 0.0):
        state = guarantee.step(state, e)
    after = guarantee.difference(state)
    assert 2 * after.high == pytest.approx(float(before.high))
    assert after.since == before.since


def test_no_range_an_exceeded_one_and_impossible_outcomes_give_no_number() -> None:
    unknown = stages([0.1] * 5, np.nan, np.nan)
    alone = iter([Evidence(np.array(2.0))])
    outside = stages([0.1, 0.7, 0.1], -0.5, 0.5)
    impossible = (e._replace(possible=np.array(False)) for e in stages([0.1]))
    for evidence, why in (
        (unknown, "No range was known before xi on 5 stages"),
        (alone, "the other did not decide on 1 stage"),
        (outside, "The difference was outside its range on 1 stage"),
        (impossible, "outside the support"),
    ):
        found = Comparison().certificate(folded(Comparison(), evidence)[-1])
        assert not found.applicable
        assert why in found.note


def test_a_shadow_is_priced_on_the_same_outcomes_and_never_followed() -> None:
    policy = Shadowed(
        Constant([1] * 4), {"average": SampleAverage(PROBLEM), "two": Constant([2] * 4)}
    )
    alone = {
        name: list(run(p, PaperStream(), problem=PROBLEM, seeds=np.arange(3), horizon=20))
        for name, p in {"own": policy.policy, **policy.shadows}.items()
    }
    played = run(policy, PaperStream(), problem=PROBLEM, seeds=np.arange(3), horizon=20)
    for t, stage in enumerate(played):
        assert (stage.cost == alone["own"][t].cost).all()
        shadows = evidence_of(PROBLEM, stage).shadows
        for shown, name in zip(shadows, policy.shadows, strict=True):
            assert (shown.cost == alone[name][t].cost).all()
            difference = shown.cost - stage.cost
            assert (difference >= shown.low - 1e-9).all()
            assert (difference <= shown.high + 1e-9).all()


def test_compare_tells_who_is_better_by_how_much_and_since_when() -> None:
    better, worse = Constant([2, 1, 1, 1]), Constant([0, 0, 0, 1])
    found = compare(
        {"better": better, "the same": worse}, worse, PaperStream(), problem=PROBLEM, horizon=300
    )
    good, same = found["better"], found["the same"]
    assert good.delta == same.delta == pytest.approx(0.025)  # they share it
    assert good.difference.high < 0 < good.difference.since < 300
    assert good.bootstrap.low <= good.difference.seen <= good.bootstrap.high < 0
    assert good.difference.low <= good.bootstrap.low
    assert good.percent == pytest.approx(100 * float(good.difference.seen / abs(good.today)))
    assert "better on average, known since compared stage" in good.words()
    assert "more a stage than what is done now" in good.words()
    assert " EUR more" in good.words(" EUR")
    assert same.difference.seen == 0.0
    many = compare(better, worse, PaperStream(), problem=PROBLEM, seeds=np.arange(4), horizon=100)
    one = compare(better, worse, PaperStream(), problem=PROBLEM, seeds=2, horizon=100)
    assert many.difference.high[2] == one.difference.high
    assert many.bootstrap.low[2] == one.bootstrap.low
    assert "mean of 4 trials" in str(many)
    assert "It is better in 4 of them and worse in 0, with 95% confidence each." in str(many)


def test_of_costs_that_cannot_differ_neither_is_better() -> None:
    taken = np.tile([1.0, 2.0, 1.0, 1.0], (50, 1))
    found = compare(Recorded(taken), taken, PaperStream(), problem=PROBLEM, horizon=50)
    assert "expected at these stages: 0 less (0% less); neither is better." in found.words()


def test_what_is_done_now_may_be_a_rule_or_a_table() -> None:
    taken = np.tile([1.0, 2.0, 1.0, 1.0], (50, 1))
    stream = PaperStream()
    by_rule, by_table, by_policy = (
        compare(SampleAverage(PROBLEM), today, stream, horizon=50)
        for today in (lambda x: [1, 2, 1, 1], taken, Constant([1, 2, 1, 1]))
    )
    assert by_rule.today == by_table.today == by_policy.today
    assert (by_rule.differences == by_table.differences).all()
    with pytest.raises(ValueError, match="has 50 decisions; stage 50 has none"):
        compare(SampleAverage(PROBLEM), taken, stream, horizon=51)
    with pytest.raises(
        ValueError, match="'baseline' parameter of compare must be a policy, a rule"
    ):
        compare(SampleAverage(PROBLEM), "what I do", stream, horizon=5)
    with pytest.raises(ValueError, match=r"one decision \(d\)"):
        compare(SampleAverage(PROBLEM), lambda x: 3.0, stream, horizon=5)


def test_without_ranges_there_is_still_a_bootstrap_interval() -> None:
    problem = from_callables(
        solve=lambda x, xi: xi,
        cost=lambda x, z, xi: float(abs(z[0] - xi[0])),
        dims=Dims(x=None, z=1, xi=1),
        fallback=[0],
    )
    xi = np.random.default_rng(0).normal(5.0, 1.0, (200, 1))
    found = compare(
        Constant([5.0]), Constant([8.0]), Replay(np.zeros((200, 1)), xi), problem=problem
    )
    assert not found.certificate.applicable
    assert "not applicable" in found.words()
    assert found.bootstrap.high < 0


def test_an_agent_with_a_shadow_compares_live_and_goes_on_from_a_file(tmp_path: Path) -> None:
    policy = Shadowed(SampleAverage(PROBLEM), {"today": Constant([0, 0, 0, 1])})

    one, seen = Agent(policy, problem=PROBLEM), PaperStream().stages(np.array(0))
    for _ in range(40):
        x, xi = next(seen)
        one.observe(one.decide(x).id, xi)
    waiting = one.decide(x)
    one.save(tmp_path / "agent")
    one.close()
    other = Agent.load(tmp_path / "agent", policy, problem=PROBLEM)
    for a in (one, other):
        a.observe(waiting.id, xi)
        for _ in range(3):
            a.observe(a.decide(x).id, xi)
    assert str(one.monitor) == str(other.monitor)
    assert "comparison with today" in str(one.monitor)
    assert "a stage on average than the decisions taken" in str(one.monitor)


def test_comparisons_share_delta() -> None:
    given = comparisons(("a", "b", "c", "d"), delta=0.2)
    assert [one.delta for one in given] == [0.05] * 4
    assert [one.shadow for one in given] == [0, 1, 2, 3]
    monitor = Monitor(PROBLEM, shadows=("a", "b"), delta=0.1)
    assert list(monitor.guarantees[2:]) == comparisons(("a", "b"), delta=0.1)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (lambda: Shadowed(Constant([1]), {}), "'shadows' parameter of Shadowed"),
        (lambda: Shadowed(Constant([1]), {"": Constant([1])}), "policies by name"),
        (lambda: Shadowed(Constant([1]), {"a": NOTHING}), r"'shadows\['a'\]' parameter"),
        (lambda: Rule(NOTHING), "'function' parameter of Rule"),
        (lambda: Recorded([1.0, np.nan]), "'decisions' parameter of Recorded"),
        (lambda: Comparison(shadow=-1), "'shadow' parameter of Comparison"),
        (lambda: Comparison(delta=0), "'delta' parameter of Comparison"),
        (lambda: Comparison(scale=-1.0), "'scale' parameter of Comparison"),
    ],
)
def test_misuse_is_named(bad: object, message: str) -> None:
    assert callable(bad)
    with pytest.raises((TypeError, ValueError), match=message):
        bad()


def autoregressive(coefficient: float, seed: int, stages: int = 2000) -> Array:
    rng, found = np.random.default_rng(seed), np.zeros(stages)
    for t in range(1, stages):
        found[t] = coefficient * found[t - 1] + rng.normal()
    return found


def test_blocks_are_longer_the_longer_stages_resemble_each_other() -> None:
    lengths = [
        np.mean([block_length(autoregressive(c, s)) for s in range(10)]) for c in (0.0, 0.5, 0.9)
    ]
    assert lengths[0] < 5 < lengths[1] < 25 < lengths[2]
    assert block_length(np.zeros(10)) == block_length(np.ones(1)) == 1


def test_the_length_of_blocks_does_not_depend_on_the_unit() -> None:
    series = autoregressive(0.7, 0, 500)
    lengths = {block_length(np.ldexp(series, unit)) for unit in (-1000, -400, 0, 300, 400, 1000)}
    assert lengths == {block_length(series)} != {1}


def test_a_few_stages_are_blocks_as_well() -> None:
    lengths = [block_length(autoregressive(0.0, seed, n)) for n in range(1, 9) for seed in range(9)]
    assert set(lengths) <= {1, 2}


def test_block_intervals_cover_about_as_often_as_they_say() -> None:
    """Of a series that resembles itself; drawn one by one they would be far too short."""
    inside = {True: 0, False: 0}
    for seed in range(100):
        series = autoregressive(0.7, seed, 1000)
        for blocks in inside:
            low, high = block_interval(series, block_length(series) if blocks else 1)
            inside[blocks] += low <= 0.0 <= high
    assert inside[True] >= 86
    assert inside[False] <= 75


@pytest.mark.parametrize("seeds", [0, [0, 1, 2]])
@pytest.mark.parametrize("worst", [False, True])
def test_shadows_are_priced_at_once_as_they_are_one_by_one(seeds: Any, worst: bool) -> None:
    problem = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3, pays_worst_feasible=worst)
    shadows = {"few": Constant([1, 1, 1, 1]), "many": Constant([3, 3, 3, 3])}
    policy = Shadowed(SampleAverage(problem), shadows)
    for stage in run(policy, PaperStream(), problem=problem, seeds=seeds, horizon=5):
        taken = stage.decision.solution.z
        priced = evidence_of(problem, stage).shadows
        for shadow, constant in zip(priced, shadows.values(), strict=True):
            z = np.broadcast_to(np.array(constant.z, float), taken.shape)
            low, high = problem.range_of_difference(stage.x, z, taken)
            assert (shadow.cost == problem.cost(stage.x, z, stage.xi)).all()
            assert ((shadow.low == low) & (shadow.high == high)).all()


def test_a_shadow_that_decides_nothing_is_named() -> None:
    policy = Shadowed(Constant([1, 1, 1, 1]), {"now": Constant([1, 1, 1, 1])})
    stage = next(run(policy, PaperStream(), problem=PROBLEM, seeds=0, horizon=1))
    shown = ShadowReport(np.full((1, 4), np.nan))
    with pytest.raises(ValueError, match="The 'z' that a shadow returned must be finite"):
        evidence_of(PROBLEM, stage._replace(reports=(shown,)))


@pytest.mark.parametrize("size", [1.0, 1e6, 1e9])
def test_a_range_is_judged_by_its_width_however_large_costs_are(size: float) -> None:
    """Of -1 or 1.5 with a declared range up to 0.2: no stage was flagged at costs of 1e9."""
    differences = np.where(np.arange(50) % 5 < 3, -1.0, 1.5)
    evidence = (
        e._replace(
            cost=e.cost + size,
            shadows=tuple(shadow._replace(cost=shadow.cost + size) for shadow in e.shadows),
        )
        for e in stages(differences, -1.0, 0.2)
    )
    found = Comparison().certificate(folded(Comparison(), evidence)[-1])
    assert "The difference was outside its range on 20 stages" in found.note
    assert not found.applicable


def test_rounding_in_large_costs_breaks_no_range() -> None:
    cost = np.array(0.1 + 0.2 + 1e9)
    shadow = Shadow(cost + 0.3, np.array(0.3 - 1e-13), np.array(0.3 + 1e-13))
    found = Comparison()
    state = found.step(found.init(()), Evidence(cost, shadows=(shadow,)))
    assert found.certificate(state).applicable


def test_a_sure_difference_is_no_open_question() -> None:
    """A range of 0 at every stage: nothing can be bet, and nothing has to be."""
    guarantee = Comparison()
    for difference, said in (
        (-2.0, "better on average"),
        (0.5, "worse on average"),
        (0.0, "neither is better"),
    ):
        state = folded(guarantee, stages([difference] * 3, difference, difference))[-1]
        assert said in guarantee.certificate(state).words()
        found = guarantee.difference(state)
        assert found.low == found.high == difference


def test_missing_outcomes_count_at_their_worst_for_either_side() -> None:
    rng = np.random.default_rng(3)
    differences = rng.uniform(-1.0, 0.2, 200)
    hidden = rng.random(200) < 0.2
    all_of_them = list(stages(differences))
    nothing = np.array(np.nan)
    gaps = [
        Evidence(nothing, shadows=(e.shadows[0]._replace(cost=nothing).where(~h),)) if h else e
        for e, h in zip(all_of_them, hidden, strict=True)
    ]
    worst = [np.where(hidden, end, differences) for end in (-1.0, 1.0)]
    guarantee = Comparison()
    found = guarantee.difference(folded(guarantee, iter(gaps))[-1])
    least, most = (guarantee.difference(folded(guarantee, stages(d))[-1]) for d in worst)
    assert found.low == pytest.approx(float(least.low))
    assert found.high == pytest.approx(float(most.high))
    assert found.seen == pytest.approx(differences[~hidden].mean())
    whole = guarantee.difference(folded(guarantee, iter(all_of_them))[-1])
    assert found.low < whole.low < whole.high < found.high
    told = guarantee.certificate(folded(guarantee, iter(gaps))[-1])
    assert told.applicable
    assert f"The outcome was not seen in full on {hidden.sum()} stages" in told.note
    assert found.least == pytest.approx(float(worst[0].mean()))
    assert found.most == pytest.approx(float(worst[1].mean()))
