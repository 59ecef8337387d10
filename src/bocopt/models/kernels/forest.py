"""A forest of randomised trees: grown, believed as far as it predicts, with its local spread."""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.models.kernels.trees import GrowingData, TreeTables, grow, leaf_of, scattered, shuffle
from bocopt.numeric.compiled import compiled, gufunc

SEED = np.uint64(15)
LARGEST_SHARE = 1.5  # of what trees predict: leaves cut off peaks
GUESS_COUNTS = 2.0  # outcomes that the guess of a variance is worth


class GrowthRule(NamedTuple):
    """Settings by which a forest is grown."""

    trees: int
    folds: int  # each tree leaves out one
    smallest: float  # weight of a leaf


@compiled
def plant(
    past: GrowingData, rule: GrowthRule, tables: TreeTables, ends: IntArray, outside: Array
) -> int:
    """All trees, each from the rows outside one fold; how many nodes are in use.

    `ends` (trees, n) become the leaves of all rows, `outside` (n, m) the mean of what is predicted
    by the trees that did not see the row: NaN where there is none.
    """
    n, dim_y = outside.shape
    seed = scattered(SEED, n)
    order, rows, counts = np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n)
    used, filled = rule.trees, 0
    outside[:] = 0.0
    for t in range(rule.trees):
        key, fold = scattered(seed, t), t % rule.folds
        if fold == 0:
            shuffle(key, order)
        seen = 0
        for i in range(n):
            rows[seen] = i
            seen += order[i] % rule.folds != fold
        if seen == 0:
            rows[0], seen = 0, 1  # a single outcome
        used, filled = grow(past, rows[:seen], rule.smallest, key, t, used, filled, tables, ends[t])
        for i in range(n):
            if order[i] % rule.folds == fold and n > 1:
                ends[t, i] = leaf_of(tables.nodes, t, past.x[i])
                counts[i] += 1.0
                for j in range(dim_y):
                    outside[i, j] += tables.mean[ends[t, i], j]
    for i in range(n):
        for j in range(dim_y):
            outside[i, j] /= counts[i]
    return used


@compiled
def believe(past: GrowingData, outside: Array, mean: Array) -> None:
    """Scale what is predicted, outcome by outcome, so that out-of-bag errors are least.

    The share is 0 where the context tells nothing, and above 1 where leaves are too coarse.
    """
    for j in range(past.y.shape[1]):
        product, square = 0.0, 0.0
        for i in range(len(outside)):
            if not np.isnan(outside[i, j]):
                product += past.weight[i] * outside[i, j] * past.y[i, j]
                square += past.weight[i] * outside[i, j] ** 2
        share = min(max(product / square, 0.0), LARGEST_SHARE) if square > 0.0 else 0.0
        for i in range(len(outside)):
            outside[i, j] *= share
        for leaf in range(len(mean)):
            mean[leaf, j] *= share


@compiled
def distribute(
    past: GrowingData, square: Array, ends: IntArray, table: Array, count: Array
) -> None:
    """Add up the squares (n, m) and the weights of the rows in each leaf; NaN is none."""
    n, dim_y = square.shape
    for t in range(len(ends)):
        for i in range(n):
            if not np.isnan(square[i, 0]):
                leaf = ends[t, i]
                count[leaf] += past.weight[i]
                for j in range(dim_y):
                    table[leaf, j] += past.weight[i] * square[i, j]


@compiled
def pool(past: GrowingData, square: Array, guess: Array, pooled: Array) -> None:
    """The mean of the squares (n, m), and of a guess."""
    whole = GUESS_COUNTS
    for j in range(len(guess)):
        pooled[j] = GUESS_COUNTS * guess[j]
    for i in range(len(square)):
        if not np.isnan(square[i, 0]):
            whole += past.weight[i]
            for j in range(len(guess)):
                pooled[j] += past.weight[i] * square[i, j]
    for j in range(len(guess)):
        pooled[j] /= whole


def tables(instances: int, leaves: int, dim_y: int) -> tuple[Array, Array, Array, Array, Array]:
    """Room for nodes, for means, sums of squares and weights of leaves, and for pooled squares."""
    return (
        np.zeros((instances, 2 * leaves, 3)),
        np.zeros((instances, leaves, dim_y)),
        np.zeros((instances, leaves, dim_y)),
        np.zeros((instances, leaves)),
        np.zeros((instances, dim_y)),
    )


@compiled
def fit_each(
    x: Array,
    weight: Array,
    y: Array,
    guess: Array,
    rule: GrowthRule,
    nodes: Array,
    mean: Array,
    square: Array,
    count: Array,
    pooled: Array,
) -> int:
    """Forests of y given x, and the squares of what they predict wrong.

    Instances along the first axis of x (b, n, k), y (b, n, m), the guesses of its variances (b, m)
    and the tables. All rows of the past that end in a leaf count, with their out-of-bag residuals.
    Returned is how many nodes are in use, at most.
    """
    instances, n, dim_y = y.shape
    ends, wrong = np.empty((rule.trees, n), np.int64), np.empty((n, dim_y))
    most = rule.trees
    for b in range(instances):
        past = GrowingData(x[b], weight, y[b])
        used = plant(past, rule, TreeTables(nodes[b], mean[b]), ends, wrong)
        believe(past, wrong, mean[b, : (used + rule.trees) // 2])
        for i in range(n):
            for j in range(dim_y):
                wrong[i, j] = (y[b, i, j] - wrong[i, j]) ** 2
        distribute(past, wrong, ends, square[b], count[b])
        pool(past, wrong, guess[b], pooled[b])
        most = max(most, used)
    return most


@gufunc(
    "void(f8[:,:], f8[:,:], f8[:,:], f8[:], f8[:], f8[:], i8, f8, f8[:], f8[:])",
    "(c,s),(l,m),(l,m),(l),(m),(k),(),()->(m),(m)",
)
def predict(
    nodes: Array,
    mean: Array,
    square: Array,
    count: Array,
    pooled: Array,
    x: Array,
    trees: int,
    prior: float,
    location: Array,
    variance: Array,
) -> None:
    """Compute the trees' mean prediction (m) at x (k), and the mean square (m) of the leaves there.

    In each leaf the pooled mean square is worth `prior` rows.
    """
    whole = trees * prior
    for j in range(len(location)):
        location[j], variance[j] = 0.0, whole * pooled[j]
    for t in range(trees):
        leaf = leaf_of(nodes, t, x)
        whole += count[leaf]
        for j in range(len(location)):
            location[j] += mean[leaf, j] / trees
            variance[j] += square[leaf, j]
    for j in range(len(location)):
        variance[j] /= whole
