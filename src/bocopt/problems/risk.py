"""What a decision under scenarios is judged by: the expected cost, with or without a promise."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray

WEIGHT_TOLERANCE = 1e-12  # of the chance constraint: eighteen times 1/20 is 0.9 - 4e-16


@dataclass(frozen=True)
class Expectation:
    """The expected cost; what infeasibility costs is part of it, and nothing else is promised.

    >>> float(Expectation().value(np.array([1.0, 3.0]), np.array([0.5, 0.5])))
    2.0
    """

    alpha: ClassVar[None] = None

    def value(self, costs: Array, w: Array) -> Array:
        """(s), (s) -> (): summed in the order of the scenarios, which is part of the tie rule."""
        return _in_order(w * costs)

    def met(self, violations: Array, w: Array) -> BoolArray:
        """(s), (s) -> (): always."""
        return np.ones(np.broadcast_shapes(violations.shape, w.shape)[:-1], bool)


@dataclass(frozen=True)
class Chance:
    """The expected cost, where the constraints hold in scenarios of weight alpha or more.

    >>> w = np.full(20, 1 / 20)
    >>> bool(Chance(0.9).met(np.array([0.0] * 18 + [1.0] * 2), w))
    True
    """

    alpha: float

    def __post_init__(self) -> None:
        arguments.number("Chance", "alpha", self.alpha, "(0, 1]")

    def value(self, costs: Array, w: Array) -> Array:
        """(s), (s) -> (): as `Expectation`."""
        return _in_order(w * costs)

    def met(self, violations: Array, w: Array) -> BoolArray:
        """(s), (s) -> ()."""
        need = self.alpha * w.sum(axis=-1) - WEIGHT_TOLERANCE
        return np.asarray((w * (violations <= 0)).sum(axis=-1) >= need)


def _in_order(terms: Array) -> Array:
    """(s) -> (): numpy's own sum has an order of its own."""
    total: Array = np.cumsum(terms, axis=-1)[..., -1]
    return total
