"""The paper's guarantees on the belief, as it states them, with their assumptions checked.

All are for losses in [0, C] of the particles' own decisions, not for the decisions actually taken
(`sequences` has those). `lam` is a parameter of the proof, fixed before the stream; only where a
guarantee says so is it the policy's own.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray
from bocopt.guarantees.certificate import Certificate, Evidence, certificate

_ROUNDING = 1e-9  # of the scale: less does not refute anything


class Losses(NamedTuple):
    """Sums over stages."""

    t: Array  # ()
    mean: Array  # () E_pi loss
    mix: Array  # () mix loss at the policy's lam
    own: Array  # () loss of the decision taken
    refuted: Array  # () stages that refute mixability
    jensen: Array  # () stages at which the decision lost more than the belief's mean
    largest: Array  # () loss of any particle so far
    moved: BoolArray  # () whether particles have moved before the last stage
    moving: BoolArray  # () whether they moved after it


@dataclass(frozen=True, kw_only=True)
class _OnBeliefs:
    lam: float
    scale: float
    delta: float = 0.05

    def __post_init__(self) -> None:
        name = type(self).__name__
        arguments.number(name, "lam", self.lam, "(0, inf)")
        arguments.number(name, "scale", self.scale, "(0, inf)")
        arguments.number(name, "delta", self.delta, "(0, 1)")

    def init(self, lead: tuple[int, ...]) -> Losses:
        zero, false = np.zeros(lead), np.zeros(lead, bool)
        return Losses(zero, zero, zero, zero, zero, zero, zero, false, false)

    def step(self, state: Losses, evidence: Evidence) -> Losses:
        e = evidence
        return Losses(
            t=state.t + 1.0,
            mean=state.mean + e.mean_loss,
            mix=state.mix + e.mix_loss,
            own=state.own + e.loss,
            refuted=state.refuted + (e.loss > e.mix_loss + _ROUNDING * self.scale),
            jensen=state.jensen + (e.loss > e.mean_loss + _ROUNDING * self.scale),
            largest=np.maximum(state.largest, e.largest_loss),
            moved=state.moved | state.moving,
            moving=e.moved,
        )

    def _certificate(
        self, name: str, state: Losses, value: Array, slack: Array, fine: BoolArray, needed: str
    ) -> Certificate:
        t = np.maximum(state.t, 1.0)
        bounded = f"losses of all particles in [0, {self.scale:g}]"
        return certificate(
            name,
            value=value / t,
            slack=slack / t,
            trivial=np.full(value.shape, self.scale),
            delta=self.delta,
            assumptions=(bounded, needed) if needed else (bounded,),
            applicable=fine & np.isfinite(value) & (state.largest <= self.scale),
            reason=f"It needs {bounded}{', and ' + needed if needed else ''}.",
        )

    def _price(self, state: Losses) -> Array:
        """lam t C^2 / 8 + log(1/delta) / lam."""
        price: Array = self.lam * state.t * self.scale**2 / 8 + np.log(1 / self.delta) / self.lam
        return price


class Theorem32(_OnBeliefs):
    """sum E_{q_t+1} R_t <= sum mix loss + lam T C^2 / 8 + log(1/delta) / lam.

    At its Gibbs minimum: q_t+1 are the particles reweighted by stage t before any move, and the
    mix loss -(1/lam) log E_pi_t exp(-lam l) stands for E_q l + KL(q || pi_t) / lam. `lam` must be
    the policy's own.
    """

    def certificate(self, state: Losses) -> Certificate:
        fine = np.ones(state.t.shape, bool)
        return self._certificate("Theorem 3.2", state, state.mix, self._price(state), fine, "")


class Theorem33(_OnBeliefs):
    """sum E_pi_t R_t <= sum E_pi_t l + lam T C^2 / 8 + log(1/delta) / lam.

    At lam* = `for_horizon(T, C, delta)` the slack is C sqrt(T log(1/delta) / 2).
    """

    def certificate(self, state: Losses) -> Certificate:
        fine = np.ones(state.t.shape, bool)
        return self._certificate("Theorem 3.3", state, state.mean, self._price(state), fine, "")


class Corollary35(_OnBeliefs):
    """Theorem 3.3 for the aggregated decision, if l(pi, d) <= mix loss at every stage (E11).

    Realised stages can refute that, never certify it: `reason` says on how many they did. All that
    the proof needs is that the decision loses no more than the belief's mean (Jensen).
    """

    def certificate(self, state: Losses) -> Certificate:
        found = self._certificate(
            "Corollary 3.5",
            state,
            state.mean,
            self._price(state),
            state.refuted == 0,
            "mixability, l(pi, d) <= mix loss, at every stage",
        )
        t = np.maximum(state.t, 1.0)
        refuted, jensen = (100 * float((n / t).mean()) for n in (state.refuted, state.jensen))
        said = (
            f"Mixability was refuted on {refuted:.1f}% of stages (its weaker Jensen form on "
            f"{jensen:.1f}%)."
            if refuted
            else "Mixability was not refuted, which does not certify it."
        )
        return found._replace(reason=f"{said} {found.reason}".strip())


class Comparator(_OnBeliefs):
    """sum E_pi_t l <= inf over rho {E_rho sum l + KL(rho || pi_0) / lam} + lam T C^2 / 8 (E14).

    Deterministic, for exact Gibbs weights: a finite set of parameters that are never moved. Their
    mix losses sum to the infimum. `lam` must be the policy's own; delta plays no part.
    """

    def certificate(self, state: Losses) -> Certificate:
        slack = state.mix - state.mean + self.lam * state.t * self.scale**2 / 8
        found = self._certificate(
            "comparator",
            state,
            state.mean,
            slack,
            ~state.moved,
            "particles that have not been moved: only the first belief is compared with",
        )
        return found._replace(delta=0.0)


def offline(
    losses: Array,
    log_prior: Array,
    log_posterior: Array,
    *,
    n: int,
    lam: float,
    scale: float,
    delta: float = 0.05,
) -> Certificate:
    """E_q R <= E_q r + (KL(q || pi_0) + log(1/delta)) / lam + lam C^2 / (8 n).

    `losses` (N) are mean losses over a batch of n outcomes, in [0, C], of parameters with prior and
    posterior log weights (N). Of all q, the Gibbs posterior ~ exp(-lam r) pi_0 makes it least.

    Reference: Catoni (2007), PAC-Bayesian supervised classification; paper, section 2.
    """
    arguments.integer("offline", "n", n, "[1, inf)")
    arguments.number("offline", "lam", lam, "(0, inf)")
    arguments.number("offline", "scale", scale, "(0, inf)")
    arguments.number("offline", "delta", delta, "(0, 1)")
    losses = arguments.array("offline", "losses", losses, (None,))
    q = np.exp(log_posterior)
    with np.errstate(invalid="ignore"):
        kl = np.where(q > 0, q * (log_posterior - log_prior), 0.0).sum(axis=-1)
    value = (q * losses).sum(axis=-1)
    inside = (losses >= 0).all(axis=-1) & (losses <= scale).all(axis=-1)
    bounded = f"losses in [0, {scale:g}], and lam fixed before the data"
    return certificate(
        "offline PAC-Bayes",
        value=value,
        slack=(kl + np.log(1 / delta)) / lam + lam * scale**2 / (8 * n),
        trivial=np.full(value.shape, scale),
        delta=delta,
        assumptions=(bounded,),
        applicable=np.asarray(inside),
        reason=f"It needs {bounded}.",
    )
