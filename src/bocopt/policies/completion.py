"""Outcomes that were seen in part, completed by a draw from what a policy expected.

A draw from its law, given what was seen, makes nothing more or less likely than it was held to be:
so the share of outcomes beyond a bound stays what it is, and an error about what lies there fades
as decisions move and bounds with them. But a law that never saw beyond a bound knows nothing of
what is there. Where few outcomes were seen there, the draw is up to as far beyond the bound as that
is from zero: orders that sell out double, until they do not.

Reference: Efron (1967), The two sample problem with censored data (mass is redistributed to the
right); Kong, Liu, Wong (1994), Sequential imputations and Bayesian missing data problems.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray, Bounds
from bocopt.numeric.weights import multinomial

_NEAR = 0.1  # of all ranks: rows as far from what was seen count exp(-1/2)


class Law(NamedTuple):
    """Scenarios of an outcome, and their weights, with sum 1."""

    scenarios: Array  # (s, m)
    w: Array  # (s)

    @property
    def mean(self) -> Array:
        """Return the mean (m)."""
        return np.asarray((self.w[..., None] * self.scenarios).sum(axis=-2))

    def ruled_out(self, bounds: Bounds) -> Array:
        """Return the weight (m) that an outcome took from each component; 1 where it was seen.

        >>> law = Law(np.array([[1.0], [2.0], [3.0], [4.0]]), np.full(4, 0.25))
        >>> law.ruled_out(Bounds(np.array([2.5]), np.array([np.inf]))).tolist()
        [0.5]
        """
        inside = self._inside(bounds)
        left = (self.w[..., None] * inside).sum(axis=-2)
        return np.where(bounds.exact, 1.0, np.clip(1.0 - left, 0.0, 1.0))

    def quantiles(self, many: int) -> Array:
        """Return that many quantiles (many, m) of each component, at equal steps.

        >>> law = Law(np.array([[4.0], [1.0], [2.0], [3.0]]), np.full(4, 0.25))
        >>> law.quantiles(2).tolist()
        [[1.0], [3.0]]
        """
        order = np.argsort(self.scenarios, axis=-2)
        ordered = np.take_along_axis(self.scenarios, order, axis=-2)
        mass = np.cumsum(np.take_along_axis(self.w[..., None], order, axis=-2), axis=-2)
        levels = (np.arange(many) + 0.5) / many
        place = (mass[..., None, :, :] < levels[:, None, None]).sum(axis=-2)
        place = np.minimum(place, self.w.shape[-1] - 1)
        return np.take_along_axis(ordered, place, axis=-2)

    def _inside(self, bounds: Bounds) -> BoolArray:
        """Return which numbers (s, m) of the scenarios are possible."""
        low, high = bounds.low[..., None, :], bounds.high[..., None, :]
        return np.asarray((low <= self.scenarios) & (self.scenarios <= high))

    def draw(self, bounds: Bounds, u: Array) -> Array:
        """Return an outcome (m) within the bounds, of the scenarios that are, by a uniform ().

        Among these, those whose components are near what was seen of others count more. What no
        scenario meets is taken to its nearest end.
        """
        exact = bounds.exact[..., None, :]
        fits = (self._inside(bounds) | exact).all(axis=-1)
        weights = self.w * np.exp(self._nearness(bounds))
        weights = np.where(fits.any(axis=-1, keepdims=True), weights * fits, weights)
        row = multinomial(weights, u[..., None])
        drawn = np.take_along_axis(self.scenarios, row[..., None], axis=-2)[..., 0, :]
        return np.clip(drawn, bounds.low, bounds.high)

    def _nearness(self, bounds: Bounds) -> Array:
        """Return the log weight (s) of rows by how near their ranks are to what was seen."""
        some = bounds.exact & ~bounds.exact.all(axis=-1, keepdims=True)
        if not some.any():
            return np.zeros(self.w.shape)
        seen = np.where(some, bounds.low, 0.0)
        ranks = (np.argsort(np.argsort(self.scenarios, axis=-2), axis=-2) + 0.5) / self.w.shape[-1]
        rank = (self.w[..., None] * (self.scenarios <= seen[..., None, :])).sum(axis=-2)
        square = np.where(some[..., None, :], (ranks - rank[..., None, :]) ** 2, 0.0)
        log_near = -square.sum(axis=-1) / (2.0 * _NEAR**2)
        return np.asarray(log_near - log_near.max(axis=-1, keepdims=True))


def beyond(bounds: Bounds, unit: Array, u: Array) -> Array:
    """Return outcomes (m) beyond the bound of each component, by uniforms (m).

    As far as the bound is from zero, or a `unit` (m), at the most. Components with two ends, or
    none, have NaN.

    >>> beyond(Bounds(np.array([80.0]), np.array([np.inf])), np.array([9.0]), np.array([0.5]))
    array([120.])
    """
    low, high = np.isfinite(bounds.low), np.isfinite(bounds.high)
    far_low, far_high = (
        np.maximum(np.abs(np.where(known, end, 0.0)), unit)
        for known, end in ((low, bounds.low), (high, bounds.high))
    )
    up = np.where(low, bounds.low, 0.0) + u * far_low
    down = np.where(high, bounds.high, 0.0) - u * far_high
    return np.where(low & ~high, up, np.where(high & ~low, down, np.nan))


def completed_anew(bounds: Bounds, values: Array, u: Array, v: Array) -> Array:
    """Return outcomes (n, m): those that were seen, the others drawn anew given all of them.

    Component by component, from the law of all `values` (n, m) within the bounds of each, by
    uniforms (n, m): repeated, this is the self-consistent estimate of Efron (1967). With chance
    1 / (1 + how many were seen there), by the uniforms v, it is beyond the bound. What nothing is
    known of says nothing; a component of which nothing was ever seen is like all others.

    >>> seen, cut = np.array([2.0, 6.0, 8.0]), np.array([2.0, np.inf, 8.0])
    >>> half = np.full((3, 1), 0.5)
    >>> completed_anew(Bounds(seen[:, None], cut[:, None]), seen[:, None], half, 1 - half).tolist()
    [[2.0], [8.0], [8.0]]
    """
    told = np.isfinite(bounds.low) | np.isfinite(bounds.high)
    values = np.where(bounds.exact, bounds.low, values)
    parts = (*bounds, beyond(bounds, _range(bounds), u), values, u, v)
    columns = [np.swapaxes(part, -1, -2) for part in parts]
    found = np.asarray(np.swapaxes(_each_component(*columns), -1, -2))
    many = np.maximum(told.sum(axis=(-1, -2), keepdims=True), 1)
    mean = np.where(told, found, 0.0).sum(axis=(-1, -2), keepdims=True) / many
    return np.where(told.any(axis=-2, keepdims=True), found, mean)


def _range(bounds: Bounds) -> Array:
    """Return how far apart (1, m) ends are."""
    ends = np.concatenate(bounds, axis=-2)
    known = np.isfinite(ends)
    low = np.where(known, ends, np.inf).min(axis=-2, keepdims=True)
    high = np.where(known, ends, -np.inf).max(axis=-2, keepdims=True)
    return np.where(low <= high, high - low, 0.0)


def _completed(low: Array, high: Array, far: Array, values: Array, u: Array, v: Array) -> Array:
    """Return the outcomes (n) of one component."""
    seen, told = low == high, np.isfinite(low) | np.isfinite(high)
    some = ~seen
    if not some.any() or not told.any():
        return values
    law, exact = np.sort(values[told]), np.sort(low[seen])
    begin, end = np.searchsorted(law, low[some]), np.searchsorted(law, high[some], side="right")
    drawn = law[np.minimum(begin + (u[some] * (end - begin)).astype(np.int64), len(law) - 1)]
    there = np.searchsorted(exact, high[some], side="right") - np.searchsorted(exact, low[some])
    rare = (begin >= end) | (v[some] * (1 + there) < 1.0)
    out = values.copy()
    out[some] = np.where(rare & ~np.isnan(far[some]), far[some], drawn)
    return np.clip(out, low, high)


_each_component = np.vectorize(
    _completed, signature=",".join(["(n)"] * 6) + "->(n)", otypes=[float]
)
