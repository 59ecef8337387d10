"""The fast search for a chance-constrained program with non-negative weights.

It answers exactly what the readable search answers, ties included. Depth-first over the items; at
each node the scenarios that are still met have weight W and, resource by resource, weighted slack
SW = sum_met w_i (b - A_i z). Adding to items j.. can only lose scenarios, so with M of the
readable search's relaxation (R), q the salvage and v_k = W c_k - q'M_k,

    objective <= W c'z + q'SW + max { v'y : M y <= SW, 0 <= y <= u },                          (U)

    and for a price p on one resource r the maximum is at most p SW_r + sum_k (v_k - p M_rk)^+ u_k.

What a scenario pays once it is lost is not counted where it is at most 0. Where it is not, it is at
most what any feasible z earns in that scenario; so (U) holds for those that are met and may be lost
below the node, and the payments of those that are lost already are added.

A node costs one pass over the scenarios, stored by resource so that the compiler vectorises it.
These passes sum in any order and only prune, with a margin for rounding; a z that is kept has been
judged in item and scenario order.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.numeric.compiled import compiled, inlined, reordered
from bocopt.problems.knapsack.bounds import narrowed, relaxed_weights
from bocopt.problems.knapsack.judge import KnapsackInstance, SearchResult, comes_before, dot

MARGIN = 1e-9  # relative safety of pruning: rounding, and weights that sum to 1 +- 1e-9


class SearchDepth(NamedTuple):
    """The node after j items, for each j: what the passes write."""

    slack: Array  # (d + 1, r, s)
    left: Array  # (d + 1, s) the weight of each scenario that is still met, 0 if it is lost
    limit: Array  # (d, s) how far each scenario lets item j go
    weight: Array  # (d + 1) W
    spare: Array  # (d + 1, r) SW


@reordered
def set_limits(s: SearchDepth, j: int, weights: Array, most: float) -> None:
    """Set how far each scenario (s) lets item j go: min over r of slack / weight, and `most`."""
    limit = s.limit[j]
    limit[:] = most
    for r in range(len(weights)):
        slack, weight = s.slack[j, r], weights[r]
        for i in range(len(limit)):
            if weight[i] * limit[i] > slack[i]:
                limit[i] = slack[i] / weight[i]


@reordered
def weight_at(s: SearchDepth, j: int, value: float) -> float:
    """The weight of the scenarios that let item j go so far."""
    limit, left = s.limit[j], s.left[j]
    total = 0.0
    for i in range(len(limit)):
        total += left[i] if limit[i] >= value else 0.0
    return total


@reordered
def take(s: SearchDepth, j: int, weights: Array, value: float) -> None:
    """Take `value` of item j: the next stage's slack, weights, W and SW."""
    limit, left, after = s.limit[j], s.left[j], s.left[j + 1]
    total = 0.0
    for i in range(len(limit)):
        after[i] = left[i] if limit[i] >= value else 0.0
        total += after[i]
    s.weight[j + 1] = total
    for r in range(len(weights)):
        slack, weight, slack_after = s.slack[j, r], weights[r], s.slack[j + 1, r]
        spare = 0.0
        for i in range(len(limit)):
            slack_after[i] = slack[i] - value * weight[i]
            spare += after[i] * slack_after[i]
        s.spare[j + 1, r] = spare


@compiled
def paid_by_lost(a: KnapsackInstance, s: SearchDepth, j: int) -> float:
    """Return the payments above 0 of scenarios lost after j items, or nearly, up to rounding."""
    total = 0.0
    for i in range(len(a.w)):
        lost = s.left[j, i] == 0.0
        for r in range(len(a.capacity)):
            lost = lost or s.slack[j, r, i] < 2.0 * MARGIN * a.capacity[r]
        total += a.w[i] * max(a.payments[i], 0.0) if lost else 0.0
    return total


class Cuts(NamedTuple):
    """(U) at one node with items first.. free: cut 0 has price 0, cut 1 + r a price on r."""

    gain: Array  # (d) v
    price: Array  # (1 + r)
    leftover: Array  # (1 + r)


