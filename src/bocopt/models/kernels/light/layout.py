"""Constants of the light mixture, and where its numbers stand in the array of a stream."""

import math
from typing import NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.numeric.compiled import compiled, inlined

#: The regressions: how the past is discounted, and degrees of freedom of the noise (2, 4 or many).
DISCOUNTS = np.array([0.998, 0.98, 1.0, 0.995, 0.97, 0.998, 0.998, 0.98])
MANY_DF = 1e9  # as good as normal
TAILS = np.array([2.0, 2.0, 4.0, 4.0, 4.0, MANY_DF, 4.0, 4.0])
PLAIN = 6  # of the regressions; the others see logarithms
MANY = 8
LAWS = MANY + 1  # and a histogram
BINS = 32  # of the histogram
LEVELS = 16  # bins of the levels at which outcomes lay
PRIORS = np.array([np.inf, 300.0, 100.0, 30.0])  # outcomes that say: nothing is to be corrected
TRUSTED = np.array([0.7, 0.1, 0.1, 0.1])  # how much each of these is trusted at first
KEEP = 0.998  # weight of a level after another one
SHARE = 0.01  # of all weight, handed out evenly after each outcome
#: Pseudo-outcomes that say: a context does not matter; for the gate, the last one.
RIDGES = np.array([0.05, 0.5, 5.0, 0.05, 0.5, 0.05, 0.05, 0.5, 5.0])
DIFFUSE = 100.0  # variance of a level, in units of the noise's
GUESS, GUESS_COUNTS = 0.3, 2.0  # a spread of 0.3 |xi| before there is one, worth two outcomes
BASE = 0.05  # of the first outcome: what the logarithm adds
GATE_DISCOUNT, GATE_LEVEL = 0.995, -3.0
FIRST_WIDTHS, LAST_WIDTHS = 4, 64  # outcomes at which contexts are standardised anew
FURTHEST = 10.0  # in units of its spread: beyond, a context tells no more
SMOOTH = 2.0  # outcomes that are spread evenly over the histogram
ROUNDED, SMALLEST = 1e-18, 1e-200  # a variance that may be rounding, of outcomes of size 1; least
FEW = 4.0  # sizes of an outcome beyond the first; of n outcomes, a share 1 / n of that

#: Strata of probability that a law is drawn from: narrow where decisions look for rare outcomes.
EDGES = np.array(
    [0, 0.004, 0.02, 0.06, 0.12, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.88, 0.94, 0.98, 0.996, 1.0]
)
STRATA = len(EDGES) - 1
MIDDLES = (EDGES[1:] + EDGES[:-1]) / 2.0
STRATA_WIDTHS = EDGES[1:] - EDGES[:-1]
SCENARIOS = LAWS * STRATA + 1  # and zero

# Places of single numbers, then those of the parts.
SEEN, UNIT, LOWEST, HIGHEST, FRACTIONS, ZEROS, BINNED, LEAST, ORIGIN, WIDTH, LEARNED = range(11)
LOG_W = 11  # (LAWS)
LEVELLED = LOG_W + LAWS  # (LEVELS) counts
TRUST = LEVELLED + LEVELS  # (4) log weights of the priors
COUNTS = TRUST + len(PRIORS)  # (BINS)
CONTEXTS = COUNTS + BINS  # (4, k): centres and widths in use; means, and squares around them


class Room(NamedTuple):
    """Where a step keeps what lies between; what is in it before does not matter."""

    phi: Array  # (q), with q = k + 1 and (1, x) in it
    flat: Array  # (q)
    beside: Array  # (q)
    work: Array  # (q, MANY)
    found: Array  # (3, MANY)
    seen: Array  # (MANY)
    gain: Array  # (MANY)
    share: Array  # (LEVELS)
    own: Array  # (LAWS + 1) what each law weighs, and zero
    heads: Array  # (LAWS + 1) the least scenario of each that was not taken
    at: Array  # (LAWS + 1) which that is
    ends: Array  # (2) the least and the largest scenario
    walk: Array  # (2) the bin of the histogram that was reached, and what lies below


@inlined
def room_for(k: int) -> Room:
    """Return the room for a context of this length; on a processor only."""
    q = k + 1
    return Room(
        phi=np.empty(q),
        flat=np.empty(q),
        beside=np.empty(q),
        work=np.empty((q, MANY)),
        found=np.empty((3, MANY)),
        seen=np.empty(MANY),
        gain=np.empty(MANY),
        share=np.empty(LEVELS),
        own=np.empty(LAWS + 1),
        heads=np.empty(LAWS + 1),
        at=np.empty(LAWS + 1),
        ends=np.empty(2),
        walk=np.empty(2),
    )


@inlined
def floored(y: float) -> float:
    """Return the largest whole number that is not above y; numbers beyond 2^52 are whole."""
    return float(math.floor(y)) if abs(y) < 2.0**52 else y


@inlined
def places(k: int) -> tuple[int, int]:
    """Return where the gate and the regressions begin.

    With q = k + 1, the gate has coefficients (q) and a triangle (q (q + 1) / 2) of their variance.
    So has each regression, and its noise and the count of that, with MANY numbers an entry.
    """
    q = k + 1
    gate = CONTEXTS + 4 * k
    return gate, gate + q + q * (q + 1) // 2


@compiled
def size_of(k: int) -> int:
    """The length of the array."""
    q = k + 1
    _, laws = places(k)
    return laws + MANY * (q + q * (q + 1) // 2 + 2)


@compiled
def begin(memory: Array, k: int) -> None:
    """Write what is known before any outcome."""
    gate, laws = places(k)
    q = k + 1
    memory[:] = 0.0
    memory[LOWEST], memory[HIGHEST], memory[LEAST] = np.inf, -np.inf, np.inf
    memory[CONTEXTS + k : CONTEXTS + 2 * k] = np.inf
    memory[gate] = GATE_LEVEL
    for i in range(q):
        corner = i * (i + 1) // 2 + i
        memory[gate + q + corner] = DIFFUSE if i == 0 else 1.0 / RIDGES[MANY]
        for law in range(MANY):
            memory[laws + MANY * (q + corner) + law] = DIFFUSE if i == 0 else 1.0 / RIDGES[law]
    memory[LOG_W : LOG_W + LAWS] = -math.log(LAWS)
    for each in range(len(PRIORS)):
        memory[TRUST + each] = math.log(TRUSTED[each])
