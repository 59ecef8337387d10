"""What is expected of the next outcome, before scenarios are made of it."""

from bocopt.core import Array
from bocopt.models.kernels.light.contexts import standardised
from bocopt.models.kernels.light.gate import gate_of
from bocopt.models.kernels.light.layout import Room, places
from bocopt.models.kernels.light.regressions import predicted
from bocopt.numeric.compiled import inlined


@inlined
def foreseen(memory: Array, x: Array, room: Room) -> tuple[float, float]:
    """What regressions expect under a context, and what the gate does, which is returned.

    `phi`, `work`, `found` and `flat` of the room hold it until the outcome is learned.
    """
    gate, laws = places(len(x))
    standardised(memory, x, room.phi)
    predicted(memory, laws, room.phi, room.work, room.found)
    return gate_of(memory, gate, room.phi, room.flat)
