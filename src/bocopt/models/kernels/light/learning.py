"""What is known of a stream after one more outcome."""

import math

import numpy as np

from bocopt.core import Array
from bocopt.models.kernels.light.contexts import standardised, widths_anew
from bocopt.models.kernels.light.gate import gate_of, gated, is_gated
from bocopt.models.kernels.light.histogram import bin_below, bin_density, binned
from bocopt.models.kernels.light.layout import (
    BASE,
    CONTEXTS,
    FIRST_WIDTHS,
    FRACTIONS,
    GUESS,
    GUESS_COUNTS,
    HIGHEST,
    LAST_WIDTHS,
    LAWS,
    LEARNED,
    LEAST,
    LEVELS,
    LOG_W,
    LOWEST,
    MANY,
    PLAIN,
    SEEN,
    SHARE,
    TAILS,
    UNIT,
    ZEROS,
    places,
)
from bocopt.models.kernels.light.levels import levelled, risen, shares_of
from bocopt.models.kernels.light.regressions import predicted, regressed
from bocopt.models.kernels.light.tails import below, density, on_scale, slope_of, suits
from bocopt.numeric.compiled import gufunc, inlined


@inlined
def weighed(memory: Array, told: Array) -> float:
    """The log density of all laws, from that of each; weights follow it."""
    top, total = -np.inf, 0.0
    for law in range(LAWS):
        top = max(top, memory[LOG_W + law] + told[law])
    if top == -np.inf:
        return top
    for law in range(LAWS):
        total += math.exp(memory[LOG_W + law] + told[law] - top)
    mixed = top + math.log(total)
    for law in range(LAWS):
        share = math.exp(memory[LOG_W + law] + told[law] - mixed)
        memory[LOG_W + law] = math.log((1.0 - SHARE) * share + SHARE / LAWS)
    return mixed


@gufunc("void(f8[:], f8[:], f8, f8, f8[:], f8[:], f8[:])", "(n),(k),(),(),(l)->(n),(l)")
def step(
    memory: Array, x: Array, y: float, place: float, like: Array, after: Array, told: Array
) -> None:
    """Write what is known after an outcome y under a context x.

    `place` in [0, 1) is where a whole number stands in the unit above it. `told` (LAWS + 2): the
    log density that each law gave the outcome, that of all, and the level at which it lay; NaN at
    the first outcome.
    """
    k = len(x)
    q = k + 1
    gate, laws = places(k)
    after[:] = memory
    told[:] = np.nan
    phi, work, found = np.empty(q), np.empty((q, MANY)), np.empty((3, MANY))
    flat, seen, gain, share = np.empty(q), np.empty(MANY), np.empty(MANY), np.empty(LEVELS)
    standardised(memory, x, phi)
    first, noise = memory[LEARNED] == 0.0, laws + MANY * (q + q * (q + 1) // 2)
    whole = memory[FRACTIONS] == 0.0 and y == math.floor(y)
    within = y + place if whole else y
    after[SEEN] += 1.0
    after[LOWEST], after[HIGHEST] = min(memory[LOWEST], y), max(memory[HIGHEST], y)
    after[FRACTIONS] += 0.0 if y == math.floor(y) else 1.0
    after[ZEROS] += 1.0 if y == 0.0 else 0.0
    if y > 0.0:
        after[LEAST] = min(memory[LEAST], y)
    zero, _ = gate_of(memory, gate, phi, flat)
    zero = zero if is_gated(memory) else 0.0
    shares_of(memory, share)
    at = place * zero  # the level of an outcome of zero
    if y == 0.0 and zero > 0.0:
        told[LAWS] = math.log(max(risen(share, zero), 1e-300))
    gated(after, gate, phi, flat, y == 0.0)
    if first:
        after[UNIT] = BASE * (abs(y) if y != 0.0 else 1.0)
        for law in range(MANY):
            guess = GUESS * abs(y) if law < PLAIN else GUESS
            after[noise + law] = guess * guess if guess > 1e-100 else 1.0
            after[noise + MANY + law] = GUESS_COUNTS
            after[laws + law] = on_scale(law, within, after[UNIT])
    if y != 0.0 or zero == 0.0:
        predicted(after, laws, phi, work, found)
        level = 0.0
        for law in range(MANY):
            seen[law] = on_scale(law, within, after[UNIT])
            error = (seen[law] - found[0, law]) / found[2, law]
            told[law] = density(TAILS[law], error) - math.log(found[2, law])
            told[law] += slope_of(law, within, after[UNIT])
            if not suits(law, after[LOWEST]):
                told[law] = -np.inf
            level += math.exp(memory[LOG_W + law]) * below(TAILS[law], error)
        if not first:
            told[MANY] = bin_density(memory, within)
            level += math.exp(memory[LOG_W + MANY]) * bin_below(memory, within)
            at = zero + (1.0 - zero) * level
            told[LAWS] = weighed(after, told) + math.log(1.0 - zero)
            told[LAWS] += math.log(LEVELS * share[min(int(at * LEVELS), LEVELS - 1)])
        regressed(after, laws, phi, work, found, seen, gain)
        binned(after, within, after[FRACTIONS] == 0.0)
        after[LEARNED] += 1.0
    if first:
        told[:] = np.nan
    else:
        told[LAWS + 1] = risen(share, min(at, 1.0))
        levelled(after, at)
    for j in range(k):
        moved = x[j] - memory[CONTEXTS + 2 * k + j]
        after[CONTEXTS + 2 * k + j] += moved / after[SEEN]
        after[CONTEXTS + 3 * k + j] += moved * (x[j] - after[CONTEXTS + 2 * k + j])
    many = int(after[SEEN])
    if FIRST_WIDTHS <= many <= LAST_WIDTHS and many & (many - 1) == 0:
        widths_anew(after, k)
