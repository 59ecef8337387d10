"""The exact Gibbs posterior: resample-move with moves over the full history."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from bocopt import arguments
from bocopt.beliefs.arrival import arrived, placed
from bocopt.beliefs.belief import (
    LAG,
    Belief,
    compared,
    first_info,
    many_axes,
    one_axis,
    own_roots,
    with_intact,
    with_stage,
)
from bocopt.beliefs.forgetting import Forgetting
from bocopt.beliefs.kernels import CrankNicolson, Kernel
from bocopt.beliefs.learning_rate import Fixed, LearningRate
from bocopt.beliefs.moves import Mover, moved, particles_of
from bocopt.beliefs.past import Ledger, initial
from bocopt.beliefs.settings import (
    check_chains,
    check_forgetting,
    check_moves,
    default_kernel,
    default_threshold,
)
from bocopt.beliefs.space import Space
from bocopt.beliefs.target import Coefficients, Leaving, NextStage, Target, losses_at, stage_of
from bocopt.beliefs.tempering import travel, way
from bocopt.beliefs.update import gibbs_update
from bocopt.core import Array, IntArray, Loss, Prior
from bocopt.fingerprint import CHANGES_NO_RESULT
from bocopt.numeric import noise
from bocopt.numeric.noise import When
from bocopt.numeric.stacking import alike
from bocopt.numeric.weights import effective_size, normalised, uniform
from bocopt.priors import Calibrated

_ROUNDS = 20  # of moves in one stage, at most: one or two as a rule, more where it tells much
_ROUNDS_OF_SMALL_STEPS = 50  # likewise where what is forgotten makes the steps small
_ROUNDS_OF_A_BATCH = 100  # which is entered at once


@dataclass(frozen=True, kw_only=True)
class ResampleMove:
    """pi_t ~ pi_0 exp(-lam L_t), L_t = discount L_{t-1} + l(., d_t), by particles.

    Each stage reweights. Where the effective sample size would fall below `threshold` N, the stage
    is entered only so far that it does not, the particles are resampled and moved by `sweeps`
    sweeps of `kernel`, whose target looks back on every stage, and the rest of the stage follows:
    once as a rule (IBIS), more often where one stage tells much (adaptive tempering). Nothing but
    the number of particles and of sweeps stands between the particles and the exact posterior. At
    most 20 times a stage, though (50 with a discount or a window): where that will not do the rest
    only reweights, with a warning, and `info.unfinished` says so.

    - `threshold`: by default 0.5, and 0.9 with a discount or a window. Such a posterior never
      settles, so errors of one move are not outweighed by what follows; with 0.5, a few effective
      particles set the shape that all are then moved with, and their error stays.
    - `sweeps`: by default until particles have forgotten where the move began, along the slowest
      quarter of their axes: 0.2 left of 1 in squared correlation (`info.left`), after 50 sweeps at
      most, or after 10 where 50 would leave more than half. A number: always so many.
    - `kernel`: by default `FittedCrankNicolson` with at least two particles per parameter, and
      `CrankNicolson` with fewer, with `chain_length`, or with `switch_rate`: no shape fits all
      births.
    - `chain_length` P: waste-free, N/P particles are resampled and all P states of each of their
      chains are kept, for the cost of about one sweep. Kernels that learn a shape need a chain for
      each parameter.
    - `early_rejection`: proposals are dropped as soon as the losses seen so far reject them; the
      accepted ones are the same bit for bit.
    - `discount` and `window` forget: old losses lose weight, and drop out (on the same way, in as
      many steps, as the new stage enters). Either bounds the cost of a move in an endless stream:
      with a discount, stages drop out when their weight is below 1e-12.
    - `switch_rate`: each particle is replaced by a fresh one from the prior with this probability
      per stage and counts losses from there on (fixed share), so that a change of regime is
      survived. What its place lost before is forgotten as all losses are (`Forgetting`).
    - `threads`: moves compute their losses on so many; our own problems let them run side by side.

    A move costs N losses per sweep and past stage, but moves become rare: the posterior changes by
    a constant factor only as t doubles, so the amortised cost per stage stays the same. Step sizes
    (and the shapes of `RandomWalk` and `FittedCrankNicolson`) are learned from the particles: what
    that costs in exactness is small, and measured in docs/results/posterior-accuracy.md.

    Reference: Chopin (2002), A sequential particle filter method for static models; Dau, Chopin
    (2022), Waste-free sequential Monte Carlo; Herbster, Warmuth (1998), Tracking the best expert.
    """

    lockstep: ClassVar[bool] = True
    prior: Prior | Calibrated
    loss: Loss
    lam: float | LearningRate
    size: int = 200
    threshold: float | None = None
    kernel: Kernel | None = None
    sweeps: int | None = None
    chain_length: int | None = None
    early_rejection: bool = field(default=True, metadata=CHANGES_NO_RESULT)
    discount: float = 1.0
    window: int | None = None
    switch_rate: float = 0.0
    threads: int = field(default=1, metadata=CHANGES_NO_RESULT)

    def __post_init__(self) -> None:
        name = type(self).__name__
        if not isinstance(self.prior, Calibrated):
            arguments.kind(name, "prior", self.prior, Prior)
        arguments.kind(name, "loss", self.loss, Loss)
        if self.kernel is not None:
            arguments.kind(name, "kernel", self.kernel, Kernel)
        if isinstance(self.lam, type) or not callable(self.lam):
            arguments.number(name, "lam", self.lam, "(0, inf)")
        arguments.integer(name, "threads", self.threads, "[1, inf)")
        check_forgetting(name, self.discount, self.window, self.switch_rate)
        check_moves(name, self.size, self._threshold, self.sweeps)
        check_chains(name, self.size, self.chain_length, self._kernel, self.prior.dim)

    @property
    def _learning_rate(self) -> LearningRate:
        return self.lam if callable(self.lam) else Fixed(self.lam)

    @property
    def _kernel(self) -> Kernel:
        if self.kernel is not None:
            return self.kernel
        many_shapes = self.switch_rate > 0  # one for each birth
        if many_shapes or self.chain_length:
            return CrankNicolson()
        return default_kernel(self.size, self.prior.dim)

    @property
    def _threshold(self) -> float:
        if self.threshold is not None:
            return self.threshold
        return default_threshold(self._forgetting.slides)

    @property
    def _space(self) -> Space:
        return Space(self.prior)

    @property
    def _forgetting(self) -> Forgetting:
        return Forgetting(self.discount, self.window, self.switch_rate)

    def init(self, seeds: IntArray) -> Belief:
        """Return N draws of the prior with equal weights, with the leading axes of the seeds."""
        seeds = arguments.seeds_of("ResampleMove.init", seeds)
        lead = seeds.shape
        lam = self._learning_rate(np.zeros(lead))
        none = initial(lead, 0, 0)
        centre, width = self._space.calibrated(none.x.rows, none.xi.rows)
        u = noise.normal(seeds, 0, "prior", (self.size, self.prior.dim))
        return Belief(
            seeds=seeds,
            centre=centre,
            width=width,
            u=u,
            theta=self._space.theta(u, centre[..., None, :], width[..., None, None]),
            log_w=uniform(lead, self.size),
            total=np.zeros((*lead, self.size)),
            birth=np.zeros((*lead, self.size), np.int64),
            carried=np.zeros((*lead, self.size)),
            inherited=self._forgetting.no_inheritance((*lead, self.size)),
            roots=own_roots(seeds.size, self.size).reshape(*lead, self.size, LAG),
            lam=lam,
            gap=np.zeros(lead),
            scale=np.full(lead, self._kernel.first_scale),
            past=initial(lead, 0, 0),
            info=first_info(self.loss, self.size, lam),
        )

    def step(self, belief: Belief, t: When, x: Array, xi: Array) -> Belief:
        """Return the belief after a stage with context (k) and outcome (m)."""
        lead = belief.seeds.shape
        flat, x, xi = with_stage(belief, x, xi)
        t = noise.merged(t)
        stage = stage_of(self.loss, flat.seeds, t, x, xi)
        theta = flat.theta
        last = losses_at(self.loss, theta, stage)
        update = gibbs_update(flat.log_w, last, flat.lam)
        gap = flat.gap + (update.losses.mean_loss - update.losses.mix_loss)
        lam = self._learning_rate(gap)
        none = np.zeros(len(lam))
        flat, leaving, gone, repaid = self._forgetting.without_the_oldest(flat, self.loss)
        start = Coefficients(flat.lam, none, flat.lam)
        end = Coefficients(lam * self.discount, lam, none)
        if alike("in and past the warm-up of a prior", flat.past.seen < self._space.warm_up):
            seen = flat.past.append(x, xi, t)
            flat, last = self._begun_again(flat, stage, seen.x.rows, seen.xi.rows)
            start, leaving = Coefficients(none, none, none), None
        particles = particles_of(flat, last, gone, repaid)
        change = way(particles, start, end)
        target = self._target(flat, stage, leaving)
        rounds = _ROUNDS_OF_SMALL_STEPS if self._forgetting.slides else _ROUNDS
        particles = travel(self._mover(rounds), particles, target, start, end)
        flat = flat._replace(
            lam=lam,
            gap=gap,
            info=flat.info._replace(
                ess=effective_size(normalised(flat.log_w + change)),
                belief=flat.info.belief._replace(losses=update.losses),
            ),
        )
        after = arrived(flat, particles, stage, self.discount, self._space)
        after = self._forgetting.with_fresh_ones(after, t, self._space, self._ledger(after))
        return many_axes(compared(after, theta, update.log_w), lead)

    def fit(self, seeds: IntArray, x: Array, xi: Array) -> Belief:
        """The posterior of a whole batch, (n, k) and (n, m), straight from the prior by tempering.

        `lam` is per observation: for the paper's offline posterior exp(-lambda * mean loss), give
        lambda / n. It must be a number, and nothing is shared out: both only mean something stage
        by stage.
        """
        if not isinstance(self._learning_rate, Fixed):
            raise arguments.wrong("ResampleMove.fit", "lam", "a number", self.lam)
        if self.switch_rate:
            raise arguments.wrong("ResampleMove.fit", "switch_rate", "0", self.switch_rate)
        xi = arguments.array("ResampleMove.fit", "xi", xi, (None, None))
        n = xi.shape[-2]
        x = arguments.array("ResampleMove.fit", "x", x, (n, ...))
        belief = self.init(seeds)
        lead = belief.seeds.shape
        arguments.lead("ResampleMove.fit", seeds=lead, x=x.shape[:-2], xi=xi.shape[:-2])
        x, xi = (
            np.broadcast_to(a, (*lead, *a.shape[-2:])).reshape(belief.seeds.size, *a.shape[-2:])
            for a in (x, xi)
        )
        flat = one_axis(belief, x.shape[-1], xi.shape[-1])
        for t in range(n - 1):
            past = flat.past.append(x[:, t], xi[:, t], t)
            if past.size >= self._forgetting.stages_kept:
                past = past.without_the_oldest()
            flat = flat._replace(past=past)
        stage = stage_of(self.loss, flat.seeds, n - 1, x[:, -1], xi[:, -1])
        first = self._space.warm_up
        flat, last = self._begun_again(flat, stage, x[:, :first], xi[:, :first])
        none = np.zeros(len(flat.seeds))
        start = Coefficients(none, none, none)
        end = Coefficients(flat.lam * self.discount, flat.lam, none)
        particles = particles_of(flat, last, np.zeros(last.shape), np.zeros(last.shape))
        mover, target = self._mover(_ROUNDS_OF_A_BATCH), self._target(flat, stage)
        particles = travel(mover, particles, target, start, end)
        return many_axes(arrived(flat, particles, stage, self.discount, self._space), lead)

    def _begun_again(
        self, flat: Belief, stage: NextStage, x: Array, xi: Array
    ) -> tuple[Belief, Array]:
        """Draws from the prior as these outcomes calibrate it, with their losses, past and present.

        Nothing is forgotten: all outcomes so far are still to be counted, also those that set the
        prior.
        """
        centre, width = self._space.calibrated(x, xi)
        trials, dim = len(flat.seeds), self.prior.dim
        u = noise.normal(flat.seeds, 0, "prior", (self.size, dim))
        theta = self._space.theta(u, centre[:, None, :], width[:, None, None])
        owner = np.repeat(np.arange(trials), self.size)
        everything = np.full(trials * self.size, np.inf)
        since = np.zeros(trials * self.size, np.int64)
        totals = self._ledger(flat).totals(theta.reshape(-1, dim), owner, since, everything)
        fresh = flat._replace(
            centre=centre,
            width=width,
            u=u,
            theta=theta,
            log_w=uniform((trials,), self.size),
            total=totals.total.reshape(trials, self.size),
            birth=np.zeros_like(flat.birth),
            carried=np.zeros_like(flat.carried),
            inherited=np.zeros_like(flat.inherited),
            roots=own_roots(trials, self.size),
        )
        return fresh, losses_at(self.loss, theta, stage)

    def refresh(self, belief: Belief, sweeps: int, purpose: str = "refresh") -> Belief:
        """Resample and move by so many sweeps at the posterior as it is: more accuracy for time.

        With another `purpose` each time, the noise is new each time.
        """
        arguments.integer("ResampleMove.refresh", "sweeps", sweeps, "[1, inf)")
        if not belief.past.size:
            raise ValueError("ResampleMove.refresh needs a belief that has seen an outcome.")
        flat = one_axis(belief, 0, 0)
        x, xi, t = (part.rows[:, -1, :] for part in flat.past)
        stage = NextStage(t[:, 0].astype(np.int64), x, xi, np.zeros((len(x), self.loss.dim_noise)))
        trials, none = np.arange(len(flat.seeds)), np.zeros(flat.total.shape)
        here = Coefficients(flat.lam, none[:, 0], none[:, 0])
        mover = Mover(self._kernel, sweeps, None, self._threshold)
        particles = particles_of(flat, none, none, none)
        particles = moved(mover, particles, self._target(flat, stage).at(trials, here), purpose)
        after = placed(flat, particles, self._space)._replace(total=particles.before)
        return many_axes(with_intact(after, np.zeros(len(trials))), belief.seeds.shape)

    def _mover(self, rounds: int) -> Mover:
        return Mover(self._kernel, self.sweeps, self.chain_length, self._threshold, rounds)

    def _target(self, flat: Belief, stage: NextStage, leaving: Leaving | None = None) -> Target:
        none = np.zeros(len(flat.seeds))
        return Target(
            ledger=self._ledger(flat),
            sample=lambda u, trials: self._space.theta(
                u, flat.centre[trials], flat.width[trials, None]
            ),
            stage=stage,
            trials=np.arange(len(flat.seeds)),
            coefficients=Coefficients(none, none, none),
            leaving=leaving,
        )

    def _ledger(self, flat: Belief) -> Ledger:
        return Ledger(
            self.loss, flat.seeds, flat.past, self.discount, self.early_rejection, self.threads
        )
