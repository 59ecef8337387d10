"""The sums of guarantees with one more stage: `records` has what they are, and where."""

import numpy as np

from bocopt.core import Array
from bocopt.guarantees.kernels import records
from bocopt.guarantees.kernels.records import Errors, Losses, Paid, Squares, WatchedSums
from bocopt.numeric.compiled import compiled, gufunc

_ROUNDING = 1e-9  # of the scale: less does not refute anything
_LARGEST = 1e100  # a range that goes further is none, and its square could overflow

STAGE = "f8, f8, f8, f8, f8, b1, b1"  # `Evidence.paid`
STAGE_LAYOUT = "(),(),(),(),(),(),()"
WATCHED = records.places(WatchedSums)
OWN = len(WATCHED)  # what one of them adds begins here
SQUARES, ERRORS = records.places(Squares, OWN), records.places(Errors, OWN)
PAID, LOSSES = records.places(Paid), records.places(Losses)


@compiled
def is_outside(value: float, low: float, high: float) -> bool:
    """Return whether a value is outside [low, high], but for rounding, as `arguments.outside`."""
    least = 1e-14 * max(abs(low), abs(high)) + 1e-9 * (high - low)
    return not (low - least <= value and value <= high + least)


@compiled
def within(value: float, low: float, high: float) -> tuple[bool, float, float, float]:
    """Return whether there is a range, its ends and the value in it; without one, it is certain."""
    if not (np.isfinite(low) and np.isfinite(high)) or max(-low, high) > _LARGEST:
        return False, value, value, value
    if value < low:
        return True, low, high, low
    return True, low, high, high if value > high else value


@compiled
def ends(
    shown: bool, least: float, most: float, low: float, high: float
) -> tuple[bool, float, float, float, float]:
    """Return whether there is a range, its ends, and the ends of what was seen, cut to it.

    Of what was not `shown`, nothing is known without a range.
    """
    known, low, high, largest = within(most, low, high)
    if not (known or shown):
        return known, np.nan, np.nan, np.nan, np.nan
    return known, low, high, min(max(least, low), high), largest


@compiled
def watch(
    sums: Array,
    cost: float,
    least: float,
    most: float,
    low: float,
    high: float,
    possible: bool,
    late: bool,
) -> tuple[float, float, float, float]:
    """Add a stage to the sums of all guarantees of decisions.

    Return its range, and in that the least and the most that was paid.
    """
    shown = np.isnan(least)
    if shown:
        least = most = cost
    known, low, high, lowest, largest = ends(shown, least, most, low, high)
    sums[WATCHED.t] += 1.0
    sums[WATCHED.cost] += cost if shown else largest
    sums[WATCHED.least] += cost if shown else lowest
    sums[WATCHED.in_part] += not shown
    sums[WATCHED.high] += high
    sums[WATCHED.widest] = max(sums[WATCHED.widest], high - low)
    sums[WATCHED.unknown] += not known
    if known or shown:  # of what was seen, the nearest to the range
        sums[WATCHED.exceeded] += is_outside(min(max(low, least), most), low, high)
    sums[WATCHED.impossible] += not possible
    sums[WATCHED.late] += late
    return low, high, lowest, largest


@gufunc(f"void(f8[:], {STAGE}, f8[:])", f"(n),{STAGE_LAYOUT}->(n)")
def squared(
    before: Array,
    cost: float,
    least: float,
    most: float,
    low: float,
    high: float,
    possible: bool,
    late: bool,
    sums: Array,
) -> None:
    """Write the sums (n) after one more stage, with its squared range."""
    sums[:] = before
    low, high, _, _ = watch(sums, cost, least, most, low, high, possible, late)
    wide = high - low
    sums[SQUARES.square] += wide**2
    if not sums[SQUARES.unit] > 0.0:
        sums[SQUARES.unit] = wide
    unit = sums[SQUARES.unit] if sums[SQUARES.unit] > 0.0 else 1.0
    sums[SQUARES.in_units] += (wide / unit) ** 2


