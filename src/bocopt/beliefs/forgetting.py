"""How old losses lose their weight: a discount, a window, and fixed share."""

from dataclasses import dataclass

import numpy as np

from bocopt.beliefs.belief import Belief, own_roots
from bocopt.beliefs.space import Space
from bocopt.beliefs.target import losses_at, stage_of
from bocopt.core import Loss
from bocopt.numeric import noise
from bocopt.numeric.weights import normalised

_NEGLIGIBLE = 1e-12  # weight below which a discounted stage no longer counts


@dataclass(frozen=True)
class Forgetting:
    """L_t = discount L_{t-1} + l_t over the last `window` stages, with fresh particles by `share`.

    Everything here has one leading axis, the trials.
    """

    discount: float
    window: int | None
    share: float

    @property
    def stages_kept(self) -> float:
        """How many stages count."""
        if self.window is not None:
            return self.window
        if self.discount < 1:
            return float(np.ceil(np.log(_NEGLIGIBLE) / np.log(self.discount)))
        return np.inf

    def without_the_oldest(self, flat: Belief, loss: Loss) -> Belief:
        """Where no more are kept, the oldest stage leaves the totals and the weights."""
        if flat.past.size < self.stages_kept:
            return flat
        x, xi, t = (part.rows[:, 0, :] for part in flat.past)
        lost = losses_at(loss, flat.theta, stage_of(loss, flat.seeds, int(t[0, 0]), x, xi))
        gone = self.discount ** (flat.past.size - 1) * lost * (flat.birth <= flat.past.first)
        return flat._replace(
            total=flat.total - gone,
            log_w=normalised(flat.log_w + flat.lam[:, None] * gone),
            past=flat.past.without_the_oldest(),
        )

    def with_fresh_ones(self, flat: Belief, t: int, space: Space) -> Belief:
        """Fixed share: some particles give way to draws from the prior, which start at zero."""
        if not self.share:
            return flat
        trials, size, dim = flat.u.shape
        fresh = noise.uniform(flat.seeds, t, "share", (size,)) < self.share
        u = noise.normal(flat.seeds, t, "share.prior", (size, dim))
        u = np.where(fresh[..., None], u, flat.u)
        return flat._replace(
            u=u,
            theta=space.theta(u, flat.centre[:, None, :], flat.width[:, None, None]),
            total=np.where(fresh, 0.0, flat.total),
            birth=np.where(fresh, flat.past.seen, flat.birth),
            roots=np.where(fresh[..., None], own_roots(trials, size), flat.roots),
        )
