"""What one stage shows, read for the sums of guarantees; counts are 0 or 1."""

import numpy as np

from bocopt.core import Array
from bocopt.numeric.compiled import compiled, gufunc

_ROUNDING = 1e-9  # of the scale: less does not refute anything
_LARGEST = 1e100  # a range that goes further is none, and its square could overflow


@compiled
def is_outside(value: float, low: float, high: float) -> bool:
    """As `arguments.outside`."""
    least = 1e-14 * max(abs(low), abs(high)) + 1e-9 * (high - low)
    return not (low - least <= value and value <= high + least)


@compiled
def within(value: float, low: float, high: float) -> tuple[bool, float, float, float]:
    """Whether there is a range, the range, and the value in it; without one it is certain."""
    if not (np.isfinite(low) and np.isfinite(high)) or max(-low, high) > _LARGEST:
        return False, value, value, value
    if value < low:
        return True, low, high, low
    return True, low, high, high if value > high else value


@gufunc(
    "void(f8, f8, f8, f8, f8[:], f8[:], f8[:], f8[:], f8[:], f8[:])",
    "(),(),(),()->(),(),(),(),(),()",
)
def priced(
    cost: float,
    low: float,
    high: float,
    widest: float,
    least: Array,
    most: Array,
    kept: Array,
    wide: Array,
    unknown: Array,
    exceeded: Array,
) -> None:
    """A cost, its range, the cost within it, and the widest range so far."""
    known, least[0], most[0], kept[0] = within(cost, low, high)
    wide[0] = max(widest, most[0] - least[0])
    unknown[0] = not known
    exceeded[0] = is_outside(cost, least[0], most[0])


@gufunc("void(f8, f8, f8, f8[:], f8[:])", "(),(),()->(),()")
def squared(unit: float, square: float, wide: float, new_unit: Array, new_square: Array) -> None:
    """The sum of squared ranges, in units of the first above 0."""
    new_unit[0] = unit if unit > 0.0 else wide
    new_square[0] = square + (wide / (new_unit[0] if new_unit[0] > 0.0 else 1.0)) ** 2


@gufunc(
    "void(f8, f8, f8, f8, f8, f8, f8, f8[:], f8[:], f8[:], f8[:])",
    "(),(),(),(),(),(),()->(),(),(),()",
)
def erred(
    narrow: float,
    paid: float,
    square: float,
    wider: float,
    cost: float,
    wide: float,
    scale: float,
    new_narrow: Array,
    new_paid: Array,
    new_square: Array,
    new_wider: Array,
) -> None:
    """Sums of `Errors`, with a cost in [0, wide]."""
    new_narrow[0], new_paid[0], new_square[0], new_wider[0] = narrow, paid, square, wider
    if wide <= scale * (1.0 + 1e-9):
        error = cost / scale - (0.5 + paid) / (1.0 + narrow)
        new_narrow[0] = narrow + 1.0
        new_paid[0] = paid + cost / scale
        new_square[0] = square + error * error
    else:
        new_wider[0] = wider + (wide / scale) ** 2


@gufunc(
    "void(f8, f8, f8, f8, f8[:], f8[:], f8[:], f8[:], f8[:], f8[:], f8[:])",
    "(),(),(),(),(s)->(s),(s),(s),(),(),()",
)
def apart(
    cost: float,
    other: float,
    low: float,
    high: float,
    signs: Array,
    least: Array,
    most: Array,
    kept: Array,
    absent: Array,
    unknown: Array,
    exceeded: Array,
) -> None:
    """The same of a difference, and of minus that."""
    difference = other - cost
    known, low, high, inside = within(difference, low, high)
    for k in range(len(signs)):
        kept[k] = signs[k] * inside
        least[k], most[k] = (low, high) if signs[k] > 0.0 else (-high, -low)
    absent[0] = np.isnan(other)
    unknown[0] = not known and np.isfinite(other)
    exceeded[0] = abs(difference - inside) > 1e-9 * (abs(other) + abs(cost))


@gufunc("void(f8[:], f8[:], f8, f8, f8[:])", "(s),(s),(),()->(s)")
def since(before: Array, evidence: Array, enough: float, t: float, out: Array) -> None:
    """The first of the latest stages in a row with enough evidence; 0 where there is not."""
    for k in range(len(before)):
        if not evidence[k] >= enough:
            out[k] = 0.0
        else:
            out[k] = before[k] if before[k] > 0.0 else t


@gufunc(
    "void(f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, "
    "f8[:], f8[:], f8[:], f8[:], f8[:], f8[:], f8[:], f8[:], f8[:], f8[:], f8[:])",
    "(),(),(),(),(),(),(),(),(),(),(),(),(),()->(),(),(),(),(),(),(),(),(),(),()",
)
def lost(
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
    cap: float,
    lam: float,
    scale: float,
    own: Array,
    refuted: Array,
    jensen: Array,
    new_cap: Array,
    capped: Array,
    unbounded: Array,
    outside: Array,
    unknown: Array,
    other_kind: Array,
    other_lam: Array,
    changing: Array,
) -> None:
    """Of a belief and of the decision taken."""
    gap = _ROUNDING * scale
    own[0] = np.minimum(loss, upper)
    gibbs = posterior + kl / lam  # mix loss, if lam is the policy's own
    refuted[0] = not own[0] <= mix + gap
    jensen[0] = not own[0] <= mean + gap
    new_cap[0] = np.fmax(cap, upper)
    capped[0] = largest >= upper
    unbounded[0] = not (lower >= 0.0 and upper <= scale)
    below = is_outside(np.fmin(least, 0.0), 0.0, scale)
    outside[0] = below + is_outside(np.fmax(largest, 0.0), 0.0, scale)
    unknown[0] = not np.isfinite(mean + least + largest)
    other_kind[0] = not (is_regret == 1.0 and np.isfinite(loss))
    other_lam[0] = not abs(gibbs - mix) <= gap
    changing[0] = not intact == 1.0
