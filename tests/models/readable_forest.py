"""The forest once more, to be read: rows in lists, one tree at a time, nothing compiled but chance.

Sums are taken row by row, so that they have the bits of the kernel.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.models.kernels.forest import GUESS_COUNTS, LARGEST_SHARE, SEED
from bocopt.models.kernels.trees import scattered as bits
from bocopt.models.kernels.trees import uniform


@dataclass
class Node:
    rows: list[int]
    feature: int = -1
    cut: float = 0.0
    children: tuple[Any, ...] = ()
    mean: Array | None = None
    variance: Array | None = None


def scattered(key: Any, number: int) -> Any:
    """As a number of its own kind: Python has only one."""
    return np.uint64(bits(key, number))


def total(values: Array) -> Array:
    """Of the rows, from the first to the last; (0, m) has the sum 0."""
    sums: Array = np.cumsum(np.concatenate([np.zeros((1, *values.shape[1:])), values]), axis=0)
    return np.asarray(sums[-1])


class ReadableForest:
    """Of y (n, m) given x (n, k), with weights (n) and a guess of the variances (m)."""

    def __init__(
        self,
        x: Array,
        weight: Array,
        y: Array,
        guess: Array,
        trees: int,
        folds: int,
        leaf: float,
        prior: float,
    ) -> None:
        self.x, self.weight, self.y, self.leaf = x, weight, y, leaf
        seed, n = scattered(SEED, len(y)), len(y)
        self.roots, outside = [], np.zeros((trees, *y.shape))
        unseen = np.zeros((trees, n), bool)
        for t in range(trees):
            key = scattered(seed, t)
            if t % folds == 0:
                order = self.shuffled(key)
            unseen[t] = (order % folds == t % folds) & (n > 1)
            self.roots.append(self.grown([i for i in range(n) if not unseen[t, i]], key))
            outside[t] = [self.end(self.roots[t], row).mean for row in x]
        counted = np.where(unseen[..., None], outside, 0.0)
        with np.errstate(invalid="ignore"):
            out_of_bag = total(counted) / unseen.sum(axis=0)[:, None]
        self.believe(out_of_bag)
        self.spread(out_of_bag, guess, prior)

    def shuffled(self, key: Any) -> IntArray:
        order = np.arange(len(self.y))
        for i in range(len(order) - 1, 0, -1):
            j = int(uniform(key, i) * (i + 1))
            order[i], order[j] = order[j], order[i]
        return order

    def grown(self, rows: list[int], key: Any) -> Node:
        """Breadth first: the number of a node says which random numbers are its own."""
        nodes = [Node(rows)]
        for at, node in enumerate(nodes):  # which grows meanwhile
            self.split(node, scattered(key, at))
            nodes.extend(node.children)
            weight = self.weight[node.rows]
            node.mean = total(weight[:, None] * self.y[node.rows]) / total(weight)
        return nodes[0]

    def split(self, node: Node, key: Any) -> None:
        best, rows = np.array(0.0), np.array(node.rows)
        weight, outcomes = self.weight[rows], self.weight[rows][:, None] * self.y[rows]
        for k, column in enumerate(self.x[rows].T):
            cut = column.min() + uniform(key, k) * (column.max() - column.min())
            left = column <= cut
            part, whole = total(weight[left]), total(weight)
            if part < self.leaf or whole - part < self.leaf:
                continue
            apart = whole * total(outcomes[left]) - part * total(outcomes)
            gain = total(apart**2) / (whole * part * (whole - part))
            if gain > best:
                best, node.feature, node.cut = gain, k, cut
                parts = rows[left].tolist(), rows[~left].tolist()
                node.children = tuple(Node(part) for part in parts)

    def end(self, node: Node, x: Array) -> Node:
        while node.children:
            node = node.children[int(x[node.feature] > node.cut)]
        return node

    def believe(self, outside: Array) -> None:
        """Scale all leaves, once, by what is best out of bag."""
        known = ~np.isnan(outside[:, 0])
        weight, f, y = self.weight[known][:, None], outside[known], self.y[known]
        product, square = total(weight * f * y), total(weight * f**2)
        share = np.zeros(len(square))
        some = square > 0
        share[some] = np.clip(product[some] / square[some], 0.0, LARGEST_SHARE)
        outside *= share
        for leaf in self.leaves():
            assert leaf.mean is not None
            leaf.mean = leaf.mean * share

    def spread(self, outside: Array, guess: Array, prior: float) -> None:
        known = [i for i in range(len(outside)) if not np.isnan(outside[i, 0])]
        square, weight = (self.y - outside) ** 2, self.weight
        first = np.concatenate(
            [(GUESS_COUNTS * guess)[None], weight[known][:, None] * square[known]]
        )
        pooled = np.cumsum(first, axis=0)[-1]
        whole = np.cumsum([GUESS_COUNTS, *weight[known]])[-1]
        for root in self.roots:
            ends: dict[int, list[int]] = {}
            for i in known:
                ends.setdefault(id(self.end(root, self.x[i])), []).append(i)
            for leaf in self.leaves_of(root):
                mine = ends.get(id(leaf), [])
                rows = [prior * pooled / whole, *(weight[i] * square[i] for i in mine)]
                leaf.variance = np.cumsum(rows, axis=0)[-1] / np.cumsum([prior, *weight[mine]])[-1]

    def leaves_of(self, node: Node) -> list[Node]:
        return [leaf for child in node.children for leaf in self.leaves_of(child)] or [node]

    def leaves(self) -> list[Node]:
        return [leaf for root in self.roots for leaf in self.leaves_of(root)]

    def predict(self, x: Array) -> tuple[Array, Array]:
        ends = [self.end(root, x) for root in self.roots]
        means, variances = (
            np.array([getattr(end, name) for end in ends]) for name in ("mean", "variance")
        )
        return total(means / len(ends)), total(variances / len(ends))
