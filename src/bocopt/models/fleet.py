"""Prior that a fleet of streams has in common, found from their outcomes: empirical Bayes.

The likelihood of all outcomes of all streams, given what is common to them (`hierarchical`), rises
with every round of expectation and maximisation. How alike streams are comes out of it: if they are
all the same, the covariance of their coefficients shrinks to what a finite fleet leaves open; if
they have nothing in common it stays wide, and a new stream learns as if it were alone.

Reference: Dempster, Laird, Rubin (1977), Maximum likelihood from incomplete data via the EM
algorithm; Minka (2002), Estimating a gamma distribution.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.models.hierarchical import FleetPrior
from bocopt.models.member import inverse
from bocopt.models.scale import Scale
from bocopt.numeric.blas import one_thread

Rows = tuple[Array, Array]  # (n, k) contexts and (n, m) outcomes of a stream
_ROUNDS, _CLOSE = 300, 1e-4  # of the search, and the change at which it ends
_FEWEST, _MOST = 1.0, 50.0  # of the shape: noise is known as if from 2 to 100 outcomes
_LEAST = 1e-10  # of a variance of y: outcomes may follow a line exactly
_SHRINKAGE = 15.0  # outcomes that say: errors are not correlated


class _StreamSums(NamedTuple):
    """Sums over the outcomes of each stream, with phi = (1, x)."""

    size: Array  # (s)
    normal: Array  # (s, 1, q, q) of phi phi'
    moment: Array  # (s, m, q) of phi y
    product: Array  # (s, m, m) of y y'

    @property
    def square(self) -> Array:
        """(s, m)."""
        return np.diagonal(self.product, axis1=-2, axis2=-1)


class _Common(NamedTuple):
    """Parameters common to all streams, which are estimated: see `FleetPrior`."""

    mean: Array  # (m, q)
    covariance: Array  # (m, q, q)
    shape: Array  # (m)
    rate: Array  # (m)


class _Each(NamedTuple):
    """Posterior of each stream, given the common parameters."""

    mean: Array  # (s, m, q) of beta
    covariance: Array  # (s, m, q, q) in units of v
    shape: Array  # (s, m) of 1 / v
    rate: Array  # (s, m)


def fleet_prior_of(scale: Scale, streams: list[Rows]) -> FleetPrior:
    """Return the prior that two or more streams have in common, on this scale."""
    x, xi = (np.concatenate(parts) for parts in zip(*streams, strict=True))
    params = scale.fit(x, xi)
    seen_x, seen_xi = scale.context(params, x), scale.outcome(params, xi)
    width, unit = seen_x.std(axis=0), seen_xi.std(axis=0)
    varied = width > 1e-12 * np.abs(seen_x).max(axis=0, initial=0.0)
    q, m = 1 + x.shape[1], xi.shape[1]
    fleet = FleetPrior(
        params=params,
        centre=seen_x.mean(axis=0),
        width=np.where(varied, width, np.inf),
        middle=seen_xi.mean(axis=0),
        unit=np.where(unit > 1e-12 * np.abs(seen_xi).max(axis=0), unit, 1.0),
        mean=np.zeros((m, q)),
        covariance=np.broadcast_to(np.eye(q), (m, q, q)),
        shape=np.ones(m),
        rate=np.ones(m),
        correlation=np.eye(m),
    )
    with one_thread():
        sums = _sums(scale, fleet, streams)
        common, each = _found(sums)
        return fleet._replace(
            mean=common.mean,
            covariance=_for_a_new_one(common, sums),
            shape=common.shape,
            rate=common.rate,
            correlation=_correlation(sums, each),
        )


def _sums(scale: Scale, fleet: FleetPrior, streams: list[Rows]) -> _StreamSums:
    pairs = [(fleet.regressors(scale, x), fleet.outcome(scale, xi)) for x, xi in streams]
    return _StreamSums(
        size=np.array([float(len(y)) for _, y in pairs]),
        normal=np.stack([phi.T @ phi for phi, _ in pairs])[:, None],
        moment=np.stack([y.T @ phi for phi, y in pairs]),
        product=np.stack([y.T @ y for _, y in pairs]),
    )


def _found(sums: _StreamSums) -> tuple[_Common, _Each]:
    """Estimate the common parameters by expectation and maximisation, from a wide start."""
    common = _start(sums)
    each = _expected(common, sums)
    for _ in range(_ROUNDS):
        before, common = common, _most_likely(each)
        each = _expected(common, sums)
        if all(_near(*pair) for pair in zip(before, common, strict=True)):
            break
    return common, each


def _start(sums: _StreamSums) -> _Common:
    """One line for all, and coefficients that may be as large as outcomes."""
    q = sums.moment.shape[-1]
    pooled = inverse(sums.normal.sum(axis=0) + 1e-6 * np.eye(q))
    moment = sums.moment.sum(axis=0)
    mean = np.matmul(pooled, moment[..., None])[..., 0]
    left = (sums.square.sum(axis=0) - (mean * moment).sum(axis=-1)) / sums.size.sum()
    variance = np.clip(left, 1e-4, None)
    covariance = np.maximum(1.0 / variance, 1.0)[:, None, None] * np.eye(q)
    shape = np.full(len(mean), 5.0)
    return _Common(mean, covariance, shape, shape * variance)


def _expected(common: _Common, sums: _StreamSums) -> _Each:
    covariance = inverse(inverse(common.covariance) + sums.normal)
    along = np.matmul(sums.normal, common.mean[..., None])[..., 0]  # (s, m, q)
    moment = sums.moment - along
    square = sums.square - (common.mean * (sums.moment + moment)).sum(axis=-1)
    beyond = np.matmul(covariance, moment[..., None])[..., 0]
    unexplained = np.maximum(square - (beyond * moment).sum(axis=-1), 0.0)
    return _Each(
        mean=common.mean + beyond,
        covariance=covariance,
        shape=common.shape + 0.5 * sums.size[:, None],
        rate=common.rate + 0.5 * unexplained,
    )


def _most_likely(each: _Each) -> _Common:
    from scipy.special import digamma

    certainty = each.shape / each.rate  # (s, m): mean of 1 / v
    share = certainty / certainty.sum(axis=0)
    mean = (share[..., None] * each.mean).sum(axis=0)
    off = each.mean - mean
    outer = certainty[..., None, None] * off[..., :, None] * off[..., None, :]
    logs = (digamma(each.shape) - np.log(each.rate)).mean(axis=0)
    shape = _shape(np.log(certainty.mean(axis=0)) - logs)
    rate = np.maximum(shape / certainty.mean(axis=0), _LEAST)
    return _Common(mean, (each.covariance + outer).mean(axis=0), shape, rate)


def _shape(excess: Array) -> Array:
    """log(shape) - digamma(shape) = excess, by Newton's method."""
    from scipy.special import digamma, polygamma

    excess = np.maximum(excess, 1e-4)
    shape = 0.5 / excess
    for _ in range(8):
        slope = 1.0 / shape - polygamma(1, shape)
        step = (np.log(shape) - digamma(shape) - excess) / slope
        shape = np.maximum(shape - step, 0.1 * shape)
    return np.clip(shape, _FEWEST, _MOST)


