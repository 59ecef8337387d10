"""Ranks of new blocks among the latest, and bets on them; `outlook` has why."""

import numpy as np

from bocopt.core import Array
from bocopt.numeric.compiled import gufunc


@gufunc(
    "void(f8[:], f8[:], f8[:], f8, f8, f8[:], f8[:])",
    "(w),(w),(c),(),()->(c),(c)",
)
def ranked(
    averages: Array,
    seconds: Array,
    compared: Array,
    average: float,
    second: float,
    top: Array,
    bottom: Array,
) -> None:
    """Ranks from the top and from the bottom among itself and the last so many blocks, from 1.

    Of equal averages, the second numbers decide; of equal pairs, each counts as more extreme.
    """
    for c in range(len(compared)):
        top[c] = bottom[c] = 1.0
        for i in range(max(len(averages) - int(compared[c]), 0), len(averages)):
            same = average == averages[i]
            top[c] += not (average > averages[i] or (same and second > seconds[i]))
            bottom[c] += not (average < averages[i] or (same and second < seconds[i]))


@gufunc(
    "void(f8[:], f8[:], f8[:], f8[:,:], f8[:], f8[:,:], f8[:])",
    "(c),(c),(c),(c,b),(p)->(c,b),(c)",
)
def staked(
    top: Array,
    bottom: Array,
    compared: Array,
    before: Array,
    powers: Array,
    capital: Array,
    total: Array,
) -> None:
    """Log capital after bets on high blocks, low ones, either and none; its log sum.

    Of power a, a bet on rank k of n gains n ((k / n)^a - ((k - 1) / n)^a): less for larger k, and 1
    on average over all of them. A bet on either is half a bet on each.
    """
    many = len(powers)
    for c in range(len(compared)):
        capital[c] = before[c]
        n = compared[c] + 1.0
        for i in range(many):
            a = powers[i]
            high = n ** (1.0 - a) * (top[c] ** a - (top[c] - 1.0) ** a)
            low = n ** (1.0 - a) * (bottom[c] ** a - (bottom[c] - 1.0) ** a)
            capital[c, i] += np.log(high)
            capital[c, many + i] += np.log(low)
            capital[c, 2 * many + i] += np.log((high + low) / 2.0)
        largest = capital[c].max()
        total[c] = largest + np.log(np.exp(capital[c] - largest).sum())
