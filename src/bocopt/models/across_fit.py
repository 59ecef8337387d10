"""One law for the rows of all series: a robust regression, and a forest of its ratios.

The kernel is imported at first use: numba takes a while to load, and seconds to compile once.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.numeric import noise
from bocopt.numeric.blas import one_thread

_ROUNDS, _OUTSIDE = 8, 1.5  # of the regression; sizes of errors from which on they count less
_RIDGE = 5.0  # rows that say: a context does not matter
_LEAST = 0.05  # of a size that is expected, in units of the scale
_SMALLEST = 1e-9  # of the spread of a context


class ForestRule(NamedTuple):
    """Settings by which a forest is grown."""

    trees: int
    leaf: int  # rows of a tree that end in a leaf, at least
    rows_of_tree: int  # about so many, at most
    levels: int  # quantiles of a leaf


class Draw(NamedTuple):
    """What the randomness of a fit is a function of."""

    seed: IntArray  # ()
    when: int


class AcrossFit(NamedTuple):
    """What is known of y / scale given features, after a fit."""

    centre: Array  # (k) of the features
    width: Array  # (k)
    coefficients: Array  # (1 + k)
    nodes: Array  # (c, 3) of all trees
    quantiles: Array  # (l, L) of the ratios that ended in a leaf
    lowest: Array  # () the least outcome of all
    highest: Array  # () the largest y / scale
    whole: Array  # () 1 where all outcomes are whole numbers


def no_fit(features: int, rule: ForestRule) -> AcrossFit:
    """Return a fit that knows nothing: each quantile is NaN."""
    return AcrossFit(
        centre=np.zeros(features),
        width=np.ones(features),
        coefficients=np.zeros(1 + features),
        nodes=np.tile([-1.0, 0.0, 0.0], (rule.trees, 1)),
        quantiles=np.full((1, rule.levels), np.nan),
        lowest=np.array(0.0),
        highest=np.array(0.0),
        whole=np.array(0.0),
    )


def fit(features: Array, y: Array, scale: Array, draw: Draw, rule: ForestRule) -> AcrossFit:
    """Return the law of y (n) given features (n, k), in units of the scales (n); n >= 1.

    A regression that is robust to far outcomes says how large an outcome is to be expected. A
    forest with that as one more feature is grown to tell the rank of y / expected, and its leaves
    keep the quantiles of y / expected: an outcome of zero stays zero, however large it was thought.
    Where outcomes can be negative, the forest tells y / scale.
    """
    from bocopt.models.kernels import across as kernel

    centre, width, coefficients = _regression(features, y / scale)
    found = no_fit(features.shape[-1], rule)._replace(
        centre=centre,
        width=width,
        coefficients=coefficients,
        lowest=y.min(),
        highest=(y / scale).max(),
        whole=np.array(float((y == np.floor(y)).all())),
    )
    x, expected = _told(found, features)
    ratio = y / scale / expected
    order = np.argsort(ratio, kind="stable")
    n, share = len(y), min(1.0, rule.rows_of_tree / len(y))
    leaves = rule.trees * max(1, int(1.001 * n / rule.leaf))
    nodes, mean = np.zeros((2 * leaves, 3)), np.zeros((leaves, 1))
    seeds = (noise.uniform(*draw, "across.trees", (rule.trees,)) * 2.0**53).astype(np.int64)
    used, filled = kernel.plant(
        x, _ranks(ratio)[:, None], seeds, share, float(rule.leaf), nodes, mean
    )
    quantiles = np.zeros((filled, rule.levels))
    kernel.fill(nodes, rule.trees, x[order], ratio[order], levels_of(rule.levels), quantiles)
    return found._replace(nodes=nodes[:used].copy(), quantiles=quantiles)


def quantiles(fit: AcrossFit, features: Array, scale: Array, trees: int) -> Array:
    """Return the quantiles (n, L) of y at the levels (i + 0.5) / L, given features (n, k)."""
    from bocopt.models.kernels import across as kernel

    x, expected = _told(fit, features)
    found = kernel.pooled(fit.nodes, fit.quantiles, x, trees) * (scale * expected)[:, None]
    return np.asarray(np.rint(found) if fit.whole else found)


def levels_of(many: int) -> Array:
    """Return the levels (i + 0.5) / L of the quantiles."""
    return (np.arange(many) + 0.5) / many


def _told(fit: AcrossFit, features: Array) -> tuple[Array, Array]:
    """Return the features (n, k + 1) of the forest, and how large y / scale is expected (n)."""
    from bocopt.models.kernels import across as kernel

    line = kernel.line(fit.centre, fit.width, fit.coefficients, features)
    expected = np.ones_like(line)
    if fit.lowest >= 0.0:  # and no more than ever was: a line goes on without end
        expected = np.maximum(np.minimum(line, fit.highest), _LEAST)
    return np.concatenate([features, line[:, None]], axis=1), expected


def _regression(x: Array, y: Array) -> tuple[Array, Array, Array]:
    """Return the centre (k), the width (k) and the coefficients (1 + k) of y (n) given x (n, k).

    Far outcomes weigh less, in rounds (Huber).
    """
    centre, width = x.mean(axis=0), x.std(axis=0)
    width[width < _SMALLEST] = np.inf
    phi = np.concatenate([np.ones((len(x), 1)), (x - centre) / width], axis=1)
    ridge = np.diag(np.append(1e-9, np.full(x.shape[1], _RIDGE)))
    weight, coefficients = np.ones(len(y)), np.zeros(phi.shape[1])
    with one_thread():
        for _ in range(_ROUNDS):
            moment = (phi * weight[:, None]).T
            coefficients = np.linalg.solve(moment @ phi + ridge, moment @ y)
            error = np.abs(y - phi @ coefficients)
            far = _OUTSIDE * max(1.5 * float(np.median(error)), _SMALLEST)
            weight = 1.0 / np.maximum(1.0, error / far)
    return centre, width, coefficients


def _ranks(values: Array) -> Array:
    """Return the ranks (n) in (0, 1); ties share theirs."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - counts / 2.0)[which] / len(values))
