"""Certificates for the decisions actually taken: no belief, no mixability, at all times at once.

z_t is known before xi_t, and so is a range [low_t, high_t] of its cost (`Ranged`). Then the costs
less their conditional means are a martingale with bounded steps, whatever the policy does.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray
from bocopt.guarantees.boundaries import empirical_bernstein, hoeffding
from bocopt.guarantees.certificate import Certificate, Evidence, certificate

_RANGES = "a range of the cost that is known before xi and not exceeded"


class Sums(NamedTuple):
    """What the sequences remember: O(1) numbers."""

    t: Array  # ()
    cost: Array  # () sum
    high: Array  # () sum of the most that could have been paid
    square: Array  # () sum of squared ranges
    unit: Array  # () the first range
    shifted: Array  # () sum of (cost - low) / C
    error: Array  # () sum of squared errors of predicting that
    broken: BoolArray  # () whether a range was missing or exceeded
    too_wide: BoolArray  # () whether a range was wider than declared


def _nothing(lead: tuple[int, ...]) -> Sums:
    zero, false = np.zeros(lead), np.zeros(lead, bool)
    return Sums(zero, zero, zero, zero, zero, zero, zero, false, false)


def _added(sums: Sums, e: Evidence, declared: float) -> Sums:
    known = np.isfinite(e.low) & np.isfinite(e.high) & (e.low <= e.cost) & (e.cost <= e.high)
    low, high = np.where(known, e.low, e.cost), np.where(known, e.high, e.cost)
    wide = high - low
    x = (e.cost - low) / declared
    predicted = (0.5 + sums.shifted) / (1.0 + sums.t)
    return Sums(
        t=sums.t + 1.0,
        cost=sums.cost + e.cost,
        high=sums.high + high,
        square=sums.square + wide**2,
        unit=np.where(sums.unit > 0, sums.unit, wide),
        shifted=sums.shifted + x,
        error=sums.error + (x - predicted) ** 2,
        broken=sums.broken | ~known,
        too_wide=sums.too_wide | (wide > declared),
    )


@dataclass(frozen=True, kw_only=True)
class _OnDecisions:
    """What all of them fold: the costs, in units of a range that may be declared."""

    delta: float = 0.05

    def __post_init__(self) -> None:
        arguments.number(type(self).__name__, "delta", self.delta, "(0, 1)")

    @property
    def _unit(self) -> float:
        return 1.0

    def init(self, lead: tuple[int, ...]) -> Sums:
        return _nothing(lead)

    def step(self, state: Sums, evidence: Evidence) -> Sums:
        return _added(state, evidence, self._unit)


@dataclass(frozen=True, kw_only=True)
class Direct(_OnDecisions):
    """sum R_t <= sum c_t + lam sum C_t^2 / 8 + log(1/delta) / lam, for all t at once (E12).

    `lam` is a parameter of the proof, fixed before the stream: `for_horizon(T, C, delta)` is best
    after T stages of range C.
    """

    lam: float

    def __post_init__(self) -> None:
        super().__post_init__()
        arguments.number("Direct", "lam", self.lam, "(0, inf)")

    def certificate(self, state: Sums) -> Certificate:
        slack = self.lam * state.square / 8 + np.log(1 / self.delta) / self.lam
        return _of("direct", self.delta, state, slack, ~state.broken, _RANGES)


@dataclass(frozen=True, kw_only=True)
class HoeffdingMixture(_OnDecisions):
    """The same for a mixture over many lam, in units of the first range: nearly the best at all t.

    Reference: Howard, Ramdas, McAuliffe, Sekhon (2021), Time-uniform, nonparametric, nonasymptotic
    confidence sequences.
    """

    def certificate(self, state: Sums) -> Certificate:
        unit = np.where(state.unit > 0, state.unit, 1.0)
        slack = unit * hoeffding(state.square / unit**2, self.delta)
        return _of("Hoeffding mixture", self.delta, state, slack, ~state.broken, _RANGES)


@dataclass(frozen=True, kw_only=True)
class EmpiricalBernstein(_OnDecisions):
    """The slack follows the spread that costs really have, not their range.

    For a range `scale` declared in advance; a stage whose range is wider makes it not applicable.

    Reference: Howard, Ramdas, McAuliffe, Sekhon (2021); Waudby-Smith, Ramdas (2024), Estimating
    means of bounded random variables by betting.
    """

    scale: float

    def __post_init__(self) -> None:
        super().__post_init__()
        arguments.number("EmpiricalBernstein", "scale", self.scale, "(0, inf)")

    @property
    def _unit(self) -> float:
        return self.scale

    def certificate(self, state: Sums) -> Certificate:
        slack = self.scale * empirical_bernstein(state.error, self.delta)
        fine = ~state.broken & ~state.too_wide
        reason = f"{_RANGES}, and never wider than the declared {self.scale:g}"
        return _of("empirical Bernstein", self.delta, state, slack, fine, reason)


def _of(
    name: str, delta: float, sums: Sums, slack: Array, applicable: BoolArray, needed: str
) -> Certificate:
    t = np.maximum(sums.t, 1.0)
    return certificate(
        name,
        value=sums.cost / t,
        slack=slack / t,
        trivial=sums.high / t,
        delta=delta,
        assumptions=(needed,),
        applicable=applicable,
        reason=f"It needs {needed}.",
    )
