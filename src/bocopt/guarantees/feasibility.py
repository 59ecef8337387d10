"""A confidence sequence for how often decisions are infeasible, with a verdict on the target."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array
from bocopt.guarantees import betting
from bocopt.guarantees.certificate import LATE, Certificate, Evidence, certificate
from bocopt.guarantees.phrases import on

_EITHER = "What was seen of the outcome does not show whether it was feasible"


class Counts(NamedTuple):
    """Counts of stages, of infeasible ones, and of those whose outcome came late or in part."""

    t: Array  # ()
    infeasible: Array  # () surely
    late: Array  # ()
    undecided: Array  # () that may have been either, by what was seen

    @classmethod
    def of(cls, t: Array, infeasible: Array) -> "Counts":
        """Return the counts of outcomes () that came in time and were seen in full."""
        zero = np.zeros(np.shape(t))
        return cls(t, infeasible, zero, zero)


@dataclass(frozen=True, kw_only=True)
class Feasibility:
    """A confidence sequence for the mean conditional chance of an infeasible decision.

    By bets on both sides, with delta / 2 each: at all times at once. The certificate is the upper
    side; `interval` gives both. With a target `alpha` there is a verdict, and no certificate where
    it is surely not met.

    A stage that may have been either, by what was seen of its outcome, counts as infeasible for one
    end and as feasible for the other. So do those whose outcome never came, if `interval` is told
    how many there were: it has the average of all stages, whatever hides outcomes.

    >>> counts = Counts.of(t=np.array(300.0), infeasible=np.array(0.0))
    >>> least, most = Feasibility().interval(counts)
    >>> print(f"feasible: {1 - most:.3f} to {1 - least:.3f}")
    feasible: 0.982 to 1.000
    >>> least, most = Feasibility().interval(counts, missing=100.0)
    >>> print(f"feasible: {1 - most:.3f} to {1 - least:.3f}")
    feasible: 0.675 to 1.000
    """

    lockstep: ClassVar[bool] = True
    alpha: float | None = None
    delta: float = 0.05

    def __post_init__(self) -> None:
        if self.alpha is not None:
            arguments.number("Feasibility", "alpha", self.alpha, "(0, 1]")
        arguments.number("Feasibility", "delta", self.delta, "(0, 1)")

    def init(self, lead: tuple[int, ...]) -> Counts:
        """Return counts of zero, with leading axes `lead`."""
        return Counts(*(np.zeros(lead),) * 4)

    def step(self, state: Counts, evidence: Evidence) -> Counts:
        """Return the counts after one more stage."""
        return Counts(
            t=state.t + 1.0,
            infeasible=state.infeasible + ~(evidence.feasible | evidence.undecided),
            undecided=state.undecided + evidence.undecided,
            late=state.late + evidence.late,
        )

    def interval(self, state: Counts, missing: Array | float = 0.0) -> tuple[Array, Array]:
        """Return the least and the largest believable chance of an infeasible decision, each ().

        `missing` () stages beside those counted have no outcome: each end holds whatever it was.
        """
        infeasible, feasible = state.infeasible, state.t - state.infeasible - state.undecided
        either, t = state.undecided + missing, state.t + missing
        most, most_feasible = (
            np.minimum(betting.most(bets, self.delta / 2) / np.maximum(t, 1.0), 1.0)
            for bets in (
                betting.of_counts(infeasible + either, feasible),
                betting.of_counts(feasible + either, infeasible),
            )
        )
        return 1.0 - most_feasible, most

    def certificate(self, state: Counts) -> Certificate:
        """Return the bound on the average chance of an infeasible decision, with the verdict on
        alpha.
        """
        least, most = self.interval(state)
        low, high = 1.0 - most, 1.0 - least  # of feasibility
        t, either = np.maximum(state.t, 1.0), state.undecided
        value = (state.infeasible + either) / t
        missed, verdict = np.zeros(value.shape, bool), ""
        if self.alpha is not None:
            missed, verdict = high < self.alpha, f": {_verdict(self.alpha, low, high)}"
        found = certificate(
            "feasibility",
            "average chance of an infeasible decision",
            value=value,
            least=np.where(either > 0, state.infeasible / t, np.nan),
            slack=most - value,
            trivial=np.ones(value.shape),
            delta=self.delta,
            assumptions=(LATE,) * bool(state.late.any()),
            broken={},
            failed=np.asarray(missed),
            note=f"Feasible between {low.min():.3f} and {high.max():.3f}{verdict}."
            + f" {_EITHER} {on(either)}." * bool(either.any()),
        )
        return found._replace(refuted=np.asarray(missed))


def _verdict(alpha: float, low: Array, high: Array) -> str:
    said = {
        f"alpha = {alpha:g} is met": low >= alpha,
        f"alpha = {alpha:g} is not met": high < alpha,
        f"whether alpha = {alpha:g} is met is open": (low < alpha) & (alpha <= high),
    }
    return ", ".join(
        f"{text}{f' in {int(where.sum())} of {where.size} trials' * (where.ndim > 0)}"
        for text, where in said.items()
        if where.any()
    )
