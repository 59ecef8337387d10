"""Bets of one trial; `betting` has the formulas."""

import numpy as np

from bocopt.core import Array
from bocopt.numeric.compiled import compiled, gufunc

_STEPS = 60
_CLOSE = 1e-7  # of the answer: what the next step would be is about the square of that
_NOTHING = 40.0  # in logs: exp(-40) of a sum is less than its rounding


@gufunc(
    "void(f8, f8, f8, f8, f8[:], f8[:], f8, f8, f8, f8[:], "
    "f8[:], f8[:], f8[:], f8[:], f8[:], f8[:])",
    "(),(),(),(),(b),(b),(),(),(),(a)->(),(),(),(),(b),(b)",
)
def after(
    unit: float,
    t: float,
    level: float,
    base: float,
    gain: Array,
    room: Array,
    outcome: float,
    low: float,
    high: float,
    stakes: Array,
    new_unit: Array,
    new_t: Array,
    new_level: Array,
    new_base: Array,
    new_gain: Array,
    new_room: Array,
) -> None:
    """With one more outcome in [low, high]; one that is certain is only added up."""
    new_gain[:], new_room[:] = gain, room
    new_unit[0], new_t[0], new_level[0] = unit, t, level
    if not high > low:
        new_base[0] = base + outcome
        return
    if t == 0.0:
        level = high
        if unit == 0.0:
            unit = high - low
    least, most, y = (low - level) / unit, (high - level) / unit, (outcome - level) / unit
    wide = (high - low) / unit
    for k in range(len(stakes)):
        a = stakes[k]
        above = least * a + max(1.0, (2.0 * wide - 1.0) * a)
        beyond = max(1.0 - a, 2.0 * most * a)
        new_gain[k] += np.log(above - y * a)
        new_room[k] += above
        new_gain[k + len(stakes)] += np.log(beyond - y * a)
        new_room[k + len(stakes)] += beyond
    new_unit[0], new_t[0], new_level[0], new_base[0] = unit, t + 1.0, level, base + level


@compiled
def capital(
    t: float, gain: Array, room: Array, total: float, stakes: Array, log_weights: Array, logs: Array
) -> tuple[float, float]:
    """Its log at expectations that sum to `total`, and the slope of that; `logs` is for each."""
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


@gufunc(
    "void(f8, f8, f8, f8[:], f8[:], f8, f8[:], f8[:], f8[:])",
    "(),(),(),(b),(b),(),(b),(b)->()",
)
def log_capital(
    unit: float,
    t: float,
    base: float,
    gain: Array,
    room: Array,
    total: float,
    stakes: Array,
    log_weights: Array,
    out: Array,
) -> None:
    if t == 0.0:
        out[0] = 0.0
        return
    logs = np.empty(len(stakes))
    out[0] = capital(t, gain, room, (total - base) / unit, stakes, log_weights, logs)[0]


@gufunc(
    "void(f8, f8, f8, f8[:], f8[:], f8, f8[:], f8[:], f8[:])",
    "(),(),(),(b),(b),(),(b),(b)->()",
)
def most(
    unit: float,
    t: float,
    base: float,
    gain: Array,
    room: Array,
    log_level: float,
    stakes: Array,
    log_weights: Array,
    out: Array,
) -> None:
    """Newton's steps, from where the best stake alone would be at that level: all are no later."""
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
    out[0] = base + unit * total
