"""Hindsight: solved once a stage, not at all where nobody asks, and never for another question."""

from typing import Any

import numpy as np
import pytest
from cases import parts

from bocopt import Agent, Solution, run
from bocopt.core import Array
from bocopt.numeric.recent import Recent
from bocopt.paper import PaperStream
from bocopt.policies import Constant
from bocopt.problems import Chance, Expectation, Knapsack
from bocopt.problems.hindsight import hindsight


class Counting:
    """A knapsack that counts the programs with one scenario."""

    def __init__(self) -> None:
        self.problem = Knapsack(value=[12.0] * 4, capacity=[8.0] * 3, salvage=[3.0] * 3)
        self.dims, self.sense, self.risk = (
            self.problem.dims,
            self.problem.sense,
            self.problem.risk,
        )
        self.cost, self.violation = self.problem.cost, self.problem.violation
        self.solved = 0

    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        self.solved += scenarios.shape[-2] == 1
        return self.problem.solve(scenarios, w, x)


def test_a_stage_solves_it_once_or_not_at_all() -> None:
    for asked, wanted in ((True, 5), (False, 0)):
        problem = Counting()
        policy = Constant([2, 2, 1, 1])
        stages = list(
            run(policy, PaperStream(), problem=problem, seeds=range(3), horizon=5, hindsight=asked)
        )
        assert problem.solved == wanted
        assert np.isfinite(stages[-1].hindsight).all() == asked
        assert (np.asarray(stages[-1].solvable) == 1).all() == asked
        problem = Counting()
        agent = Agent(policy, problem=problem, hindsight=asked)
        stage: Any = agent.observe(agent.decide(np.zeros(3)).id, np.ones(12))
        assert problem.solved == asked
        assert np.isfinite(stage.hindsight) == asked


def test_what_learning_needs_is_not_solved_again_for_the_record() -> None:
    policy, _, stream = parts("paper", "BMA")
    plain: Any = policy
    problem = Counting()
    loss = type(plain.sampler.loss)(problem, plain.predictor)
    sampler = type(plain.sampler)(
        prior=plain.sampler.prior, loss=loss, lam=plain.sampler.lam, size=plain.sampler.size
    )
    bma = type(plain)(problem, plain.predictor, sampler)
    list(run(bma, stream, problem=problem, seeds=range(2), horizon=6))
    assert problem.solved == 2 * 6  # the particles' own decisions, and hindsight


def test_answers_are_those_of_the_question() -> None:
    problem = Knapsack(value=[12.0] * 2, capacity=[8.0], salvage=[3.0])
    rng = np.random.default_rng(0)
    x, xi = np.zeros((2, 3, 1)), rng.uniform(0.5, 2.0, (2, 3, 2))
    whole = hindsight(problem, x, xi).cost
    assert (hindsight(problem, x[:, :, None], xi[:, :, None]).cost == whole[..., None]).all()
    for i in np.ndindex(2, 3):
        assert hindsight(problem, x[i], xi[i]).cost == whole[i]
    crossed = hindsight(problem, np.zeros((3, 1, 1)), xi[0][None]).cost
    assert (crossed == whole[0]).all()
    assert crossed.shape == (3, 3)
    other = Knapsack(value=[6.0] * 2, capacity=[8.0], salvage=[3.0])
    assert (hindsight(other, x, xi).cost != whole).any()


def test_what_is_recent_is_bounded_and_by_identity() -> None:
    recent, asked = Recent(2), []

    def ask(owner: object, number: float) -> float:
        def compute() -> float:
            asked.append(number)
            return number

        return recent.answer(owner, (np.array([number]),), compute)

    me, other = Counting(), Counting()
    assert [ask(me, 1.0), ask(me, 2.0), ask(me, 1.0), ask(other, 1.0)] == [1.0, 2.0, 1.0, 1.0]
    assert asked == [1.0, 2.0, 1.0]
    ask(me, 1.0)
    assert asked == [1.0, 2.0, 1.0, 1.0]


def test_risks() -> None:
    w, violations = np.full(20, 0.05), np.repeat([0.0, 1.0], [18, 2])
    assert Chance(0.9).met(violations, w)
    assert not Chance(0.91).met(violations, w)
    assert not Chance(0.9).met(np.roll(np.repeat([0.0, 1e-9], [17, 3]), 4), w)
    assert Expectation().met(violations, w)
    assert Expectation().alpha is None
    costs = np.random.default_rng(0).normal(size=(3, 20))
    for risk in (Chance(0.5), Expectation()):
        assert risk.value(costs, w) == pytest.approx((costs * w).sum(axis=-1))
        assert risk.met(np.ones((3, 20)), w).shape == (3,)
    with pytest.raises(ValueError, match="'alpha' parameter of Chance"):
        Chance(0.0)
