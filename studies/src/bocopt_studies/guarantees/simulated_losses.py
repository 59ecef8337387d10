"""Beliefs and decisions whose losses are 0 or 1, with chances that an adversary chooses."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bocopt.beliefs.update import gibbs_update
from bocopt.core import Array, IntArray
from bocopt.guarantees import AgainstOneDraw, ClippedRegret, Guarantee, OneDraw, UpdatedBeliefs
from bocopt.numeric import noise
from bocopt.numeric.weights import uniform
from bocopt_studies.guarantees.simulated_beliefs import (
    AGGREGATED,
    LAM,
    ONE_DRAW,
    UPDATED,
    belief_of,
)
from bocopt_studies.guarantees.simulation import Shown, Simulation

APART = "apart"  # the risk of the decision less that of one draw
RISKS = {
    "clipped regret": AGGREGATED,
    "against one draw": APART,
    "one draw, by bets": ONE_DRAW,
    "updated beliefs, by bets": UPDATED,
}
_PARAMETERS = 5
_FAIR, _RARE, _PERIOD = 0.5, 0.02, 40


def certificates(scale: float, delta: float = 0.05) -> dict[str, Guarantee[Any]]:
    """Return the certificates by bets, of the decision's losses and the belief's, by name."""
    return {
        "clipped regret": ClippedRegret(scale=scale, delta=delta),
        "against one draw": AgainstOneDraw(scale=scale, delta=delta),
        "one draw, by bets": OneDraw(scale=scale, delta=delta),
        "updated beliefs, by bets": UpdatedBeliefs(scale=scale, delta=delta),
    }


@dataclass(frozen=True)
class ChosenLosses(Simulation):
    """The decision loses with a chance that may follow from the past, and so do the parameters.

    `chances`: "fair", "rare", "drift" (rising from 1/10 to 9/10, again and again), "gambler" (rare
    for whoever has been lucky, so as to keep what was won) or "risky" (rare for whoever has not).
    `coins`: one for all parameters, or one each. `opposed`: the decision loses where the first
    parameter does not, and the reverse.
    """

    chances: str
    coins: int = 1
    opposed: bool = False

    def guarantees(self, horizon: int, delta: float) -> Mapping[str, tuple[str, Guarantee[Any]]]:
        """Return, by name, each certificate by bets and the risk that it bounds."""
        return {name: (RISKS[name], one) for name, one in certificates(1.0, delta).items()}

    def stages(self, seeds: IntArray, horizon: int) -> Iterator[Shown]:
        """Yield each stage's evidence, and the true risks of the decision and the belief."""
        log_w = uniform(seeds.shape, _PARAMETERS)
        own_luck, luck = np.zeros(seeds.shape), np.zeros(seeds.shape)  # expected less lost, so far
        for t in range(horizon):
            chance, own_chance = self._chance(t, luck), self._chance(t, own_luck)
            u = noise.uniform(seeds, t, "chosen", (1 + self.coins,))
            lost = np.broadcast_to(u[..., 1:] < chance[..., None], log_w.shape).astype(float)
            if self.opposed:
                own_chance = 1.0 - chance
            own = 1.0 - lost[..., 0] if self.opposed else (u[..., 0] < own_chance).astype(float)
            update = gibbs_update(log_w, lost, LAM)
            risks = {
                AGGREGATED: own_chance,
                ONE_DRAW: chance,
                UPDATED: chance,
                APART: own_chance - chance,
            }
            yield (
                belief_of(own, loss=own, losses=update.losses, intact=np.ones(seeds.shape)),
                risks,
            )
            own_luck = own_luck + own_chance - own
            luck = luck + chance - update.losses.posterior_loss
            log_w = update.log_w

    def _chance(self, t: int, luck: Array) -> Array:
        if self.chances == "drift":
            return np.full(luck.shape, 0.1 + 0.8 * (t % _PERIOD) / _PERIOD)
        if self.chances == "gambler":
            return np.where(luck > 0, _RARE, _FAIR)
        if self.chances == "risky":
            return np.where(luck > 0, _FAIR, _RARE)
        return np.full(luck.shape, {"fair": _FAIR, "rare": _RARE}[self.chances])


LOSSES: Mapping[str, Simulation] = {
    "fair losses": ChosenLosses("fair"),
    "opposed losses": ChosenLosses("fair", opposed=True),
    "losses with a coin each": ChosenLosses("fair", coins=_PARAMETERS),
    "rare losses": ChosenLosses("rare"),
    "drifting losses": ChosenLosses("drift", coins=_PARAMETERS),
    "a gambler's losses": ChosenLosses("gambler"),
    "an opposed gambler's losses": ChosenLosses("gambler", opposed=True),
    "risky losses": ChosenLosses("risky", coins=_PARAMETERS),
}
