"""Moves in a box: better or the same, within it, within the budget, and to the optimum."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from bocopt import Status, from_callables
from bocopt.checks import check_problem
from bocopt.core import Array, Dims
from bocopt.problems import Chance, Expectation
from bocopt.problems.callables.moves import DecisionBox, improved
from bocopt.problems.callables.pool import CandidateJudge, PooledDecision

NO_CONTEXT = np.zeros(0)


def knapsack_judge(rng: np.random.Generator, size: int, alpha: float) -> CandidateJudge:
    """Values and weights uncertain, room for about half of six items."""
    scenarios = rng.uniform(1, 5, (size, 12))
    return CandidateJudge(
        lambda z, xi: -(xi[:, :6] * z).sum(axis=1),
        lambda z, xi: (xi[:, 6:] * z).sum(axis=1) - 10.0,
        Chance(alpha),
        scenarios,
        rng.dirichlet(np.full(size, 20.0)),
    )


def counted(judge: CandidateJudge) -> tuple[CandidateJudge, list[Array]]:
    """A judge that remembers what it was asked."""
    seen: list[Array] = []

    def cost(z: Array, xi: Array) -> Array:
        seen.append(z)
        return judge.cost(z, xi)

    return CandidateJudge(cost, judge.violation, judge.risk, judge.scenarios, judge.w), seen


def moved(judge: CandidateJudge, box: DecisionBox, start: Array, budget: int) -> PooledDecision:
    return improved(judge, box, judge(start), box.first_steps([], start), budget)


def test_moves_stay_in_the_box_and_the_budget_and_never_make_it_worse() -> None:
    box = DecisionBox.of((0, [1, 1, 2, 2, 3, 3]), [True] * 3 + [False] * 3, 6)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        plain = knapsack_judge(rng, 30, 0.8)
        judge, seen = counted(plain)
        start = plain(box.inside(rng.uniform(0, 3, 6)))
        for budget in (0, 1, 7, 40):
            seen.clear()
            after = improved(judge, box, start, box.first_steps([], start.z), budget)
            assert len(seen) <= budget
            assert all((box.inside(z) == z).all() for z in seen)
            assert after.rank <= start.rank
            assert plain(after.z).rank == after.rank


def test_no_item_more_or_less_and_no_swap_is_better() -> None:
    """Costs and violations add up here, so that guesses are right and none is missed."""
    box = DecisionBox.of((0, 1), True, 6)
    for seed in range(20):
        judge = knapsack_judge(np.random.default_rng(seed), 25, 0.8)
        found = moved(judge, box, np.zeros(6), 200)
        assert found.missed == 0
        for z in map(np.array, product((0.0, 1.0), repeat=6)):
            up, down = (z > found.z).sum(), (z < found.z).sum()
            if up <= 1 and down <= 1:
                assert judge(z).rank >= found.rank


@pytest.mark.parametrize("integer", [False, True])
def test_moves_repair_what_misses_too_much(integer: bool) -> None:
    box = DecisionBox.of((0, 1), integer, 6)
    for seed in range(10):
        judge = knapsack_judge(np.random.default_rng(seed), 25, 0.9)
        assert judge(np.ones(6)).missed > 0
        assert moved(judge, box, np.ones(6), 200).missed == 0


@pytest.mark.parametrize("upper", [200.0, np.inf])
def test_a_newsvendor_reaches_its_quantile(upper: float) -> None:
    demand = np.random.default_rng(0).gamma(4.0, 5.0, size=(501, 1))
    judge = CandidateJudge(
        lambda z, xi: 9 * np.maximum(xi - z, 0)[:, 0] + np.maximum(z - xi, 0)[:, 0],
        lambda z, xi: np.zeros(len(xi)),
        Expectation(),
        demand,
        np.full(501, 1 / 501),
    )
    best = judge(np.quantile(demand, 0.9, axis=0, method="inverted_cdf")).worth
    for integer, slack in ((False, 1e-4), (True, 0.02)):
        found = moved(judge, DecisionBox.of((0, upper), integer, 1), np.zeros(1), 200)
        assert found.worth <= best * (1 + slack)


def staffing(**options: Any) -> Any:
    """People of two kinds for an uncertain demand; the cheaper ones count half."""
    return from_callables(
        lambda x, xi: [np.ceil(xi[0]), 0],
        lambda x, z, xi: np.full(len(xi), 20.0 * z[0] + 8.0 * z[1]),
        lambda x, z, xi: xi[:, 0] - z[0] - 0.5 * z[1],
        dims=Dims(1, 2, 1),
        fallback=[0, 0],
        vectorised=True,
        **options,
    )


def test_a_problem_with_a_box_keeps_the_laws_and_improves_on_the_pool() -> None:
    rng = np.random.default_rng(0)
    scenarios, w = rng.uniform(5, 15, (50, 1)), np.full(50, 0.02)
    plain, boxed = staffing(), staffing(box=(0, 40), integer=True)
    before, after = (problem.solve(scenarios, w, np.zeros(1)) for problem in (plain, boxed))
    assert after.status == Status.POOL
    assert after.value < before.value
    assert (after.z == np.rint(after.z)).all()
    assert boxed.risk.met(boxed.violation(np.zeros(1), after.z, scenarios), w)
    assert staffing(box=(0, 40), integer=True, moves=0).solve(
        scenarios, w, np.zeros(1)
    ).value == pytest.approx(before.value)
    simple = from_callables(
        lambda x, xi: np.ceil(xi),
        lambda x, z, xi: np.full(len(xi), z[0]),
        lambda x, z, xi: xi[:, 0] - z[0],
        dims=Dims(1, 1, 1),
        fallback=[0],
        box=([0], [40]),
        integer=[True],
        vectorised=True,
    )
    check_problem(simple, np.zeros((6, 1)), rng.uniform(5, 15, (6, 1)))
    assert hash(simple) == hash(simple)


def test_where_solve_finds_nothing_moves_start_from_the_fallback() -> None:
    scenarios, w = np.random.default_rng(0).uniform(5, 15, (50, 1)), np.full(50, 0.02)
    problem = from_callables(
        lambda x, xi: None,
        lambda x, z, xi: z[0],
        lambda x, z, xi: xi[0] - z[0],
        dims=Dims(None, 1, 1),
        fallback=[-1],
        box=(0, 40),
    )
    solution = problem.solve(scenarios, w, NO_CONTEXT)
    assert solution.status == Status.POOL
    best = np.quantile(scenarios, 0.9, method="inverted_cdf")
    assert best <= solution.z[0] <= best + 0.05


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([7.0, 0.0], r"solve returned z = \[7.0, 0.0\], which is outside the box or not integer"),
        ([0.5, 0.0], r"the nearest that fits is \[0.0, 0.0\]"),
    ],
)
def test_a_decision_that_does_not_fit_the_box_is_named(given: list[float], message: str) -> None:
    problem = from_callables(
        lambda x, xi: given,
        lambda x, z, xi: 0.0,
        dims=Dims(None, 2, 1),
        fallback=[0, 0],
        box=(0, 6),
        integer=True,
    )
    with pytest.raises(ValueError, match=message):
        problem.solve(np.array([[1.0], [2.0]]), np.full(2, 0.5), NO_CONTEXT)


def test_the_rounding_of_a_solver_is_taken_off() -> None:
    problem = from_callables(
        lambda x, xi: [1.0000000002, -1e-9],
        lambda x, z, xi: 0.0,
        dims=Dims(None, 2, 1),
        fallback=[0, 0],
        box=(0, 6),
        integer=[True, False],
    )
    assert problem.solve(np.ones((1, 1)), np.ones(1), NO_CONTEXT).z.tolist() == [1.0, 0.0]
