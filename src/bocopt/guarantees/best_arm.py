"""What an ensemble that draws its arm can promise against the best of its arms."""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.guarantees.certificate import Certificate, Evidence, certificate


class Paid(NamedTuple):
    """Sums over stages."""

    t: Array  # ()
    mean: Array  # () expected cost of the draw
    arms: Array  # (A) what each arm would have paid
    worst: Array  # () the most that any arm would have paid
    bound: Array  # () AdaHedge's so far
    missed: Array  # () stages before which others had been learned than those watched
    stale: Array  # () stages whose decision was drawn by other weights


class BestArm:
    """sum E c_t <= least over arms of its sum c + bound: `Ensemble(rule="sample")` alone.

    The expectation is over the draw of the arm; of outcomes nothing is assumed. The bound is
    AdaHedge's 2 gap, and what holding alpha has cost where misses are charged.

    Reference: de Rooij, van Erven, Grunwald, Koolen (2014), Follow the leader if you can, hedge if
    you must.
    """

    def init(self, lead: tuple[int, ...]) -> Paid:
        zero = np.zeros(lead)
        return Paid(zero, zero, zero[..., None], zero, zero, zero, zero)

    def step(self, state: Paid, evidence: Evidence) -> Paid:
        shown = evidence.arms
        arms = shown.arm_cost if shown.arm_cost.ndim else shown.arm_cost[None]
        return Paid(
            t=state.t + 1.0,
            mean=state.mean + shown.arm_mean,
            arms=state.arms + arms,
            worst=state.worst + arms.max(axis=-1),
            bound=state.t * 0.0 + shown.arm_bound,
            missed=state.missed + (shown.arm_stages != state.t + 1.0),
            stale=state.stale + evidence.stale,
        )

    def certificate(self, state: Paid) -> Certificate:
        t = np.maximum(state.t, 1.0)
        drawn = np.isfinite(state.bound + state.mean)
        return certificate(
            "best arm",
            "average cost of the drawn arm, in expectation over the draw",
            value=state.mean / t,
            slack=(state.arms.min(axis=-1) + state.bound - state.mean) / t,
            trivial=state.worst / t,
            delta=0.0,
            assumptions=(),
            broken={
                "The weights had changed between a decision and its outcome": state.stale,
                "The arms had learned from stages that were not watched": np.where(
                    drawn, state.missed, 0.0
                ),
            },
            failed=~drawn,
            note="" if drawn.all() else 'Only an Ensemble with rule="sample" has this guarantee.',
        )
