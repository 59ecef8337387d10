"""Shortest paths by relaxing edges in a fixed order: Bellman and Ford's method.

Where the edges stand in topological order, one sweep over them is a dynamic program. Otherwise
sweeps go on until nothing changes; if it never does, there is a cycle of negative cost.
"""

import numpy as np

from bocopt.core import Array, BoolArray, IntArray
from bocopt.numeric.compiled import compiled, gufunc, inlined


@inlined
def sweep(cost: Array, order: IntArray, ends: IntArray, distance: Array, via: IntArray) -> bool:
    """Take every edge once, in order, if it shortens the way to its head; whether one did."""
    changed = False
    for edge in order:
        tail, head = ends[edge, 0], ends[edge, 1]
        there = distance[tail] + cost[edge]
        if there < distance[head]:
            distance[head], via[head], changed = there, edge, True
    return changed


@inlined
def trace(ends: IntArray, source: int, target: int, via: IntArray, z: Array) -> bool:
    """Mark the edges of the path to the target; False if they go round in a circle."""
    z[:] = 0.0
    vertex = target
    for _ in range(len(via)):
        if vertex == source:
            return True
        z[via[vertex]] = 1.0
        vertex = ends[via[vertex], 0]
    return False


@inlined
def settle(cost: Array, order: IntArray, ends: IntArray, distance: Array, via: IntArray) -> bool:
    """Sweep until nothing changes; False if it never would."""
    for _ in range(len(distance) + 1):
        if not sweep(cost, order, ends, distance, via):
            return True
    return False


@inlined
def without_negative_cycle(
    cost: Array, order: IntArray, ends: IntArray, distance: Array, via: IntArray
) -> bool:
    """Anywhere: such a cycle beside the path is one more way to flow."""
    if cost.min() >= 0.0:
        return True
    distance[:] = 0.0
    return settle(cost, order, ends, distance, via)


@inlined
def shortest(
    cost: Array,
    order: IntArray,
    ends: IntArray,
    source: int,
    target: int,
    acyclic: bool,
    distance: Array,
    via: IntArray,
    z: Array,
) -> bool:
    """The shortest path, written to z; False if a cycle of negative cost is in the way."""
    distance[:] = np.inf
    distance[source] = 0.0
    if acyclic:
        sweep(cost, order, ends, distance, via)
    elif not settle(cost, order, ends, distance, via):
        return False
    return trace(ends, source, target, via, z)


@compiled
def solve_each(
    costs: Array,
    order: IntArray,
    ends: IntArray,
    source: int,
    target: int,
    vertices: int,
    acyclic: bool,
    z: Array,
    proved: BoolArray,
) -> None:
    """Instances along the first axis of the costs (n, e).

    Where there is a negative cycle, z is the shortest path with negative costs set to zero, and is
    not proved to be the best.
    """
    distance, via = np.empty(vertices), np.empty(vertices, np.int64)
    for i in range(len(costs)):
        c = costs[i]
        proved[i] = (acyclic or without_negative_cycle(c, order, ends, distance, via)) and shortest(
            c, order, ends, source, target, acyclic, distance, via, z[i]
        )
        if not proved[i]:
            c = np.maximum(c, 0.0)
            shortest(c, order, ends, source, target, acyclic, distance, via, z[i])


@gufunc("void(f8[:], f8[:], f8[:])", "(e),(e)->()")
def cost(z: Array, xi: Array, out: Array) -> None:
    """In the order of the edges."""
    total = 0.0
    for edge in range(len(z)):
        total += z[edge] * xi[edge]
    out[0] = total


@gufunc("void(f8[:], i8[:,:], i8, i8, f8[:], f8[:])", "(e),(e,t),(),(),(v)->()")
def violation(z: Array, ends: IntArray, source: int, target: int, start: Array, out: Array) -> None:
    """Compute the distance of z (e) from 0 and 1, or from a flow of one unit, source to target."""
    balance = start.copy()
    balance[source] -= 1.0
    balance[target] += 1.0
    worst = 0.0
    for edge in range(len(z)):
        worst = max(worst, min(abs(z[edge]), abs(z[edge] - 1.0)))
        balance[ends[edge, 0]] += z[edge]
        balance[ends[edge, 1]] -= z[edge]
    for vertex in range(len(balance)):
        worst = max(worst, abs(balance[vertex]))
    out[0] = worst
