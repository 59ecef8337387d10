"""Bets against large averages: what bounded outcomes can be expected to sum to, at all times.

Outcomes Y_s in [0, W_s], with expectations nu_s given the past, may drift as they like. For any
q_s >= W_s that is known before Y_s,

    prod_s (q_s - Y_s) / (q_s - nu_s)

is a martingale that starts at 1: capital staked against large expectations. The mean of numbers is
no less than their geometric mean, hence prod (q_s - nu_s) <= ((sum q_s - sum nu_s) / t)^t, and

    E_t(S) = prod_s (q_s - Y_s) / ((sum q_s - S) / t)^t

is no more than that martingale at S = sum nu_s, however it is made up. So is every mixture over
many q; by Ville's inequality it stays below 1/delta at all t, but for a chance of delta. E_t grows
with S: where it is 1/delta ends what the sum of the expectations can be.

Here q_s = unit / stake for thirty stakes in (0, 1), or 2 W_s - unit where that is more: a stage
wider than the unit is bet on less. The unit may be anything that is known before the first outcome.

Reference: Waudby-Smith, Ramdas (2024), Estimating means of bounded random variables by betting, for
expectations that do not change.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array

_STAKES = np.geomspace(1e-4, 0.99, 30)
_LOG_WEIGHTS = np.log(_STAKES**0.5 / (_STAKES**0.5).sum())
_STEPS = 60


class Bets(NamedTuple):
    """What has become of each stake; all in units."""

    t: Array  # () stages that were bet on: those whose outcome was not certain
    gain: Array  # (stakes) sum of log((q - Y) stake): of the log capital
    room: Array  # (stakes) sum of q stake - 1: 0 unless stages were wider than the unit


def no_bets(lead: tuple[int, ...]) -> Bets:
    none = np.zeros((*lead, len(_STAKES)))
    return Bets(np.zeros(lead), none, none)


def after(bets: Bets, outcome: Array, wide: Array) -> Bets:
    """With one more outcome () in [0, wide], both in units."""
    q = np.maximum(1.0, (2.0 * wide - 1.0)[..., None] * _STAKES)  # times the stake
    gain = np.log(q - outcome[..., None] * _STAKES)
    uncertain = wide > 0.0
    if not uncertain.all():
        gain, q = (np.where(uncertain[..., None], a, b) for a, b in ((gain, 0.0), (q, 1.0)))
    return Bets(bets.t + uncertain, bets.gain + gain, bets.room + (q - 1.0))


def of_counts(ones: Array, zeros: Array) -> Bets:
    """After outcomes that were 0 or 1, in a range of 1: their order does not matter."""
    gain = np.asarray(ones)[..., None] * np.log1p(-_STAKES)
    return Bets(np.asarray(ones + zeros), gain, np.zeros(gain.shape))


def log_capital(bets: Bets, total: Array) -> Array:
    """() log E_t: the evidence that the expectations sum to less than `total`, in units."""
    return _log_sum(_exponents(bets, total))[0]


def most(bets: Bets, delta: float) -> Array:
    """() what the expectations sum to at most, in units, but for a chance of delta.

    The logarithm of E_t is convex, so Newton's steps from above never go below: wherever they stop,
    the answer is on the safe side.
    """
    level = np.log(1.0 / delta)
    t = np.maximum(bets.t, 1.0)[..., None]
    with np.errstate(over="ignore", invalid="ignore"):
        alone = (t + bets.room - t * np.exp((_LOG_WEIGHTS + bets.gain - level) / t)) / _STAKES
    endless = ~np.isfinite(alone).all(axis=-1)
    total = np.where(endless, 0.0, alone.min(axis=-1))  # one stake alone is there: all no later
    moving = ~endless & (bets.t > 0)  # each trial stops by itself, whatever is beside it
    safe = bets if not endless.any() else Bets(*(np.where(_like(endless, b), 0.0, b) for b in bets))
    for _ in range(_STEPS):
        if not moving.any():
            break
        exponents = _exponents(safe, total)
        above, share = _log_sum(exponents)
        slope = (share * _STAKES / _left(safe, total)).sum(axis=-1)
        step = np.where(moving, np.maximum((above - level) / slope, 0.0), 0.0)
        total = total - step
        moving &= step > 1e-10 * np.abs(total)
    return np.where(endless, np.inf, np.where(bets.t > 0, np.maximum(total, 0.0), 0.0))


def _left(bets: Bets, total: Array) -> Array:
    """(stakes) the mean of (q - nu) stake, where the expectations sum to `total`."""
    t = np.maximum(bets.t, 1.0)[..., None]
    left: Array = 1.0 + (bets.room - total[..., None] * _STAKES) / t
    return left


def _exponents(bets: Bets, total: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):  # more than q allows: refuted for sure
        price = bets.t[..., None] * np.log(np.maximum(_left(bets, total), 0.0))
    return np.asarray(_LOG_WEIGHTS + bets.gain - np.where(bets.t[..., None] > 0, price, 0.0))


def _log_sum(exponents: Array) -> tuple[Array, Array]:
    """(stakes) -> () the log of the sum of exps, and (stakes) their shares of it."""
    top = exponents.max(axis=-1, keepdims=True)
    finite = np.where(np.isfinite(top), top, 0.0)
    share = np.exp(exponents - finite)
    total = share.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return (finite + np.log(total))[..., 0], share / total


def _like(flags: Array, part: Array) -> Array:
    return flags[..., None] if part.ndim > flags.ndim else flags
