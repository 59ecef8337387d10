"""Risks of a decision under scenarios: one number for its costs, and how sure it must be.

Each risk values the costs of a decision in its own way. `alpha` is the weight of the scenarios in
which the constraints must hold; None promises nothing: what infeasibility costs is part of the
cost.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray, Risk

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
        return _met(self.alpha, violations, w)


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
        return _met(self.alpha, violations, w)


@dataclass(frozen=True)
class CVaR:
    """The conditional value at risk: the mean cost of the worst 1 - beta of the scenarios.

        min over t of  t + E (cost - t)^+ / (1 - beta)

    >>> float(CVaR(0.5).value(np.array([1.0, 3.0, 5.0, 7.0]), np.full(4, 0.25)))
    6.0

    Reference: Rockafellar, Uryasev, Optimization of conditional value-at-risk, 2000.
    """

    beta: float
    alpha: float | None = None

    def __post_init__(self) -> None:
        arguments.number("CVaR", "beta", self.beta, "[0, 1)")
        if self.alpha is not None:
            arguments.number("CVaR", "alpha", self.alpha, "(0, 1]")

    def value(self, costs: Array, w: Array) -> Array:
        """(s), (s) -> ()."""
        costs, w = np.broadcast_arrays(costs, w)
        worst_first = (-costs).argsort(axis=-1, kind="stable")
        costs = np.take_along_axis(costs, worst_first, axis=-1)
        w = np.take_along_axis(w, worst_first, axis=-1)
        tail = (1 - self.beta) * w.sum(axis=-1, keepdims=True)
        before = np.cumsum(w, axis=-1) - w
        return _in_order(np.clip(tail - before, 0.0, w) / tail * costs)

    def met(self, violations: Array, w: Array) -> BoolArray:
        """(s), (s) -> ()."""
        return _met(self.alpha, violations, w)


@dataclass(frozen=True)
class WorstCase:
    """The largest cost in any scenario that has weight.

    >>> float(WorstCase().value(np.array([1.0, 3.0, 9.0]), np.array([0.9, 0.1, 0.0])))
    3.0
    """

    alpha: float | None = None

    def __post_init__(self) -> None:
        if self.alpha is not None:
            arguments.number("WorstCase", "alpha", self.alpha, "(0, 1]")

    def value(self, costs: Array, w: Array) -> Array:
        """(s), (s) -> ()."""
        worst: Array = np.where(w > 0, costs, -np.inf).max(axis=-1)
        return worst

    def met(self, violations: Array, w: Array) -> BoolArray:
        """(s), (s) -> ()."""
        return _met(self.alpha, violations, w)


def share_of_worst(risk: Risk, owner: str = "program") -> float:
    """The share of outcomes, the worst ones, of whose costs the risk is the mean: 1 means all.

    What a solver minimises follows from it, the worst case being the limit 0. Any other risk is
    refused, a subclass with a `value` of its own too: none may be solved as if it were another.

    >>> share_of_worst(Expectation()), share_of_worst(CVaR(0.75)), share_of_worst(WorstCase())
    (1.0, 0.25, 0.0)
    """
    if type(risk) in (Expectation, Chance):
        return 1.0
    if type(risk) is CVaR:
        return 1.0 - risk.beta
    if type(risk) is WorstCase:
        return 0.0
    expected = "Expectation(), Chance(alpha), CVaR(beta) or WorstCase(), exactly"
    raise arguments.wrong(owner, "risk", expected, risk)


def _met(alpha: float | None, violations: Array, w: Array) -> BoolArray:
    """Return True () if the constraints are met by scenarios (s) of weight alpha or more."""
    if alpha is None:
        return np.ones(np.broadcast_shapes(violations.shape, w.shape)[:-1], bool)
    need = alpha * w.sum(axis=-1) - WEIGHT_TOLERANCE
    return np.asarray((w * (violations <= 0)).sum(axis=-1) >= need)


def _in_order(terms: Array) -> Array:
    """(s) -> (): numpy's own sum has an order of its own."""
    total: Array = np.cumsum(terms, axis=-1)[..., -1]
    return total
