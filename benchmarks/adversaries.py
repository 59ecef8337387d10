"""Who tries to make a printed sentence untrue: each draws what happened, and what was expected."""

from collections.abc import Callable
from math import erf, sqrt
from typing import Any

import numpy as np
from games import Game
from numpy.typing import NDArray

from bocopt.core import Array

Adversary = Callable[[np.random.Generator, int], Game]


def ranged(
    paid: Array,
    expected: Array,
    own: tuple[float, float],
    apart: tuple[float, float],
    hidden: NDArray[np.bool_] | None = None,
    **more: Any,
) -> Game:
    """With the same ranges at all stages."""
    stages = len(paid)
    return Game(
        paid,
        np.broadcast_to(expected, paid.shape),
        np.tile(own, (stages, 1)),
        np.tile(apart, (stages, 1)),
        np.zeros(stages, bool) if hidden is None else hidden,
        **more,
    )


UNKNOWN = (-np.inf, np.inf)  # a range: there is no percent then


def _newsvendor(rng: np.random.Generator, stages: int) -> tuple[Array, Array, Array]:
    """Orders of 30 and 44 for a demand of 0 to 100 with mean 45: costs, expected ones, demand."""
    demand = np.clip(rng.normal(45, 18, stages), 0, 100)
    many = np.clip(np.random.default_rng(0).normal(45, 18, 10**6), 0, 100)[:, None]
    orders = np.array([30.0, 44.0])
    paid, all_paid = (
        np.maximum(orders - d, 0.0) + 0.8 * np.maximum(d - orders, 0.0)
        for d in (demand[:, None], many)
    )
    return paid, all_paid.mean(axis=0), demand


_APART = (-11.2, 14.0)  # of these two orders
_ENOUGH = 60.0  # of a stock: what is wanted beyond it is a decision that was not feasible
_SUFFICES = 0.5 * (1.0 + erf((_ENOUGH - 45.0) / 18.0 / sqrt(2.0)))


def high_demand_is_hidden(rng: np.random.Generator, stages: int) -> Game:
    paid, mean, demand = _newsvendor(rng, stages)
    met, more = demand <= _ENOUGH, {"feasible": _SUFFICES, "at_random": False}
    return ranged(paid, mean, UNKNOWN, _APART, ~met, met=met, **more)


def low_demand_is_hidden(rng: np.random.Generator, stages: int) -> Game:
    paid, mean, demand = _newsvendor(rng, stages)
    met, more = demand <= _ENOUGH, {"feasible": _SUFFICES, "at_random": False}
    return ranged(paid, mean, UNKNOWN, _APART, demand < 20, met=met, **more)


def what_speaks_for_now_is_hidden(rng: np.random.Generator, stages: int) -> Game:
    paid, mean, _ = _newsvendor(rng, stages)
    hidden = (paid[:, 1] > paid[:, 0]) & (rng.random(stages) < 0.5)
    return ranged(paid, mean, UNKNOWN, _APART, hidden, at_random=False)


def a_tenth_is_hidden_at_random(rng: np.random.Generator, stages: int) -> Game:
    paid, mean, _ = _newsvendor(rng, stages)
    return ranged(paid, mean, (0.0, 100.0), _APART, rng.random(stages) < 0.1)


def no_difference(rng: np.random.Generator, stages: int) -> Game:
    coins = rng.integers(0, 2, (stages, 2)).astype(float)
    return ranged(coins, np.array([0.5, 0.5]), UNKNOWN, (-1.0, 1.0))


def rare_loss(rng: np.random.Generator, stages: int) -> Game:
    """A hundredth of the stages cost 49 more, the others 0.5 less."""
    apart = np.where(rng.random(stages) < 0.01, 49.0, -0.5)
    paid = np.stack([np.full(stages, 50.0), 50.0 + apart], axis=-1)
    return ranged(paid, np.array([50.0, 49.995]), UNKNOWN, (-0.5, 49.0))


