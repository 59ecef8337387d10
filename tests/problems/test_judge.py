"""Cost and violation are asked for at once: how often a stage asks, and that numbers stay."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocopt import (
    Agent,
    Ensemble,
    Replay,
    SampleAverage,
    Solution,
    compare,
    integer,
    minimise,
    program,
    recourse,
    run,
)
from bocopt.core import Array, judge, judges
from bocopt.guarantees import evidence_of
from bocopt.policies import Constant, Shadowed
from bocopt.problems import Knapsack
from bocopt.problems.hindsight import hindsight
from bocopt.problems.program import Program, highs
from bocopt.problems.program import problem as declared

STAGES = 6
RNG = np.random.default_rng(3)
X, XI = RNG.normal(size=(STAGES, 1)), RNG.uniform(1.0, 9.0, (STAGES, 1))


def shop(**options: Any) -> Program:
    """What is short is bought at four times the price, but not more than three."""

    @program(xi=1, order=integer(1, upper=10), buy=recourse(1, upper=3), **options)
    def shop(xi: Any, order: Any, buy: Any) -> Any:
        return minimise(order.sum() + 4 * buy.sum()), order + buy >= xi

    return shop


def desk() -> Program:
    @program(xi=1, chance=0.9, order=integer(1, upper=10), support=(0.0, 9.0))
    def desk(xi: Any, order: Any) -> Any:
        return minimise(order.sum()), order >= xi

    return desk


class Asked:
    """A problem that counts what it is asked for."""

    def __init__(self, problem: Any) -> None:
        self.problem, self.count = problem, Counter[str]()
        self.dims, self.sense, self.risk = problem.dims, problem.sense, problem.risk

    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        self.count["solve"] += 1
        found: Solution = self.problem.solve(scenarios, w, x)
        return found

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        self.count["cost"] += 1
        return np.asarray(self.problem.cost(x, z, xi))

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        self.count["violation"] += 1
        return np.asarray(self.problem.violation(x, z, xi))


class AskedAtOnce(Asked):
    """One that answers with both."""

    def judge(self, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
        self.count["judge"] += 1
        return judge(self.problem, x, z, xi)


def observed(problem: Any, policy: Any) -> Agent[Any]:
    """After a few stages; what is counted is the last outcome alone."""
    agent = Agent(policy, problem=problem)
    for x, xi in zip(X, XI, strict=True):
        ticket = agent.decide(x)
        if isinstance(problem, Asked):
            problem.count.clear()
        agent.observe(ticket.id, xi)
    return agent


def shadowed(policy: Any, problem: Any) -> Shadowed:
    return Shadowed(policy, {"average": SampleAverage(problem), "five": Constant([5])})


@pytest.mark.parametrize("shadows", [False, True])
def test_an_observed_stage_asks_for_the_decision_once_and_for_hindsight_once(
    shadows: bool,
) -> None:
    for kind, counted in (
        (AskedAtOnce, {"judge": 2, "solve": 1}),
        (Asked, {"cost": 2, "violation": 2, "solve": 1}),
    ):
        problem = kind(desk())
        policy: Any = SampleAverage(problem)
        observed(problem, shadowed(policy, problem) if shadows else policy)
        assert problem.count == counted


def test_an_ensemble_asks_once_more_for_all_its_arms() -> None:
    problem = AskedAtOnce(desk())
    observed(problem, shadowed(Ensemble(problem), problem))
    assert problem.count == {"judge": 3, "solve": 1}


def test_no_second_stage_of_an_observed_stage_is_solved_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solve, solved = highs.solve, list[int]()

    def counting(linear: highs.LinearProgram, *args: Any, **options: Any) -> highs.LinearSolution:
        solved.append(1)
        return solve(linear, *args, **options)

    monkeypatch.setattr(highs, "solve", counting)
    problem = shop(infeasible_objective=60)
    agent = Agent(Ensemble(problem))
    for x, xi in zip(X, XI, strict=True):
        ticket = agent.decide(x)
        solved.clear()
        agent.observe(ticket.id, xi)
        assert len(solved) <= 2 * (2 + 1) + 1  # arms and hindsight, and by how much each lacks


@given(st.lists(st.integers(0, 10), min_size=1, max_size=5), st.floats(0.0, 13.0))
def test_a_judge_with_recourse_is_cost_and_violation_bit_for_bit(z: list[int], xi: float) -> None:
    """Whoever is asked first, and whatever was asked before."""
    problem, decisions = shop(infeasible_objective=60.0), np.array(z, float)[:, None]
    x, outcome = np.zeros(1), np.array([xi])
    cost, violation = judge(problem, x, decisions, outcome)
    for fresh in (problem, shop(infeasible_objective=60.0)):
        assert (fresh.violation(x, decisions, outcome) == violation).all()
        assert (fresh.cost(x, decisions, outcome) == cost).all()
        alone = [judge(fresh, x, each, outcome) for each in decisions]
        assert (np.array(alone) == np.stack([cost, violation], axis=-1)).all()
    short = np.maximum(xi - decisions[:, 0], 0.0)
    assert ((violation <= 0) == (short <= 3 + 1e-6)).all()
    assert np.allclose(cost, np.where(violation > 0, 60.0, decisions[:, 0] + 4 * short))


def test_what_is_recent_is_of_one_program_alone() -> None:
    """Two programs that differ in what is paid otherwise, and one that has no such price."""
    x, z, xi = np.zeros(1), np.array([1.0]), np.array([9.0])
    assert [float(judge(shop(infeasible_objective=p), x, z, xi)[0]) for p in (60.0, 70.0)] == [
        60.0,
        70.0,
    ]
    with pytest.raises(ValueError, match="has no feasible recourse"):
        judge(shop(), x, z, xi)
    assert shop().violation(x, z, xi) > 0


def test_hindsight_is_that_of_cost_and_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, plain = shop(infeasible_objective=60), Asked(shop(infeasible_objective=60))
    at_once, apart = (hindsight(one, X, XI) for one in (problem, plain))
    assert (at_once.cost == apart.cost).all()
    assert (at_once.feasible == apart.feasible).all()
    monkeypatch.setattr(declared, "_RECENT", type(declared._RECENT)(1))  # what is kept is no matter
    again = hindsight(shop(infeasible_objective=60), X, XI)
    assert (again.cost == at_once.cost).all()


class Dearer(Knapsack):
    """A class that changes what is paid, and says nothing of `judge`."""

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        return super().cost(x, z, xi) + 1000.0


def test_a_class_that_changes_the_cost_of_one_that_judges_is_asked_for_it() -> None:
    problem, dearer = (
        kind(value=[12.0], capacity=[8.0], salvage=[3.0]) for kind in (Knapsack, Dearer)
    )
    assert judges(problem)
    assert not judges(dearer)
    x, z, xi = np.zeros(1), np.array([2.0]), np.array([1.5])
    pair, usual = judge(dearer, x, z, xi), judge(problem, x, z, xi)
    assert np.array_equal(pair, (usual[0] + 1000.0, usual[1]))


def test_shadows_stand_in_the_stage_as_if_they_had_decided() -> None:
    problem = desk()
    stream = Replay(x=X, xi=XI)
    policies: dict[str, Any] = {"average": SampleAverage(problem), "five": Constant([5])}
    alone = {name: list(run(policy, stream, problem=problem)) for name, policy in policies.items()}
    for t, stage in enumerate(run(shadowed(Constant([7]), problem), stream, problem=problem)):
        assert stage.shadows is not None
        for i, own in enumerate(alone.values()):
            assert stage.shadows.cost[i] == own[t].cost
            assert stage.shadows.feasible[i] == own[t].feasible
            assert evidence_of(problem, stage).shadows[i].cost == own[t].cost
    found = compare({"five": Constant([5])}, Constant([7]), stream, problem=problem)["five"]
    wanted = [one.feasible for one in alone["five"]]
    assert found.feasible == pytest.approx(np.mean(wanted))
