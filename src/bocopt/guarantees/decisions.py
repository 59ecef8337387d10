"""Certificates for the decisions actually taken: no belief, no mixability, at all times at once.

z_t is known before xi_t, and so is a range [low_t, high_t] of its cost (`Ranged`). Then the costs
less their conditional means R_t = E[c_t | everything before xi_t, x_t and z_t included] are a
martingale with bounded steps, whatever the policy does (E12, E16).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array
from bocopt.guarantees import betting
from bocopt.guarantees.boundaries import empirical_bernstein, hoeffding
from bocopt.guarantees.certificate import LATE, NO_RANGE, Certificate, Evidence, certificate

RISK = "average expected cost of the decisions taken"
_RANGES = "the cost lies in a range that is known before xi"


class Watched(NamedTuple):
    """What all of them remember, in O(1) numbers; `own` is what one of them adds."""

    t: Array  # ()
    cost: Array  # () sum
    high: Array  # () sum of the most that could have been paid
    widest: Array  # () range
    unknown: Array  # () stages without a range
    exceeded: Array  # () stages whose cost was outside its range
    impossible: Array  # () stages whose outcome the range was not meant for
    late: Array  # () stages whose outcome came late
    own: Any


@dataclass(frozen=True, kw_only=True)
class _OnDecisions(ABC):
    """What all of them fold, and say."""

    delta: float = 0.05

    def __post_init__(self) -> None:
        arguments.number(type(self).__name__, "delta", self.delta, "(0, 1)")

    @abstractmethod
    def _begun(self, zero: Array) -> Any:
        """Sums of its own."""

    @abstractmethod
    def _added(self, own: Any, cost: Array, low: Array, high: Array) -> Any:
        """These with one more stage, whose cost is in its range."""

    def init(self, lead: tuple[int, ...]) -> Watched:
        zero = np.zeros(lead)
        return Watched(*(zero,) * 8, own=self._begun(zero))

    def step(self, state: Watched, evidence: Evidence) -> Watched:
        from bocopt.guarantees.kernels import folds

        e = evidence
        seen = folds.priced(e.cost, e.low, e.high, state.widest)
        low, high, kept, widest, unknown, exceeded = seen
        return Watched(
            t=state.t + 1.0,
            cost=state.cost + e.cost,
            high=state.high + high,
            widest=widest,
            unknown=state.unknown + unknown,
            exceeded=state.exceeded + exceeded,
            impossible=state.impossible + ~e.possible,
            late=state.late + e.late,
            own=self._added(state.own, kept, low, high),
        )

    def _of(
        self,
        name: str,
        state: Watched,
        slack: Array,
        *,
        assumption: str = _RANGES,
        broken: Mapping[str, Array] | None = None,
        if_vacuous: str = "",
    ) -> Certificate:
        t = np.maximum(state.t, 1.0)
        wide = f"The range was up to {_number(state.widest.max())} wide."
        return certificate(
            name,
            RISK,
            value=state.cost / t,
            slack=slack / t,
            trivial=state.high / t,
            delta=self.delta,
            assumptions=(assumption, *[LATE] * bool(state.late.any())),
            broken={
                NO_RANGE: state.unknown,
                "The cost was outside its range": state.exceeded,
                "The outcome was outside the support that the range rests on": state.impossible,
                **(broken or {}),
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

    def _begun(self, zero: Array) -> Array:
        return zero

    def _added(self, own: Array, cost: Array, low: Array, high: Array) -> Array:
        """() sum of squared ranges."""
        total: Array = own + (high - low) ** 2
        return total

    def certificate(self, state: Watched) -> Certificate:
        slack = self.lam * state.own / 8 + np.log(1 / self.delta) / self.lam
        best = hint(state.own, state.t, self.delta)
        return self._of("direct", state, slack, if_vacuous=best)


class Squares(NamedTuple):
    unit: Array  # () the first range above 0
    square: Array  # () sum of squared ranges, in units of that


@dataclass(frozen=True, kw_only=True)
class HoeffdingMixture(_OnDecisions):
    """The same for a mixture over many lam, in units of the first range: nearly the best at all t.

    Reference: Howard, Ramdas, McAuliffe, Sekhon (2021), Time-uniform, nonparametric, nonasymptotic
    confidence sequences (its normal mixture, with discrete rates).
    """

    def _begun(self, zero: Array) -> Squares:
        return Squares(zero, zero)

    def _added(self, own: Squares, cost: Array, low: Array, high: Array) -> Squares:
        from bocopt.guarantees.kernels import folds

        return Squares(*folds.squared(own.unit, own.square, high - low))

    def certificate(self, state: Watched) -> Certificate:
        slack = state.own.unit * hoeffding(state.own.square, self.delta)
        return self._of("Hoeffding mixture", state, slack)


class Errors(NamedTuple):
    """In units of the declared range."""

    narrow: Array  # () stages whose range is within it
    paid: Array  # () their sum of cost - low
    square: Array  # () their sum of squared errors of predicting that
    wider: Array  # () sum of squared ranges of the others


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

    def _begun(self, zero: Array) -> Errors:
        return Errors(zero, zero, zero, zero)

    def _added(self, own: Errors, cost: Array, low: Array, high: Array) -> Errors:
        from bocopt.guarantees.kernels import folds

        return Errors(*folds.erred(*own, cost - low, high - low, self.scale))

    def certificate(self, state: Watched) -> Certificate:
        own: Errors = state.own
        slack = self.scale * empirical_bernstein(own.square, self.delta, own.wider)
        return self._of(
            "empirical Bernstein",
            state,
            slack,
            assumption=f"{_RANGES}, at most {self.scale:g} wide" if self.strict else _RANGES,
            broken={
                f"The range was wider than the declared {self.scale:g}": (
                    (state.t - own.narrow) * self.strict
                )
            },
            if_vacuous=f"It was declared to be {_number(self.scale)}.",
        )


@dataclass(frozen=True, kw_only=True)
class Betting(_OnDecisions):
    """The slack follows the law that costs really have: as tight as that of coins on coins.

    `scale` is the range in whose units bets are made, declared in advance: best is one that few
    stages exceed, which are bet on less. Without it, that of the first stage. `betting` has the
    formulas and why they hold.
    """

    scale: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scale is not None:
            arguments.number("Betting", "scale", self.scale, "(0, inf)")

    def _begun(self, zero: Array) -> betting.Bets:
        return betting.no_bets(zero.shape, self.scale)

    def _added(self, own: betting.Bets, cost: Array, low: Array, high: Array) -> betting.Bets:
        return betting.after(own, cost, low, high)

    def certificate(self, state: Watched) -> Certificate:
        declared = "" if self.scale is None else f"It was declared to be {_number(self.scale)}."
        slack = betting.most(state.own, self.delta) - state.cost
        return self._of("betting", state, slack, if_vacuous=declared)


def hint(square: Array, t: Array, delta: float) -> str:
    """What the best lam would have cost, for squared ranges that sum to `square`."""
    least = np.sqrt(square * np.log(1 / delta) / 2) / np.maximum(t, 1.0)
    return f"The best lam for these stages would have cost {float(least.mean()):.3g} a stage."


def _number(value: float) -> str:
    return f"{value:,.0f}" if 100 <= value < 1e9 else f"{value:.3g}"
