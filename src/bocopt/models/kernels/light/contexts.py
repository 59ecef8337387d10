"""Contexts in units of their spread, and what that changes in regressions."""

import math

from bocopt.core import Array
from bocopt.models.kernels.light.layout import (
    ALIKE,
    CONTEXTS,
    FIRST_WIDTHS,
    FURTHEST,
    GATE_RIDGE,
    LAST_WIDTHS,
    LEARNED,
    MANY,
    MEAN,
    NUMBER,
    PLAIN,
    RIDGES,
    SWITCH,
    SWITCH_RIDGES,
    UNIT,
    UNSEEN,
    Room,
    places,
)
from bocopt.numeric.compiled import inlined


@inlined
def standardised(memory: Array, x: Array, phi: Array) -> None:
    """(1, x) in units of the spread so far; what is missing stands at its mean.

    Zeros and ones stay as they are. Regressions on logarithms of outcomes see logarithms of what is
    like these.
    """
    k, unit = len(x), memory[UNIT]
    for law in range(MANY):
        phi[0, law] = 1.0
    for j in range(k):
        centre, width = memory[CONTEXTS + j], memory[CONTEXTS + k + j]
        value = x[j] if x[j] == x[j] else memory[CONTEXTS + 2 * k + j]
        plain = min(max((value - centre) / width, -FURTHEST), FURTHEST)
        seen = plain
        if memory[CONTEXTS + 5 * k + j] == ALIKE and unit > 0.0:
            ratio = (unit + max(value, 0.0)) / (unit + centre)
            seen = math.log(ratio) * (unit + centre) / width
            seen = min(max(seen, -FURTHEST), FURTHEST)
        for law in range(MANY):
            phi[j + 1, law] = plain if law < PLAIN else seen


@inlined
def ridge_of(law: int, seen_as: float) -> float:
    """Return the pseudo-outcomes that say to a regression: a context does not matter."""
    return float(SWITCH_RIDGES[law] if seen_as == SWITCH else RIDGES[law])


