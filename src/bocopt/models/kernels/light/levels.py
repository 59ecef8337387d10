"""Correction of levels by where outcomes lay in what was predicted."""

import math

from bocopt.core import Array
from bocopt.models.kernels.light.layout import KEEP, LEVELLED, LEVELS, PRIORS, TRUST
from bocopt.numeric.compiled import inlined


@inlined
def shares_of(memory: Array, share: Array) -> None:
    """The shares of outcomes in the bins of levels, shrunk to even ones; their sum is 1."""
    total = 0.0
    for b in range(LEVELS):
        total += memory[LEVELLED + b]
    for b in range(LEVELS):
        share[b] = 0.0
    for each in range(len(PRIORS)):
        trust, weight = total / (total + PRIORS[each]), math.exp(memory[TRUST + each])
        for b in range(LEVELS):
            seen = memory[LEVELLED + b] / max(total, 1e-300)
            share[b] += weight * (trust * seen + (1.0 - trust) / LEVELS)


@inlined
def risen(share: Array, level: float) -> float:
    """Return H at the level of a prediction; H rises by a share in each bin."""
    where = level * LEVELS
    place, found = min(int(where), LEVELS - 1), 0.0
    for b in range(place):
        found += share[b]
    return float(found + share[place] * (where - place))


@inlined
def rising(share: Array, level: float, place: int, found: float) -> tuple[float, int, float]:
    """Return H at a level, and for the next one, which is no lower: its bin and what lies below."""
    where = level * LEVELS
    last = min(int(where), LEVELS - 1)
    while place < last:
        found += share[place]
        place += 1
    return float(found + share[place] * (where - place)), place, found


@inlined
def levelled(memory: Array, level: float) -> None:
    """The levels with one outcome more; priors are weighed by how they predicted its bin."""
    place = min(max(int(level * LEVELS), 0), LEVELS - 1)
    total, top, normal = 0.0, -math.inf, 0.0
    for b in range(LEVELS):
        total += memory[LEVELLED + b]
    for each in range(len(PRIORS)):
        trust = total / (total + PRIORS[each])
        seen = memory[LEVELLED + place] / max(total, 1e-300)
        memory[TRUST + each] += math.log(LEVELS * trust * seen + (1.0 - trust))
        top = max(top, memory[TRUST + each])
    for each in range(len(PRIORS)):
        normal += math.exp(memory[TRUST + each] - top)
    for each in range(len(PRIORS)):
        memory[TRUST + each] -= top + math.log(normal)
    for b in range(LEVELS):
        memory[LEVELLED + b] *= KEEP
    memory[LEVELLED + place] += 1.0
