"""One move of weighted particles: resampled, then taken on by sweeps of a kernel.

Everything here has exactly one leading axis, the trials.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bocopt.beliefs.belief import Belief
from bocopt.beliefs.kernels import Chain, Draw, Kernel, shape_of
from bocopt.beliefs.target import Target
from bocopt.core import Array, IntArray
from bocopt.numeric import noise
from bocopt.numeric.resampling import multinomial
from bocopt.numeric.weights import uniform

_SMALLEST_SCALE = 1e-4


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
