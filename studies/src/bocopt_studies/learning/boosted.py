"""Boosted quantiles as a law of xi given x: each component's own, tied together by ranks."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt_studies.learning.data.source import extra
from bocopt_studies.learning.refitted import RefittedRival, Trees, trees_of

_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
_ROUNDS, _DEPTH, _RATE, _LEAF = 25, 3, 0.2, 5
_WIDEST = np.array([0.0, *_LEVELS, 1.0])


class Boosted(NamedTuple):
    """Trees of all components and levels, one after the other, and the ranks of past errors."""

    start: Array  # (m, levels) before any tree
    trees: Trees
    ranks: Array  # (n, m) in (0, 1)

    def quantiles(self, x: Array) -> Array:
        """(n, k) -> (n, m, levels) in rising order."""
        steps = self.trees.values(self.trees.leaves(x))[..., 0]
        total = steps.reshape(*self.start.shape, _ROUNDS, len(x)).sum(axis=-2)
        return np.sort(np.moveaxis(self.start[..., None] + _RATE * total, -1, 0), axis=-1)


@dataclass(frozen=True)
class BoostedQuantiles(RefittedRival):
    """Five quantiles of each component by gradient boosting, linear between and a step beyond.

    Scenarios take the ranks that past errors had in all components at once. Fits are dear: they are
    renewed when half is new.

    Reference: Friedman (2001), Greedy function approximation: a gradient boosting machine.
    """

    begin: ClassVar[int] = 20
    renewed: ClassVar[float] = 0.5

    def fit(self, x: Array, xi: Array, seed: int) -> Boosted:
        """Return boosted quantiles of the outcomes (n, m) given the contexts (n, k)."""
        regressor = extra("sklearn.ensemble").GradientBoostingRegressor
        found = [
            regressor(
                loss="quantile",
                alpha=level,
                n_estimators=_ROUNDS,
                max_depth=_DEPTH,
                learning_rate=_RATE,
                min_samples_leaf=_LEAF,
                max_features=min(1.0, 10 / x.shape[-1]),
                random_state=seed % 2**32,
            ).fit(x, component)
            for component in xi.T
            for level in _LEVELS
        ]
        start = np.array([model.init_.constant_.item() for model in found])
        trees = trees_of([tree for model in found for tree in model.estimators_[:, 0]])
        start = start.reshape(-1, len(_LEVELS))
        fitted = Boosted(start, trees, np.zeros_like(xi))
        return fitted._replace(ranks=_ranks(xi, fitted.quantiles(x)))

    def predicted(self, fit: Boosted, x: Array, xi: Array) -> tuple[Array, Array]:
        """Return scenarios (n, m) given x (k), at the ranks of past errors, and weights (n)."""
        (quantiles,) = fit.quantiles(x[None])
        low, high = quantiles[:, :1], quantiles[:, -1:]
        ends = 2 * low - quantiles[:, 1:2], 2 * high - quantiles[:, -2:-1]
        curves = np.concatenate([ends[0], quantiles, ends[1]], axis=-1)
        parts = zip(fit.ranks.T, curves, strict=True)
        scenarios = np.stack([np.interp(rank, _WIDEST, curve) for rank, curve in parts], axis=-1)
        return scenarios, np.full(len(xi), 1.0 / len(xi))


def _ranks(xi: Array, quantiles: Array) -> Array:
    """(n, m), (n, m, levels) -> (n, m): of errors from the median, in units of the spread."""
    middle, spread = quantiles[..., len(_LEVELS) // 2], quantiles[..., -1] - quantiles[..., 0]
    error = (xi - middle) / np.maximum(spread, 1e-9 * np.abs(xi).max(initial=1.0))
    order = error.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    return np.asarray((order + 0.5) / len(xi))
