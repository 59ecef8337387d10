"""Metropolis-Hastings chains on a whole batch, with and without a gradient."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.beliefs.belief import Belief
from bocopt.beliefs.draws import Draws, DrawsInfo
from bocopt.beliefs.drift import Drift
from bocopt.beliefs.past import Ledger, ledger_of
from bocopt.core import Array, BoolArray, IntArray, Loss, Prior
from bocopt.numeric import noise
from bocopt.numeric.weights import multinomial, uniform
from bocopt.priors import Gaussian

_FIRST_SCALE, _SMALLEST_SCALE = 0.5, 1e-5
_COOLING = 0.6  # the power of the step with which tuning fades
_BY_CHANCE, _BY_GRADIENT = 0.3, 0.57  # acceptance that is aimed at
_CHUNK = 32  # stages whose gradients are summed at once


class Walk(NamedTuple):
    """Positions of the chains, with their losses and step size; trials are the leading axis."""

    u: Array  # (C, p) the prior's noise
    total: Array  # (C) loss on the batch
    slope: Array  # (C, p) of the drift, in the space of u
    scale: Array  # ()
    accepted: Array  # () share, at the last step
    evaluated: Array  # () losses so far


@dataclass(frozen=True, kw_only=True)
class MetropolisHastings:
    """pi ~ pi_0 exp(-lam L), L the loss on a whole batch, by `chains` Markov chains.

    In the space of the prior's noise, theta = prior.sample(u), a step with b = `scale` proposes

        u' = a u - (1 - a) g(u) + b e,   a = sqrt(1 - b^2),   e ~ N(0, I)

    and takes it with the probability that leaves pi unchanged. Without a `drift`, g = 0: this is
    preconditioned Crank-Nicolson. With one, g is lam times its gradient, summed over the batch: a
    Langevin (MALA) step. The drift may be that of another, smooth loss, as decision losses have no
    gradient: it only proposes, the ratio is that of `loss`.

    Each chain drops `burn_in` steps, in which b is tuned, and then keeps every `thin`-th of its
    states, `draws` in all. `average` says how sure averages over them are. For a posterior stage by
    stage use `ResampleMove`: a chain begins anew with each batch.

    >>> from bocopt.paper import DecisionRegret, Gaussian, Linear
    >>> from bocopt.problems import Newsvendor
    >>> problem, predictor = Newsvendor(unit_cost=[1.0], price=[3.0]), Linear(1, 1)
    >>> loss, prior = DecisionRegret(problem, predictor), Gaussian.isotropic(predictor.dim)
    >>> posterior = MetropolisHastings(prior=prior, loss=loss, lam=1.0, burn_in=200, draws=100)
    >>> x = np.linspace(-1.0, 1.0, 50)[:, None]
    >>> draws = posterior.fit(np.array(0), x, 2.0 + x)
    >>> draws.theta.shape, bool((abs(draws.theta.mean(axis=0) - [1, 2]) < 0.3).all())
    ((400, 2), True)

    Reference: Cotter, Roberts, Stuart, White (2013), MCMC methods for functions; Roberts, Tweedie
    (1996), Exponential convergence of Langevin distributions; paper, section 2.1.
    """

    prior: Prior
    loss: Loss
    lam: float
    drift: Drift | None = None
    chains: int = 4
    burn_in: int = 1000
    draws: int = 1000
    thin: int = 1

    def __post_init__(self) -> None:
        name = type(self).__name__
        arguments.kind(name, "prior", self.prior, Prior)
        arguments.kind(name, "loss", self.loss, Loss)
        arguments.number(name, "lam", self.lam, "(0, inf)")
        if self.drift is not None:
            arguments.kind(name, "drift", self.drift, Drift)
            if not isinstance(self.prior, Gaussian):
                expected = "a Gaussian, whose slope in its noise is known, where there is a drift"
                raise arguments.wrong(name, "prior", expected, self.prior)
        arguments.integer(name, "burn_in", self.burn_in, "[0, inf)")
        for field in ("chains", "draws", "thin"):
            arguments.integer(name, field, getattr(self, field), "[1, inf)")

    def fit(self, seeds: IntArray, x: Array, xi: Array, start: Belief | None = None) -> Draws:
        """(n, k), (n, m) -> draws. Chains start from the prior, or from particles of a belief.

        The belief must be about the same prior; `lam` is per observation, as in `ResampleMove.fit`.
        """
        seeds = arguments.seeds_of("MetropolisHastings.fit", seeds)
        lead = seeds.shape
        ledger = ledger_of("MetropolisHastings.fit", self.loss, seeds, x, xi)
        walk = self._begun(ledger, start, lead)
        for step in range(self.burn_in):
            walk = self._tuned(self._stepped(walk, step, ledger), step)
        kept, accepted = [], np.zeros(len(ledger.seeds))
        for step in range(self.draws * self.thin):
            walk = self._stepped(walk, self.burn_in + step, ledger)
            accepted = accepted + walk.accepted
            if (step + 1) % self.thin == 0:
                kept.append(walk)
        return self._gathered(seeds, kept, accepted / (self.draws * self.thin))

    def _begun(self, ledger: Ledger, start: Belief | None, lead: tuple[int, ...]) -> Walk:
        trials, dim = len(ledger.seeds), self.prior.dim
        u = noise.normal(ledger.seeds, 0, "chain.start", (self.chains, dim))
        if start is not None:
            if start.u.shape[:-2] != lead or start.u.shape[-1] != dim:
                expected = f"a belief of shape {lead} about {dim} parameters"
                raise arguments.wrong("MetropolisHastings.fit", "start", expected, start.u.shape)
            u = _drawn_from(start, ledger.seeds, self.chains)
        total, evaluated = self._totals(ledger, u, np.full((trials, self.chains), np.inf))[1:]
        scale, none = np.full(trials, _FIRST_SCALE), np.zeros(trials)
        return Walk(u, total, self._slope(ledger, u), scale, none, evaluated)

    def _stepped(self, walk: Walk, step: int, ledger: Ledger) -> Walk:
        u, slope, b = walk.u, walk.slope, walk.scale[:, None, None]
        a, log_ratio = np.sqrt(1 - b**2), np.zeros(walk.total.shape)
        e = noise.normal(ledger.seeds, step, "chain.normal", u.shape[1:])
        new = a * u - (1 - a) * slope + b * e
        new_slope = self._slope(ledger, new)
        if self.drift is not None:
            back = (u - a * new + (1 - a) * new_slope) / b  # the noise that would lead back
            log_ratio = 0.5 * (e**2 - back**2 + u**2 - new**2).sum(axis=-1)
        uniforms = noise.uniform(ledger.seeds, step, "chain.uniform", walk.total.shape[1:])
        with np.errstate(divide="ignore"):  # a draw of 0 accepts anything
            budget = walk.total + (log_ratio - np.log(uniforms)) / self.lam
        accept, total, evaluated = self._totals(ledger, new, budget)
        return Walk(
            u=np.where(accept[..., None], new, u),
            total=np.where(accept, total, walk.total),
            slope=np.where(accept[..., None], new_slope, slope),
            scale=walk.scale,
            accepted=accept.mean(axis=-1),
            evaluated=walk.evaluated + evaluated,
        )

    def _tuned(self, walk: Walk, step: int) -> Walk:
        wanted = _BY_CHANCE if self.drift is None else _BY_GRADIENT
        scale = walk.scale * np.exp((walk.accepted - wanted) / (step + 1.0) ** _COOLING)
        return walk._replace(scale=np.clip(scale, _SMALLEST_SCALE, 1.0))

    def _totals(self, ledger: Ledger, u: Array, budget: Array) -> tuple[BoolArray, Array, Array]:
        """Return whether the loss of (C, p) is below (C), the loss (C), and how many it took."""
        trials, chains, dim = u.shape
        owner = np.repeat(np.arange(trials), chains)
        theta = self.prior.sample(u).reshape(-1, dim)
        found = ledger.totals(theta, owner, np.zeros(len(owner), np.int64), budget.reshape(-1))
        shape = trials, chains
        evaluated = found.evaluated.reshape(shape).sum(axis=-1)
        return found.alive.reshape(shape), found.total.reshape(shape), evaluated

    def _slope(self, ledger: Ledger, u: Array) -> Array:
        """(C, p) -> (C, p): lam times the drift's gradient in u, over the batch."""
        slope = np.zeros(u.shape)
        if self.drift is None or not isinstance(self.prior, Gaussian):
            return slope
        theta = self.prior.sample(u)[..., None, :]
        x, xi = ledger.past.x.rows, ledger.past.xi.rows
        for first in range(0, ledger.past.size, _CHUNK):
            some = (part[:, None, first : first + _CHUNK, :] for part in (x, xi))
            slope = slope + self.drift.gradient(theta, *some).sum(axis=-2)
        return self.lam * np.asarray(self.prior.sd) * slope

    def _gathered(self, seeds: IntArray, kept: list[Walk], acceptance: Array) -> Draws:
        """All states that were kept, chain by chain; batches of draws^(2/3) of one chain."""
        lead, size, dim = seeds.shape, self.chains * self.draws, self.prior.dim
        u = np.stack([walk.u for walk in kept], axis=2).reshape(*lead, size, dim)
        total = np.stack([walk.total for walk in kept], axis=2).reshape(*lead, size)
        length = max(round(self.draws ** (2 / 3)), 1)
        many = max(self.draws // length, 1)
        within = np.minimum(np.arange(self.draws) // length, many - 1)
        batch = (many * np.arange(self.chains)[:, None] + within).reshape(-1)
        last = kept[-1]
        return Draws(
            seeds=seeds,
            theta=self.prior.sample(u),
            log_w=uniform(lead, size),
            total=total,
            score=-0.5 * (u**2).sum(axis=-1) - self.lam * total,
            batch=np.broadcast_to(batch, (*lead, size)),
            info=DrawsInfo(
                acceptance=acceptance.reshape(lead),
                scale=last.scale.reshape(lead),
                evaluated=last.evaluated.reshape(lead),
                level=np.full(lead, np.inf),
            ),
        )


def _drawn_from(belief: Belief, seeds: IntArray, many: int) -> Array:
    """(many, p) particles of a belief, drawn by their weights; trials are one leading axis."""
    size, dim = belief.u.shape[-2:]
    u, w = belief.u.reshape(-1, size, dim), np.exp(belief.log_w).reshape(-1, size)
    drawn = multinomial(w, noise.uniform(seeds, 0, "chain.particles", (many,)))
    return np.take_along_axis(u, drawn[..., None], axis=-2)
