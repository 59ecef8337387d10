"""A stream in a few kilobytes: robust regressions in closed form, a histogram, a gate for zeros.

Everything that is known of one component of a stream is one flat array, so that a step for a
hundred thousand streams is one call. Numbers of the regressions stand side by side, entry by entry:
a loop over the regressions is innermost, and is vectorised.
"""

import math
from statistics import NormalDist

import numpy as np

from bocopt.core import Array
from bocopt.numeric.compiled import compiled, gufunc, inlined

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

# Places of single numbers, then those of the parts.
SEEN, UNIT, LOWEST, HIGHEST, FRACTIONS, ZEROS, BINNED, LEAST, ORIGIN, WIDTH, LEARNED = range(11)
LOG_W = 11  # (LAWS)
LEVELLED = LOG_W + LAWS  # (LEVELS) counts
TRUST = LEVELLED + LEVELS  # (4) log weights of the priors
COUNTS = TRUST + len(PRIORS)  # (BINS)
CONTEXTS = COUNTS + BINS  # (4, k): centres and widths in use; means, and squares around them


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


@inlined
def standardised(memory: Array, x: Array, phi: Array) -> None:
    """(1, x) in units of the spread so far."""
    k = len(x)
    phi[0] = 1.0
    for j in range(k):
        value = (x[j] - memory[CONTEXTS + j]) / memory[CONTEXTS + k + j]
        phi[j + 1] = min(max(value, -FURTHEST), FURTHEST)


@inlined
def toward(memory: Array, start: int, phi: Array, out: Array) -> None:
    """(q, MANY): the variances of the regressions times (1, x)."""
    q, place = len(phi), start
    out[:] = 0.0
    for i in range(q):
        for j in range(i):
            for law in range(MANY):
                entry = memory[place + law]
                out[i, law] += entry * phi[j]
                out[j, law] += entry * phi[i]
            place += MANY
        for law in range(MANY):
            out[i, law] += memory[place + law] * phi[i]
        place += MANY


