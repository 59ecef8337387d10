"""Convex programs in cvxpy's notation: known optima, and the two ways to solve."""

from typing import Any

import numpy as np
import pytest
from conic_cases import (
    NONE,
    PROGRAMS,
    RISKS,
    XI,
    W,
    X,
    distance,
    nearest,
    repaired,
    shop,
    spread,
)

from bocopt import Status, absolute, minimise, program, real
from bocopt.core import Array, Problem, Sense
from bocopt.problems.conic import Conic, cones, extensive, from_cvxpy, stack
from bocopt.problems.program import recourse

cp: Any = pytest.importorskip("cvxpy", reason="cvxpy is an extra: pip install 'bocopt[cvxpy]'")


def on_simplex(point: Array) -> Array:
    """The nearest point of the simplex, by sorting."""
    falling = np.sort(point)[::-1]
    level = (np.cumsum(falling) - 1) / np.arange(1, len(point) + 1)
    shift = level[np.flatnonzero(falling > level)[-1]]
    nearest: Array = np.maximum(point - shift, 0.0)
    return nearest


def test_a_quadratic_has_its_known_optimum() -> None:
    solution = nearest.solve(XI, W, NONE)
    truth = on_simplex(W @ XI)
    assert solution.status == Status.OPTIMAL
    np.testing.assert_allclose(solution.z, truth, atol=1e-6)
    value = float(W @ ((truth - XI) ** 2).sum(axis=1))
    assert solution.value == pytest.approx(value, abs=1e-6)


def test_an_entropy_has_its_known_optimum() -> None:
    solution = spread().solve(XI, W, NONE)
    force = np.exp(-(W @ XI))
    np.testing.assert_allclose(solution.z, force / force.sum(), atol=1e-5)
    assert solution.value == pytest.approx(-np.log(force.sum()), abs=1e-6)
    assert spread().sense is Sense.MAXIMISE


def test_a_second_order_cone_has_its_known_optimum() -> None:
    problem = distance()
    solution = problem.solve(XI, W, np.zeros(2))
    median = W @ XI
    for _ in range(2000):  # Weiszfeld's steps to the geometric median
        pull = W / np.linalg.norm(median - XI, axis=1)
        median = pull @ XI / pull.sum()
    np.testing.assert_allclose(solution.z, median, atol=1e-5)


def test_a_matrix_is_a_decision() -> None:
    @from_cvxpy(xi=cp.Parameter((2, 2), symmetric=True), z=cp.Variable((2, 2), PSD=True))
    def nearest_psd(xi: Any, z: Any) -> Any:
        return cp.Minimize(cp.sum_squares(z - xi))

    scenarios = np.array([[1.0, 2.0, 2.0, -1.0], [3.0, 0.0, 0.0, -1.0]])
    solution = nearest_psd.solve(scenarios, np.array([0.5, 0.5]), NONE)
    size, axes = np.linalg.eigh(scenarios.mean(axis=0).reshape(2, 2))
    truth = (axes * np.maximum(size, 0)) @ axes.T
    np.testing.assert_allclose(nearest_psd.named(solution.z)["z"], truth, atol=1e-5)
    with pytest.raises(
        ValueError, match=r"'scenarios' parameter of nearest_psd\.solve must be sym"
    ):
        nearest_psd.solve(np.array([[1.0, 2.0, 0.0, 1.0]]), np.ones(1), NONE)


@pytest.mark.parametrize("risk", RISKS, ids=repr)
def test_a_linear_program_is_worth_what_program_says(risk: Any) -> None:
    @from_cvxpy(xi=3, risk=risk, hold=cp.Variable(3, bounds=[0, 0.6]))
    def ours(xi: Any, hold: Any) -> Any:
        return cp.Minimize(-xi @ hold + 0.1 * cp.norm1(hold - 0.3)), cp.sum(hold) == 1

    @program(xi=3, risk=risk, hold=real(3, upper=0.6))
    def theirs(xi: Any, hold: Any) -> Any:
        return minimise(-(xi @ hold) + 0.1 * absolute(hold - 0.3).sum()), hold.sum() == 1

    for w in (W, np.full(5, 0.2), np.array([0.5, 0.5, 0, 0, 0])):
        assert_same_value(ours, theirs, w)


