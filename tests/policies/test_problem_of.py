"""A policy carries its problem: it is only given for one that does not say it."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from laws import same
from registry import KNAPSACK, STREAM

from bocopt import Agent, Ensemble, SampleAverage, backtest, compare, run
from bocopt.checks import check_policy
from bocopt.core import Policy, Problem
from bocopt.policies import Constant, Frozen, Shadowed
from bocopt_studies.paper.variants import Uncapped

PAST = [np.stack(part) for part in zip(*islice(STREAM.stages(np.array(0)), 4), strict=True)]
ONE_EACH = Constant([1, 1])

#: What takes a policy, and a problem by `problem`: the costs of its decisions, where it says any.
ENTRANCES: dict[str, Callable[..., Any]] = {
    "Agent": lambda policy, **given: lived(Agent(policy, **given)),
    "run": lambda policy, **given: [stage.cost for stage in run(policy, Past(), **given)],
    "backtest": lambda policy, **given: list(backtest(policy, *PAST, **given).cost),
    "compare": lambda policy, **given: str(compare(policy, ONE_EACH, Past(), **given)),
    "check_policy": lambda policy, **given: check_policy(policy, STREAM, horizon=3, **given),
}
PLAYING = ("Agent", "run", "backtest")
WRAPPED: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda policy: policy,
    "frozen": Frozen,
    "with shadows": lambda policy: Shadowed(policy, {"one each": ONE_EACH}),
    "as a shadow": lambda policy: Shadowed(ONE_EACH, {"average": policy}),
}


class Past:
    """The first stages of the stream."""

    def stages(self, seeds: Any) -> Any:
        return islice(STREAM.stages(np.zeros_like(seeds)), 4)


def lived(agent: Agent[Any]) -> list[Any]:
    stages = [agent.observe(agent.decide(x).id, xi) for x, xi in zip(*PAST, strict=True)]
    return [stage.cost for stage in stages if stage]


@pytest.mark.parametrize("wrapped", WRAPPED)
@pytest.mark.parametrize("entrance", ENTRANCES)
def test_a_policy_that_says_its_problem_needs_no_other(entrance: str, wrapped: str) -> None:
    policy = WRAPPED[wrapped](SampleAverage(KNAPSACK, initial_decision=[0, 0]))
    alone, both = ENTRANCES[entrance](policy), ENTRANCES[entrance](policy, problem=KNAPSACK)
    assert alone == both


class Silent(Constant):
    """A policy whose `problem` is a word."""

    problem = "hard"


@pytest.mark.parametrize("policy", [ONE_EACH, Silent([1, 1]), Frozen(ONE_EACH)])
@pytest.mark.parametrize("entrance", ENTRANCES)
def test_one_that_does_not_is_named_with_what_to_type(entrance: str, policy: Any) -> None:
    expected = (
        f"The 'problem' parameter of {entrance} must be given, since {type(policy).__name__} does "
        f"not say which one it decides for: {entrance}(..., problem=...). Got None instead."
    )
    with pytest.raises(ValueError, match=r"must be given") as no:
        ENTRANCES[entrance](policy)
    assert str(no.value) == expected
    ENTRANCES[entrance](policy, problem=KNAPSACK)


@pytest.mark.parametrize("entrance", PLAYING)
def test_a_problem_alone_is_left_to_the_default_learner(entrance: str) -> None:
    assert ENTRANCES[entrance](KNAPSACK) == ENTRANCES[entrance](Ensemble(KNAPSACK))


def test_where_policies_are_compared_it_has_the_name_of_the_learner() -> None:
    for found in (
        compare(KNAPSACK, ONE_EACH, Past()),
        compare({"Ensemble": KNAPSACK}, ONE_EACH, Past())["Ensemble"],
    ):
        assert str(found) == str(compare(Ensemble(KNAPSACK), ONE_EACH, Past()))
        assert str(found).startswith("Ensemble ")


def test_the_problem_of_a_baseline_serves_both() -> None:
    found = compare(ONE_EACH, SampleAverage(KNAPSACK), Past())
    assert str(found) == str(compare(ONE_EACH, SampleAverage(KNAPSACK), Past(), problem=KNAPSACK))


@pytest.mark.parametrize("wrong", [3.0, None, "x", Constant, KNAPSACK.solve])
@pytest.mark.parametrize("entrance", PLAYING)
def test_what_is_neither_is_refused(entrance: str, wrong: Any) -> None:
    expected = rf"'policy' parameter of {entrance} must be a Policy \(it needs .*\) or a Problem\."
    with pytest.raises(ValueError, match=expected):
        ENTRANCES[entrance](wrong, problem=KNAPSACK)


def test_an_agent_of_a_problem_goes_on_from_its_file(tmp_path: Path) -> None:
    agent, whole = Agent(KNAPSACK, seed=2), Agent(Ensemble(KNAPSACK), seed=2)
    assert lived(agent) == lived(whole)
    agent.save(tmp_path / "agent")
    again = Agent.load(tmp_path / "agent", KNAPSACK)
    assert same(again.state, whole.state)
    assert (again.decide(PAST[0][0]).z == whole.decide(PAST[0][0]).z).all()
    constant = Agent(ONE_EACH, problem=KNAPSACK)
    constant.save(tmp_path / "constant")
    with pytest.raises(ValueError, match=r"'problem' parameter of Agent\.load must be given"):
        Agent.load(tmp_path / "constant", ONE_EACH)
    assert Agent.load(tmp_path / "constant", ONE_EACH, problem=KNAPSACK).open_ids == ()


def test_a_problem_that_solves_another_is_itself_unless_that_one_is_given() -> None:
    def judging(policy: Policy[Any], problem: Problem | None = None) -> str:
        return repr(Agent(policy, problem=problem)).partition(" on ")[2].partition(",")[0]

    policy = SampleAverage(Uncapped(KNAPSACK), initial_decision=[0, 0])
    assert judging(policy) == "Uncapped"
    assert judging(policy, problem=KNAPSACK) == "Knapsack"
