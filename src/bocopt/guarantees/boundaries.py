"""Bounds on how far a sum strays from its conditional means, at all times at once.

For each rate r, exp(r S_t - psi(r) V_t) is a supermartingale that starts at 1, where S_t sums
(conditional mean - outcome) and V_t is an intrinsic time. So is every mixture over rates, and by
Ville's inequality it stays below 1/delta for all t, but for a chance of delta. Solved for S:

    S_t <= boundary(V_t):   log sum_k w_k exp(r_k S - psi(r_k) V) = log(1/delta).

A mixture over many rates is nearly as tight at every time as the best single rate is at its own.

Reference: Howard, Ramdas, McAuliffe, Sekhon (2021), Time-uniform, nonparametric, nonasymptotic
confidence sequences.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bocopt.core import Array


class RateMixture(NamedTuple):
    """Rates, in units of 1 / range, with their weights: some less for small ones, which are best
    only after very many stages, or where the unit is much too small."""

    rates: Array
    psi: Array
    weights: Array


def _mixture(rates: Array, psi: Callable[[Array], Array], power: float) -> RateMixture:
    return RateMixture(rates, psi(rates), rates**power / (rates**power).sum())


HOEFFDING = _mixture(np.geomspace(1e-10, 8.0, 48), lambda r: r**2 / 8, power=0.1)
BERNSTEIN = _mixture(np.geomspace(1e-5, 0.99, 30), lambda r: -np.log1p(-r) - r, power=0.2)
_STEPS = 30


def hoeffding(v: Array, delta: float) -> Array:
    """Return the boundary () for outcomes whose squared predictable ranges sum to v (), in units of
    the first.

    psi(r) = r^2 / 8 per squared range (Hoeffding's lemma).
    """
    return _boundary(HOEFFDING.psi * np.asarray(v)[..., None], delta, HOEFFDING)


def empirical_bernstein(v: Array, delta: float, square: float | Array = 0.0) -> Array:
    """Return the boundary () for outcomes in [0, 1] whose squared errors of prediction sum to v ().

    psi(r) = -log(1 - r) - r, for any predictions in [0, 1] that are made before the outcome.
    Outcomes that are known before to have a wider range take Hoeffding's r^2 / 8 per squared range
    instead: these sum to `square`.

    Reference: Fan, Grama, Liu (2015), Exponential inequalities for martingales with applications.
    """
    v, square = np.asarray(v)[..., None], np.asarray(square)[..., None]
    return _boundary(BERNSTEIN.psi * v + BERNSTEIN.rates**2 / 8 * square, delta, BERNSTEIN)


def _boundary(price: Array, delta: float, mixture: RateMixture) -> Array:
    """Return the s () at which the mixture of exp(rate s - price) over prices (rates) is 1/delta.

    Its logarithm is convex in s, so Newton's steps from above never go below: wherever they stop,
    the answer is on the safe side.
    """
    endless = np.asarray(~np.isfinite(price).all(axis=-1))
    rates, level = mixture.rates, np.log(1 / delta)
    start = np.log(mixture.weights) - np.where(endless[..., None], 0.0, price)
    s = ((level - start) / rates).min(axis=-1)  # one rate alone is there: the mixture no later
    moving = np.ones(s.shape, bool)  # each trial stops by itself, whatever is beside it
    for _ in range(_STEPS):
        exponents = start + rates * s[..., None]
        top = exponents.max(axis=-1, keepdims=True)
        share = np.exp(exponents - top)
        total = share.sum(axis=-1)
        above = top[..., 0] + np.log(total) - level
        step = above * total / (share * rates).sum(axis=-1)
        s = np.where(moving, s - np.maximum(step, 0.0), s)
        moving &= step > 1e-10 * s
        if not moving.any():
            break
    return np.where(endless, np.inf, s)
