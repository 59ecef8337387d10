"""Extremely randomised trees: one is grown, and followed to its leaf.

All trees stand in one table of nodes (c, 3): the context to look at, the cut and the first of two
children, to which the second is next. Node t is the root of tree t. A leaf looks at context -1,
and its third entry is its row in the tables of leaves (l, m).

Rows of the past are in rising order in every node, and sums are in that order.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.numeric.compiled import compiled, inlined

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
UNIT = 2.0**-53
MOST_TRIED, SHARE_TRIED = 10, 3  # contexts in a split: all of so many, or one in so many
SMALLEST_WEIGHT = 1e-300  # of a leaf: those of very old outcomes can be zero


class GrowingData(NamedTuple):
    """Data that trees are grown from, oldest row first."""

    x: Array  # (n, k)
    weight: Array  # (n)
    y: Array  # (n, m)


class TreeTables(NamedTuple):
    """All trees, with room for more than is used."""

    nodes: Array  # (c, 3)
    mean: Array  # (l, m) of the outcomes in a leaf


@inlined
def scattered(key: np.uint64, number: int) -> np.uint64:
    """The number-th of a sequence that looks random, by the mixer of SplitMix64.

    Reference: Steele, Lea, Flood (2014), Fast splittable pseudorandom number generators.
    """
    bits = key + np.uint64(number + 1) * GOLDEN
    bits = (bits ^ (bits >> SHIFTS[0])) * FACTORS[0]
    bits = (bits ^ (bits >> SHIFTS[1])) * FACTORS[1]
    return bits ^ (bits >> SHIFTS[2])


@inlined
def uniform(key: np.uint64, number: int) -> float:
    """In [0, 1)."""
    return float(scattered(key, number) >> SHIFTS[3]) * UNIT


@compiled
def shuffle(key: np.uint64, order: IntArray) -> None:
    """The numbers 0, 1, ... in random order."""
    for i in range(len(order)):
        order[i] = i
    for i in range(len(order) - 1, 0, -1):
        j = int(uniform(key, i) * (i + 1))
        order[i], order[j] = order[j], order[i]


@inlined
def sums(past: GrowingData, rows: IntArray, total: Array) -> float:
    """The weight of these rows; their weighted outcomes are added up in `total`."""
    whole = 0.0
    total[:] = 0.0
    for i in rows:
        whole += past.weight[i]
        for j in range(len(total)):
            total[j] += past.weight[i] * past.y[i, j]
    return whole


@inlined
def some_contexts(many: int, key: np.uint64) -> IntArray:
    """Return the contexts to look at in a split: all up to ten, or a random third, at least ten."""
    chosen = np.arange(many)
    if many <= MOST_TRIED:
        return chosen
    wanted = max(MOST_TRIED, many // SHARE_TRIED)
    for i in range(wanted):
        j = i + int(uniform(key, many + i) * (many - i))
        chosen[i], chosen[j] = chosen[j], chosen[i]
    return chosen[:wanted]


@inlined
def random_cuts(x: Array, rows: IntArray, chosen: IntArray, key: np.uint64) -> Array:
    """In each of these contexts, uniform between the least and the largest of these rows."""
    low: Array = x[rows[0]][chosen]
    high = low.copy()
    for i in rows:
        for k in range(len(low)):
            value, least, most = x[i, chosen[k]], low[k], high[k]
            low[k] = value if value < least else least
            high[k] = value if value > most else most
    for k in range(len(low)):
        low[k] += uniform(key, k) * (high[k] - low[k])
    return low


@inlined
def sums_up_to(
    past: GrowingData, rows: IntArray, chosen: IntArray, cuts: Array
) -> tuple[Array, Array]:
    """The same as `sums`, of the rows up to the cut in each context: (k) and (m, k).

    Contexts are in the inner loops: they run side by side, and sums stay in the order of the rows.
    """
    counts, part = np.empty(len(cuts)), np.zeros(len(cuts))
    left = np.zeros((past.y.shape[1], len(cuts)))
    for i in rows:
        weight = past.weight[i]
        for k in range(len(cuts)):
            counts[k] = weight if past.x[i, chosen[k]] <= cuts[k] else 0.0
        for k in range(len(cuts)):
            part[k] += counts[k]
        for j in range(len(left)):
            value = past.y[i, j]
            for k in range(len(cuts)):
                left[j, k] += counts[k] * value
    return part, left


@compiled
def best_split(
    past: GrowingData, rows: IntArray, smallest: float, key: np.uint64
) -> tuple[int, float]:
    """Return the context and the cut that leave the least squared errors, of one random cut in each
    of some contexts.

    The context is -1 if there is none.

    With a weight W in all and w up to the cut, and sums S and s of weighted outcomes, errors fall
    by the sum over outcomes of (W s - w S)^2 / (W w (W - w)).
    """
    total = np.empty(past.y.shape[1])
    whole = sums(past, rows, total)
    best, feature, at = 0.0, -1, 0.0
    if whole < 2.0 * smallest:
        return feature, at
    chosen = some_contexts(past.x.shape[1], key)
    cuts = random_cuts(past.x, rows, chosen, key)
    parts, left = sums_up_to(past, rows, chosen, cuts)
    square = np.zeros(len(cuts))
    for j in range(len(total)):
        for k in range(len(cuts)):
            contrast = whole * left[j, k] - parts[k] * total[j]
            square[k] += contrast * contrast
    for k in range(len(cuts)):
        part, other = parts[k], whole - parts[k]
        if part >= smallest and other >= smallest:
            gain = square[k] / (whole * part * other)
            if gain > best:
                best, feature, at = gain, chosen[k], cuts[k]
    return feature, at


@inlined
def part_rows(x: Array, feature: int, cut: float, rows: IntArray, spare: IntArray) -> int:
    """Move the rows up to the cut to the front, parts in their order; return how many these are."""
    front, back = 0, 0
    for i in rows:
        stays = x[i, feature] <= cut
        rows[front], spare[back] = i, i
        front, back = front + stays, back + (not stays)
    for p in range(back):
        rows[front + p] = spare[p]
    return front


@compiled
def grow(
    past: GrowingData,
    rows: IntArray,
    smallest: float,
    key: np.uint64,
    root: int,
    used: int,
    filled: int,
    tables: TreeTables,
    ends: IntArray,
) -> tuple[int, int]:
    """One tree from these rows; how many nodes and leaves are in use with it.

    `ends` become the leaves of the rows.
    """
    nodes, mean, spare = tables.nodes, tables.mean, np.empty_like(rows)
    most = len(nodes) - used + 1
    first, last = np.empty(most, np.int64), np.empty(most, np.int64)
    begin, node = used, root
    first[0], last[0] = 0, len(rows)
    at = 0  # the number of the node in its tree
    while node < used:
        mine = rows[first[at] : last[at]]
        feature, cut = best_split(past, mine, smallest, scattered(key, at))
        nodes[node, 0], nodes[node, 1] = feature, cut
        if feature >= 0:
            middle = first[at] + part_rows(past.x, feature, cut, mine, spare)
            child = used - begin + 1
            first[child], last[child] = first[at], middle
            first[child + 1], last[child + 1] = middle, last[at]
            nodes[node, 2] = used
            used += 2
        else:
            whole = sums(past, mine, mean[filled])
            for j in range(mean.shape[1]):
                mean[filled, j] /= max(whole, SMALLEST_WEIGHT)
            for i in mine:
                ends[i] = filled
            nodes[node, 2] = filled
            filled += 1
        node = begin + at
        at += 1
    return used, filled


@inlined
def leaf_of(nodes: Array, root: int, x: Array) -> int:
    """The row of the leaf in which x ends."""
    node = root
    while nodes[node, 0] >= 0.0:
        right = x[int(nodes[node, 0])] > nodes[node, 1]
        node = int(nodes[node, 2]) + (1 if right else 0)
    return int(nodes[node, 2])
