"""Staffing: how many people begin each shift, so that demand is covered with a stated chance."""

from typing import Any

from numpy.typing import ArrayLike

from bocopt import arguments
from bocopt.problems.program import Program, integer, minimise, program


def staffing(
    *, wage: ArrayLike, covers: ArrayLike, chance: float = 0.9, upper: int = 60, **options: Any
) -> Program:
    """z people begin each shift; xi is the demand of each interval.

        min wage'z   s.t.  P(covers z >= xi) >= chance,   z integer in [0, upper]

    `covers` (intervals, shifts) says who is on duty when. More `options` as for `program`.

    >>> import numpy as np
    >>> two_shifts = staffing(wage=[1, 1], covers=[[1, 0], [1, 1], [0, 1]])
    >>> two_shifts.solve(np.array([[2.0, 4.0, 1.0]])).value
    array(4.)
    """
    covers = arguments.array("staffing", "covers", covers, (None, None))
    intervals, shifts = covers.shape[-2:]
    wage = arguments.array("staffing", "wage", wage, (shifts,))

    @program(xi=intervals, chance=chance, start=integer(shifts, upper=upper), **options)
    def staffing(xi: Any, start: Any) -> Any:
        """Return the objective and the rows of one instance, from its symbols."""
        return minimise(wage @ start), covers @ start >= xi

    return staffing
