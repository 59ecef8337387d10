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


class Bets(NamedTuple):
    """What has become of each stake; Q and Y are in units, and above the level."""

    unit: Array  # () if none was declared, the first range above 0; 0 before there is one
    t: Array  # () stages that were bet on: those whose outcome was not certain
    level: Array  # () the most that the first of these could have been
    base: Array  # () sum of the levels, and of outcomes that were certain
    gain: Array  # (bets) sum of log((Q - Y) stake): of the log capital
    room: Array  # (bets) sum of Q stake


def no_bets(lead: tuple[int, ...], unit: float | None = None) -> Bets:
    none, zero = np.zeros((*lead, len(_BOTH))), np.zeros(lead)
    return Bets(zero + (unit or 0.0), zero, zero, zero, none, none)


def after(bets: Bets, outcome: Array, low: Array, high: Array) -> Bets:
    """With one more outcome () in [low, high]."""
    from bocopt.guarantees.kernels import bets as kernels

    return Bets(*kernels.after(*bets, outcome, low, high, _STAKES))


def of_counts(ones: Array, zeros: Array) -> Bets:
    """After outcomes that were 0 or 1, in a range of 1: their order does not matter."""
    t = np.asarray(ones + zeros, float)
    one, room = np.ones(t.shape), t[..., None] * (1.0 - _BOTH)
    return Bets(one, t, one, t, np.asarray(ones)[..., None] * np.log1p(-_BOTH), room)


def log_capital(bets: Bets, total: float | Array) -> Array:
    """() log E_t: the evidence that the expectations sum to less than `total`."""
    from bocopt.guarantees.kernels import bets as kernels

    unit, t, _, base, gain, room = bets
    found: Array = kernels.log_capital(unit, t, base, gain, room, total, _BOTH, _LOG_WEIGHTS)
    return found


def most(bets: Bets, delta: float) -> Array:
    """() what the expectations sum to at most, but for a chance of delta.

    The logarithm of E_t is convex, so Newton's steps from above never go below: wherever they stop,
    the answer is on the safe side.
    """
    from bocopt.guarantees.kernels import bets as kernels

    unit, t, _, base, gain, room = bets
    log_level = np.log(1.0 / delta)
    with np.errstate(over="ignore", invalid="ignore"):  # ranges without end: no bound
        found: Array = kernels.most(unit, t, base, gain, room, log_level, _BOTH, _LOG_WEIGHTS)
    return found
