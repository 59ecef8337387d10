"""Ranks of new blocks among the latest, and bets on them; `outlook` has why."""

import numpy as np

from bocopt.core import Array
from bocopt.numeric.compiled import gufunc

_LEAST = 1e-12  # a rank of 0 or 1 would win or lose all


@gufunc("void(f8[:], f8[:], f8, f8, f8[:])", "(w),(c),(),()->(c)")
def ranked(averages: Array, compared: Array, average: float, u: float, rank: Array) -> None:
    """Among the last so many averages: small where it is higher; u in [0, 1) breaks ties."""
    for c in range(len(compared)):
        above, same = 0.0, 1.0
        for i in range(max(len(averages) - int(compared[c]), 0), len(averages)):
            above += averages[i] > average
            same += averages[i] == average
        rank[c] = (above + u * same) / (compared[c] + 1.0)


@gufunc(
    "void(f8[:], f8[:,:], f8[:], f8[:,:], f8[:])",
    "(c),(c,b),(p)->(c,b),()",
)
def staked(rank: Array, before: Array, powers: Array, capital: Array, total: Array) -> None:
    """Log capital after bets on a low rank, on a high one, on either, and none; its log sum.

    Of power a, a bet gains a r^(a - 1): in expectation 1 where r is uniform.
    """
    capital[:] = before
    for c in range(len(rank)):
        r = min(max(rank[c], _LEAST), 1.0 - _LEAST)
        ends = r, 1.0 - r, 2.0 * min(r, 1.0 - r)
        for k in range(3 * len(powers)):
            power = powers[k % len(powers)]
            capital[c, k] += np.log(power) + (power - 1.0) * np.log(ends[k // len(powers)])
    top = capital.max()
    total[0] = top + np.log(np.exp(capital - top).sum())
