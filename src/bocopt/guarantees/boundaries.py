"""How far a sum can stray from its conditional means, at all times at once.

For each rate r, exp(r S_t - psi(r) V_t) is a supermartingale that starts at 1, where S_t sums
(conditional mean - outcome) and V_t is an intrinsic time. So is every mixture over rates, and by
Ville's inequality it stays below 1/delta for all t, but for a chance of delta. Solved for S:

    S_t <= boundary(V_t):   log sum_k w_k exp(r_k S - psi(r_k) V) = log(1/delta).

A mixture over many rates is nearly as tight at every time as the best single rate is at its own.

Reference: Howard, Ramdas, McAuliffe, Sekhon (2021), Time-uniform, nonparametric, nonasymptotic
confidence sequences.
"""

import numpy as np

from bocopt.core import Array

#: In units of 1 / range. A first range that is a thousand times too small does no harm.
_HOEFFDING = np.geomspace(1e-5, 8.0, 40)
_BERNSTEIN = np.geomspace(1e-3, 0.99, 20)
_STEPS = 30


def hoeffding(v: Array, delta: float) -> Array:
    """() -> (): for outcomes whose squared predictable ranges sum to v, in units of the first.

    psi(r) = r^2 / 8 per squared range (Hoeffding's lemma).
    """
    return _boundary(v, delta, _HOEFFDING, _HOEFFDING**2 / 8)


def empirical_bernstein(v: Array, delta: float) -> Array:
    """() -> (): for outcomes in [0, 1] whose squared errors of prediction sum to v.

    psi(r) = -log(1 - r) - r, for any predictions in [0, 1] that are made before the outcome.

    Reference: Fan, Grama, Liu (2015), Exponential inequalities for martingales with applications.
    """
    return _boundary(v, delta, _BERNSTEIN, -np.log1p(-_BERNSTEIN) - _BERNSTEIN)


def _boundary(v: Array, delta: float, rates: Array, psi: Array) -> Array:
    """The s at which the mixture with equal weights reaches 1/delta.

    Its logarithm is convex in s, so Newton's steps from above never go below: wherever they stop,
    the answer is on the safe side.
    """
    v = np.asarray(v, float)[..., None]
    level = np.log(1 / delta)
    # One rate alone reaches it at (level + log K + psi v) / rate: the mixture does so no later.
    s = ((level + np.log(len(rates)) + psi * v) / rates).min(axis=-1)
    for _ in range(_STEPS):
        exponents = rates * s[..., None] - psi * v
        top = exponents.max(axis=-1, keepdims=True)
        share = np.exp(exponents - top)
        total = share.sum(axis=-1)
        above = top[..., 0] + np.log(total / len(rates)) - level
        step = above * total / (share * rates).sum(axis=-1)
        s = s - np.maximum(step, 0.0)
        if (step <= 1e-10 * s).all():
            break
    return np.asarray(s)
