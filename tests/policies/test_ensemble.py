"""The ensemble: its arms, its hedge and its bound, and the sample averages beside it."""

import warnings
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bocopt import Agent, Ensemble, Mixture, SampleAverage, from_callables, run
from bocopt.core import Array, Dims, Policy
from bocopt.models import ConstantVariance, guard
from bocopt.paper import PaperStream
from bocopt.policies import (
    Constant,
    Near,
    Nearest,
    Predictive,
    ResidualSampleAverage,
    WeightedSampleAverage,
)
from bocopt.policies import ensemble as ensemble_module
from bocopt.policies.hedge import hedge, mixability_gap
from bocopt.problems import Knapsack

PROBLEM = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3)
SMALL = Mixture(dim_xi=12, members=[ConstantVariance()], discounts=[1.0], scenarios=128)
ANY_RULE: Any = "all"


def test_arms_decide_as_they_would_alone() -> None:
    arms: list[Policy[Any]] = [Constant([2, 2, 1, 1])]
    ensemble, seeds = Ensemble(PROBLEM, SMALL, arms), np.arange(3)
    alone: list[Policy[Any]] = [
        Predictive(PROBLEM, SMALL),
        SampleAverage(PROBLEM, latest=1000),
        *arms,
    ]
    costs = [
        np.stack([s.cost for s in run(p, PaperStream(), problem=PROBLEM, seeds=seeds, horizon=25)])
        for p in alone
    ]
    stages = list(run(ensemble, PaperStream(), problem=PROBLEM, seeds=seeds, horizon=25))
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


def test_what_a_draw_pays_is_by_the_weights_before_the_outcome() -> None:
    ensemble = Ensemble(PROBLEM, SMALL, prior_weight=0.5)
    stages = list(run(ensemble, PaperStream(), problem=PROBLEM, seeds=range(4), horizon=15))
    weights = np.stack([s.info["arm_weights"] for s in stages])  # (T, trials, arms), after
    paid = np.stack([s.info["arm_cost"] for s in stages])
    mean = np.stack([s.info["arm_mean"] for s in stages])
    before = np.concatenate([np.full((1, 4, 2), 0.5), weights[:-1]])
    assert mean == pytest.approx((before * paid).sum(axis=-1))
    assert (np.abs(mean - (weights * paid).sum(axis=-1)) > 0.1).any()  # after would be another
    bound = np.stack([s.info["arm_bound"] for s in stages])
    best = paid.cumsum(axis=0).min(axis=-1)
    assert (mean.cumsum(axis=0) <= best + bound + 1e-9).all()


def test_only_the_rule_that_samples_has_a_guarantee() -> None:
    for ensemble, sure in (
        (Ensemble(PROBLEM, SMALL), True),
        (Ensemble(PROBLEM, SMALL, selection="leader"), False),
    ):
        *_, last = run(ensemble, PaperStream(), problem=PROBLEM, seeds=0, horizon=12)
        assert np.isfinite(last.info["arm_bound"]) == sure
        assert ("no guarantee" in ensemble.guarantee) != sure


def test_the_hedge_prefers_what_cost_less() -> None:
    w = np.exp(hedge(np.array([10.0, 300.0]), np.array(20.0), np.array([0.5, 0.5])))
    assert w[0] > 0.99
    w = np.exp(hedge(np.array([10.0, 10.0]), np.array(0.0), np.array([0.9, 0.1])))
    assert w == pytest.approx([0.9, 0.1])


def test_before_any_gap_only_a_change_of_the_leader_costs() -> None:
    """The leader alone decides: what mixing loses is what the best total falls short of it."""
    prior, paid = np.array([0.5, 0.5]), np.array([3.0, 0.0])
    totals = np.array([[0.0, 10.0], [0.0, 2.0], [0.0, 0.0]])
    gaps = mixability_gap(totals, np.zeros(3), prior, paid)
    assert gaps.tolist() == [0.0, 1.0, 1.5]  # stays ahead; falls 1 behind; two lead, half pays 3


