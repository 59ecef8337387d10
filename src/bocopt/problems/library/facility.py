"""Facility location: which sites to open before the demand is known, and to ship once it is."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bocopt import arguments
from bocopt.problems.program import Program, binary, minimise, program, recourse


def facility_location(
    *, fixed: ArrayLike, ship_cost: ArrayLike, room: ArrayLike, unmet_cost: float, **options: Any
) -> Program:
    """z says which sites are open; xi is the demand of each customer.

        min fixed'z + E min over y, u of  sum ship_cost y + unmet_cost sum u
        s.t. sum over customers of y <= room z,   sum over sites of y + u >= xi,   z in {0, 1}

    `ship_cost` is (sites, customers). More `options` as for `program`.

    >>> one = facility_location(fixed=[3, 9], ship_cost=[[1], [1]], room=5, unmet_cost=10)
    >>> one.solve(np.array([[4.0], [2.0]])).value
    array(6.)
    """
    ship_cost = arguments.array("facility_location", "ship_cost", ship_cost, (None, None))
    sites, customers = ship_cost.shape[-2:]
    fixed = arguments.array("facility_location", "fixed", fixed, (sites,))
    room = np.array(arguments.numbers("facility_location", "room", room, "[0, inf)", sites))
    arguments.number("facility_location", "unmet_cost", unmet_cost, "[0, inf)")

    @program(
        xi=customers,
        opened=binary(sites),
        ship=recourse((sites, customers)),
        unmet=recourse(customers),
        **options,
    )
    def facility_location(xi: Any, opened: Any, ship: Any, unmet: Any) -> Any:
        """Return the objective and the rows of one instance, from its symbols."""
        return (
            minimise(fixed @ opened + (ship_cost * ship).sum() + unmet_cost * unmet.sum()),
            ship.sum(axis=1) <= room * opened,
            ship.sum(axis=0) + unmet >= xi,
        )

    return facility_location
