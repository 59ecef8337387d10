"""Bets against large averages: what outcomes can be expected to sum to, at all times at once.

Outcomes Y_s of at most h_s, with expectations nu_s given the past, may drift as they like. For any
Q_s >= h_s that is known before Y_s,

    prod_s (Q_s - Y_s) / (Q_s - nu_s)

is a martingale that starts at 1: capital staked against large expectations. The mean of numbers is
no less than their geometric mean, hence prod (Q_s - nu_s) <= ((sum Q_s - sum nu_s) / t)^t, and

    E_t(S) = prod_s (Q_s - Y_s) / ((sum Q_s - S) / t)^t

is no more than that martingale at S = sum nu_s, however it is made up. So is every mixture over
many Q; by Ville's inequality it stays below 1/delta at all t, but for a chance of delta. E_t grows
with S: where it is 1/delta ends what the sum of the expectations can be.

The inequality costs least where Q_s - nu_s is the same at all stages. So there are two ways to
place Q, each with thirty stakes a in (0, 1) and half of the capital: unit / a above the least that
each outcome could be, which is best where expectations follow their ranges, and unit (1 / a - 1)
above the most that the first one could be, which is best where they do not. Where an outcome could
be more than that, Q_s is raised to twice as far, and little is bet. The unit may be anything that
is known before the first outcome.

Reference: Waudby-Smith, Ramdas (2024), Estimating means of bounded random variables by betting, for
expectations that do not change.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array

_STAKES = np.geomspace(1e-4, 0.99, 30)
_BOTH = np.tile(_STAKES, 2)  # above the least, and above the first of the most
_LOG_WEIGHTS = np.log(_BOTH**0.5 / (_BOTH**0.5).sum())
_STEPS = 60


class Bets(NamedTuple):
    """What has become of each stake; all in units."""

    t: Array  # () stages that were bet on: those whose outcome was not certain
    level: Array  # () the most that the first of these could have been
    certain: Array  # () sum of the outcomes that were
    gain: Array  # (bets) sum of log((Q - Y) stake): of the log capital
    room: Array  # (bets) sum of Q stake


def no_bets(lead: tuple[int, ...]) -> Bets:
    none, zero = np.zeros((*lead, len(_BOTH))), np.zeros(lead)
    return Bets(zero, zero, zero, none, none)


def after(bets: Bets, outcome: Array, low: Array, high: Array) -> Bets:
    """With one more outcome () in [low, high], all in units."""
    uncertain = high > low
    level = np.where((bets.t == 0) & uncertain, high, bets.level)
    above = low[..., None] * _STAKES
    above = above + np.maximum(1.0, (2.0 * (high - low) - 1.0)[..., None] * _STAKES)
    beyond = level[..., None] * _STAKES
    beyond = beyond + np.maximum(1.0 - _STAKES, 2.0 * (high - level)[..., None] * _STAKES)
    q = np.concatenate([above, beyond], axis=-1)
    gain = np.log(np.where(uncertain[..., None], q - outcome[..., None] * _BOTH, 1.0))
    return Bets(
        t=bets.t + uncertain,
        level=level,
        certain=bets.certain + np.where(uncertain, 0.0, outcome),
        gain=bets.gain + gain,
        room=bets.room + np.where(uncertain[..., None], q, 0.0),
    )


def of_counts(ones: Array, zeros: Array) -> Bets:
    """After outcomes that were 0 or 1, in a range of 1: their order does not matter."""
    ones, t = np.asarray(ones, float), np.asarray(ones + zeros, float)
    gain = ones[..., None] * np.log1p(-_BOTH)
    return Bets(t, np.ones(t.shape), np.zeros(t.shape), gain, t[..., None] * np.ones(len(_BOTH)))


def log_capital(bets: Bets, total: Array) -> Array:
    """() log E_t: the evidence that the expectations sum to less than `total`, in units."""
    return _log_sum(_exponents(bets, total - bets.certain))[0]


def most(bets: Bets, delta: float) -> Array:
    """() what the expectations sum to at most, in units, but for a chance of delta.

    The logarithm of E_t is convex, so Newton's steps from above never go below: wherever they stop,
    the answer is on the safe side.
    """
    level = np.log(1.0 / delta)
    t = np.maximum(bets.t, 1.0)[..., None]
    with np.errstate(over="ignore", invalid="ignore"):
        alone = (bets.room - t * np.exp((_LOG_WEIGHTS + bets.gain - level) / t)) / _BOTH
    endless = ~np.isfinite(alone).all(axis=-1)
    safe = bets if not endless.any() else Bets(*(np.where(_like(endless, b), 0.0, b) for b in bets))
    total = np.where(endless, 0.0, alone.min(axis=-1))  # one stake alone is there: all no later
    moving = ~endless & (bets.t > 0)  # each trial stops by itself, whatever is beside it
    for _ in range(_STEPS):
        if not moving.any():
            break
        above, share = _log_sum(_exponents(safe, total))
        slope = (share * _BOTH / _left(safe, total)).sum(axis=-1)
        step = np.where(moving, np.maximum((above - level) / slope, 0.0), 0.0)
        total = total - step
        moving &= step > 1e-10 * np.maximum(np.abs(total), t[..., 0] * 1e-3)
    found = np.where(bets.t > 0, total, 0.0) + bets.certain
    return np.where(endless, np.inf, found)


def _left(bets: Bets, total: Array) -> Array:
    """(bets) the mean of (Q - nu) stake, where the expectations sum to `total`."""
    t = bets.t[..., None]
    left = (bets.room - total[..., None] * _BOTH) / np.maximum(t, 1.0)
    return np.where(t > 0, left, 1.0)


def _exponents(bets: Bets, total: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):  # more than Q allows: refuted for sure
        price = bets.t[..., None] * np.log(np.maximum(_left(bets, total), 0.0))
    return np.asarray(_LOG_WEIGHTS + bets.gain - price)


def _log_sum(exponents: Array) -> tuple[Array, Array]:
    """(bets) -> () the log of the sum of exps, and (bets) their shares of it."""
    top = exponents.max(axis=-1, keepdims=True)
    finite = np.where(np.isfinite(top), top, 0.0)
    share = np.exp(exponents - finite)
    total = share.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return (finite + np.log(total))[..., 0], share / total


def _like(flags: Array, part: Array) -> Array:
    return flags[..., None] if part.ndim > flags.ndim else flags
