"""Unit commitment, small: which generators run in which hour, and how much once demand is known."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bocopt import arguments
from bocopt.core import Array
from bocopt.problems.program import Program, binary, minimise, pos, program, recourse


def unit_commitment(
    *,
    hours: int,
    capacity: ArrayLike,
    least: ArrayLike,
    start_cost: ArrayLike,
    hour_cost: ArrayLike,
    fuel_cost: ArrayLike,
    unserved_cost: float,
    **options: Any,
) -> Program:
    """x says which units ran last, z (units, hours) which run; xi is the demand of each hour.

        min  sum start_cost (z_t - z_{t-1})^+ + hour_cost z_t
           + E min over p, u of  sum fuel_cost p_t + unserved_cost u_t
        s.t. least z_t <= p_t <= capacity z_t,   sum over units of p_t + u_t >= xi_t,
             a unit that starts runs for two hours,   z in {0, 1}

    More `options` as for `program`.

    >>> small = unit_commitment(hours=2, capacity=[5, 5], least=[1, 1], start_cost=[4, 0],
    ...     hour_cost=[1, 1], fuel_cost=[1, 3], unserved_cost=50)
    >>> small.named(small.solve(np.array([[4.0, 7.0]]), x=np.zeros(2)).z)["run"]
    array([[1., 1.],
           [0., 1.]])
    """
    owner = "unit_commitment"
    arguments.integer(owner, "hours", hours, "[2, 168]")
    units = len(arguments.numbers(owner, "capacity", capacity, "[0, inf)"))
    start, hour, fuel, high, low = (
        _column(owner, name, values, units)
        for name, values in (
            ("start_cost", start_cost),
            ("hour_cost", hour_cost),
            ("fuel_cost", fuel_cost),
            ("capacity", capacity),
            ("least", least),
        )
    )
    arguments.number(owner, "unserved_cost", unserved_cost, "[0, inf)")

    @program(
        x=units,
        xi=hours,
        run=binary((units, hours)),
        power=recourse((units, hours)),
        unserved=recourse(hours),
        **options,
    )
    def unit_commitment(x: Any, xi: Any, run: Any, power: Any, unserved: Any) -> Any:
        """Return the objective and the rows of one instance, from its symbols."""
        starts = run - np.concatenate([x[:, None], run[:, :-1]], axis=1)
        return (
            minimise(
                (start * pos(starts) + hour * run + fuel * power).sum()
                + unserved_cost * unserved.sum()
            ),
            power <= high * run,
            power >= low * run,
            power.sum(axis=0) + unserved >= xi,
            starts[:, :-1] <= run[:, 1:],
        )

    return unit_commitment


def _column(owner: str, name: str, values: ArrayLike, units: int) -> Array:
    return np.array(arguments.numbers(owner, name, values, "[0, inf)", units))[:, None]
