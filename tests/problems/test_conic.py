"""Convex programs in cvxpy's notation: the laws, verdicts, and what is refused."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from conic_cases import (
    NONE,
    PROGRAMS,
    RNG,
    XI,
    W,
    X,
    distance,
    nearest,
    scaled,
    shop,
    spread,
)

from bocopt import Chance, CVaR, Expectation, Status, WorstCase
from bocopt.checks import check_problem
from bocopt.fingerprint import fingerprint
from bocopt.problems.conic import Conic, cones, from_cvxpy, notation
from bocopt.problems.program import DeclarationError

cp: Any = pytest.importorskip("cvxpy", reason="cvxpy is an extra: pip install 'bocopt[cvxpy]'")


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_keeps_the_laws(name: str) -> None:
    check_problem(PROGRAMS[name](), X, XI)
    check_problem(PROGRAMS[name](risk=CVaR(0.5)), X, np.ceil(XI))


def test_leading_axes_of_all_arguments_are_free() -> None:
    problem, w = distance(), np.stack([W, np.full(5, 0.2)])
    together = problem.solve(XI, w, X[:3, None])
    assert together.z.shape == (3, 2, 3)
    for i in range(3):
        for j in range(2):
            assert (problem.solve(XI, w[j], X[i]).z == together.z[i, j]).all()
    z = together.z[:, 0]
    assert problem.cost(X[:3, None], z[:, None], XI).shape == (3, 5)
    assert problem.violation(X[0], z[0], XI).shape == (5,)


def test_what_cannot_be_is_infeasible_and_falls_back() -> None:
    for solver in (None, "SCS"):

        @from_cvxpy(xi=1, fallback=[0.5], z=1, solver=solver)
        def strict(xi: Any, z: Any) -> Any:
            return cp.Minimize(cp.square(z[0])), [z >= xi, z <= 1]

        solution = strict.solve(np.array([[0.5], [2.0]]), np.full(2, 0.5), NONE)
        assert solution.status == Status.INFEASIBLE
        assert solution.value == np.inf
        assert solution.gap == 0
        assert solution.z.tolist() == [0.5]


def test_a_program_without_an_end_is_an_error() -> None:
    @from_cvxpy(xi=1, z=1)
    def endless(xi: Any, z: Any) -> Any:
        return cp.Minimize(-cp.sum(z)), z >= xi

    with pytest.raises(ValueError, match="'endless' is unbounded"):
        endless.solve(np.ones((1, 1)), np.ones(1), NONE)


def test_a_solver_that_stops_early_is_a_status() -> None:
    for risk in (Expectation(), CVaR(0.5)):
        problem = distance(options={"max_iter": 1}, fallback=[1, 2, 3], risk=risk)
        solution = problem.solve(XI, W, X[0])
        assert solution.status == Status.FALLBACK
        assert solution.z.tolist() == [1, 2, 3]
        assert solution.value == solution.gap == np.inf
    rough = distance(solver="SCS", tolerance=1e-2).solve(XI, W, X[0])
    assert rough.status in (Status.OPTIMAL, Status.LIMIT)
    assert np.isfinite(rough.value)


def test_a_second_stage_that_cannot_be_asks_for_a_payment() -> None:
    def strict(**options: Any) -> Conic:
        @from_cvxpy(xi=1, build=cp.Variable(1, bounds=[0, 9]), **options)
        def strict(xi: Any, build: Any) -> Any:
            send = cp.Variable(1)
            return cp.Minimize(build[0] + send[0]), [send <= build, send >= xi]

        return strict

    problem, one, three = strict(), np.ones(1), np.array([3.0])
    assert problem.violation(NONE, one, three) == pytest.approx(1.0, abs=1e-4)
    with pytest.raises(ValueError, match="no finite cost for this z and outcome: declare what is"):
        problem.cost(NONE, one, three)
    assert strict(infeasible_objective=50.0).cost(NONE, one, three) == 50.0
    near = np.array([3 - 5e-7])
    assert problem.violation(NONE, near, three) <= 0
    assert problem.cost(NONE, near, three) == pytest.approx(6, abs=1e-5)
    solution = problem.solve(np.array([[3.0], [2.0]]), np.array([0.5, 0.5]), NONE)
    assert solution.status == Status.OPTIMAL
    assert solution.value == pytest.approx(3 + 2.5, abs=1e-5)


def test_otherwise_is_paid_where_the_truth_is_infeasible() -> None:
    problem, z = spread(infeasible_objective=-7.0), np.array([0.5, 0.5, 0.1])
    assert problem.cost(NONE, z, XI[0]) == 7.0
    assert problem.violation(NONE, z, XI[0]) == pytest.approx(0.1, abs=1e-5)
    assert np.isfinite(spread().cost(NONE, z, XI[0]))
    outside = np.array([1.5, -0.5, 0.0])
    assert spread().cost(NONE, outside, XI[0]) == np.inf
    assert spread().violation(NONE, outside, XI[0]) == pytest.approx(0.5, abs=1e-5)


def test_integers_are_for_a_solver_that_takes_them() -> None:
    @from_cvxpy(xi=2, start=cp.Variable(2, integer=True))
    def staffing(xi: Any, start: Any) -> Any:
        return cp.Minimize(cp.sum(start)), [start >= xi, start <= 9]

    solution = staffing.solve(np.array([[1.5, 3.0], [0.2, 3.1]]), np.array([0.5, 0.5]), NONE)
    assert solution.z.tolist() == [2.0, 4.0]
    assert solution.status == Status.OPTIMAL
    assert staffing.violation(NONE, np.array([2.5, 4.0]), np.zeros(2)) == 0.5
    check_problem(staffing, X[:3], XI[:3, :2])

    with pytest.raises(DeclarationError, match="'squared' cannot be declared: HIGHS cannot solve"):

        @from_cvxpy(xi=2, z=cp.Variable(2, integer=True))
        def squared(xi: Any, z: Any) -> Any:
            return cp.Minimize(cp.norm(z - xi))


def test_a_domain_may_end_where_the_optimum_is() -> None:
    @from_cvxpy(xi=3, z=3)
    def at_zero(xi: Any, z: Any) -> Any:
        return cp.Minimize(cp.sum(cp.power(z, 1.5)) + xi @ z)

    solution = at_zero.solve(XI[:, None], np.ones(1), NONE)
    assert (solution.status == Status.OPTIMAL).all()
    np.testing.assert_allclose(solution.z, 0.0, atol=1e-6)


def test_numbers_that_are_not_affine_are_left_to_cvxpy(monkeypatch: pytest.MonkeyPatch) -> None:
    def bent(*given: Any) -> list[Any]:
        return [point * 1.001 for point in honest(*given)]

    honest = cones._at_unit_vectors
    monkeypatch.setattr(cones, "_at_unit_vectors", bent)
    problem = shop()
    assert problem._compiled is None
    assert problem.solve(XI, W, NONE).status == Status.OPTIMAL


def test_parameters_may_be_used_in_any_way() -> None:
    @from_cvxpy(xi=3, z=3)
    def squared(xi: Any, z: Any) -> Any:
        return cp.Minimize(cp.sum_squares(z) - 2 * cp.square(xi) @ z)

    assert squared._compiled is None
    solution = squared.solve(XI, W, NONE)
    np.testing.assert_allclose(solution.z, W @ XI**2, atol=1e-5)
    check_problem(squared, X[:2], XI[:2])


def test_numbers_that_a_parameter_refuses_are_refused() -> None:
    problem, bad = scaled(), np.array([[-1.0, 1.0, 1.0]])
    for call in (
        lambda: problem.solve(bad, np.ones(1), NONE),
        lambda: problem.cost(NONE, np.ones(3), bad[0]),
    ):
        with pytest.raises(ValueError, match="must be nonneg"):
            call()


def test_it_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(nearest)) is nearest
    again = from_cvxpy(xi=3, z=3, risk=WorstCase())(plain_function)
    again.solve(XI, W, NONE)
    copy = pickle.loads(pickle.dumps(again))
    assert fingerprint(copy) == fingerprint(again)
    assert copy.solve(XI, W, NONE).z.tolist() == again.solve(XI, W, NONE).z.tolist()


def plain_function(xi: Any, z: Any) -> Any:
    return cp.Minimize(cp.norm(z - xi))


def test_a_fingerprint_knows_what_is_said() -> None:
    assert fingerprint(shop()) == fingerprint(shop())
    others = [shop(), shop(risk=WorstCase()), shop(tolerance=1e-5), spread(), distance(), nearest]
    assert len({fingerprint(problem) for problem in others}) == len(others)


def test_threads_do_not_disturb_each_other() -> None:
    problem, z = distance(), RNG.normal(size=(40, 3))
    alone = [float(problem.cost(X[0], one, XI[0])) for one in z]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda one: float(problem.cost(X[0], one, XI[0])), z))
    assert together == alone


def test_a_share_of_the_scenarios_is_not_convex() -> None:
    for options in ({"chance": 0.9}, {"risk": Chance(0.9)}, {"risk": CVaR(0.5, alpha=0.9)}):
        with pytest.raises(ValueError, match=r"Got 0.9 instead.*use program\(chance=...\)"):
            spread(**options)
    assert spread(chance=1).risk == spread(risk=Chance(1.0)).risk


def declared(function: Any, **options: Any) -> Conic:
    return from_cvxpy(**{"xi": 2, "z": 2, **options})(function)


OUTSIDE_VARIABLE, OUTSIDE_PARAMETER = cp.Variable(2), cp.Parameter(2)
BAD_FUNCTIONS = {
    "cvxpy does not see that it is convex. Problem does not follow DCP": lambda xi, z: cp.Minimize(
        -cp.sum_squares(z)
    ),
    "say so: xi=cvxpy.Parameter": lambda xi, z: cp.Minimize(xi[0] * cp.sum_squares(z)),
    "must return one cvxpy.Minimize": lambda xi, z: [z >= xi],
    "must return an objective and constraints, not 3": lambda xi, z: (cp.Minimize(z[0]), 3),
    "asks for 'y', which is neither": lambda xi, z, y: cp.Minimize(z[0]),
    "does not take 'z', which is declared": lambda xi: cp.Minimize(xi[0]),
    "its function raised ValueError": lambda xi, z: cp.Minimize(z),
    "from outside: name it in from_cvxpy": lambda xi, z: cp.Minimize(cp.sum(z + OUTSIDE_VARIABLE)),
    "which is neither x nor xi": lambda xi, z: cp.Minimize(OUTSIDE_PARAMETER @ z),
}


@pytest.mark.parametrize("message", BAD_FUNCTIONS)
def test_a_bad_function_says_what_is_wrong(message: str) -> None:
    with pytest.raises(DeclarationError, match="cannot be declared") as error:
        declared(BAD_FUNCTIONS[message])
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"xi": 0}, "The 'xi' parameter of from_cvxpy must be an integer in"),
        ({"z": 2.5}, "The 'z' parameter of from_cvxpy must be an integer in"),
        ({"z": cp.Variable(2, complex=True)}, "of real numbers with attributes among"),
        ({"x": cp.Variable(2)}, r"The 'x' parameter .* or a cvxpy.Parameter"),
        ({"solver": "ABACUS"}, "The 'solver' parameter of from_cvxpy must be one of"),
        ({"fallback": [1, 2, 3]}, "The 'fallback' parameter of from_cvxpy must be a sequence of 2"),
        ({"risk": 3}, r"The 'risk' parameter of from_cvxpy must be Expectation\(\)"),
        ({"tolerance": 0}, "The 'tolerance' parameter of from_cvxpy"),
    ],
)
def test_a_bad_option_says_what_is_wrong(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        declared(plain_function, **options)


def test_without_cvxpy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    notation.cvxpy.cache_clear()
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(ModuleNotFoundError, match="from_cvxpy needs cvxpy: pip install"):
        from_cvxpy(xi=1, z=1)
    notation.cvxpy.cache_clear()
