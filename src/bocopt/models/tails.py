"""Laws with heavier tails than the members': how wide they are is learned from their own errors."""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array

LIGHT = 30.0  # degrees of freedom from which a member's own scale is right
_WORTH = 20.0  # outcomes: what is known of the width before any
_KEEP = 0.995  # weight of an outcome after another one
_NORMAL = 1.8  # df / (df + 1.8) is the best squared scale of a t law where outcomes are normal


class Widths(NamedTuple):
    """The squared scales of heavy-tailed laws, in units of those that their members predict.

    They follow the likelihood: an error e counts (df + 1) / (df + e^2) of its square, so that far
    outcomes, which heavy tails explain, widen the middle little.
    """

    total: Array  # (M, m) of what counted
    seen: Array  # () how many outcomes

    def square(self, tails: Array) -> Array:
        """(M) degrees of freedom -> (M, m)."""
        start = (tails / (tails + _NORMAL))[:, None]
        learned = (_WORTH * start + self.total) / (_WORTH + self.seen[..., None, None])
        return np.where(tails[:, None] < LIGHT, learned, 1.0)

    def update(self, tails: Array, df: Array, errors: Array) -> "Widths":
        """(M), (M), (M, m) -> with one outcome more, at these errors in units of the scales."""
        square = errors**2
        near = (df + 1)[..., None] / (df[..., None] + square)
        total = _KEEP * self.total + self.square(tails) * near * square
        return Widths(total, _KEEP * self.seen + 1)


def initial(lead: tuple[int, ...], laws: int, dim_xi: int) -> Widths:
    """Before any outcome."""
    return Widths(np.zeros((*lead, laws, dim_xi)), np.zeros(lead))
