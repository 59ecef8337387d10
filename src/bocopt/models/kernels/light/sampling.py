"""Scenarios of the next outcome, and what each weighs."""

import math

import numpy as np

from bocopt.core import Array
from bocopt.models.kernels.light.contexts import standardised
from bocopt.models.kernels.light.gate import gate_of, is_gated
from bocopt.models.kernels.light.histogram import bin_quantiles
from bocopt.models.kernels.light.layout import (
    FEW,
    FRACTIONS,
    HIGHEST,
    LAWS,
    LEAST,
    LOG_W,
    LOWEST,
    MANY,
    PLAIN,
    SCENARIOS,
    SEEN,
    STRATA,
    STRATA_WIDTHS,
    UNIT,
    Room,
    floored,
    places,
    room_for,
)
from bocopt.models.kernels.light.levels import risen, shares_of
from bocopt.models.kernels.light.regressions import predicted
from bocopt.models.kernels.light.tails import QUANTILES, suits
from bocopt.numeric.compiled import gufunc, inlined


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
def law_quantiles(memory: Array, law: int, found: Array, scenarios: Array) -> None:
    """The scenarios of one law, in rising order, in their place."""
    first = law * STRATA
    if law == MANY:
        bin_quantiles(memory, scenarios, first)
    else:
        for s in range(STRATA):
            value = found[0, law] + found[2, law] * QUANTILES[law, s]
            if law >= PLAIN:
                value = memory[UNIT] * math.expm1(min(value, 700.0))
            scenarios[first + s] = value


@inlined
def corrected(share: Array, w: Array) -> None:
    """Weights become those of the levels at which outcomes lay."""
    done, before = 0.0, 0.0
    for i in range(SCENARIOS):
        done += w[i]
        upto = risen(share, min(done, 1.0)) if i < SCENARIOS - 1 else 1.0
        w[i] = max(upto - before, 0.0)
        before = upto


@inlined
def reach(memory: Array, gated: bool) -> tuple[float, float]:
    """Return the least and the largest scenario that outcomes so far allow."""
    lowest, highest = memory[LOWEST], memory[HIGHEST]
    beyond = highest - lowest + FEW * max(abs(lowest), abs(highest)) / memory[SEEN]
    low, high = lowest - beyond, highest + beyond
    if lowest >= 0.0:
        low = memory[LEAST] if gated and memory[LEAST] < math.inf else 0.0
    if highest <= 0.0:
        high = 0.0
    if memory[FRACTIONS] == 0.0:
        low, high = 0.0 - floored(-low), floored(high)
    return low, high


@inlined
def sampled(
    memory: Array,
    x: Array,
    room: Room,
    scenarios: Array,
    w: Array,
    other: Array,
    other_w: Array,
) -> None:
    """Scenarios (SCENARIOS) in rising order, and what each weighs; after one outcome at least.

    The last two are room for as many.
    """
    gate, laws = places(len(x))
    standardised(memory, x, room.phi)
    predicted(memory, laws, room.phi, room.work, room.found)
    zero = gate_of(memory, gate, room.phi, room.flat)[0] if is_gated(memory) else 0.0
    lowest, whole = memory[LOWEST], memory[FRACTIONS] == 0.0
    low, high = reach(memory, zero > 0.0)
    known = 0.0
    for law in range(LAWS):
        known += math.exp(memory[LOG_W + law]) if suits(law, lowest) else 0.0
    for law in range(LAWS):
        own = math.exp(memory[LOG_W + law]) / known if suits(law, lowest) else 0.0
        first = law * STRATA
        law_quantiles(memory, law, room.found, scenarios)
        for s in range(first, first + STRATA):
            value = floored(scenarios[s]) if whole else scenarios[s]
            scenarios[s] = min(max(value, low), high)
            w[s] = (1.0 - zero) * own * STRATA_WIDTHS[s - first]
    merged(scenarios, w, LAWS, STRATA, other, other_w)
    place = SCENARIOS - 1  # zero, in its place
    while place > 0 and scenarios[place - 1] > 0.0:
        scenarios[place], w[place] = scenarios[place - 1], w[place - 1]
        place -= 1
    scenarios[place], w[place] = 0.0, zero
    shares_of(memory, room.share)
    corrected(room.share, w)


@gufunc("void(f8[:], f8[:], f8[:], f8[:], f8[:])", "(n),(k),(s)->(s),(s)")
def sample(memory: Array, x: Array, like: Array, scenarios: Array, w: Array) -> None:
    """Write the scenarios and what each weighs: see `sampled`."""
    other, other_w = np.empty(SCENARIOS), np.empty(SCENARIOS)
    sampled(memory, x, room_for(len(x)), scenarios, w, other, other_w)
