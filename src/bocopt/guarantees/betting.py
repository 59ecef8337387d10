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

import numpy as np

from bocopt.core import Array
from bocopt.guarantees import kernels
from bocopt.guarantees.kernels.records import Bets

_STAKES = np.geomspace(1e-4, 0.99, 30)
STAKES = np.tile(_STAKES, 2)  # above the least, and above the first of the most
LOG_WEIGHTS = np.log(STAKES**0.5 / (STAKES**0.5).sum())

#: All bets are one array: `Bets`, the sum of log((Q - Y) stake) of each stake, which is the gain
#: of its log capital, and the sum of its Q stake.
SIZE = len(Bets._fields) + 2 * len(STAKES)


def no_bets(lead: tuple[int, ...], unit: float | None = None) -> Array:
    """Return the bets (SIZE) before any outcome."""
    bets = np.zeros((*lead, SIZE))
    bets[..., Bets._fields.index("unit")] = unit or 0.0
    return bets


def update(bets: Array, outcome: Array, low: Array, high: Array) -> Array:
    """Return the bets (SIZE) after one more outcome () in [low, high]."""
    found: Array = kernels.bets.update(bets, outcome, low, high, STAKES)
    return found


def of_counts(ones: Array, zeros: Array) -> Array:
    """Return the bets (SIZE) after outcomes of 0 or 1, in a range of 1: order does not matter."""
    return of_gains(np.asarray(ones)[..., None] * np.log1p(-STAKES), np.asarray(ones + zeros))


def of_gains(gain: Array, t: Array) -> Array:
    """Return bets (SIZE) after t outcomes Y in [0, 1], by the sums (stakes) of log(1 - a Y)."""
    t = np.asarray(t, float)
    one = np.ones(t.shape)
    about = np.stack(Bets(unit=one, t=t, level=one, base=t), axis=-1)
    return np.concatenate([about, gain, t[..., None] * (1.0 - STAKES)], axis=-1)


def log_capital(bets: Array, total: float | Array) -> Array:
    """Return log E_t (): the evidence that the expectations sum to less than `total`."""
    found: Array = kernels.bets.log_capital(bets, total, STAKES, LOG_WEIGHTS)
    return found


def most(bets: Array, delta: float, nats: float | Array = 0.0) -> Array:
    """Return the most () that the expectations sum to, but for a chance of delta.

    `nats` () are added to log(1/delta): what the choice among bets may have cost (a KL divergence).
    The logarithm of E_t is convex, so Newton's steps from above never go below: wherever they stop,
    the answer is on the safe side.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # ranges without end: no bound
        found: Array = kernels.bets.most(bets, np.log(1.0 / delta) + nats, STAKES, LOG_WEIGHTS)
    return found