def test_the_default_learns() -> None:
    """Ahead of the running average on the paper's stream, in reward and feasibility."""
    seeds = np.arange(2000, 2008)
    policies: list[Policy[Any]] = [Ensemble(PROBLEM), SampleAverage(PROBLEM)]
    ours, theirs = (
        list(run(policy, PaperStream(), problem=PROBLEM, seeds=seeds, horizon=80))
        for policy in policies
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
    agent = Agent(Ensemble(problem, few))
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
    agent, rng = Agent(Ensemble(PROBLEM)), np.random.default_rng(0)
    for _ in range(12):
        stage = agent.observe(agent.decide(pairs[1][0](rng)).id, pairs[1][1](rng))
        assert stage is not None
        assert np.isfinite(stage.cost)


def test_nearness() -> None:
    distance = np.array([4.0, 0.0, 1.0, 9.0])
    assert Nearest(0.5)(distance, 2).tolist() == [0.0, 1.0, 1.0, 0.0]
    five = np.array([4.0, 0.0, 1.0, 9.0, 16.0])
    assert Nearest(0.5)(five, 2).tolist() == [1.0, 1.0, 1.0, 0.0, 0.0]  # sqrt(5) is more than two
    assert Nearest(1.0)(five, 2).tolist() == [1.0] * 5
    near = Near(1.0)(distance, 2)
    assert near.argsort().tolist() == [3, 0, 2, 1]
    assert near[1] == 1.0


def _weight_at(near: Near, squared_distance: float, outcomes: int, dim_x: int) -> float:
    """Of one outcome, where the others are at the context itself."""
    distance = np.append(np.zeros(outcomes - 1), squared_distance)
    return float(near(distance, dim_x)[-1])


@pytest.mark.parametrize("dim_x", [1, 2, 3])
def test_the_kernel_has_the_width_that_it_says(dim_x: int) -> None:
    """2^(k + 4) outcomes halve the width, and one width away the weight is exp(-1/2)."""
    many = 2 ** (dim_x + 4)
    assert _weight_at(Near(3.0), 1.5**2, many, dim_x) == pytest.approx(np.exp(-0.5))
    assert _weight_at(Near(3.0), 0.75**2, many**2, dim_x) == pytest.approx(np.exp(-0.5))
    assert _weight_at(Near(3.0), (2 * 1.5) ** 2, many, dim_x) == pytest.approx(np.exp(-2.0))
    assert _weight_at(Near(), 0.75**2, many, dim_x) == pytest.approx(np.exp(-0.5))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Ensemble(PROBLEM, selection=ANY_RULE), "'selection'"),
        (lambda: Ensemble(PROBLEM, prior_weight=1.0), "'prior_weight'"),
        (lambda: Ensemble(PROBLEM, initial_decision=[1]), "'initial_decision'"),
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


def test_the_bound_is_twice_the_gap_and_arms_are_drawn_by_weight() -> None:
    ensemble, seeds = Ensemble(PROBLEM, SMALL, prior_weight=0.5), np.arange(1500)
    state = ensemble.init(seeds)
    uneven = state._replace(
        cost=np.tile([0.0, 3.0], (1500, 1)), gap=np.full(1500, 2.0 * np.log(2.0))
    )
    x = np.zeros((1500, 3))
    decision = ensemble.decide(uneven, 0, x)
    w = np.exp(hedge(uneven.cost, uneven.gap, np.array([0.5, 0.5])))[0, 1]
    assert w == pytest.approx(1 / (1 + np.exp(1.5)), rel=1e-9)
    assert decision.memo[0].mean() == pytest.approx(w, abs=0.03)
    after = ensemble.learn(uneven, 0, x, decision, np.ones((1500, 12)))
    assert (after.info.arms.arm_bound == 2 * after.gap).all()


def test_the_leader_decides() -> None:
    arms: list[Policy[Any]] = [Constant([2, 2, 1, 1])]
    ensemble = Ensemble(PROBLEM, SMALL, arms, selection="leader")
    state = ensemble.init(np.array([0]))
    led = state._replace(cost=np.array([[50.0, 40.0, 0.0]]), gap=np.array([1.0]))
    assert ensemble.decide(led, 0, np.zeros((1, 3))).solution.z.tolist() == [[2, 2, 1, 1]]


class Recording:
    """A problem that remembers what it was asked to solve."""

    def __init__(self) -> None:
        self.dims, self.sense, self.risk = PROBLEM.dims, PROBLEM.sense, PROBLEM.risk
        self.cost, self.violation = PROBLEM.cost, PROBLEM.violation
        self.asked: list[tuple[Array, Array]] = []

    def solve(self, scenarios: Array, w: Array, x: Array) -> Any:
        self.asked.append((scenarios, w))
        return PROBLEM.solve(scenarios, w, x)


def _asked(build: Any, stages: int) -> tuple[Array, Array, Array, Array]:
    """The last program of a policy, and the contexts and outcomes before it."""
    problem = Recording()
    policy = build(problem)
    state, pairs = policy.init(np.array(0)), []
    for t, (x, xi) in enumerate(islice(PaperStream().stages(np.array(0)), stages)):
        decision = policy.decide(state, t, x)
        pairs.append((x, xi))
        state = policy.learn(state, t, x, decision, xi)
    xs, xis = (np.stack(part) for part in zip(*pairs, strict=True))
    scenarios, w = problem.asked[-1]
    return scenarios, w, xs, xis


