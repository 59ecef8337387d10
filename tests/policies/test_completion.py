"""Outcomes that are completed anew, when to look up, and trials that are played together."""

from typing import Any

import numpy as np
import pytest

from bocopt.core import Array, BoolArray, Bounds, IntArray, Policy
from bocopt.models import ConstantVariance, LightMixture, Mixture
from bocopt.numeric.stacking import UnlikeError
from bocopt.policies import Ensemble, PartlySeen, Predictive, SampleAverage
from bocopt.policies.completion import completed_anew
from bocopt.policies.partly_seen import PartlySeenState
from bocopt.policies.sight import Sight, begun
from bocopt.problems import Newsvendor, grid
from bocopt.state import flatten
from bocopt.wrappers import scenarios_of

SHOP = Newsvendor(unit_cost=[0.3], price=1.0)
ROADS = grid(3, 3)


def kaplan_meier(values: Array, cut: BoolArray, level: float) -> float:
    """The smallest value beyond which at most 1 - level survive, by the product over all steps."""
    survive = 1.0
    for value in np.unique(values[~cut]):
        survive *= 1.0 - ((values == value) & ~cut).sum() / (values >= value).sum()
        if survive <= 1.0 - level + 1e-12:
            return float(value)
    return float(values.max())


@pytest.mark.parametrize("level", [0.2, 0.4, 0.6])
def test_completed_again_and_again_they_are_the_estimate_of_kaplan_and_meier(level: float) -> None:
    rng = np.random.default_rng(5)
    demand, stock = rng.gamma(4.0, 5.0, 4000), rng.uniform(5.0, 40.0, 4000)
    cut = demand >= stock
    low = np.where(cut, stock, demand)[:, None]
    bounds = Bounds(low, np.where(cut[:, None], np.inf, low))
    u, v = rng.random((2, 4000, 1))
    values = low
    for _ in range(30):
        values = completed_anew(bounds, values, u, v)
    assert (values[~cut] == low[~cut]).all()
    assert bounds.holds(values).all()
    expected = kaplan_meier(low[:, 0], cut, level)
    assert abs(np.quantile(values, level) / expected - 1.0) < 0.03


def test_completions_of_what_was_not_seen_are_those_of_what_was() -> None:
    rng = np.random.default_rng(6)
    seen = np.where(rng.random((300, 2)) < [0.1, 0.9], rng.normal([3.0, 8.0], 1.0, (300, 2)), 0.0)
    bounds = Bounds(*(np.where(seen != 0.0, seen, end) for end in (-np.inf, np.inf)))
    values = completed_anew(bounds, np.full((300, 2), 5.0), *rng.random((2, 300, 2)))
    for column, own in zip(values.T, seen.T, strict=True):
        assert set(column) == set(own[own != 0.0])
        assert abs(column.mean() - own[own != 0.0].mean()) < 0.3


def test_a_model_that_learns_parts_learns_nothing_of_what_was_not_seen() -> None:
    rng, model = np.random.default_rng(11), LightMixture(dim_xi=2)
    outcomes = rng.gamma(4.0, 5.0, (30, 2))
    both, first = model.init(np.array(0)), model.init(np.array(0))
    for t, xi in enumerate(outcomes):
        both = model.step(both, t, np.ones(1), xi)
        first = model.step(first, t, np.ones(1), np.where([True, t < 20], xi, np.nan))
        if t == 19:
            assert np.array_equal(first.memory, both.memory)
            then = first.memory[1]
    assert np.array_equal(first.memory[0], both.memory[0])
    assert np.array_equal(first.memory[1], then)
    assert np.isnan(first.info.probability[1])


def test_a_component_that_was_never_seen_is_like_the_others() -> None:
    bounds = Bounds(
        np.array([[2.0, -np.inf], [4.0, -np.inf]]), np.array([[2.0, np.inf], [4.0, np.inf]])
    )
    half = np.full((2, 2), 0.5)
    assert completed_anew(bounds, np.zeros((2, 2)), half, half)[:, 1].tolist() == [3.0, 3.0]


def sales(z: Array, xi: Array) -> Bounds:
    """What is seen of items: their sales."""
    return Bounds(np.minimum(z, xi), np.where(xi >= z, np.inf, xi))


def taken(z: Array, xi: Array) -> Bounds:
    """What is seen of roads: those that were taken."""
    return Bounds(np.where(z > 0, xi, -np.inf), np.where(z > 0, xi, np.inf))


def played(policy: PartlySeen, seeds: IntArray, outcomes: Array) -> tuple[Array, PartlySeenState]:
    """(S), (T, S, m) -> decisions (T, S, d), and the state after them."""
    state, x, z = policy.init(seeds), np.ones(1), []
    see = taken if outcomes.shape[-1] == ROADS.dims.xi else sales
    for t, xi in enumerate(outcomes):
        decision = policy.decide(state, t, x)
        z.append(decision.solution.z)
        state = policy.learn_bounds(state, t, x, decision, see(z[-1], xi))
    return np.array(z), state


@pytest.mark.parametrize(
    "policy",
    [SampleAverage(SHOP), Predictive(SHOP, LightMixture()), SampleAverage(ROADS)],
    ids=["running average", "light mixture", "roads"],
)
def test_trials_together_are_as_alone(policy: SampleAverage | Predictive) -> None:
    rng, size = np.random.default_rng(7), policy.problem.dims.xi
    outcomes = rng.gamma(4.0, 5.0, (40, 3, size)) * (rng.random((40, 3, size)) < 0.7)
    z, state = played(PartlySeen(policy), np.arange(3), outcomes)
    for i in range(3):
        alone, own = played(PartlySeen(policy), np.array(i), outcomes[:, i])
        assert np.array_equal(z[:, i], alone)
        assert np.array_equal(state.sight.ruled_out[i], own.sight.ruled_out)


