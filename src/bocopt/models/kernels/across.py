"""A forest whose leaves keep quantiles: grown on some rows for each tree, filled by all of them."""

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.models.kernels.trees import GrowingData, TreeTables, grow, leaf_of, scattered, uniform
from bocopt.numeric.compiled import compiled, gufunc, inlined

SMALLEST = 2  # rows that are looked at for a tree, at least


@inlined
def chosen_rows(key: np.uint64, share: float, rows: IntArray) -> int:
    """A random share of the rows, in their order, at the front of `rows`; how many these are."""
    n, seen = len(rows), 0
    for i in range(n):
        rows[seen] = i
        seen += uniform(key, i) < share or n - i <= SMALLEST - seen
    return seen


@compiled
def plant(
    x: Array,
    target: Array,
    seeds: IntArray,
    share: float,
    smallest: float,
    nodes: Array,
    mean: Array,
) -> tuple[int, int]:
    """One tree a seed, each from a random share of the rows x (n, k), to tell the target (n, m).

    How many nodes and leaves are in use; their tables have room for more.
    """
    n, trees = len(x), len(seeds)
    past = GrowingData(x, np.ones(n), target)
    rows, ends = np.empty(n, np.int64), np.empty(n, np.int64)
    used, filled = trees, 0
    for t in range(trees):
        key = scattered(np.uint64(seeds[t]), 0)
        seen = chosen_rows(key, share, rows)
        tables = TreeTables(nodes, mean)
        used, filled = grow(past, rows[:seen], smallest, key, t, used, filled, tables, ends)
    return used, filled


@compiled
def fill(nodes: Array, trees: int, x: Array, value: Array, levels: Array, quantiles: Array) -> None:
    """The quantiles (leaves, L) of the values (n), which rise, of the rows x (n, k) in each leaf.

    The i-th least of n has the level (i - 0.5) / n. What lies between two is rounded down by some
    trees and up by others, so that all together are right. A leaf that none of the rows ends in
    keeps what it had.
    """
    n, leaves = len(x), len(quantiles)
    ends, sorted_values = np.empty(n, np.int64), np.empty(n)
    for t in range(trees):
        begins, apart = np.zeros(leaves + 1, np.int64), (t + 0.5) / trees
        for i in range(n):
            ends[i] = leaf_of(nodes, t, x[i])
            begins[ends[i] + 1] += 1
        for leaf in range(leaves):
            begins[leaf + 1] += begins[leaf]
        at = begins[:leaves].copy()
        for i in range(n):
            sorted_values[at[ends[i]]] = value[i]
            at[ends[i]] += 1
        for leaf in range(leaves):
            count = begins[leaf + 1] - begins[leaf]
            for level in range(len(levels)):
                if count > 0:
                    place = int(max(levels[level] * count - 0.5 + apart, 0.0))
                    place = begins[leaf] + min(place, count - 1)
                    quantiles[leaf, level] = sorted_values[place]


@inlined
def merge(values: Array, length: int, other: Array) -> None:
    """Sort values that stand in sorted runs of this length; `other` is room for as many."""
    total = len(values)
    while length < total:
        for start in range(0, total, 2 * length):
            i, middle = start, min(start + length, total)
            j, end = middle, min(start + 2 * length, total)
            place = start
            while i < middle and j < end:  # without a branch inside, as it would be a coin's toss
                one, two = values[i], values[j]
                first = one <= two
                other[place] = one if first else two
                i, j, place = i + first, j + (not first), place + 1
            for rest in range(i, middle):
                other[place + rest - i] = values[rest]
            for rest in range(j, end):
                other[place + rest - j] = values[rest]
        values[:] = other
        length *= 2


@gufunc("void(f8[:], f8[:], f8[:], f8[:], f8[:])", "(k),(k),(q),(k)->()")
def line(centre: Array, width: Array, coefficients: Array, x: Array, found: Array) -> None:
    """The regression at x (k), with coefficients (1 + k) of (1, x) standardised."""
    found[0] = coefficients[0]
    for j in range(len(x)):
        found[0] += coefficients[1 + j] * ((x[j] - centre[j]) / width[j])


@gufunc("void(f8[:,:], f8[:,:], f8[:], i8, f8[:])", "(c,s),(l,q),(k),()->(q)")
def pooled(nodes: Array, quantiles: Array, x: Array, trees: int, found: Array) -> None:
    """The quantiles (L) of what the leaves of x (k) hold, all trees together."""
    levels = len(found)
    held, other = np.empty(trees * levels), np.empty(trees * levels)
    for t in range(trees):
        leaf = leaf_of(nodes, t, x)
        for level in range(levels):
            held[t * levels + level] = quantiles[leaf, level]
    merge(held, levels, other)
    for level in range(levels):
        found[level] = held[(2 * level + 1) * trees // 2]
