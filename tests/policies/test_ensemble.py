"""The ensemble: its arms, its hedge and its bound, and the sample averages beside it."""

from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bocopt import (
    Agent,
    Constant,
    Dims,
    Ensemble,
    Knapsack,
    Mixture,
    PaperStream,
    Predictive,
    ResidualSampleAverage,
    SampleAverage,
    WeightedSampleAverage,
    from_callables,
    run,
)
from bocopt.checks import check_policy
from bocopt.core import Array, Policy
from bocopt.models import ConstantVariance
from bocopt.policies import Near, Nearest
from bocopt.policies.ensemble import hedge, mixability_gap

PROBLEM = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3)
SMALL = Mixture(dim_xi=12, members=[ConstantVariance()], discounts=[1.0], scenarios=128)
ANY_RULE: Any = "all"
POLICIES: dict[str, Policy[Any]] = {
    "ensemble": Ensemble(PROBLEM, SMALL),
    "leader, more arms": Ensemble(PROBLEM, SMALL, [Constant([2, 2, 1, 1])], rule="leader"),
    "all members": Predictive(PROBLEM, Mixture(dim_xi=12, scenarios=64)),
    "nearest": WeightedSampleAverage(PROBLEM),
    "near": WeightedSampleAverage(PROBLEM, nearness=Near(), latest=7),
    "residuals": ResidualSampleAverage(PROBLEM, latest=7),
    "latest": SampleAverage(PROBLEM, latest=7),
}


@pytest.mark.parametrize("policy", POLICIES)
def test_the_laws_of_policies_hold(policy: str) -> None:
    check_policy(POLICIES[policy], PROBLEM, PaperStream(), horizon=15)


def test_arms_decide_as_they_would_alone() -> None:
    arms: list[Policy[Any]] = [Constant([2, 2, 1, 1])]
    ensemble, seeds = Ensemble(PROBLEM, SMALL, arms), np.arange(3)
    alone: list[Policy[Any]] = [
        Predictive(PROBLEM, SMALL),
        SampleAverage(PROBLEM, latest=1000),
        *arms,
    ]
    costs = [
        np.stack([s.cost for s in run(p, PROBLEM, PaperStream(), seeds=seeds, horizon=25)])
        for p in alone
    ]
    stages = list(run(ensemble, PROBLEM, PaperStream(), seeds=seeds, horizon=25))
    paid = np.stack([s.info["arm_cost"] for s in stages])  # (T, trials, arms)
    assert (paid == np.stack(costs, axis=-1)).all()
    for s in stages:
        chosen = s.info["chosen"].astype(int)[:, None]
        assert (s.cost == np.take_along_axis(s.info["arm_cost"], chosen, -1)[:, 0]).all()


@settings(max_examples=60, deadline=None)
@example(np.array([[0.0, 1.0, 1.0], [0.0, 1000.0, 1000.0], [2000.0, 0.0, 0.0]]), 0.9)
@given(arrays(np.float64, (30, 3), elements=st.floats(-100, 100)), st.floats(0.4, 0.95))
def test_the_bound_holds_for_any_costs(costs: Array, trust: float) -> None:
    """Expected cost of the drawn arm <= cost of every arm + 2 gap, at every stage."""
    prior = np.array([trust, (1 - trust) / 2, (1 - trust) / 2])
    total, gap, expected = np.zeros(3), np.zeros(()), 0.0
    for paid in costs:
        expected += float((np.exp(hedge(total, gap, prior)) * paid).sum())
        gap = gap + mixability_gap(total, gap, prior, paid)
        total = total + paid
        assert expected <= total.min() + 2 * float(gap) + 1e-6


def test_only_the_rule_that_samples_has_a_guarantee() -> None:
    for ensemble, sure in (
        (Ensemble(PROBLEM, SMALL), True),
        (Ensemble(PROBLEM, SMALL, rule="leader"), False),
    ):
        *_, last = run(ensemble, PROBLEM, PaperStream(), seeds=0, horizon=12)
        assert np.isfinite(last.info["bound"]) == sure
        assert ("no guarantee" in ensemble.guarantee) != sure


