"""The 0-1 knapsack: what a choice is worth, and the dynamic program for whole weights."""

import numpy as np

from bocopt.core import Array
from bocopt.numeric.compiled import compiled, gufunc, inlined
from bocopt.problems.library.kernels.binary_search import BinaryInstance, search

LARGEST_TABLE = 200_000  # cells, up to which the dynamic program is quick


@gufunc("void(f8[:], f8[:], f8[:], f8, f8, f8[:])", "(d),(d),(d),(),()->()")
def cost(
    z: Array, value: Array, weight: Array, capacity: float, payment: float, out: Array
) -> None:
    """Compute the cost () of z (d): minus its value where it is feasible, else minus `payment`."""
    reward, load = 0.0, 0.0
    fits = True
    for j in range(len(z)):
        reward += value[j] * z[j]
        load += weight[j] * z[j]
        fits = fits and (z[j] == 0.0 or z[j] == 1.0)
    out[0] = 0.0 - reward if fits and load <= capacity else 0.0 - payment


@gufunc("void(f8[:], f8[:], f8, f8[:])", "(d),(d),()->()")
def violation(z: Array, weight: Array, capacity: float, out: Array) -> None:
    """The excess over the capacity, or how far z is from 0 and 1."""
    load, fraction = 0.0, 0.0
    for j in range(len(z)):
        load += weight[j] * z[j]
        fraction = max(fraction, min(abs(z[j]), abs(z[j] - 1.0)))
    out[0] = max(load - capacity, fraction) if fraction > 0.0 else load - capacity


@inlined
def is_repeated(scenarios: Array) -> bool:
    """Return whether all scenarios (s, d) are the same one."""
    for s in range(1, len(scenarios)):
        for j in range(scenarios.shape[1]):
            if scenarios[s, j] != scenarios[0, j]:
                return False
    return True


@inlined
def is_whole(weight: Array, capacity: float) -> bool:
    """Return whether the dynamic program applies: few and whole weights (d), none negative."""
    if (np.floor(capacity) + 1.0) * len(weight) > LARGEST_TABLE:
        return False
    for a in weight:
        if a < 0.0 or a != np.floor(a):
            return False
    return True


@compiled
def solve_whole(value: Array, weight: Array, capacity: float, z: Array) -> None:
    """Item by item, the best reward for each room: better[j, r] says whether item j is in it."""
    room = int(np.floor(capacity))
    best, taken = np.zeros(room + 1), np.zeros((len(z), room + 1), np.bool_)
    for j in range(len(z)):
        if value[j] > 0.0 and weight[j] <= room:
            need = int(weight[j])
            for r in range(room, need - 1, -1):
                with_it = best[r - need] + value[j]
                if with_it > best[r]:
                    best[r], taken[j, r] = with_it, True
    for j in range(len(z) - 1, -1, -1):
        z[j] = 1.0 if taken[j, room] else 0.0
        if taken[j, room]:
            room -= int(weight[j])


@compiled
def solve_each(
    value: Array,
    weight: Array,
    w: Array,
    capacity: float,
    alpha: float,
    payment: float,
    limit: int,
    z: Array,
    gap: Array,
) -> None:
    """Instances along the first axis of value and weight (n, s, d) and w (n, s).

    The gap is 0 where z is proved to be the best.
    """
    one = np.ones(1)
    for i in range(len(w)):
        if not (is_repeated(value[i]) and is_repeated(weight[i])):
            program = BinaryInstance(value[i], weight[i], w[i], capacity, alpha, payment)
            gap[i] = search(program, limit, z[i])
        elif is_whole(weight[i, 0], capacity):
            solve_whole(value[i, 0], weight[i, 0], capacity, z[i])
            gap[i] = 0.0
        else:
            program = BinaryInstance(value[i, :1], weight[i, :1], one, capacity, alpha, payment)
            gap[i] = search(program, limit, z[i])


@inlined
def fits_at_best(z: Array, weight: Array, capacity: float) -> bool:
    """Return whether a choice z (d) of 0 and 1 can be feasible, for weights from these on."""
    load = 0.0
    for j in range(len(z)):
        load += weight[j] * z[j]
        if z[j] != 0.0 and z[j] != 1.0:
            return False
    return load <= capacity


@inlined
def largest_worth(many: int, most: float) -> float:
    """Return the largest value of `many` items, each worth `most` or less."""
    return 0.0 if many == 0 else many * most


@gufunc("void(f8[:], f8[:], f8[:], b1, f8, f8, f8, f8[:], f8[:])", "(d),(d),(d),(),(),(),()->(),()")
def range_of_difference(
    z: Array,
    other: Array,
    weight: Array,
    certain: bool,
    capacity: float,
    most: float,
    payment: float,
    low: Array,
    high: Array,
) -> None:
    """Compute the ends of cost(z) - cost(other), for values from 0 to `most`.

    Weights are certain, or any from these on. There are four cases, of which of both are feasible:
    the ends are those of all cases that can be.
    """
    fits, other_fits = fits_at_best(z, weight, capacity), fits_at_best(other, weight, capacity)
    own, others, taken, other_taken = 0, 0, 0, 0
    for j in range(len(z)):
        own, others = own + (z[j] > other[j]), others + (other[j] > z[j])
        taken, other_taken = taken + (z[j] != 0.0), other_taken + (other[j] != 0.0)
    least, largest = np.inf, -np.inf
    if fits and other_fits:
        least, largest = -largest_worth(own, most), largest_worth(others, most)
    if fits and (not other_fits or (others > 0 and not certain)):
        least = min(least, payment - largest_worth(taken, most))
        largest = max(largest, payment)
    if other_fits and (not fits or (own > 0 and not certain)):
        least = min(least, -payment)
        largest = max(largest, largest_worth(other_taken, most) - payment)
    can_miss = not fits or (taken > 0 and not certain)
    if can_miss and (not other_fits or (other_taken > 0 and not certain)):
        least, largest = min(least, 0.0), max(largest, 0.0)
    low[0], high[0] = least, largest