def _near(before: Array, now: Array) -> bool:
    return bool(np.abs(now - before).max() <= _CLOSE * np.abs(now).max())


def _for_a_new_one(common: _Common, sums: _StreamSums) -> Array:
    """(m, q, q): of a new stream's coefficients; the fleet is finite, and its mean is not known.

    What coefficients have to do with each other is believed as far as there are streams to tell.
    """
    count, q = len(sums.size), common.mean.shape[-1]
    together = count / (count + q)
    alone = np.eye(q)
    between = common.covariance * np.where(alone == 1, 1.0, together)
    start = inverse(_start(sums).covariance)
    pooled = inverse(sums.normal.sum(axis=0) + start)
    return (count + 1) / (count - 1) * between + pooled


def _correlation(sums: _StreamSums, each: _Each) -> Array:
    """Return the correlation (m, m) of errors around the streams' lines, shrunk towards none."""
    mean, moment = each.mean, sums.moment
    both = np.matmul(mean, np.swapaxes(moment, -1, -2))
    fitted = np.matmul(np.matmul(mean, sums.normal[:, 0]), np.swapaxes(mean, -1, -2))
    scatter = sums.product - both - np.swapaxes(both, -1, -2) + fitted
    certainty = np.sqrt(each.shape / each.rate)
    scatter = (certainty[..., :, None] * certainty[..., None, :] * scatter).sum(axis=0)
    scatter = scatter + _SHRINKAGE * np.eye(scatter.shape[-1])
    sd = np.sqrt(np.diagonal(scatter))
    return np.asarray(scatter / sd[:, None] / sd[None, :])
