"""A policy that decides for one problem is not played on another, wherever both are given."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from registry import KNAPSACK, STREAM

import bocopt
from bocopt import Agent, Ensemble, SampleAverage, compare, run
from bocopt.app.service.stream_template import template_of
from bocopt.checks import check_policy
from bocopt.fingerprint import fingerprint
from bocopt.live.fold import Fold, watching
from bocopt.loop import play
from bocopt.policies import Constant, Frozen, Shadowed
from bocopt_studies.paper.variants import Uncapped
from bocopt_studies.work.task import Play

X, XI = np.ones(3), np.ones(2)
OTHER = replace(KNAPSACK, value=[11.0, 12.0])
EQUAL = replace(KNAPSACK)


ENTRANCES: dict[str, Callable[[Any, Any], Any]] = {
    "Agent": lambda policy, problem: Agent(policy, problem=problem),
    "Fold": lambda policy, problem: Fold(policy, problem, watching(policy, problem)),
    "kind_of": lambda policy, problem: template_of("shop", problem, policy),
    "a shadow of kind_of": lambda policy, problem: template_of(
        "shop", problem, Constant([1, 1]), shadows={"other": policy}
    ),
    "run": lambda policy, problem: run(policy, STREAM, problem=problem, horizon=2),
    "play": lambda policy, problem: play(policy, problem, policy.init(np.array(0)), 0, X, XI),
    "check_policy": lambda policy, problem: check_policy(
        policy, STREAM, problem=problem, horizon=2
    ),
    "compare": lambda policy, problem: compare(
        policy, Constant([1, 1]), STREAM, problem=problem, horizon=2
    ),
    "compare, of several": lambda policy, problem: compare(
        {"mine": policy}, Constant([1, 1]), STREAM, problem=problem, horizon=2
    ),
    "compare, the baseline": lambda policy, problem: compare(
        Constant([1, 1]), policy, STREAM, problem=problem, horizon=2
    ),
    "Play": lambda policy, problem: Play(
        policy=policy, problem=problem, stream=STREAM, seeds=(0,), horizon=2
    ).run(),
}
WRAPPED: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda policy: policy,
    "frozen": Frozen,
    "with shadows": lambda policy: Shadowed(policy, {"one each": Constant([1, 1])}),
}


@pytest.mark.parametrize("wrapped", WRAPPED)
@pytest.mark.parametrize("entrance", ENTRANCES)
def test_another_problem_is_refused_by_name(entrance: str, wrapped: str) -> None:
    policy = WRAPPED[wrapped](SampleAverage(KNAPSACK, initial_decision=[0, 0]))
    with pytest.raises(ValueError, match="The policy SampleAverage decides for another") as no:
        ENTRANCES[entrance](policy, OTHER)
    own, given = "Knapsack(value=(12.0, 12.0), ...)", "Knapsack(value=(11.0, 12.0), ...)"
    assert f"for {own}, not for {given}." in str(no.value)


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_an_equal_problem_is_taken(entrance: str) -> None:
    assert EQUAL is not KNAPSACK
    ENTRANCES[entrance](SampleAverage(KNAPSACK, initial_decision=[0, 0]), EQUAL)


def test_programs_are_named_as_they_were_declared() -> None:
    def made(price: float) -> Any:
        @bocopt.program(xi=2, order=bocopt.real(upper=5))
        def bakery(xi: Any, order: Any) -> Any:
            return bocopt.minimise(order - price * xi.sum())

        return bakery

    Agent(Ensemble(made(3.0)), problem=made(3.0))
    with pytest.raises(ValueError, match=r"for Program 'bakery'\(blueprint=.*, not for"):
        Agent(Ensemble(made(3.0)), problem=made(4.0))


@dataclass(frozen=True)
class Mine:
    """A policy of a user, whose `problem` is what it likes."""

    problem: Any = "hard"

    def init(self, seeds: Any) -> Any:
        return Constant([1, 1]).init(seeds)

    def decide(self, state: Any, t: int, x: Any) -> Any:
        return Constant([1, 1]).decide(state, t, x)

    def learn(self, state: Any, t: int, x: Any, decision: Any, xi: Any) -> Any:
        return state


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_a_problem_may_be_solved_in_another_way_by_one_that_wraps_it(entrance: str) -> None:
    policy = SampleAverage(Uncapped(EQUAL), initial_decision=[0, 0])
    ENTRANCES[entrance](policy, KNAPSACK)
    with pytest.raises(ValueError, match=r"decides for another problem .* Uncapped, not for Knap"):
        ENTRANCES[entrance](policy, OTHER)
    with pytest.raises(ValueError, match=r"decides for another problem .* Knapsack, not for Uncap"):
        ENTRANCES[entrance](SampleAverage(KNAPSACK, initial_decision=[0, 0]), Uncapped(EQUAL))


@pytest.mark.parametrize("says", [None, "hard", 3, KNAPSACK, EQUAL])
def test_only_a_problem_that_a_policy_says_is_judged(says: Any) -> None:
    Agent(Mine(says), problem=KNAPSACK)
    Agent(Constant([1, 1]), problem=OTHER)


def test_what_nothing_tells_apart_is_taken() -> None:
    parts = ("dims", "sense", "risk", "solve", "cost", "violation")
    slotted = type("Slotted", (), {"__slots__": parts})
    pair = []
    for _ in range(2):
        one = slotted()
        for part in parts:
            setattr(one, part, getattr(KNAPSACK, part))
        pair.append(one)
    Agent(Mine(pair[0]), problem=pair[1], hindsight=False)


def test_a_stage_of_an_agent_does_not_compare_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def counted(thing: Any) -> str:
        asked.append(thing)
        return fingerprint(thing)

    monkeypatch.setattr("bocopt.policies.matching.fingerprint", counted)
    policy, problem = SampleAverage(replace(KNAPSACK), initial_decision=[0, 0]), replace(KNAPSACK)
    agent, state = Agent(policy, problem=problem), policy.init(np.array(0))
    for t in range(5):
        agent.observe(agent.decide(X).id, XI)
        _, state = play(policy, problem, state, t, X, XI)
    assert len(asked) == 2
    Agent(policy, problem=policy.problem)
    assert len(asked) == 2
