"""Scenarios that are spread until misses keep to 1 - alpha: the bound, the price and the gain."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from covering import Cover
from registry import STREAM

from bocopt import Ensemble, Mixture, Replay, from_callables, minimise, program, real, run
from bocopt.checks import check_policy
from bocopt.core import Array, Dims, IntArray, Policy, Status
from bocopt.models import ConstantVariance
from bocopt.policies import Constant, Predictive
from bocopt.policies.baselines import NoInfo, Seeded
from bocopt.policies.spread import SpreadControl, stretched
from bocopt.problems import Knapsack

COVER = Cover()
ANY_LEVEL: Any = "low"


@program(xi=2, chance=0.9, z=real(2, upper=1000))
def cover_both(xi: Any, z: Any) -> Any:
    return minimise(z.sum()), z >= xi


@dataclass(frozen=True)
class Told:
    """A law that never learns: 50 + 5 x, and normal noise of this sd."""

    sd: float

    def init(self, seeds: IntArray) -> Seeded:
        return Seeded(seeds)

    def step(self, state: Seeded, t: int, x: Array, xi: Array) -> Seeded:
        return state

    def sample(self, state: Seeded, x: Array) -> tuple[Array, Array]:
        u = np.random.default_rng(0).normal(size=(100, 1))
        return 50 + 5 * x[..., None, :] + self.sd * u, np.full(100, 0.01)


def _demand(stages: int, sd: Array | float = 5.0) -> Replay:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(stages, 1))
    return Replay(x, 50 + 5 * x + np.reshape(sd, (-1, 1)) * rng.normal(size=(stages, 1)))


class Outcome(NamedTuple):
    cost: float
    feasible: float


def _late(policy: Policy[Any], stream: Replay, first: int) -> Outcome:
    stages = list(run(policy, stream, problem=COVER, hindsight=False))[first:]
    return Outcome(
        float(np.mean([s.cost for s in stages])), float(np.mean([s.feasible for s in stages]))
    )


def test_a_law_that_is_too_wide_stops_paying_for_it() -> None:
    """The gain: at 0.9 instead of 0.995, a tenth of the cost."""
    plain = _late(Predictive(COVER, Told(10.0)), _demand(400), 150)
    ours = _late(SpreadControl(COVER, Told(10.0)), _demand(400), 150)
    assert plain.feasible > 0.98
    assert abs(ours.feasible - 0.9) < 0.03
    assert ours.cost < 0.92 * plain.cost


def test_a_law_that_is_too_narrow_is_made_to_hold_alpha() -> None:
    plain = _late(Predictive(COVER, Told(2.0)), _demand(400), 150)
    ours = _late(SpreadControl(COVER, Told(2.0)), _demand(400), 150)
    assert plain.feasible < 0.75
    assert abs(ours.feasible - 0.9) < 0.03
    assert ours.cost < 1.1 * plain.cost


def test_a_law_that_is_right_pays_little_for_the_control() -> None:
    """The price: within half a per cent."""
    plain = _late(Predictive(COVER, Told(5.0)), _demand(400), 0)
    ours = _late(SpreadControl(COVER, Told(5.0)), _demand(400), 0)
    assert ours.cost < 1.005 * plain.cost
    assert abs(ours.feasible - 0.9) < 0.03


def _calm_then_wild(t: int, z: float) -> float:
    return 50.0 if t < 200 else 80.0 if t % 2 else 20.0


def _just_above(t: int, z: float) -> float:
    """As if it saw z: infeasible as long as that is possible."""
    return min(z + 0.01, 120.0)


def _now_and_then(t: int, z: float) -> float:
    return min(z + 1.0, 120.0) if t % 3 == 0 else 50.0


@pytest.mark.parametrize("outcome", [_calm_then_wild, _just_above, _now_and_then])
@pytest.mark.parametrize("rate", [0.02, 0.05, 0.5])
def test_the_bound_on_misses_holds_on_any_stream(
    outcome: Callable[[int, float], float], rate: float
) -> None:
    """Outcomes are at most 120: the scenarios reach that when spread by exp(b)."""
    law = Told(5.0)
    policy = SpreadControl(COVER, law, initial_decision=[50.0], rate=rate)
    state, x, stages = policy.init(np.array(0)), np.zeros(1), 400
    demand = np.sort(law.sample(Seeded(np.array(0)), x)[0][:, 0])
    b = np.log((120.0 - demand.mean()) / (demand[89] - demand.mean()))  # then z is 120
    missed = 0.0
    for t in range(stages):
        decision = policy.decide(state, t, x)
        xi = np.array([outcome(t, float(decision.solution.z[0]))])
        state = policy.learn(state, t, x, decision, xi)
        missed += float(state.info.missed)
        assert missed <= 0.1 * (t + 1) + float(state.log_spread) / rate + 1e-9
    assert missed / stages <= 0.1 + (b / rate + 1) / stages + 1e-9


def test_the_share_of_misses_is_told_by_the_spread() -> None:
    policy = SpreadControl(COVER, Told(5.0))
    *_, last = stages = list(run(policy, _demand(300), problem=COVER, hindsight=False))
    missed = sum(1.0 - s.feasible for s in stages)
    assert missed == pytest.approx(0.1 * 300 + np.log(last.info["spread"]) / 0.05)


def test_means_and_signs_stay() -> None:
    rng = np.random.default_rng(0)
    scenarios = rng.normal(size=(4, 50, 3)) + np.array([0.0, 5.0, -5.0])
    w = rng.dirichlet(np.ones(50), size=4)
    for factor in (np.full(4, 0.3), np.array([0.5, 1.0, 1.1, 1.2])):
        moved = stretched(scenarios, w, factor)
        mean, after = ((w[..., None] * part).sum(axis=-2) for part in (scenarios, moved))
        assert after == pytest.approx(mean)
        assert (moved - mean[:, None]) == pytest.approx(
            factor[:, None, None] * (scenarios - mean[:, None])
        )
    wide = stretched(scenarios, w, np.full(4, 30.0))
    assert wide[..., 0].min() < 0 < wide[..., 0].max()
    assert wide[..., 1].min() == 0
    assert wide[..., 2].max() == 0


def test_where_infeasibility_is_priced_nothing_is_narrowed() -> None:
    knapsack = Knapsack(value=[1.0], capacity=[10.0], salvage=[0.0], upper=10)
    policy = SpreadControl(knapsack, Told(1.0))
    state = policy.init(np.array(0))
    for t in range(5):
        decision = policy.decide(state, t, np.zeros(1))
        state = policy.learn(state, t, np.zeros(1), decision, np.array([0.1]))
    assert state.info.missed == 0
    assert state.info.spread == 1.0


def test_the_spread_keeps_its_limits() -> None:
    policy = SpreadControl(COVER, Told(5.0), initial_decision=[0.0], rate=1.0, narrowest=0.5)
    for xi, limit in ((-1e6, 0.5), (1e6, 1000.0)):
        state = policy.init(np.array(0))
        for t in range(30):
            decision = policy.decide(state, t, np.zeros(1))
            state = policy.learn(state, t, np.zeros(1), decision, np.array([xi]))
        assert state.info.spread == pytest.approx(limit)


LAW = Mixture(dim_xi=2, members=[ConstantVariance()], discounts=[1.0], scenarios=16)


@pytest.mark.parametrize(
    "policy",
    [
        SpreadControl(cover_both, LAW),
        Ensemble(cover_both, LAW, [Constant([0.0, 0.0])], calibration="adaptive", prior_weight=0.5),
        Ensemble(
            cover_both, LAW, [Constant([0.0, 0.0])], selection="leader", calibration="adaptive"
        ),
    ],
    ids=["alone", "drawn", "leader"],
)
def test_laws_hold(policy: Policy[Any]) -> None:
    """Pure, trial by trial as in a batch, and the same after a restart."""
    check_policy(policy, STREAM, problem=cover_both, seeds=(3, 4), horizon=6)


def test_the_ensemble_shows_the_spread_of_its_first_arm() -> None:
    ensemble = Ensemble(COVER, Told(10.0), calibration="adaptive")
    stages = list(run(ensemble, _demand(60), problem=COVER, hindsight=False))
    assert stages[-1].info["spread"] < 0.9
    assert "spread" not in next(run(Ensemble(COVER, Told(10.0)), _demand(1))).info


def _nothing_promised() -> Any:
    return from_callables(
        solve=lambda x, xi: xi,
        cost=lambda x, z, xi: float(z[0]),
        dims=Dims(x=1, z=1, xi=1),
        fallback=[0],
        alpha=None,
    )


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: SpreadControl(COVER, Told(1.0), rate=0.0), "'rate'"),
        (lambda: SpreadControl(COVER, Told(1.0), narrowest=1.5), "'narrowest'"),
        (lambda: SpreadControl(COVER, Mixture(dim_xi=3)), "'model'"),
        (lambda: SpreadControl(_nothing_promised(), Told(1.0)), "has an alpha"),
        (lambda: Ensemble(_nothing_promised(), Told(1.0), calibration="adaptive"), "has an alpha"),
        (lambda: Ensemble(COVER, calibration=ANY_LEVEL), "'calibration'"),
    ],
)
def test_bad_settings_are_named(build: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


def test_a_law_without_news_has_none_to_show() -> None:
    assert SpreadControl(COVER, Told(1.0)).init(np.array(0)).info.of_model == NoInfo()


@pytest.mark.parametrize("build", [Predictive, SpreadControl, Ensemble])
def test_a_first_decision_says_how_it_came_about(build: Callable[..., Policy[Any]]) -> None:
    x = np.zeros(1)
    for first, status in (([3.0], Status.GIVEN), (None, Status.UNINFORMED)):
        policy = build(COVER, Told(5.0), initial_decision=first)
        state = policy.init(np.array(0))
        decision = policy.decide(state, 0, x)
        assert decision.solution.status == status
        assert np.isnan(decision.solution.value) == (status == Status.GIVEN)
        state = policy.learn(state, 0, x, decision, np.array([50.0]))
        assert policy.decide(state, 1, x).solution.status == Status.OPTIMAL
