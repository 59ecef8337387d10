"""Names of the numbers of a decision, wherever they are shown."""

from collections.abc import Mapping

import numpy as np

from bocopt.abilities import NamesDecisions
from bocopt.core import Array, Problem
from bocopt.wrappers import find


def decision_names(problem: Problem) -> tuple[str, ...]:
    """(d) as the declaration of the program has them; none where a problem has no names.

    >>> from bocopt import minimise, program, real
    >>> @program(xi=1, order=real(2), more=real())
    ... def shop(xi, order, more):
    ...     return minimise(order.sum() + more * xi[0])
    >>> decision_names(shop)
    ('order[0]', 'order[1]', 'more')
    """
    found = find(problem, NamesDecisions)
    if found is None:
        return ()
    parts: Mapping[str, Array] = found.part.named(np.zeros(problem.dims.z))
    return tuple(
        name if part.size == 1 else f"{name}[{','.join(map(str, place))}]"
        for name, part in parts.items()
        for place in np.ndindex(part.shape)
    )


def decision_labels(problem: Problem) -> tuple[str, ...]:
    """(d) the names of a decision, or z0, z1, ... where a problem has none.

    >>> from bocopt.problems import Knapsack
    >>> decision_labels(Knapsack(value=[12.0] * 2, capacity=[8.0], salvage=[3.0]))
    ('z0', 'z1')
    """
    return decision_names(problem) or tuple(f"z{i}" for i in range(problem.dims.z))
