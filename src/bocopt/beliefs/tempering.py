"""Paths from one target to another: adaptive tempering, resampling and full-history moves.

Everything here has exactly one leading axis, the trials. `travel` takes weighted particles along
the straight line between two targets, as far at a time as the effective sample size allows.
"""

from itertools import count
from warnings import warn

import numpy as np

from bocopt.beliefs.moves import Mover, MovingParticles, moved, some_of, with_some
from bocopt.beliefs.target import Coefficients, Target
from bocopt.core import Array, BoolArray, IntArray
from bocopt.numeric.weights import effective_size, normalised

_HALVINGS = 40  # of the interval in which the next target is sought
_LOOK_BACK = 3  # rounds by which the pace is judged
_FAR = (
    "ResampleMove cannot reach the posterior: at the pace of its first rounds of moves it would "
    "take more rounds than there are. What is left of the stage only reweights the particles, so "
    "that few have most of the weight; info.unfinished says where. Such a stage tells more than "
    "the prior and lam were made for: lower lam, widen the prior, or clip the loss."
)


def travel(
    mover: Mover, particles: MovingParticles, target: Target, start: Coefficients, end: Coefficients
) -> MovingParticles:
    """Reweight from start to end; on the way, renew the particles wherever the ESS would fall.

    After so many rounds, or once it shows that they will not do, the rest is reweighted all the
    same: the weights remain those of the target, and few particles have most of them.
    """
    size = particles.log_w.shape[-1]
    trials = len(particles.log_w)
    pending, done = np.arange(trials), np.zeros((trials, 0))
    for round_ in count():
        goal = end.of(pending)
        change = way(some_of(particles, pending, trials), start, goal)
        log_w = particles.log_w.copy()
        share = _furthest(log_w[pending], change, mover.threshold * size)
        done = _with_a_round(done, pending, share)
        ends = (share < 1) & _out_of_reach(done[pending], mover.rounds)
        particles = _noted(particles, pending[ends])
        share = np.where(ends, 1.0, share)
        log_w[pending] = normalised(log_w[pending] + share[:, None] * change)
        particles = particles._replace(log_w=log_w)
        short = share < 1
        if not short.any():
            break
        start = start.towards(goal, share).of(np.flatnonzero(short))
        pending = pending[short]
        target = target.at(pending, start)
        after = moved(mover, some_of(particles, pending, trials), target, f"move.{round_}")
        particles = with_some(particles, pending, trials, after)
    return particles


def way(particles: MovingParticles, start: Coefficients, end: Coefficients) -> Array:
    """Return how much heavier (N), in logs, particles are at the end than at the start.

    What is carried counts like the rest of the past, what is repaid like the rest of the stage
    that leaves. No move depends on them.
    """
    losses = particles.before, particles.last, particles.gone
    change = start.energy(*losses) - end.energy(*losses)
    change = change + (start.before - end.before)[:, None] * particles.carried
    return change + (start.gone - end.gone)[:, None] * particles.repaid


def _with_a_round(done: Array, pending: IntArray, share: Array) -> Array:
    """(B, rounds) the part of the way that was done by each round, with one round more."""
    latest = done[:, -1] if done.size else np.zeros(len(done))
    after = latest.copy()
    after[pending] += share * (1 - latest[pending])
    return np.append(done, after[:, None], axis=1)


def _out_of_reach(done: Array, rounds: int) -> BoolArray:
    """Return True () where the rounds that are left, at the latest pace, are too few.

    On a way that narrows a posterior, every round multiplies what was done by about the same.
    """
    made = done.shape[1] - 1
    now = done[:, -1]
    if made == rounds:
        return np.ones(len(done), bool)
    if made < _LOOK_BACK:
        return np.asarray((made > 0) & (now == 0))  # at first, a move may be due before any step
    with np.errstate(divide="ignore"):
        pace = (np.log(now) - np.log(done[:, -1 - _LOOK_BACK])) / _LOOK_BACK
        return np.asarray(-np.log(now) > (rounds - made) * pace)


def _noted(particles: MovingParticles, unfinished: IntArray) -> MovingParticles:
    """Mark the trials that were not moved to the end as unfinished, with a warning."""
    if unfinished.size:
        warn(_FAR, stacklevel=4)
    noted = particles.unfinished.copy()
    noted[unfinished] = 1.0
    return particles._replace(unfinished=noted)


def _furthest(log_w: Array, change: Array, wanted: float) -> Array:
    """() the largest share of the change that leaves an effective size of at least `wanted`."""

    def enough(share: Array) -> BoolArray:
        """Return () whether so much of the change leaves an effective size of `wanted` or more."""
        return effective_size(normalised(log_w + share[:, None] * change)) >= wanted

    low, high = np.zeros(len(log_w)), np.ones(len(log_w))
    arrived = enough(high)
    if arrived.all():
        return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        fine = enough(middle)
        low, high = np.where(fine, middle, low), np.where(fine, high, middle)
    return np.where(arrived, 1.0, low)
