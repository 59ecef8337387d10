"""What problems say of outcomes of which only bounds are known, against brute force."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from lengths import long

from bocopt import from_callables, minimise, pos, program, real, recourse
from bocopt.bounds import bounds_of
from bocopt.core import Array, Bounds, Dims, Problem
from bocopt.problems import BinaryKnapsack, Knapsack, Newsvendor, ShortestPath
from bocopt.problems.ranges import within

NONE, ENDLESS = np.zeros(0), 1e3  # stands for what has no end, where outcomes are tried
Rng = np.random.Generator
Made = tuple[Any, Array, Array]  # a problem, the largest outcome (m), two decisions (2, d)
Maker = Callable[[Rng], Made]


def newsvendor(rng: Rng) -> Made:
    cost, profit, penalty = rng.choice([0.0, 0.5, 2.0], (3, 2))
    problem = Newsvendor(
        unit_cost=cost + 1,
        price=cost + 1 + profit,
        salvage=rng.uniform(0, 1, 2).tolist(),
        penalty=penalty,
        capacity=9.0,
        largest_demand=rng.choice([0.0, 4.0, 10.0, ENDLESS], 2).tolist(),
    )
    return problem, np.array(problem.largest_demand), rng.choice([0.0, 2.0, 3.5, 7.0, 12.0], (2, 2))


def knapsack(rng: Rng) -> Made:
    problem = Knapsack(
        value=rng.choice([0.0, 1.0, 3.0, 12.0], 2).tolist(),
        capacity=[8.0],
        salvage=rng.choice([0.0, 1.0, 3.0], 1).tolist(),
        lower=int(rng.integers(0, 2)),
        upper=4,
        infeasible_reward=float(rng.choice([0.0, -5.0])),
        pays_worst_feasible=bool(rng.random() < 0.3),
    )
    return problem, np.full(2, ENDLESS), rng.integers(0, 6, (2, 2)).astype(float)


def items(rng: Rng) -> Made:
    problem = BinaryKnapsack(
        items=2,
        capacity=2.0,
        weights=[1.0, 2.0] if rng.random() < 0.3 else None,
        infeasible_reward=float(rng.choice([0.0, -1.0])),
        largest_value=5.0,
    )
    largest = np.array([5.0, 5.0, ENDLESS, ENDLESS][: problem.dims.xi])
    return problem, largest, rng.choice([0.0, 1.0, 0.5], (2, 2), p=[0.3, 0.6, 0.1])


def path(rng: Rng) -> Made:
    edges = [(0, 1), (1, 2), (0, 2), (1, 0)]
    problem = ShortestPath(edges=edges, source=0, target=2, largest_cost=6.0)
    return problem, np.full(4, 6.0), rng.choice([0.0, 1.0], (2, 4))


def declared(rng: Rng) -> Made:
    """A newsvendor with a target of service: what is missed beyond it is infeasible."""
    priced = rng.random() < 0.5

    @program(xi=2, support=(0, 10), order=real(2), infeasible_objective=9.0 if priced else None)
    def shop(xi: Any, order: Any) -> Any:
        short = pos(xi - order)
        return minimise(order.sum() - 3 * (xi - short).sum() + short.sum()), short.sum() <= 4

    return shop, np.full(2, 10.0), rng.choice([0.0, 2.0, 3.5, 7.0, 12.0], (2, 2))


MAKERS: Sequence[Maker] = (
    newsvendor,
    knapsack,
    items,
    path,
    declared,
)
#: Ends of a cost are attained, but for a knapsack that pays what the worst feasible decision does.
EXACT = (newsvendor, items, path)


def a_box(rng: Rng, m: int) -> Bounds:
    """Exact components, unseen ones, and those with one end or two."""
    low = rng.choice([0.0, 1.0, 2.0, 3.5, 4.0], m)
    high = low + rng.choice([0.0, 0.5, 2.0, 6.0], m)
    low = np.where(rng.random(m) < 0.3, -np.inf, low)
    return Bounds(low, np.where(rng.random(m) < 0.3, np.inf, high))


def outcomes(box: Bounds, largest: Array, decisions: Array, rng: Rng) -> Array:
    """Corners of the box, places where a cost may turn, and points within; possible ones (n, m)."""
    low, high = np.maximum(box.low, 0.0), np.minimum(box.high, largest)
    if (low > high).any():
        return np.zeros((0, len(low)))
    m = len(low)
    turns = np.unique([*decisions.ravel(), *(c / max(z, 1) for c in (8, 2) for z in range(5))])
    places = [np.unique(np.clip([low[j], high[j], *turns], low[j], high[j])) for j in range(m)]
    many = [rng.choice(places[j], 3) if m > 2 else places[j] for j in range(m)]
    ends = [np.array([low[j], high[j]]) for j in range(m)]
    found = [*product(*ends), *product(*many), *rng.uniform(low, high, (200, m))]
    return np.array(found)


def ends(found: tuple[Array, Array]) -> tuple[float, float]:
    return float(found[0]), float(found[1])


def check(maker: Maker, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, largest, (z, other) = maker(rng)
    box = a_box(rng, problem.dims.xi)
    xi = outcomes(box, largest, np.array([z, other]), rng)
    found = within(problem, box)
    fits, misses = found.verdicts(NONE, z)
    assert (fits or misses) == (len(xi) > 0)
    if not len(xi):
        return
    assert problem.possible(NONE, xi).all()
    cost, paid = (problem.cost(NONE, d, xi) for d in (z, other))
    feasible = problem.violation(NONE, z, xi) <= 0
    low, high = found.range(NONE, z)
    near = 1e-9 * (1.0 + np.abs(cost).max())
    assert low - near <= cost.min()
    assert cost.max() <= high + near
    assert fits or not feasible.any()
    assert misses or feasible.all()
    least, most = found.range_of_difference(NONE, z, other)
    assert least - 2 * near <= (cost - paid).min()
    assert (cost - paid).max() <= most + 2 * near
    turned = found.range_of_difference(NONE, other, z)
    np.testing.assert_allclose(turned, (-most, -least), atol=near)
    assert not np.any(found.range_of_difference(NONE, z, z))
    whole, apart = (problem.range(NONE, z), problem.range_of_difference(NONE, z, other))
    assert low >= whole[0] - near
    assert high <= whole[1] + near
    assert least >= apart[0] - near
    assert most <= apart[1] + near
    if maker in EXACT:
        assert cost.min() <= low + near
        assert cost.max() >= high - near


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
@pytest.mark.parametrize("many", [150, long(5000)])
def test_no_outcome_within_the_bounds_is_otherwise(many: int, maker: Any) -> None:
    for seed in range(many):
        check(maker, seed)


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_no_outcome_is_possible_where_bounds_are_outside_the_support(maker: Any) -> None:
    problem, _, (z, _) = maker(np.random.default_rng(0))
    far = np.full(problem.dims.xi, -2.0)
    assert not np.any(within(problem, Bounds(far, far)).verdicts(NONE, z))


def test_of_stock_that_was_sold_out_the_purchase_is_known_and_what_was_missed_is_not() -> None:
    z, seen = np.array([5.0]), bounds_of("a test", "xi", None, 1)._replace(low=np.array([5.0]))
    kind = Newsvendor(unit_cost=[1.0], price=3.0)
    assert ends(within(kind, seen).range(NONE, z)) == (-10.0, -10.0)
    charged = Newsvendor(unit_cost=[1.0], price=3.0, penalty=2.0, largest_demand=8.0)
    assert ends(within(charged, seen).range(NONE, z)) == (-10.0, -4.0)
    # three fewer would have sold three fewer, and missed as much more; what was missed cancels
    assert ends(within(charged, seen).range_of_difference(NONE, np.array([2.0]), z)) == (12.0, 12.0)
    assert ends(within(charged, seen).range_of_difference(NONE, np.array([7.0]), z)) == (-8.0, 2.0)


def test_boxes_with_leading_axes_are_as_each_alone() -> None:
    rng = np.random.default_rng(5)
    for maker in MAKERS:
        problem, _, (z, other) = maker(rng)
        boxes = [a_box(rng, problem.dims.xi) for _ in range(6)]
        many = within(problem, Bounds(*map(np.stack, zip(*boxes, strict=True))))
        pairs = np.stack([z] * 6), np.stack([other] * 6)
        x = np.zeros((6, 0))
        said: list[Any] = [*many.range(x, pairs[0]), *many.range_of_difference(x, *pairs)]
        said += many.verdicts(x, pairs[0])
        for i, box in enumerate(boxes):
            one = within(problem, box)
            alone: list[Any] = [*one.range(NONE, z), *one.range_of_difference(NONE, z, other)]
            alone += one.verdicts(NONE, z)
            assert [part[i] for part in said] == alone


def test_a_second_stage_may_be_impossible_for_all_that_is_known() -> None:
    @program(xi=1, support=(0, 10), z=real(1, upper=10), y=recourse(1))
    def one(xi: Any, z: Any, y: Any) -> Any:
        return minimise(z.sum() + 2 * y.sum()), z + y >= xi, y <= 3

    z, seen = np.array([2.0]), Bounds(np.array([1.0]), np.array([9.0]))
    assert all(within(one, seen).verdicts(NONE, z))
    assert one.violation(NONE, z, np.array([9.0])) > 0


def test_a_problem_that_knows_nothing_of_bounds_has_the_ends_of_its_support() -> None:
    def shop(**options: Any) -> Problem:
        return from_callables(
            solve=lambda x, xi: xi,
            cost=lambda x, z, xi: float(np.abs(z - xi).sum()),
            dims=Dims(None, 1, 1),
            fallback=[0],
            **options,
        )

    z, other = np.array([3.0]), np.array([4.0])
    seen = Bounds(np.array([2.0]), np.array([9.0]))
    ranged = within(shop(bounds=lambda x, z: (0.0, 7.0)), seen)
    assert ends(ranged.range(NONE, z)) == (0.0, 7.0)
    assert ends(ranged.range_of_difference(NONE, z, other)) == (-7.0, 7.0)
    assert not np.any(ranged.range_of_difference(NONE, z, z))
    unknown = within(shop(), seen)
    assert ends(unknown.range(NONE, z)) == (-np.inf, np.inf)
    assert ends(unknown.range_of_difference(NONE, z, other)) == (-np.inf, np.inf)
    assert all(unknown.verdicts(NONE, z))


@pytest.mark.parametrize(
    "bounds",
    [
        (np.zeros(1), np.ones(1)),
        Bounds(np.zeros(2), np.ones(2)),
        Bounds(np.ones(1), np.zeros(1)),
        Bounds(np.full(1, np.nan), np.ones(1)),
    ],
)
def test_what_is_no_bounds_is_refused(bounds: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="'bounds' parameter of Newsvendor"):
        Newsvendor(unit_cost=[1.0], price=3.0).within(bounds)
