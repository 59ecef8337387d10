"""Certificates for the decisions actually taken: no belief, no mixability, at all times at once.

z_t is known before xi_t, and so is a range [low_t, high_t] of its cost (`Ranged`). Then the costs
less their conditional means R_t = E[c_t | everything before xi_t, x_t and z_t included] are a
martingale with bounded steps, whatever the policy does (E12, E16).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array
from bocopt.guarantees.boundaries import empirical_bernstein, hoeffding
from bocopt.guarantees.certificate import LATE, Certificate, Evidence, certificate

RISK = "average expected cost of the decisions taken"
_RANGES = "the cost lies in a range that is known before xi"


class Sums(NamedTuple):
    """What these guarantees remember: O(1) numbers."""

    t: Array  # ()
    cost: Array  # () sum
    high: Array  # () sum of the most that could have been paid
    square: Array  # () sum of squared ranges
    widest: Array  # () range
    unit: Array  # () the first range above 0
    relative: Array  # () sum of squared ranges, in units of that
    narrow: Array  # () stages whose range is within the declared C
    shifted: Array  # () their sum of (cost - low) / C
    error: Array  # () and of squared errors of predicting that
    over: Array  # () sum of squared ranges of the others, in units of C
    unknown: Array  # () stages without a range
    exceeded: Array  # () stages whose cost was outside its range
    impossible: Array  # () stages whose outcome the range was not meant for
    late: Array  # () stages whose outcome came late


@dataclass(frozen=True, kw_only=True)
class _OnDecisions:
    """What all of them fold: the costs, in units of a range that may be declared."""

    delta: float = 0.05

    def __post_init__(self) -> None:
        arguments.number(type(self).__name__, "delta", self.delta, "(0, 1)")

    @property
    def _declared(self) -> float:
        return np.inf

    @property
    def _strict(self) -> bool:
        return True

    def init(self, lead: tuple[int, ...]) -> Sums:
        return Sums(*(np.zeros(lead),) * len(Sums._fields))

    def step(self, state: Sums, evidence: Evidence) -> Sums:
        with np.errstate(over="ignore", invalid="ignore"):
            return self._added(state, evidence, self._declared)

    def _added(self, state: Sums, e: Evidence, declared: float) -> Sums:
        known = np.isfinite(e.low) & np.isfinite(e.high)
        low, high = np.where(known, e.low, e.cost), np.where(known, e.high, e.cost)
        wide = high - low
        narrow = wide <= declared * (1 + 1e-9)
        c = declared if np.isfinite(declared) else 1.0
        x = np.where(narrow, np.clip(e.cost - low, 0.0, wide) / c, 0.0)
        predicted = (0.5 + state.shifted) / (1.0 + state.narrow)
        unit = np.where(state.unit > 0, state.unit, wide)
        return Sums(
            t=state.t + 1.0,
            cost=state.cost + e.cost,
            high=state.high + high,
            square=state.square + wide**2,
            widest=np.maximum(state.widest, wide),
            unit=unit,
            relative=state.relative + (wide / np.where(unit > 0, unit, 1.0)) ** 2,
            narrow=state.narrow + narrow,
            shifted=state.shifted + x,
            error=state.error + np.where(narrow, (x - predicted) ** 2, 0.0),
            over=state.over + np.where(narrow, 0.0, (wide / c) ** 2),
            unknown=state.unknown + ~known,
            exceeded=state.exceeded + arguments.outside(e.cost, low, high),
            impossible=state.impossible + ~np.asarray(e.possible, bool),
            late=state.late + e.late,
        )

    def _of(self, name: str, sums: Sums, slack: Array, if_vacuous: str = "") -> Certificate:
        t = np.maximum(sums.t, 1.0)
        finite = np.isfinite(self._declared)
        too_wide = (sums.t - sums.narrow) * self._strict
        declared = f", at most {self._declared:g} wide" if finite and self._strict else ""
        wide = f"The range was up to {_number(sums.widest.max())} wide"
        wide += f", and declared {_number(self._declared)}." if finite else "."
        return certificate(
            name,
            RISK,
            value=sums.cost / t,
            slack=slack / t,
            trivial=sums.high / t,
            delta=self.delta,
            assumptions=(f"{_RANGES}{declared}", *[LATE] * bool(sums.late.any())),
            broken={
                "No range was known before xi": sums.unknown,
                "The cost was outside its range": sums.exceeded,
                "The outcome was outside the support that the range rests on": sums.impossible,
                f"The range was wider than the declared {self._declared:g}": too_wide,
            },
            if_vacuous=f"{wide} {if_vacuous}".strip(),
        )


@dataclass(frozen=True, kw_only=True)
class Direct(_OnDecisions):
    """sum R_t <= sum c_t + lam sum C_t^2 / 8 + log(1/delta) / lam, for all t at once (E12).

    `lam` is a parameter of the proof, fixed before the stream: `for_horizon(T, C, delta)` is best
    after T stages of range C, and `guide` says what another one costs.

    Reference: Hoeffding's lemma and Ville's inequality.
    """

    lam: float

    def __post_init__(self) -> None:
        super().__post_init__()
        arguments.number("Direct", "lam", self.lam, "(0, inf)")

    def certificate(self, state: Sums) -> Certificate:
        slack = self.lam * state.square / 8 + np.log(1 / self.delta) / self.lam
        return self._of("direct", state, slack, hint(state.square, state.t, self.delta))


@dataclass(frozen=True, kw_only=True)
class HoeffdingMixture(_OnDecisions):
    """The same for a mixture over many lam, in units of the first range: nearly the best at all t.

    Reference: Howard, Ramdas, McAuliffe, Sekhon (2021), Time-uniform, nonparametric, nonasymptotic
    confidence sequences (its normal mixture, with discrete rates).
    """

    def certificate(self, state: Sums) -> Certificate:
        slack = state.unit * hoeffding(state.relative, self.delta)
        return self._of("Hoeffding mixture", state, slack)


@dataclass(frozen=True, kw_only=True)
class EmpiricalBernstein(_OnDecisions):
    """The slack follows the spread that costs really have, not their range.

        sum R_t <= sum c_t + C boundary(sum ((c_t - low_t) / C - prediction_t)^2)

    For a range C = `scale` declared in advance. A stage whose range is wider makes it not
    applicable or, unless `strict`, is counted by its range, as in the Hoeffding mixture: whether it
    is wider is known before its outcome. Predictions are the running means of (c - low) / C.

    Reference: Howard, Ramdas, McAuliffe, Sekhon (2021); Waudby-Smith, Ramdas (2024), Estimating
    means of bounded random variables by betting.
    """

    scale: float
    strict: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        arguments.number("EmpiricalBernstein", "scale", self.scale, "(0, inf)")

    @property
    def _declared(self) -> float:
        return self.scale

    @property
    def _strict(self) -> bool:
        return self.strict

    def certificate(self, state: Sums) -> Certificate:
        slack = self.scale * empirical_bernstein(state.error, self.delta, state.over)
        return self._of("empirical Bernstein", state, slack)


def hint(square: Array, t: Array, delta: float) -> str:
    """What the best lam would have cost, for squared ranges that sum to `square`."""
    least = np.sqrt(square * np.log(1 / delta) / 2) / np.maximum(t, 1.0)
    return f"The best lam for these stages would have cost {float(least.mean()):.3g} a stage."


def _number(value: float) -> str:
    return f"{value:,.0f}" if 100 <= value < 1e9 else f"{value:.3g}"
