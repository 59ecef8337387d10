"""Whether the decisions are feasible as often as was asked for."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array
from bocopt.guarantees.boundaries import empirical_bernstein
from bocopt.guarantees.certificate import LATE, Certificate, Evidence, certificate


class Counts(NamedTuple):
    """Of stages, of infeasible ones, and how well these were foreseen."""

    t: Array  # ()
    infeasible: Array  # ()
    error: Array  # () sum of squared errors of predicting infeasibility
    late: Array  # ()


@dataclass(frozen=True, kw_only=True)
class Feasibility:
    """A confidence sequence for the mean conditional chance of an infeasible decision.

    Empirical Bernstein on both sides, with delta / 2 each: at all times at once. The certificate is
    the upper side; `rates` gives both, as feasibility. With a target `alpha` there is a verdict,
    and no certificate where it is surely not met.
    """

    alpha: float | None = None
    delta: float = 0.05

    def __post_init__(self) -> None:
        if self.alpha is not None:
            arguments.number("Feasibility", "alpha", self.alpha, "(0, 1]")
        arguments.number("Feasibility", "delta", self.delta, "(0, 1)")

    def init(self, lead: tuple[int, ...]) -> Counts:
        return Counts(*(np.zeros(lead),) * 4)

    def step(self, state: Counts, evidence: Evidence) -> Counts:
        failed = 1.0 - evidence.feasible
        predicted = (0.5 + state.infeasible) / (1.0 + state.t)
        return Counts(
            t=state.t + 1.0,
            infeasible=state.infeasible + failed,
            error=state.error + (failed - predicted) ** 2,
            late=state.late + evidence.late,
        )

    def slack(self, state: Counts) -> Array:
        """() how far what is seen may be from what is true, per stage."""
        return empirical_bernstein(state.error, self.delta / 2) / np.maximum(state.t, 1.0)

    def rates(self, state: Counts) -> tuple[Array, Array]:
        """() the least and the largest feasibility rate that is believable."""
        slack, seen = self.slack(state), 1.0 - state.infeasible / np.maximum(state.t, 1.0)
        return np.asarray(np.maximum(seen - slack, 0.0)), np.asarray(np.minimum(seen + slack, 1.0))

    def certificate(self, state: Counts) -> Certificate:
        low, high = self.rates(state)
        value = state.infeasible / np.maximum(state.t, 1.0)
        missed, verdict = np.zeros(value.shape, bool), ""
        if self.alpha is not None:
            missed, verdict = high < self.alpha, f": {_verdict(self.alpha, low, high)}"
        return certificate(
            "feasibility",
            "average chance of an infeasible decision",
            value=value,
            slack=1.0 - low - value,
            trivial=np.ones(value.shape),
            delta=self.delta,
            assumptions=(LATE,) * bool(state.late.any()),
            broken={},
            failed=np.asarray(missed),
            note=f"Feasible between {low.min():.3f} and {high.max():.3f}{verdict}.",
        )


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