def test_trials_that_cannot_learn_apart_are_said_to_be_played_apart() -> None:
    model = Mixture(dim_xi=1, members=[ConstantVariance()], scenarios=16)
    policy, x = PartlySeen(Predictive(SHOP, model)), np.ones(1)
    state = policy.init(np.arange(2))
    for t in range(3):
        xi = np.array([[5.0 + t], [4.0 + t]])
        state = policy.learn(state, t, x, policy.decide(state, t, x), xi)
    seen = Bounds(np.array([[5.0], [0.0]]), np.array([[5.0], [np.inf]]))  # nothing of the second
    with pytest.raises(UnlikeError, match="played apart"):
        policy.learn_bounds(state, 3, x, policy.decide(state, 3, x), seen)


def test_outcomes_before_are_those_that_the_policy_holds() -> None:
    demand = np.random.default_rng(8).gamma(4.0, 5.0, (60, 1, 1))
    policy = PartlySeen(SampleAverage(SHOP))
    own, whole = policy.policy.init(np.arange(1)), policy.init(np.arange(1))
    for t, y in enumerate(demand[:30]):
        own = policy.policy.learn(own, t, np.ones(1), policy.policy.decide(own, t, np.ones(1)), y)
        whole = policy.learn(whole, t, np.ones(1), policy.decide(whole, t, np.ones(1)), y)
    begun = policy.begin(np.arange(1), own, 30)
    ours, theirs = flatten(begun.sight), flatten(whole.sight)
    counts = [name for name in ours if "rows" not in name]
    assert all(np.array_equal(ours[name], theirs[name]) for name in counts)
    assert np.array_equal(begun.sight.rows.rows, whole.sight.rows.rows)


def test_who_takes_another_arm_keeps_it_where_nobody_looks_up() -> None:
    model = Mixture(dim_xi=1, members=[ConstantVariance()], scenarios=16)
    policy, x, rng = PartlySeen(Ensemble(SHOP, model), 1e-12), np.ones(1), np.random.default_rng(12)
    state, others = policy.init(np.arange(1)), 0
    for t, y in enumerate(rng.gamma(4.0, 5.0, (40, 1, 1)) * (rng.random((40, 1, 1)) < 0.5) + 1.0):
        decision, own = policy.decide(state, t, x), policy.policy.decide(state.own, t, x)
        first = scenarios_of(policy.policy, state.own, t, x)
        if t > 4 and first is not None:
            assert np.array_equal(decision.solution.z, own.solution.z)
            others += int((SHOP.solve(*first, x).z != own.solution.z).any())
        cut = np.where(y > 15.0, np.inf, y)
        state = policy.learn_bounds(state, t, x, decision, Bounds(np.minimum(y, 15.0), cut))
    assert state.sight.is_partial.all()
    assert others > 5


def after(*outcomes: tuple[float, float]) -> Sight:
    """What was seen after these ends."""
    sight, half = begun((), 1, 0, None), np.full(1, 0.5)
    for low, high in outcomes:
        bounds = Bounds(np.array([low]), np.array([high]))
        sight = sight.after(bounds, np.where(bounds.exact, 1.0, 0.0), half, half, np.inf)
    return sight


def test_until_a_number_was_seen_more_is_expected_for_sure() -> None:
    u = np.full(1, 0.5)
    assert after((3.0, np.inf)).weight_beyond(2.0, u) > 1e6
    assert after((3.0, np.inf)).beyond_all().max() == 9.0
    small = after((200.0, np.inf), (7.0, 7.0))  # 200 was too much, not too little
    assert small.weight_beyond(2.0, u) < 2.0
    assert small.beyond_all().max() == 400.0


def test_after_nothing_but_zeros_any_size_is_expected_now_and_then() -> None:
    zeros = after(*[(0.0, 0.0)] * 7, (0.0, np.inf))
    chance = np.mean([zeros.weight_beyond(2.0, np.array([u])) > 0 for u in np.arange(200) / 200])
    assert abs(chance - 0.5) < 0.02
    assert zeros.beyond_all()[:, 0].tolist() == pytest.approx(10.0 ** np.linspace(-2, 2, 9))


def test_two_zeros_at_first_are_no_trap() -> None:
    rng = np.random.default_rng(9)
    demand = (rng.random((200, 50, 1)) < 0.5) * rng.gamma(4.0, 5.0, (200, 50, 1))
    demand[:2] = 0.0
    z, _ = played(PartlySeen(SampleAverage(SHOP)), np.arange(50), demand)
    best = np.quantile(demand, 0.7)
    assert (np.abs(z[150:].mean(axis=0)[:, 0] / best - 1.0) < 0.6).all()


@pytest.mark.parametrize(
    "policy",
    [SampleAverage(ROADS), Predictive(ROADS, LightMixture(dim_xi=ROADS.dims.xi))],
    ids=["running average", "light mixture"],
)
def test_roads_that_nobody_took_are_tried_until_the_best_is_found(policy: Policy[Any]) -> None:
    rng = np.random.default_rng(10)
    mean = rng.uniform(0.1, 0.5, (20, ROADS.dims.xi))
    costs = 2.0 * mean * rng.random((300, 20, ROADS.dims.xi))
    z, _ = played(PartlySeen(policy), np.arange(20), costs)
    best = ROADS.solve(mean[:, None, :]).value
    paid = (z * mean).sum(axis=-1) / best - 1.0
    assert paid[200:].mean() < 0.5 * paid[:50].mean()
    assert paid[200:].mean() < 0.03
