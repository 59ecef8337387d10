"""Bets on a change of a difference, in either direction; `worsening` has the formulas."""

import numpy as np

from bocopt.core import Array
from bocopt.guarantees.kernels.bets import EPSILON
from bocopt.guarantees.kernels.folds import ends
from bocopt.guarantees.kernels.records import Lately, places
from bocopt.numeric.compiled import compiled, gufunc

LATELY = places(Lately)
FIRST = len(LATELY)  # where the bets begin


@compiled
def moved(bets: Array, difference: float, reach: float, unit: float, stakes: Array) -> float:
    """Their mean with one more difference, which is at least -reach, in place."""
    total = 0.0
    for k in range(len(stakes)):
        gain = 1.0 + stakes[k] * difference / max(0.5 * unit, reach)
        bets[k] = (bets[k] + 1.0) * gain
        total += bets[k]
    return total / len(stakes)


@gufunc(
    "void(f8[:], f8, f8, f8, f8, f8, f8, b1, b1, f8, f8[:], f8[:])",
    "(n),(),(),(),(),(),(),(),(),(),(b)->(n)",
)
def watched(
    before: Array,
    cost: float,
    other: float,
    low: float,
    high: float,
    least: float,
    most: float,
    possible: bool,
    late: bool,
    enough: float,
    stakes: Array,
    after: Array,
) -> None:
    """One more stage; where one of both sums is `enough`, it begins again.

    Of a difference that was seen in part, each side takes the end that is worst for it: what was
    not seen tells of no change.
    """
    after[:] = before
    shown = np.isnan(least)  # by both costs
    if shown:
        least = most = other - cost
    known, low, high, down, up = ends(shown, least, most, low, high)
    after[LATELY.t] += 1.0
    after[LATELY.unknown] += not known and (not shown or np.isfinite(other))
    after[LATELY.late] += late
    after[LATELY.absent] += shown and np.isnan(least)
    after[LATELY.impossible] += not possible
    nearest = min(max(low, least), most)  # of what was seen, to the range
    rounding = 4.0 * EPSILON * (abs(other) + abs(cost)) if shown else 0.0
    after[LATELY.exceeded] += max(low - nearest, nearest - high) > 1e-9 * (high - low) + rounding
    if not high > low or np.isnan(down):
        return
    if after[LATELY.unit] == 0.0:
        after[LATELY.unit] = high - low
    unit, half = after[LATELY.unit], FIRST + len(stakes)
    if moved(after[FIRST:half], down, -low, unit, stakes) >= enough:
        after[FIRST:half] = 0.0
        after[LATELY.alarms] += 1.0
        after[LATELY.worse] = after[LATELY.t]
    if moved(after[half:], -up, high, unit, stakes) >= enough:
        after[half:] = 0.0
        after[LATELY.worse] = 0.0
