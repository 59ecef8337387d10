"""A bound for an ensemble that draws its arm, against the best of its arms."""

from typing import ClassVar, NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.guarantees import kernels
from bocopt.guarantees.certificate import IN_PART, Certificate, Evidence, certificate
from bocopt.guarantees.kernels.records import Paid, named


class Drawn(NamedTuple):
    """Sums over stages."""

    sums: Array  # (n) `Paid`
    arms: Array  # (A) what each arm would have paid


class BestArm:
    """sum E c_t <= least over arms of its sum c + bound: `Ensemble(rule="sample")` alone.

    The expectation is over the draw of the arm; of outcomes nothing is assumed. The bound is
    AdaHedge's 2 gap, and what holding alpha has cost where misses are charged.

    Reference: de Rooij, van Erven, Grunwald, Koolen (2014), Follow the leader if you can, hedge if
    you must.
    """

    lockstep: ClassVar[bool] = True

    def init(self, lead: tuple[int, ...]) -> Drawn:
        """Return the sums before any stage, with leading axes `lead`."""
        return Drawn(np.zeros((*lead, len(Paid._fields))), np.zeros((*lead, 1)))

    def step(self, state: Drawn, evidence: Evidence) -> Drawn:
        """Return the sums after one more stage, with the cost of the draw and of each arm (A)."""
        (mean, arms, bound, stages), e = evidence.arms, evidence
        if not arms.ndim:
            arms = arms[None]
        sums = kernels.folds.drawn(state.sums, arms, mean, bound, stages, e.stale, e.in_part)
        return Drawn(sums, state.arms + np.where(e.in_part[..., None], 0.0, arms))

    def certificate(self, state: Drawn) -> Certificate:
        """Return the bound on the average expected cost of the drawn arm."""
        paid = named(Paid, state.sums)
        t, drawn = np.maximum(paid.t, 1.0), np.isfinite(paid.bound + paid.mean)
        return certificate(
            "best arm",
            "average cost of the drawn arm, in expectation over the draw",
            reward="average reward of the drawn arm, in expectation over the draw",
            value=paid.mean / t,
            slack=(state.arms.min(axis=-1) + paid.bound - paid.mean) / t,
            trivial=paid.worst / t,
            delta=0.0,
            assumptions=(),
            broken={
                IN_PART: paid.in_part,
                "The weights had changed between a decision and its outcome": paid.stale,
                "The arms had learned from stages that were not watched": np.where(
                    drawn, paid.missed, 0.0
                ),
            },
            failed=~drawn,
            note="" if drawn.all() else 'Only an Ensemble with rule="sample" has this guarantee.',
        )
