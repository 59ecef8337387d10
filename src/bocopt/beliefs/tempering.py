"""From one target to another: adaptive tempering, resampling and full-history moves.

Everything here has exactly one leading axis, the trials. `travel` takes weighted particles along
the straight line between two targets, as far at a time as the effective sample size allows.
"""

from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple
from warnings import warn

import numpy as np

from bocopt.beliefs.belief import Belief
from bocopt.beliefs.kernels import Chain, Draw, Kernel, shape_of
from bocopt.beliefs.target import Coefficients, Target
from bocopt.core import Array, BoolArray, IntArray
from bocopt.numeric import noise
from bocopt.numeric.resampling import multinomial
from bocopt.numeric.weights import effective_size, normalised, uniform

_HALVINGS = 40  # of the interval in which the next target is sought
_SMALLEST_SCALE = 1e-4
_FAR = (
    "ResampleMove has moved its particles as often as it does in one stage, and they are still far "
    "from the posterior: the rest of the stage only reweights them. See info.unfinished."
)


class Particles(NamedTuple):
    """Weighted particles under way, and what moving them has taken so far."""

    u: Array  # (N, p)
    log_w: Array  # (N)
    before: Array  # (N) total loss over the past
    last: Array  # (N) loss at the stage beside it
    birth: IntArray  # (N)
    carried: Array  # (N)
    inherited: Array  # (N, window)
    roots: IntArray  # (N, lag)
    scale: Array  # ()
    moves: Array  # ()
    acceptance: Array  # () of the last sweep
    evaluated: Array  # ()
    spared: Array  # ()
    unfinished: Array  # () 1 where there were not enough rounds

    def of(self, trials: IntArray) -> "Particles":
        parts: list[Any] = [part[trials] for part in self]
        return Particles(*parts)

    def put(self, trials: IntArray, some: "Particles") -> "Particles":
        """With these trials replaced."""
        parts: list[Any] = [part.copy() for part in self]
        for part, new in zip(parts, some, strict=True):
            part[trials] = new
        return Particles(*parts)


def particles_of(belief: Belief, last: Array) -> Particles:
    """The particles of a belief, with their losses (N) at the stage beside its past."""
    none = np.zeros(len(belief.seeds))
    return Particles(
        u=belief.u,
        log_w=belief.log_w,
        before=belief.total,
        last=last,
        birth=belief.birth,
        carried=belief.carried,
        inherited=belief.inherited,
        roots=belief.roots,
        scale=belief.scale,
        moves=none,
        acceptance=none + np.nan,
        evaluated=none,
        spared=none,
        unfinished=none,
    )


@dataclass(frozen=True)
class Mover:
    """How particles are moved."""

    kernel: Kernel
    sweeps: int
    chain_length: int | None
    threshold: float
    rounds: int = 1  # of moves between reweighting, at most


def travel(
    mover: Mover, particles: Particles, target: Target, start: Coefficients, end: Coefficients
) -> Particles:
    """Reweight from start to end; on the way, renew the particles wherever the ESS would fall.

    After so many rounds the rest is reweighted all the same: the weights remain those of the
    target, and few particles have most of them.
    """
    size = particles.log_w.shape[-1]
    pending = np.arange(len(particles.log_w))
    for round_ in count():
        goal = end.of(pending)
        change = way(particles.of(pending), start, goal)
        log_w = particles.log_w.copy()
        share = _furthest(log_w[pending], change, mover.threshold * size)
        if round_ == mover.rounds:
            particles = _noted(particles, pending[share < 1])
            share = np.ones(len(pending))
        log_w[pending] = normalised(log_w[pending] + share[:, None] * change)
        particles = particles._replace(log_w=log_w)
        short = share < 1
        if not short.any():
            break
        start = start.towards(goal, share).of(np.flatnonzero(short))
        pending = pending[short]
        target = target.at(pending, start)
        particles = particles.put(
            pending, moved(mover, particles.of(pending), target, f"move.{round_}")
        )
    return particles


def way(particles: Particles, start: Coefficients, end: Coefficients) -> Array:
    """(N) how much heavier, in logs, particles are at the end than at the start.

    What is carried counts like the rest of the past. No move depends on it.
    """
    before, last = particles.before, particles.last
    change = start.energy(before, last) - end.energy(before, last)
    return change + (start.before - end.before)[:, None] * particles.carried


def _noted(particles: Particles, unfinished: IntArray) -> Particles:
    """With a note, and a warning, of the trials that were not moved to the end."""
    if unfinished.size:
        warn(_FAR, stacklevel=4)
    noted = particles.unfinished.copy()
    noted[unfinished] = 1.0
    return particles._replace(unfinished=noted)


def _furthest(log_w: Array, change: Array, wanted: float) -> Array:
    """() the largest share of the change that leaves an effective size of at least `wanted`."""

    def enough(share: Array) -> BoolArray:
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


def moved(mover: Mover, particles: Particles, target: Target, purpose: str) -> Particles:
    """Resampled, and moved by the kernel."""
    size = particles.log_w.shape[-1]
    seeds, t = target.ledger.seeds[target.trials], target.stage.t

    def drawing(of: str) -> Draw:
        def draw(kind: str, shape: tuple[int, ...]) -> Array:
            source = noise.normal if kind.startswith("normal") else noise.uniform
            return source(seeds, t, f"{purpose}.{of}.{kind}", shape)

        return draw

    w = np.exp(particles.log_w)
    kept_size = size // (mover.chain_length or 1)
    points = (np.arange(kept_size) + drawing("resample")("uniform", (1,))) / kept_size
    kept = multinomial(w, points)
    birth = np.take_along_axis(particles.birth, kept, -1)
    before, last = (np.take_along_axis(a, kept, -1) for a in (particles.before, particles.last))
    u = np.take_along_axis(particles.u, kept[..., None], -2)
    target = target.born(birth)
    chain = Chain(u, target.coefficients.energy(before, last), before, last)
    group = np.arange(size) % kept_size >= kept_size // 2  # the states of a chain are in one
    shape, scale, states = shape_of(particles.u, w, group, kept), particles.scale, [chain]
    for sweep in range((mover.chain_length or mover.sweeps + 1) - 1):
        chain, acceptance = mover.kernel.sweep(chain, shape, scale, target, drawing(f"{sweep}"))
        scale = scale * np.exp(acceptance - mover.kernel.wanted)
        scale = np.clip(scale, _SMALLEST_SCALE, mover.kernel.largest_scale)
        states.append(chain)
    if mover.chain_length:  # waste-free: all states count
        chain = Chain(*(np.concatenate(parts, axis=1) for parts in zip(*states, strict=True)))
    copies = mover.chain_length or 1
    older = np.take_along_axis(particles.roots, kept[..., None], -2)[..., 1:]
    itself = np.tile(np.arange(kept_size), copies)[:, None]  # the states of a chain are one
    itself = np.broadcast_to(itself, (len(w), size, 1))
    return Particles(
        u=chain.u,
        log_w=uniform(w.shape[:-1], size),
        before=chain.before,
        last=chain.last,
        birth=np.tile(birth, (1, copies)),
        carried=np.tile(np.take_along_axis(particles.carried, kept, -1), (1, copies)),
        inherited=np.tile(
            np.take_along_axis(particles.inherited, kept[..., None], -2), (1, copies, 1)
        ),
        roots=np.concatenate([np.tile(older, (1, copies, 1)), itself], axis=-1),
        scale=scale,
        moves=particles.moves + 1,
        acceptance=acceptance,
        evaluated=particles.evaluated + target.evaluated,
        spared=particles.spared + target.spared,
        unfinished=particles.unfinished,
    )
