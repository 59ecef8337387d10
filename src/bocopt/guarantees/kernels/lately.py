"""Bets on a change of a difference, in either direction; `worsening` has the formulas."""

import numpy as np

from bocopt.core import Array
from bocopt.guarantees.kernels.bets import EPSILON
from bocopt.guarantees.kernels.folds import within
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
    "void(f8[:], f8, f8, f8, f8, b1, b1, b1, f8, f8[:], f8[:])",
    "(n),(),(),(),(),(),(),(),(),(b)->(n)",
)
def watched(
    before: Array,
    cost: float,
    other: float,
    low: float,
    high: float,
    came: bool,
    possible: bool,
    late: bool,
    enough: float,
    stakes: Array,
    after: Array,
) -> None:
    """One more stage; where one of both sums is `enough`, it begins again."""
    after[:] = before
    difference = other - cost if came else np.nan
    known, low, high, kept = within(difference, low, high)
    after[LATELY.t] += 1.0
    after[LATELY.unknown] += not known and (not came or np.isfinite(other))
    after[LATELY.late] += late
    if came:
        after[LATELY.absent] += np.isnan(difference)
        rounding = 4.0 * EPSILON * (abs(other) + abs(cost))
        after[LATELY.exceeded] += abs(difference - kept) > 1e-9 * (high - low) + rounding
        after[LATELY.impossible] += not possible
    if not high > low or (came and np.isnan(kept)):
        return
    if after[LATELY.unit] == 0.0:
        after[LATELY.unit] = high - low
    unit, half = after[LATELY.unit], FIRST + len(stakes)
    least, most = (kept, kept) if came else (low, high)  # a missing one tells of no change
    if moved(after[FIRST:half], least, -low, unit, stakes) >= enough:
        after[FIRST:half] = 0.0
        after[LATELY.alarms] += 1.0
        after[LATELY.worse] = after[LATELY.t]
    if moved(after[half:], -most, high, unit, stakes) >= enough:
        after[half:] = 0.0
        after[LATELY.worse] = 0.0
