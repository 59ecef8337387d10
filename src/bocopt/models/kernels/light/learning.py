"""Learning: the memory of a stream after one more outcome."""

import math

from bocopt.core import Array
from bocopt.models.kernels.light.contexts import contexts_counted
from bocopt.models.kernels.light.forecast import foreseen, weights_of
from bocopt.models.kernels.light.gate import gated, is_gated
from bocopt.models.kernels.light.given import given_seen, share_of_zero
from bocopt.models.kernels.light.histogram import bin_below, bin_density, binned
from bocopt.models.kernels.light.layout import (
    BASE,
    FRACTIONS,
    GAIN,
    GIVEN,
    GUESS_COUNTS,
    GUESSES,
    HIGHEST,
    LAWS,
    LEARNED,
    LEAST,
    LEVELS,
    LOG_W,
    LOWEST,
    MANY,
    MEAN,
    PLAIN,
    RATE,
    SEEN,
    SHARE,
    SMALLEST,
    TAILS,
    UNIT,
    ZEROS,
    Room,
    floored,
    places,
    room_for,
)
from bocopt.models.kernels.light.levels import levelled, risen, shares_of
from bocopt.models.kernels.light.regressions import regressed
from bocopt.models.kernels.light.tails import below, density, on_scale, slope_of
from bocopt.numeric.compiled import gufunc, inlined


@inlined
def weighed(memory: Array, own: Array, scores: Array) -> float:
    """The log density of all laws, from that of each; weights follow it, as far as they may.

    Where one outcome was far from all that was usual, no law takes all weight at once. One that
    was not asked neither wins nor loses.
    """
    top, total = -math.inf, 0.0
    for law in range(LAWS):
        if own[law] > 0.0:
            top = max(top, scores[law])
    for law in range(LAWS):
        if own[law] > 0.0:
            total += own[law] * math.exp(scores[law] - top)
    mixed, total = top + math.log(total), 0.0
    for law in range(LAWS):
        if own[law] > 0.0:
            memory[LOG_W + law] += RATE * (min(scores[law], mixed + GAIN) - mixed)
        total += math.exp(memory[LOG_W + law])
    for law in range(LAWS):
        share = math.exp(memory[LOG_W + law]) / total
        memory[LOG_W + law] = math.log((1.0 - SHARE) * share + SHARE / LAWS)
    return mixed


@inlined
def counted(memory: Array, y: float) -> None:
    """One outcome more, and what kind of number it is."""
    memory[SEEN] += 1.0
    memory[MEAN] += (y - memory[MEAN]) / memory[SEEN]
    memory[LOWEST], memory[HIGHEST] = min(memory[LOWEST], y), max(memory[HIGHEST], y)
    memory[FRACTIONS] += 0.0 if y == floored(y) else 1.0
    memory[ZEROS] += 1.0 if y == 0.0 else 0.0
    if y > 0.0:
        memory[LEAST] = min(memory[LEAST], y)


@inlined
def start_laws(memory: Array, k: int, y: float, within: float) -> None:
    """Scales and levels at the first outcome that is not zero."""
    q, laws = k + 1, places(k)[1]
    noise = laws + MANY * (q + q * (q + 1) // 2)
    memory[UNIT] = BASE * abs(y)
    for law in range(MANY):
        guess = GUESSES[law] * abs(y) if law < PLAIN else GUESSES[law]
        memory[noise + law] = max(guess * guess, SMALLEST)
        memory[noise + MANY + law] = GUESS_COUNTS
        memory[laws + law] = on_scale(law, within, memory[UNIT])


@inlined
def level_of(
    memory: Array, y: float, place: float, gated: bool, room: Room, scores: Array
) -> float:
    """Return the level of an outcome under all laws; `scores` gets the log density of each.

    A whole number is spread over the unit above it, and `place` is where.
    """
    found, level, whole = room.found, 0.0, memory[FRACTIONS] == 0.0
    within = y + place if whole else y
    weights_of(memory, room)
    for law in range(MANY):
        room.seen[law] = on_scale(law, within, memory[UNIT])
        error = (room.seen[law] - found[0, law]) / found[2, law]
        scores[law] = density(TAILS[law], error) - math.log(found[2, law])
        scores[law] += slope_of(law, within, memory[UNIT])
        level += room.own[law] * below(TAILS[law], error)
    scores[MANY] = bin_density(memory, within)
    level += room.own[MANY] * bin_below(memory, within)
    if room.own[GIVEN] > 0.0:
        out = share_of_zero(room.given, whole, gated)
        scores[GIVEN], under = given_seen(room.given, y, place, whole, out)
        level += room.own[GIVEN] * under
    return float(level)


@inlined
def learned(
    memory: Array,
    x: Array,
    y: float,
    place: float,
    gate: tuple[float, float],
    room: Room,
    scores: Array,
) -> None:
    """Update the memory by an outcome y under a context x, in place.

    `gate` and the room are as `foreseen` left them. `place` in [0, 1) is where a whole number
    stands in the unit above it. `scores` (LAWS + 2): the log density that each law gave the
    outcome, that of all, and the level at which it lay; NaN up to the first outcome that is not
    zero.
    """
    _, laws = places(len(x))
    for each in range(LAWS + 2):
        scores[each] = math.nan
    first = memory[LEARNED] == 0.0
    whole = memory[FRACTIONS] == 0.0 and y == floored(y)
    within = y + place if whole else y
    zero = gate[0] if is_gated(memory) else 0.0
    shares_of(memory, room.share)
    counted(memory, y)
    at = place * zero  # the level of an outcome of zero
    if y == 0.0 and zero > 0.0 and not first:
        scores[LAWS] = math.log(max(risen(room.share, zero), 1e-300))
    gated(memory, places(len(x))[0], room, gate[0], gate[1], y == 0.0)
    if y != 0.0 or (zero == 0.0 and not first):
        if first:
            start_laws(memory, len(x), y, within)
        else:
            at = zero + (1.0 - zero) * level_of(memory, y, place, zero > 0.0, room, scores)
            scores[LAWS] = weighed(memory, room.own, scores) + math.log(1.0 - zero)
            scores[LAWS] += math.log(LEVELS * room.share[min(int(at * LEVELS), LEVELS - 1)])
            regressed(memory, laws, room.phi, room.work, room.found, room.seen, room.gain)
        binned(memory, within, memory[FRACTIONS] == 0.0)
        memory[LEARNED] += 1.0
    if not first:
        scores[LAWS + 1] = risen(room.share, min(at, 1.0))
        levelled(memory, at)
    contexts_counted(memory, x, room)


@gufunc("void(f8[:], f8[:], f8[:], f8, f8, f8[:], f8[:], f8[:])", "(n),(k),(g),(),(),(l)->(n),(l)")
def step(
    memory: Array,
    x: Array,
    given: Array,
    y: float,
    place: float,
    like: Array,
    after: Array,
    scores: Array,
) -> None:
    """Write what is known `after` an outcome, and its `scores`: see `learned`."""
    after[:] = memory
    room = room_for(len(x), given)
    learned(after, x, y, place, foreseen(after, x, room), room, scores)