@inlined
def forgotten(memory: Array, k: int, j: int, first_law: int) -> None:
    """Forget what regressions from the first one on learned of a context."""
    q, laws = k + 1, places(k)[1]
    square = laws + MANY * q
    for law in range(first_law, MANY):
        memory[laws + MANY * (j + 1) + law] = 0.0
        for i in range(q):
            low, high = (j + 1, i) if j + 1 < i else (i, j + 1)
            memory[square + MANY * (high * (high + 1) // 2 + low) + law] = 0.0
        corner = square + MANY * ((j + 1) * (j + 2) // 2 + j + 1)
        memory[corner + law] = 1.0 / ridge_of(law, memory[CONTEXTS + 5 * k + j])


@inlined
def spread_of(memory: Array, k: int, j: int) -> float:
    """Return the spread of a context; what is like outcomes may still vary as much as its size."""
    count, mean = memory[CONTEXTS + 4 * k + j], memory[CONTEXTS + 2 * k + j]
    unsure = max(LAST_WIDTHS - count, 0.0) / (LAST_WIDTHS + 8.0 * count)
    if memory[CONTEXTS + 5 * k + j] != ALIKE:
        unsure = 0.0
    return math.sqrt(memory[CONTEXTS + 3 * k + j] / count + unsure * mean * mean)


@inlined
def is_time(count: float) -> bool:
    """Return True at 1, 2, 4, 8 and so on."""
    many = int(count)
    return many <= LAST_WIDTHS and many & (many - 1) == 0


@inlined
def role_of(memory: Array, k: int, j: int, value: float) -> int:
    """Return what a context is, as far as its values so far can tell."""
    before, count = int(memory[CONTEXTS + 5 * k + j]), memory[CONTEXTS + 4 * k + j]
    if before <= SWITCH and (value == 0.0 or value == 1.0):
        return SWITCH
    if before == NUMBER or value < 0.0:
        return NUMBER
    if before == ALIKE and not is_time(count):
        return ALIKE
    size, most = memory[CONTEXTS + 2 * k + j], 3.0 + 8.0 / math.sqrt(count)
    if before <= SWITCH:  # zeros and ones tell nothing of its size
        size, most = value, 11.0
    return ALIKE if memory[MEAN] / most <= size and size <= memory[MEAN] * most else NUMBER


@inlined
def noticed(memory: Array, k: int, j: int, value: float) -> None:
    """A context with one value more: its mean, its spread, and what it is."""
    memory[CONTEXTS + 4 * k + j] += 1.0
    moved, count = value - memory[CONTEXTS + 2 * k + j], memory[CONTEXTS + 4 * k + j]
    memory[CONTEXTS + 2 * k + j] += moved / count
    memory[CONTEXTS + 3 * k + j] += moved * (value - memory[CONTEXTS + 2 * k + j])
    before, now = int(memory[CONTEXTS + 5 * k + j]), role_of(memory, k, j, value)
    if now == before:
        return
    memory[CONTEXTS + 5 * k + j] = now
    forgotten(memory, k, j, PLAIN if before == ALIKE else 0)
    if before == UNSEEN:
        corner = places(k)[0] + (k + 1) + (j + 1) * (j + 2) // 2 + j + 1
        memory[corner] = 1.0 / GATE_RIDGE
    if now == SWITCH:
        memory[CONTEXTS + k + j] = 1.0
    elif before != ALIKE:
        known = now == ALIKE or count >= FIRST_WIDTHS
        memory[CONTEXTS + j] = memory[CONTEXTS + 2 * k + j]
        memory[CONTEXTS + k + j] = spread_of(memory, k, j) if known else math.inf


@inlined
def rescaled(
    memory: Array, start: int, many: int, shift: Array, stretch: Array, beside: Array
) -> None:
    """Coefficients and variances where contexts became others: x_old = shift + stretch x_new.

    b_0 <- b_0 + shift'b and b_j <- stretch_j b_j, and the variances are those of these; `many`
    numbers an entry. Both (q, 2): for plain contexts and their logarithms; `beside` (q) is room.
    """
    q = len(shift)  # the first entry of both is that of the level: 0 and 1
    square = start + many * q
    for law in range(many):
        s = 0 if law < PLAIN else 1
        for i in range(1, q):
            memory[start + law] += shift[i, s] * memory[start + many * i + law]
            memory[start + many * i + law] *= stretch[i, s]
        for i in range(1, q):  # the covariance of shift'b with b_i
            beside[i] = 0.0
            for j in range(1, q):
                low, high = (j, i) if j < i else (i, j)
                place = square + many * (high * (high + 1) // 2 + low) + law
                beside[i] += shift[j, s] * memory[place]
        for i in range(1, q):
            first = square + many * (i * (i + 1) // 2) + law
            memory[square + law] += shift[i, s] * (2.0 * memory[first] + beside[i])
            memory[first] = (memory[first] + beside[i]) * stretch[i, s]
            for j in range(1, i + 1):
                memory[first + many * j] *= stretch[i, s] * stretch[j, s]


@inlined
def widened(memory: Array, k: int, j: int, room: Room) -> None:
    """A context in units of its spread so far; the room has what that changes."""
    unit, shift, stretch = memory[UNIT], room.shift, room.stretch
    centre, before = memory[CONTEXTS + j], memory[CONTEXTS + k + j]
    mean, width = memory[CONTEXTS + 2 * k + j], spread_of(memory, k, j)
    if not width > 1e-12 * abs(mean):
        return
    memory[CONTEXTS + j], memory[CONTEXTS + k + j] = mean, width
    if before == math.inf:
        return
    for s in range(2):
        shift[j + 1, s], stretch[j + 1, s] = (mean - centre) / before, width / before
    if memory[CONTEXTS + 5 * k + j] == ALIKE and unit > 0.0:
        ratio = (unit + mean) / (unit + centre)
        shift[j + 1, 1] = math.log(ratio) * (unit + centre) / before
        stretch[j + 1, 1] /= ratio


@inlined
def trusted(memory: Array, k: int, j: int) -> None:
    """Regressions begin with what is given: outcomes follow it, from half way to the first one."""
    laws, unit = places(k)[1], memory[UNIT]
    centre, width = memory[CONTEXTS + j], memory[CONTEXTS + k + j]
    for law in range(MANY):
        level = centre if law < PLAIN else math.log1p(centre / unit)
        memory[laws + law] = 0.5 * (memory[laws + law] + level)
        memory[laws + MANY * (j + 1) + law] = width if law < PLAIN else width / (unit + centre)


@inlined
def contexts_counted(memory: Array, x: Array, room: Room) -> None:
    """Update what is known of contexts by one more; at times their units change.

    Regressions then say what they said before. The last context is the middle of what is given.
    """
    k, anew = len(x), False
    gate, laws = places(k)
    for i in range(k + 1):
        for s in range(2):
            room.shift[i, s], room.stretch[i, s] = 0.0, 1.0
    for j in range(k):
        if x[j] == x[j]:
            noticed(memory, k, j, x[j])
            count, role = memory[CONTEXTS + 4 * k + j], memory[CONTEXTS + 5 * k + j]
            first = 2 if role == ALIKE else FIRST_WIDTHS
            early = count == 1.0 and memory[LEARNED] == 1.0 and role == ALIKE
            if early and j == k - 1 and len(room.given) > 1:
                trusted(memory, k, j)
            if role > SWITCH and count >= first and is_time(count):
                widened(memory, k, j, room)
                anew = True
    if anew:
        rescaled(memory, gate, 1, room.shift, room.stretch, room.flat)
        if memory[LEARNED] > 0.0:
            rescaled(memory, laws, MANY, room.shift, room.stretch, room.flat)