@inlined
def predicted(memory: Array, laws: int, phi: Array, work: Array, found: Array) -> None:
    """(3, MANY): where outcomes are expected, how unsure that is, and the scale around it."""
    q = len(phi)
    toward(memory, laws + MANY * q, phi, work)
    noise = laws + MANY * (q + q * (q + 1) // 2)
    found[:] = 0.0
    for i in range(q):
        for law in range(MANY):
            found[0, law] += memory[laws + MANY * i + law] * phi[i]
            found[1, law] += work[i, law] * phi[i]
    for law in range(MANY):
        found[2, law] = math.sqrt(memory[noise + law] * (1.0 + found[1, law]))


@inlined
def regressed(
    memory: Array, laws: int, phi: Array, work: Array, found: Array, seen: Array, gain: Array
) -> None:
    """The regressions after an outcome, (MANY) on their scales; a far one counts as less far."""
    q = len(phi)
    noise = laws + MANY * (q + q * (q + 1) // 2)
    for law in range(MANY):
        rest = seen[law] - found[0, law]
        error, tail = rest / found[2, law], TAILS[law]
        weight = (tail + 1.0) / (tail + error * error)
        gain[law] = 1.0 / (1.0 / weight + found[1, law])
        count = DISCOUNTS[law] * memory[noise + MANY + law] + 1.0
        new = weight * rest * rest / (1.0 + found[1, law])
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
    bounded(memory, laws + MANY * q, q)


@inlined
def bounded(memory: Array, start: int, q: int) -> None:
    """No coefficient is less sure than before any outcome: what is discounted would drift off."""
    for i in range(q):
        corner = start + MANY * (i * (i + 1) // 2 + i)
        for law in range(MANY):
            own, most = memory[corner + law], DIFFUSE if i == 0 else 1.0 / RIDGES[law]
            if own > most:
                shrunk = math.sqrt(most / own)
                for j in range(q):
                    low, high = (j, i) if j < i else (i, j)
                    memory[start + MANY * (high * (high + 1) // 2 + low) + law] *= shrunk
                memory[corner + law] *= shrunk


@inlined
def rescaled(memory: Array, start: int, many: int, shift: Array, stretch: Array) -> None:
    """Coefficients and variances where contexts became others: x_old = shift + stretch x_new.

    b_0 <- b_0 + shift'b and b_j <- stretch_j b_j, and the variances are those of these; `many`
    numbers an entry.
    """
    q = len(shift)  # the first entry of both is that of the level: 0 and 1
    square = start + many * q
    beside = np.empty(q)
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
def widths_anew(memory: Array, k: int) -> None:
    """Contexts in units of their spread so far; regressions say what they said before."""
    gate, laws = places(k)
    shift, stretch = np.zeros(k + 1), np.ones(k + 1)
    for j in range(k):
        centre, before = memory[CONTEXTS + j], memory[CONTEXTS + k + j]
        mean, square = memory[CONTEXTS + 2 * k + j], memory[CONTEXTS + 3 * k + j]
        width = math.sqrt(square / memory[SEEN])
        if width > 1e-12 * abs(mean):
            if before < np.inf:
                shift[j + 1] = (mean - centre) / before
                stretch[j + 1] = width / before
            memory[CONTEXTS + j], memory[CONTEXTS + k + j] = mean, width
    rescaled(memory, gate, 1, shift, stretch)
    rescaled(memory, laws, MANY, shift, stretch)


@inlined
def density(tail: float, error: float) -> float:
    """The log density of a Student t with 2 or 4 degrees of freedom, or of a normal law."""
    if tail == 2.0:
        return -1.5 * math.log(2.0 + error * error)
    if tail == 4.0:
        return math.log(12.0) - 2.5 * math.log(4.0 + error * error)
    return -0.5 * (math.log(2.0 * math.pi) + error * error)


@inlined
def below(tail: float, error: float) -> float:
    """Its distribution function."""
    if tail == 2.0:
        return 0.5 + error / (2.0 * math.sqrt(2.0 + error * error))
    if tail == 4.0:
        s = 1.0 + error * error / 4.0
        return 0.5 + 0.375 * error / math.sqrt(s) * (1.0 - error * error / (12.0 * s))
    return 0.5 * math.erfc(-error / math.sqrt(2.0))


@inlined
def on_scale(law: int, y: float, unit: float) -> float:
    """The outcome as a regression sees it."""
    return y if law < PLAIN else math.log1p(max(y, 0.0) / unit)


@inlined
def slope_of(law: int, y: float, unit: float) -> float:
    """The log of the volume that a unit of outcomes has there."""
    return 0.0 if law < PLAIN else -math.log(unit + max(y, 0.0))


@inlined
def suits(law: int, lowest: float) -> bool:
    """Return True if a law is meant for such outcomes: logarithms need what is never negative."""
    return law < PLAIN or law == MANY or lowest >= 0.0


@inlined
def binned(memory: Array, y: float, whole: bool) -> None:
    """The histogram with one outcome more; bins double in width until it has a place."""
    half = BINS // 2
    if memory[WIDTH] <= 0.0:
        memory[WIDTH] = 1.0 if whole else max(abs(y), 1e-100) / 8.0
        memory[ORIGIN] = math.floor(y / memory[WIDTH]) * memory[WIDTH]
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
def shares_of(memory: Array, share: Array) -> None:
    """The shares of outcomes in the bins of levels, shrunk to even ones; their sum is 1."""
    total = 0.0
    for b in range(LEVELS):
        total += memory[LEVELLED + b]
    share[:] = 0.0
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
def levelled(memory: Array, level: float) -> None:
    """The levels with one outcome more; priors are weighed by how they predicted its bin."""
    place = min(max(int(level * LEVELS), 0), LEVELS - 1)
    total, top, normal = 0.0, -np.inf, 0.0
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


@inlined
def is_gated(memory: Array) -> bool:
    """Return True if zeros have a probability of their own: there were some, and none below."""
    return bool(memory[ZEROS] > 0.0 and memory[LOWEST] >= 0.0)


@inlined
def gate_of(memory: Array, gate: int, phi: Array, work: Array) -> tuple[float, float]:
    """Return the probability of a zero, and the variance of its log odds; slopes go to `work`."""
    q, place, variance, value = len(phi), gate + len(phi), 0.0, 0.0
    work[:] = 0.0
    for i in range(q):
        for j in range(i):
            work[i] += memory[place + j] * phi[j]
            work[j] += memory[place + j] * phi[i]
        work[i] += memory[place + i] * phi[i]
        place += i + 1
    for i in range(q):
        variance += work[i] * phi[i]
        value += memory[gate + i] * phi[i]
    value /= math.sqrt(1.0 + math.pi * variance / 8.0)
    return 1.0 / (1.0 + math.exp(-min(max(value, -30.0), 30.0))), variance


@inlined
def gated(memory: Array, gate: int, phi: Array, work: Array, zero: bool) -> None:
    """The gate after an outcome: one step of a logistic regression with a normal belief."""
    q, place = len(phi), gate + len(phi)
    chance, variance = gate_of(memory, gate, phi, work)
    steep = max(chance * (1.0 - chance), 1e-6)
    rest = (1.0 if zero else 0.0) - chance
    for i in range(q):
        memory[gate + i] += work[i] / (1.0 + variance * steep) * rest
        for j in range(i + 1):
            less = steep / (1.0 + variance * steep) * work[i] * work[j]
            memory[place] = (memory[place] - less) / GATE_DISCOUNT
            place += 1
    for i in range(q):
        most = DIFFUSE if i == 0 else 1.0 / RIDGES[MANY]
        corner = gate + q + i * (i + 1) // 2 + i
        if memory[corner] > most:
            shrunk = math.sqrt(most / memory[corner])
            for j in range(q):
                low, high = (j, i) if j < i else (i, j)
                memory[gate + q + high * (high + 1) // 2 + low] *= shrunk
            memory[corner] *= shrunk


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


#: Strata of probability that a law is drawn from: narrow where decisions look for rare outcomes.
EDGES = np.array(
    [0, 0.004, 0.02, 0.06, 0.12, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.88, 0.94, 0.98, 0.996, 1.0]
)
STRATA = len(EDGES) - 1
MIDDLES = (EDGES[1:] + EDGES[:-1]) / 2.0
WIDTHS = EDGES[1:] - EDGES[:-1]
SCENARIOS = LAWS * STRATA + 1  # and zero


def _quantile(tail: float, level: float) -> float:
    """Return a quantile of a Student t with 2 or 4 degrees of freedom, or of a normal law."""
    if tail == MANY_DF:
        return NormalDist().inv_cdf(level)
    a = 4.0 * level * (1.0 - level)
    if tail == 2.0:
        return (2.0 * level - 1.0) * math.sqrt(2.0 / a)
    root = math.sqrt(a)
    away = math.cos(math.acos(min(root, 1.0)) / 3.0) / root - 1.0
    return math.copysign(2.0 * math.sqrt(max(away, 0.0)), level - 0.5)


QUANTILES = np.array([[_quantile(tail, level) for level in MIDDLES] for tail in TAILS])


@inlined
def bin_quantiles(memory: Array, out: Array) -> None:
    """Write the quantiles (STRATA) of the histogram at the levels `MIDDLES`."""
    each, total = SMOOTH / BINS, memory[BINNED] + SMOOTH
    place, done = 0, 0.0
    for s in range(STRATA):
        level = MIDDLES[s] * total
        while place < BINS - 1 and done + memory[COUNTS + place] + each < level:
            done += memory[COUNTS + place] + each
            place += 1
        within = (level - done) / (memory[COUNTS + place] + each)
        out[s] = memory[ORIGIN] + memory[WIDTH] * (place + min(within, 1.0))


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
        values[:total] = other[:total]
        w[:total] = other_w[:total]
        length *= 2


@gufunc("void(f8[:], f8[:], f8[:], f8[:], f8[:])", "(n),(k),(s)->(s),(s)")
def sample(memory: Array, x: Array, like: Array, scenarios: Array, w: Array) -> None:
    """Scenarios (SCENARIOS) in rising order, and what each weighs; after one outcome at least."""
    k = len(x)
    _, laws = places(k)
    gate = CONTEXTS + 4 * k
    phi, work, found = np.empty(k + 1), np.empty((k + 1, MANY)), np.empty((3, MANY))
    share, other, other_w = np.empty(LEVELS), np.empty(SCENARIOS), np.empty(SCENARIOS)
    standardised(memory, x, phi)
    predicted(memory, laws, phi, work, found)
    zero = gate_of(memory, gate, phi, np.empty(k + 1))[0] if is_gated(memory) else 0.0
    lowest, highest, whole = memory[LOWEST], memory[HIGHEST], memory[FRACTIONS] == 0.0
    beyond = highest - lowest + FEW * max(abs(lowest), abs(highest)) / memory[SEEN]
    low, high = lowest - beyond, highest + beyond
    if lowest >= 0.0:
        low = memory[LEAST] if zero > 0.0 and memory[LEAST] < np.inf else 0.0
    if highest <= 0.0:
        high = 0.0
    if whole:
        low, high = math.ceil(low), math.floor(high)
    known = 0.0
    for law in range(LAWS):
        known += math.exp(memory[LOG_W + law]) if suits(law, lowest) else 0.0
    for law in range(LAWS):
        own = math.exp(memory[LOG_W + law]) / known if suits(law, lowest) else 0.0
        first = law * STRATA
        if law == MANY:
            bin_quantiles(memory, scenarios[first : first + STRATA])
        else:
            for s in range(STRATA):
                value = found[0, law] + found[2, law] * QUANTILES[law, s]
                if law >= PLAIN:
                    value = memory[UNIT] * math.expm1(min(value, 700.0))
                scenarios[first + s] = value
        for s in range(first, first + STRATA):
            value = math.floor(scenarios[s]) if whole else scenarios[s]
            scenarios[s] = min(max(value, low), high)
            w[s] = (1.0 - zero) * own * WIDTHS[s - first]
    merged(scenarios, w, LAWS, STRATA, other, other_w)
    place = SCENARIOS - 1  # zero, in its place
    while place > 0 and scenarios[place - 1] > 0.0:
        scenarios[place], w[place] = scenarios[place - 1], w[place - 1]
        place -= 1
    scenarios[place], w[place] = 0.0, zero
    shares_of(memory, share)
    done, before = 0.0, 0.0
    for i in range(SCENARIOS):  # weights are those of the levels at which outcomes lay
        done += w[i]
        upto = risen(share, min(done, 1.0)) if i < SCENARIOS - 1 else 1.0
        w[i] = max(upto - before, 0.0)
        before = upto
