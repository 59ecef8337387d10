"""A model with a memory: the same laws as any, and lags and seasons that pay."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memories import NAN, SHOP, Gappy, Watching, Weekly, mean_cost, small
from mixtures import plain
from registry import KNAPSACK, STREAM, shared_prior
from trees import same_bits

from bocopt import Agent, Ensemble, Mixture, Replay, Status, run
from bocopt.abilities import HasLaws
from bocopt.checks import check_policy
from bocopt.core import Model, Stream
from bocopt.models import ConstantVariance, Informed
from bocopt.models.remembering import Remembering
from bocopt.policies import Predictive
from bocopt.problems import Newsvendor
from bocopt.streams import PaperStream
from bocopt.wrappers import says
from bocopt_studies.learning.synthetic import synthetic_worlds


def test_with_nothing_asked_for_decisions_are_those_of_the_model() -> None:
    plain = run(Ensemble(KNAPSACK, small()), STREAM, seeds=range(2), horizon=25)
    asked = Ensemble(KNAPSACK, Remembering(small()))
    for one, other in zip(
        plain, run(asked, STREAM, problem=KNAPSACK, seeds=range(2)), strict=False
    ):
        assert same_bits(one.decision.solution, other.decision.solution)
        assert same_bits(tuple(one.info.values()), tuple(other.info.values()))


def test_a_model_that_knows_at_once_still_does_where_no_lag_is_asked_for() -> None:
    model, x = Informed(shared_prior(), at_once=True), np.ones(3)
    at_once, inside, lagged = (
        Predictive(KNAPSACK, one)
        for one in (model, Remembering(model, missing="mean"), Remembering(model, lags=[1]))
    )
    first = at_once.decide(at_once.init(np.array(0)), 0, x).solution
    assert first.status != Status.UNINFORMED
    assert same_bits(inside.decide(inside.init(np.array(0)), 0, x).solution, first)
    assert lagged.decide(lagged.init(np.array(0)), 0, x).solution.status == Status.UNINFORMED
    assert says(Remembering(model), HasLaws) == model.law_names


def test_a_model_inside_is_asked_at_the_stage_of_the_decision() -> None:
    """Where outcomes are late, that is not the stage after the latest."""
    daily = Remembering(Mixture(dim_xi=1, scenarios=4), periods=[2])
    twice = Remembering(daily)
    states = [model.init(np.array(0)) for model in (daily, twice)]
    for t in range(40):
        pairs = zip((daily, twice), states, strict=True)
        xi = np.array([5.0 + t % 2])
        states = [model.step(state, t, np.empty(0), xi) for model, state in pairs]
    for t in (40, 41):
        found = [
            m.sample_at(s, t, np.empty(0))[0] for m, s in zip((daily, twice), states, strict=True)
        ]
        assert same_bits(found[0], found[1])


@pytest.mark.parametrize("policy", [Predictive, Ensemble])
@pytest.mark.parametrize(
    ("model", "stream"),
    [
        (Remembering(small(), lags=(1, 3), periods=(5, 2.5)), STREAM),
        (Remembering(small(), lags=(2,), missing="mean"), Gappy(STREAM)),
        (Remembering(small(), missing="marked"), Gappy(STREAM)),
    ],
)
def test_policies_keep_their_laws(policy: Any, model: Any, stream: Stream) -> None:
    """A trial alone is as in a batch, a restored state goes on, branches are apart."""
    check_policy(policy(KNAPSACK, model), stream, seeds=(3, 4, 5), horizon=12)


def test_lags_pay_where_outcomes_depend_on_their_own_past() -> None:
    world = synthetic_worlds()["own past"]
    mixture = plain(dim_xi=4, members=[ConstantVariance()], scenarios=64)
    models: list[Model[Any]] = [mixture, Remembering(mixture, lags=(1,))]
    without, lagged = (
        mean_cost(Predictive(world.problem, model), world.problem, world.stream, 100, 3)
        for model in models
    )
    assert (lagged < without - 0.04 * np.abs(without)).all()


def test_seasons_pay_where_there_is_no_context() -> None:
    models: list[Model[Any]] = [small(), Remembering(small(), periods=(7,))]
    without, seasonal = (
        mean_cost(Predictive(SHOP, model), SHOP, Weekly(), 100, 3) for model in models
    )
    certain = 2 * 2 * -10.0  # if demand were known
    assert (seasonal - certain < 0.5 * (without - certain)).all()


def test_what_is_asked_for_in_vain_costs_little() -> None:
    models: list[Model[Any]] = [small(), Remembering(small(), lags=(1, 2), periods=(7,))]
    usual, more = (
        mean_cost(Predictive(KNAPSACK, model), KNAPSACK, STREAM, 100, 6) for model in models
    )
    assert more.mean() < usual.mean() + 0.02 * np.abs(usual.mean())


def test_a_decision_is_shown_what_its_lesson_is_shown() -> None:
    watching, problem = Watching(), Newsvendor(unit_cost=[1.0], price=[2.0])
    policy = Predictive(problem, Remembering(watching, lags=(2, 1), periods=(4,), harmonics=1))
    x, xi = np.arange(5.0)[:, None], 10.0 + np.arange(5.0)[:, None]
    list(run(policy, Replay(x, xi), problem=problem, hindsight=False))
    expected = [
        [0, 10, 10, 1, 0],  # the outcome itself, as there is no other
        [1, 10, 10, 0, 1],  # of two stages ago: the mean
        [2, 10, 11, -1, 0],
        [3, 11, 12, 0, -1],
        [4, 12, 13, 1, 0],
    ]
    assert np.allclose(watching.learned, expected)
    assert same_bits(tuple(watching.asked), tuple(watching.learned[1:]))


def test_late_outcomes_leave_stages_and_lags_in_step() -> None:
    """The outcome of a stage comes after the next decision: lag 2 is known, and the season."""
    watching, problem = Watching(), Newsvendor(unit_cost=[1.0], price=[2.0])
    policy = Predictive(problem, Remembering(watching, lags=(2,), periods=(4,), harmonics=1))
    agent = Agent(policy, problem=problem)
    ticket = agent.decide([])
    for t in range(6):
        following = agent.decide([])
        agent.observe(ticket.id, [10.0 + t])
        ticket = following
    asked, learned = np.array(watching.asked), np.array(watching.learned)
    assert np.allclose(asked[:, 0], [10, 11, 12, 13, 14])  # decisions 2 to 6
    assert np.allclose(asked[:-1], learned[2:])


def test_an_agent_goes_on_where_it_was_saved(tmp_path: Path) -> None:
    policy = Ensemble(KNAPSACK, Remembering(small(), lags=(1, 3), periods=(7,), missing="mean"))
    agent = Agent(policy, problem=KNAPSACK)
    contexts = [[0.1, NAN], [0.2, 1.0], [NAN, NAN], [0.3, 2.0], [NAN, 1.5], [0.4, NAN]]
    for i, x in enumerate(contexts):
        agent.observe(agent.decide(x).id, [1.0 + 0.1 * i, 1.2])
    waiting = agent.decide([NAN, 0.7])
    agent.save(tmp_path / "agent")
    agent.close()
    again = Agent.load(tmp_path / "agent", policy, problem=KNAPSACK)
    one, other = (a.observe(waiting.id, [1.1, 1.3]) for a in (agent, again))
    assert one is not None
    assert other is not None
    assert same_bits(one.decision, other.decision)
    assert same_bits(agent.state, again.state)
    assert np.array_equal(agent.decide([NAN, 0.1]).z, again.decide([NAN, 0.1]).z)


def remembering(**changes: Any) -> Remembering:
    return Remembering(**{"model": small(), **changes})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: remembering(model=3.0), "'model' parameter of Remembering must be a Model"),
        (lambda: remembering(lags=[0]), r"'lags' .* an integer in \[1, 1e9\]. Got 0"),
        (lambda: remembering(lags=[1.5]), r"'lags' .* an integer .* Got 1.5"),
        (lambda: remembering(lags=1), "'lags' .* a sequence of one or more numbers"),
        (lambda: remembering(lags=[2, 2]), r"'lags' .* different from each other. Got"),
        (lambda: remembering(periods=[1]), r"'periods' .* a number in \[2, inf\). Got 1"),
        (lambda: remembering(periods=[7, 7.0]), "'periods' .* different from each other"),
        (lambda: remembering(periods="week"), "'periods' .* a sequence"),
        (lambda: remembering(harmonics=0), r"'harmonics' .* an integer in \[1, 1000\]"),
        (lambda: remembering(missing="zero"), "'missing' .* 'mean', 'marked' or None. Got 'zero'"),
        (
            lambda: Ensemble(KNAPSACK, Remembering(small(3))),
            "'model' parameter of Predictive must be one of 2 components",
        ),
    ],
)
def test_bad_settings_are_errors(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_contexts_and_outcomes_keep_their_length() -> None:
    model = Remembering(small(2), lags=[1])
    state = model.step(model.init(np.array(0)), 0, np.zeros(3), np.ones(2))
    with pytest.raises(ValueError, match=r"'x' parameter of Remembering.sample .* \(..., 3\)"):
        model.sample(state, np.zeros(4))
    with pytest.raises(ValueError, match=r"'xi' parameter of Remembering.step .* \(..., 2\)"):
        model.step(state, 1, np.zeros(3), np.ones(3))


@pytest.mark.full
def test_a_stage_costs_the_same_after_ten_thousand() -> None:
    from time import process_time

    members, few = [ConstantVariance()], {"memory": 100, "scenarios": 64}
    model = Remembering(plain(dim_xi=12, members=members, **few), lags=(1, 24), periods=(24,))
    state, seconds = model.init(np.array(0)), []
    for t, (x, xi) in zip(range(10_000), PaperStream().stages(np.array(0)), strict=False):
        begin = process_time()
        state = model.step(state, t, x, xi)
        seconds.append(process_time() - begin)
    assert np.median(seconds[-2000:]) < 1.5 * np.median(seconds[2000:4000])
    assert state.past.rows.buffer.shape[-2] <= 48
