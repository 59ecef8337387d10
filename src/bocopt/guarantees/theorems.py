"""The paper's guarantees on the belief, as it states them, with their assumptions checked.

All are for losses in [0, C] of the particles' own decisions, not for the decisions actually taken
(`decisions` has those). Regret has no upper bound (E15): let the policy learn from `Clipped`
losses, and these hold for the clipped ones; a loss that does not say of itself that it is in
[0, C] is not believed, whatever it was so far. `lam` is a parameter of the proof, fixed before the
stream; only where a guarantee says so is it the policy's own (E13). With R_t(theta) the loss of
theta expected given all before xi_t, x_t included (E16), all hold at all times at once: their
proofs bound a supermartingale.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import log
from typing import Any, ClassVar, NamedTuple
from warnings import warn

import numpy as np

from bocopt import arguments
from bocopt.beliefs import for_horizon
from bocopt.core import Array, BoolArray
from bocopt.guarantees import kernels
from bocopt.guarantees.certificate import IN_PART, LATE, Certificate, Evidence, certificate
from bocopt.guarantees.decisions import hint
from bocopt.guarantees.kernels.records import Losses, named
from bocopt.guarantees.phrases import on


@dataclass(frozen=True, kw_only=True)
class _OnBeliefs(ABC):
    lockstep: ClassVar[bool] = True
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
        """Key of the sums: theorems with one lam and one scale share a state."""
        return _OnBeliefs, self.lam, self.scale

    @abstractmethod
    def _certify(self, sums: Losses) -> Certificate:
        """Return the certificate from the sums."""

    def init(self, lead: tuple[int, ...]) -> Array:
        """Return the sums before any stage, as one array with leading axes `lead`."""
        return np.zeros((*lead, len(Losses._fields)))

    def step(self, state: Array, evidence: Evidence) -> Array:
        """Return the sums after one more stage of the belief."""
        e, (losses, bounds, intact) = evidence, evidence.belief
        shown = *losses, *bounds, intact, e.loss, e.stale, e.late, e.in_part
        sums: Array = kernels.folds.lost(state, *shown, self.lam, self.scale)
        return sums

    def certificate(self, state: Array) -> Certificate:
        """Return the certificate from the sums so far."""
        return self._certify(named(Losses, state))

    def _price(self, sums: Losses) -> Array:
        """lam t C^2 / 8 + log(1/delta) / lam."""
        price: Array = self.lam * sums.t * self.scale**2 / 8 + np.log(1 / self.delta) / self.lam
        return price

    def _certificate(self, name: str, risk: str, sums: Losses, **said: Any) -> Certificate:
        hinted = hint(sums.t * self.scale**2, sums.t, self.delta)
        return of_losses(name, risk, sums, scale=self.scale, if_vacuous=hinted, **said)


def of_losses(
    name: str,
    risk: str,
    sums: Losses,
    *,
    scale: float,
    value: Array,
    slack: Array,
    delta: float,
    assumptions: tuple[str, ...] = (),
    broken: Mapping[str, Array] | None = None,
    if_vacuous: str = "",
    note: str = "",
) -> Certificate:
    """value + slack, sums over stages, for losses in [0, scale], which all of these need."""
    t, counts = np.maximum(sums.t, 1.0), sums.capped * np.isfinite(sums.cap)
    cap = f"{float(sums.cap.max()):g}"
    capped = f"A loss was at its cap of {cap} {on(counts)}." if counts.any() else ""
    return certificate(
        name,
        risk,
        value=value / t,
        slack=slack / t,
        trivial=np.full(value.shape, scale),
        delta=delta,
        assumptions=(f"losses are in [0, {scale:g}], capped if need be", *assumptions),
        broken={
            IN_PART: sums.in_part,
            "The policy says nothing of its belief": sums.unknown,
            f"The loss is not known to be in [0, {scale:g}] (Clipped would see to it)": (
                np.where(sums.unknown > 0, 0.0, sums.unbounded)
            ),
            f"A particle's loss was outside [0, {scale:g}]": sums.outside,
            "Another belief had decided than the one that learned": sums.stale,
            **(broken or {}),
        },
        if_vacuous=if_vacuous,
        note=f"{note} {capped}".strip(),
    )


def late(sums: Losses) -> tuple[str, ...]:
    """Return the assumption `LATE` where an outcome came late, else no assumption."""
    return (LATE,) * bool(sums.late.any())


class Theorem32(_OnBeliefs):
    """sum E_q_t R_t <= sum (E_q_t l_t + KL_t / lam) + lam t C^2 / 8 + log(1/delta) / lam.

    With KL_t = KL(q_t || pi_t), for any q_t, which may know d_t; those of our samplers are the
    particles reweighted by stage t, before any move. At the policy's own lam this is the Gibbs
    minimum, E_q l + KL / lam being the mix loss -(1/lam) log E_pi exp(-lam l); at any other lam it
    holds with the same q.

    Reference: paper, theorem 3.2.
    """

    def _certify(self, sums: Losses) -> Certificate:
        return self._certificate(
            "Theorem 3.2",
            "average risk of the updated beliefs",
            sums,
            value=sums.posterior,
            slack=sums.kl / self.lam + self._price(sums),
            delta=self.delta,
            assumptions=late(sums),
        )


class Theorem33(_OnBeliefs):
    """sum E_pi_t R_t <= sum E_pi_t l_t + lam t C^2 / 8 + log(1/delta) / lam.

    At lam* = `for_horizon(T, C, delta)` the slack after T stages is C sqrt(T log(1/delta) / 2).

    Reference: paper, theorem 3.3.
    """

    def _certify(self, sums: Losses) -> Certificate:
        return self._certificate(
            "Theorem 3.3",
            "average risk of one draw from the belief",
            sums,
            value=sums.mean,
            slack=self._price(sums),
            delta=self.delta,
            assumptions=late(sums),
        )


class Corollary35(_OnBeliefs):
    """Theorem 3.3 for the aggregated decision, if l(pi, d) <= E_pi l(theta, d) for every outcome.

    The print assumes mixability, l(pi, d) <= mix loss, which is stronger, as the mix loss is never
    above the mean (E11). Its proof takes expectations given the past of

        l(pi_t, d_t) <= E_pi_t l(theta, d_t)    hence    R_t(pi_t) <= E_pi_t R_t(theta),

    so Jensen's form is enough: it is what is assumed here, and a refuted mixability is only noted.
    One stage can refute either of them, and none can certify them, as they are about outcomes that
    did not come too. Of the right side alone, which is about expectations, a stage says nothing:
    `AgainstOneDraw` bounds how far it is from true, and is not in need of it.

    Reference: paper, corollary 3.5.
    """

    def _certify(self, sums: Losses) -> Certificate:
        same = np.broadcast_to(sums.other_kind == 0, sums.t.shape)
        jensen = np.where(same, sums.jensen, 0.0)
        note = ""
        if same.any():
            gaps = {
                "Mixability": _refuted(sums, sums.refuted, sums.own - sums.mix, same),
                "Jensen's inequality": _refuted(sums, sums.jensen, sums.own - sums.mean, same),
            }
            note = f"{'; '.join(f'{name}: {gap}' for name, gap in gaps.items())}."
            note += " `AgainstOneDraw` and `ClippedRegret` need neither." * bool(jensen.any())
        return self._certificate(
            "Corollary 3.5",
            "average risk of the aggregated decision",
            sums,
            value=sums.own,
            slack=sums.mean - sums.own + self._price(sums),
            delta=self.delta,
            assumptions=(
                "Jensen's inequality holds: l(pi, d) <= E_pi l(theta, d) for every outcome",
                "the decision is the aggregated one, P(pi), as BMA's",
                *late(sums),
            ),
            broken={
                "The decision's loss is unknown, or not what the policy learns from": (
                    sums.other_kind
                ),
                "Jensen's inequality was refuted": jensen,
            },
            note=note,
        )


def _refuted(sums: Losses, stages: Array, gap: Array, which: BoolArray) -> str:
    """Return in words how often it was refuted, of the trials in question, and the mean gap."""
    share, mean = (float((n / np.maximum(sums.t, 1.0))[which].mean()) for n in (stages, gap))
    verdict = f"refuted on {100 * share:.3g}% of stages" if share else "not refuted"
    return f"{verdict} (mean gap {mean:+.3g})"


class Comparator(_OnBeliefs):
    """sum E_pi_t l_t <= inf over rho {E_rho sum l + KL(rho || pi_0) / lam} + lam t C^2 / 8 (E14).

    Deterministic, for exact Gibbs weights on a finite set of parameters that are never moved: their
    mix losses sum to the infimum. `lam` must be the policy's own; delta plays no part.
    """

    def _certify(self, sums: Losses) -> Certificate:
        return self._certificate(
            "comparator",
            "average loss of one draw from the belief, against the best fixed belief",
            sums,
            value=sums.mean,
            slack=sums.mix - sums.mean + self.lam * sums.t * self.scale**2 / 8,
            delta=0.0,
            assumptions=(
                "all stages since the belief began were watched",
                "particles have not been moved",
                "lam is the policy's own",
            ),
            broken={
                "Particles had been moved or reweighted otherwise": sums.changed,
                f"The policy's own lam was not {self.lam:g}": sums.other_lam,
            },
        )


class Guidance(NamedTuple):
    """Slack per stage at the chosen lam, and at the best for the horizon."""

    lam: float
    slack: float
    best: float  # lam*
    least: float  # slack at lam*
    vacuous: bool  # whether the slack alone is as much as the range

    def __str__(self) -> str:
        said = (
            f"lam = {self.lam:.3g} costs {self.slack:.3g} a stage; lam* = {self.best:.3g} costs "
            f"{self.least:.3g}."
        )
        return f"{said} The bound is vacuous." if self.vacuous else said


def guide(lam: float, *, horizon: int, scale: float, delta: float = 0.05) -> Guidance:
    """Slack lam C^2 / 8 + log(1/delta) / (lam T) per stage, at lam and at lam*.

    For T stages with losses or costs in a range of C; warns where the bound says nothing. lam* is
    best for the bound (E13): the learning rate at which a belief learns well is another matter.

    >>> print(guide(1e-4, horizon=1000, scale=100.0))
    lam = 0.0001 costs 30.1 a stage; lam* = 0.00155 costs 3.87.
    """
    arguments.number("guide", "lam", lam, "(0, inf)")
    best = for_horizon(horizon, scale, delta)
    slack, least = (rate * scale**2 / 8 + log(1 / delta) / (rate * horizon) for rate in (lam, best))
    found = Guidance(lam, slack, best, least, slack >= scale)
    if found.vacuous:
        warn("The bound is vacuous: its slack is no less than the range.", stacklevel=2)
    return found