def it_alternates(rng: np.random.Generator, stages: int) -> Game:
    """Blocks of 20 in which one is better, then the other, with coins around them."""
    up = np.where(np.arange(stages) // 20 % 2 == 0, 0.8, 0.2)
    coins = (rng.random(stages) < up) * 2.0 - 1.0
    expected = np.stack([np.zeros(stages), 2.0 * up - 1.0], axis=-1)
    return ranged(np.stack([np.zeros(stages), coins], axis=-1), expected, UNKNOWN, (-1.0, 1.0))


def always_the_same(rng: np.random.Generator, stages: int) -> Game:
    """A sure difference, which no outcome changes."""
    paid = np.tile([3.0, 2.9], (stages, 1))
    return ranged(paid, paid[0], (3.0, 3.0), (2.9 - 3.0, 2.9 - 3.0))


def a_sure_cost_is_not(rng: np.random.Generator, stages: int) -> Game:
    """What was said to cost 3 for sure costs more now and then."""
    more = 0.5 * (rng.random(stages) < 0.1)
    paid = np.stack([3.0 + more, 3.0 + more], axis=-1)
    return ranged(paid, np.array([3.05, 3.05]), (3.0, 3.0), (-1.0, 1.0))


def it_follows_luck(rng: np.random.Generator, stages: int) -> Game:
    """Chances are such as to cross next: against whoever is ahead of what was expected."""
    apart, expected, ahead = np.zeros(stages), np.zeros(stages), 0.0
    for t in range(stages):
        chance = 0.5 if ahead < 0 else 0.02
        win = float(rng.random() < chance)
        apart[t], expected[t] = win - 1.0 * (1 - win) * chance / (1 - chance), 0.0
        ahead += apart[t]
    paid = np.stack([np.full(stages, 2.0), 2.0 + apart], axis=-1)
    return ranged(paid, np.array([2.0, 2.0]), UNKNOWN, (-1.0, 1.0))


def share_with_rare_payments(rng: np.random.Generator, stages: int) -> Game:
    """What is paid now is 2,000 once in a hundred stages, else 10; a tenth of it is saved."""
    paid = np.where(rng.random(stages) < 0.01, 2000.0, 10.0)
    mean = 0.01 * 2000.0 + 0.99 * 10.0
    both = np.stack([paid, 0.9 * paid], axis=-1)
    return ranged(both, np.array([mean, 0.9 * mean]), (0.0, 2000.0), (-200.0, 0.0))


def _profit(rng: np.random.Generator, stages: int, mean: float, more: float) -> Game:
    """`mean` is earned on average, give or take 100, and by the policy `more`, give or take 3."""
    common = np.clip(rng.normal(0, 100, stages), -300, 300)
    own = mean + common
    paid = -np.stack([own, own + more + rng.uniform(-3, 3, stages)], axis=-1)
    expected, ends = np.array([-mean, -mean - more]), (-mean - 300.0, 300.0 - mean)
    return ranged(paid, expected, ends, (-more - 3.0, 3.0 - more), earned=True)


def share_of_a_small_profit(rng: np.random.Generator, stages: int) -> Game:
    """25 is earned on average, give or take 100, and 1 more by the policy.

    A percent is told where it is sure that anything was earned at all: here in about a quarter of
    the runs, those in which chance made the profit look larger than it is. With 10 for 25 it was in
    7 runs of 250, too few to judge.
    """
    return _profit(rng, stages, 25.0, 1.0)


def share_of_a_profit(rng: np.random.Generator, stages: int) -> Game:
    """40 is earned on average, give or take 100, and 3 more by the policy.

    Most runs begin with an amount, and end with a percent: that anything is earned becomes known
    between the first look and the last. With 60 for 40 it nearly always was at the first one.
    """
    return _profit(rng, stages, 40.0, 3.0)


def share_with_heavy_tails(rng: np.random.Generator, stages: int) -> Game:
    """Costs are lognormal with sd 1.5 in logs, cut at 300; the policy saves .3, give or take .2."""
    law = np.minimum(np.exp(np.random.default_rng(0).normal(0.0, 1.5, 10**6)), 300.0)
    own = 1.0 + np.minimum(np.exp(rng.normal(0.0, 1.5, stages)), 300.0)
    apart = -0.3 + rng.uniform(-0.2, 0.2, stages)
    mean = 1.0 + law.mean()
    both = np.stack([own, own + apart], axis=-1)
    return ranged(both, np.array([mean, mean - 0.3]), (1.0, 301.0), (-0.5, -0.1))


def share_follows_luck(rng: np.random.Generator, stages: int) -> Game:
    """What is saved next depends on what was won."""
    paid, expected, ahead = np.zeros((stages, 2)), np.zeros((stages, 2)), 0.0
    for t in range(stages):
        chance = 0.3 if ahead > 0 else 0.1
        saved = float(rng.random() < chance)
        own = rng.choice([1.0, 3.0])
        paid[t], expected[t] = (own, own - saved), (2.0, 2.0 - chance)
        ahead += chance - saved
    return ranged(paid, expected, (1.0, 3.0), (-1.0, 0.0))


ADVERSARIES: dict[str, Adversary] = {
    one.__name__.replace("_", " "): one
    for one in (
        high_demand_is_hidden,
        low_demand_is_hidden,
        what_speaks_for_now_is_hidden,
        a_tenth_is_hidden_at_random,
        no_difference,
        rare_loss,
        it_alternates,
        always_the_same,
        a_sure_cost_is_not,
        it_follows_luck,
        share_with_rare_payments,
        share_of_a_small_profit,
        share_of_a_profit,
        share_with_heavy_tails,
        share_follows_luck,
    )
}
