"""The laws of a stream that is one of a fleet: near kin and far, on several scales and tails."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray, IntArray
from bocopt.models import tails
from bocopt.models.hierarchical import (
    SCALES,
    FleetPrior,
    StreamPosterior,
    initial,
    predict,
    update,
    weakened,
)
from bocopt.models.law import Law
from bocopt.models.scale import Scale
from bocopt.models.tails import Widths
from bocopt.numeric.weights import normalised, uniform

_TAILS = (60.0, 4.0)  # degrees of freedom at most: each law comes with both
_FAR = 0.2  # of all weight: far kin


class FleetPosteriors(NamedTuple):
    """What is known of a stream as one of the fleet."""

    kin: tuple[StreamPosterior, ...]  # near and far, on each scale
    widths: Widths  # of laws with heavy tails


@dataclass(frozen=True, eq=False)
class FleetLaws:
    """All laws (L): for each of the habits near and far kin, and with each of the tails."""

    habits: tuple[FleetPrior, ...]  # on the first of the scales

    @cached_property
    def each(self) -> list[tuple[Scale, FleetPrior]]:
        """(F) what a fit is made of: all near kin, then all far."""
        near = list(zip(SCALES, self.habits, strict=False))
        return [*near, *((scale, weakened(habits)) for scale, habits in near)]

    @cached_property
    def tails(self) -> Array:
        """(L)."""
        return np.tile(_TAILS, len(self.each))

    @property
    def names(self) -> list[str]:
        """(L)."""
        scales = len(self.habits)
        return [
            f"{'near' if f < scales else 'far'} kin, {type(scale).__name__.lower()}, df {tail:g}"
            for f, (scale, _) in enumerate(self.each)
            for tail in _TAILS
        ]

    @cached_property
    def _factor(self) -> Array:
        """(L, m, m)."""
        factors = [np.linalg.cholesky(habits.correlation) for _, habits in self.each]
        return np.repeat(np.stack(factors), len(_TAILS), axis=0)

    def start(self, lead: tuple[int, ...]) -> FleetPosteriors:
        """Before any outcome."""
        m = self.habits[0].middle.shape[-1]
        kin = tuple(initial(habits, lead) for _, habits in self.each)
        return FleetPosteriors(kin, tails.initial(lead, len(self.tails), m))

    def laws(self, known: FleetPosteriors, x: Array) -> Law:
        """(k) -> the laws, each on the scale of its habits."""
        found = [
            predict(habits, kin, habits.regressors(scale, x))
            for (scale, habits), kin in zip(self.each, known.kin, strict=True)
        ]
        location = self._twice(np.stack([one.location for one in found], axis=-2), -2)
        scale = self._twice(np.stack([one.scale for one in found], axis=-2), -2)
        df = np.floor(self._twice(np.stack([one.df for one in found], axis=-1), -1))
        return Law(
            location=location,
            scale=scale * np.sqrt(known.widths.square(self.tails)),
            factor=self._factor,
            df=np.minimum(np.maximum(df, 1.0), self.tails),
        )

    def seen(self, xi: Array) -> tuple[Array, Array]:
        """(m) -> (L, m), (L): an outcome on the scales of the laws, and the log volume there."""
        y = [habits.outcome(scale, xi) for scale, habits in self.each]
        slope = [habits.log_slope(scale, xi) for scale, habits in self.each]
        return self._twice(np.stack(y, axis=-2), -2), self._twice(np.stack(slope, axis=-1), -1)

    def suits(self, lowest: Array) -> BoolArray:
        """(m) the lowest outcomes so far -> (L): whether the scale is meant for such outcomes."""
        suits = np.stack([scale.suits(lowest) for scale, _ in self.each], axis=-1)
        return np.repeat(suits, len(_TAILS), axis=-1)

    def anywhere(self, xi: Array) -> tuple[Array, Array]:
        """(m) -> (), (m): log density and probability below, of a law for streams of any kind.

        It is as far spread as all of the fleet together, with the heaviest tails (Cauchy), on the
        last of the scales that suits the outcome.
        """
        m = xi.shape[-1]
        law = Law(np.zeros(m), np.ones(m), np.eye(m), np.array(1.0))
        score, below = np.zeros(xi.shape[:-1]), np.zeros(xi.shape)
        for scale, habits in self.each[: len(self.habits)]:
            y, suits = habits.outcome(scale, xi), scale.suits(xi)
            score = np.where(suits, law.log_density(y) + habits.log_slope(scale, xi), score)
            below = np.where(suits[..., None], law.probability(y), below)
        return score, below

    def back(self, whose: IntArray, drawn: Array) -> Array:
        """(s), (s, m) -> (s, m): outcomes, from the scales of the laws that they belong to."""
        found = drawn
        for f, (scale, habits) in enumerate(self.each):
            mine = (whose // len(_TAILS) == f)[..., None]
            found = np.where(mine, habits.back(scale, drawn), found)
        return found

    def after(self, known: FleetPosteriors, laws: Law, x: Array, xi: Array) -> FleetPosteriors:
        """With one outcome more, for which these were the laws."""
        errors = laws.errors(self.seen(xi)[0])
        kin = tuple(
            update(habits, kin, habits.regressors(scale, x), habits.outcome(scale, xi))
            for (scale, habits), kin in zip(self.each, known.kin, strict=True)
        )
        return FleetPosteriors(kin, known.widths.after(self.tails, laws.df, errors))

    def weights(self, x: Array, xi: Array) -> Array:
        """(s, n, k), (s, n, m) -> (L): by how they predicted the first outcomes of old streams.

        A law's is the mean over streams of its weight by log score. All are worth one stream more,
        and far kin have a fixed share: that old streams are near is no news of a new one.
        """
        streams, stages = xi.shape[:2]
        near = len(self.tails) // 2
        known, log_w = self.start((streams,)), uniform((streams,), near)
        for t in range(stages):
            laws = self.laws(known, x[:, t])
            y, slope = self.seen(xi[:, t])
            log_w = normalised(log_w + (laws.log_density(y) + slope)[:, :near])
            known = self.after(known, laws, x[:, t], xi[:, t])
        share = (np.exp(log_w).sum(axis=0) + 1.0) / (streams + near)
        return np.concatenate([(1.0 - _FAR) * share, _FAR * share])

    def _twice(self, values: Array, axis: int) -> Array:
        """For each of the tails."""
        return np.repeat(values, len(_TAILS), axis=axis)
