"""A quantile of the next outcome, without all scenarios: what a newsvendor orders.

Scenarios of the laws are taken one by one in rising order, and nothing of them is kept. Where many
streams share a cache, as on a graphics processor, that is quicker than to sort them. Where a law
could be given, none is: zero stands in its place.
"""

import math

from bocopt.core import Array
from bocopt.models.kernels.light.layout import (
    GIVEN,
    SCENARIOS,
    STRATA,
    STRATA_WIDTHS,
    Room,
)
from bocopt.models.kernels.light.levels import rising
from bocopt.models.kernels.light.sampling import opened, scenario_of
from bocopt.numeric.compiled import inlined


@inlined
def taken(memory: Array, room: Room) -> tuple[float, float]:
    """Return the least scenario that was not taken, and what it weighs; of equal ones zero last."""
    law, value = 0, room.heads[0]
    for other in range(1, GIVEN + 1):
        if room.heads[other] < value:
            law, value = other, room.heads[other]
    s = int(room.at[law])
    weight = room.own[law] * STRATA_WIDTHS[s] if law < GIVEN else room.own[law]
    room.at[law] = s + 1
    room.heads[law] = scenario_of(memory, law, s + 1, room) if s + 1 < STRATA else math.inf
    return value, weight


@inlined
def quantile(memory: Array, chance: float, level: float, room: Room) -> float:
    """Return the least scenario that is not exceeded with a weight of `level`.

    `chance` and the room are as `foreseen` left them.
    """
    zero = opened(memory, chance, room)
    for law in range(GIVEN):
        room.heads[law], room.at[law] = scenario_of(memory, law, 0, room), 0.0
    room.own[GIVEN], room.heads[GIVEN], room.at[GIVEN] = zero, 0.0, STRATA - 1
    value, done, upto, bin_, below = 0.0, 0.0, 0.0, 0, 0.0
    for _ in range(SCENARIOS):
        value, weight = taken(memory, room)
        done += weight
        upto, bin_, below = rising(room.share, min(done, 1.0), bin_, below)
        if upto >= level:
            break
    return value