def test_near_outcomes_have_the_weight() -> None:
    build = partial(WeightedSampleAverage, nearness=Nearest(0.5))
    scenarios, w, xs, xis = _asked(build, 26)
    standard = (xs - xs[:25].mean(axis=0)) / xs[:25].std(axis=0)
    order = np.argsort(((standard[:25] - standard[25]) ** 2).sum(axis=-1))
    assert (scenarios == xis[:25]).all()
    assert sorted(np.flatnonzero(w)) == sorted(order[:5])
    assert w.max() == pytest.approx(0.2)


def test_residuals_are_put_around_the_prediction() -> None:
    scenarios, w, xs, xis = _asked(ResidualSampleAverage, 41)
    standard = (xs - xs[:40].mean(axis=0)) / xs[:40].std(axis=0)
    phi = np.concatenate([np.ones((41, 1)), standard], axis=1)
    normal = phi[:40].T @ phi[:40] + np.diag([1e-6, 15.0, 15.0, 15.0])
    mean = xis[:40].mean(axis=0)
    b = np.linalg.solve(normal, phi[:40].T @ (xis[:40] - mean))
    expected = np.maximum(mean + phi[40] @ b + (xis[:40] - mean - phi[:40] @ b), 0.0)
    assert scenarios == pytest.approx(expected)
    assert w == pytest.approx(1 / 40)


@pytest.mark.parametrize(("lowest", "floor"), [(0.0, 0.0), (0.1, 0.0), (-0.1, -np.inf)])
def test_residuals_make_nothing_negative_that_never_was(lowest: float, floor: float) -> None:
    rng, problem = np.random.default_rng(0), Recording()
    policy = ResidualSampleAverage(problem)
    state, x = policy.init(np.array(0)), rng.normal(size=(20, 1))
    for t in range(20):
        xi = np.maximum(2 * x[t] + rng.normal(size=12), lowest)  # often just that
        state = policy.learn(state, t, x[t], policy.decide(state, t, x[t]), xi)
    policy.decide(state, 20, np.array([-3.0]))
    least = problem.asked[-1][0].min()
    assert least == floor if floor == 0 else least < lowest


class Fragile(Constant):
    """Fails now and then."""

    def decide(self, state: Any, t: int, x: Array) -> Any:
        if t >= 5:
            raise RuntimeError("out of order")
        return super().decide(state, t, x)


def test_an_arm_that_fails_is_reported_and_the_others_carry_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guard, "_warned", set())
    ensemble = Ensemble(PROBLEM, SMALL, [Fragile([2, 2, 1, 1])], prior_weight=0.3)
    with pytest.warns(UserWarning, match="The arm Fragile failed") as told:
        stages = list(run(ensemble, PaperStream(), problem=PROBLEM, seeds=range(20), horizon=12))
    assert "out of order" in str(told[0].message)
    assert (stages[3].info["arm_failed"] == 0).all()
    assert (stages[8].info["arm_failed"] == [0, 0, 1]).all()
    paid = stages[8].info["arm_cost"]
    assert (paid[:, 2] == paid[:, :2].max(axis=-1)).all()
    assert np.isfinite(stages[-1].cost).all()


class Wordy(Constant):
    """Fails with other words each time."""

    def decide(self, state: Any, t: int, x: Array) -> Any:
        raise RuntimeError(f"out of order at {t}")


def test_arms_that_fail_with_ever_new_words_leave_few_warnings_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guard, "_warned", set())
    registry: dict[Any, Any] = {}
    monkeypatch.setattr(ensemble_module, "__warningregistry__", registry, raising=False)
    ensemble = Ensemble(PROBLEM, SMALL, [Wordy([2, 2, 1, 1])])
    state = ensemble.init(np.array(0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for t in range(1000):
            ensemble.decide(state, t, np.zeros(3))
    words = [str(warning.message) for warning in caught]
    assert len(words) == 2
    assert "The arm Wordy failed: RuntimeError('out of order at 0')" in words[0]
    assert "The arm Wordy failed: RuntimeError. The others carry on." in words[1]
    assert len(registry) <= 3  # both, and the version of the filters


def test_a_context_of_another_width_is_refused_before_anything_is_decided() -> None:
    ensemble, x = Ensemble(PROBLEM, SMALL), np.array([1.0, 2.0, 3.0])
    state = ensemble.init(np.array(0))
    state = ensemble.learn(state, 0, x, ensemble.decide(state, 0, x), np.ones(12))
    for wrong in ([1.0], [1.0, 2.0], []):
        with pytest.raises(ValueError, match=r"'x' parameter of Ensemble\.decide"):
            ensemble.decide(state, 1, np.array(wrong))


def test_ensembles_are_not_nested() -> None:
    with pytest.raises(ValueError, match="other than ensembles"):
        Ensemble(PROBLEM, SMALL, [Ensemble(PROBLEM, SMALL)])