@inlined
def set_cuts(
    c: Cuts,
    s: SearchDepth,
    j: int,
    first: int,
    m: Array,
    value: Array,
    salvage: Array,
    reach: Array,
) -> None:
    """The cuts at the node after j items, for the free items first..: best profit per unit of r."""
    items = len(value)
    for k in range(items):
        c.gain[k] = s.weight[j] * value[k] - dot(salvage, m[k])
    for cut in range(len(c.price)):
        price, leftover = 0.0, 0.0
        if cut > 0:
            for k in range(first, items):
                if m[k, cut - 1] > 0.0 and c.gain[k] > price * m[k, cut - 1]:
                    price = c.gain[k] / m[k, cut - 1]
        for k in range(first, items):
            used = m[k, cut - 1] if cut > 0 else 0.0
            leftover += max(c.gain[k] - price * used, 0.0) * reach[k]
        c.price[cut], c.leftover[cut] = price, leftover


@inlined
def earned_at(s: SearchDepth, j: int, worth: float, salvage: Array) -> float:
    """Return the reward W c'z + q'SW of the scenarios still met after j items."""
    return float(s.weight[j] * worth + dot(salvage, s.spare[j]))


@inlined
def interval(
    c: Cuts, s: SearchDepth, j: int, earned: float, m: Array, most: float, goal: float
) -> tuple[float, float]:
    """The values of item j for which no cut with items j + 1.. free stays under the goal."""
    low, high = 0.0, most
    for cut in range(len(c.price)):
        gain, missing = c.gain[j], goal - earned - c.leftover[cut]
        if cut > 0:
            gain -= c.price[cut] * m[j, cut - 1]
            missing -= c.price[cut] * s.spare[j, cut - 1]
        low, high = narrowed(low, high, gain, missing)
    return low, high


@inlined
def highest_met(s: SearchDepth, j: int, low: float, high: float, need: float) -> float:
    """The highest value of item j at which scenarios of enough weight are still met."""
    while low <= high:
        middle = np.floor((low + high) / 2.0)
        if weight_at(s, j, middle) >= need:
            low = middle + 1.0
        else:
            high = middle - 1.0
    return high


@compiled
def objective_of(a: KnapsackInstance, by_item: Array, z: Array) -> float:
    """The expected reward of z, -inf if it misses the chance constraint."""
    reward, load = np.full(len(a.w), dot(a.value, z)), np.empty(len(a.w))
    met = np.ones(len(a.w), np.bool_)
    for r in range(len(a.capacity)):
        load[:] = 0.0
        for j in range(len(z)):
            for i in range(len(load)):
                load[i] += by_item[j, r, i] * z[j]
        for i in range(len(load)):
            met[i] &= load[i] - a.capacity[r] <= 0.0
            reward[i] += a.salvage[r] * (a.capacity[r] - load[i])
    objective = weight = 0.0
    for i in range(len(reward)):
        weight += a.w[i] if met[i] else 0.0
        objective += a.w[i] * (reward[i] if met[i] else a.payments[i])
    return objective if weight >= a.need else -np.inf


@compiled
def begin(a: KnapsackInstance, by_item: Array, s: SearchDepth) -> None:
    """The node before the first item: all items at their lower end."""
    s.left[0], s.spare[0] = a.w, 0.0
    for r in range(len(a.capacity)):
        slack = s.slack[0, r]
        slack[:] = a.capacity[r] * (1.0 + MARGIN)
        for j in range(len(a.lower)):
            for i in range(len(slack)):
                slack[i] -= a.lower[j] * by_item[j, r, i]
        for i in range(len(slack)):
            if slack[i] < 0.0:
                s.left[0, i] = 0.0
    for r in range(len(a.capacity)):
        s.spare[0, r] = dot(s.left[0], s.slack[0, r])
    s.weight[0] = s.left[0].sum()


