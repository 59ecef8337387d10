"""A forest of randomised trees: grown, believed as far as it predicts, with its local spread."""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.models.kernels.trees import Past, Tables, grow, leaf_of, scattered, shuffle
from bocopt.numeric.compiled import compiled, gufunc

SEED = np.uint64(15)
LARGEST_SHARE = 1.5  # of what trees predict: leaves cut off peaks
GUESS_COUNTS = 2.0  # outcomes that the guess of a variance is worth


class Rule(NamedTuple):
    """How a forest is grown."""

    trees: int
    folds: int  # each tree leaves out one
    smallest: float  # weight of a leaf
    prior: float  # rows that the pooled variance is worth in a leaf


@compiled
def plant(past: Past, rule: Rule, tables: Tables, ends: IntArray, outside: Array) -> int:
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
def believe(past: Past, outside: Array, mean: Array) -> None:
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
def spread(
    past: Past, square: Array, ends: IntArray, guess: Array, prior: float, variance: Array
) -> None:
    """In each leaf the mean of the squares (n, m) of its rows and the pooled one; NaN is none."""
    n, dim_y = square.shape
    whole, pooled = GUESS_COUNTS, GUESS_COUNTS * guess
    for i in range(n):
        if not np.isnan(square[i, 0]):
            whole += past.weight[i]
            for j in range(dim_y):
                pooled[j] += past.weight[i] * square[i, j]
    counts = np.full(len(variance), prior)
    for leaf in range(len(variance)):
        for j in range(dim_y):
            variance[leaf, j] = prior * pooled[j] / whole
    for t in range(len(ends)):
        for i in range(n):
            if not np.isnan(square[i, 0]):
                leaf = ends[t, i]
                counts[leaf] += past.weight[i]
                for j in range(dim_y):
                    variance[leaf, j] += past.weight[i] * square[i, j]
    for leaf in range(len(variance)):
        for j in range(dim_y):
            variance[leaf, j] /= counts[leaf]


def tables(instances: int, leaves: int, dim_y: int) -> tuple[Array, Array, Array]:
    """Room for nodes, and for the means and variances of leaves."""
    return (
        np.zeros((instances, 2 * leaves, 3)),
        np.zeros((instances, leaves, dim_y)),
        np.zeros((instances, leaves, dim_y)),
    )


@compiled
def fit_each(
    x: Array,
    weight: Array,
    y: Array,
    guess: Array,
    rule: Rule,
    nodes: Array,
    mean: Array,
    variance: Array,
) -> int:
    """Forests of y given x, and in each leaf the mean square of what is predicted wrong.

    Instances along the first axis of x (b, n, k), y (b, n, m), the guesses of its variances (b, m)
    and the tables. All rows of the past that end in a leaf count, with their out-of-bag residuals.
    Returned is how many nodes are in use, at most.
    """
    instances, n, dim_y = y.shape
    ends, square = np.empty((rule.trees, n), np.int64), np.empty((n, dim_y))
    most = rule.trees
    for b in range(instances):
        past = Past(x[b], weight, y[b])
        used = plant(past, rule, Tables(nodes[b], mean[b]), ends, square)
        leaves = (used + rule.trees) // 2
        believe(past, square, mean[b, :leaves])
        for i in range(n):
            for j in range(dim_y):
                square[i, j] = (y[b, i, j] - square[i, j]) ** 2
        spread(past, square, ends, guess[b], rule.prior, variance[b, :leaves])
        most = max(most, used)
    return most


@gufunc(
    "void(f8[:,:], f8[:,:], f8[:,:], f8[:], i8, f8[:], f8[:])",
    "(c,s),(l,m),(l,m),(k),()->(m),(m)",
)
def predict(
    nodes: Array,
    mean: Array,
    variance: Array,
    x: Array,
    trees: int,
    location: Array,
    square: Array,
) -> None:
    """What the trees predict at x, and the mean squares there, on average."""
    location[:] = 0.0
    square[:] = 0.0
    for t in range(trees):
        leaf = leaf_of(nodes, t, x)
        for j in range(len(location)):
            location[j] += mean[leaf, j] / trees
            square[j] += variance[leaf, j] / trees
