"""A declared program as a problem: statuses, payments, leading axes, and the public laws."""

from typing import Any

import numpy as np
import pytest

from bocopt import (
    Agent,
    CVaR,
    SampleAverage,
    Status,
    WorstCase,
    absolute,
    binary,
    integer,
    maximise,
    minimise,
    pos,
    program,
    real,
    recourse,
)
from bocopt.checks import check_problem
from bocopt.problems.hindsight import hindsight
from bocopt.problems.program import Program

RNG = np.random.default_rng(5)
X, XI = RNG.normal(size=(6, 3)), RNG.uniform(0.3, 2.0, (6, 2))
NONE, SIXTH = np.zeros(0), np.full(6, 1 / 6)


def knapsack(**options: Any) -> Program:
    @program(xi=2, take=integer(2, upper=4), **options)
    def knapsack(xi: Any, take: Any) -> Any:
        return maximise([3, 2] @ take), xi @ take <= 4

    return knapsack


def newsvendor(**options: Any) -> Program:
    @program(x=3, xi=2, order=real(2, upper=5), **options)
    def newsvendor(x: Any, xi: Any, order: Any) -> Any:
        return minimise(order.sum() - 3 * np.minimum(order, xi).sum() + x[0]), order.sum() <= 3

    return newsvendor


def shop(**options: Any) -> Program:
    @program(xi=2, build=binary(2), send=recourse(2), short=recourse(2), **options)
    def shop(xi: Any, build: Any, send: Any, short: Any) -> Any:
        return (
            minimise(build.sum() + 0.1 * send.sum() + 4 * short.sum()),
            send <= 2 * build,
            send + short >= xi,
        )

    return shop


def portfolio(**options: Any) -> Program:
    @program(xi=2, hold=real(2), **options)
    def portfolio(xi: Any, hold: Any) -> Any:
        return minimise(absolute(hold - 0.3).sum() - xi @ hold), hold.sum() == 1

    return portfolio


