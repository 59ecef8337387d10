"""The nodes of a search over z, and the passes over the scenarios that lead from one to the next.

Items are the columns of z in the order of the search, counted from the lower end of the box: steps
y >= 0. At a node the first j items have their steps. Scenarios that are still met are alive: more
steps can only lose some.

A scenario t also counts as lost where no z under the goal can meet it. With its own prices l >= 0
and C_j what a step costs at the least, each z that meets t has

    cost >= steady + paid - l'slack_t + sum_j y_j (C_j + l'A_tj).                               (O)
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.numeric.compiled import compiled, reordered
from bocopt.problems.knapsack.chance import SearchDepth


class SearchInstance(NamedTuple):
    """A program with z >= 0 and non-negative uncertain rows; all arrays contiguous."""

    load: Array  # (d, r, s) the uncertain rows by item
    slack: Array  # (r, s) their limits, with a margin for rounding
    w: Array  # (s)
    need: float  # the weight that must be met, less a margin
    pays: bool  # whether a scenario that is not met has a cost of its own
    cost: Array  # (d, s) of one step in a scenario that is met; nothing if not `pays`
    excess: Array  # (s) what a met scenario costs at no step above one that is not met
    steady: Array  # (d) what one step costs in any case
    offset: float  # the cost at no step if no scenario is met
    certain: Array  # (d, m) the certain rows by item
    room: Array  # (m) their limits, with a margin
    reach: Array  # (d) the most steps


class Own(NamedTuple):
    """Each scenario's own prices, and what they make of the items."""

    priced: Array  # (s) its slack at no step, priced
    use: Array  # (d, s) what one step takes of it
    cost: Array  # (d) what one step adds to the cost at the least
    leftover: Array  # (d + 1, s) what all items from one on add to (O) at the least


class Nodes(NamedTuple):
    """The node after j items, for each j: what the passes write."""

    stage: SearchDepth  # slack and weight of the scenarios alive
    excess: Array  # (d + 1, s)
    own: Array  # (d + 1, s) minus the priced slack of each scenario
    room: Array  # (d + 1, m)
    steady: Array  # (d + 1) the cost so far that no scenario changes
    paid: Array  # (d + 1) what the scenarios alive add to it, if those that cost more are lost


@reordered
def pay(alive: Array, before: Array, cost: Array, steps: float, after: Array) -> float:
    """The excess after some steps of an item, and what the scenarios alive then add to the cost."""
    total = 0.0
    for i in range(len(after)):
        after[i] = before[i] + steps * cost[i]
        total += alive[i] * min(after[i], 0.0)
    return total


@reordered
def survive(n: Nodes, own: Own, j: int, steps: float, below: float) -> None:
    """Set the weights (s) of scenarios after some steps of item j: 0 if lost by a row or (O)."""
    stage = n.stage
    limit, left, after = stage.limit[j], stage.left[j], stage.left[j + 1]
    before, now, use, leftover = n.own[j], n.own[j + 1], own.use[j], own.leftover[j + 1]
    total = 0.0
    for i in range(len(limit)):
        now[i] = before[i] + steps * use[i]
        alive = limit[i] >= steps and now[i] + leftover[i] < below
        after[i] = left[i] if alive else 0.0
        total += after[i]
    stage.weight[j + 1] = total


@reordered
def load_rows(stage: SearchDepth, j: int, load: Array, steps: float) -> None:
    """The slack after some steps of item j."""
    after = stage.left[j + 1]
    for r in range(len(load)):
        slack, weight, slack_after = stage.slack[j, r], load[r], stage.slack[j + 1, r]
        spare = 0.0
        for i in range(len(after)):
            slack_after[i] = slack[i] - steps * weight[i]
            spare += after[i] * slack_after[i]
        stage.spare[j + 1, r] = spare


def nodes_for(p: SearchInstance, own: Own) -> Nodes:
    """Room for all nodes; the first, before any item, is set."""
    items, rows, scenarios = p.load.shape
    stage = SearchDepth(
        slack=np.empty((items + 1, rows, scenarios)),
        left=np.empty((items + 1, scenarios)),
        limit=np.empty((items, scenarios)),
        weight=np.empty(items + 1),
        spare=np.empty((items + 1, rows)),
    )
    n = Nodes(
        stage=stage,
        excess=np.empty((items + 1, scenarios)),
        own=np.empty((items + 1, scenarios)),
        room=np.empty((items + 1, len(p.room))),
        steady=np.empty(items + 1),
        paid=np.zeros(items + 1),
    )
    stage.slack[0] = p.slack
    stage.left[0] = np.where((p.slack >= 0.0).all(axis=0), p.w, 0.0)
    stage.spare[0], stage.weight[0] = p.slack @ stage.left[0], stage.left[0].sum()
    n.own[0], n.room[0], n.steady[0] = -own.priced, p.room, p.offset
    if p.pays:
        n.excess[0], n.paid[0] = p.excess, stage.left[0] @ np.minimum(p.excess, 0.0)
    return n


@compiled
def step(p: SearchInstance, own: Own, n: Nodes, j: int, steps: float, goal: float) -> bool:
    """Compute the node after j + 1 items from that after j; False if too few scenarios survive."""
    stage = n.stage
    survive(n, own, j, steps, goal - n.steady[j] - n.paid[j] - steps * own.cost[j])
    if stage.weight[j + 1] < p.need:
        return False
    load_rows(stage, j, p.load[j], steps)
    n.steady[j + 1], n.paid[j + 1] = n.steady[j] + p.steady[j] * steps, 0.0
    if p.pays:
        left = stage.left[j + 1]
        n.paid[j + 1] = pay(left, n.excess[j], p.cost[j], steps, n.excess[j + 1])
    for row in range(len(p.room)):
        n.room[j + 1, row] = n.room[j, row] - steps * p.certain[j, row]
    return True
