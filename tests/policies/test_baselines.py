"""Baselines, and BMA / BGS on beliefs where the right decision is known."""

from itertools import islice
from typing import Any

import numpy as np
import pytest
from cases import parts

from bocopt import SampleAverage, Status
from bocopt.core import Policy
from bocopt.loop import play
from bocopt.paper import BGS, ConditionalOptimum, PaperStream
from bocopt.policies import Constant, WeightedSampleAverage
from bocopt.problems import Knapsack

PROBLEM = Knapsack(value=[12.0] * 4, capacity=[8.0] * 3, salvage=[3.0] * 3)
SEEDS = np.arange(2)


def test_constant() -> None:
    policy = Constant((2, 2, 1, 1))
    solution = policy.decide(policy.init(SEEDS), 0, np.zeros((2, 3))).solution
    assert solution.z.tolist() == [[2, 2, 1, 1]] * 2
    assert (solution.status == Status.GIVEN).all()


def test_sample_average_solves_under_all_outcomes_so_far() -> None:
    policy = SampleAverage(PROBLEM, initial_decision=(1, 0, 0, 0))
    state = policy.init(SEEDS)
    stages = list(islice(PaperStream().stages(SEEDS), 12))
    for t, (x, xi) in enumerate(stages):
        stage, state = play(policy, PROBLEM, state, t, x, xi)
        if t == 0:
            assert stage.decision.solution.z.tolist() == [[1, 0, 0, 0]] * 2
        else:
            seen = np.stack([xi for _, xi in stages[:t]], axis=1)
            expected = PROBLEM.solve(seen, np.full(t, 1 / t), x)
            assert (stage.decision.solution.z == expected.z).all()


@pytest.mark.parametrize(
    ("ninths", "most"),
    [(9, 1), (8, 3), (7, 10), (6, 31), (5, 100), (4, 316), (3, 1000), (2, 3162), (1, 10_000)],
)
def test_the_first_decision_copes_with_a_xi_of_any_size(ninths: int, most: int) -> None:
    """Nine sizes from 0.01 to 100, half a power of ten apart, are equally likely."""
    alpha = (ninths - 0.5) / 9  # so many of them must be met
    problem = Knapsack(value=[1], capacity=[100, 100], salvage=[0, 0], upper=20_000, alpha=alpha)
    policies: list[Policy[Any]] = [SampleAverage(problem), WeightedSampleAverage(problem)]
    for policy in policies:
        solution = policy.decide(policy.init(SEEDS), 0, np.zeros((2, 3))).solution
        assert solution.z.tolist() == [[most]] * 2
        assert (solution.status == Status.UNINFORMED).all()
    ours = SampleAverage(problem, initial_decision=[2])
    assert ours.decide(ours.init(SEEDS), 0, np.zeros((2, 3))).solution.z.tolist() == [[2]] * 2


def test_conditional_optimum_does_not_learn_but_reads_the_context() -> None:
    policy = ConditionalOptimum(PROBLEM, PaperStream(), scenarios=200)
    state = policy.init(SEEDS)
    calm, wild = (policy.decide(state, 0, np.full((2, 3), x)).solution for x in (0.0, 6.0))
    assert (calm.z.sum(axis=-1) > wild.z.sum(axis=-1)).all()  # calm weights are 1 +- .006
    assert calm.z.sum(axis=-1).tolist() == [7, 7]


def test_prior_only_keeps_its_belief_and_bma_starts_from_it() -> None:
    frozen, problem, stream = parts("paper", "Prior")
    bma, _, _ = parts("paper", "BMA")
    state = frozen.init(SEEDS)
    x, xi = next(stream.stages(SEEDS))
    stage, after = play(frozen, problem, state, 0, x, xi)
    assert after is state
    assert (stage.decision.solution.z == bma.decide(bma.init(SEEDS), 0, x).solution.z).all()


def test_bgs_draws_particles_by_their_weights() -> None:
    bgs, _, _ = parts("paper", "BGS")
    assert isinstance(bgs, BGS)
    seeds = np.arange(3000)
    state = bgs.init(seeds)
    heavy = np.full(state.log_w.shape, np.log(0.2 / 19))
    heavy[:, 7] = np.log(0.8)
    x = np.zeros((3000, 3))
    drawn = bgs.decide(state._replace(log_w=heavy), 0, x).solution.z
    theta = state.theta[:, 7]
    alone = bgs.problem.solve(
        bgs.predictor.sample(theta, x, np.empty(0))[:, None, :], np.ones(1), x
    ).z
    share = (drawn == alone).all(axis=-1).mean()
    assert 0.77 < share < 0.9


def test_a_decision_before_any_outcome_says_so() -> None:
    policy = SampleAverage(PROBLEM)
    state, x = policy.init(np.arange(2)), np.zeros((2, 3))
    first = policy.decide(state, 0, x)
    assert (first.solution.status == Status.UNINFORMED).all()
    state = policy.learn(state, 0, x, first, np.ones((2, 12)))
    assert (policy.decide(state, 1, x).solution.status == Status.OPTIMAL).all()
    assert SampleAverage(PROBLEM, initial_decision=[1] * 4).decide(
        policy.init(np.array(0)), 0, x[0]
    ).solution.status == (Status.GIVEN)


def test_a_first_decision_that_copes_with_nothing_says_so() -> None:
    """At least one item, and none that fits if it weighs 10 or more."""
    problem = Knapsack(value=[1], capacity=[1], salvage=[0], lower=1, upper=3, alpha=0.9)
    policy = SampleAverage(problem)
    solution = policy.decide(policy.init(SEEDS), 0, np.zeros((2, 3))).solution
    assert solution.status.tolist() == [Status.INFEASIBLE] * 2
