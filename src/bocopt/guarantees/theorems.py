"""The paper's guarantees on the belief, as it states them, with their assumptions checked.

All are for losses in [0, C] of the particles' own decisions, not for the decisions actually taken
(`decisions` has those). Regret has no upper bound (E15): let the policy learn from `Clipped`
losses, and these hold for the clipped ones; a loss that does not say of itself that it is in
[0, C] is not believed, whatever it was so far. `lam` is a parameter of the proof, fixed before the
stream; only where a guarantee says so is it the policy's own (E13). With R_t(theta) the loss of
theta expected given all before xi_t, x_t included (E16), all hold at all times at once: their
proofs bound a supermartingale.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, BoolArray
from bocopt.guarantees.certificate import LATE, Certificate, Evidence, certificate, on
from bocopt.guarantees.decisions import hint


class Losses(NamedTuple):
    """Sums over stages."""

    t: Array  # ()
    mean: Array  # () E_pi loss
    mix: Array  # () mix loss at the policy's lam
    posterior: Array  # () E_q loss
    kl: Array  # () KL(q || pi)
    own: Array  # () loss of the decision taken, cut at the cap
    refuted: Array  # () stages that refute mixability
    jensen: Array  # () stages at which the decision lost more than the belief's mean
    cap: Array  # () what the loss is known to be at most
    capped: Array  # () stages on which a particle lost that much
    unbounded: Array  # () stages whose loss is not known to be in [0, C]
    outside: Array  # () stages on which it was not
    unknown: Array  # () stages that say nothing of a belief
    other_kind: Array  # () stages at which the decision's loss was unknown, or another than theirs
    other_lam: Array  # () stages whose mix loss is at another lam than this one
    changed: Array  # () stages whose pi was not the q of the stage before
    changing: Array  # () 1 where the next one's will not be
    stale: Array  # () stages at which another belief had decided
    late: Array  # () stages whose outcome came late, or after one that never came


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

    @property
    def sums(self) -> Hashable:
        return _OnBeliefs, self.lam, self.scale

    def init(self, lead: tuple[int, ...]) -> Losses:
        return Losses(*(np.zeros(lead),) * len(Losses._fields))

    def step(self, state: Losses, evidence: Evidence) -> Losses:
        from bocopt.guarantees.kernels import folds

        (losses, bounds, intact), loss = evidence.belief, evidence.loss
        shown = folds.lost(*losses, *bounds, intact, loss, state.cap, self.lam, self.scale)
        own, refuted, jensen, cap, capped, unbounded, outside, unknown, *others = shown
        other_kind, other_lam, changing = others
        return Losses(
            t=state.t + 1.0,
            mean=state.mean + losses.mean_loss,
            mix=state.mix + losses.mix_loss,
            posterior=state.posterior + losses.posterior_loss,
            kl=state.kl + losses.kl,
            own=state.own + own,
            refuted=state.refuted + refuted,
            jensen=state.jensen + jensen,
            cap=cap,
            capped=state.capped + capped,
            unbounded=state.unbounded + unbounded,
            outside=state.outside + outside,
            unknown=state.unknown + unknown,
            other_kind=state.other_kind + other_kind,
            other_lam=state.other_lam + other_lam,
            changed=state.changed + state.changing,
            changing=state.t * 0.0 + changing,
            stale=state.stale + evidence.stale,
            late=state.late + evidence.late,
        )

    def _price(self, state: Losses) -> Array:
        """lam t C^2 / 8 + log(1/delta) / lam."""
        price: Array = self.lam * state.t * self.scale**2 / 8 + np.log(1 / self.delta) / self.lam
        return price

    def _certificate(
        self,
        name: str,
        risk: str,
        state: Losses,
        *,
        value: Array,
        slack: Array,
        delta: float,
        assumptions: tuple[str, ...] = (),
        broken: dict[str, Array] | None = None,
        note: str = "",
    ) -> Certificate:
        t, scale = np.maximum(state.t, 1.0), f"{self.scale:g}"
        counts = state.capped * np.isfinite(state.cap)
        cap = f"{float(state.cap.max()):g}"
        capped = f"A loss was at its cap of {cap} {on(counts)}." if counts.any() else ""
        return certificate(
            name,
            risk,
            value=value / t,
            slack=slack / t,
            trivial=np.full(value.shape, self.scale),
            delta=delta,
            assumptions=(f"losses are in [0, {scale}], capped if need be", *assumptions),
            broken={
                "The policy says nothing of its belief": state.unknown,
                f"The loss is not known to be in [0, {scale}] (Clipped would see to it)": (
                    np.where(state.unknown > 0, 0.0, state.unbounded)
                ),
                f"A particle's loss was outside [0, {scale}]": state.outside,
                "Another belief had decided than the one that learned": state.stale,
                **(broken or {}),
            },
            if_vacuous=hint(state.t * self.scale**2, state.t, self.delta),
            note=f"{note} {capped}".strip(),
        )


def _late(state: Losses) -> tuple[str, ...]:
    return (LATE,) * bool(state.late.any())


class Theorem32(_OnBeliefs):
    """sum E_q_t R_t <= sum (E_q_t l_t + KL_t / lam) + lam t C^2 / 8 + log(1/delta) / lam.

    With KL_t = KL(q_t || pi_t), for any q_t, which may know d_t; those of our samplers are the
    particles reweighted by stage t, before any move. At the policy's own lam this is the Gibbs
    minimum, E_q l + KL / lam being the mix loss -(1/lam) log E_pi exp(-lam l); at any other lam it
    holds with the same q.

    Reference: paper, theorem 3.2.
    """

    def certificate(self, state: Losses) -> Certificate:
        return self._certificate(
            "Theorem 3.2",
            "average risk of the updated beliefs",
            state,
            value=state.posterior,
            slack=state.kl / self.lam + self._price(state),
            delta=self.delta,
            assumptions=_late(state),
        )


class Theorem33(_OnBeliefs):
    """sum E_pi_t R_t <= sum E_pi_t l_t + lam t C^2 / 8 + log(1/delta) / lam.

    At lam* = `for_horizon(T, C, delta)` the slack after T stages is C sqrt(T log(1/delta) / 2).

    Reference: paper, theorem 3.3.
    """

    def certificate(self, state: Losses) -> Certificate:
        return self._certificate(
            "Theorem 3.3",
            "average risk of one draw from the belief",
            state,
            value=state.mean,
            slack=self._price(state),
            delta=self.delta,
            assumptions=_late(state),
        )


class Corollary35(_OnBeliefs):
    """Theorem 3.3 for the aggregated decision, if l(pi, d) <= mix loss for every outcome (E11).

    Realised stages can refute that, never certify it: `note` says on how many they did, and how
    large the gaps are. The weaker Jensen form, l(pi, d) <= E_pi l, is all that the proof needs.

    Reference: paper, corollary 3.5.
    """

    def certificate(self, state: Losses) -> Certificate:
        same = np.broadcast_to(state.other_kind == 0, state.t.shape)
        gaps = ""
        if same.any():
            mixability = _refuted(state, state.refuted, state.own - state.mix, same)
            jensen = _refuted(state, state.jensen, state.own - state.mean, same)
            gaps = f"Mixability: {mixability}; its Jensen form: {jensen}."
        return self._certificate(
            "Corollary 3.5",
            "average risk of the aggregated decision",
            state,
            value=state.own,
            slack=state.mean - state.own + self._price(state),
            delta=self.delta,
            assumptions=(
                "mixability holds: l(pi, d) <= mix loss for every outcome",
                "the decision is the aggregated one, P(pi), as BMA's",
                *_late(state),
            ),
            broken={
                "The decision's loss is unknown, or not what the policy learns from": (
                    state.other_kind
                ),
                "Mixability was refuted": np.where(same, state.refuted, 0.0),
            },
            note=gaps,
        )


def _refuted(state: Losses, stages: Array, gap: Array, which: BoolArray) -> str:
    """How often, of the trials in question, and the mean gap."""
    share, mean = (float((n / np.maximum(state.t, 1.0))[which].mean()) for n in (stages, gap))
    verdict = f"refuted on {100 * share:.3g}% of stages" if share else "not refuted"
    return f"{verdict} (mean gap {mean:+.3g})"


class Comparator(_OnBeliefs):
    """sum E_pi_t l_t <= inf over rho {E_rho sum l + KL(rho || pi_0) / lam} + lam t C^2 / 8 (E14).

    Deterministic, for exact Gibbs weights on a finite set of parameters that are never moved: their
    mix losses sum to the infimum. `lam` must be the policy's own; delta plays no part.
    """

    def certificate(self, state: Losses) -> Certificate:
        return self._certificate(
            "comparator",
            "average loss of one draw from the belief, against the best fixed belief",
            state,
            value=state.mean,
            slack=state.mix - state.mean + self.lam * state.t * self.scale**2 / 8,
            delta=0.0,
            assumptions=(
                "all stages since the belief began were watched",
                "particles have not been moved",
                "lam is the policy's own",
            ),
            broken={
                "Particles had been moved or reweighted otherwise": state.changed,
                f"The policy's own lam was not {self.lam:g}": state.other_lam,
            },
        )
