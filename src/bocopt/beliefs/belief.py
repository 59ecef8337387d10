"""The state of the exact sampler."""

from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.beliefs.past import StageHistory, initial
from bocopt.beliefs.update import no_report
from bocopt.core import Array, BeliefReport, IntArray, Loss
from bocopt.state import mapped

_ROUNDING = 1e-12  # of weights
LAG = 20  # generations of ancestors that are known


class MoveInfo(NamedTuple):
    """Diagnostics of the last stage; before the first, NaN or 0 but for `ancestors`, `lam` and the
    bounds of the loss.
    """

    ess: Array  # () after reweighting, before any move
    belief: BeliefReport
    rejuvenated: Array  # () how often the particles were moved
    acceptance: Array  # () of the last sweep; NaN where there was none
    ancestors: Array  # () different ancestors in the oldest generation known
    lam: Array  # () learning rate of the belief
    evaluated: Array  # () losses computed for proposals
    spared: Array  # () losses that early rejection spared
    unfinished: Array  # () 1 where there were too few rounds of moves to reach the posterior
    sweeps: Array  # () of all moves of the stage
    left: Array  # () of where the last move began, in squared correlation; 0 before any move


class Belief(NamedTuple):
    """Weighted parameters, and what full-history moves need to know of them."""

    seeds: IntArray  # ()
    centre: Array  # (p) of a calibrated prior
    width: Array  # () likewise
    u: Array  # (N, p) the prior's noise, which theta is a function of
    theta: Array  # (N, p)
    log_w: Array  # (N) normalised
    total: Array  # (N) discounted loss since birth
    birth: IntArray  # (N) the first stage that counts
    carried: Array  # (N) discounted loss, before its birth, of those whose place a particle took
    inherited: Array  # (N, window) the same stage by stage, oldest first; nothing without a window
    roots: IntArray  # (N, lag) ancestors, oldest first
    lam: Array  # ()
    gap: Array  # () sum of mixability gaps
    scale: Array  # () of the kernel's steps
    past: StageHistory
    info: MoveInfo

    @property
    def dim_x(self) -> int | None:
        """Length k of a context; None before the first."""
        return int(self.past.x.buffer.shape[-1]) if self.past.size else None

    @property
    def score(self) -> Array:
        """(N) log density in the space of u, up to a constant, of those that have seen most."""
        density = -0.5 * (self.u**2).sum(axis=-1) - self.lam[..., None] * self.total
        oldest = self.birth == self.birth.min(axis=-1, keepdims=True)
        return np.where(oldest, density, -np.inf)


def first_info(loss: Loss, size: int, lam: Array) -> MoveInfo:
    """Before any stage."""
    zero, nan = np.zeros(lam.shape), np.full(lam.shape, np.nan)
    return MoveInfo(
        ess=nan,
        belief=no_report(loss, lam.shape),
        rejuvenated=zero,
        acceptance=nan,
        ancestors=zero + size,
        lam=lam,
        evaluated=zero,
        spared=zero,
        unfinished=zero,
        sweeps=zero,
        left=zero,
    )


def compared(after: Belief, theta: Array, log_w: Array) -> Belief:
    """The belief with a note whether it is these parameters with these weights."""
    same = (after.theta == theta).all(axis=(-1, -2))
    same &= (np.abs(np.exp(after.log_w) - np.exp(log_w)) <= _ROUNDING).all(axis=-1)
    return with_intact(after, same.astype(np.float64))


def with_intact(belief: Belief, intact: Array) -> Belief:
    """The belief with this note."""
    report = belief.info.belief._replace(intact=intact)
    return belief._replace(info=belief.info._replace(belief=report))


def one_axis(belief: Belief, dim_x: int, dim_xi: int) -> Belief:
    """Return the belief with all leading axes merged into one, and room for the first stage."""
    lead = belief.seeds.shape
    past = belief.past if belief.past.size else initial(lead, dim_x, dim_xi)
    return _reshaped(belief._replace(past=past), lead, (belief.seeds.size,))


def with_stage(belief: Belief, x: Array, xi: Array) -> tuple[Belief, Array, Array]:
    """The belief and a stage with one leading axis, in shapes that fit what was seen."""
    seen, lead, one = belief.past, belief.seeds.shape, belief.seeds.size
    wide = [h.buffer.shape[-1] if seen.size else ... for h in (seen.x, seen.xi)]
    pair = (
        arguments.array("ResampleMove.step", name, values, (width,))
        for name, values, width in zip(("x", "xi"), (x, xi), wide, strict=True)
    )
    x, xi = (np.broadcast_to(a, (*lead, a.shape[-1])).reshape(one, a.shape[-1]) for a in pair)
    return one_axis(belief, x.shape[-1], xi.shape[-1]), x, xi


def many_axes(belief: Belief, lead: tuple[int, ...]) -> Belief:
    """Return a belief of one leading axis, with the leading axes `lead` instead."""
    return _reshaped(belief, belief.seeds.shape, lead)


def _reshaped(belief: Belief, old: tuple[int, ...], new: tuple[int, ...]) -> Belief:
    def reshape(part: Array) -> Array:
        """Return the array with the leading axes `new` in place of `old`."""
        return part.reshape((*new, *part.shape[len(old) :]))

    histories = [
        h._replace(buffer=reshape(h.buffer), dropped=h.dropped.reshape(new)) for h in belief.past
    ]
    arrays: dict[str, Any] = {
        name: reshape(part)
        for name, part in belief._asdict().items()
        if name not in ("past", "info")
    }
    info: MoveInfo = mapped(reshape, belief.info)
    return Belief(**arrays, past=StageHistory(*histories), info=info)


def own_roots(trials: int, size: int) -> IntArray:
    """(trials, N, lag): every particle is its own ancestor."""
    return np.broadcast_to(np.arange(size)[:, None], (trials, size, LAG)).copy()


def different(roots: IntArray) -> Array:
    """Return how many different numbers () there are among roots (N)."""
    ordered = np.sort(roots, axis=-1)
    found: Array = 1.0 + (np.diff(ordered, axis=-1) > 0).sum(axis=-1)
    return found
