"""Random forests as laws of xi given x: by the leaves that contexts share."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bocopt.core import Array, IntArray
from bocopt_studies.learning.data.source import extra
from bocopt_studies.learning.refitted import RefittedRival, Trees, trees_of

_TREES = 100
_LEAF = 5  # outcomes at the least
_FEATURES = 1 / 3  # that a split may choose from


class GrownForest(NamedTuple):
    """Trees, and where the outcomes that they were grown from stand in them."""

    trees: Trees
    leaves: IntArray  # (b, n)
    residual: Array  # (n, m) out of bag: from trees that have not seen the outcome

    def weights(self, x: Array) -> Array:
        """(k) -> (n): how often an outcome shares a leaf with x, by the size of the leaf."""
        same = self.leaves == self.trees.leaves(x[None])
        size = np.maximum(same.sum(axis=-1, keepdims=True), 1)
        weights = (same / size).mean(axis=0)
        return np.asarray(weights / weights.sum())


def grown(x: Array, xi: Array, seed: int) -> GrownForest:
    """(n, k), (n, m) -> one forest for all components."""
    forest = extra("sklearn.ensemble").RandomForestRegressor(
        n_estimators=_TREES,
        min_samples_leaf=_LEAF,
        max_features=_FEATURES if x.shape[-1] else 1.0,
        random_state=seed % 2**32,
    )
    forest.fit(x, xi if xi.shape[-1] > 1 else xi[:, 0])
    trees = trees_of(forest.estimators_)
    leaves = trees.leaves(x)
    return GrownForest(trees, leaves, xi - _out_of_bag(trees, leaves, forest, xi))


def _out_of_bag(trees: Trees, leaves: IntArray, forest: Any, xi: Array) -> Array:
    """(n, m): the mean over trees that were grown without the outcome, or of all outcomes."""
    unseen = np.ones(leaves.shape, bool)
    for row, seen in zip(unseen, forest.estimators_samples_, strict=True):
        row[seen] = False
    count = unseen.sum(axis=0)[:, None]
    total = np.where(unseen[..., None], trees.values(leaves), 0.0).sum(axis=0)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), xi.mean(axis=0)))


@dataclass(frozen=True)
class ForestWeights(RefittedRival):
    """Past outcomes, weighted by the leaves that they share with x.

    Reference: Meinshausen (2006), Quantile regression forests.
    """

    def fit(self, x: Array, xi: Array, seed: int) -> GrownForest:
        """Return a forest that is grown from contexts (n, k) and outcomes (n, m)."""
        return grown(x, xi, seed)

    def predicted(self, fit: GrownForest, x: Array, xi: Array) -> tuple[Array, Array]:
        """Return the past outcomes (n, m), and their weights (n) at a context (k)."""
        return xi, fit.weights(x)


@dataclass(frozen=True)
class ForestResiduals(RefittedRival):
    """The forest's mean at x, and the residuals of the outcomes that share leaves with x."""

    def fit(self, x: Array, xi: Array, seed: int) -> GrownForest:
        """Return a forest, grown from (n, k) and (n, m), with its residuals out of bag."""
        return grown(x, xi, seed)

    def predicted(self, fit: GrownForest, x: Array, xi: Array) -> tuple[Array, Array]:
        """Return the mean at a context (k) plus each residual (n, m), and weights (n)."""
        w = fit.weights(x)
        return np.matmul(w, xi) + fit.residual, w
