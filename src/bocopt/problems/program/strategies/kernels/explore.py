"""The search itself: depth-first, in turns, so that Python can judge, look at a clock and stop."""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray, IntArray
from bocopt.numeric.compiled import compiled
from bocopt.problems.knapsack.chance import highest_met, set_limits
from bocopt.problems.program.strategies.kernels.node import Nodes, Own, SearchInstance, step
from bocopt.problems.program.strategies.kernels.prices import (
    BoundTables,
    Prices,
    bound,
    interval,
    set_next,
    set_slopes,
)

FINISHED, FOUND, PAUSED = 0, 1, 2  # what ends a turn


class Place(NamedTuple):
    """State of the search between two turns."""

    steps: Array  # (d)
    untried: Array  # (d, 2) the lowest and the highest steps of an item that were not tried
    upward: BoolArray  # (d) whether few steps are tried first
    at: IntArray  # (2) the item, and 1 if its untried steps are known


def place_for(upward: BoolArray) -> Place:
    """Return the state before the first item is searched; `upward` is (d)."""
    items = len(upward)
    return Place(np.zeros(items), np.zeros((items, 2)), upward, np.zeros(2, np.int64))


@compiled
def start(p: SearchInstance, prices: Prices, n: Nodes, t: BoundTables) -> float:
    """The bound before the first item."""
    set_slopes(p, prices, n, t, 0)
    return bound(prices, n, t, 0)


@compiled
def promising(
    p: SearchInstance, prices: Prices, n: Nodes, t: BoundTables, j: int, goal: float
) -> bool:
    """Return whether (B) is under the goal after j items, by the old table, then by its own."""
    t.used[j] = t.used[j - 1]
    if bound(prices, n, t, j) >= goal:
        return False
    if n.stage.weight[j] == n.stage.weight[j - 1]:
        return True
    set_next(p, prices, n, t, j)
    return bound(prices, n, t, j) < goal


@compiled
def explore(
    p: SearchInstance,
    own: Own,
    prices: Prices,
    n: Nodes,
    t: BoundTables,
    place: Place,
    goal: float,
    turn: int,
) -> tuple[int, int]:
    """Search on for z under the goal, `turn` nodes at most: what ended the turn, and nodes."""
    items, nodes, j, opened = len(p.reach), 0, place.at[0], place.at[1] == 1
    ended = FINISHED
    while j >= 0:
        if not opened:  # which steps of item j are worth trying?
            low, high = interval(p, prices, n, t, j, goal)
            set_limits(n.stage, j, p.load[j], high)
            place.untried[j, 0] = low
            place.untried[j, 1] = highest_met(n.stage, j, low, high, p.need)
            opened = True
        low, high = place.untried[j, 0], place.untried[j, 1]
        if low > high:
            j -= 1
            continue
        if nodes == turn:
            ended = PAUSED
            break
        nodes += 1
        if place.upward[j]:
            place.steps[j], place.untried[j, 0] = low, low + 1.0
        else:
            place.steps[j], place.untried[j, 1] = high, high - 1.0
        if not step(p, own, n, j, place.steps[j], goal):
            continue
        if not promising(p, prices, n, t, j + 1, goal):
            continue
        if j + 1 == items:
            ended = FOUND
            break
        j, opened = j + 1, False
    place.at[0], place.at[1] = j, 1
    return ended, nodes
