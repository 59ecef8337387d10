"""A forest of randomised trees.

Compiled code of our own: to load scikit-learn takes 2 s, to grow 100 of its trees 0.3 to 0.8 s
(1000 outcomes, 40 contexts) and to ask them once 8 to 17 ms; a whole stage is to take 3 to 8 ms.

The kernel is imported at first use: numba takes a while to load, and seconds to compile once.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array
from bocopt.models.design import Design, RidgeFit
from bocopt.models.member import Fit, Moments, pooled, ridge, widened

_SMALLEST = 1e-9  # spread of the sizes of residuals, in their own units, that is looked at


class Grown(NamedTuple):
    """All trees of a forest, and what ended in their leaves; of several forests, with spare room.

    A node that is used is never all zeros: a leaf looks at context -1, and others have children.
    """

    nodes: Array  # (c, 3)
    mean: Array  # (l, m) of leaves
    square: Array  # (l, m) sums
    weight: Array  # (l)
    overall: Array  # (m) the pooled mean square

    def trimmed(self) -> "Grown":
        """Return one forest without the spare room in its tables."""
        nodes = self.nodes[: int(np.flatnonzero(self.nodes.any(axis=-1))[-1]) + 1]
        leaves = int(nodes[nodes[:, 0] < 0, 2].max()) + 1
        if len(nodes) == len(self.nodes) and leaves == len(self.mean):
            return self
        mean, square, weight = (part[:leaves].copy() for part in self[1:4])
        return Grown(nodes.copy(), mean, square, weight, self.overall)


@dataclass(frozen=True)
class Forest:
    """The ridge regression, plus what extremely randomised trees make of its residuals.

    - A tree splits at the best of one random cut in each context: where the squared errors of all
      residuals, each in units of its sd, and of their size fall most. So it also splits where only
      the spread changes. No leaf has less weight than `leaf`.
    - Trees are grown in groups: each of a group leaves out another one of `folds` parts of the
      past. So every outcome has predictions of trees that did not see it.
    - The trees' mean is scaled, outcome by outcome, to where those out-of-bag predictions are best:
      to nothing where the regression says it all.
    - The variance at x is the mean square of the out-of-bag residuals of all outcomes in the leaves
      of x, and of the pooled one, which is worth `prior` outcomes in each leaf.

    What is random is a function of the number of outcomes alone.

    Reference: Geurts, Ernst, Wehenkel (2006), Extremely randomized trees; Breiman (2001), Random
    forests.
    """

    trees: int = 24
    folds: int = 3
    leaf: float = 2.0
    prior: float = 0.5
    least_discount: float = 0.99  # below, too few outcomes count: it takes no part in a mixture
    renewed_at: float = 0.04  # the share of outcomes that must be new for a new fit

    def __post_init__(self) -> None:
        arguments.integer("Forest", "trees", self.trees, "[1, inf)")
        arguments.integer("Forest", "folds", self.folds, "[2, inf)")
        arguments.number("Forest", "leaf", self.leaf, "(0, inf)")
        arguments.number("Forest", "prior", self.prior, "(0, inf)")
        arguments.number("Forest", "least_discount", self.least_discount, "[0, 1]")
        arguments.number("Forest", "renewed_at", self.renewed_at, "[0, 1]")

    def init(self, lead: tuple[int, ...], dim_x: int, dim_xi: int) -> Fit:
        """Return the fit before any outcome: trees of one empty leaf, mean squares (m) of 1."""
        nodes = np.broadcast_to([-1.0, 0.0, 0.0], (*lead, self.trees, 3))
        leaves = np.zeros((*lead, 1, dim_xi))
        return Grown(nodes, leaves, leaves, np.zeros((*lead, 1)), np.ones((*lead, dim_xi)))

    def refit(self, fit: Fit, past: Design) -> Fit:
        """Return a forest grown anew on the residuals of the regression."""
        from bocopt.models.kernels import forest

        variance = pooled(past)
        sd = np.sqrt(variance)[..., None, :]
        targets = _targets(past, past.residual / sd)
        *lead, n, dim_y = targets.shape
        guess = np.ones((*lead, dim_y))
        guess[..., :-1] = past.regression.variance / variance
        y = np.ascontiguousarray(targets.reshape(-1, n, dim_y))
        x = np.ascontiguousarray(past.x.reshape(len(y), n, past.x.shape[-1]))
        tables = forest.tables(len(y), self._most_leaves(past), dim_y)
        rule = forest.GrowthRule(self.trees, self.folds, float(self.leaf))
        used = forest.fit_each(x, past.weight, y, guess.reshape(-1, dim_y), rule, *tables)
        leaves = (used + self.trees) // 2
        nodes, mean, square, count, overall = (
            table.reshape(*lead, *table.shape[1:]) for table in tables
        )
        wide = widened(variance, past)
        return Grown(
            nodes[..., :used, :].copy(),
            mean[..., :leaves, :-1] * sd,
            square[..., :leaves, :-1] * wide[..., None, :],
            count[..., :leaves].copy(),
            overall[..., :-1] * wide,
        )

    def predict(self, fit: Fit, regression: RidgeFit, x: Array) -> Moments:
        """Return the regression plus the trees' mean (m) at x (k), and the scale (m) there."""
        from bocopt.models.kernels import forest

        location, leverage = ridge(regression, x)
        beside, variance = forest.predict(*fit, x, self.trees, self.prior)
        return Moments(location + beside, np.sqrt(variance * (1 + leverage)))

    def _most_leaves(self, past: Design) -> int:
        """Return a bound on the leaves: each has an outcome and its least weight, each tree has
        one.

        A little more than fits, as sums are rounded: the kernel does not look where it writes.
        """
        n, heavy = past.x.shape[-2], int(1.001 * past.weight.sum() / self.leaf)
        most: int = self.trees * max(1, min(n, heavy))
        return most


def _targets(past: Design, residual: Array) -> Array:
    """(n, m + 1): residuals in units of their sd, and likewise their mean size."""
    size = np.abs(residual).mean(axis=-1)[..., None]
    share = (past.weight / past.regression.size)[None, :]
    size = size - np.matmul(share, size)
    sd = np.sqrt(np.matmul(share, size**2))
    return np.concatenate([residual, size / np.maximum(sd, _SMALLEST)], axis=-1)
