"""Learning rates lam of the Gibbs posterior, by rule: how much a loss moves a belief."""

from dataclasses import dataclass
from math import log, sqrt
from typing import Protocol

import numpy as np

from bocopt import arguments
from bocopt.core import Array


class LearningRate(Protocol):
    """The learning rate after some stages, from the sum of the mixability gaps so far."""

    def __call__(self, gap: Array) -> Array:
        """() sum of (mean loss - mix loss) over stages -> () lam."""
        ...


@dataclass(frozen=True)
class Fixed:
    """The same lam at every stage."""

    lam: float

    def __post_init__(self) -> None:
        arguments.number("Fixed", "lam", self.lam, "(0, inf)")

    def __call__(self, gap: Array) -> Array:
        return np.full(gap.shape, float(self.lam))


def for_horizon(horizon: int, scale: float, delta: float = 0.05) -> float:
    """lam* = sqrt(8 log(1/delta) / (T C^2)): the least slack in Theorem 3.3.

    For T stages with losses in [0, C]; delta is the chance that the bound fails.

    >>> round(for_horizon(1000, 100.0), 5)
    0.00155
    """
    arguments.integer("for_horizon", "horizon", horizon, "[1, inf)")
    arguments.number("for_horizon", "scale", scale, "(0, inf)")
    arguments.number("for_horizon", "delta", delta, "(0, 1)")
    return sqrt(8 * log(1 / delta) / horizon) / scale


@dataclass(frozen=True)
class AdaHedge:
    """lam_t = D / (sum of mixability gaps), at most `largest`: small where mixing has cost much.

    `complexity` D stands for log K, the log of the number of experts: for a continuum, the
    information that tells a good parameter from the prior, in nats.

    Reference: de Rooij, van Erven, Grunwald, Koolen (2014), Follow the leader if you can, hedge if
    you must.
    """

    complexity: float
    largest: float = 1.0

    def __post_init__(self) -> None:
        arguments.number("AdaHedge", "complexity", self.complexity, "(0, inf)")
        arguments.number("AdaHedge", "largest", self.largest, "(0, inf)")

    def __call__(self, gap: Array) -> Array:
        return self.complexity / np.maximum(gap, self.complexity / self.largest)
