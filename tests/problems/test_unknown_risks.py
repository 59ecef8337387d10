"""A risk that a solver does not know is refused: it never falls through to another one."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from registry import INSTANCES

import bocopt
from bocopt.core import Array, BoolArray, Dims
from bocopt.problems import Chance, CVaR, Expectation, WorstCase
from bocopt.problems.conic import extensive, stack
from bocopt.problems.program import strategies
from bocopt.problems.program.form import SolveTask


@dataclass(frozen=True)
class Entropic:
    """log E exp(cost)."""

    alpha: float | None = 1.0

    def value(self, costs: Array, w: Array) -> Array:
        """(s), (s) -> ()."""
        most = costs.max(axis=-1, keepdims=True)
        total = np.asarray((w * np.exp(costs - most)).sum(axis=-1))
        return np.asarray(np.log(total) + most[..., 0])

    def met(self, violations: Array, w: Array) -> BoolArray:
        """(s), (s) -> ()."""
        return np.asarray((violations <= 0).all(axis=-1))


@dataclass(frozen=True)
class Cautious(Chance):
    """A subclass of a known risk that values costs in a way of its own."""

    def value(self, costs: Array, w: Array) -> Array:
        """(s), (s) -> ()."""
        return 2.0 * super().value(costs, w)


@dataclass(frozen=True)
class Mistaken(Entropic):
    """One whose `tail_means` are those of another risk."""

    tail_means: tuple[tuple[float, float], ...] = ((1.0, 1.0),)


UNKNOWN = [Entropic(), Cautious(1.0), Mistaken()]
SCENARIOS, W = np.array([[1.0, 1.0], [1.0, 3.0], [1.0, 2.0], [9.0, 4.0]]), np.full(4, 0.25)


@bocopt.program(xi=1, order=bocopt.real(upper=10))
def shop(xi: Any, order: Any) -> Any:
    return bocopt.minimise(order + 3 * bocopt.pos(xi - order))


def _fixed() -> Any:
    @bocopt.program(xi=2, z=bocopt.real(2, upper=5))
    def fixed(xi: Any, z: Any) -> Any:
        return bocopt.minimise(xi @ z), z.sum() >= 1

    return fixed


def _limits() -> Any:
    @bocopt.program(xi=2, chance=0.7, z=bocopt.real(2, upper=5))
    def limits(xi: Any, z: Any) -> Any:
        return bocopt.minimise(z.sum()), z >= xi

    return limits


def _stages() -> Any:
    @bocopt.program(xi=2, build=bocopt.real(2, upper=5), short=bocopt.recourse(2))
    def stages(xi: Any, build: Any, short: Any) -> Any:
        return bocopt.minimise(build.sum() + 4 * short.sum()), build + short >= xi

    return stages


PROGRAMS: dict[str, Callable[[], Any]] = {
    "mean": _fixed,
    "hinges": lambda: INSTANCES["Program"],
    "lattice": lambda: INSTANCES["Program, a chance"],
    "mixing": _limits,
    "partition": _stages,
    "curved": lambda: INSTANCES["Program, curved"],
}


@pytest.mark.parametrize("risk", UNKNOWN)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_refuses_it_where_it_is_made(name: str, risk: Any) -> None:
    with pytest.raises(ValueError, match=r"'risk' parameter of program must be Expectation\(\)"):
        replace(PROGRAMS[name](), risk=risk)


@pytest.mark.parametrize("risk", UNKNOWN)
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_way_to_solve_takes_it_for_another(
    name: str, risk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = PROGRAMS[name]()
    assert program.solve(SCENARIOS, W, np.zeros(3)).value < np.inf
    solve = strategies.solve

    def with_another(task: SolveTask) -> Any:
        return solve(task._replace(risk=risk))

    monkeypatch.setattr(strategies, "solve", with_another)
    with pytest.raises(ValueError, match=r"'risk' parameter of program must be Expectation\(\)"):
        program.solve(SCENARIOS, W, np.zeros(3))


@pytest.mark.parametrize("risk", UNKNOWN)
@pytest.mark.parametrize("solver", ["CLARABEL", "SCS"])
def test_a_convex_program_refuses_it(solver: str, risk: Any) -> None:
    near = INSTANCES["Conic"]
    with pytest.raises(ValueError, match=r"'risk' parameter of from_cvxpy must be Expectation\(\)"):
        replace(near, risk=risk)
    with pytest.raises(ValueError, match=r"'risk' parameter of from_cvxpy must be Expectation\(\)"):
        stack.under(near._compiled, SCENARIOS, W, risk, {})
    with pytest.raises(ValueError, match=r"'risk' parameter of from_cvxpy must be Expectation\(\)"):
        extensive.under(near.declared, np.zeros(0), SCENARIOS, W, risk, solver, {})


@pytest.mark.parametrize("risk", [Expectation(), Chance(1.0), CVaR(0.5), CVaR(0.0), WorstCase()])
def test_the_known_ones_are_taken(risk: Any) -> None:
    replace(shop, risk=risk)


def test_no_program_answers_what_is_best_under_another_risk() -> None:
    """A program that was given the entropic risk ordered 1, as under the mean, where 8.86 is best.

    Any solver can be given that risk by `from_callables`.
    """
    scenarios = SCENARIOS[:, :1]
    assert shop.solve(scenarios, W, np.zeros(0)).z == 1.0
    callables = bocopt.from_callables(
        lambda x, xi: np.atleast_1d(xi[0]),
        lambda x, z, xi: float(shop.cost(x, z, xi)),
        lambda x, z, xi: 0.0,
        dims=Dims(0, 1, 1),
        fallback=[0.0],
        box=(0.0, 10.0),
        risk=Entropic(),
    )
    found = callables.solve(scenarios, W, np.zeros(0))
    grid = np.linspace(0.0, 10.0, 1001)
    values = [Entropic().value(shop.cost(np.zeros(0), z, scenarios), W) for z in grid[:, None]]
    assert grid[np.argmin(values)] == pytest.approx(8.86)
    assert found.value == pytest.approx(min(values), abs=1e-3)
