"""Scenarios of one component, moved to the levels where outcomes lay."""

from bocopt.core import Array, IntArray
from bocopt.numeric.compiled import gufunc


@gufunc("void(float64[:], int64[:], float64[:], float64[:])", "(s),(s),(b)->(s)")
def move(scenarios: Array, order: IntArray, share: Array, moved: Array) -> None:
    """The i-th smallest goes to where the predicted level H^-1((i + 1/2) / s) is.

    H rises by `share` in each of the b bins of predicted levels, and evenly inside of them.
    """
    s, b = len(scenarios), len(share)
    place, start = 0, 0.0
    for i in range(s):
        level = (i + 0.5) / s
        while place < b - 1 and level > start + share[place]:
            start += share[place]
            place += 1
        rank = (place + (level - start) / share[place]) / b * s - 0.5
        rank = min(max(rank, 0.0), s - 1.0)
        low = min(int(rank), s - 2)
        here, there = scenarios[order[low]], scenarios[order[low + 1]]
        moved[order[i]] = here + (rank - low) * (there - here)
