"""Bets of one trial; `betting` has the formulas."""

import numpy as np

from bocopt.core import Array
from bocopt.guarantees.kernels.folds import OWN, STAGE, STAGE_LAYOUT, ends, watch
from bocopt.guarantees.kernels.records import Apart, Bets, places
from bocopt.numeric.compiled import compiled, gufunc, inlined

_STEPS = 60
_CLOSE = 1e-7  # of the answer: what the next step would be is about the square of that
EPSILON = 2.0**-52  # of float64
_ROUNDING = 1e-9  # of a sum
_ROUNDING_OF_COSTS = 1e-12  # each may be a sum of many terms
_NOTHING = 40.0  # in logs: exp(-40) of a sum is less than its rounding

BETS, APART = places(Bets), places(Apart)
EACH = len(BETS)  # where what has become of each stake begins


@compiled
def place(bets: Array, outcome: float, low: float, high: float, stakes: Array) -> None:
    """One more outcome in [low, high], in place; one that is certain is only added up."""
    if not high > low:
        bets[BETS.base] += outcome
        return
    if bets[BETS.t] == 0.0:
        bets[BETS.level] = high
        if bets[BETS.unit] == 0.0:
            bets[BETS.unit] = high - low
    unit, level = bets[BETS.unit], bets[BETS.level]
    bets[BETS.t] += 1.0
    bets[BETS.base] += level
    gain, room = gain_and_room(bets, stakes)
    least, most, y = (low - level) / unit, (high - level) / unit, (outcome - level) / unit
    wide, half = (high - low) / unit, len(stakes) // 2
    for k in range(half):
        a = stakes[k]
        above = least * a + max(1.0, (2.0 * wide - 1.0) * a)
        beyond = max(1.0 - a, 2.0 * most * a)
        gain[k] += np.log(above - y * a)
        room[k] += above
        gain[k + half] += np.log(beyond - y * a)
        room[k + half] += beyond


@inlined
def gain_and_room(bets: Array, stakes: Array) -> tuple[Array, Array]:
    """Return views of the sums of log((Q - Y) stake) and of Q stake, each (stakes)."""
    return bets[EACH : EACH + len(stakes)], bets[EACH + len(stakes) :]


@gufunc("void(f8[:], f8, f8, f8, f8[:], f8[:])", "(n),(),(),(),(b)->(n)")
def update(
    before: Array, outcome: float, low: float, high: float, stakes: Array, bets: Array
) -> None:
    """Write the bets (n) after one more outcome () in [low, high]."""
    bets[:] = before
    place(bets, outcome, low, high, stakes)


@gufunc("void(f8[:], f8[:], f8[:], f8[:], f8[:], f8[:])", "(n),(t),(t),(t),(b)->(n)")
def all_after(
    before: Array, outcomes: Array, low: Array, high: Array, stakes: Array, bets: Array
) -> None:
    """Write the bets (n) after more outcomes (t), in order."""
    bets[:] = before
    for i in range(len(outcomes)):
        place(bets, outcomes[i], low[i], high[i], stakes)


@gufunc(f"void(f8[:], {STAGE}, f8[:], f8[:])", f"(n),{STAGE_LAYOUT},(b)->(n)")
def watched(
    before: Array,
    cost: float,
    least: float,
    most: float,
    low: float,
    high: float,
    possible: bool,
    late: bool,
    stakes: Array,
    sums: Array,
) -> None:
    """Write the sums (n) of decisions after one more stage, with bets on its cost.

    Capital falls in the cost: of one that was seen in part, the most is safe.
    """
    sums[:] = before
    low, high, _, kept = watch(sums, cost, least, most, low, high, possible, late)
    place(sums[OWN:], kept, low, high, stakes)


@compiled
def capital(
    t: float, gain: Array, room: Array, total: float, stakes: Array, log_weights: Array, logs: Array
) -> tuple[float, float]:
    """Return the log capital if expectations sum to `total`, and its slope; `logs` is for each."""
    top = -np.inf
    for k in range(len(stakes)):
        left = (room[k] - total * stakes[k]) / t
        if left <= 0.0:  # more than Q allows: refuted for sure
            return np.inf, np.inf
        logs[k] = log_weights[k] + gain[k] - t * np.log(left)
        top = max(top, logs[k])
    whole, slope = 0.0, 0.0
    for k in range(len(stakes)):
        if logs[k] > top - _NOTHING:
            share = np.exp(logs[k] - top)
            whole += share
            slope += share * t * stakes[k] / (room[k] - total * stakes[k])
    return top + np.log(whole), slope / whole


