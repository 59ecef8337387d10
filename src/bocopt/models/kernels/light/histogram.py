"""A histogram of outcomes, the bins of which double in width when they must."""

import math

from bocopt.core import Array
from bocopt.models.kernels.light.layout import (
    BINNED,
    BINS,
    COUNTS,
    ORIGIN,
    SMOOTH,
    WIDTH,
    floored,
)
from bocopt.numeric.compiled import inlined


@inlined
def binned(memory: Array, y: float, whole: bool) -> None:
    """The histogram with one outcome more; bins double in width until it has a place."""
    half = BINS // 2
    if memory[WIDTH] <= 0.0:
        memory[WIDTH] = 1.0 if whole else max(abs(y), 1e-100) / 8.0
        memory[ORIGIN] = floored(y / memory[WIDTH]) * memory[WIDTH]
        if 0.0 <= memory[ORIGIN] < BINS * memory[WIDTH]:
            memory[ORIGIN] = 0.0
    while not memory[ORIGIN] <= y < memory[ORIGIN] + BINS * memory[WIDTH]:
        for i in range(half):
            memory[COUNTS + i] = memory[COUNTS + 2 * i] + memory[COUNTS + 2 * i + 1]
        for i in range(half, BINS):
            memory[COUNTS + i] = 0.0
        if y < memory[ORIGIN]:
            for i in range(half):
                memory[COUNTS + half + i] = memory[COUNTS + i]
                memory[COUNTS + i] = 0.0
            memory[ORIGIN] -= BINS * memory[WIDTH]
        memory[WIDTH] *= 2.0
    place = int((y - memory[ORIGIN]) / memory[WIDTH])
    memory[COUNTS + min(place, BINS - 1)] += 1.0
    memory[BINNED] += 1.0


@inlined
def bin_density(memory: Array, y: float) -> float:
    """The log density of the histogram."""
    where = (y - memory[ORIGIN]) / memory[WIDTH]
    inside = memory[COUNTS + int(where)] if 0.0 <= where < BINS else 0.0
    return math.log((inside + SMOOTH / BINS) / (memory[BINNED] + SMOOTH) / memory[WIDTH])


@inlined
def bin_below(memory: Array, y: float) -> float:
    """Its distribution function."""
    where = min(max((y - memory[ORIGIN]) / memory[WIDTH], 0.0), float(BINS))
    whole = min(int(where), BINS - 1)
    found = (where - whole) * memory[COUNTS + whole]
    for i in range(whole):
        found += memory[COUNTS + i]
    return float((found + SMOOTH * where / BINS) / (memory[BINNED] + SMOOTH))


@inlined
def bin_quantile(memory: Array, level: float, walk: Array) -> float:
    """Return a quantile of the histogram; levels rise from call to call.

    `walk`: the bin that was reached, and what lies below it, at first zeros.
    """
    each, total = SMOOTH / BINS, memory[BINNED] + SMOOTH
    place, done = int(walk[0]), walk[1]
    while place < BINS - 1 and done + memory[COUNTS + place] + each < level * total:
        done += memory[COUNTS + place] + each
        place += 1
    walk[0], walk[1] = place, done
    within = (level * total - done) / (memory[COUNTS + place] + each)
    return float(memory[ORIGIN] + memory[WIDTH] * (place + min(within, 1.0)))
