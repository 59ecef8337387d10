"""A risk of one's own is one class: programs of all kinds are solved under it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from conic_cases import PROGRAMS, XI, W, X
from laws import (
    assert_declared_programs_are_best_under,
    assert_pure_and_free_of_leading_axes,
    assert_the_value_is_what_its_tail_means_say,
)

from bocopt import CVaR, Expectation, WorstCase, minimise, program, real
from bocopt.core import Array, BoolArray, Risk
from bocopt.problems.risk import tail_means_of

PARTS: dict[float, Risk] = {1.0: Expectation(), 0.0: WorstCase()}


@dataclass(frozen=True)
class Mixed:
    """Means of several shares of the worst outcomes, each with a weight."""

    tail_means: tuple[tuple[float, float], ...]
    alpha: float | None = None

    def value(self, costs: Array, w: Array) -> Array:
        """(s), (s) -> ()."""
        value = np.zeros(costs.shape[:-1])
        for weight, share in self.tail_means:
            part = PARTS.get(share, CVaR(1.0 - min(max(share, 0.01), 1.0)))
            value = value + weight * part.value(costs, w)
        return value

    def met(self, violations: Array, w: Array) -> BoolArray:
        """(s), (s) -> ()."""
        return CVaR(0.0, self.alpha).met(violations, w)


OWN = {
    "mean and tail": Mixed(((0.5, 1.0), (0.5, 0.2))),
    "mean and worst": Mixed(((0.7, 1.0), (0.3, 0.0)), alpha=0.7),
    "two tails": Mixed(((0.4, 0.6), (0.6, 0.25))),
    "all three": Mixed(((0.2, 1.0), (0.5, 0.3), (0.3, 0.0)), alpha=0.8),
}


@pytest.mark.parametrize("name", OWN)
def test_it_keeps_the_laws_of_all_risks(name: str) -> None:
    rng = np.random.default_rng(0)
    numbers, weights = rng.normal(size=(6, 4)), rng.dirichlet(np.ones(4), 6)
    assert_pure_and_free_of_leading_axes(OWN[name].value, numbers, weights)
    assert_the_value_is_what_its_tail_means_say(OWN[name])
    assert_declared_programs_are_best_under(OWN[name])


@pytest.mark.parametrize("name", OWN)
def test_a_program_of_many_scenarios_is_best(name: str) -> None:
    """So many hinges that they are bundled, and a grid of decisions beside it."""

    @program(xi=2, risk=OWN[name], z=real(2, upper=2))
    def held(xi: Any, z: Any) -> Any:
        return minimise(-xi @ z), z.sum() <= 2

    scenarios = np.random.default_rng(1).normal([0.4, 0.3], [1.0, 0.4], (400, 2))
    w = np.full(400, 1 / 400)
    found = held.solve(scenarios, w, np.zeros(0))
    grid = np.linspace(0.0, 2.0, 41)
    values = [
        float(held.risk.value(held.cost(np.zeros(0), np.array([a, b]), scenarios), w))
        for a in grid
        for b in grid[grid <= 2.0 - a]
    ]
    assert float(found.value) <= min(values) + 1e-9
    assert float(found.value) == pytest.approx(min(values), abs=0.01)


@pytest.mark.parametrize("shape", ["spread", "shop", "repaired"])
@pytest.mark.parametrize("name", ["mean and tail", "two tails"])
def test_a_convex_program_is_solved_by_cones_as_by_cvxpy(name: str, shape: str) -> None:
    one = PROGRAMS[shape](risk=OWN[name])
    other = PROGRAMS[shape](risk=OWN[name], solver="SCS", gap=1e-3, options={"eps": 1e-7})
    x = X[0] if one.dims.x else np.zeros(0)
    found, slow = (each.solve(XI, W, x) for each in (one, other))
    assert one._compiled is not None
    assert other._compiled is None
    assert float(found.value) == pytest.approx(float(slow.value), abs=1e-4)
    near = [found.z + step for step in np.random.default_rng(2).normal(0, 0.05, (40, one.dims.z))]
    held = [z for z in near if one.risk.met(one.violation(x, z, XI), W)]
    assert all(one.risk.value(one.cost(x, z, XI), W) >= found.value - 1e-6 for z in held)


@pytest.mark.parametrize(
    "parts", [(), ((-1.0, 0.5), (2.0, 1.0)), ((1.0, 2.0),), ((1.0, -0.1),)], ids=str
)
def test_parts_of_which_no_risk_is_made_are_refused(parts: Any) -> None:
    with pytest.raises(ValueError, match="'risk' parameter of program must be"):
        tail_means_of(Mixed(parts))
