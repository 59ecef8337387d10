"""Bounds of the cost below a node, by prices on the rows.

Let M be the scenarios that will be met, and e_s + c_s'y what a met one costs above one that is not.
For any prices l >= 0 on the uncertain rows and m >= 0 on the certain ones,

    cost >= steady + paid - l'SW - m'room
            + sum_j y_j (steady_j + m'G_j + min_M sum_M w_s (c_sj + l'A_sj)),                   (B)

SW being the weighted slack of the scenarios alive. The minimum over all M of enough weight is the
sum over the scenarios alive, less the largest terms as far as weight can be spared. It only changes
when a scenario is lost, so tables of these slopes are shared by many nodes.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.numeric.compiled import compiled, inlined
from bocopt.problems.knapsack.bounds import narrowed
from bocopt.problems.knapsack.judge import dot
from bocopt.problems.program.strategies.kernels.node import Nodes, SearchInstance


class Prices(NamedTuple):
    """k ways to price the rows, and what they make of a step of each item."""

    rows: Array  # (k, r) l
    certain: Array  # (k, m) m
    fixed: Array  # (k, d) steady + m'G
    term: Array  # (k, d, s) c_s + l'A_s
    falling: IntArray  # (k, d, s) the scenarios by falling term


class BoundTables(NamedTuple):
    """(B) at the node after j items, for each j."""

    used: IntArray  # (d + 1) the table that holds there: its own or an earlier one
    total: Array  # (d + 1, k, d) sum of w * term over the scenarios alive
    slope: Array  # (d + 1, k, d) what one step of an item adds
    leftover: Array  # (d + 1, k, d + 1) what all items from one on add at the least
    least: Array  # (d + 1, m) what they add to a certain row at the least
    lost: IntArray  # (s) scratch


@inlined
def most_spared(falling: IntArray, term: Array, alive: Array, spare: float) -> float:
    """The most that leaving out scenarios of this weight takes from the sum of w * term."""
    total, left = 0.0, spare
    for i in falling:
        if left <= 0.0 or term[i] <= 0.0:
            break
        if 0.0 < alive[i] <= spare:
            total += min(alive[i], left) * term[i]
            left -= alive[i]
    return total


@compiled
def set_slopes(p: SearchInstance, prices: Prices, n: Nodes, t: BoundTables, j: int) -> None:
    """Slopes and leftovers at the node after j items, from its totals."""
    spare, items = n.stage.weight[j] - p.need, len(p.reach)
    for k in range(len(prices.rows)):
        t.leftover[j, k, items] = 0.0
        for item in range(items - 1, j - 1, -1):
            out = most_spared(prices.falling[k, item], prices.term[k, item], n.stage.left[j], spare)
            slope = prices.fixed[k, item] + t.total[j, k, item] - out
            t.slope[j, k, item] = slope
            t.leftover[j, k, item] = t.leftover[j, k, item + 1] + min(slope, 0.0) * p.reach[item]
    t.used[j] = j


def tables_for(p: SearchInstance, prices: Prices, n: Nodes) -> BoundTables:
    """Room for all tables; the first is set but for its slopes."""
    many, items, scenarios = prices.term.shape
    t = BoundTables(
        used=np.zeros(items + 1, np.int64),
        total=np.empty((items + 1, many, items)),
        slope=np.empty((items + 1, many, items)),
        leftover=np.empty((items + 1, many, items + 1)),
        least=np.zeros((items + 1, len(p.room))),
        lost=np.empty(scenarios, np.int64),
    )
    t.total[0] = prices.term @ n.stage.left[0]
    least = np.minimum(p.certain, 0.0) * p.reach[:, None]
    t.least[:-1] = least[::-1].cumsum(axis=0)[::-1]
    return t


@compiled
def set_next(p: SearchInstance, prices: Prices, n: Nodes, t: BoundTables, j: int) -> None:
    """The table of the node after j items, where scenarios were lost."""
    before, after, many = n.stage.left[j - 1], n.stage.left[j], 0
    for i in range(len(p.w)):
        if before[i] > after[i]:
            t.lost[many] = i
            many += 1
    for k in range(len(prices.rows)):
        for item in range(j, len(p.reach)):
            term, gone = prices.term[k, item], 0.0
            for i in t.lost[:many]:
                gone += p.w[i] * term[i]
            t.total[j, k, item] = t.total[t.used[j - 1], k, item] - gone
    set_slopes(p, prices, n, t, j)


@inlined
def base(prices: Prices, n: Nodes, k: int, j: int) -> float:
    """(B) at the node after j items, without what is added."""
    priced = dot(prices.rows[k], n.stage.spare[j]) + dot(prices.certain[k], n.room[j])
    return float(n.steady[j] + n.paid[j] - priced)


@inlined
def bound(prices: Prices, n: Nodes, t: BoundTables, j: int) -> float:
    """No z below the node after j items costs less."""
    most = -np.inf
    for k in range(len(prices.rows)):
        most = max(most, base(prices, n, k, j) + t.leftover[t.used[j], k, j])
    return most


@inlined
def interval(
    p: SearchInstance, prices: Prices, n: Nodes, t: BoundTables, j: int, goal: float
) -> tuple[float, float]:
    """The steps of item j after which (B) may be under the goal and the certain rows may hold."""
    low, high = 0.0, p.reach[j]
    for row in range(len(p.room)):
        missing = t.least[j + 1, row] - n.room[j, row]
        low, high = narrowed(low, high, -p.certain[j, row], missing)
    for k in range(len(prices.rows)):
        missing = base(prices, n, k, j) + t.leftover[t.used[j], k, j + 1] - goal
        low, high = narrowed(low, high, -t.slope[t.used[j], k, j], missing)
    return low, high