@compiled
def log_capital_of(bets: Array, total: float, stakes: Array, log_weights: Array) -> float:
    """Return the log capital at expectations that sum to `total`; inf refutes them for sure."""
    t, unit, base = bets[BETS.t], bets[BETS.unit], bets[BETS.base]
    if t == 0.0:  # all were certain
        return np.inf if total - base > _ROUNDING * max(abs(total), abs(base)) else 0.0
    gain, room = gain_and_room(bets, stakes)
    logs = np.empty(len(stakes))
    return capital(t, gain, room, (total - base) / unit, stakes, log_weights, logs)[0]


@gufunc("void(f8[:], f8, f8[:], f8[:], f8[:])", "(n),(),(b),(b)->()")
def log_capital(bets: Array, total: float, stakes: Array, log_weights: Array, out: Array) -> None:
    """Write the log capital () of bets (n) at expectations that sum to `total` ()."""
    out[0] = log_capital_of(bets, total, stakes, log_weights)


@compiled
def refutes_zero(
    sums: Array, bets: Array, enough: float, stakes: Array, log_weights: Array
) -> bool:
    """Return whether expected differences surely sum to less than 0, by more than rounding."""
    if bets[BETS.t] == 0.0:
        rounding = 4.0 * EPSILON * sums[APART.t] * (abs(sums[APART.own]) + abs(sums[APART.other]))
        return bool(bets[BETS.base] < -rounding)
    return bool(log_capital_of(bets, 0.0, stakes, log_weights) >= enough)


@gufunc(
    "void(f8[:], f8, f8, f8, f8, f8, f8, b1, b1, f8, f8[:], f8[:], f8[:])",
    "(n),(),(),(),(),(),(),(),(),(),(b),(b)->(n)",
)
def compared(
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
    log_weights: Array,
    sums: Array,
) -> None:
    """Bets on a difference, and on minus that; `enough` log capital at 0 refutes either.

    Capital falls in the outcome: of one that was seen in part, each side takes the end that is
    worst for it.
    """
    sums[:] = before
    shown = np.isnan(least)  # by both costs
    if shown:
        least = most = other - cost
    known, low, high, down, up = ends(shown, least, most, low, high)
    sums[APART.t] += 1.0
    sums[APART.low] += low
    sums[APART.high] += high
    sums[APART.unknown] += not known and (not shown or np.isfinite(other))
    sums[APART.late] += late
    sums[APART.impossible] += not possible
    nearest = min(max(low, least), most)  # of what was seen, to the range
    rounding = _ROUNDING_OF_COSTS * (abs(other) + abs(cost)) if shown else 0.0
    sums[APART.exceeded] += max(low - nearest, nearest - high) > 1e-9 * (high - low) + rounding
    if shown:
        sums[APART.own] += cost
        sums[APART.other] += other
        sums[APART.absent] += np.isnan(least)
    else:
        sums[APART.in_part] += 1.0
        sums[APART.least] += down
        sums[APART.most] += up
    both = sums[len(APART) :]
    above, below = both[: len(both) // 2], both[len(both) // 2 :]
    place(above, up, low, high, stakes)
    place(below, -down, -high, -low, stakes)
    for since, bets in ((APART.better, above), (APART.worse, below)):
        if not refutes_zero(sums, bets, enough, stakes, log_weights):
            sums[since] = 0.0
        elif sums[since] == 0.0:
            sums[since] = sums[APART.t]


@gufunc("void(f8[:], f8, f8[:], f8[:], f8[:])", "(n),(),(b),(b)->()")
def most(bets: Array, log_level: float, stakes: Array, log_weights: Array, out: Array) -> None:
    """Newton's steps, from where the best stake alone would be at that level: all are no later."""
    t, base = bets[BETS.t], bets[BETS.base]
    gain, room = gain_and_room(bets, stakes)
    if t == 0.0:
        out[0] = base
        return
    total = np.inf
    for k in range(len(stakes)):
        paid = t * np.exp((log_weights[k] + gain[k] - log_level) / t)
        alone = (room[k] - paid) / stakes[k]
        if not np.isfinite(alone):
            out[0] = np.inf
            return
        total = min(total, alone)
    logs = np.empty(len(stakes))
    for _ in range(_STEPS):
        above, slope = capital(t, gain, room, total, stakes, log_weights, logs)
        step = (above - log_level) / slope
        if not step > 0.0:  # there, but for rounding, or refuted for sure
            break
        total -= step
        if step <= _CLOSE * max(abs(total), 1e-3 * t):
            break
    out[0] = base + bets[BETS.unit] * total
