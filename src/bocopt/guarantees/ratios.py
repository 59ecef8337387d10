"""A confidence interval for the share of a payment that is saved, at all times at once.

A difference d_s, and a payment p_s that it is a share of, have expectations that sum to D and P up
to stage t; the share saved is r = -D / P. For a number a that was fixed in advance, d + a p is an
outcome in a range that is known before xi, whose expectations sum to D + a P: `betting` bets on it.
What is staked on many a, and on p alone, both ways, is one capital, at most that of a martingale at
the true (D, P). A pair at which it reaches 1/delta is refuted, at all t at once but for a chance of
delta, and the shares of all other pairs are what is left.

Bets on d + r p alone, whose expectations sum to 0 at the true r, would give a set that is narrower
by a tenth or two. They prove it for an r that is fixed in advance alone; as expectations may drift,
so may r, and follow what was won.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.guarantees import betting, kernels
from bocopt.guarantees.kernels.records import Bets

_FAR = np.array([0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 0.7, 1.0, 2.0])
_SHARES = np.concatenate([-_FAR[::-1], [0.0], _FAR])  # the a that are bet on
_ON_PAYMENT = 0.1  # of the capital
_EVEN = np.full(len(_SHARES), (1.0 - _ON_PAYMENT) / len(_SHARES))
_LOG_WEIGHTS = np.log(np.repeat(np.append(_EVEN, _ON_PAYMENT)[:, None] / 2.0, 2, axis=1))
_D, _P = np.append(np.ones(len(_SHARES)), 0.0), np.append(_SHARES, 1.0)  # of d and of p in each
_TURNS, _FINER = 48, 9  # rays that are tried at once
_CLOSE = 1e-5  # of a turn
_STEPS = 34
_LARGEST, _ROUNDING = 1e100, 1e-12


class BoundedSeries(NamedTuple):
    """One of two numbers at each stage, between ends that were known before it."""

    value: Array  # (T) NaN where it never came
    low: Array  # (T)
    high: Array  # (T)


def shares(
    difference: BoundedSeries, paid: BoundedSeries, delta: float, scale: float | None = None
) -> tuple[float, float] | None:
    """Return the ends of -D / P, but for a chance of delta; None where P may not be above 0.

    An outcome that never came counts at its worst. `scale`, declared in advance, is about what a
    difference can be on most stages.
    """
    pairs = pairs_of(difference, paid, delta, scale)
    if pairs is None:
        return None
    turns = np.arange(_TURNS) / _TURNS
    edge = pairs.edge(turns)
    if not pairs.least(lambda d, p: p, turns, edge) > 0.0:
        return None
    low = pairs.least(lambda d, p: -d / p, turns, edge)
    return low, -pairs.least(lambda d, p: d / p, turns, edge)


def pairs_of(
    difference: BoundedSeries, paid: BoundedSeries, delta: float, scale: float | None = None
) -> "MeanPairs | None":
    """Return the unrefuted (D, P); None without ranges, or if the middle P is not above 0."""
    ends = np.stack([difference.low, difference.high, paid.low, paid.high])
    if not (np.abs(ends) < _LARGEST).all():
        return None
    middle = np.array([_middle(difference), _middle(paid)])
    if not middle[1] > 0.0:
        return None
    far = float(np.abs(ends).sum())
    return MeanPairs(*_folded(difference, paid, scale), np.log(1.0 / delta), middle, far)


def _middle(outcomes: BoundedSeries) -> float:
    """Return a sum that no bet speaks against."""
    missing = ~np.isfinite(outcomes.value)
    return float(np.where(missing, (outcomes.low + outcomes.high) / 2.0, outcomes.value).sum())


def _folded(d: BoundedSeries, p: BoundedSeries, scale: float | None) -> tuple[Array, Array]:
    """Return bets (a, 2, SIZE) on d + a p and on minus that, and the most (a, 2) of each sum."""
    a, b = _D[:, None], _P[:, None]
    low = a * d.low + np.minimum(b * p.low, b * p.high)
    high = a * d.high + np.maximum(b * p.low, b * p.high)
    value = np.clip(a * d.value + b * p.value, low, high)
    bets = betting.no_bets((len(_P), 2))
    first = np.argmax(d.high > d.low)
    if scale is not None and d.high[first] > d.low[first]:
        wider = (high - low)[:, first] / (d.high - d.low)[first]
        bets[..., Bets._fields.index("unit")] = scale * wider[:, None]
    lows, highs = np.stack([low, -high], axis=1), np.stack([high, -low], axis=1)
    outcomes = np.stack([value, -value], axis=1)
    worst = np.where(np.isfinite(outcomes), outcomes, highs)
    return kernels.bets.all_after(bets, worst, lows, highs, betting.STAKES), highs.sum(axis=-1)


class MeanPairs(NamedTuple):
    """The set of pairs (D, P) that are not refuted, which is convex and contains the middle."""

    bets: Array  # (a, 2, SIZE)
    most: Array  # (a, 2) that each can sum to
    enough: float  # log capital that refutes
    middle: Array  # (2)
    far: float  # beyond which there are none

    def least(self, of: Callable[[Array, Array], Array], turns: Array, edge: Array) -> float:
        """The least value on the edge of a function that falls to it from both sides."""
        step = float(turns[1] - turns[0])
        while True:
            found = of(*edge.T)
            best = int(found.argmin())
            if step < _CLOSE:
                return float(found[best])
            turns = turns[best] + step * np.linspace(-1.0, 1.0, _FINER)
            step, edge = float(turns[1] - turns[0]), self.edge(turns)

    def edge(self, turns: Array) -> Array:
        """Return the points (n, 2) where rays, at shares (n) of a full turn, leave the set."""
        ways = np.stack([np.cos(2.0 * np.pi * turns), np.sin(2.0 * np.pi * turns)], axis=-1)
        inside, outside = np.zeros(len(turns)), np.full(len(turns), self.far)
        for _ in range(_STEPS):
            tried = (inside + outside) / 2.0
            out = self.log_capital(self.middle + tried[:, None] * ways) >= self.enough
            inside, outside = np.where(out, inside, tried), np.where(out, tried, outside)
        return np.asarray(self.middle + outside[:, None] * ways)

    def log_capital(self, pairs: Array) -> Array:
        """Return the log capital () against each of the pairs (..., 2); inf if impossible."""
        sums = pairs[..., :1] * _D + pairs[..., 1:] * _P
        both = np.stack([sums, -sums], axis=-1)
        logs = betting.log_capital(self.bets, both) + _LOG_WEIGHTS
        impossible = (both > self.most + _ROUNDING * self.far).any(axis=(-2, -1))
        return np.where(impossible, np.inf, np.logaddexp.reduce(logs, axis=(-2, -1)))
