"""The probability of a zero: a logistic regression in closed form."""

import math

from bocopt.core import Array
from bocopt.models.kernels.light.layout import (
    GATE_DISCOUNT,
    GATE_LEVEL,
    GATE_RIDGE,
    LOWEST,
    SEEN,
    ZEROS,
    Room,
)
from bocopt.numeric.compiled import inlined


@inlined
def is_gated(memory: Array) -> bool:
    """Return True if zeros have a probability of their own: there were some, and none below."""
    return bool(memory[ZEROS] > 0.0 and memory[LOWEST] >= 0.0)


@inlined
def gate_of(memory: Array, gate: int, phi: Array, work: Array) -> tuple[float, float]:
    """Return the probability of a zero, and the variance of its log odds; slopes go to `work`."""
    q, place, variance, value = len(phi), gate + len(phi), 0.0, 0.0
    if memory[ZEROS] == 0.0:  # as most streams are: nothing was learned yet
        return 0.0, 0.0
    for i in range(q):
        work[i] = 0.0
        for j in range(i):
            work[i] += memory[place + j] * phi[j, 0]
            work[j] += memory[place + j] * phi[i, 0]
        work[i] += memory[place + i] * phi[i, 0]
        place += i + 1
    for i in range(q):
        variance += work[i] * phi[i, 0]
        value += memory[gate + i] * phi[i, 0]
    value /= math.sqrt(1.0 + math.pi * variance / 8.0)
    return 1.0 / (1.0 + math.exp(-min(max(value, -30.0), 30.0))), variance


@inlined
def gated(memory: Array, gate: int, room: Room, chance: float, variance: float, zero: bool) -> None:
    """The gate after an outcome: one step of a logistic regression with a normal belief.

    It takes what `gate_of` found. Before the first zero there is nothing to learn; that one says
    how rare zeros are.
    """
    if memory[ZEROS] == 0.0:
        return
    if zero and memory[ZEROS] == 1.0:
        memory[gate] = -math.log(memory[SEEN])
        return
    work = room.flat
    q, place = len(work), gate + len(work)
    steep = max(chance * (1.0 - chance), 1e-6)
    rest = (1.0 if zero else 0.0) - chance
    for i in range(q):
        memory[gate + i] += work[i] / (1.0 + variance * steep) * rest
        for j in range(i + 1):
            less = steep / (1.0 + variance * steep) * work[i] * work[j]
            memory[place] = (memory[place] - less) / GATE_DISCOUNT
            place += 1
    for i in range(q):
        most = GATE_LEVEL if i == 0 else 1.0 / GATE_RIDGE
        corner = gate + q + i * (i + 1) // 2 + i
        if memory[corner] > most:
            shrunk = math.sqrt(most / memory[corner])
            for j in range(q):
                low, high = (j, i) if j < i else (i, j)
                memory[gate + q + high * (high + 1) // 2 + low] *= shrunk
            memory[corner] *= shrunk