def test_the_hedge_prefers_what_cost_less() -> None:
    w = np.exp(hedge(np.array([10.0, 300.0]), np.array(20.0), np.array([0.5, 0.5])))
    assert w[0] > 0.99
    w = np.exp(hedge(np.array([10.0, 10.0]), np.array(0.0), np.array([0.9, 0.1])))
    assert w == pytest.approx([0.9, 0.1])


def test_the_default_learns() -> None:
    """Ahead of the running average on the paper's stream, in reward and feasibility."""
    seeds = np.arange(2000, 2008)
    policies: list[Policy[Any]] = [Ensemble(PROBLEM), SampleAverage(PROBLEM)]
    ours, theirs = (
        list(run(policy, PROBLEM, PaperStream(), seeds=seeds, horizon=80)) for policy in policies
    )
    gain = np.mean([b.cost.mean() - a.cost.mean() for a, b in zip(ours, theirs, strict=True)])
    assert gain > 2.0
    assert np.mean([s.feasible.mean() for s in ours]) > 0.97


def test_any_problem_will_do() -> None:
    problem = from_callables(
        solve=lambda x, xi: xi,
        cost=lambda x, z, xi: float(4 * np.maximum(xi - z, 0)[0] + np.maximum(z - xi, 0)[0]),
        dims=Dims(x=1, z=1, xi=1),
        fallback=[0],
        candidates=20,
    )
    few = Mixture(dim_xi=1, scenarios=64)
    agent = Agent(Ensemble(problem, few), problem)
    rng, paid = np.random.default_rng(0), []
    for _ in range(30):
        x = rng.normal(size=1)
        ticket = agent.decide(x)
        stage = agent.observe(ticket.id, 10 + 2 * x + rng.normal(size=1))
        assert stage is not None
        paid.append(float(stage.cost))
    assert np.mean(paid[10:]) < 4.0


@pytest.mark.parametrize(
    "pairs",
    {
        "constant x": (lambda rng: np.ones(3), lambda rng: 1 + 0.1 * rng.random(12)),
        "constant xi": (lambda rng: rng.normal(size=3), lambda rng: np.ones(12)),
        "enormous x": (lambda rng: 1e100 * rng.normal(size=3), lambda rng: rng.random(12)),
        "no x": (lambda rng: np.zeros(0), lambda rng: rng.random(12)),
    }.items(),
    ids=lambda pair: pair[0],
)
def test_streams_that_tell_little(pairs: tuple[str, Any]) -> None:
    agent, rng = Agent(Ensemble(PROBLEM), PROBLEM), np.random.default_rng(0)
    for _ in range(12):
        stage = agent.observe(agent.decide(pairs[1][0](rng)).id, pairs[1][1](rng))
        assert stage is not None
        assert np.isfinite(stage.cost)


def test_nearness() -> None:
    distance = np.array([4.0, 0.0, 1.0, 9.0])
    assert Nearest(0.5)(distance, 2).tolist() == [0.0, 1.0, 1.0, 0.0]
    near = Near(1.0)(distance, 2)
    assert near.argsort().tolist() == [3, 0, 2, 1]
    assert near[1] == 1.0


def test_residuals_follow_the_regression() -> None:
    policy, seeds = ResidualSampleAverage(PROBLEM), np.array([0, 1])
    state = policy.init(seeds)
    for t, (x, xi) in enumerate(islice(PaperStream().stages(seeds), 30)):
        decision = policy.decide(state, t, x)
        state = policy.learn(state, t, x, decision, xi)
    assert (decision.solution.z >= 0).all()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Ensemble(PROBLEM, rule=ANY_RULE), "'rule'"),
        (lambda: Ensemble(PROBLEM, trust=1.0), "'trust'"),
        (lambda: Ensemble(PROBLEM, first=[1]), "'first'"),
        (lambda: Ensemble(PROBLEM, Mixture(dim_xi=3)), "'model'"),
        (lambda: Predictive(PROBLEM, Mixture(dim_xi=3)), "12 components"),
        (lambda: SampleAverage(PROBLEM, latest=0), "'latest'"),
        (lambda: WeightedSampleAverage(PROBLEM, latest=0), "'latest'"),
        (lambda: Nearest(0.0), "'power'"),
        (lambda: Near(0.0), "'width'"),
    ],
)
def test_bad_settings_are_named(build: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()
