"""The readable exact search for knapsacks under scenarios.

    max over z   sum_i w_i (c'z + q'(b - A_i z) if A_i z <= b else payment_i)
    subject to   sum_i w_i 1[A_i z <= b] >= alpha,   lower <= z <= upper, z integer

Depth-first over the items in their order. Scenarios are judged exactly as `violation` judges them:
loads are float64 sums in item order, the objective a sum in scenario order, and among equal
objectives the lexicographically smallest z wins. What keeps the search short is one relaxation:

A feasible z misses scenarios of total weight at most `spare` = 1 - alpha, so for the scenarios S
that it meets, sum_S w_i A_i z >= M z with M = sum_i w_i A_i - spare * max_i A_i^+, the maximum over
the scenarios light enough to be missed (a single scenario is not, and M = A). Hence

    objective <= c'z + q'(b - M z)   and   M z <= b,                                        (R)

a deterministic knapsack, whose Lagrange bounds are the *cuts* that prune the search. Payments above
0 add at most what scenarios of weight `spare` pay. Needs b, q, lower >= 0, and c >= 0 unless there
is only one scenario; weights A of either sign, as long as nothing overflows.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray, IntArray
from bocopt.numeric.compiled import compiled, inlined
from bocopt.problems.knapsack.bounds import narrowed, relaxed_weights
from bocopt.problems.knapsack.judge import KnapsackInstance, SearchResult, comes_before, dot

ROUNDING = 1e-9  # relative safety of all pruning: float64 rounding, weights that sum to 1 +- 1e-9
HIGHEST_PRICE = 1e9  # a cut at a higher price says nothing and only rounds badly


class Search(NamedTuple):
    """One instance, its cuts, and the memory that the search writes to."""

    program: KnapsackInstance
    spare: float  # the weight that may be missed
    constant: Array  # (d + 1, cuts): with items j.. free,
    slope: Array  # (d + 1, cuts, d): objective <= constant[j, l] + sum_{k<j} slope[j, l, k] z_k
    least: Array  # (d + 1, s, r) the least load that items j.. can add
    monotone: BoolArray  # (d) whether the item has no negative weight
    upward: BoolArray  # (d) whether small values of the item are tried first
    z: Array  # (d) the current node
    untried: Array  # (d, 2) first and last value of each item still to try
    loads: Array  # (d + 1, s, r) of items 0..j-1
    best_z: Array  # (d)
    best: Array  # (1)
    nodes: IntArray  # (1)
    limit: int


@compiled
def best_price(m: Array, profit: Array, r: int, j: int) -> float:
    """The highest profit that a free item (j..) draws from one unit of resource r."""
    price = 0.0
    for k in range(j, len(profit)):
        if profit[k] > 0.0 and m[k, r] > 0.0:
            price = max(price, profit[k] / m[k, r])
    return min(price, HIGHEST_PRICE)


@compiled
def cuts_of(a: KnapsackInstance, m: Array, magnitude: Array) -> tuple[Array, Array]:
    """Cuts on the objective for each number j of fixed items.

    For any prices p >= 0, (R) gives  objective <= (q + p)'b + (c - (q + p)'M) z.  Cut 0 has p = 0;
    cut 1 + r puts on resource r the best price of the free items. The free items stand at the end
    of their range that is best for the objective.
    """
    items, resources = m.shape
    constant = np.zeros((items + 1, 1 + resources))
    slope = np.zeros((items + 1, 1 + resources, items))
    profit = np.zeros(items)
    for k in range(items):
        profit[k] = a.value[k] - dot(a.salvage, m[k])
    for j in range(items + 1):
        for cut in range(1 + resources):
            price = a.salvage.copy()
            if cut > 0:
                price[cut - 1] += best_price(m, profit, cut - 1, j)
            constant[j, cut] = rounding = dot(price, a.capacity)
            for k in range(items):
                gain = slope[j, cut, k] = a.value[k] - dot(price, m[k])
                rounding += (abs(a.value[k]) + dot(price, magnitude[k])) * a.upper[k]
                if k >= j:
                    constant[j, cut] += max(gain * a.lower[k], gain * a.upper[k])
            constant[j, cut] += ROUNDING * rounding
    return constant, slope


@inlined
def bound(p: Search, cut: int, free: int, fixed: int) -> float:
    """The cut for items `free`.. free, summed over the first `fixed` of the others."""
    total = float(p.constant[free, cut])
    for k in range(fixed):
        total += p.slope[free, cut, k] * p.z[k]
    return total


@inlined
def promising(p: Search, free: int) -> bool:
    """Can the items fixed so far still reach the best objective known?"""
    for cut in range(p.constant.shape[1]):
        if bound(p, cut, free, free) < p.best[0]:
            return False
    return True


@compiled
def survives(p: Search, j: int) -> bool:
    """Load item j; can scenarios of enough weight still be met, at the least load to come?"""
    scenarios, resources, _ = p.program.weights.shape
    lost = 0.0
    for i in range(scenarios):
        met = True
        for r in range(resources):
            load = p.loads[j, i, r] + p.program.weights[i, r, j] * p.z[j]
            p.loads[j + 1, i, r] = load
            met = met and load + p.least[j + 1, i, r] <= p.program.capacity[r]
        if not met:
            lost += p.program.w[i]
            if lost > p.spare:
                return False
    return True


@compiled
def evaluate(p: Search) -> None:
    """Judge a complete z exactly; keep it if it is better than the best, or equal and smaller."""
    items = len(p.z)
    worth = dot(p.program.value, p.z)
    objective = weight = 0.0
    for i in range(len(p.program.w)):
        reward, met = worth, True
        for r in range(len(p.program.capacity)):
            load = p.loads[items, i, r]
            met = met and load - p.program.capacity[r] <= 0.0
            reward += p.program.salvage[r] * (p.program.capacity[r] - load)
        if met:
            weight += p.program.w[i]
        objective += p.program.w[i] * (reward if met else p.program.payments[i])
    if weight >= p.program.need and objective >= p.best[0]:
        if objective > p.best[0] or comes_before(p.z, p.best_z):
            p.best[0] = objective
            p.best_z[:] = p.z


@compiled
def highest_surviving(p: Search, j: int, low: float, high: float) -> float:
    """The highest value of item j that survives; only for an item without negative weights."""
    while low <= high:
        p.z[j] = np.floor((low + high) / 2.0)
        if survives(p, j):
            low = p.z[j] + 1.0
        else:
            high = p.z[j] - 1.0
    return high


@compiled
def open_item(p: Search, j: int) -> None:
    """Set the range of values to try for item j, given items 0..j-1."""
    low, high = p.program.lower[j], p.program.upper[j]
    for cut in range(p.constant.shape[1]):  # linear in z_j: the interval is computed, not scanned
        missing = p.best[0] - bound(p, cut, j + 1, j)
        low, high = narrowed(low, high, p.slope[j + 1, cut, j], missing)
    if p.monotone[j]:
        high = highest_surviving(p, j, low, high)
    p.untried[j, 0], p.untried[j, 1] = low, high


@compiled
def search(p: Search) -> bool:
    """Depth-first over all items; False if the node limit stopped it."""
    items, j = len(p.z), 0
    open_item(p, 0)
    while j >= 0:
        low, high = p.untried[j]
        if low > high:  # every value of item j has been tried: back to the item before it
            j -= 1
            continue
        if p.nodes[0] == p.limit:
            return False
        p.nodes[0] += 1
        if p.upward[j]:
            p.z[j], p.untried[j, 0] = low, low + 1.0
        else:
            p.z[j], p.untried[j, 1] = high, high - 1.0
        if promising(p, j + 1) and survives(p, j):
            if j + 1 == items:
                evaluate(p)
            else:
                j += 1
                open_item(p, j)
    return True


@compiled
def least_loads(a: KnapsackInstance) -> tuple[Array, BoolArray]:
    """The least load that items j.. can add, less a hair for rounding, and who is monotone.

    Where nothing need be added it is exactly 0: sums of non-negative float64 never decrease.
    """
    scenarios, resources, items = a.weights.shape
    least, monotone = np.zeros((items + 1, scenarios, resources)), np.ones(items, np.bool_)
    for i in range(scenarios):
        for r in range(resources):
            hair = 0.0
            for j in range(items):
                hair += ROUNDING * abs(a.weights[i, r, j]) * a.upper[j]
            total, nothing = 0.0, True
            for j in range(items - 1, -1, -1):
                weight = a.weights[i, r, j]
                monotone[j] = monotone[j] and weight >= 0.0
                total += weight * (a.upper[j] if weight < 0.0 else a.lower[j])
                nothing = nothing and weight >= 0.0 and weight * a.lower[j] == 0.0
                least[j, i, r] = 0.0 if nothing else total - hair
    return least, monotone


@inlined
def most_paid(a: KnapsackInstance, spare: float) -> float:
    """Return the most that scenarios of weight `spare` pay, if above 0."""
    total = highest = 0.0
    for i in range(len(a.w)):
        total += a.w[i] * max(a.payments[i], 0.0)
        highest = max(highest, a.payments[i])
    return min(total, spare * highest)


@compiled
def solve_readably(a: KnapsackInstance, limit: int, best_z: Array) -> SearchResult:
    """Solve an instance with weights of either sign; z (d) is written to `best_z`."""
    scenarios, resources, items = a.weights.shape
    spare = a.w.sum() - a.need + ROUNDING
    m, magnitude = relaxed_weights(a.weights, a.w, spare)
    constant, slope = cuts_of(a, m, magnitude)
    constant += most_paid(a, spare)
    least, monotone = least_loads(a)
    best_z[:] = a.lower
    p = Search(
        program=a,
        spare=spare,
        constant=constant,
        slope=slope,
        least=least,
        monotone=monotone,
        upward=slope[0, 0] <= 0.0,
        z=np.zeros(items),
        untried=np.zeros((items, 2)),
        loads=np.zeros((items + 1, scenarios, resources)),
        best_z=best_z,
        best=np.full(1, -np.inf),
        nodes=np.zeros(1, np.int64),
        limit=limit,
    )
    p.z[:] = a.lower
    met = True
    for j in range(items):
        met = met and survives(p, j)
    if met:
        evaluate(p)  # the lower end, so that a node limit always has an answer if it is feasible
    finished = search(p)
    return SearchResult(p.best[0], constant[0].min(), finished, p.nodes[0])
