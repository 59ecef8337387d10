"""Outcomes that were not seen in full: what is learned from them, and when there is looked up."""

import numpy as np
import pytest

from bocopt.bounds import at_least, bounds_of, exactly
from bocopt.core import Array, Bounds
from bocopt.models import LightMixture
from bocopt.policies import PartlySeen, Predictive, SampleAverage
from bocopt.policies.completion import Law, beyond
from bocopt.policies.partly_seen import PartlySeenState
from bocopt.problems import Newsvendor
from bocopt.state import flatten

SHOP = Newsvendor(unit_cost=[0.3], price=1.0)


def test_what_is_seen_in_full_is_decided_and_learned_as_without() -> None:
    plain = Predictive(SHOP, LightMixture())
    wrapped, rng = PartlySeen(plain), np.random.default_rng(0)
    own, state = plain.init(np.arange(3)), wrapped.init(np.arange(3))
    for t in range(30):
        x, xi = rng.normal(size=(3, 2)), rng.poisson(5.0, (3, 1)).astype(float)
        one, other = plain.decide(own, t, x), wrapped.decide(state, t, x)
        assert (one.solution.z == other.solution.z).all()
        own, state = plain.learn(own, t, x, one, xi), wrapped.learn(state, t, x, other, xi)
    ours, theirs = flatten(state.own), flatten(own)
    assert ours.keys() == theirs.keys()
    assert all(np.array_equal(ours[name], theirs[name], equal_nan=True) for name in ours)


def lost_sales(policy: PartlySeen, demand: Array) -> tuple[Array, PartlySeenState]:
    """Decisions (T) of a shop that sees what it sold."""
    state, x, taken = policy.init(np.array(0)), np.ones(1), []
    for t, y in enumerate(demand.tolist()):
        decision = policy.decide(state, t, x)
        z = float(decision.solution.z[0])
        seen = bounds_of("shop", "xi", [y if y < z else at_least(z)], 1)
        state = policy.learn_bounds(state, t, x, decision, seen)
        taken.append(z)
    return np.array(taken), state


@pytest.mark.parametrize("size", [0.2, 30.0, 4000.0])
def test_orders_that_sell_out_rise_to_the_demand(size: float) -> None:
    demand = size * np.random.default_rng(1).gamma(9.0, 1.0 / 9.0, 120)
    for policy in (SampleAverage(SHOP), Predictive(SHOP, LightMixture())):
        taken, _ = lost_sales(PartlySeen(policy), demand)
        assert abs(taken[60:].mean() / np.quantile(demand, 0.7) - 1.0) < 0.2


def test_sales_as_demand_stay_low() -> None:
    demand = 30.0 * np.random.default_rng(1).gamma(9.0, 1.0 / 9.0, 120)
    policy = SampleAverage(SHOP)
    state, x, taken = policy.init(np.array(0)), np.ones(1), []
    for t, y in enumerate(demand):
        decision = policy.decide(state, t, x)
        taken.append(float(decision.solution.z[0]))
        state = policy.learn(state, t, x, decision, np.minimum(y, decision.solution.z))
    assert max(taken) == taken[0]  # 10, where about 34 is best


def test_what_rules_nothing_out_teaches_nothing() -> None:
    policy = PartlySeen(Predictive(SHOP, LightMixture()))
    _, state = lost_sales(policy, np.full(20, 3.0))
    decision = policy.decide(state, 20, np.ones(1))
    seen = bounds_of("shop", "xi", [at_least(0)], 1)
    after = policy.learn_bounds(state, 20, np.ones(1), decision, seen)
    before, now = flatten(state.own), flatten(after.own)
    assert all(np.array_equal(before[name], now[name], equal_nan=True) for name in before)


def test_draws_are_within_the_bounds_by_the_law() -> None:
    rng = np.random.default_rng(3)
    law = Law(rng.normal(size=(400, 1)), np.full(400, 1 / 400))
    seen = Bounds(np.array([0.5]), np.array([np.inf]))
    drawn = np.array([law.draw(seen, u) for u in (np.arange(200) + 0.5) / 200])[:, 0]
    inside = np.sort(law.scenarios[law.scenarios[:, 0] >= 0.5, 0])
    assert drawn.min() >= 0.5
    assert np.allclose(np.sort(drawn).mean(), inside.mean(), atol=0.02)


def test_parts_that_were_seen_say_something_of_those_that_were_not() -> None:
    rng = np.random.default_rng(4)
    common = rng.normal(size=(2000, 1))
    law = Law(common + 0.1 * rng.normal(size=(2000, 2)), np.full(2000, 1 / 2000))
    high, low = (
        np.mean([law.draw(Bounds(np.array([a, -np.inf]), np.array([a, np.inf])), u)[1] for u in us])
        for a, us in ((1.5, np.linspace(0.01, 0.99, 50)), (-1.5, np.linspace(0.01, 0.99, 50)))
    )
    assert high > 1.0
    assert low < -1.0


def test_beyond_a_bound_is_up_to_twice_as_far() -> None:
    seen = Bounds(np.array([80.0, -np.inf, 1.0]), np.array([np.inf, 6.0, 2.0]))
    far = beyond(seen, np.zeros(3), np.array([1.0, 1.0, 1.0]))
    assert far[:2].tolist() == [160.0, 0.0]
    assert np.isnan(far[2])


def test_a_policy_without_scenarios_is_refused() -> None:
    from bocopt.policies import Constant

    with pytest.raises(ValueError, match="decides under scenarios"):
        PartlySeen(Constant([1.0]))


def test_looking_up_has_a_price_and_ends() -> None:
    demand = 30.0 * np.random.default_rng(1).gamma(9.0, 1.0 / 9.0, 300)
    _, early = lost_sales(PartlySeen(SampleAverage(SHOP)), demand[:30])
    _, late = lost_sales(PartlySeen(SampleAverage(SHOP)), demand)
    first, total = (float(s.info.look_up_total) for s in (early, late))
    assert 0.0 < first <= total < 0.05 * demand.sum() * 0.7
    assert (total - first) / 270 < first / 30
    never, state = lost_sales(PartlySeen(SampleAverage(SHOP), optimism=0.0), demand)
    assert float(state.info.look_up_total) == 0.0
    assert len(never) == 300


def test_exact_bounds_are_outcomes() -> None:
    seen = exactly(np.array([3.0, 4.0]))
    assert seen.is_exact
    assert not seen.unseen.any()
