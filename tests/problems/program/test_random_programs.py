"""Random declarations against enumeration: whatever the way, the value is that of the best z."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from convex_risks import Entropic, EVaR

from bocopt import CVaR, Status, WorstCase, absolute, integer, minimise, pos, program, recourse
from bocopt.core import Array
from bocopt.problems.program import Program, strategies
from bocopt.problems.scenarios import merged

PLAIN = ("linear", "limits", "packing", "hinges", "stages", "mixed")
CONVEX = tuple(f"{kind}, convex" for kind in PLAIN if kind != "packing")  # risks that are cut
KINDS = (*PLAIN, *CONVEX)


def random_program(kind: str, rng: np.random.Generator) -> Program:
    """Two or three integers, numbers with one decimal, sometimes tied or impossible."""
    kind, _, convex = kind.partition(", ")
    d, m = int(rng.integers(2, 4)), 4
    upper = int(rng.integers(1, 4))
    cost, price = rng.integers(-9, 10, (2, d)) / 10
    rows = rng.integers(0 if kind == "packing" else -5, 6, (2, d)) / 2
    limit = rng.integers(-1, 8) / 2
    cut: list[Any] = [Entropic(0.7), Entropic(4.0), EVaR(0.5)]
    risks: list[Any] = cut if convex else [None, CVaR(0.6), WorstCase()]
    options: dict[str, Any] = {"risk": risks[rng.integers(3)] if kind != "packing" else None}
    if kind in ("limits", "packing", "mixed") and rng.random() < 0.8:
        options["chance"] = float(rng.choice([0.5, 0.7, 0.9]))
    recourse_may_fail = kind == "mixed" and "chance" in options
    if kind in ("packing", "mixed") and (rng.random() < 0.5 or recourse_may_fail):
        options["infeasible_objective"] = float(rng.integers(0, 5))
    if kind in ("stages", "mixed"):
        options["later"] = recourse(d, upper=5)

    known = rng.random() < 0.5  # whether costs are

    def body(xi: Any, z: Any, later: Any = None) -> Any:
        paid = cost @ z if known else cost @ z + (xi[:d] - 1) @ z
        if kind == "hinges":
            paid = paid + price**2 @ pos(xi[:d] - z) + 0.3 * absolute(z - 1).sum()
        if kind == "stages":
            return minimise(paid + 0.4 * later.sum()), z + later >= xi[:d], rows[0] @ z <= limit + 2
        if kind == "mixed":
            limits = xi[0] * (rows[0] @ z) <= limit + later.sum()
            return minimise(paid + 0.7 * later.sum()), limits, z.sum() <= 2 * upper
        if kind == "packing":
            return minimise(paid), (xi[:2, None] * rows) @ z <= limit
        if kind == "limits":
            return minimise(paid), rows @ z <= limit + xi[:2] - 1
        return minimise(paid), rows @ z <= limit

    def with_stages(xi: Any, z: Any, later: Any) -> Any:
        return body(xi, z, later)

    def without(xi: Any, z: Any) -> Any:
        return body(xi, z)

    function = with_stages if "later" in options else without
    return program(xi=m, gap=1e-7, z=integer(d, upper=upper), **options)(function)


def enumerated(problem: Program, scenarios: Array, w: Array) -> float:
    """The best value of any z."""
    best, none = np.inf, np.zeros(0)
    upper = problem.blueprint.upper[: problem.dims.z].astype(int)
    for point in product(*(range(most + 1) for most in upper)):
        z = np.array(point, dtype=np.float64)
        violations = problem.violation(none, z, scenarios)
        if problem.risk.met(violations, w):
            costs = _costs(problem, z, scenarios, violations)
            best = min(best, float(problem.risk.value(costs, w)))
    return best


def _costs(problem: Program, z: Array, scenarios: Array, violations: Array) -> Array:
    """Where the second stage cannot be, and nothing is said to be paid then, it costs no end."""
    if problem.infeasible_objective is not None or not problem.blueprint.recourse:
        return problem.cost(np.zeros(0), z, scenarios)
    costs = np.full(len(scenarios), np.inf)
    fine = violations <= 0
    if fine.any():
        costs[fine] = problem.cost(np.zeros(0), z, scenarios[fine])
    return costs


def question(kind: str, seed: int) -> tuple[Program, Array, Array]:
    rng = np.random.default_rng(seed)
    problem, many = random_program(kind, rng), int(rng.integers(1, 7))
    scenarios = rng.integers(0, 21, (many, 4)) / 10
    w = rng.dirichlet(np.ones(many)) if rng.random() < 0.5 else np.full(many, 1 / many)
    return problem, scenarios, w


def compare(kind: str, seed: int) -> Status:
    problem, scenarios, w = question(kind, seed)
    found, best = problem.solve(scenarios, w, np.zeros(0)), enumerated(problem, scenarios, w)
    status = Status(int(found.status))
    if np.isfinite(best):
        assert status in (Status.OPTIMAL, Status.LIMIT)
        assert found.value - found.gap <= best + 1e-6
        assert found.value >= best - 1e-6
        if status is Status.OPTIMAL:
            assert found.value == pytest.approx(best, abs=2e-6)
    else:
        assert status is Status.INFEASIBLE
    return status


@pytest.mark.parametrize("kind", KINDS)
def test_the_value_is_that_of_the_best_z(kind: str) -> None:
    found = [compare(kind, seed) for seed in range(25)]
    assert found.count(Status.OPTIMAL) >= 8
    assert found.count(Status.LIMIT) <= 1


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_so_for_many(kind: str) -> None:
    found = [compare(kind, seed) for seed in range(100, 400)]
    assert found.count(Status.LIMIT) <= 6


def test_all_ways_are_taken() -> None:
    taken = set[Any]()
    for kind in KINDS:
        for seed in range(50):
            problem, scenarios, w = question(kind, seed)
            if len(w) > 1:
                task = problem._task(np.zeros(0), *merged(scenarios, w))
                taken.add(next(way for way in strategies.STRATEGIES if way.applies(task)))
    assert taken == set(strategies.STRATEGIES)