@gufunc(f"void(f8[:], {STAGE}, f8, f8[:])", f"(n),{STAGE_LAYOUT},()->(n)")
def erred(
    before: Array,
    cost: float,
    least: float,
    most: float,
    low: float,
    high: float,
    possible: bool,
    late: bool,
    scale: float,
    sums: Array,
) -> None:
    """Write the sums (n) after one more stage, with its squared error of prediction.

    A prediction may be anything that is known before the stage, and the slack rises with the sum of
    squared errors. So of a cost that was seen in part, the larger error of its ends is safe.
    """
    sums[:] = before
    low, high, lowest, largest = watch(sums, cost, least, most, low, high, possible, late)
    above, wide = (largest - low) / scale, high - low
    if wide <= scale * (1.0 + 1e-9):
        predicted = (0.5 + sums[ERRORS.paid]) / (1.0 + sums[ERRORS.narrow])
        error, other = above - predicted, (lowest - low) / scale - predicted
        sums[ERRORS.narrow] += 1.0
        sums[ERRORS.paid] += above
        sums[ERRORS.square] += max(error * error, other * other)
    else:
        sums[ERRORS.wider] += (wide / scale) ** 2


@gufunc("void(f8[:], f8[:], f8, f8, f8, b1, b1, f8[:])", "(n),(a),(),(),(),(),()->(n)")
def drawn(
    before: Array,
    arms: Array,
    mean: float,
    bound: float,
    stages: float,
    stale: bool,
    in_part: bool,
    sums: Array,
) -> None:
    """Write the sums (n) of an ensemble after one more stage with arms (a)."""
    sums[:] = before
    sums[PAID.t] += 1.0
    if in_part:
        sums[PAID.in_part] += 1.0
        return
    sums[PAID.mean] += mean
    sums[PAID.worst] += arms.max()
    sums[PAID.bound] = bound
    sums[PAID.missed] += stages != sums[PAID.t]
    sums[PAID.stale] += stale


@gufunc(
    "void(f8[:], f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, b1, b1, b1, f8, f8, f8[:])",
    "(n),(),(),(),(),(),(),(),(),(),(),(),(),(),(),(),()->(n)",
)
def lost(
    before: Array,
    mean: float,
    mix: float,
    posterior: float,
    kl: float,
    least: float,
    largest: float,
    lower: float,
    upper: float,
    is_regret: float,
    intact: float,
    loss: float,
    stale: bool,
    late: bool,
    in_part: bool,
    lam: float,
    scale: float,
    sums: Array,
) -> None:
    """Write the sums (n) of a belief's losses after one more stage."""
    gap = _ROUNDING * scale
    own = np.minimum(loss, upper)
    gibbs = posterior + kl / lam  # mix loss, if lam is the policy's own
    below = is_outside(np.fmin(least, 0.0), 0.0, scale)
    sums[:] = before
    sums[LOSSES.t] += 1.0
    if in_part:
        sums[LOSSES.in_part] += 1.0
        return
    sums[LOSSES.mean] += mean
    sums[LOSSES.mix] += mix
    sums[LOSSES.posterior] += posterior
    sums[LOSSES.kl] += kl
    sums[LOSSES.own] += own
    sums[LOSSES.refuted] += not own <= mix + gap
    sums[LOSSES.jensen] += not own <= mean + gap
    sums[LOSSES.cap] = np.fmax(before[LOSSES.cap], upper)
    sums[LOSSES.capped] += largest >= upper
    sums[LOSSES.unbounded] += not (lower >= 0.0 and upper <= scale)
    sums[LOSSES.outside] += below + is_outside(np.fmax(largest, 0.0), 0.0, scale)
    sums[LOSSES.unknown] += not np.isfinite(mean + least + largest)
    sums[LOSSES.other_kind] += not (is_regret == 1.0 and np.isfinite(loss))
    sums[LOSSES.other_lam] += not abs(gibbs - mix) <= gap
    sums[LOSSES.changed] += before[LOSSES.changing]
    sums[LOSSES.changing] = not intact == 1.0
    sums[LOSSES.stale] += stale
    sums[LOSSES.late] += late
