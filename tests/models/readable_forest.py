"""The forest once more, to be read: rows in lists, one tree at a time, nothing compiled but chance.

Sums are taken row by row, so that they have the bits of the kernel.
"""

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.models.kernels.forest import GUESS_COUNTS, LARGEST_SHARE, SEED
from bocopt.models.kernels.trees import MOST_TRIED, SHARE_TRIED, uniform
from bocopt.models.kernels.trees import scattered as bits


@dataclass
class Node:
    rows: list[int]
    feature: int = -1
    cut: float = 0.0
    children: tuple[Any, ...] = ()
    mean: Any = None
    wrong: list[int] = field(default_factory=list)  # rows with an out-of-bag residual


def scattered(key: Any, number: int) -> Any:
    """As a number of its own kind: Python has only one."""
    return np.uint64(bits(key, number))


def in_order(values: Any) -> Any:
    """The sum, from the first to the last: 0 of none."""
    return sum(values, np.float64(0.0))


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
            out_of_bag = in_order(counted) / unseen.sum(axis=0)[:, None]
        self.believe(out_of_bag)
        self.prior, self.square = prior, (y - out_of_bag) ** 2
        self.known = [i for i in range(n) if unseen[:, i].any()]
        for root, i in product(self.roots, self.known):
            self.end(root, x[i]).wrong.append(i)
        squares = [GUESS_COUNTS * guess, *(weight[i] * self.square[i] for i in self.known)]
        self.pooled = in_order(squares) / in_order([GUESS_COUNTS, *weight[self.known]])

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
            node.mean = in_order(weight[:, None] * self.y[node.rows]) / in_order(weight)
        return nodes[0]

    def split(self, node: Node, key: Any) -> None:
        best, rows = np.array(0.0), np.array(node.rows)
        weight, outcomes = self.weight[rows], self.weight[rows][:, None] * self.y[rows]
        for k, feature in enumerate(self.tried(key)):
            column = self.x[rows, feature]
            cut = column.min() + uniform(key, k) * (column.max() - column.min())
            left = column <= cut
            part, whole = in_order(weight[left]), in_order(weight)
            if part < self.leaf or whole - part < self.leaf:
                continue
            apart = whole * in_order(outcomes[left]) - part * in_order(outcomes)
            gain = in_order(apart**2) / (whole * part * (whole - part))
            if gain > best:
                best, node.feature, node.cut = gain, feature, cut
                parts = rows[left].tolist(), rows[~left].tolist()
                node.children = tuple(Node(part) for part in parts)

    def tried(self, key: Any) -> list[int]:
        """The contexts that a split looks at: all, or a random part of many."""
        left = list(range(self.x.shape[1]))
        if len(left) <= MOST_TRIED:
            return left
        many, found = len(left), []
        for i in range(max(MOST_TRIED, many // SHARE_TRIED)):
            j = int(uniform(key, many + i) * len(left))
            found.append(left[j])
            left[j] = left[0]  # what stood first takes the free place
            del left[0]
        return found

    def end(self, node: Node, x: Array) -> Node:
        while node.children:
            node = node.children[int(x[node.feature] > node.cut)]
        return node

    def believe(self, outside: Array) -> None:
        """Scale all leaves, once, by what is best out of bag."""
        known = ~np.isnan(outside[:, 0])
        weight, f, y = self.weight[known][:, None], outside[known], self.y[known]
        match, square = in_order(weight * f * y), in_order(weight * f**2)
        with np.errstate(invalid="ignore"):
            share = np.where(square > 0, np.clip(match / square, 0.0, LARGEST_SHARE), 0.0)
        outside *= share
        for leaf in self.leaves():
            leaf.mean = leaf.mean * share

    def leaves_of(self, node: Node) -> list[Node]:
        return [leaf for child in node.children for leaf in self.leaves_of(child)] or [node]

    def leaves(self) -> list[Node]:
        return [leaf for root in self.roots for leaf in self.leaves_of(root)]

    def predict(self, x: Array) -> tuple[Array, Array]:
        """(k) -> (m), (m): the mean and the variance."""
        ends = [self.end(root, x) for root in self.roots]
        whole = len(ends) * self.prior
        squares, counts = [whole * self.pooled], [whole]
        for end in ends:
            squares.append(in_order([self.weight[i] * self.square[i] for i in end.wrong]))
            counts.append(in_order(self.weight[end.wrong]))
        mean = in_order([end.mean / len(ends) for end in ends])
        return mean, in_order(squares) / in_order(counts)
