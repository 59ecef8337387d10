"""Many programs that are solved one by one: the one place where batches of them are computed."""

from collections.abc import Callable

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Solution

SolveOne = Callable[[Array, Array, Array], tuple[Array, float, int, float]]


def solve_each(
    solve: SolveOne, owner: str, size: int, scenarios: Array, w: Array, x: Array
) -> Solution:
    """(..., s, m), (..., s), (..., k) -> the best z (d) of each instance, which may be none.

    `solve(x, scenarios, w)` returns z, its value, status and gap for one instance. Instances do not
    see each other: whatever computes them, in whatever order, each has the bits that it has alone.
    """
    lead = arguments.lead(owner, x=x.shape[:-1], scenarios=scenarios.shape[:-2], w=w.shape[:-1])
    if not lead:
        return Solution(*(np.asarray(part) for part in solve(x, scenarios, w)))
    x, w, scenarios = (
        np.broadcast_to(part, (*lead, *part.shape[-axes:]))
        for part, axes in ((x, 1), (w, 1), (scenarios, 2))
    )
    z, value, gap = np.empty((*lead, size)), np.empty(lead), np.empty(lead)
    status = np.empty(lead, np.int64)
    for i in np.ndindex(lead):
        z[i], value[i], status[i], gap[i] = solve(x[i], scenarios[i], w[i])
    return Solution(z, value, status, gap)
