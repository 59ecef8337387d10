"""The laws of a stream of a fleet: near the fleet and far from it, on several scales and tails."""

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

_FAR = 0.2  # of all weight: laws far from the fleet


class FleetPosteriors(NamedTuple):
    """Posteriors of a stream as one of the fleet, and the widths of their laws."""

    posterior: tuple[StreamPosterior, ...]  # near and far, on each scale
    widths: Widths  # of laws with heavy tails


@dataclass(frozen=True, eq=False)
class FleetLaws:
    """All laws (L): near the fleet and far from it, on each scale, and with each of the tails."""

    fleet: tuple[FleetPrior, ...]  # on the first of the scales

    @cached_property
    def each(self) -> list[tuple[Scale, FleetPrior]]:
        """Return the scales and priors (F) of a fit: all near the fleet, then all far from it."""
        near = list(zip(SCALES, self.fleet, strict=False))
        return [*near, *((scale, weakened(fleet)) for scale, fleet in near)]

    @cached_property
    def tails(self) -> Array:
        """(L)."""
        return np.tile(tails.USUAL, len(self.each))

    @property
    def names(self) -> list[str]:
        """(L)."""
        places = ["near"] * len(self.fleet) + ["far from"] * len(self.fleet)
        return [
            f"{where} the fleet, {type(scale).__name__.lower()}, df {tail:g}"
            for where, (scale, _) in zip(places, self.each, strict=True)
            for tail in tails.USUAL
        ]

    @cached_property
    def _factor(self) -> Array:
        """(L, m, m)."""
        factors = [np.linalg.cholesky(fleet.correlation) for _, fleet in self.each]
        return np.repeat(np.stack(factors), len(tails.USUAL), axis=0)

    def init(self, lead: tuple[int, ...]) -> FleetPosteriors:
        """Before any outcome."""
        m = self.fleet[0].middle.shape[-1]
        posterior = tuple(initial(fleet, lead) for _, fleet in self.each)
        return FleetPosteriors(posterior, tails.initial(lead, len(self.tails), m))

    def laws(self, known: FleetPosteriors, x: Array) -> Law:
        """(k) -> the laws, each on the scale of its fleet."""
        found = [
            predict(fleet, posterior, fleet.regressors(scale, x))
            for (scale, fleet), posterior in zip(self.each, known.posterior, strict=True)
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
        y = [fleet.outcome(scale, xi) for scale, fleet in self.each]
        slope = [fleet.log_abs_det_jacobian(scale, xi) for scale, fleet in self.each]
        return self._twice(np.stack(y, axis=-2), -2), self._twice(np.stack(slope, axis=-1), -1)

    def suits(self, lowest: Array) -> BoolArray:
        """Return whether each scale (L) is meant for such outcomes, by the lowest (m) so far."""
        suits = np.stack([scale.suits(lowest) for scale, _ in self.each], axis=-1)
        return np.repeat(suits, len(tails.USUAL), axis=-1)

    def anywhere(self, xi: Array) -> tuple[Array, Array]:
        """(m) -> (), (m): log density and probability below, of a law for streams of any kind.

        It is as far spread as all of the fleet together, with the heaviest tails (Cauchy), on the
        last of the scales that suits the outcome.
        """
        m = xi.shape[-1]
        law = Law(np.zeros(m), np.ones(m), np.eye(m), np.array(1.0))
        score, below = np.zeros(xi.shape[:-1]), np.zeros(xi.shape)
        for scale, fleet in self.each[: len(self.fleet)]:
            y, suits = fleet.outcome(scale, xi), scale.suits(xi)
            score = np.where(
                suits, law.log_density(y) + fleet.log_abs_det_jacobian(scale, xi), score
            )
            below = np.where(suits[..., None], law.probability(y), below)
        return score, below

    def inverse(self, whose: IntArray, drawn: Array) -> Array:
        """(s), (s, m) -> (s, m): outcomes, from the scales of the laws that they belong to."""
        found = drawn
        for f, (scale, fleet) in enumerate(self.each):
            mine = (whose // len(tails.USUAL) == f)[..., None]
            found = np.where(mine, fleet.inverse(scale, drawn), found)
        return found

    def update(self, known: FleetPosteriors, laws: Law, x: Array, xi: Array) -> FleetPosteriors:
        """Return the posteriors after one more outcome (m), which `laws` predicted at x (k)."""
        errors = laws.errors(self.seen(xi)[0])
        posterior = tuple(
            update(fleet, posterior, fleet.regressors(scale, x), fleet.outcome(scale, xi))
            for (scale, fleet), posterior in zip(self.each, known.posterior, strict=True)
        )
        return FleetPosteriors(posterior, known.widths.update(self.tails, laws.df, errors))

    def weights(self, x: Array, xi: Array) -> Array:
        """Return weights (L), by how laws predicted the first outcomes (s, n, m) of old streams.

        A law's is the mean over streams of its weight by log score. All are worth one stream more,
        and laws far from the fleet have a fixed share: that old streams are near says nothing new
        """
        streams, stages = xi.shape[:2]
        near = len(self.tails) // 2
        known, log_w = self.init((streams,)), uniform((streams,), near)
        for t in range(stages):
            laws = self.laws(known, x[:, t])
            y, slope = self.seen(xi[:, t])
            log_w = normalised(log_w + (laws.log_density(y) + slope)[:, :near])
            known = self.update(known, laws, x[:, t], xi[:, t])
        share = (np.exp(log_w).sum(axis=0) + 1.0) / (streams + near)
        return np.concatenate([(1.0 - _FAR) * share, _FAR * share])

    def _twice(self, values: Array, axis: int) -> Array:
        """Return the values repeated along an axis, once for each of the tails."""
        return np.repeat(values, len(tails.USUAL), axis=axis)
