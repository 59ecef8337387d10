"""Scenarios of the next outcome, and what each weighs."""

import math

import numpy as np

from bocopt.core import Array
from bocopt.models.kernels.light.forecast import foreseen, weights_of
from bocopt.models.kernels.light.gate import is_gated
from bocopt.models.kernels.light.given import given_quantile, is_given, share_of_zero
from bocopt.models.kernels.light.histogram import bin_quantile
from bocopt.models.kernels.light.layout import (
    FEW,
    FRACTIONS,
    GIVEN,
    HIGHEST,
    LAWS,
    LEAST,
    LOWEST,
    MANY,
    MIDDLES,
    PLAIN,
    SCENARIOS,
    SEEN,
    STRATA,
    STRATA_WIDTHS,
    UNIT,
    Room,
    floored,
    room_for,
)
from bocopt.models.kernels.light.levels import rising, shares_of
from bocopt.models.kernels.light.tails import QUANTILES
from bocopt.numeric.compiled import gufunc, inlined


@inlined
def reach(memory: Array, gated: bool, given: Array) -> tuple[float, float]:
    """Return the least and the largest scenario that outcomes so far allow, or what is given."""
    if memory[SEEN] == 0.0:
        return -math.inf, math.inf
    lowest, highest = memory[LOWEST], memory[HIGHEST]
    beyond = highest - lowest + FEW * max(abs(lowest), abs(highest)) / memory[SEEN]
    low, high = lowest - beyond, highest + beyond
    if is_given(given):
        low, high = min(low, given[0]), max(high, given[len(given) - 1])
    if lowest >= 0.0:
        low = memory[LEAST] if gated and memory[LEAST] < math.inf else 0.0
    if highest <= 0.0 and not is_given(given):
        high = 0.0
    if memory[FRACTIONS] == 0.0:
        low, high = 0.0 - floored(-low), floored(high)
    return low, high


@inlined
def scenario_of(memory: Array, law: int, s: int, room: Room) -> float:
    """Return a scenario of a law; those of the histogram are asked for in rising order."""
    if law == MANY:
        value = bin_quantile(memory, MIDDLES[s], room.walk)
    else:
        value = room.found[0, law] + room.found[2, law] * QUANTILES[law, s]
        if law >= PLAIN:
            value = memory[UNIT] * math.expm1(min(value, 700.0))
    if memory[FRACTIONS] == 0.0:
        value = floored(value)
    return float(min(max(value, room.ends[0]), room.ends[1]))


@inlined
def given_scenario(memory: Array, s: int, out: float, room: Room) -> float:
    """Return a scenario of the law that is given; `out` of it are zeros."""
    value = given_quantile(room.given, out + (1.0 - out) * MIDDLES[s])
    if memory[FRACTIONS] == 0.0 and memory[SEEN] > 0.0:
        value = floored(value + 0.5)
    return float(min(max(value, room.ends[0]), room.ends[1]))


@inlined
def opened(memory: Array, chance: float, room: Room) -> float:
    """Find the weight of each law, and the ends of scenarios, from what was foreseen.

    Returns the probability of a zero that is none of a law's.
    """
    zero = chance if is_gated(memory) else 0.0
    room.ends[0], room.ends[1] = reach(memory, zero > 0.0, room.given)
    room.walk[0], room.walk[1] = 0.0, 0.0
    shares_of(memory, room.share)
    weights_of(memory, room)
    for law in range(LAWS):
        room.own[law] *= 1.0 - zero
    return zero


@inlined
def merged(values: Array, w: Array, runs: int, size: int, other: Array, other_w: Array) -> None:
    """Sorted runs of one size as one sorted run, in `values`; equal ones in the order of runs."""
    length, total = size, runs * size
    while length < total:
        start = 0
        while start < total:
            i, middle = start, min(start + length, total)
            j, end = middle, min(start + 2 * length, total)
            for place in range(start, end):
                if j >= end or (i < middle and values[i] <= values[j]):
                    other[place], other_w[place] = values[i], w[i]
                    i += 1
                else:
                    other[place], other_w[place] = values[j], w[j]
                    j += 1
            start = end
        for place in range(total):
            values[place], w[place] = other[place], other_w[place]
        length *= 2


@inlined
def corrected(share: Array, w: Array) -> None:
    """Weights become those of the levels at which outcomes lay."""
    done, before, bin_, below = 0.0, 0.0, 0, 0.0
    for i in range(SCENARIOS):
        done += w[i]
        upto, bin_, below = rising(share, min(done, 1.0), bin_, below)
        if i == SCENARIOS - 1:
            upto = 1.0
        w[i] = max(upto - before, 0.0)
        before = upto


@inlined
def all_laws(memory: Array, zero: float, room: Room, scenarios: Array, w: Array) -> int:
    """Write the scenarios of all laws, one after the other, and return how many laws there are."""
    for law in range(GIVEN):
        for s in range(STRATA):
            scenarios[law * STRATA + s] = scenario_of(memory, law, s, room)
            w[law * STRATA + s] = room.own[law] * STRATA_WIDTHS[s]
    if not is_given(room.given):
        return GIVEN
    out = share_of_zero(room.given, memory[FRACTIONS] == 0.0, zero > 0.0)
    for s in range(STRATA):
        scenarios[GIVEN * STRATA + s] = given_scenario(memory, s, out, room)
        w[GIVEN * STRATA + s] = room.own[GIVEN] * STRATA_WIDTHS[s]
    return LAWS


@inlined
def anything(scenarios: Array, w: Array) -> None:
    """Scenarios of any size from 0.01 to 100: nothing came, and nothing is given."""
    many = len(scenarios)
    for i in range(many):
        scenarios[i], w[i] = 10.0 ** (4.0 * (i + 0.5) / many - 2.0), 1.0 / many


@gufunc("void(f8[:], f8[:], f8[:], f8[:], f8[:], f8[:])", "(n),(k),(g),(s)->(s),(s)")
def sample(memory: Array, x: Array, given: Array, like: Array, scenarios: Array, w: Array) -> None:
    """Scenarios (SCENARIOS) in rising order, and what each weighs."""
    if memory[SEEN] == 0.0 and not is_given(given):
        anything(scenarios, w)
        return
    other, other_w = np.empty(SCENARIOS), np.empty(SCENARIOS)
    room = room_for(len(x), given)
    zero = opened(memory, foreseen(memory, x, room)[0], room)
    laws = all_laws(memory, zero, room, scenarios, w)
    merged(scenarios, w, laws, STRATA, other, other_w)
    place = laws * STRATA  # zero, in its place
    while place > 0 and scenarios[place - 1] > 0.0:
        scenarios[place], w[place] = scenarios[place - 1], w[place - 1]
        place -= 1
    scenarios[place], w[place] = 0.0, zero
    for i in range(laws * STRATA + 1, SCENARIOS):
        scenarios[i], w[i] = scenarios[laws * STRATA], 0.0
    corrected(room.share, w)
