"""Defaults for the weights and the context that `solve` was called without."""

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Dims


def filled_in(
    owner: str, dims: Dims, scenarios: Array, w: Array | None, x: Array | None
) -> tuple[Array, Array, Array]:
    """Return (s, m), (s), (k): scenarios and weights, checked, and the context as it was given.

    Without weights all scenarios weigh the same. Without a context it is empty, which is an error
    where the program reads one.

    >>> filled_in("Newsvendor.solve", Dims(x=None, z=1, xi=1), [[4.0], [7.0]], None, None)[1:]
    (array([0.5, 0.5]), array([], dtype=float64))
    """
    scenarios = arguments.array(owner, "scenarios", scenarios, (None, dims.xi))
    many = scenarios.shape[-2]
    w = np.full(many, 1.0 / many) if w is None else arguments.weights(owner, w, many)
    if x is None and dims.x:
        raise arguments.wrong(owner, "x", f"a context of {dims.x} numbers", None)
    return scenarios, w, np.empty(0) if x is None else x
