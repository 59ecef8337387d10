"""Beliefs whose risks are known."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bocopt.beliefs import for_horizon
from bocopt.beliefs.update import gibbs_update
from bocopt.core import Array, BeliefReport, IntArray, LossBounds, LossReport
from bocopt.guarantees import Corollary35, Evidence, Guarantee, Theorem32, Theorem33
from bocopt.numeric import noise
from bocopt.numeric.weights import uniform
from bocopt_studies.guarantees.simulation import Shown, Simulation

UPDATED, ONE_DRAW, AGGREGATED = "updated", "one draw", "aggregated"
LAM = 0.5  # of the beliefs simulated here
_PARAMETERS = 5


class _Beliefs(Simulation):
    def guarantees(self, horizon: int, delta: float) -> Mapping[str, tuple[str, Guarantee[Any]]]:
        """Return Theorems 3.2 and 3.3 at the belief's lam and at lam*, with their risks."""
        best = for_horizon(horizon, 1.0, delta)
        return {
            "Theorem 3.2, own lam": (UPDATED, Theorem32(lam=LAM, scale=1.0, delta=delta)),
            "Theorem 3.2, lam*": (UPDATED, Theorem32(lam=best, scale=1.0, delta=delta)),
            "Theorem 3.3, own lam": (ONE_DRAW, Theorem33(lam=LAM, scale=1.0, delta=delta)),
            "Theorem 3.3, lam*": (ONE_DRAW, Theorem33(lam=best, scale=1.0, delta=delta)),
        }


@dataclass(frozen=True)
class FiniteBelief(_Beliefs):
    """Exact Gibbs weights on losses of 0 or 1.

    `coins`: one for all parameters, so that all are lucky together, or one for each, so that the
    posterior follows luck. `restless`: after a lucky stage the weights start again, and the
    likeliest parameter has a rare loss; both depend on the past.
    """

    coins: int = 1
    restless: bool = False

    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]:
        """Yield each stage's evidence, and the risks of one draw and of the updated belief."""
        size = (*seeds.shape, _PARAMETERS)
        log_w, chances = uniform(seeds.shape, _PARAMETERS), np.linspace(0.4, 0.6, _PARAMETERS)
        for t in range(horizon):
            chance = np.broadcast_to(chances, size)
            if self.restless:
                likeliest = np.arange(_PARAMETERS) == log_w.argmax(axis=-1)[..., None]
                chance = np.where(likeliest, 0.03, chance)
            loss = (noise.uniform(seeds, t, "finite", (self.coins,)) < chance).astype(float)
            update = gibbs_update(log_w, loss, LAM)
            before, after = np.exp(log_w), np.exp(update.log_w)
            lucky = (update.losses.mean_loss < 0.2) & self.restless
            intact = np.where(lucky, 0.0, 1.0)
            yield (
                belief_of(loss[..., 0], losses=update.losses, intact=intact),
                {
                    ONE_DRAW: (before * chance).sum(axis=-1),
                    UPDATED: (after * chance).sum(axis=-1),
                },
            )
            log_w = np.where(lucky[..., None], -np.log(_PARAMETERS), update.log_w)


@dataclass(frozen=True)
class Squared(_Beliefs):
    """Squared errors of forecasts up to `highest`, decided by the mean: mixable at LAM = 1/2.

    The chance of the outcome 1 is even while the forecaster is lucky, and `otherwise` if not. Where
    all forecasts are near 0, mixability is nearly an equality.
    """

    highest: float = 1.0
    otherwise: float = 0.05

    def guarantees(self, horizon: int, delta: float) -> Mapping[str, tuple[str, Guarantee[Any]]]:
        """Return the theorems of all beliefs, and Corollary 3.5 for the aggregated decision."""
        best = for_horizon(horizon, 1.0, delta)
        corollary = Corollary35(lam=best, scale=1.0, delta=delta)
        return {
            **super().guarantees(horizon, delta),
            "Corollary 3.5, lam*": (AGGREGATED, corollary),
        }

    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]:
        """Yield each stage's evidence, and the risks of one draw, update and aggregation."""
        theta = np.linspace(0.0, self.highest, _PARAMETERS)
        log_w, ahead = uniform(seeds.shape, _PARAMETERS), np.zeros(seeds.shape)
        for t in range(horizon):
            chance = np.where(ahead > 0, 0.5, self.otherwise)
            outcome = (noise.uniform(seeds, t, "squared", ()) < chance).astype(float)
            forecast = (np.exp(log_w) * theta).sum(axis=-1)
            loss = (theta - outcome[..., None]) ** 2
            risk = chance[..., None] * (theta - 1) ** 2 + (1 - chance[..., None]) * theta**2
            own = (forecast - outcome) ** 2
            expected = chance * (forecast - 1) ** 2 + (1 - chance) * forecast**2
            update = gibbs_update(log_w, loss, LAM)
            ahead += expected - own
            yield (
                belief_of(own, loss=own, losses=update.losses, intact=np.ones(seeds.shape)),
                {
                    ONE_DRAW: (np.exp(log_w) * risk).sum(axis=-1),
                    UPDATED: (np.exp(update.log_w) * risk).sum(axis=-1),
                    AGGREGATED: expected,
                },
            )
            log_w = update.log_w


def belief_of(cost: Array, losses: LossReport, intact: Array, **known: Any) -> Evidence:
    """Return the evidence of a stage whose belief has losses in [0, 1]."""
    zero = np.zeros(cost.shape)
    bounds = LossBounds(zero, zero + 1.0, zero + 1.0)
    return Evidence(cost, belief=BeliefReport(losses, bounds, intact), **known)