@inlined
def search(
    a: KnapsackInstance,
    by_item: Array,
    s: SearchDepth,
    m: Array,
    cuts: Cuts,
    reach: Array,
    margin: float,
    limit: int,
    best_z: Array,
) -> tuple[float, bool, int]:
    """Depth-first; `best_z` is the lower end at first. The best, if it surely is, and nodes."""
    items, j = len(a.lower), 0
    z, untried, paid = a.lower.copy(), np.empty((items, 2)), np.zeros(items + 1)
    if a.pays:
        paid[0] = paid_by_lost(a, s, 0)
    enough = a.need - MARGIN
    best, nodes, opened = objective_of(a, by_item, z), 0, False
    while j >= 0:
        if not opened:  # which values of item j are worth trying?
            set_cuts(cuts, s, j, j + 1, m, a.value, a.salvage, reach)
            earned = earned_at(s, j, dot(a.value, z), a.salvage) + paid[j]
            low, high = interval(cuts, s, j, earned, m, reach[j], best - margin)
            set_limits(s, j, by_item[j], high)
            untried[j, 0], untried[j, 1] = low, highest_met(s, j, low, high, enough)
            opened = True
        low, step = untried[j, 0], untried[j, 1]
        if low > step:
            z[j] = a.lower[j]
            j -= 1
            continue
        if nodes == limit:
            return best, False, nodes
        nodes += 1
        untried[j, 1] = step - 1.0
        z[j] = a.lower[j] + step
        take(s, j, by_item[j], step)
        set_cuts(cuts, s, j + 1, j + 1, m, a.value, a.salvage, reach)
        if a.pays:
            paid[j + 1] = paid_by_lost(a, s, j + 1)
        if bound(cuts, s, j + 1, dot(a.value, z), a.salvage) + paid[j + 1] < best - margin:
            continue
        if j + 1 < items:
            j, opened = j + 1, False
        else:
            objective = objective_of(a, by_item, z)
            if objective > best or (objective == best and comes_before(z, best_z)):
                best = objective
                best_z[:] = z
    return best, True, nodes


@inlined
def bound(c: Cuts, s: SearchDepth, j: int, worth: float, salvage: Array) -> float:
    """(U) at the node after j items."""
    most = c.leftover[0]
    for r in range(len(c.price) - 1):
        most = min(most, c.price[1 + r] * s.spare[j, r] + c.leftover[1 + r])
    return float(earned_at(s, j, worth, salvage) + most)


@compiled
def solve_chance(a: KnapsackInstance, limit: int, best_z: Array) -> SearchResult:
    """Solve an instance of any scenarios without negative weights; z (d) is written to `best_z`."""
    scenarios, resources, items = a.weights.shape
    by_item = np.empty((items, resources, scenarios))
    for j in range(items):
        for r in range(resources):
            for i in range(scenarios):
                by_item[j, r, i] = a.weights[i, r, j]
    s = SearchDepth(
        slack=np.empty((items + 1, resources, scenarios)),
        left=np.empty((items + 1, scenarios)),
        limit=np.empty((items, scenarios)),
        weight=np.empty(items + 1),
        spare=np.empty((items + 1, resources)),
    )
    begin(a, by_item, s)
    best_z[:] = a.lower
    if s.weight[0] < a.need - MARGIN:
        return SearchResult(-np.inf, -np.inf, True, 1)
    reach, margin = np.empty(items), MARGIN * dot(a.salvage, a.capacity)
    for j in range(items):
        most = a.upper[j] - a.lower[j]
        set_limits(s, 0, by_item[j], most)
        reach[j] = highest_met(s, 0, 0.0, most, a.need - MARGIN)
        margin += MARGIN * a.value[j] * (a.lower[j] + reach[j])
    m, _ = relaxed_weights(a.weights, a.w, a.w.sum() - a.need + MARGIN)
    cuts = Cuts(np.empty(items), np.empty(1 + resources), np.empty(1 + resources))
    set_cuts(cuts, s, 0, 0, m, a.value, a.salvage, reach)
    at_most = bound(cuts, s, 0, dot(a.value, a.lower), a.salvage) + margin
    if a.pays:
        at_most += paid_by_lost(a, s, 0)
    best, finished, nodes = search(a, by_item, s, m, cuts, reach, margin, limit, best_z)
    return SearchResult(best, at_most, finished, nodes)
