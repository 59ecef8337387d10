"""Risks of a decision under scenarios: one number for its costs, and how sure it must be.

Each risk values the costs of a decision in its own way. `alpha` is the weight of the scenarios in
which the constraints must hold; None promises nothing: what infeasibility costs is part of the
cost.

All that is known of a risk stands in its class. Searches that enumerate decisions read `value` and
`met`. Declared programs read one of two more. `tail_means`: they write the value as

    sum over (weight, share) of  weight * min over t of  t + E (cost - t)^+ / share

`worst_weights`: they cut it. It is the largest, over weights q of the scenarios, of

    q . cost - penalty(q),     attained by (q, penalty) = worst_weights(costs, w)
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.abilities import HasTailMeans, HasWorstWeights
from bocopt.core import Array, BoolArray, Risk
from bocopt.wrappers import has

WEIGHT_TOLERANCE = 1e-12  # of the chance constraint: eighteen times 1/20 is 0.9 - 4e-16
_PROBE = np.array([3.0, -1.0, 8.0, 0.5, 2.0, 7.25, -4.0])  # costs that no two risks value alike
_PROBE_W = np.array([0.1, 0.2, 0.05, 0.15, 0.25, 0.05, 0.2])
_OTHERS = np.stack([0.0 * _PROBE, -_PROBE, _PROBE[::-1], 0.1 * _PROBE, _PROBE**2])
_EXACT = 1e-9  # of the value of a probe
_NEAR = 1e-7  # the same where weights are sought by an iteration


class TailMean(NamedTuple):
    """The mean cost of the worst outcomes, of so large a share, times a weight."""

    weight: float  # positive; those of a risk sum to 1
    share: float  # 1: all outcomes; 0: the worst one alone


@dataclass(frozen=True)
class Expectation:
    """The expected cost; what infeasibility costs is part of it, and nothing else is promised.

    >>> float(Expectation().value(np.array([1.0, 3.0]), np.array([0.5, 0.5])))
    2.0
    """

    alpha: ClassVar[None] = None
    tail_means: ClassVar[Sequence[TailMean]] = (TailMean(1.0, 1.0),)

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
    tail_means: ClassVar[Sequence[TailMean]] = (TailMean(1.0, 1.0),)

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

    @property
    def tail_means(self) -> Sequence[TailMean]:
        """The mean of the worst 1 - beta."""
        return (TailMean(1.0, 1.0 - self.beta),)

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
    tail_means: ClassVar[Sequence[TailMean]] = (TailMean(1.0, 0.0),)

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


class Cut(NamedTuple):
    """The risk of any costs c (s) is at least q . c - penalty."""

    q: Array  # (s)
    penalty: float


def solvable(risk: Risk) -> bool:
    """Return whether declared programs can be solved under a risk: it says what its value is.

    >>> solvable(CVaR(0.75)), solvable(Chance(0.9))
    (True, True)
    """
    return bool(tail_means(risk)) or is_cut(risk)


def require_solvable(risk: Risk) -> None:
    """A WrongError unless declared programs can be solved under a risk."""
    if not solvable(risk):
        raise _wrong("program", risk, "`tail_means` or `worst_weights` say what its value is")


def tail_means_of(risk: Risk, owner: str = "program") -> tuple[TailMean, ...]:
    """The means of worst outcomes that a risk is made of: what a solver minimises follows from it.

    A risk that has none is refused, and one whose `value` is another: say a subclass with a `value`
    of its own. None may be solved as if it were another.

    >>> tail_means_of(CVaR(0.75))
    (TailMean(weight=1.0, share=0.25),)
    """
    parts = tail_means(risk)
    if not parts:
        only = "; `worst_weights` are for the cuts of program(...)" * is_cut(risk)
        raise _wrong(owner, risk, f"`tail_means` say what its value is{only}")
    return parts


def tail_means(risk: Risk) -> tuple[TailMean, ...]:
    """Return the means of worst outcomes that a risk says its value is; none if it is not."""
    return _tail_means(risk) if isinstance(risk, Hashable) else ()


def is_cut(risk: Risk) -> bool:
    """Return whether a program under this risk is solved by cuts: by `worst_weights` alone."""
    return isinstance(risk, Hashable) and not _tail_means(risk) and _is_cut(risk)


def cut_at(risk: Risk, costs: Array, w: Array) -> Cut:
    """(s), (s) -> the cut that touches the risk at these costs."""
    found: Any = risk
    q, penalty = found.worst_weights(costs, w)
    return Cut(np.asarray(q, np.float64), float(penalty))


def is_mean(risk: Risk) -> bool:
    """Return whether the risk is the mean of all costs.

    >>> is_mean(Chance(0.9)), is_mean(CVaR(0.9))
    (True, False)
    """
    parts = tail_means(risk)
    return bool(parts) and all(part.share == 1.0 for part in parts)


@lru_cache(maxsize=256)
def _tail_means(risk: Hashable) -> tuple[TailMean, ...]:
    found: Any = risk
    parts = tuple(TailMean(*part) for part in found.tail_means) if has(risk, HasTailMeans) else ()
    return parts if parts and _says_the_value(parts, found) else ()


@lru_cache(maxsize=256)
def _is_cut(risk: Hashable) -> bool:
    """Return whether worst weights are those of a risk: exact where asked, nowhere too high."""
    found: Any = risk
    if not has(risk, HasWorstWeights):
        return False
    q, penalty = cut_at(found, _PROBE, _PROBE_W)
    if q.shape != _PROBE.shape or (q < 0.0).any() or abs(q.sum() - 1.0) > _NEAR:
        return False
    above = [float(q @ costs) - penalty - found.value(costs, _PROBE_W) for costs in _OTHERS]
    exact = abs(float(q @ _PROBE) - penalty - found.value(_PROBE, _PROBE_W)) <= _NEAR
    return bool(exact and max(above) <= _NEAR)


def _wrong(owner: str, risk: Risk, says: str) -> arguments.WrongError:
    expected = f"Expectation(), CVaR(beta), or a frozen one whose {says}"
    return arguments.wrong(owner, "risk", expected, risk)


def with_alpha(risk: Risk | None, alpha: float, owner: str = "program") -> Risk:
    """The risk whose constraints hold in scenarios of weight alpha; None values costs by the mean.

    >>> with_alpha(CVaR(0.9), 1.0), with_alpha(None, 0.95)
    (CVaR(beta=0.9, alpha=1.0), Chance(alpha=0.95))
    """
    if risk is None or type(risk) is Expectation:
        return Chance(alpha)
    given: Any = risk
    if not is_dataclass(risk) or "alpha" not in {each.name for each in fields(risk)}:
        raise arguments.wrong(owner, "risk", "a dataclass with a field `alpha`", risk)
    changed: Risk = replace(given, alpha=alpha)
    return changed


def _says_the_value(parts: Sequence[TailMean], risk: Risk) -> bool:
    """Return whether tail means are those of a risk: on costs that tell one risk from another."""
    if not all(part.weight > 0.0 and 0.0 <= part.share <= 1.0 for part in parts):
        return False
    each = [
        part.weight
        * (CVaR(1.0 - part.share) if part.share else WorstCase()).value(_PROBE, _PROBE_W)
        for part in parts
    ]
    return bool(abs(sum(each) - risk.value(_PROBE, _PROBE_W)) <= _EXACT)


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
