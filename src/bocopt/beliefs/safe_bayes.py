"""The learning rate that would have done best so far, from a grid."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.beliefs.belief import Belief, MoveInfo
from bocopt.beliefs.ibis import ResampleMove
from bocopt.core import Array, IntArray
from bocopt.state import mapped


class RateGrid(NamedTuple):
    """One belief for each learning rate; the belief that counts is the chosen one."""

    seeds: IntArray  # ()
    beliefs: tuple[Belief, ...]
    losses: Array  # (learning rates) sums of mean losses, each under the belief before the stage
    info: MoveInfo

    @property
    def chosen(self) -> IntArray:
        """() the learning rate with the least loss so far, the smallest among equal ones."""
        best: IntArray = self.losses.argmin(axis=-1)
        return best

    @property
    def dim_x(self) -> int | None:
        """Length k of a context; None before the first."""
        return self.beliefs[0].dim_x

    @property
    def theta(self) -> Array:
        """Particles (N, p) of the chosen belief."""
        return self._of_the_chosen("theta")

    @property
    def log_w(self) -> Array:
        """Log weights (N) of the chosen belief, normalised."""
        return self._of_the_chosen("log_w")

    @property
    def score(self) -> Array:
        """Log densities (N) of the chosen belief, up to a constant."""
        return self._of_the_chosen("score")

    def _of_the_chosen(self, name: str) -> Array:
        parts = np.stack([getattr(belief, name) for belief in self.beliefs], axis=-1)
        index = self.chosen.reshape(*self.chosen.shape, *(1,) * (parts.ndim - self.chosen.ndim))
        chosen: Array = np.take_along_axis(parts, index, axis=-1)[..., 0]
        return chosen


@dataclass(frozen=True)
class SafeGrid:
    """SafeBayes: of several learning rates, the one whose beliefs predicted best so far.

        lam_t = argmin over lam of sum_{s < t} E_{pi_s^lam} l(theta, d_s)

    Reference: Grunwald, van Ommen (2017), Inconsistency of Bayesian inference for misspecified
    linear models, and a proposal for repairing it.
    """

    lockstep: ClassVar[bool] = True
    sampler: ResampleMove
    lams: Sequence[float]

    def __post_init__(self) -> None:
        arguments.kind("SafeGrid", "sampler", self.sampler, ResampleMove)
        lams = arguments.numbers("SafeGrid", "lams", self.lams, "(0, inf)")
        object.__setattr__(self, "lams", tuple(sorted(lams)))

    @property
    def _samplers(self) -> list[ResampleMove]:
        return [replace(self.sampler, lam=lam) for lam in self.lams]

    def init(self, seeds: IntArray) -> RateGrid:
        """Return the beliefs of all learning rates, with the leading axes of the seeds."""
        beliefs = tuple(sampler.init(seeds) for sampler in self._samplers)
        losses = np.zeros((*beliefs[0].seeds.shape, len(beliefs)))
        return RateGrid(beliefs[0].seeds, beliefs, losses, beliefs[0].info)

    def step(self, belief: RateGrid, t: int, x: Array, xi: Array) -> RateGrid:
        """Return the beliefs of all learning rates after a stage, and their sums of mean losses."""
        pairs = zip(self._samplers, belief.beliefs, strict=True)
        beliefs = tuple(sampler.step(one, t, x, xi) for sampler, one in pairs)
        mean_loss = np.stack([one.info.belief.losses.mean_loss for one in beliefs], axis=-1)
        after = belief._replace(beliefs=beliefs, losses=belief.losses + mean_loss)
        index = belief.chosen[..., None]  # the one that decided

        def chosen(*parts: Array) -> Array:
            """Return the parts of the learning rate that decided, one for each trial."""
            taken: Array = np.take_along_axis(np.stack(parts, axis=-1), index, axis=-1)[..., 0]
            return taken

        info: MoveInfo = mapped(chosen, *(one.info for one in beliefs))
        intact = info.belief.intact * (after.chosen == belief.chosen)
        return after._replace(info=info._replace(belief=info.belief._replace(intact=intact)))
