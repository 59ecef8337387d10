"""Laws of a fleet beside a mixture: what they add, and what they can cost."""

from typing import Any

import numpy as np
import pytest
from small_fleets import fleet, informed, learned, line, quick

from bocopt.models import Informed, SharedPrior
from bocopt.policies import Ensemble, Predictive, informed_ensemble
from bocopt.problems import Newsvendor

PROBLEM = Newsvendor(unit_cost=[1.0], price=[3.0])
PRIOR = SharedPrior.of(fleet())
LIKE = line(100, 20.5, 2.5, 1.0)
UNLIKE = {
    "other sign": line(101, 20.0, -3.0, 1.0),
    "ten times": line(102, 200.0, 30.0, 10.0),
    "a tenth": line(103, 2.0, 0.3, 0.1),
    "below zero": line(104, -20.0, 3.0, 1.0),
    "noise": line(105, 20.0, 0.0, 15.0),
}


def _scores(model: Informed, rows: Any) -> tuple[Any, Any]:
    """Of all laws together, and of the mixture's part, outcome by outcome."""
    state, both, own = model.init(np.array(0)), [], []
    for t, (x, xi) in enumerate(zip(*rows, strict=True)):
        before = state.log_w
        state = model.step(state, t, x, xi)
        both.append(np.logaddexp.reduce(before + state.info.log_score))
        own.append(state.info.log_score[0])
    return np.cumsum(both), np.cumsum(own)


@pytest.mark.parametrize("rows", [LIKE, *UNLIKE.values()], ids=["like", *UNLIKE])
def test_the_fleet_costs_little_on_any_stream(rows: Any) -> None:
    model = informed(PRIOR)
    both, own = _scores(model, rows)
    spent = np.arange(1, len(own) + 1) * np.log(1.0 - model.switch_rate)
    assert (both >= own + np.log(model.own_weight) + spent - 1e-9).all()


def test_the_fleet_helps_a_stream_that_is_like_it() -> None:
    both, own = _scores(informed(PRIOR), LIKE)
    assert both[9] > own[9] + 5.0


@pytest.mark.parametrize("kind", ["ten times", "a tenth", "below zero"])
def test_a_stream_far_from_the_fleet_is_on_its_own_after_three_outcomes(kind: str) -> None:
    x, xi = UNLIKE[kind]
    state = learned(informed(PRIOR), (x[:3], xi[:3]))
    assert state.info.weights[0] > 0.9


def test_without_trust_in_the_fleet_scenarios_are_those_of_the_mixture() -> None:
    model = informed(PRIOR, own_weight=1 - 1e-12, switch_rate=0.0)
    x, xi = LIKE
    for n in (1, 2, 10):
        ours, alone = (learned(m, (x[:n], xi[:n])) for m in (model, quick()))
        here = np.array([0.3])
        assert (model.sample(ours, here)[0] == quick().sample(alone, here)[0]).all()


def test_before_any_outcome_the_fleet_is_all_there_is() -> None:
    model = informed(PRIOR)
    scenarios, w = model.sample(model.init(np.array(0)), np.array([1.0]))
    assert abs(np.median(scenarios) - 23.0) < 1.5
    assert scenarios.shape == (64, 1)
    assert w.sum() == 1.0


def test_counts_stay_counts_and_never_below_zero() -> None:
    rng = np.random.default_rng(3)
    means = rng.gamma(4.0, 0.3, 9)
    shops = [(np.empty((30, 0)), rng.poisson(m, (30, 1)).astype(np.float64)) for m in means]
    model = informed(SharedPrior.of(shops))
    for n in (0, 1, 4):
        state = learned(model, (np.empty((n, 0)), shops[0][1][:n]))
        scenarios = model.sample(state, np.empty(0))[0]
        assert (scenarios == np.rint(scenarios)).all()
        assert (scenarios >= 0).all()


def test_an_outcome_below_zero_ends_the_logarithm() -> None:
    """Of a fleet that was never below: such laws could not have predicted it."""
    model = informed(PRIOR)
    logarithmic = np.array(["logarithmic" in name for name in model.law_names])
    assert logarithmic.any()
    x, xi = UNLIKE["below zero"]
    state = learned(model, (x[:1], xi[:1]))
    assert (np.isneginf(state.info.log_score) == logarithmic).all()
    assert np.median(model.sample(state, x[1])[0]) < 0.0


def test_names_are_as_many_as_weights() -> None:
    model = informed(PRIOR)
    assert len(model.law_names) == len(model.init(np.array(0)).log_w) == len(set(model.law_names))


def test_the_first_decision_is_its_own_unless_asked_for() -> None:
    x, seed = np.array([0.0]), np.array(0)
    alone, cautious, bold = (
        policy.decide(policy.init(seed), 0, x).solution.z[0]
        for policy in (
            Ensemble(PROBLEM),
            informed_ensemble(PROBLEM, PRIOR),
            informed_ensemble(PROBLEM, PRIOR, at_once=True),
        )
    )
    assert cautious == alone
    assert 19.0 < bold < 22.0


def test_all_arms_start_from_the_fleet() -> None:
    policy = informed_ensemble(PROBLEM, PRIOR, at_once=True, prior_weight=0.5)
    assert policy.prior_weight == 0.5
    assert policy.initial_decision is not None
    assert 19.0 < policy.initial_decision[0] < 22.0
    assert informed_ensemble(
        PROBLEM, PRIOR, at_once=True, initial_decision=[3.0]
    ).initial_decision == (3.0,)


def test_a_policy_is_made_from_a_file(tmp_path: Any) -> None:
    PRIOR.save(tmp_path / "fleet.prior")
    policy = informed_ensemble(PROBLEM, tmp_path / "fleet.prior")
    assert isinstance(policy.model, Informed)
    assert policy.model.prior.fingerprint == PRIOR.fingerprint


def test_what_does_not_fit_is_named() -> None:
    two = Newsvendor(unit_cost=[1.0, 1.0], price=3.0)
    with pytest.raises(ValueError, match=r"'prior' parameter of informed_ensemble .* 2 outcomes"):
        informed_ensemble(two, PRIOR)
    with pytest.raises(ValueError, match=r"'own' parameter of Informed .* 1 components"):
        Informed(PRIOR, quick(dim_xi=2))
    number: Any = 3.0
    with pytest.raises(ValueError, match="'prior' parameter of Informed must be a SharedPrior"):
        Informed(number)
    with pytest.raises(ValueError, match="'own_weight' parameter of Informed"):
        Informed(PRIOR, own_weight=0.0)
    model = informed(PRIOR)
    with pytest.raises(ValueError, match=r"'x' parameter of Informed.sample .* \(..., 1\)"):
        model.sample(model.init(np.array(0)), np.zeros(2))
    with pytest.raises(ValueError, match=r"'x' parameter of Informed\.step must be finite"):
        model.step(model.init(np.array(0)), 0, np.array([np.nan]), np.ones(1))
    with pytest.raises(ValueError, match="components"):
        Predictive(two, model)
