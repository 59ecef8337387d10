"""Ranges of costs: what certificates ask of a problem, and what to do where it knows none."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.abilities import HasSupport, SaysWhyUnranged
from bocopt.core import Array, BoolArray, Dims, Problem
from bocopt.wrappers import says

Ends = tuple[Array, Array]


class FeasibilityCase(NamedTuple):
    """Case of which of two decisions are feasible: if it can be, and the ends of a difference."""

    can_be: BoolArray  # ()
    low: Array  # ()
    high: Array  # ()

    def turned(self) -> "FeasibilityCase":
        """The same with the two decisions in the other order."""
        return FeasibilityCase(self.can_be, -self.high, -self.low)


def hull(cases: Iterable[FeasibilityCase]) -> Ends:
    """The ends of all cases that can be."""
    cases = list(cases)
    low = np.min([np.where(case.can_be, case.low, np.inf) for case in cases], axis=0)
    high = np.max([np.where(case.can_be, case.high, -np.inf) for case in cases], axis=0)
    return low, high


def decisions(owner: str, dims: Dims, x: Array, z: Array, other: Array) -> tuple[Array, Array]:
    """(k), (d), (d) -> (d), (d): two decisions, checked, with the leading axes of all three."""
    z = arguments.inner(owner, "z", z, dims.z)
    other = arguments.inner(owner, "other", other, dims.z)
    lead = arguments.lead(owner, x=np.shape(x)[:-1], z=z.shape[:-1], other=other.shape[:-1])
    whole = (*lead, dims.z)
    if z.shape == other.shape == whole:
        return z, other
    return np.broadcast_to(z, whole), np.broadcast_to(other, whole)


def narrowed(difference: Ends, z: Array, other: Array, of_z: Ends, of_other: Ends) -> Ends:
    """Never wider than what the ranges of both decisions say, and zero where they are the same."""
    differ = (z != other).any(axis=-1)
    low = np.maximum(difference[0], of_z[0] - of_other[1])
    high = np.minimum(difference[1], of_z[1] - of_other[0])
    return np.where(differ, low, 0.0), np.where(differ, high, 0.0)


def support_of(problem: Problem) -> Ends | None:
    """The ends between which outcomes lie, where a problem knows them as two ends."""
    ends: Ends | None = says(problem, HasSupport)
    return None if callable(ends) else ends


def why_unranged(problem: Problem) -> str:
    """Return advice where certificates found no finite range of a problem's cost.

    The words of the problem, if it has any; else they are for whoever wrote its class.

    >>> from bocopt.problems import Newsvendor
    >>> why_unranged(Newsvendor(unit_cost=[1], price=2, penalty=1))
    'give largest_demand=... to Newsvendor(...)'
    """
    said = says(problem, SaysWhyUnranged)
    if isinstance(said, str) and said:
        return said
    return f"write range(x, z), with finite ends, and possible(x, xi) for {type(problem).__name__}"
