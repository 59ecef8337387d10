"""Branch and bound for the 0-1 knapsack with uncertain values and weights.

Of all scenarios, those that are met have weight alpha or more. Their mean weight of an item is at
least the mean over the lightest alpha of all scenarios, a_j, so every choice that is allowed keeps

    sum a_j z_j <= capacity,

and earns at most sum v_j z_j, v_j the mean positive value. The bound of a node is the fractional
optimum of this one knapsack, with what scenarios that are lost for sure no longer earn. The search
is depth-first in the order of v_j / a_j and starts from the best of a few exchanges.

Rounding only ever makes bounds wider: what is kept has been judged in item order.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.numeric.compiled import compiled, inlined
from bocopt.problems.risk import WEIGHT_TOLERANCE

MARGIN = 1e-9  # relative, of rooms and bounds
ENOUGH = 1e-12  # relative: what is better by less is not looked for


class BinaryInstance(NamedTuple):
    """One instance."""

    value: Array  # (s, d)
    weight: Array  # (s, d)
    w: Array  # (s)
    capacity: float
    alpha: float
    payment: float  # the reward where the weight is above the capacity


class BinaryPlan(NamedTuple):
    """The implied knapsack, its items in search order."""

    item: IntArray  # (d)
    value: Array  # (d) v
    weight: Array  # (d) a
    lightest: Array  # (d + 1, s) the least that the items j.. can weigh in a scenario: <= 0
    margin: float  # of rooms


@inlined
def objective(a: BinaryInstance, z: Array) -> float:
    """The expected reward as the judge sees it; -inf if too few scenarios are met."""
    total, met = 0.0, 0.0
    for s in range(len(a.w)):
        reward, load = 0.0, 0.0
        for j in range(len(z)):
            reward += a.value[s, j] * z[j]
            load += a.weight[s, j] * z[j]
        if load <= a.capacity:
            met += a.w[s]
            total += a.w[s] * reward
        else:
            total += a.w[s] * a.payment
    return total if met >= a.alpha * a.w.sum() - WEIGHT_TOLERANCE else -np.inf


@inlined
def lightest_mean(weight: Array, w: Array, share: float) -> float:
    """The mean over the lightest scenarios, as many as have a weight of `share`."""
    order, left, total = np.argsort(weight), share, 0.0
    for s in order:
        part = min(w[s], left)
        total += part * weight[s]
        left -= part
    return total / share


@inlined
def plan_of(a: BinaryInstance) -> BinaryPlan:
    """Return the implied knapsack, its items in falling order of v_j / a_j."""
    scenarios, items = a.weight.shape
    share = a.alpha * a.w.sum() - WEIGHT_TOLERANCE
    value, weight, ratio = np.zeros(items), np.zeros(items), np.empty(items)
    for j in range(items):
        for s in range(scenarios):
            value[j] += a.w[s] * max(a.value[s, j], 0.0)
        if share > 0.0:
            weight[j] = lightest_mean(a.weight[:, j], a.w, share)
        ratio[j] = value[j] / weight[j] if weight[j] > 0.0 else np.inf
    item = np.argsort(-ratio)
    lightest = np.zeros((items + 1, scenarios))
    for j in range(items - 1, -1, -1):
        for s in range(scenarios):
            lightest[j, s] = lightest[j + 1, s] + min(a.weight[s, item[j]], 0.0)
    margin = MARGIN * (a.capacity + np.abs(a.weight).max())
    return BinaryPlan(item, value[item], weight[item], lightest, margin)


@inlined
def fractional(p: BinaryPlan, first: int, room: float) -> float:
    """The most that items first.. can add to the bound; -inf if nothing fits any more."""
    total = 0.0
    room += p.margin
    for j in range(first, len(p.item)):
        room -= min(p.weight[j], 0.0)
    if room < 0.0:
        return -np.inf
    for j in range(first, len(p.item)):
        if p.weight[j] > room:
            return float(total + room / p.weight[j] * p.value[j])
        total += p.value[j]
        room -= max(p.weight[j], 0.0)
    return total


@compiled
def exchange(a: BinaryInstance, z: Array, best: float) -> float:
    """Add an item, or put one in the place of another, as long as that is better."""
    improved = True
    while improved:
        improved = False
        for j in range(len(z)):
            if z[j] == 0.0:
                z[j] = 1.0
                for k in range(-1, len(z)):
                    out = k >= 0 and k != j and z[k] == 1.0
                    if k >= 0 and not out:
                        continue
                    if out:
                        z[k] = 0.0
                    found = objective(a, z)
                    if found > best + ENOUGH * abs(best):
                        best, improved = found, True
                        break
                    if out:
                        z[k] = 1.0
                else:
                    z[j] = 0.0
    return best


class SearchStack(NamedTuple):
    """State of the search before item j in search order is decided, for each j."""

    room: Array  # (d + 1, s)
    earned: Array  # (d + 1, s)
    implied: Array  # (d + 1) room of the implied knapsack
    at_most: Array  # (d + 1) what is earned, with the payment where that is more or sure
    state: IntArray  # (d + 1) 2: nothing tried yet, 1: taken, 0: left
    z: Array  # (d)


@inlined
def descend(a: BinaryInstance, p: BinaryPlan, stack: SearchStack, j: int, taken: float) -> bool:
    """Decide item j and write what is known then; False if too few scenarios can be met."""
    item, met, most, total = p.item[j], 0.0, 0.0, 0.0
    for s in range(len(a.w)):
        room = stack.room[j, s] - taken * a.weight[s, item]
        earned = stack.earned[j, s] + taken * a.value[s, item]
        stack.room[j + 1, s], stack.earned[j + 1, s] = room, earned
        total += a.w[s]
        if room - p.lightest[j + 1, s] >= -p.margin:
            met += a.w[s]
            most += a.w[s] * max(earned, a.payment)  # it may yet be lost
        else:
            most += a.w[s] * a.payment
    stack.z[item] = taken
    stack.implied[j + 1] = stack.implied[j] - taken * p.weight[j]
    stack.at_most[j + 1] = most
    stack.state[j + 1] = 2
    return bool(met >= a.alpha * total - 2.0 * WEIGHT_TOLERANCE)


@inlined
def bound_of(p: BinaryPlan, stack: SearchStack, known: int, first: int) -> float:
    """Return an upper bound on choices with items up to `known` fixed and items first.. free."""
    more = fractional(p, first, stack.implied[known])
    bound = stack.at_most[known] + more
    return float(bound + ENOUGH * (abs(stack.at_most[known]) + more))


@inlined
def open_bound(p: BinaryPlan, stack: SearchStack, j: int) -> float:
    """Return an upper bound on the choices that were not looked at, from node j up."""
    most = bound_of(p, stack, j, j)
    for k in range(j - 1, -1, -1):
        if stack.state[k] == 1:  # it was taken; what leaves it is still open
            most = max(most, bound_of(p, stack, k, k + 1))
    return float(most)


@compiled
def search(a: BinaryInstance, limit: int, best_z: Array) -> float:
    """The best choice, written to best_z, and how far it may be from the optimum."""
    scenarios, items = a.weight.shape
    p = plan_of(a)
    best_z[:] = 0.0
    best = objective(a, best_z)
    if scenarios > 1:  # for one, the bounds are so near that the search is done sooner
        best = exchange(a, best_z, best)
    stack = SearchStack(
        room=np.full((items + 1, scenarios), a.capacity),
        earned=np.zeros((items + 1, scenarios)),
        implied=np.full(items + 1, a.capacity),
        at_most=np.zeros(items + 1),
        state=np.full(items + 1, 2),
        z=np.zeros(items),
    )
    j, nodes = 0, 0
    while j >= 0:
        if stack.state[j] == 2:
            if nodes >= limit:
                return max(open_bound(p, stack, j) - best, 0.0)
            nodes += 1
            if j == items:
                found = objective(a, stack.z)
                if found > best:
                    best = found
                    best_z[:] = stack.z
                j -= 1
                continue
            if bound_of(p, stack, j, j) <= best + 2.0 * ENOUGH * abs(best):
                j -= 1
                continue
        stack.state[j] -= 1
        if stack.state[j] < 0:
            j -= 1
        elif descend(a, p, stack, j, float(stack.state[j])):
            j += 1
    return 0.0
