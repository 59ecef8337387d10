"""Constants of the light mixture, and where its numbers stand in the array of a stream."""

import math
from typing import NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.numeric.compiled import compiled, inlined

#: The regressions: how the past is discounted, and degrees of freedom of the noise (`tails.py`).
DISCOUNTS = np.array([0.98, 0.98, 1.0, 0.98, 0.97, 1.0, 0.998, 0.98])
TAILS = np.array([4.0, 2.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0])
#: Pseudo-outcomes that say: a context does not matter, where it is a switch (0 or 1) and else.
NEVER = 1e6
SWITCH_RIDGES = np.array([NEVER, 0.05, 5.0, 0.05, 0.5, 0.005, 0.05, 0.05])
RIDGES = np.array([0.05, 0.05, 5.0, NEVER, 0.5, NEVER, 0.05, NEVER])
#: A spread before there is one, in shares of the first outcome.
GUESSES = np.array([0.1, 0.1, 0.5, 0.1, 0.1, 0.1, 0.5, 0.1])
GUESS_COUNTS = 0.25  # outcomes that this guess is worth
PLAIN = 6  # of the regressions; the others see logarithms
MANY = 8
GIVEN = MANY + 1
LAWS = MANY + 2  # and a histogram, and one that is given
FIRST_GIVEN = 0.99  # of all weight, for the latter before any outcome
FINE = 0.02  # of the width of the law that is given: what it cannot tell apart
LARGEST_SHARE = 0.999  # of it that zeros can take
BINS = 32  # of the histogram
LEVELS = 16  # bins of the levels at which outcomes lay
PRIORS = np.array([np.inf, 300.0, 100.0, 30.0])  # outcomes that say: nothing is to be corrected
TRUSTED = np.array([0.7, 0.1, 0.1, 0.1])  # how much each of these is trusted at first
KEEP = 0.998  # weight of a level after another one
SHARE = 0.02  # of all weight, handed out evenly after each outcome
RATE, GAIN = 0.6, 1.0  # weights follow this power of a density, at most e times that of all laws
LEVEL = 1.0  # variance of a level after the first outcome, in units of the noise's
BASE = 0.05  # of the first outcome: what the logarithm adds
GATE_DISCOUNT, GATE_LEVEL, GATE_RIDGE = 0.995, 10.0, 1.0  # the latter two: as for regressions
FIRST_WIDTHS, LAST_WIDTHS = 4, 64  # values of a context at which it is standardised anew
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
MEAN = 11  # of outcomes
LOG_W = 12  # (LAWS)
LEVELLED = LOG_W + LAWS  # (LEVELS) counts
TRUST = LEVELLED + LEVELS  # (4) log weights of the priors
COUNTS = TRUST + len(PRIORS)  # (BINS)
CONTEXTS = COUNTS + BINS  # (6, k): centres and widths in use, means, squares, counts, roles
#: The last says what a context was so far: nothing; 0 or 1; like outcomes, as lags are; other.
UNSEEN, SWITCH, ALIKE, NUMBER = range(4)


class Room(NamedTuple):
    """Where a step keeps what lies between; what is in it before does not matter."""

    phi: Array  # (q, MANY), with q = k + 1: (1, x) as each regression sees it; the gate: the first
    flat: Array  # (q)
    shift: Array  # (q, 2)
    stretch: Array  # (q, 2)
    work: Array  # (q, MANY)
    found: Array  # (3, MANY)
    seen: Array  # (MANY)
    gain: Array  # (MANY)
    share: Array  # (LEVELS)
    own: Array  # (LAWS) what each law weighs
    heads: Array  # (LAWS + 1) the least scenario of each that was not taken
    at: Array  # (LAWS + 1) which that is
    ends: Array  # (2) the least and the largest scenario
    walk: Array  # (2) the bin of the histogram that was reached, and what lies below
    given: Array  # (L) quantiles of the law that is given, NaN without one


@inlined
def room_for(k: int, given: Array) -> Room:
    """Return the room for a context of this length; on a processor only."""
    q = k + 1
    return Room(
        phi=np.empty((q, MANY)),
        flat=np.empty(q),
        shift=np.empty((q, 2)),
        stretch=np.empty((q, 2)),
        work=np.empty((q, MANY)),
        found=np.empty((3, MANY)),
        seen=np.empty(MANY),
        gain=np.empty(MANY),
        share=np.empty(LEVELS),
        own=np.empty(LAWS),
        heads=np.empty(LAWS + 1),
        at=np.empty(LAWS + 1),
        ends=np.empty(2),
        walk=np.empty(2),
        given=given,
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
    gate = CONTEXTS + 6 * k
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
    memory[gate + q] = GATE_LEVEL
    memory[laws + MANY * q : laws + MANY * q + MANY] = LEVEL
    memory[LOG_W : LOG_W + LAWS] = math.log((1.0 - FIRST_GIVEN) / (LAWS - 1))
    memory[LOG_W + GIVEN] = math.log(FIRST_GIVEN)
    for each in range(len(PRIORS)):
        memory[TRUST + each] = math.log(TRUSTED[each])
