"""The paper's big-M program for SciPy, with V_i <= c'z in place (E4), in a box of 100."""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from bocopt.core import Array
from bocopt.problems import Knapsack

UPPER, BIG_M = 100, 5000.0


def solve_big_m(problem: Knapsack, scenarios: Array, w: Array) -> Array:
    """The z of the mixed-integer program over z (d), u (s), V (s), l (s r)."""
    value, capacity, salvage = (
        np.asarray(part) for part in (problem.value, problem.capacity, problem.salvage)
    )
    items, resources, size = len(value), len(capacity), len(w)
    a = scenarios.reshape(size, resources, items)
    columns = items + 2 * size + size * resources
    rows, upper = [], []

    def add(limit: float, **parts: tuple[int | slice, float | Array]) -> None:
        row = np.zeros(columns)
        for where, coefficient in parts.values():
            row[where] = coefficient
        rows.append(row)
        upper.append(limit)

    z = slice(0, items)
    for i in range(size):
        u, v = items + i, items + size + i
        add(0.0, v=(v, 1.0), u=(u, -BIG_M))  # V <= M u
        add(BIG_M, z=(z, value), v=(v, -1.0), u=(u, BIG_M))  # V >= c'z - M (1 - u)
        add(0.0, v=(v, 1.0), z=(z, -value))  # V <= c'z: what the print lacks
        for r in range(resources):
            left = items + 2 * size + i * resources + r
            add(capacity[r] + BIG_M, z=(z, a[i, r]), u=(u, BIG_M))  # A z <= b + M (1 - u)
            add(capacity[r] + BIG_M, left=(left, 1.0), z=(z, a[i, r]), u=(u, BIG_M))
            add(BIG_M - capacity[r], left=(left, -1.0), z=(z, -a[i, r]), u=(u, BIG_M))
            add(0.0, left=(left, 1.0), u=(u, -BIG_M))  # l <= M u
    add(-problem.alpha, u=(slice(items, items + size), -w))
    cost = np.concatenate([np.zeros(items + size), -w, -np.outer(w, salvage).ravel()])
    result = milp(
        cost,
        integrality=np.repeat([1, 0], [items + size, columns - items - size]),
        bounds=Bounds(0, np.repeat([UPPER, 1, BIG_M], [items, size, columns - items - size])),
        constraints=LinearConstraint(np.array(rows), ub=np.array(upper)),
    )
    if result.x is None:
        raise RuntimeError(result.message)
    return np.rint(result.x[:items])


def solve_certain(problem: Knapsack, a: Array) -> Array:
    """The deterministic program by SciPy."""
    value, capacity, salvage = (
        np.asarray(part) for part in (problem.value, problem.capacity, problem.salvage)
    )
    result = milp(
        -(value - salvage @ a),
        integrality=np.ones(len(value), np.int64),
        bounds=Bounds(0, np.asarray(problem.upper)),
        constraints=LinearConstraint(a, ub=capacity),
    )
    if result.x is None:
        raise RuntimeError(result.message)
    return np.rint(result.x)
