"""Contexts in units of their spread, and what that changes in regressions."""

import math

from bocopt.core import Array
from bocopt.models.kernels.light.layout import CONTEXTS, FURTHEST, MANY, SEEN, places
from bocopt.numeric.compiled import inlined


@inlined
def standardised(memory: Array, x: Array, phi: Array) -> None:
    """(1, x) in units of the spread so far."""
    k = len(x)
    phi[0] = 1.0
    for j in range(k):
        value = (x[j] - memory[CONTEXTS + j]) / memory[CONTEXTS + k + j]
        phi[j + 1] = min(max(value, -FURTHEST), FURTHEST)


@inlined
def rescaled(
    memory: Array, start: int, many: int, shift: Array, stretch: Array, beside: Array
) -> None:
    """Coefficients and variances where contexts became others: x_old = shift + stretch x_new.

    b_0 <- b_0 + shift'b and b_j <- stretch_j b_j, and the variances are those of these; `many`
    numbers an entry; `beside` is room.
    """
    q = len(shift)  # the first entry of both is that of the level: 0 and 1
    square = start + many * q
    for law in range(many):
        for i in range(1, q):
            memory[start + law] += shift[i] * memory[start + many * i + law]
            memory[start + many * i + law] *= stretch[i]
        for i in range(1, q):  # the covariance of shift'b with b_i
            beside[i] = 0.0
            for j in range(1, q):
                low, high = (j, i) if j < i else (i, j)
                beside[i] += shift[j] * memory[square + many * (high * (high + 1) // 2 + low) + law]
        for i in range(1, q):
            first = square + many * (i * (i + 1) // 2) + law
            memory[square + law] += shift[i] * (2.0 * memory[first] + beside[i])
            memory[first] = (memory[first] + beside[i]) * stretch[i]
            for j in range(1, i + 1):
                memory[first + many * j] *= stretch[i] * stretch[j]


@inlined
def widths_anew(memory: Array, k: int, shift: Array, stretch: Array, beside: Array) -> None:
    """Contexts in units of their spread so far; regressions say what they said before.

    The last three (k + 1) are room.
    """
    gate, laws = places(k)
    shift[0], stretch[0] = 0.0, 1.0
    for j in range(k):
        shift[j + 1], stretch[j + 1] = 0.0, 1.0
        centre, before = memory[CONTEXTS + j], memory[CONTEXTS + k + j]
        mean, square = memory[CONTEXTS + 2 * k + j], memory[CONTEXTS + 3 * k + j]
        width = math.sqrt(square / memory[SEEN])
        if width > 1e-12 * abs(mean):
            if before < math.inf:
                shift[j + 1] = (mean - centre) / before
                stretch[j + 1] = width / before
            memory[CONTEXTS + j], memory[CONTEXTS + k + j] = mean, width
    rescaled(memory, gate, 1, shift, stretch, beside)
    rescaled(memory, laws, MANY, shift, stretch, beside)