@pytest.mark.parametrize("risk", RISKS, ids=repr)
def test_recourse_is_worth_what_program_says(risk: Any) -> None:
    @program(xi=3, risk=risk, build=real(3, upper=2), short=recourse(3))
    def theirs(xi: Any, build: Any, short: Any) -> Any:
        return minimise(build.sum() + 4 * short.sum()), build + short >= xi

    ours = shop(risk=risk)
    assert_same_value(ours, theirs, W)
    z = np.full((5, 3), 0.5)
    np.testing.assert_allclose(ours.cost(NONE, z, XI), theirs.cost(NONE, z, XI), atol=1e-6)


def test_a_quadratic_second_stage_has_its_known_cost() -> None:
    z = np.array([0.3, -0.5, 1.0])
    repair = 4 * (np.maximum(XI - z, 0.0) ** 2).sum(axis=1)
    truth = (z**2).sum() + repair + z[0] * X[0, 1] + 7 + XI[:, 0] - X[0, 0]
    np.testing.assert_allclose(repaired().cost(X[0], z, XI), truth, atol=1e-6)


def test_a_second_stage_may_need_the_sign_of_the_first() -> None:
    @from_cvxpy(xi=1, z=cp.Variable(1, nonneg=True))
    def signed(xi: Any, z: Any) -> Any:
        repair = cp.Variable()
        return cp.Minimize(cp.square(z[0] + cp.square(repair))), z + repair >= xi

    assert signed._compiled is not None
    z = np.array([[0.0], [0.5], [2.0]])
    truth = (z + np.maximum(1.5 - z, 0.0) ** 2)[:, 0] ** 2
    np.testing.assert_allclose(signed.cost(NONE, z, np.array([1.5])), truth, atol=1e-6)


def test_what_is_decided_may_be_multiplied_with_what_is_not() -> None:
    pairs = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    program = cones.Cones(
        rows=1,  # y <= 9
        columns=2,
        cones=(("nonneg", 1),),
        shared=np.array([0]),
        epigraph=None,
        a=cones.VaryingEntries(np.array([0]), np.array([1]), slice(0, 1)),
        p=cones.VaryingEntries(*pairs, slice(1, 5)),
        b=slice(5, 6),
        c=slice(6, 8),
        base=np.array([1.0, 2.0, 1.0, 1.0, 2.0, 9.0, 0.0, 0.0, 5.0]),
        slopes=np.zeros((1, 9)),
    )
    found = stack.second_stage(program, np.zeros(1), np.array([4.0]), {})
    assert found.value == pytest.approx(5 + 0.75 * 16, abs=1e-6)  # z^2 + z y + y^2 at y = -z / 2


def assert_same_value(one: Problem, other: Problem, w: Array) -> None:
    first, second = one.solve(XI, w, NONE), other.solve(XI, w, NONE)
    assert first.status == second.status == Status.OPTIMAL
    assert first.value == pytest.approx(float(second.value), abs=1e-5)


@pytest.mark.parametrize("risk", RISKS, ids=repr)
@pytest.mark.parametrize("name", PROGRAMS)
def test_both_ways_to_solve_agree(name: str, risk: Any) -> None:
    problem = PROGRAMS[name](risk=risk)
    assert problem._compiled is not None
    for scenarios, w in ((XI, W), (XI[:1], np.ones(1))):
        solution = problem.solve(scenarios, w, X[0])
        assert solution.status == Status.OPTIMAL
        truth = by_cvxpy_itself(problem, X[0], scenarios, w)
        assert solution.value == pytest.approx(truth, abs=1e-6)


@pytest.mark.full
@pytest.mark.parametrize("name", PROGRAMS)
def test_both_ways_to_solve_agree_on_many_instances(name: str) -> None:
    rng = np.random.default_rng(3)
    for risk in RISKS:
        problem = PROGRAMS[name](risk=risk)
        for many in rng.integers(1, 9, 60):
            scenarios, w = rng.uniform(0.2, 2.0, (many, 3)), rng.dirichlet(np.ones(many))
            x = rng.normal(size=2)
            one = problem.solve(scenarios, w, x)
            truth = by_cvxpy_itself(problem, x, scenarios, w)
            assert one.status == Status.OPTIMAL
            assert one.value == pytest.approx(truth, abs=1e-6)


def by_cvxpy_itself(problem: Conic, x: Array, scenarios: Array, w: Array) -> float:
    """The value by cvxpy itself, with the same solver."""
    how = (problem.risk, "CLARABEL", problem.options)
    return extensive.under(problem.declared, x, scenarios, w, *how).value
