"""Certificates for the decisions actually taken: no belief, no mixability, at all times at once.

z_t is known before xi_t, and so is a range [low_t, high_t] of its cost (`Ranged`). Then the costs
less their conditional means R_t = E[c_t | everything before xi_t, x_t and z_t included] are a
martingale with bounded steps, whatever the policy does (E12, E16).

Every bound rises with what was paid. So a cost of which only the ends are known counts as the most
that it can have been: then nothing is assumed of what hides outcomes.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bocopt import arguments
from bocopt.core import Array
from bocopt.guarantees import betting, kernels
from bocopt.guarantees.boundaries import empirical_bernstein, hoeffding
from bocopt.guarantees.certificate import LATE, NO_RANGE, Certificate, Evidence, certificate
from bocopt.guarantees.kernels.records import Errors, Squares, WatchedSums, named
from bocopt.guarantees.phrases import at_worst

RISK = "average expected cost of the decisions taken"
_REWARD = "average expected reward of the decisions taken"
_RANGES = "the cost lies in a range that is known before xi"
_SHARED = len(WatchedSums._fields)


@dataclass(frozen=True, kw_only=True)
class _OnDecisions(ABC):
    """Base of guarantees on the decisions taken: the sums that all fold, and their certificate."""

    lockstep: ClassVar[bool] = True
    delta: float = 0.05

    def __post_init__(self) -> None:
        arguments.number(type(self).__name__, "delta", self.delta, "(0, 1)")

    @abstractmethod
    def _initial(self) -> Array:
        """Return its own sums (n) before any stage."""

    @abstractmethod
    def _certify(self, seen: WatchedSums, own: Array) -> Certificate:
        """Return the certificate from the sums that all share, and from its own sums (n)."""

    def init(self, lead: tuple[int, ...]) -> Array:
        """Return the sums before any stage, as one array with leading axes `lead`."""
        own = self._initial()
        sums = np.zeros((*lead, _SHARED + len(own)))
        sums[..., _SHARED:] = own
        return sums

    def certificate(self, state: Array) -> Certificate:
        """Return the bound on the average expected cost of the decisions taken."""
        return self._certify(named(WatchedSums, state[..., :_SHARED]), state[..., _SHARED:])

    def _of(
        self,
        name: str,
        seen: WatchedSums,
        slack: Array,
        *,
        assumption: str = _RANGES,
        broken: Mapping[str, Array] | None = None,
        if_vacuous: str = "",
    ) -> Certificate:
        t = np.maximum(seen.t, 1.0)
        wide = f"The range was up to {_number(seen.widest.max())} wide."
        sure = seen.widest + seen.unknown + seen.exceeded + seen.impossible == 0
        return certificate(
            name,
            RISK,
            value=seen.cost / t,
            least=np.where(seen.in_part > 0, seen.least / t, np.nan),
            slack=slack / t,
            trivial=seen.high / t,
            delta=self.delta,
            assumptions=(assumption, *[LATE] * bool(seen.late.any())),
            broken={
                NO_RANGE: seen.unknown,
                "The cost was outside its range": seen.exceeded,
                "The outcome was outside the support that the range rests on": seen.impossible,
                **(broken or {}),
            },
            if_vacuous=f"{wide} {if_vacuous}".strip(),
            note="No outcome could change what they cost."
            if sure.all()
            else at_worst(seen.in_part),
            reward=_REWARD,
            certain=np.asarray(seen.widest == 0),
        )


class _OnSquares(_OnDecisions):
    """Base of guarantees that read no more than how wide the ranges were."""

    @property
    def sums(self) -> Hashable:
        """Key of the sums: all guarantees by squared ranges share a state."""
        return Squares

    def _initial(self) -> Array:
        return np.zeros(len(Squares._fields))

    def step(self, state: Array, evidence: Evidence) -> Array:
        """Return the sums after one more stage, with its squared range."""
        sums: Array = kernels.folds.squared(state, *evidence.paid)
        return sums


@dataclass(frozen=True, kw_only=True)
class Direct(_OnSquares):
    """sum R_t <= sum c_t + lam sum C_t^2 / 8 + log(1/delta) / lam, for all t at once (E12).

    `lam` is a parameter of the proof, fixed before the stream: `for_horizon(T, C, delta)` is best
    after T stages of range C, and `guide` says what another one costs.

    Reference: Hoeffding's lemma and Ville's inequality.
    """

    lam: float

    def __post_init__(self) -> None:
        super().__post_init__()
        arguments.number("Direct", "lam", self.lam, "(0, inf)")

    def _certify(self, seen: WatchedSums, own: Array) -> Certificate:
        square = named(Squares, own).square
        slack = self.lam * square / 8 + np.log(1 / self.delta) / self.lam
        return self._of("direct", seen, slack, if_vacuous=hint(square, seen.t, self.delta))


@dataclass(frozen=True, kw_only=True)
class HoeffdingMixture(_OnSquares):
    """The same for a mixture over many lam, in units of the first range: nearly the best at all t.

    Reference: Howard, Ramdas, McAuliffe, Sekhon (2021), Time-uniform, nonparametric, nonasymptotic
    confidence sequences (its normal mixture, with discrete rates).
    """

    def _certify(self, seen: WatchedSums, own: Array) -> Certificate:
        squares = named(Squares, own)
        slack = squares.unit * hoeffding(squares.in_units, self.delta)
        return self._of("Hoeffding mixture", seen, slack)


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

    def _initial(self) -> Array:
        return np.zeros(len(Errors._fields))

    def step(self, state: Array, evidence: Evidence) -> Array:
        """Return the sums after one more stage, with its squared error of prediction."""
        sums: Array = kernels.folds.erred(state, *evidence.paid, self.scale)
        return sums

    def _certify(self, seen: WatchedSums, own: Array) -> Certificate:
        errors = named(Errors, own)
        slack = self.scale * empirical_bernstein(errors.square, self.delta, errors.wider)
        return self._of(
            "empirical Bernstein",
            seen,
            slack,
            assumption=f"{_RANGES}, at most {self.scale:g} wide" if self.strict else _RANGES,
            broken={
                f"The range was wider than the declared {self.scale:g}": (
                    (seen.t - errors.narrow) * self.strict
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

    def _initial(self) -> Array:
        return betting.no_bets((), self.scale)

    def step(self, state: Array, evidence: Evidence) -> Array:
        """Return the sums after one more stage, with bets on its cost."""
        sums: Array = kernels.bets.watched(state, *evidence.paid, betting.STAKES)
        return sums

    def _certify(self, seen: WatchedSums, own: Array) -> Certificate:
        declared = "" if self.scale is None else f"It was declared to be {_number(self.scale)}."
        slack = betting.most(own, self.delta) - seen.cost
        return self._of("betting", seen, slack, if_vacuous=declared)


def hint(square: Array, t: Array, delta: float) -> str:
    """Return in words what the best lam costs a stage, for squared ranges that sum to `square`."""
    least = np.sqrt(square * np.log(1 / delta) / 2) / np.maximum(t, 1.0)
    return f"The best lam for these stages would have cost {float(least.mean()):.3g} a stage."


def _number(value: float) -> str:
    return f"{value:,.0f}" if 100 <= value < 1e9 else f"{value:.3g}"
