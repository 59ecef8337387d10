"""Ranges that a declared program derives: kept by every outcome, and attained where promised."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from re import search
from typing import Any

import numpy as np
import pytest
from lengths import long

from bocopt import absolute, binary, integer, maximise, minimise, pos, program, real, recourse
from bocopt.checks import check_problem
from bocopt.core import Array
from bocopt.problems import Newsvendor, portfolio
from bocopt.problems.program import Program
from bocopt.problems.ranges import why_unranged

NONE = np.zeros(0)
RNG = np.random.default_rng(7)
LOW, HIGH = np.array([-1.0, 0.0, 0.5]), np.array([2.0, 3.0, 1.5])
X = np.array([0.4, -0.7])
Declared = Callable[[Any, Any, Any], Any]

#: Objectives that are linear in xi between the places where a part of one component turns.
EXACT: dict[str, Declared] = {
    "known": lambda x, xi, z: z.sum() + x[0],
    "affine": lambda x, xi, z: xi @ z + 5 * xi[1] - 2 * (xi[:2] * x).sum() * z[0],
    "cancels": lambda x, xi, z: xi[0] * z[0] - xi[0] * z[1] + 3,
    "scaled": lambda x, xi, z: (xi / (2 + x[0])) @ z - (z[0] - xi[2]) / 4,
    "chosen by x": lambda x, xi, z: np.where(x > 0, xi[:2], 1.0) @ z[:2],
    "short": lambda x, xi, z: z.sum() + 4 * pos(xi - z).sum() - (2 * xi).sum(),
    "either side": lambda x, xi, z: 2 * absolute(xi - z).sum() + 3 * pos(2 * z - 3 * xi).sum(),
    "largest": lambda x, xi, z: np.maximum(xi * z, z + x[0]).sum(),
    "certain parts": lambda x, xi, z: absolute(z - x[0]).sum() + pos(z[0] - z[1]) - xi @ z,
}
#: Others: the ends are kept, but need not be attained.
SOUND: dict[str, Declared] = {
    "joint": lambda x, xi, z: pos(xi.sum() - z[0]) + 2 * pos(xi[0] * z[1] - xi[1]) - xi[0],
    "nested": lambda x, xi, z: pos(pos(xi - z) - x[0]).sum(),
    "squares": lambda x, xi, z: (xi**2) @ z + xi[0] ** 3 + (xi[2] ** -1) * z[0],
    "products": lambda x, xi, z: xi[0] * xi[1] * z[0] - pos(xi[1] * xi[2] - z[2]) * -1,
    "functions": lambda x, xi, z: (np.exp(xi) + np.sqrt(xi + 1) + np.tanh(xi)) @ z,
    "ratios": lambda x, xi, z: (xi[0] / xi[2]) * z[0] + (1 / (xi[2] - 3)) * z[1],
    "branches": lambda x, xi, z: np.where(xi > x[0], xi, -2.0) @ z,
    "both": lambda x, xi, z: np.where((xi > 0.6) & ~(xi >= 1.1), 1.0, xi) @ z,
    "weights": lambda x, xi, z: (xi[0] + 1) * pos(xi[1] - z[0]) + np.abs(xi) @ z,
    "steps": lambda x, xi, z: (np.floor(3 * xi) + np.maximum(xi, 1) + np.minimum(xi, 1)) @ z,
}


def declared(objective: Declared, **options: Any) -> Program:
    @program(x=2, xi=3, support=(LOW, HIGH), z=real(3, lower=-1, upper=4), **options)
    def one(x: Any, xi: Any, z: Any) -> Any:
        return minimise(objective(x, xi, z)), z.sum() <= 9

    return one


def outcomes(*decisions: Array) -> Array:
    """The corners of the box, points within, and where a part of one component may turn."""
    own = [np.concatenate([LOW, HIGH])[j::3] for j in range(3)]
    for z in decisions:
        turns = [z, 2 * z / 3, z / 3, (z + X[0]) / np.where(z == 0, 1.0, z)]
        own = [np.append(at, [turn[j] for turn in turns]) for j, at in enumerate(own)]
    places = [np.unique(np.clip(at, LOW[j], HIGH[j])) for j, at in enumerate(own)]
    within = RNG.uniform(LOW, HIGH, (200, 3))
    return np.concatenate([np.array(list(product(*places))), within])


@pytest.mark.parametrize("name", [*EXACT, *SOUND])
def test_no_outcome_leaves_the_range_and_where_it_is_exact_some_attain_it(name: str) -> None:
    one = declared((EXACT | SOUND)[name])
    for z, other in RNG.choice([-1.0, 0.0, 0.7, 1.2, 2.5], (6, 2, 3)):
        xi = outcomes(z, other)
        cost, paid = one.cost(X, z, xi), one.cost(X, other, xi)
        for seen, (low, high) in (
            (cost, one.range(X, z)),
            (cost - paid, one.range_of_difference(X, z, other)),
        ):
            assert np.isfinite([low, high]).all()
            assert low - 1e-12 <= seen.min()
            assert seen.max() <= high + 1e-12
            if name in EXACT:
                np.testing.assert_allclose((seen.min(), seen.max()), (low, high), atol=1e-12)
        assert not np.any(one.range_of_difference(X, z, z))


@pytest.mark.parametrize("name", [*EXACT, *SOUND])
def test_a_difference_is_never_wider_than_the_ranges_of_both(name: str) -> None:
    one = declared((EXACT | SOUND)[name])
    z, other = RNG.choice([-1.0, 0.0, 0.7, 1.2], (2, 200, 3))
    low, high = one.range_of_difference(X, z, other)
    (least, largest), (least_other, largest_other) = (one.range(X, d) for d in (z, other))
    assert (low >= least - largest_other - 1e-12).all()
    assert (high <= largest - least_other + 1e-12).all()


@pytest.mark.parametrize("name", [*EXACT, *SOUND])
def test_a_range_is_the_same_alone_as_in_a_batch(name: str) -> None:
    one = declared((EXACT | SOUND)[name])
    x, z = RNG.normal(size=(4, 1, 2)), RNG.choice([-1.0, 0.0, 0.7, 1.2], (3, 3))
    other = RNG.uniform(-1, 4, (4, 3, 3))
    cost, more = one.range(x, z), one.range_of_difference(x, z, other)
    for i, j in np.ndindex(4, 3):
        assert tuple(end[i, j] for end in cost) == one.range(x[i, 0], z[j])
        alone = one.range_of_difference(x[i, 0], z[j], other[i, j])
        assert tuple(end[i, j] for end in more) == alone


def test_a_cost_that_is_certain_is_not_outside_by_rounding() -> None:
    """All is sold, whatever the demand: positive parts cancel, but for their last digits."""

    @program(xi=3, support=(5.1, 77.7), order=real(3))
    def shop(xi: Any, order: Any) -> Any:
        return minimise(0.1 * order.sum() - [0.3, 0.7, 1.1] @ np.minimum(order, xi))

    z, xi = RNG.uniform(0, 5, (300, 1, 3)), RNG.uniform(5.1, 77.7, (50, 3))
    cost, (low, high) = shop.cost(NONE, z, xi), shop.range(NONE, z)
    assert (high - low < 1e-10).all()
    assert ((cost >= low) & (cost <= high)).all()


def test_a_joint_part_moves_by_no_more_than_its_inside() -> None:
    one = declared(SOUND["joint"])
    z, other = np.array([1.0, 1.0, 0.0]), np.array([1.25, 1.0, 0.0])
    low, high = one.range_of_difference(X, z, other)
    assert (float(low), float(high)) == (0.0, 0.25)


def test_a_declared_newsvendor_derives_what_ours_knows() -> None:
    ours = Newsvendor(
        unit_cost=[1.0, 2.0], price=[3.0, 4.0], salvage=0.5, penalty=[1.0, 0.0], largest_demand=6.0
    )
    theirs = replace(ours.declared(), support=((0.0, 0.0), (6.0, 6.0)))
    z, other = RNG.uniform(0, 8, (2, 200, 2))
    np.testing.assert_allclose(theirs.range(NONE, z), ours.range(NONE, z), atol=1e-12)
    found = theirs.range_of_difference(NONE, z, other)
    np.testing.assert_allclose(found, ours.range_of_difference(NONE, z, other), atol=1e-12)


def load(**options: Any) -> Program:
    @program(xi=4, infeasible_objective=-1.0, take=integer(2, upper=4), **options)
    def load(xi: Any, take: Any) -> Any:
        return maximise(xi[:2] @ take), xi[2:] @ take <= 4

    return load


def test_what_is_paid_for_infeasibility_counts_where_it_can_be() -> None:
    one = load(support=([0, 0, 0, 0.5], [3, 2, 1, 1]))
    ends = {
        (2, 2): (-10.0, 0.0),  # always fits, even at the corner
        (3, 2): (-13.0, 1.0),
        (4, 4): (-20.0, 1.0),
        (5, 0): (1.0, 1.0),  # is never allowed
    }
    for z, found in ends.items():
        assert one.range(NONE, np.array(z, float)) == pytest.approx(found, abs=1e-12)
    difference = {
        ((2, 2), (2, 1)): (-2.0, 0.0),
        ((2, 2), (5, 0)): (-11.0, -1.0),
        ((5, 0), (5, 1)): (0.0, 0.0),
        ((3, 2), (2, 2)): (-3.0, 11.0),
        ((3, 2), (2, 3)): (-14.0, 13.0),
    }
    for (z, other), found in difference.items():
        pair = np.array(z, float), np.array(other, float)
        assert one.range_of_difference(NONE, *pair) == pytest.approx(found, abs=1e-12)
    check_problem(one, np.zeros((6, 1)), RNG.uniform([0, 0, 0, 0.5], [3, 2, 1, 1], (6, 4)))


@pytest.mark.parametrize("many", [40, long(2000)])
def test_feasibility_at_the_corner_is_that_of_the_judge_bit_for_bit(many: int) -> None:
    """Decimals that sum up to a capacity, or miss it by rounding."""
    for _ in range(many):
        weight = RNG.integers(1, 30, 3) / 10
        z = RNG.integers(0, 5, 3).astype(float)
        capacity = RNG.choice([weight @ z, float(np.round(weight @ z, 1)), (z * weight).sum()])

        @program(xi=3, infeasible_objective=100.0, support=(0, weight), z=integer(3, upper=4))
        def packed(xi: Any, z: Any, capacity: float = capacity) -> Any:
            return minimise(z.sum()), xi @ z <= capacity

        at_worst = packed.cost(NONE, z, weight)
        assert packed.range(NONE, z)[1] == at_worst


def test_a_range_needs_no_support_where_the_objective_reads_no_outcome() -> None:
    @program(xi=2, start=integer(2, upper=9), infeasible_objective=50.0)
    def staffing(xi: Any, start: Any) -> Any:
        return minimise([2, 3] @ start), start >= xi

    z = np.array([1.0, 2.0])
    assert tuple(map(float, staffing.range(NONE, z))) == (8.0, 50.0)
    assert tuple(map(float, staffing.range_of_difference(NONE, z, z + 1))) == (-42.0, 37.0)


def test_what_was_declared_of_the_cost_bounds_what_is_derived() -> None:
    wide, narrow = load(support=(0, 9)), load(support=(0, 9), objective_bounds=(-1, 20))
    z, other = np.array([1.0, 2.0]), np.array([4.0, 0.0])
    assert wide.range(NONE, z) == pytest.approx((-27.0, 1.0))
    assert narrow.range(NONE, z) == pytest.approx((-20.0, 1.0))
    assert wide.range_of_difference(NONE, z, other) == pytest.approx((-28.0, 37.0))
    assert narrow.range_of_difference(NONE, z, other) == pytest.approx((-21.0, 21.0))
    alone = load(objective_bounds=(-1, 20))
    assert tuple(map(float, alone.range(NONE, z))) == (-20.0, 1.0)
    check_problem(alone, np.zeros((6, 1)), RNG.uniform(0.2, 1, (6, 4)))


def test_only_outcomes_of_the_support_are_possible() -> None:
    one = load(support=(0, [3, 3, 1, np.inf]))
    xi = np.array([[0, 3, 1, 99.0], [0, 0, 1.1, 0], [-0.1, 0, 0, 0]])
    assert one.possible(NONE, xi).tolist() == [True, False, False]
    assert load().possible(np.zeros((3, 1)), xi).all()
    assert one.possible(np.zeros((5, 1, 2)), xi).shape == (5, 3)


def test_a_portfolio_is_ranged_by_the_returns_that_can_be() -> None:
    held, z = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    one = portfolio(assets=2, fee=0.1, support=(-0.5, 0.3))
    np.testing.assert_allclose(one.range(held, z), (-0.3 + 0.05, 0.5 + 0.05))
    np.testing.assert_allclose(
        one.range_of_difference(held, z, held), (0.05 - 0.25 * 0.8, 0.05 + 0.25 * 0.8)
    )


def _stages(**options: Any) -> Program:
    @program(xi=1, build=binary(1), short=recourse(1), **options)
    def stages(xi: Any, build: Any, short: Any) -> Any:
        return minimise(build[0] + 4 * short[0]), build + short >= xi

    return stages


def _waves(**options: Any) -> Program:
    @program(xi=1, z=real(1, upper=1), **options)
    def waves(xi: Any, z: Any) -> Any:
        return minimise(np.sin(xi) @ z)

    return waves


def _ratio() -> Program:
    @program(xi=2, support=(-1, 1), z=real(1, upper=1))
    def ratio(xi: Any, z: Any) -> Any:
        return minimise(xi[0] / xi[1] * z[0])

    return ratio


SUPPORT = r"^give support=\(low, high\), with finite ends, to program\(...\)$"
BETWEEN = r"^give objective_bounds=\(low, high\) to program\(...\): "
UNRANGED: list[tuple[Program, str]] = [
    (load(), SUPPORT),
    (load(support=(0, np.inf)), SUPPORT),
    (_stages(), BETWEEN + "what a second stage costs is not derived$"),
    (_stages(support=(0, 2)), BETWEEN + "what a second stage costs is not derived$"),
    (_waves(support=(0, 2)), BETWEEN + "the range of np.sin is not derived$"),
    (_ratio(), BETWEEN + "the ends of this objective are not derived$"),
]


@pytest.mark.parametrize(("one", "cure"), UNRANGED)
def test_what_is_not_derived_is_infinite_and_says_why(one: Program, cure: str) -> None:
    z = np.ones(one.dims.z)
    assert one.range(NONE, z)[0] == -np.inf
    assert search(cure, why_unranged(one))
    assert not np.any(one.range_of_difference(NONE, z, z))


def test_a_second_stage_is_ranged_by_what_was_declared() -> None:
    one, z = _stages(support=(0, 2), objective_bounds=(0, 9)), np.ones(1)
    assert tuple(map(float, one.range(NONE, z))) == (0.0, 9.0)
    assert tuple(map(float, one.range_of_difference(NONE, z, 0 * z))) == (-9.0, 9.0)
    check_problem(one, np.zeros((4, 1)), RNG.uniform(0, 2, (4, 1)))
