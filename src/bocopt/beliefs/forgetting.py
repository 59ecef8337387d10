"""Forgetting of old losses: a discount, a window, and fixed share."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bocopt.beliefs.belief import Belief, own_roots
from bocopt.beliefs.past import Ledger
from bocopt.beliefs.space import Space
from bocopt.beliefs.target import Leaving, losses_at, stage_of
from bocopt.core import Array, BoolArray, Loss
from bocopt.numeric import noise
from bocopt.numeric.noise import When

_NEGLIGIBLE = 1e-12  # weight below which a discounted stage no longer counts


class Parted(NamedTuple):
    """A belief without its oldest stage in the past, and what its weights still have of it."""

    flat: Belief
    leaving: Leaving | None  # where one does
    gone: Array  # (N) discounted loss there
    repaid: Array  # (N) the same, of those whose place a particle took


@dataclass(frozen=True)
class Forgetting:
    """L_t = discount L_{t-1} + l_t over the last `window` stages; `switch_rate` renews particles.

    With fixed share, what is believed in is a *path*: parameters that are drawn anew with
    probability `switch_rate` a stage. A particle holds the last piece of one, and remembers what
    the pieces before lost: as these losses fade or leave, or lam moves, it is paid back for them
    like any other. So what is forgotten is forgotten for all, and a constant added to the loss
    changes nothing.

    Everything here has one leading axis, the trials.
    """

    discount: float
    window: int | None
    switch_rate: float

    @property
    def slides(self) -> bool:
        """True if stages lose weight: the posterior keeps moving, however many were seen."""
        return self.discount < 1 or self.window is not None

    @property
    def stages_kept(self) -> float:
        """Number of stages that count: the window, those of weight above 1e-12, or inf for all."""
        if self.window is not None:
            return self.window
        if self.discount < 1:
            return float(np.ceil(np.log(_NEGLIGIBLE) / np.log(self.discount)))
        return np.inf

    def without_the_oldest(self, flat: Belief, loss: Loss) -> Parted:
        """Take the oldest stage out of the totals if they are full; the weights still have it."""
        none = np.zeros(flat.total.shape)
        if flat.past.size < self.stages_kept:
            return Parted(flat, None, none, none)
        x, xi, t = (part.rows[:, 0, :] for part in flat.past)
        stage = stage_of(loss, flat.seeds, t[:, 0].astype(np.int64), x, xi)
        leaving = Leaving(stage, flat.past.first, self.discount ** (flat.past.size - 1))
        lost = losses_at(loss, flat.theta, stage)
        gone = leaving.counted(lost, flat.birth, leaving.arrival[:, None])
        repaid, inherited = none, flat.inherited
        if inherited.shape[-1]:
            repaid = leaving.weight * inherited[..., 0]
            inherited = np.append(inherited[..., 1:], none[..., None], axis=-1)
        after = flat._replace(
            total=flat.total - gone,
            carried=flat.carried - repaid,
            inherited=inherited,
            past=flat.past.without_the_oldest(),
        )
        return Parted(after, leaving, gone, repaid)

    def no_inheritance(self, lead: tuple[int, ...]) -> Array:
        """Return the inheritance (N, window) of particles (N) before any birth."""
        return np.zeros((*lead, self.window if self.window and self.switch_rate else 0))

    def with_fresh_ones(self, flat: Belief, t: When, space: Space, ledger: Ledger) -> Belief:
        """Fixed share: some particles give way to draws from the prior, which start at zero.

        `ledger` is that of the past as it is now.
        """
        if not self.switch_rate:
            return flat
        trials, size, dim = flat.u.shape
        fresh = noise.uniform(flat.seeds, t, "share", (size,)) < self.switch_rate
        u = noise.normal(flat.seeds, t, "share.prior", (size, dim))
        u = np.where(fresh[..., None], u, flat.u)
        return flat._replace(
            u=u,
            theta=space.theta(u, flat.centre[:, None, :], flat.width[:, None, None]),
            total=np.where(fresh, 0.0, flat.total),
            carried=np.where(fresh, flat.carried + flat.total, flat.carried),
            inherited=_passed_on(flat, fresh, ledger),
            birth=np.where(fresh, flat.past.seen[:, None], flat.birth),
            roots=np.where(fresh[..., None], own_roots(trials, size), flat.roots),
        )


def _passed_on(flat: Belief, fresh: BoolArray, ledger: Ledger) -> Array:
    """Return what is inherited (N, window), with the losses at each stage of those who leave."""
    if not flat.inherited.shape[-1]:
        return flat.inherited
    owner, place = np.nonzero(fresh)
    size, inherited = flat.past.size, flat.inherited.copy()
    lived = flat.past.first[owner, None] + np.arange(size) >= flat.birth[owner, place, None]
    own = ledger.each(flat.theta[owner, place], owner)
    inherited[owner, place, :size] = np.where(lived, own, inherited[owner, place, :size])
    return inherited
