"""The one judge of a knapsack decision: what it violates and what it costs, in float64.

Sums run over the items in their order. Every kernel judges what it returns by exactly these sums,
so that `solve`, `cost` and `violation` never disagree, not even on ties.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.numeric.compiled import compiled, gufunc, inlined


class KnapsackInstance(NamedTuple):
    """One instance, as every search reads it; all arrays contiguous."""

    weights: Array  # (s, r, d) A_i
    w: Array  # (s)
    value: Array  # (d) c
    capacity: Array  # (r) b
    salvage: Array  # (r) q
    lower: Array  # (d)
    upper: Array  # (d)
    need: float  # the weight of scenarios that must be met
    payments: Array  # (s) the reward where one is not met
    pays: bool  # whether any of them is above 0: at most the worst reward of what is feasible


class SearchResult(NamedTuple):
    """Result of a search, beside the best z."""

    best: float  # the objective, -inf if nothing is feasible
    at_most: float  # an upper bound on it
    finished: bool  # whether it is surely the best
    nodes: int  # that were looked at


@inlined
def dot(left: Array, right: Array) -> float:
    """Left to right: the order of the sum is part of the tie rule."""
    total = 0.0
    for k in range(len(left)):
        total += left[k] * right[k]
    return total


@compiled
def violation_of(weights: Array, z: Array, capacity: Array, lower: Array, upper: Array) -> float:
    """The largest excess over a capacity, or how far z is from an integer point of its box."""
    worst = -np.inf
    for r in range(len(capacity)):
        worst = max(worst, dot(weights[r], z) - capacity[r])
    for j in range(len(z)):
        outside = max(lower[j] - z[j], z[j] - upper[j], abs(z[j] - np.rint(z[j])))
        if outside > 0.0:
            worst = max(worst, outside)
    return worst


@inlined
def comes_before(z: Array, other: Array) -> bool:
    """The tie rule: lexicographically smaller."""
    for j in range(len(z)):
        if z[j] != other[j]:
            return bool(z[j] < other[j])
    return False


@gufunc("void(f8[:,:], f8[:], f8[:], f8[:], f8[:], f8[:])", "(r,d),(d),(r),(d),(d)->()")
def violation(
    weights: Array, z: Array, capacity: Array, lower: Array, upper: Array, out: Array
) -> None:
    """Compute the violation () of z (d) for weights (r, d); see `violation_of`."""
    out[0] = violation_of(weights, z, capacity, lower, upper)


@gufunc(
    "void(f8[:,:], f8[:], f8[:], f8[:], f8[:], f8[:], f8[:], f8, f8[:])",
    "(r,d),(d),(d),(r),(r),(d),(d),()->()",
)
def cost(
    weights: Array,
    z: Array,
    value: Array,
    capacity: Array,
    salvage: Array,
    lower: Array,
    upper: Array,
    payment: float,
    out: Array,
) -> None:
    """Compute the cost () of z (d) for weights (r, d); an infeasible z earns `payment`."""
    reward = payment
    if violation_of(weights, z, capacity, lower, upper) <= 0.0:
        reward = dot(value, z)
        for r in range(len(capacity)):
            reward += salvage[r] * (capacity[r] - dot(weights[r], z))
    out[0] = 0.0 - reward


@gufunc(
    "void(f8[:], f8[:], f8[:], f8[:], f8, f8, f8[:], f8[:])",
    "(d),(d),(r),(r),(),()->(),()",
)
def ends(
    z: Array,
    value: Array,
    capacity: Array,
    salvage: Array,
    least: float,
    unmet: float,
    low: Array,
    high: Array,
) -> None:
    """Compute the ends of the cost of z (d): of its best reward, `least` or more, and `unmet`."""
    low[0] = 0.0 - (max(dot(z, value), least) + dot(salvage, capacity))
    high[0] = unmet


@gufunc("void(f8[:], b1[:])", "(m)->()")
def possible(xi: Array, out: Array) -> None:
    """No weight is negative."""
    out[0] = xi.min() >= 0.0
