"""Moves that renew the particles when their weights have become uneven."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from bocopt import arguments
from bocopt.core import Array, IntArray
from bocopt.numeric import noise
from bocopt.numeric.noise import When
from bocopt.numeric.weights import multinomial, systematic


class Particles(NamedTuple):
    """Particles to be moved, with what the current stage did to them."""

    seeds: IntArray  # ()
    theta: Array  # (N, p)
    loss: Array  # (N) at the current stage
    w_before: Array  # (N) weights before the current stage's update
    w_after: Array  # (N) and after it


class Moved(NamedTuple):
    """Equally weighted particles."""

    theta: Array  # (N, p)
    acceptance: Array  # () share of proposals that were accepted


class Move(Protocol):
    """Leaves the law of the weighted particles (after the update) unchanged, or tries to."""

    def __call__(
        self, particles: Particles, t: When, lam: float, loss_of: Callable[[Array], Array]
    ) -> Moved: ...


@dataclass(frozen=True)
class LiuWest:
    """Metropolis-Hastings moves with the Liu-West kernel density as independent proposal.

        mean = sum_i v_i theta_i,   Sigma = sum_i v_i (theta_i - mean)(theta_i - mean)'
        proposal:  I ~ Cat(v),  theta' ~ N(a theta_I + (1 - a) mean, (1 - a^2) Sigma)
        accept with probability min(1, exp(-lam (l(theta', d_t) - l(theta, d_t))))

    `printed` is Algorithm 1 as printed, but for its line of weights: that one divides by the sum of
    the old weights, and the update that comes before any move is repaired in both modes (E5). The
    density is fitted with the weights v *after* the update, so the last outcome counts twice (E6),
    and nothing is resampled (E7). `corrected` fits
    it with the weights before the update, resamples by those after it, then moves: the proposal
    stands for pi_t and the ratio adds d_t once. Either way the density is that of the particles:
    it widens nothing that they have lost.

    The normal is drawn through R of the QR factors of the rows sqrt(v_i) (theta_i - mean), for
    which R'R = Sigma: a singular Sigma (fewer particles than parameters, E8) does no harm. In
    corrected mode `diagonal` in (0, 1] blends in diag(Sigma), which lets proposals leave the
    particles' affine hull.

    Reference: Liu, West (2001), Combined parameter and state estimation in simulation-based
    filtering.
    """

    lockstep: ClassVar[bool] = True
    shrinkage: float = 0.9
    steps: int = 3
    mode: Literal["printed", "corrected"] = "corrected"
    diagonal: float = 0.0

    def __post_init__(self) -> None:
        arguments.number("LiuWest", "shrinkage", self.shrinkage, "[0, 1)")
        arguments.integer("LiuWest", "steps", self.steps, "[1, inf)")
        arguments.number("LiuWest", "diagonal", self.diagonal, "[0, 1]")
        if self.mode not in ("printed", "corrected"):
            raise arguments.wrong("LiuWest", "mode", "'printed' or 'corrected'", self.mode)
        if self.mode == "printed" and self.diagonal:
            raise arguments.wrong("LiuWest", "diagonal", "0 in printed mode", self.diagonal)

    def __call__(
        self, particles: Particles, t: When, lam: float, loss_of: Callable[[Array], Array]
    ) -> Moved:
        proposals = self._proposals(particles, t)
        theta, loss = particles.theta, particles.loss
        if self.mode == "corrected":  # E7
            kept = systematic(
                particles.w_after, noise.uniform(particles.seeds, t, "liu-west.resample", ())
            )
            theta = np.take_along_axis(theta, kept[..., None], axis=-2)
            loss = np.take_along_axis(loss, kept, axis=-1)
        size = theta.shape[-2]
        chance = noise.uniform(particles.seeds, t, "liu-west.accept", (self.steps, size))
        accepted = np.zeros(particles.seeds.shape)
        for step in range(self.steps):
            proposal = proposals[..., step, :, :]
            proposed = loss_of(proposal)
            accept = chance[..., step, :] < np.exp(np.minimum(lam * (loss - proposed), 0.0))
            theta = np.where(accept[..., None], proposal, theta)
            loss = np.where(accept, proposed, loss)
            accepted = accepted + accept.sum(axis=-1)
        return Moved(theta, accepted / (self.steps * size))

    def _proposals(self, particles: Particles, t: When) -> Array:
        """(L, N, p): all proposals at once, since the density is frozen over the steps."""
        v = particles.w_before if self.mode == "corrected" else particles.w_after  # E6
        size, dim = particles.theta.shape[-2:]
        a, many = self.shrinkage, self.steps * size
        mean = np.matmul(v[..., None, :], particles.theta)  # (1, p)
        rows = np.sqrt(v)[..., None] * (particles.theta - mean)
        factor: Array = np.linalg.qr(rows).R
        pick = multinomial(v, noise.uniform(particles.seeds, t, "liu-west.pick", (many,)))
        centre = np.take_along_axis(particles.theta, pick[..., None], axis=-2)
        e = noise.normal(particles.seeds, t, "liu-west.kernel", (many, factor.shape[-2]))
        kick = np.matmul(e, factor)
        if self.diagonal:  # E8
            sd = np.sqrt((factor**2).sum(axis=-2, keepdims=True))
            wide = noise.normal(particles.seeds, t, "liu-west.diagonal", (many, dim))
            kick = np.sqrt(1 - self.diagonal) * kick + np.sqrt(self.diagonal) * sd * wide
        proposals: Array = a * centre + (1 - a) * mean + np.sqrt(1 - a * a) * kick
        return proposals.reshape(*proposals.shape[:-2], self.steps, size, dim)
