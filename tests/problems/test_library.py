"""Own kernels and the declared programs of the same problems answer alike."""

from typing import Any

import numpy as np
import pytest

from bocopt.checks import check_problem
from bocopt.core import Array, Problem
from bocopt.problems import (
    BinaryKnapsack,
    Newsvendor,
    ShortestPath,
    facility_location,
    grid,
    portfolio,
    staffing,
    unit_commitment,
)

NONE = np.zeros(0)


def _newsvendor(rng: np.random.Generator) -> tuple[Any, Array]:
    d = int(rng.integers(1, 4))
    cost = rng.uniform(1, 3, d)
    problem = Newsvendor(
        unit_cost=cost.tolist(),
        price=(cost * rng.uniform(1, 3, d)).tolist(),
        salvage=(cost * rng.uniform(0, 0.9, d)).tolist(),
        penalty=rng.choice([0.0, 1.0], d).tolist(),
        volume=rng.uniform(0.5, 2, d).tolist(),
        capacity=(None, 5.0, 50.0)[rng.integers(3)],
        upper=(None, 8.0)[rng.integers(2)],
    )
    return problem, rng.gamma(2, 3, (int(rng.integers(1, 12)), d))


def _path(rng: np.random.Generator) -> tuple[Any, Array]:
    if rng.random() < 0.5:
        problem = grid(int(rng.integers(2, 5)), int(rng.integers(2, 5)))
    else:
        edges = [(0, 1), (1, 2), (2, 0), (0, 2), (2, 3), (1, 3), (3, 1)]
        problem = ShortestPath(edges=edges, source=0, target=3)
    return problem, rng.uniform(0.1, 5, (int(rng.integers(1, 6)), problem.dims.xi))


def _knapsack(rng: np.random.Generator) -> tuple[Any, Array]:
    n = int(rng.integers(2, 8))
    weights = rng.integers(1, 6, n).tolist() if rng.random() < 0.5 else None
    problem = BinaryKnapsack(items=n, capacity=float(rng.integers(2, 12)), weights=weights)
    return problem, rng.uniform(0.5, 6, (int(rng.integers(1, 12)), problem.dims.xi)).round(1)


CLASSES = {"newsvendor": _newsvendor, "path": _path, "knapsack": _knapsack}


def _assert_alike(make: Any, many: int) -> None:
    rng = np.random.default_rng(11)
    for _ in range(many):
        problem, scenarios = make(rng)
        declared, w = problem.declared(), rng.dirichlet(np.ones(len(scenarios)))
        ours, theirs = (p.solve(scenarios, w, NONE) for p in (problem, declared))
        assert ours.status == theirs.status
        assert ours.value == pytest.approx(float(theirs.value), rel=1e-6, abs=1e-6)
        for z in (ours.z, theirs.z, 0 * ours.z):
            own, other = (p.cost(NONE, z, scenarios) for p in (problem, declared))
            np.testing.assert_allclose(own, other, rtol=1e-9, atol=1e-9)
            fits = [p.violation(NONE, z, scenarios) <= 0 for p in (problem, declared)]
            assert (fits[0] == fits[1]).all()


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_and_its_declaration_are_equal(name: str) -> None:
    _assert_alike(CLASSES[name], 50)


@pytest.mark.full
@pytest.mark.parametrize("name", CLASSES)
def test_they_are_equal_on_many(name: str) -> None:
    _assert_alike(CLASSES[name], 500)


DECLARED: dict[str, tuple[Problem, Array]] = {
    "staffing": (staffing(wage=[1, 2], covers=[[1, 0], [1, 1], [0, 1]]), np.full(3, 4.0)),
    "portfolio": (portfolio(assets=3, beta=0.5, fee=0.01), np.full(3, 0.1)),
    "facility": (
        facility_location(fixed=[3, 9], ship_cost=[[1, 2], [2, 1]], room=5, unmet_cost=10),
        np.full(2, 4.0),
    ),
    "commitment": (
        unit_commitment(
            hours=2,
            capacity=[5, 5],
            least=[1, 1],
            start_cost=[4, 0],
            hour_cost=[1, 1],
            fuel_cost=[1, 3],
            unserved_cost=50,
        ),
        np.full(2, 6.0),
    ),
}


@pytest.mark.parametrize("name", DECLARED)
def test_declared_classes_keep_the_laws(name: str) -> None:
    problem, scale = DECLARED[name]
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (4, problem.dims.x or 0)).astype(float)
    check_problem(problem, x, scale * rng.uniform(0.2, 1, (4, problem.dims.xi)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: staffing(wage=[1], covers=[[1, 0]]), "'wage' parameter of staffing"),
        (lambda: staffing(wage=[1], covers=[1]), "'covers' parameter of staffing"),
        (lambda: portfolio(assets=0), "'assets' parameter of portfolio"),
        (lambda: portfolio(assets=2, beta=1), "'beta' parameter of CVaR"),
        (
            lambda: facility_location(fixed=[1], ship_cost=[[1]], room=-1, unmet_cost=1),
            "'room' parameter of facility_location",
        ),
    ],
)
def test_bad_numbers_are_named(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
