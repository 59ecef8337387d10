"""A fleet of streams as a hierarchical regression, on one scale, and one stream of it.

Component by component, a stream s has its own line and its own noise,

    y = (1, x) beta_s + e,   e ~ N(0, v_s),   beta_s ~ N(mean, v_s covariance),
    1 / v_s ~ Gamma(shape, rate),

and the fleet has the rest. This is conjugate: what is known of a new stream after any number of
outcomes is exact, and so is the law of the next one (Student t).

Reference: Gelman et al. (2013), Bayesian data analysis, chapters 5 and 14.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.models.design import with_one
from bocopt.models.member import inverse
from bocopt.models.scale import Logarithmic, Plain, Scale, ScaleParams

#: On which a fleet is looked at; the second only where its outcomes were never negative.
SCALES: tuple[Scale, ...] = (Plain(), Logarithmic())
_FURTHEST = 10.0  # in units of the fleet's spread: beyond, a context tells no more
_CUT = 5.0  # in units of the predicted scale: what one outcome can say
_WIDER, _LITTLE = 4.0, 1.5  # far from the fleet: the variance of levels and effects, and the shape


class FleetPrior(NamedTuple):
    """Prior of a fleet's streams on one scale; y and x are in units of the fleet's sd."""

    params: ScaleParams
    centre: Array  # (k) of x
    width: Array  # (k) infinite where it never varied
    middle: Array  # (m) of y
    unit: Array  # (m)
    mean: Array  # (m, q) of beta
    covariance: Array  # (m, q, q) of beta, in units of v
    shape: Array  # (m) of 1 / v
    rate: Array  # (m)
    correlation: Array  # (m, m) of e

    def regressors(self, scale: Scale, x: Array) -> Array:
        """(k) -> (q)."""
        seen = (scale.context(self.params, x) - self.centre) / self.width
        return with_one(np.clip(seen, -_FURTHEST, _FURTHEST))

    def outcome(self, scale: Scale, xi: Array) -> Array:
        """(m) -> (m)."""
        seen: Array = (scale.outcome(self.params, xi) - self.middle) / self.unit
        return seen

    def log_abs_det_jacobian(self, scale: Scale, xi: Array) -> Array:
        """(m) -> (): the log of the volume that a unit of outcomes has here."""
        slope: Array = scale.log_abs_det_jacobian(self.params, xi) - np.log(self.unit).sum()
        return slope

    def inverse(self, scale: Scale, y: Array) -> Array:
        """(m) -> (m): the outcome that is seen so."""
        return scale.inverse(self.params, self.middle + self.unit * y)


class StreamPosterior(NamedTuple):
    """Posterior of one stream in sums of r = y - (1, x) mean, with phi = (1, x)."""

    precision: Array  # (m, q, q) with the fleet's
    moment: Array  # (m, q) of phi r
    square: Array  # (m) of r
    size: Array  # ()


class PredictiveLaw(NamedTuple):
    """The law of y given x: a Student t in each component."""

    location: Array  # (m)
    scale: Array  # (m)
    df: Array  # ()


def initial(fleet: FleetPrior, lead: tuple[int, ...]) -> StreamPosterior:
    """Before any outcome."""
    shape = (*lead, *fleet.mean.shape)
    return StreamPosterior(
        precision=np.broadcast_to(inverse(fleet.covariance), (*shape, shape[-1])),
        moment=np.zeros(shape),
        square=np.zeros(shape[:-1]),
        size=np.zeros(lead),
    )


def predict(fleet: FleetPrior, posterior: StreamPosterior, phi: Array) -> PredictiveLaw:
    """Return the law of the next outcome (m) at regressors (q)."""
    known = inverse(posterior.precision)
    beyond = np.matmul(known, posterior.moment[..., None])[..., 0]
    shape = fleet.shape + 0.5 * posterior.size[..., None]
    unexplained = np.maximum(posterior.square - (beyond * posterior.moment).sum(axis=-1), 0.0)
    rate = fleet.rate + 0.5 * unexplained
    row = phi[..., None, :]
    leverage = (np.matmul(known, row[..., None])[..., 0] * row).sum(axis=-1)
    return PredictiveLaw(
        location=((fleet.mean + beyond) * row).sum(axis=-1),
        scale=np.sqrt(rate / shape * (1.0 + leverage)),
        df=2.0 * shape.min(axis=-1),
    )


def update(fleet: FleetPrior, posterior: StreamPosterior, phi: Array, y: Array) -> StreamPosterior:
    """Return the posterior after an outcome (m) at (q); one far from expected is moved in."""
    expected = predict(fleet, posterior, phi)
    reach = _CUT * expected.scale
    y = np.clip(y, expected.location - reach, expected.location + reach)
    row = phi[..., None, :]
    rest = y - (fleet.mean * row).sum(axis=-1)
    return StreamPosterior(
        precision=posterior.precision + row[..., :, None] * row[..., None, :],
        moment=posterior.moment + rest[..., None] * row,
        square=posterior.square + rest**2,
        size=posterior.size + 1.0,
    )


def weakened(fleet: FleetPrior) -> FleetPrior:
    """A stream that has less in common with the fleet: of its level, and of how large effects are.

    Effects may have either sign, levels are wider spread, and little is known of the noise.
    """
    precision = fleet.shape / fleet.rate
    size = precision[:, None] * fleet.mean**2
    size[:, 0] = 0.0
    wider = _WIDER * np.diagonal(fleet.covariance, axis1=-2, axis2=-1) + size
    shape = np.full(fleet.shape.shape, _LITTLE)
    return fleet._replace(
        mean=fleet.mean * (np.arange(fleet.mean.shape[-1]) == 0),
        covariance=wider[..., None] * np.eye(wider.shape[-1]),
        shape=shape,
        rate=shape / precision,
    )
