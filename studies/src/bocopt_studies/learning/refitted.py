"""Models that are fitted anew when enough of the past is new, and trees: what rivals share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, IntArray
from bocopt.interop import refitted
from bocopt_studies.learning.data.source import extra


@dataclass(frozen=True)
class RefittedRival(refitted.Refitted):
    """Outcomes are equally likely until there are `begin` of them; then a fit is renewed when a
    share `renewed` of its outcomes is new."""

    dim_xi: int
    begin: ClassVar[int] = 10
    renewed: ClassVar[float] = 0.05

    def __post_init__(self) -> None:
        arguments.integer(type(self).__name__, "dim_xi", self.dim_xi, "[1, inf)")
        extra("sklearn")  # where it is missing, that is said before anything runs

    def due(self, seen: int, fitted: int) -> bool:
        """Return whether `begin` outcomes are there, and new ones are `renewed` of those fitted."""
        return seen >= self.begin and seen - fitted >= self.renewed * fitted


class Trees(NamedTuple):
    """One row for each tree; nodes are numbered from the root, 0."""

    feature: IntArray  # (b, nodes) negative at a leaf
    threshold: Array  # (b, nodes) up to which one goes left
    left: IntArray  # (b, nodes)
    right: IntArray  # (b, nodes)
    value: Array  # (b, nodes, m)

    def leaves(self, x: Array) -> IntArray:
        """(n, k) -> (b, n): the leaf of each context."""
        single = x.astype(np.float32)  # as scikit-learn has it, or a tie would go the other way
        node = np.zeros((len(self.feature), len(x)), np.int64)
        tree, row = np.arange(len(node))[:, None], np.arange(len(x))
        while True:
            feature = self.feature[tree, node]
            if (feature < 0).all():
                return node
            goes_left = single[row, feature] <= self.threshold[tree, node]
            child = np.where(goes_left, self.left[tree, node], self.right[tree, node])
            node = np.where(feature < 0, node, child)

    def values(self, leaves: IntArray) -> Array:
        """(b, n) -> (b, n, m)."""
        found: Array = self.value[np.arange(len(leaves))[:, None], leaves]
        return found


def trees_of(estimators: Sequence[Any]) -> Trees:
    """Return the trees of fitted `DecisionTreeRegressor`s, as padded arrays."""
    raw = [estimator.tree_ for estimator in estimators]
    nodes = max(tree.node_count for tree in raw)

    def padded(arrays: Sequence[Any], dtype: Any, fill: float) -> Any:
        """Return arrays (nodes, ...) of all trees as one (b, nodes, ...), `fill` at the ends."""
        out = np.full((len(raw), nodes, *arrays[0].shape[1:]), fill, dtype)
        for row, array in zip(out, arrays, strict=True):
            row[: len(array)] = array
        return out

    return Trees(
        feature=padded([tree.feature for tree in raw], np.int64, -1),
        threshold=padded([tree.threshold for tree in raw], np.float64, 0.0),
        left=padded([tree.children_left for tree in raw], np.int64, 0),
        right=padded([tree.children_right for tree in raw], np.int64, 0),
        value=padded([tree.value[:, :, 0] for tree in raw], np.float64, 0.0),
    )
