"""Bounds on the difference of two knapsack decisions' costs, whatever the weights A >= 0 are.

There are four cases, of which of both are feasible; the ends are those of all cases that can be.
They are exact where capacities are positive, but that some are only approached: what is feasible
without slack is infeasible a little further.
"""

import numpy as np

from bocopt.core import Array
from bocopt.numeric.compiled import gufunc, inlined
from bocopt.problems.knapsack.judge import dot


@inlined
def is_allowed(z: Array, lower: Array, upper: Array) -> bool:
    """Return whether z (d) is an integer point of its box; any other is never feasible."""
    for j in range(len(z)):
        if z[j] < lower[j] or z[j] > upper[j] or z[j] != np.rint(z[j]):
            return False
    return True


@inlined
def ahead(z: Array, other: Array) -> float:
    """The largest a'(z - other) of any a >= 0 with a'z <= 1 and a'other <= 1.

    a'other is at least a'z times the least ratio other_j / z_j: all of a goes to that item.
    """
    most = 0.0
    for j in range(len(z)):
        if z[j] > 0.0:
            most = max(most, (z[j] - other[j]) / z[j])
    return most


@inlined
def alone(
    z: Array, value: Array, capacity: Array, salvage: Array, share: float
) -> tuple[float, float]:
    """The ends of what z costs where it is feasible, and a heavy row leaves no room for the other.

    Of the capacity of that row, z takes `share` at least. Where z takes nothing, it uses none.
    """
    whole, least = 0.0, np.inf
    for r in range(len(capacity)):
        whole += salvage[r] * capacity[r]
        least = min(least, salvage[r] * capacity[r])
    worth = dot(value, z)
    kept = 0.0 if z.max() > 0.0 else whole
    return share * least - worth - whole, 0.0 - worth - kept


@gufunc(
    "void(f8[:], f8[:], f8[:], f8[:], f8[:], f8[:], f8[:], f8, f8[:], f8[:])",
    "(d),(d),(d),(r),(r),(d),(d),()->(),()",
)
def range_of_difference(
    z: Array,
    other: Array,
    value: Array,
    capacity: Array,
    salvage: Array,
    lower: Array,
    upper: Array,
    unmet: float,
    low: Array,
    high: Array,
) -> None:
    """Compute the ends of cost(z) - cost(other); an infeasible decision costs `unmet`."""
    fits, other_fits = is_allowed(z, lower, upper), is_allowed(other, lower, upper)
    least, largest = np.inf, -np.inf
    more, less = ahead(z, other), ahead(other, z)
    if fits and other_fits:  # c'(other - z) + q'A (z - other)
        worth, whole = dot(value, other - z), dot(salvage, capacity)
        least, largest = worth - whole * less, worth + whole * more
    if fits and (not other_fits or less > 0.0):
        paid = alone(z, value, capacity, salvage, 1.0 - less if other_fits else 0.0)
        least, largest = min(least, paid[0] - unmet), max(largest, paid[1] - unmet)
    if other_fits and (not fits or more > 0.0):
        paid = alone(other, value, capacity, salvage, 1.0 - more if fits else 0.0)
        least, largest = min(least, unmet - paid[1]), max(largest, unmet - paid[0])
    if (not fits or z.max() > 0.0) and (not other_fits or other.max() > 0.0):
        least, largest = min(least, 0.0), max(largest, 0.0)
    low[0], high[0] = least, largest
