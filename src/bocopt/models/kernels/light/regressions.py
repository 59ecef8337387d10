"""Bayesian regressions in closed form, all of them entry by entry."""

import math

from bocopt.core import Array
from bocopt.models.kernels.light.contexts import ridge_of
from bocopt.models.kernels.light.layout import (
    CONTEXTS,
    DISCOUNTS,
    LEVEL,
    MANY,
    ROUNDED,
    SMALLEST,
    TAILS,
)
from bocopt.models.kernels.light.tails import weight
from bocopt.numeric.compiled import inlined


@inlined
def toward(memory: Array, start: int, phi: Array, out: Array) -> None:
    """(q, MANY): the variances of the regressions times (1, x)."""
    q, place = len(phi), start
    for i in range(q):
        for law in range(MANY):
            out[i, law] = 0.0
        for j in range(i):
            for law in range(MANY):
                entry = memory[place + law]
                out[i, law] += entry * phi[j, law]
                out[j, law] += entry * phi[i, law]
            place += MANY
        for law in range(MANY):
            out[i, law] += memory[place + law] * phi[i, law]
        place += MANY


@inlined
def predicted(memory: Array, laws: int, phi: Array, work: Array, found: Array) -> None:
    """(3, MANY): where outcomes are expected, how unsure that is, and the scale around it."""
    q = len(phi)
    toward(memory, laws + MANY * q, phi, work)
    noise = laws + MANY * (q + q * (q + 1) // 2)
    for law in range(MANY):
        found[0, law], found[1, law] = 0.0, 0.0
    for i in range(q):
        for law in range(MANY):
            found[0, law] += memory[laws + MANY * i + law] * phi[i, law]
            found[1, law] += work[i, law] * phi[i, law]
    for law in range(MANY):
        found[2, law] = math.sqrt(memory[noise + law] * (1.0 + found[1, law]))


@inlined
def regressed(
    memory: Array, laws: int, phi: Array, work: Array, found: Array, seen: Array, gain: Array
) -> None:
    """The regressions after an outcome, (MANY) on their scales.

    A far one counts as less far, unless coefficients were unsure: then it is these that were wrong.
    """
    q = len(phi)
    noise = laws + MANY * (q + q * (q + 1) // 2)
    for law in range(MANY):
        rest = seen[law] - found[0, law]
        counts = weight(TAILS[law], rest / found[2, law])
        excess = (1.0 / counts - 1.0) / (1.0 + found[1, law])
        gain[law] = 1.0 / (1.0 + excess + found[1, law])
        count = DISCOUNTS[law] * memory[noise + MANY + law] + 1.0
        new = counts * rest * rest / (1.0 + found[1, law])
        least = max(ROUNDED * seen[law] * seen[law], SMALLEST)
        memory[noise + law] += (new - memory[noise + law]) / count
        memory[noise + law] = max(memory[noise + law], least)
        memory[noise + MANY + law] = count
        seen[law] = rest * gain[law]
    place = laws + MANY * q
    for i in range(q):
        for law in range(MANY):
            memory[laws + MANY * i + law] += work[i, law] * seen[law]
        for j in range(i + 1):
            for law in range(MANY):
                less = gain[law] * work[i, law] * work[j, law]
                memory[place + law] = (memory[place + law] - less) / DISCOUNTS[law]
            place += MANY
    bounded(memory, laws, q)


@inlined
def bounded(memory: Array, laws: int, q: int) -> None:
    """No coefficient is less sure than before any outcome: what is discounted would drift off."""
    start, kinds = laws + MANY * q, CONTEXTS + 5 * (q - 1)
    for i in range(q):
        corner = start + MANY * (i * (i + 1) // 2 + i)
        for law in range(MANY):
            most = LEVEL if i == 0 else 1.0 / ridge_of(law, memory[kinds + i - 1])
            own = memory[corner + law]
            if own > most:
                shrunk = math.sqrt(most / own)
                for j in range(q):
                    low, high = (j, i) if j < i else (i, j)
                    memory[start + MANY * (high * (high + 1) // 2 + low) + law] *= shrunk
                memory[corner + law] *= shrunk
