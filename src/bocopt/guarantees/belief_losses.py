"""Bets on the losses of beliefs and their decisions: the paper's risks without lam or mixability.

For losses l in [0, C], as in `theorems`; R_t(theta) is the loss of theta expected given all before
xi_t, and R_t(z_t) that of the decision taken. Each holds for all t at once, with probability
1 - delta; there is no lam to be fixed, and nothing is asked of how z_t was made:

    `ClippedRegret`   sum R(z_t) <= U_t                             instead of corollary 3.5
    `AgainstOneDraw`  L_t <= sum R(z_t) - sum E_pi_t R <= U_t       instead of mixability, Jensen
    `OneDraw`         sum E_pi_t R <= U_t                           instead of theorem 3.3
    `UpdatedBeliefs`  sum E_q_t R <= U_t                            instead of theorem 3.2

The second and third at delta / 2 each bound what the first does, and are looser: one bet on what
the decision lost is tighter than two on its parts.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array
from bocopt.guarantees import betting, kernels
from bocopt.guarantees.certificate import IN_PART, LATE, Certificate, Evidence, certificate
from bocopt.guarantees.kernels.records import Losses, named
from bocopt.guarantees.phrases import on
from bocopt.guarantees.theorems import late, of_losses

_SUMS = len(Losses._fields)
_NO_LAM = 1.0  # the sums at some lam are kept, and not read here


@dataclass(frozen=True, kw_only=True)
class _OnLosses(ABC):
    """The sums of the theorems, with bets where a certificate needs more."""

    lockstep: ClassVar[bool] = True
    scale: float
    delta: float = 0.05

    def __post_init__(self) -> None:
        name = type(self).__name__
        arguments.number(name, "scale", self.scale, "(0, inf)")
        arguments.number(name, "delta", self.delta, "(0, 1)")

    @property
    def sums(self) -> Hashable:
        """Key of the sums: guarantees of one class and one scale share a state."""
        return type(self), self.scale

    @abstractmethod
    def _outcomes(self, mean: Array, own: Array) -> tuple[tuple[Array, float, float], ...]:
        """Return the outcomes () that are bet on, each with the ends of its range [low, high]."""

    @abstractmethod
    def _certify(self, sums: Losses, bets: Array) -> Certificate:
        """Return the certificate from the sums and the bets (outcomes, SIZE)."""

    def init(self, lead: tuple[int, ...]) -> Array:
        """Return the sums and the bets before any stage, as one array with leading axes `lead`."""
        none = np.zeros(())
        units = [high - low for _, low, high in self._outcomes(none, none)]
        bets = [betting.no_bets(lead, unit) for unit in units]
        return np.concatenate([np.zeros((*lead, _SUMS)), *bets], axis=-1)

    def step(self, state: Array, evidence: Evidence) -> Array:
        """Return the sums and the bets after one more stage."""
        e, (losses, bounds, intact) = evidence, evidence.belief
        shown = *losses, *bounds, intact, e.loss, e.stale, e.late, e.in_part
        sums = kernels.folds.lost(state[..., :_SUMS], *shown, _NO_LAM, self.scale)
        own = np.minimum(e.loss, bounds.loss_upper)
        bets = [
            betting.update(bet, np.clip(outcome, low, high), np.array(low), np.array(high))
            for bet, (outcome, low, high) in zip(
                np.moveaxis(_bets_of(state), -2, 0),
                self._outcomes(losses.mean_loss, own),
                strict=True,
            )
        ]
        return np.concatenate([sums, *bets], axis=-1)

    def certificate(self, state: Array) -> Certificate:
        """Return the certificate from the sums and the bets so far."""
        return self._certify(named(Losses, state[..., :_SUMS]), _bets_of(state))


def _bets_of(state: Array) -> Array:
    """Return the bets of a state as (outcomes, SIZE)."""
    bets = state[..., _SUMS:]
    return bets.reshape(*bets.shape[:-1], bets.shape[-1] // betting.SIZE, betting.SIZE)


class OneDraw(_OnLosses):
    """sum E_pi_t R_t <= U_t, the end of what bets on E_pi_t l_t in [0, C] leave believable.

    The risk of theorem 3.3. The belief is known before xi_t, so its mean loss is an outcome like
    any other, and bets follow how much it really varies.
    """

    def _outcomes(self, mean: Array, own: Array) -> tuple[tuple[Array, float, float], ...]:
        return ((mean, 0.0, self.scale),)

    def _certify(self, sums: Losses, bets: Array) -> Certificate:
        return of_losses(
            "one draw, by bets",
            "average risk of one draw from the belief",
            sums,
            scale=self.scale,
            value=sums.mean,
            slack=betting.most(bets[..., 0, :], self.delta) - sums.mean,
            delta=self.delta,
            assumptions=late(sums),
        )


class UpdatedBeliefs(_OnLosses):
    """sum E_q_t R_t <= U_t, by bets at every theta: PAC-Bayes for all t and all q_t at once.

    The risk of theorem 3.2, for any q_t, which may know xi_t; those of our samplers are the
    particles reweighted by stage t, before any move. For Q > C, as pi_t is known before xi_t,

        prod_s E_pi_s (Q - l_s(theta)) / (Q - R_s(theta))

    is a martingale that starts at 1, and so are mixtures over Q. By Donsker and Varadhan, the log
    of a factor is at least E_q log(Q - l) - E_q log(Q - R) - KL(q || pi). Jensen's inequality gives
    E_q log(Q - R) <= log(Q - E_q R), as the mean of logs does over stages, and log(Q - l) lies
    above its chord from 0 to C, with equality for losses of 0 or C. So where E_q_t l_t sum to m,
    sum E_q_t R is at most what bets say after m / C outcomes that were C and t - m / C that were 0,
    at a level of log(1/delta) + sum KL(q_s || pi_s). It follows how large losses are, and not how
    much they vary: where they are about C / 2, theorem 3.2 at its lam* is tighter at its horizon.

    Reference: Jang, Jun, Kuzborskij, Orabona (2023), Tighter PAC-Bayes bounds through coin-betting;
    Haddouche, Guedj (2022), Online PAC-Bayes learning, for priors that change.
    """

    def _outcomes(self, mean: Array, own: Array) -> tuple[tuple[Array, float, float], ...]:
        return ()

    def _certify(self, sums: Losses, bets: Array) -> Certificate:
        lost = np.clip(sums.posterior / self.scale, 0.0, sums.t)
        highest = betting.most(betting.of_counts(lost, sums.t - lost), self.delta, sums.kl)
        return of_losses(
            "updated beliefs, by bets",
            "average risk of the updated beliefs",
            sums,
            scale=self.scale,
            value=sums.posterior,
            slack=self.scale * highest - sums.posterior,
            delta=self.delta,
            assumptions=late(sums),
        )


class AgainstOneDraw(_OnLosses):
    """L_t <= sum R_t(z_t) - sum E_pi_t R_t(theta) <= U_t: whether aggregation pays, both sides.

    By bets on d_t = l(z_t, xi_t) - E_pi_t l(theta, xi_t) in [-C, C], with delta / 2 each. What
    mixability and Jensen's inequality are assumed for is measured: U_t <= 0 certifies that
    sum R_t(z_t) <= sum E_pi_t R_t, and L_t > 0 refutes it. The certificate is the upper side.
    """

    def _outcomes(self, mean: Array, own: Array) -> tuple[tuple[Array, float, float], ...]:
        found = own - mean, -self.scale, self.scale
        return found, (-found[0], -self.scale, self.scale)

    def interval(self, state: Array) -> tuple[Array, Array]:
        """Return the least and the largest average difference that is believable, each ()."""
        low, high = self._ends(named(Losses, state[..., :_SUMS]), _bets_of(state))
        t = np.maximum(state[..., Losses._fields.index("t")], 1.0)
        return low / t, high / t

    def _ends(self, sums: Losses, bets: Array) -> tuple[Array, Array]:
        """Return the ends between which the expected differences sum to, each ()."""
        up, down = (betting.most(bets[..., side, :], self.delta / 2) for side in (0, 1))
        most = sums.t * self.scale
        return np.maximum(-down, -most), np.minimum(up, most)

    def _certify(self, sums: Losses, bets: Array) -> Certificate:
        low, high = self._ends(sums, bets)
        return of_losses(
            "against one draw",
            "average risk of the decisions taken, less that of one draw from the belief,",
            sums,
            scale=self.scale,
            value=sums.own - sums.mean,
            slack=high - (sums.own - sums.mean),
            delta=self.delta,
            assumptions=late(sums),
            broken={
                "The decision's loss is unknown, or not what the policy learns from": (
                    sums.other_kind
                ),
            },
            note=_verdict(low / np.maximum(sums.t, 1.0), high / np.maximum(sums.t, 1.0)),
        )


def _verdict(low: Array, high: Array) -> str:
    """Return in words whether aggregation beats one draw; it is open for NaN and infinities."""
    pays, costs = high < 0, low > 0
    if low.ndim:
        found = f"It pays to aggregate in {int(pays.sum())} of {pays.size} trials"
        return f"{found}, and costs in {int(costs.sum())}." if costs.any() else f"{found}."
    said = "it pays" if pays else "it costs" if costs else "it is open whether it pays"
    return f"Between {low:.4g} and {high:.4g}: {said} to aggregate." if low <= high else ""


class Regrets(NamedTuple):
    """Sums over stages."""

    t: Array  # ()
    paid: Array  # () regret, cut at C
    cut: Array  # () stages on which it was more
    unknown: Array  # () stages without a hindsight
    negative: Array  # () stages at which the decision was better than hindsight
    late: Array  # () stages whose outcome came late
    in_part: Array  # () stages whose outcome was seen in part, without a hindsight
    bets: Array  # (SIZE)


@dataclass(frozen=True, kw_only=True)
class ClippedRegret:
    """sum E min(regret_t, C) <= U_t, for the decisions of any policy: nothing is assumed of them.

    By bets on min(c(z_t; xi_t) - hindsight_t, C) in [0, C]. For a policy that learns from
    `Clipped(DecisionRegret(...), at=C)` this is the risk of corollary 3.5. What a regret of more
    than C costs above it is not bounded (E15): the note says on how many stages that was.
    """

    lockstep: ClassVar[bool] = True
    scale: float
    delta: float = 0.05

    def __post_init__(self) -> None:
        arguments.number("ClippedRegret", "scale", self.scale, "(0, inf)")
        arguments.number("ClippedRegret", "delta", self.delta, "(0, 1)")

    @property
    def sums(self) -> Hashable:
        """Key of the sums: guarantees of this class with one scale share a state."""
        return type(self), self.scale

    def init(self, lead: tuple[int, ...]) -> Regrets:
        """Return the sums before any stage, with leading axes `lead`."""
        zero = np.zeros(lead)
        return Regrets(*(zero,) * 7, betting.no_bets(lead, self.scale))

    def step(self, state: Regrets, evidence: Evidence) -> Regrets:
        """Return the sums after one more stage, with its regret cut at the scale."""
        e, known = evidence, np.isfinite(evidence.loss)
        paid = np.clip(np.where(known, e.loss, 0.0), 0.0, self.scale)
        ends = np.array(0.0), np.array(self.scale)
        return Regrets(
            t=state.t + 1.0,
            paid=state.paid + paid,
            cut=state.cut + (e.loss > self.scale),
            unknown=state.unknown + ~(known | e.in_part),
            negative=state.negative + (e.loss < -1e-9 * np.maximum(np.abs(e.cost), self.scale)),
            late=state.late + e.late,
            in_part=state.in_part + e.in_part,
            bets=betting.update(state.bets, paid, *ends),
        )

    def certificate(self, state: Regrets) -> Certificate:
        """Return the bound on the average expected regret, cut at the scale."""
        t = np.maximum(state.t, 1.0)
        cut = f"It was above {self.scale:g} {on(state.cut)}." if state.cut.any() else ""
        return certificate(
            "clipped regret",
            f"average expected regret of the decisions taken, cut at {self.scale:g},",
            value=state.paid / t,
            slack=(betting.most(state.bets, self.delta) - state.paid) / t,
            trivial=np.full(t.shape, self.scale),
            delta=self.delta,
            assumptions=(LATE,) * bool(state.late.any()),
            broken={
                IN_PART: state.in_part,
                "The best decision in hindsight is unknown": state.unknown,
                "A decision was better than the best in hindsight": state.negative,
            },
            note=cut,
        )
