"""Who hides a part of outcomes, so that what is certified of them becomes untrue.

At each stage an adversary knows all that happened, sets both decisions and the law of the outcome,
and says what is seen once the outcome is drawn.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from games import TARGET

from bocopt import minimise, pos, program, real
from bocopt.core import Array, Bounds
from bocopt.problems import Newsvendor, ShortestPath

Law = tuple[Array, Array, Array, Array]  # decisions (d), (d), outcomes (n, m), chances (n)
Seen = tuple[Array, Array]  # ends (m), (m)


class Censored(NamedTuple):
    """What happened at T stages, what was expected given all before, and what was seen."""

    problem: Any
    z: Array  # (T, d) decisions taken
    other: Array  # (T, d) those of the policy in their shadow
    xi: Array  # (T, m)
    seen: Bounds  # (T, m)
    paid: Array  # (T, 2)
    expected: Array  # (T, 2)
    feasible: float  # the average chance of a feasible decision

    def until(self, t: int) -> "Censored":
        parts = {name: part[:t] for name, part in self._asdict().items() if name in _BY_STAGE}
        return self._replace(**parts, seen=Bounds(*(end[:t] for end in self.seen)))


_BY_STAGE = ("z", "other", "xi", "paid", "expected")


def played(
    problem: Any,
    rng: np.random.Generator,
    stages: int,
    law: Callable[[int, float], Law],
    sight: Callable[[Array, Array, float], Seen],
) -> Censored:
    """`law` of a stage, by how far ahead the policy is of what was expected; `sight` of an outcome,
    by the decision taken and what the policy paid more.
    """
    rows, feasible, ahead, x = list[Any](), 0.0, 0.0, np.zeros(0)
    for t in range(stages):
        z, other, outcomes, chances = law(t, ahead)
        both = np.stack([problem.cost(x, d, outcomes) for d in (z, other)], axis=-1)
        i = int(rng.choice(len(chances), p=chances))
        expected = chances @ both
        more = float(both[i, 1] - both[i, 0])
        rows.append((z, other, outcomes[i], *sight(z, outcomes[i], more), both[i], expected))
        feasible += float(chances @ (problem.violation(x, z, outcomes) <= 0))
        ahead -= more - float(expected[1] - expected[0])
    z, other, xi, low, high, paid, expected = (np.stack(part) for part in zip(*rows, strict=True))
    return Censored(problem, z, other, xi, Bounds(low, high), paid, expected, feasible / stages)


LARGEST = 100.0
SHOP = Newsvendor(unit_cost=[1.0], price=3.0, penalty=2.0, largest_demand=LARGEST)
TWO = Newsvendor(unit_cost=[1.0, 1.0], price=3.0, penalty=2.0, largest_demand=LARGEST)
FREE = Newsvendor(unit_cost=[1.0], price=3.0, largest_demand=LARGEST)
PATHS = ShortestPath(edges=[(0, 1), (1, 2), (0, 2)], source=0, target=2, largest_cost=10.0)
LOW, HIGH = np.array([40.0]), np.array([60.0])  # orders
USUAL = np.arange(5.0, 40.0, 5.0)  # demands that both meet


@program(xi=1, chance=TARGET, support=(0, LARGEST), order=real(1, upper=LARGEST))
def served(xi: Any, order: Any) -> Any:
    """Stock of which a shortage of more than 5 is not feasible."""
    return minimise(order.sum()), pos(xi - order).sum() <= 5


def sales(z: Array, xi: Array, more: float) -> Seen:
    """What a shop sees: demand where it had enough, and else that it was sold out."""
    return np.minimum(z, xi), np.where(xi < z, xi, np.inf)


def nothing_where(hidden: Callable[[float], bool]) -> Callable[[Array, Array, float], Seen]:
    """No outcome at all, where that suits."""

    def sight(z: Array, xi: Array, more: float) -> Seen:
        none = np.full(len(xi), np.inf)
        return (-none, none) if hidden(more) else (xi, xi)

    return sight


def usual_or(beyond: float, chance: float) -> tuple[Array, Array]:
    """Demands, of which one beyond the order comes with a chance."""
    chances = np.append(np.full(len(USUAL), (1.0 - chance) / len(USUAL)), chance)
    return np.append(USUAL, beyond)[:, None], chances


def sold_out_and_as_much_missed_as_can_be(rng: np.random.Generator, stages: int) -> Censored:
    law = usual_or(LARGEST, 0.3)
    return played(SHOP, rng, stages, lambda t, ahead: (LOW, HIGH, *law), sales)


def sold_out_and_nothing_missed(rng: np.random.Generator, stages: int) -> Censored:
    law = usual_or(40.0, 0.3)
    return played(SHOP, rng, stages, lambda t, ahead: (LOW, HIGH, *law), sales)


def seldom_sold_out(rng: np.random.Generator, stages: int) -> Censored:
    """Once in a hundred stages, and then a hundred are asked for."""
    law = usual_or(LARGEST, 0.01)
    return played(SHOP, rng, stages, lambda t, ahead: (LOW, HIGH, *law), sales)


def what_is_missed_follows_luck(rng: np.random.Generator, stages: int) -> Censored:
    """The hidden demand is such as to be against whoever is ahead of what was expected."""

    def law(t: int, ahead: float) -> Law:
        return LOW, HIGH, *usual_or(LARGEST if ahead > 0 else 41.0, 0.5 if ahead < 0 else 0.1)

    return played(SHOP, rng, stages, law, sales)


def orders_alternate(rng: np.random.Generator, stages: int) -> Censored:
    """In blocks of 20 stages the one, then the other decision sells out."""
    law = usual_or(LARGEST, 0.4)

    def orders(t: int, ahead: float) -> Law:
        pair = (LOW, HIGH) if t // 20 % 2 else (HIGH, LOW)
        return *pair, *law

    return played(SHOP, rng, stages, orders, sales)


def an_order_that_follows_luck(rng: np.random.Generator, stages: int) -> Censored:
    """Who decides orders less after luck, and so sees less."""

    def law(t: int, ahead: float) -> Law:
        z = np.array([20.0 if ahead < 0 else 60.0])
        return z, LOW, *usual_or(80.0, 0.25)

    return played(SHOP, rng, stages, law, sales)


def one_of_two_products_is_hidden(rng: np.random.Generator, stages: int) -> Censored:
    """Of the second, nothing is ever seen; both decisions order as much of it, or not."""
    outcomes = np.array([[a, b] for a in (10.0, 50.0) for b in (0.0, LARGEST)])
    chances, orders = np.full(4, 0.25), np.array([[40.0, 50.0], [30.0, 50.0]])

    def law(t: int, ahead: float) -> Law:
        more = np.array([0.0, 10.0 * (t % 2)])
        return orders[0], orders[1] + more, outcomes, chances

    def sight(z: Array, xi: Array, more: float) -> Seen:
        low, high = sales(z, xi, more)
        return np.append(low[:1], -np.inf), np.append(high[:1], np.inf)

    return played(TWO, rng, stages, law, sight)


def _coin(t: int, ahead: float) -> Law:
    return LOW, HIGH, np.array([[20.0], [80.0]]), np.array([0.55, 0.45])


def never_seen_where_the_policy_won(rng: np.random.Generator, stages: int) -> Censored:
    return played(SHOP, rng, stages, _coin, nothing_where(lambda more: more < 0))


def never_seen_where_the_policy_lost(rng: np.random.Generator, stages: int) -> Censored:
    return played(SHOP, rng, stages, _coin, nothing_where(lambda more: more > 0))


def a_tenth_is_never_seen_of_those_it_lost(rng: np.random.Generator, stages: int) -> Censored:
    hide = nothing_where(lambda more: more > 0 and rng.random() < 0.1)
    return played(SHOP, rng, stages, _coin, hide)


def read_to_the_nearest_ten(rng: np.random.Generator, stages: int) -> Censored:
    """Demand is always at the end of what was read that is worst for the decision taken."""
    outcomes, chances = np.array([[19.0], [61.0], [30.0]]), np.array([0.2, 0.2, 0.6])

    def sight(z: Array, xi: Array, more: float) -> Seen:
        return (xi, xi + 10.0) if xi[0] < z[0] else (xi - 10.0, xi)

    return played(SHOP, rng, stages, lambda t, ahead: (LOW, HIGH, outcomes, chances), sight)


def what_was_missed_costs_nothing(rng: np.random.Generator, stages: int) -> Censored:
    """What was paid is always known; what a larger order would have sold is not."""
    law = usual_or(50.0, 0.3)
    return played(FREE, rng, stages, lambda t, ahead: (LOW, HIGH, *law), sales)


def shortages_are_hidden(rng: np.random.Generator, stages: int) -> Censored:
    """Of what was sold out, a shortage of more than 5 is not feasible: in 15 of 100 stages."""
    law = usual_or(50.0, 0.15)
    return played(served, rng, stages, lambda t, ahead: (LOW, HIGH, *law), sales)


def sold_out_and_no_shortage(rng: np.random.Generator, stages: int) -> Censored:
    law = usual_or(44.0, 0.15)
    return played(served, rng, stages, lambda t, ahead: (LOW, HIGH, *law), sales)


def only_roads_taken_are_seen(rng: np.random.Generator, stages: int) -> Censored:
    """Two edges, or one beside them that is as long as who compares would not have it."""
    taken, other = np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    outcomes = np.array([[1.0, 2.0, 9.0], [2.0, 4.0, 1.0], [3.0, 3.0, 4.0]])

    def law(t: int, ahead: float) -> Law:
        return taken, other, outcomes, np.array([0.5, 0.3, 0.2])

    def sight(z: Array, xi: Array, more: float) -> Seen:
        return np.where(z > 0, xi, -np.inf), np.where(z > 0, xi, np.inf)

    return played(PATHS, rng, stages, law, sight)


ADVERSARIES: dict[str, Callable[[np.random.Generator, int], Censored]] = {
    one.__name__.replace("_", " "): one
    for one in (
        sold_out_and_as_much_missed_as_can_be,
        sold_out_and_nothing_missed,
        seldom_sold_out,
        what_is_missed_follows_luck,
        orders_alternate,
        an_order_that_follows_luck,
        one_of_two_products_is_hidden,
        never_seen_where_the_policy_won,
        never_seen_where_the_policy_lost,
        a_tenth_is_never_seen_of_those_it_lost,
        read_to_the_nearest_ten,
        what_was_missed_costs_nothing,
        shortages_are_hidden,
        sold_out_and_no_shortage,
        only_roads_taken_are_seen,
    )
}
