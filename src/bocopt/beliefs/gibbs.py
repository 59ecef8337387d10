"""The Gibbs posterior, stage by stage."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.beliefs.liu_west import LiuWest, Move, Particles
from bocopt.beliefs.update import gibbs_update, no_report
from bocopt.core import Array, BeliefReport, BoolArray, IntArray, Loss, Prior
from bocopt.numeric import noise
from bocopt.numeric.weights import effective_size, uniform
from bocopt.priors import Calibrated


class BeliefInfo(NamedTuple):
    """Diagnostics of the last stage; before the first, NaN but for `rejuvenated` and the bounds of
    the loss.
    """

    ess: Array  # () effective sample size after the update, before any move
    belief: BeliefReport
    rejuvenated: BoolArray  # ()
    acceptance: Array  # () of the move; NaN where there was none


class GibbsBelief(NamedTuple):
    """A belief: weighted parameters."""

    seeds: IntArray  # ()
    theta: Array  # (N, p)
    log_w: Array  # (N) normalised
    info: BeliefInfo

    @property
    def score(self) -> Array:
        """(N) the weights: all that is known of the density."""
        return self.log_w


@dataclass(frozen=True, kw_only=True)
class GibbsPosterior:
    """pi_{t+1}(theta) ~ exp(-lam l(theta, d_t)) pi_t(theta), held by N weighted particles.

    Each stage reweights; when the effective sample size falls to `threshold` N or below, `move`
    renews the particles and the weights start again at 1/N.

    Reference: Algorithm 1 of the paper; Bissiri, Holmes, Walker (2016), A general framework for
    updating belief distributions.
    """

    prior: Prior
    loss: Loss
    lam: float
    size: int = 20
    threshold: float = 0.5
    move: Move = field(default_factory=LiuWest)

    def __post_init__(self) -> None:
        if isinstance(self.prior, Calibrated):
            expected = "a Prior with a density of its own; a calibrated one needs ResampleMove"
            raise arguments.wrong("GibbsPosterior", "prior", expected, self.prior)
        arguments.kind("GibbsPosterior", "prior", self.prior, Prior)
        arguments.kind("GibbsPosterior", "loss", self.loss, Loss)
        arguments.kind("GibbsPosterior", "move", self.move, Move)
        arguments.number("GibbsPosterior", "lam", self.lam, "(0, inf)")
        arguments.integer("GibbsPosterior", "size", self.size, "[1, inf)")
        arguments.number("GibbsPosterior", "threshold", self.threshold, "[0, 1]")

    @property
    def parts(self) -> tuple[Move]:
        """The move."""
        return (self.move,)

    def init(self, seeds: IntArray) -> GibbsBelief:
        """Return equally weighted draws (N, p) of the prior, with the leading axes of the seeds."""
        seeds = arguments.seeds_of("GibbsPosterior.init", seeds)
        theta = self.prior.sample(noise.normal(seeds, 0, "prior", (self.size, self.prior.dim)))
        nan = np.full(seeds.shape, np.nan)
        info = BeliefInfo(
            ess=nan,
            belief=no_report(self.loss, seeds.shape),
            rejuvenated=np.zeros(seeds.shape, bool),
            acceptance=nan,
        )
        return GibbsBelief(seeds, theta, uniform(seeds.shape, self.size), info)

    def step(self, belief: GibbsBelief, t: int, x: Array, xi: Array) -> GibbsBelief:
        """Return the belief after a stage, reweighted, and moved if the effective size is low."""
        seeds, theta = belief.seeds, belief.theta
        x = np.broadcast_to(x, (*seeds.shape, x.shape[-1]))
        xi = np.broadcast_to(xi, (*seeds.shape, xi.shape[-1]))
        u = noise.normal(seeds, t, "loss", (self.loss.dim_noise,))
        loss = self.loss(theta, x[..., None, :], xi[..., None, :], u[..., None, :])
        loss = arguments.array("GibbsPosterior.step", "loss", loss, (self.size,))
        update = gibbs_update(belief.log_w, loss, self.lam)
        ess = effective_size(update.log_w)
        low = ess <= self.threshold * self.size
        log_w, acceptance = update.log_w, np.full(seeds.shape, np.nan)
        if low.any():  # gather the trials in need and leave the others alone
            theta, log_w = theta.copy(), log_w.copy()
            particles = Particles(
                seeds[low], theta[low], loss[low], np.exp(belief.log_w[low]), np.exp(log_w[low])
            )
            stage = x[low][:, None, :], xi[low][:, None, :], u[low][:, None, :]
            when = noise.at(t, low)
            moved = self.move(particles, when, self.lam, lambda theta: self.loss(theta, *stage))
            theta[low], log_w[low], acceptance[low] = (
                moved.theta,
                -np.log(self.size),
                moved.acceptance,
            )
        info = belief.info._replace(
            ess=ess,
            belief=belief.info.belief._replace(
                losses=update.losses, intact=(~low).astype(np.float64)
            ),
            rejuvenated=low,
            acceptance=acceptance,
        )
        return GibbsBelief(seeds, theta, log_w, info)
