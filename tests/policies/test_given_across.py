"""A policy that a model across series stands beside, and what it is without one."""

from typing import Any

import numpy as np
import pytest

from bocopt import Agent, PanelAgent, Replay
from bocopt.checks import check_policy
from bocopt.models import AcrossSeries, LightMixture
from bocopt.policies import Constant, Ensemble, GivenAcross, Predictive
from bocopt.problems import Knapsack, Newsvendor

SHOP = Newsvendor(unit_cost=[1.0], price=[3.0])
LIGHT = Predictive(SHOP, LightMixture(given=15))


def stream(stages: int = 30) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(stages, 2))
    return x, rng.poisson(10 + 3 * (x[:, :1] > 0)).astype(float)


def test_it_is_a_policy() -> None:
    x, xi = stream()
    check_policy(GivenAcross(LIGHT), Replay(x=x, xi=xi))


def test_without_a_model_it_is_the_mixture_alone_from_the_first_outcome_on() -> None:
    x, xi = stream()
    one, other = Agent(GivenAcross(LIGHT)), Agent(Predictive(SHOP, LightMixture()))
    for t, (now, came) in enumerate(zip(x, xi, strict=True)):
        decided = [agent.decide(now) for agent in (one, other)]
        if t:
            assert decided[0].z.tobytes() == decided[1].z.tobytes()
        for agent, ticket in zip((one, other), decided, strict=True):
            agent.observe(ticket.id, came)


def test_a_panel_has_its_model() -> None:
    rng, model = np.random.default_rng(0), AcrossSeries(lags=[1], fewest=20)
    one = PanelAgent(GivenAcross(LIGHT, model), seed=4)
    other = PanelAgent(LIGHT, across=model, seed=4)
    names = [f"shop {i}" for i in range(8)]
    for _ in range(12):
        x, sold = rng.normal(size=(8, 2)), rng.poisson(20.0, (8, 1))
        decided = [agent.decide(names, x).z for agent in (one, other)]
        assert decided[0].tobytes() == decided[1].tobytes()
        for agent in (one, other):
            agent.observe(names, sold)
    with pytest.raises(ValueError, match=r"'across' .* as the policy has a model of all series"):
        PanelAgent(GivenAcross(LIGHT, model), across=model)


def test_a_problem_does_not_see_the_law_that_is_given() -> None:
    """Its own context has the numbers that it declares."""
    from bocopt import minimise, pos, program, real

    @program(x=1, xi=1, stock=real(1, lower=0.0, upper=100.0))
    def shop(x: Any, xi: Any, stock: Any) -> Any:
        return minimise((1.0 + x[0]) * stock[0] + 3.0 * pos(xi[0] - stock[0]))

    policy, rng = Predictive(shop, LightMixture(given=15)), np.random.default_rng(0)
    names = [f"shop {i}" for i in range(30)]
    model = AcrossSeries(fewest=20)
    panel, by_hand = PanelAgent(GivenAcross(policy, model)), PanelAgent(policy)
    state = model.init(np.array(0))
    for _ in range(4):
        x, sold = rng.random((30, 1)), rng.poisson(20.0, (30, 1)).astype(float)
        z = panel.decide(names, x).z
        rows = model.rows(state, np.arange(30), x)
        seen = np.concatenate([x, model.quantiles(state, rows)], axis=1)
        assert by_hand.decide(names, seen).z.tobytes() == z.tobytes()
        paid = [agent.observe(names, sold).cost for agent in (panel, by_hand)]
        assert paid[0].tobytes() == paid[1].tobytes()
        state = model.learn(state, np.arange(30), rows, sold[:, 0])
        state = model.refit(state) if model.is_due(state) else state
    assert len(state.seen)
    with pytest.raises(ValueError, match=r"'x' parameter of PanelAgent.decide"):
        by_hand.decide(names, np.zeros((30, 17)))


def test_what_it_cannot_be_made_of_is_refused() -> None:
    with pytest.raises(ValueError, match="says `lockstep` and `takes_missing`"):
        GivenAcross(Ensemble(SHOP))
    with pytest.raises(ValueError, match="says `lockstep` and `takes_missing`"):
        GivenAcross(Constant([1.0]))
    with pytest.raises(ValueError, match="given 15 quantiles"):
        GivenAcross(Predictive(SHOP, LightMixture()))
    with pytest.raises(ValueError, match="given 15 quantiles"):
        GivenAcross(Predictive(SHOP, LightMixture(given=9)))
    two = Knapsack(value=[12.0] * 2, capacity=[8.0], salvage=[3.0], upper=9)
    with pytest.raises(ValueError, match="outcomes of one number"):
        GivenAcross(Predictive(two, LightMixture(dim_xi=2)))
