"""Checks of a problem's arguments: finite, of the right sizes, and not huge."""

import numpy as np

from bocopt import arguments
from bocopt.core import Array, Dims
from bocopt.problems.defaults import filled_in

LARGEST = 1e100  # numbers above this are mistakes, and could overflow
Lead = tuple[int, ...]


def program(
    owner: str, dims: Dims, scenarios: Array, w: Array | None, x: Array | None
) -> tuple[Array, Array, Lead]:
    """Return the scenarios (s, m) and weights (s) of `solve`, checked, and their leading axes."""
    scenarios, w, x = filled_in(owner, dims, scenarios, w, x)
    _refuse_huge(owner, "scenarios", scenarios)
    leads = {"x": np.shape(x)[:-1], "scenarios": scenarios.shape[:-2], "w": w.shape[:-1]}
    return scenarios, w, arguments.lead(owner, **leads)


def outcome(owner: str, dims: Dims, x: Array, z: Array, xi: Array) -> tuple[Array, Array, Lead]:
    """Return the decision (d) and outcome (m) of `cost`, checked, and their leading axes."""
    z = arguments.inner(owner, "z", z, dims.z)
    xi = arguments.inner(owner, "xi", xi, dims.xi)
    _refuse_huge(owner, "xi", xi)
    return z, xi, arguments.lead(owner, x=np.shape(x)[:-1], z=z.shape[:-1], xi=xi.shape[:-1])


def _refuse_huge(owner: str, name: str, values: Array) -> None:
    largest = np.abs(values).max(initial=0.0)
    if largest > LARGEST:
        raise arguments.wrong(owner, name, f"at most {LARGEST} in size", largest)
