"""Forecasts of the next outcome, before scenarios are made of it."""

import math

from bocopt.core import Array
from bocopt.models.kernels.light.contexts import standardised
from bocopt.models.kernels.light.gate import gate_of
from bocopt.models.kernels.light.given import is_given
from bocopt.models.kernels.light.layout import (
    GIVEN,
    LAWS,
    LEARNED,
    LOG_W,
    LOWEST,
    Room,
    places,
)
from bocopt.models.kernels.light.regressions import predicted
from bocopt.models.kernels.light.tails import suits
from bocopt.numeric.compiled import inlined


@inlined
def foreseen(memory: Array, x: Array, room: Room) -> tuple[float, float]:
    """Forecast by all regressions under a context; return what the gate does.

    `phi`, `work`, `found` and `flat` of the room hold it until the outcome is learned.
    """
    gate, laws = places(len(x))
    standardised(memory, x, room.phi)
    predicted(memory, laws, room.phi, room.work, room.found)
    return gate_of(memory, gate, room.phi, room.flat)


@inlined
def weights_of(memory: Array, room: Room) -> None:
    """Write to `own` what each law weighs among those that can be asked, if any can."""
    known = 0.0
    for law in range(LAWS):
        asked = is_given(room.given) if law == GIVEN else memory[LEARNED] > 0.0
        asked = asked and (law == GIVEN or suits(law, memory[LOWEST]))
        room.own[law] = math.exp(memory[LOG_W + law]) if asked else 0.0
        known += room.own[law]
    for law in range(LAWS):
        room.own[law] = room.own[law] / known if known > 0.0 else 1.0 / LAWS
