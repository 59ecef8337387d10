"""Rewards of the worst feasible decision, for weights that are known: Assumption 3.1(a).

    min over z of c'z + q'(b - A z)  =  q'b - max over z of (q'A - c)'z,   A z <= b, z in its box,

is a knapsack again, whose values may be negative. Where no weight is, an item of negative value is
best left at its lower end, and the fast search does the rest.
"""

import numpy as np

from bocopt.core import Array
from bocopt.numeric.compiled import compiled
from bocopt.problems.knapsack.certain import Desk, desk_for, solve_certain
from bocopt.problems.knapsack.judge import KnapsackInstance, dot
from bocopt.problems.knapsack.reference import solve_readably

_LIMIT = 1_000_000  # nodes: some hundredths of a second; the same for all, so that all agree
_AT_ONCE = 256  # instances between two looks at whether we are interrupted


@compiled
def worst_reward(
    weights: Array,
    value: Array,
    capacity: Array,
    salvage: Array,
    lower: Array,
    upper: Array,
    otherwise: float,
    desk: Desk,
) -> float:
    """(r, d) weights -> the least reward of a feasible z; `otherwise` where there is none.

    Where the search stops at its limit, a proven lower bound, so that no feasible z earns less.
    """
    loss, top, z, fixed = np.empty(len(value)), upper.copy(), np.empty(len(value)), 0.0
    negative = weights.min() < 0.0
    for j in range(len(value)):
        loss[j] = dot(salvage, weights[:, j]) - value[j]
        if loss[j] <= 0.0 and not negative:
            fixed += loss[j] * lower[j]
            loss[j], top[j] = 0.0, lower[j]
    program = KnapsackInstance(
        weights=weights.reshape((1, len(capacity), len(value))),
        w=np.ones(1),
        value=loss,
        capacity=capacity,
        salvage=np.zeros(len(capacity)),
        lower=lower,
        upper=top,
        need=1.0,
        payments=np.zeros(1),
        pays=False,
    )
    if negative:
        answer = solve_readably(program, _LIMIT, z)
    else:
        answer = solve_certain(program, desk, _LIMIT, z)
    if answer.best == -np.inf:
        return otherwise
    if not answer.finished:
        return max(otherwise, dot(salvage, capacity) - answer.at_most - fixed)
    reward = dot(value, z)
    for r in range(len(capacity)):
        reward += salvage[r] * (capacity[r] - dot(weights[r], z))
    return reward


@compiled
def each_worst(
    weights: Array,
    value: Array,
    capacity: Array,
    salvage: Array,
    lower: Array,
    upper: Array,
    otherwise: float,
) -> Array:
    """(n, r, d) -> (n)."""
    desk, worst = desk_for(len(value), len(capacity)), np.empty(len(weights))
    for i in range(len(weights)):
        worst[i] = worst_reward(weights[i], value, capacity, salvage, lower, upper, otherwise, desk)
    return worst


def worst_rewards(
    weights: Array, constants: tuple[Array, Array, Array, Array, Array], otherwise: float
) -> Array:
    """(n, r, d) -> (n) as `worst_reward`, stopping for an interrupt now and then."""
    worst = np.empty(len(weights))
    for first in range(0, len(weights), _AT_ONCE):
        some = np.require(weights[first : first + _AT_ONCE], requirements=("C", "W"))
        worst[first : first + _AT_ONCE] = each_worst(some, *constants, otherwise)
    return worst
