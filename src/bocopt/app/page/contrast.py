"""Comparisons for the page: how much better one policy was than another, and how sure that is."""

import math
from typing import NamedTuple

import numpy as np

from bocopt.app.page.view import ReportView
from bocopt.compared import Compared
from bocopt.core import IntArray
from bocopt.numeric.blocks import block_length, one_look

Ends = tuple[float, float]

_UNDECLARED = "It needs a comparison that was declared before the first stage."


class Contrast(NamedTuple):
    """Gains a stage: what was saved, or earned more; negative where the policy is worse."""

    gain: float  # seen
    share: float  # that of what the reference paid; NaN where it paid nothing, or next to it
    always: Ends | None  # where the expected gain lies, at all times at once
    shares: Ends | None  # the same as a share of what the reference is expected to pay
    since: float  # the number of the stage since which it is known on which side of 0 it is, or NaN
    once: Ends | None  # the same by the block bootstrap
    block: int  # its length
    paid: float  # by the reference, a cost a stage
    stages: int  # with an outcome
    missing: int  # outcomes that never came
    outcomes: int  # that were to come
    why: str  # there is no `always`
    at: IntArray  # the numbers of the stages that are compared, with an outcome or without
    alike: bool  # whether both cost the same wherever an outcome is known
    sums: bool = False  # whether a stage is a sum of several decisions
    in_part: int = 0  # outcomes that were seen in part
    at_random: "Contrast | None" = None  # if what hides outcomes has nothing to do with them
    unrecorded: int = 0  # stages that are left out, as one of the two has no decision there

    @property
    def verdict(self) -> int:
        """Return 1 where it is better, -1 where it is worse, 0 where that is open."""
        ends = self.always or self.once
        if ends is None or (self.always and math.isnan(self.since)):
            return 0
        return int(ends[0] >= 0.0 and ends[1] > 0.0) - int(ends[1] <= 0.0 and ends[0] < 0.0)


def contrast(view: ReportView, policy: str) -> Contrast | None:
    """Return the contrast with the reference; None for itself, or if no stage can be compared."""
    if view.reference is None or policy == view.reference or not view.stages.size:
        return None
    found = view.findings.compared.get(policy)
    return _by_blocks(view, policy, view.reference) if found is None else _certified(found)


def level(view: ReportView) -> float:
    """Return the joint confidence of all intervals that hold at all times."""
    return 1.0 - sum(found.delta for found in view.findings.compared.values())


def _certified(found: Compared) -> Contrast:
    d, bootstrap = found.difference, found.bootstrap
    always = _ends(-float(d.high), -float(d.low))
    holds = bool(found.certificate.applicable)
    return Contrast(
        gain=-float(d.seen),
        share=_share(-float(d.seen), found.sense.sign * float(found.today)),
        always=always if holds else None,
        shares=found.shares,
        since=float(found.at[int(d.since) - 1]) if holds and d.since > 0 else math.nan,
        once=_ends(-float(bootstrap.high), -float(bootstrap.low)),
        block=int(bootstrap.length),
        paid=float(found.today),
        stages=found.seen,
        missing=found.missing,
        outcomes=found.outcomes,
        why="" if holds and always else found.certificate.note,
        at=found.at,
        alike=not np.nan_to_num(found.differences).any(),
        sums=found.parts is not None,
        in_part=found.in_part,
        at_random=None if found.at_random is None else _certified(found.at_random),
        unrecorded=found.unrecorded,
    )


def _by_blocks(view: ReportView, policy: str, reference: str) -> Contrast | None:
    both = [view.findings.played[one] for one in (reference, policy)]
    costs = [played.cost[view.stages] for played in both]
    known = np.isfinite(costs[0]) & np.isfinite(costs[1])
    if not known.any():
        return None
    gains, paid = (costs[0] - costs[1])[known], costs[0][known]
    decided = np.asarray(np.isfinite(both[0].z + both[1].z).all(axis=-1))
    warm_up = view.findings.warm_up
    at = np.flatnonzero(decided[warm_up:]) + warm_up
    unrecorded = len(decided) - warm_up - len(at)
    block = block_length(gains / (np.abs(gains).max() or 1.0))  # whose squares could overflow
    return Contrast(
        gain=float(gains.mean()),
        share=_share(float(gains.mean()), view.findings.sense.sign * float(paid.mean())),
        always=None,
        shares=None,
        since=math.nan,
        once=None if view.in_part else _ends(*one_look(gains, block)),
        block=block,
        paid=float(paid.mean()),
        stages=gains.size,
        missing=len(at) - gains.size,
        in_part=int(view.findings.series.in_part[at].sum()),
        outcomes=len(at),
        why=_UNDECLARED if view.findings.now is None else "It needs two outcomes at least.",
        at=at,
        alike=not gains.any(),
        unrecorded=unrecorded,
    )


def _share(gain: float, paid: float) -> float:
    return gain / paid if paid > 0.0 and abs(gain) <= 10.0 * paid else math.nan


def _ends(low: float, high: float) -> Ends | None:
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None