PROGRAMS = {
    "knapsack": knapsack(),
    "knapsack, a chance": knapsack(chance=0.7),
    "knapsack, otherwise": knapsack(chance=0.7, infeasible_objective=0.0),
    "newsvendor": newsvendor(),
    "newsvendor, worst case": newsvendor(risk=WorstCase()),
    "recourse": shop(),
    "recourse, tail": shop(risk=CVaR(0.5)),
    "portfolio": portfolio(risk=CVaR(0.6)),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("ties", [False, True])
def test_every_program_keeps_the_laws(name: str, ties: bool) -> None:
    xi = np.ceil(XI) if ties else XI
    check_problem(PROGRAMS[name], X, xi)


def test_leading_axes_of_all_arguments_are_free() -> None:
    problem, w = newsvendor(), np.stack([SIXTH, np.array([0.5, 0.5, 0, 0, 0, 0])])
    together = problem.solve(XI, w, X[:, None])
    assert together.z.shape == (6, 2, 2)
    for i in range(6):
        for j in range(2):
            alone = problem.solve(XI, w[j], X[i])
            assert (alone.z == together.z[i, j]).all()
            assert alone.value == together.value[i, j]


def test_what_cannot_be_is_infeasible_and_falls_back() -> None:
    problem = knapsack(fallback=[1, 2])
    solution = problem.solve(np.array([[-9.0, -9.0]]), np.ones(1), NONE)
    assert solution.status == Status.OPTIMAL

    @program(xi=1, fallback=[2], z=integer(1, upper=3))
    def too_much(xi: Any, z: Any) -> Any:
        return minimise(z[0]), z >= xi

    for scenarios in (np.array([[5.0]]), np.array([[5.0], [1.0]])):
        w = np.full(len(scenarios), 1 / len(scenarios))
        solution = too_much.solve(scenarios, w, NONE)
        assert solution.status == Status.INFEASIBLE
        assert solution.value == np.inf
        assert solution.z.tolist() == [2.0]


def test_a_program_without_an_end_is_an_error() -> None:
    @program(xi=1, z=real(1))
    def endless(xi: Any, z: Any) -> Any:
        return minimise(-xi[0] * z[0])

    with pytest.raises(ValueError, match="'endless' is unbounded"):
        endless.solve(np.ones((1, 1)), np.ones(1), NONE)
    with pytest.raises(ValueError, match="'endless' is unbounded"):
        endless.solve(np.array([[1.0], [2.0]]), np.full(2, 0.5), NONE)


def test_a_column_that_needs_bounds_is_named() -> None:
    @program(xi=2, chance=0.5, z=real(1, upper=9), more=real(2))
    def open_ended(xi: Any, z: Any, more: Any) -> Any:
        return minimise(z.sum() - more.sum()), xi @ more <= z[0]

    with pytest.raises(ValueError, match=r"'open_ended': The bounds of 'more' at \[0\] must"):
        open_ended.solve(XI - 1.0, SIXTH, NONE)


def test_a_limit_is_not_a_failure() -> None:
    rng = np.random.default_rng(1)
    values = rng.uniform(1, 9, 30)

    @program(xi=30, chance=0.9, node_limit=1, take=binary(30))
    def hard(xi: Any, take: Any) -> Any:
        return maximise(values @ take), xi @ take <= 40

    scenarios = rng.uniform(1, 9, (40, 30))
    solution = hard.solve(scenarios, np.full(40, 1 / 40), NONE)
    assert solution.status in (Status.LIMIT, Status.OPTIMAL)
    assert np.isfinite(solution.gap)
    assert hard.risk.met(hard.violation(NONE, solution.z, scenarios), np.full(40, 1 / 40))


def test_otherwise_is_paid_where_the_truth_is_infeasible() -> None:
    problem = knapsack(chance=0.7, infeasible_objective=-1.0)
    z, fits, heavy = np.array([2.0, 1.0]), np.array([1.0, 1.0]), np.array([2.0, 1.0])
    assert problem.cost(NONE, z, np.stack([fits, heavy])).tolist() == [-8.0, 1.0]
    assert (problem.violation(NONE, z, np.stack([fits, heavy])) > 0).tolist() == [False, True]
    assert knapsack(chance=0.7).cost(NONE, z, heavy) == -8.0
    outside = np.array([5.0, 0.0])
    assert problem.cost(NONE, outside, 0 * fits) == 1.0
    assert problem.violation(NONE, outside, 0 * fits) == 1.0


def test_integers_are_judged_exactly_and_continuous_rows_with_a_tolerance() -> None:
    problem = knapsack()
    z = np.array([3.0, 0.0])
    assert problem.violation(NONE, z, np.array([4 / 3 + 1e-15, 0.0])) > 0
    between = problem.violation(NONE, np.array([0.5, 0.0]), np.zeros(2))
    assert between == 0.5
    smooth = newsvendor()
    assert smooth.violation(X[0], np.array([1.5, 1.5 + 5e-7]), XI[0]) <= 0
    assert smooth.violation(X[0], np.array([1.5, 1.5 + 2e-6]), XI[0]) > 0


def test_recourse_is_the_best_there_is() -> None:
    problem = shop()
    assert problem.dims.z == 2
    cost = problem.cost(NONE, np.array([1.0, 0.0]), np.array([1.5, 0.5]))
    assert cost == pytest.approx(1 + 0.15 + 2)


def test_a_second_stage_that_cannot_be_asks_for_a_payment() -> None:
    @program(xi=1, build=real(1, upper=9), send=recourse(1))
    def strict(xi: Any, build: Any, send: Any) -> Any:
        return minimise(build[0] + send[0]), send <= build, send >= xi

    assert strict.violation(NONE, np.ones(1), np.array([3.0])) == pytest.approx(1.0, abs=1e-5)
    with pytest.raises(ValueError, match="in place of the objective by infeasible_objective="):
        strict.cost(NONE, np.ones(1), np.array([3.0]))
    solution = strict.solve(np.array([[3.0], [4.0]]), np.full(2, 0.5), NONE)
    assert solution.z == pytest.approx([4.0])
    assert solution.value == pytest.approx(7.5)


def test_hindsight_of_a_program_is_its_optimum() -> None:
    problem = newsvendor()
    found = hindsight(problem, X, XI)
    demand = np.minimum(XI.sum(axis=1), 3)
    np.testing.assert_allclose(found.cost, -2 * demand + X[:, 0], atol=1e-9)
    assert found.feasible.all()


@pytest.mark.parametrize("what", ["x", "scenarios", "w"])
def test_bad_questions_are_named(what: str) -> None:
    given: dict[str, Any] = {"x": X[0], "scenarios": XI, "w": SIXTH}
    for bad in (given[what][..., :-1], given[what] * np.nan, "no"):
        with pytest.raises(ValueError, match=f"'({what}|w)' parameter of newsvendor.solve"):
            newsvendor().solve(**(given | {what: bad}))


def test_equal_scenarios_count_as_one() -> None:
    problem = newsvendor()
    many = problem.solve(np.repeat(XI, 3, axis=0), np.full(18, 1 / 18), X[0])
    few = problem.solve(XI, SIXTH, X[0])
    np.testing.assert_allclose(many.z, few.z, atol=1e-9)
    assert many.value == pytest.approx(float(few.value))


def test_a_positive_part_of_what_is_known_is_a_number() -> None:
    @program(xi=1, z=real(1, upper=2))
    def constant(xi: Any, z: Any) -> Any:
        return minimise(z[0] + pos(xi[0] - 1))

    assert constant.cost(NONE, np.ones(1), np.array([[0.0], [3.0]])).tolist() == [1.0, 3.0]


def test_a_program_and_its_monitor_print_what_they_are() -> None:
    shown = repr(knapsack(chance=0.7))
    assert shown.startswith("<Program 'knapsack': z (")
    assert shown.endswith(", maximise, Chance(alpha=0.7)>")
    assert repr(Agent(SampleAverage(knapsack())).monitor) == (
        "<Monitor of Program: Tightest, Feasibility>"
    )
