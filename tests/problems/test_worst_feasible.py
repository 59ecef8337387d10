"""Assumption 3.1(a): an infeasible decision pays what the worst feasible one would have."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from instances import KINDS, Instance, brute_force, random_instance

from bocopt import Status, run
from bocopt.checks import check_problem
from bocopt.core import Array
from bocopt.paper import DecisionRegret, Linear, PaperStream
from bocopt.policies import Constant
from bocopt.problems import Knapsack
from bocopt.trace import record

NO_CONTEXT = np.zeros(0)
PAPER = Knapsack(
    value=[12.0] * 4, capacity=[8.0] * 3, salvage=[3.0] * 3, upper=20, pays_worst_feasible=True
)


def instances_of(kind: str, many: int, seed: int) -> list[Instance]:
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    found = (random_instance(rng, kind, most_points=500) for _ in range(many))
    return [a._replace(problem=replace(a.problem, pays_worst_feasible=True)) for a in found]


def lattice_of(problem: Knapsack) -> Array:
    ends = zip(np.asarray(problem.lower), np.asarray(problem.upper), strict=True)
    return np.array(list(product(*(range(low, high + 1) for low, high in ends))), float)


def assert_equal_to_brute_force(kind: str, many: int, seed: int) -> int:
    """How many of them would have been decided otherwise at a fixed payment."""
    others = 0
    for instance in instances_of(kind, many, seed):
        expected = brute_force(instance)
        for problem in (instance.problem, replace(instance.problem, readable_search=True)):
            got = problem.solve(instance.scenarios, instance.w, NO_CONTEXT)
            assert got.status == expected.status, instance
            assert got.z.tolist() == expected.z.tolist(), instance
            assert got.value == pytest.approx(float(expected.value), rel=1e-12), instance
        fixed = replace(instance.problem, pays_worst_feasible=False)
        other = fixed.solve(instance.scenarios, instance.w, NO_CONTEXT).z
        others += other.tolist() != expected.z.tolist()
    return others


def test_solve_equals_brute_force() -> None:
    assert sum(assert_equal_to_brute_force(kind, 60, seed=1) for kind in KINDS) > 10


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_solve_equals_brute_force_on_many(kind: str) -> None:
    others = assert_equal_to_brute_force(kind, 2000, seed=2)
    print(f"\n{kind}: {others} of 2000 decided otherwise at a fixed payment")


@pytest.mark.parametrize("kind", KINDS)
def test_cost_equals_brute_force(kind: str) -> None:
    for problem, scenarios, _ in instances_of(kind, 30, seed=3):
        points = lattice_of(problem)
        for xi in scenarios[:3]:
            cost = problem.cost(NO_CONTEXT, points, xi)
            feasible = problem.violation(NO_CONTEXT, points, xi) <= 0
            fixed = replace(problem, pays_worst_feasible=False).cost(NO_CONTEXT, points, xi)
            assert (cost[feasible] == fixed[feasible]).all()
            worst = fixed[feasible].max() if feasible.any() else -problem.infeasible_reward
            assert cost[~feasible] == pytest.approx(worst, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_value_is_what_the_judge_says(kind: str) -> None:
    for problem, scenarios, w in instances_of(kind, 30, seed=4):
        solution = problem.solve(scenarios, w, NO_CONTEXT)
        if solution.status == Status.OPTIMAL:
            paid = 0.0
            costs = problem.cost(NO_CONTEXT, solution.z, scenarios)
            for cost, weight in zip(costs, w, strict=True):
                paid += weight * cost
            assert solution.value == paid  # bit for bit


def test_the_range_holds_what_is_paid() -> None:
    rng = np.random.default_rng(5)
    for lower in (0, 1):
        problem = replace(PAPER, lower=lower, infeasible_reward=-2.0)
        z = rng.integers(0, 5, (500, 4)).astype(float)
        xi = rng.uniform(0.0, rng.choice([0.5, 2.0, 9.0], (500, 1)), (500, 12))
        low, high = problem.range(NO_CONTEXT, z)
        cost = problem.cost(NO_CONTEXT, z, xi)
        assert ((low <= cost) & (cost <= high)).all()
        assert (problem.violation(NO_CONTEXT, z, xi) > 0).sum() > 100
        assert high.max() == (0.0 if lower == 0 else 2.0)
        other = np.roll(z, 1, axis=0)
        least, most = problem.range_of_difference(NO_CONTEXT, z, other)
        apart = cost - problem.cost(NO_CONTEXT, other, xi)
        assert ((least <= apart) & (apart <= most)).all()


def test_leading_axes_are_free() -> None:
    rng = np.random.default_rng(6)
    z, xi = rng.integers(0, 5, (4, 1, 4)).astype(float), rng.uniform(0.2, 3, (3, 12))
    together = PAPER.cost(NO_CONTEXT, z, xi)
    assert together.shape == (4, 3)
    for i in range(4):
        for j in range(3):
            assert together[i, j] == PAPER.cost(NO_CONTEXT, z[i, 0], xi[j])


def test_it_keeps_the_laws_of_problems() -> None:
    rng = np.random.default_rng(7)
    check_problem(PAPER, np.zeros((6, 1)), rng.uniform(0.3, 3.0, (6, 12)))
    assert PAPER.possible(NO_CONTEXT, np.ones(12))
    assert not PAPER.possible(NO_CONTEXT, -np.ones(12))


def test_nothing_feasible_pays_the_given_reward() -> None:
    heavy = replace(PAPER, lower=1, infeasible_reward=-5.0)
    assert heavy.cost(NO_CONTEXT, np.ones(4), np.full(12, 9.0)) == 5.0


def test_regret_is_bounded_by_the_spread_of_feasible_decisions() -> None:
    """What the assumption is for; at a fixed payment the same regret is larger."""
    rng = np.random.default_rng(8)
    problem = replace(PAPER, upper=4)
    points = lattice_of(problem)
    fixed = replace(problem, pays_worst_feasible=False)
    theta, x = rng.normal(0, 0.2, (50, 24)) + np.repeat([0.0, 0.6], 12), np.ones(1)
    larger = 0
    for xi in rng.uniform(0.4, 1.6, (10, 12)):
        feasible = points[problem.violation(x, points, xi) <= 0]
        spread = np.ptp(problem.cost(x, feasible, xi))
        mild, hard = (
            DecisionRegret(p, Linear(1, 12))(theta, x, xi, np.zeros(0)) for p in (problem, fixed)
        )
        assert (mild <= spread + 1e-9).all()
        larger += (hard > spread + 1e-9).sum()
    assert larger > 0


def test_the_paper_s_stream_pays_more_for_infeasible_decisions() -> None:
    bold = Constant((3, 3, 2, 2))
    mild, hard = (
        record(run(bold, PaperStream(), problem=problem, horizon=50), problem.sense)
        for problem in (PAPER, replace(PAPER, pays_worst_feasible=False))
    )
    infeasible = ~mild.feasible
    assert infeasible.any()
    assert (mild.cost[infeasible] < hard.cost[infeasible]).all()
    assert (mild.cost[~infeasible] == hard.cost[~infeasible]).all()


def test_only_true_and_false_will_do() -> None:
    number: Any = 1
    with pytest.raises(ValueError, match="'pays_worst_feasible' parameter of Knapsack must be Tru"):
        replace(PAPER, pays_worst_feasible=number)
