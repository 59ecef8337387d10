"""Auxiliaries of `pos` only stand for it where the program presses them down."""

from collections.abc import Iterator

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.problems.program.blueprint import Blueprint, Plane
from bocopt.problems.program.expression import DeclarationError

_REASON = (
    "pos, absolute or a maximum stands where it would have to be large, which is not convex: use "
    "it in what is minimised (or with a minus in what is maximised) and on the smaller side of <="
)


def convex_uses(blueprint: Blueprint) -> tuple[tuple[int, IntArray], ...]:
    """Return the values, as (step, entries), that must not be negative; constants are checked.

    The cost must not fall with an auxiliary, and no row may be eased by one.
    """
    left = []
    for plane, entries in _auxiliary_entries(blueprint):
        step = blueprint.steps[plane.value]
        if plane.equal:
            raise DeclarationError("pos, absolute or a maximum stands in a row with ==")
        if step.op == "constant":
            check(step.array[entries])
        else:
            left.append((plane.value, entries))
    return tuple(left)


def check(values: Array) -> None:
    """An error where a program is not convex for these numbers."""
    if values.min(initial=0.0) < 0:
        raise DeclarationError(_REASON)


def _auxiliary_entries(blueprint: Blueprint) -> Iterator[tuple[Plane, IntArray]]:
    auxiliary = blueprint.auxiliary()
    inner = (positives.plane for positives in blueprint.positives)
    for plane in (blueprint.objective, *blueprint.rows, *inner):
        entries = np.flatnonzero(auxiliary[plane.column])
        if len(entries):
            yield plane, entries
