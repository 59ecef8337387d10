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
    the upper side; `rates` gives both, as feasibility. Where alpha is surely not met, there is no
    certificate.
    """

    alpha: float = 0.9
    delta: float = 0.05

    def __post_init__(self) -> None:
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

    def rates(self, state: Counts) -> tuple[Array, Array]:
        """() the least and the largest feasibility rate that is believable."""
        t = np.maximum(state.t, 1.0)
        slack = empirical_bernstein(state.error, self.delta / 2) / t
        seen = 1.0 - state.infeasible / t
        return np.asarray(np.maximum(seen - slack, 0.0)), np.asarray(np.minimum(seen + slack, 1.0))

    def certificate(self, state: Counts) -> Certificate:
        low, high = self.rates(state)
        value = state.infeasible / np.maximum(state.t, 1.0)
        missed = high < self.alpha
        said = {
            f"alpha = {self.alpha:g} is not met, feasible at most "
            f"{high[missed].max(initial=0.0):.3f}": missed,
            f"alpha = {self.alpha:g} is met, feasible at least "
            f"{low[low >= self.alpha].min(initial=1.0):.3f}": low >= self.alpha,
            f"whether alpha = {self.alpha:g} is met is still open": ~missed & (low < self.alpha),
        }
        many = value.ndim > 0
        verdicts = [
            f"{text}{f' in {int(where.sum())} of {where.size} trials' * many}"
            for text, where in said.items()
            if where.any()
        ]
        return certificate(
            "feasibility",
            "average chance of an infeasible decision",
            value=value,
            slack=1.0 - low - value,
            trivial=np.ones(value.shape),
            delta=self.delta,
            assumptions=(LATE,) * bool(state.late.any()),
            broken={},
            failed=missed,
            note=f"Verdict: {'; '.join(verdicts)}.",
        )
