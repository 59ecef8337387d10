"""Whether the decisions are feasible as often as was asked for."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array
from bocopt.guarantees.boundaries import empirical_bernstein
from bocopt.guarantees.certificate import Certificate, Evidence, certificate


class Counts(NamedTuple):
    """Of stages, of infeasible ones, and how well these were foreseen."""

    t: Array  # ()
    infeasible: Array  # ()
    error: Array  # () sum of squared errors of predicting infeasibility


@dataclass(frozen=True, kw_only=True)
class Feasibility:
    """A confidence sequence for the mean conditional chance of an infeasible decision.

    Both sides hold at all times at once, but for a chance of delta together. The certificate is
    the upper side; `rates` gives both, as feasibility.
    """

    alpha: float = 0.9
    delta: float = 0.05

    def __post_init__(self) -> None:
        arguments.number("Feasibility", "alpha", self.alpha, "(0, 1]")
        arguments.number("Feasibility", "delta", self.delta, "(0, 1)")

    def init(self, lead: tuple[int, ...]) -> Counts:
        return Counts(*(np.zeros(lead),) * 3)

    def step(self, state: Counts, evidence: Evidence) -> Counts:
        failed = 1.0 - evidence.feasible
        predicted = (0.5 + state.infeasible) / (1.0 + state.t)
        return Counts(
            state.t + 1.0, state.infeasible + failed, state.error + (failed - predicted) ** 2
        )

    def rates(self, state: Counts) -> tuple[Array, Array]:
        """() the least and the largest feasibility rate that is believable."""
        t = np.maximum(state.t, 1.0)
        slack = empirical_bernstein(state.error, self.delta / 2) / t
        seen = 1.0 - state.infeasible / t
        return np.maximum(seen - slack, 0.0), np.minimum(seen + slack, 1.0)

    def certificate(self, state: Counts) -> Certificate:
        low, high = self.rates(state)
        t = np.maximum(state.t, 1.0)
        value = state.infeasible / t
        found = certificate(
            "feasibility",
            value=value,
            slack=1.0 - low - value,
            trivial=np.ones(value.shape),
            delta=self.delta,
            assumptions=(),
            applicable=np.ones(value.shape, bool),
            reason="",
        )
        if (high < self.alpha).all():
            verdict = f"alpha = {self.alpha:g} is not met: feasible at most {high.max():.3f}."
        elif (low >= self.alpha).all():
            verdict = f"alpha = {self.alpha:g} is met: feasible at least {low.min():.3f}."
        else:
            verdict = f"Whether alpha = {self.alpha:g} is met is still open."
        return found._replace(reason=verdict)
