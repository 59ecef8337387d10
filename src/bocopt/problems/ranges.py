"""Ranges of costs: what certificates ask of a problem, and what to do where it knows none."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.abilities import HasSupport, RangedWithin, SaysWhyUnranged
from bocopt.core import (
    Array,
    BoolArray,
    Bounds,
    Dims,
    Problem,
    Within,
    is_ranged,
    knows_differences,
)
from bocopt.wrappers import find, says

Ends = tuple[Array, Array]


class Feasibly(NamedTuple):
    """Whether a decision may be feasible, and infeasible; the ends of what it costs if feasible."""

    fits: BoolArray  # ()
    misses: BoolArray  # ()
    low: Array  # ()
    high: Array  # ()

    def ends(self, unmet: tuple[float, float]) -> Ends:
        """The ends of what it costs; `unmet` are those of what is paid if it is infeasible."""
        least, most = (np.full(self.fits.shape, end) for end in unmet)
        return _hull((self.fits, self.low, self.high), (self.misses, least, most))

    def ends_of_difference(
        self, other: "Feasibly", both: Ends, differ: BoolArray, unmet: tuple[float, float]
    ) -> Ends:
        """The ends of what it costs more than another one that is not the same where they `differ`.

        `both` are the ends where both are feasible; where neither is, both pay the same.
        """
        least, most = unmet
        zero = np.zeros(self.fits.shape)
        return _hull(
            (self.fits & other.fits, *both),
            (self.fits & other.misses & differ, self.low - most, self.high - least),
            (other.fits & self.misses & differ, least - other.high, most - other.low),
            (self.misses & other.misses, zero, zero),
        )


def _hull(*cases: tuple[BoolArray, Array, Array]) -> Ends:
    """Return the ends of all cases that can be; those of a case are its second and third part."""
    low = np.min([np.where(can_be, low, np.inf) for can_be, low, _ in cases], axis=0)
    high = np.max([np.where(can_be, high, -np.inf) for can_be, _, high in cases], axis=0)
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


def range_of(problem: Problem, x: Array, z: Array) -> Ends:
    """Return the ends (), () of the cost of z (d) at x (k); NaN unless the problem is `Ranged`."""
    if is_ranged(problem):
        low, high = problem.range(x, z)
        low, high = np.asarray(low, float), np.asarray(high, float)
        if not low.shape == high.shape == z.shape[:-1]:
            shapes = f"{low.shape} and {high.shape}"
            raise arguments.wrong("the problem", "range", f"two ends {z.shape[:-1]}", shapes)
        return low, high
    unknown = np.full(z.shape[:-1], np.nan)
    return unknown, unknown


def range_of_difference(problem: Problem, x: Array, z: Array, other: Array) -> Ends:
    """Return the ends (), () between which the cost of other (d) less that of z (d) must lie, at x
    (k).

    By the problem where it can say, else by both ranges.
    """
    if knows_differences(problem):
        return problem.range_of_difference(x, other, z)
    low, high = range_of(problem, x, other)
    least, most = range_of(problem, x, z)
    return low - most, high - least


@dataclass(frozen=True)
class Anywhere:
    """`Within` of a problem that can say nothing of bounds: the ends are those of its support."""

    problem: Problem

    def range(self, x: Array, z: Array) -> Ends:
        """(k), (d) -> (), (): infinite where the problem is not `Ranged`."""
        low, high = range_of(self.problem, x, z)
        return _endless(low, high)

    def range_of_difference(self, x: Array, z: Array, other: Array) -> Ends:
        """(k), (d), (d) -> (), (): likewise, and zero where both decisions are the same."""
        low, high = range_of_difference(self.problem, x, other, z)
        differ = (z != other).any(axis=-1)
        return _endless(np.where(differ, low, 0.0), np.where(differ, high, 0.0))

    def verdicts(self, x: Array, z: Array) -> tuple[BoolArray, BoolArray]:
        """(k), (d) -> (), (): either."""
        either = np.ones(z.shape[:-1], bool)
        return either, either


def within(problem: Problem, bounds: Bounds) -> Within:
    """Return what a problem says of outcomes within bounds (m), or of all where it cannot."""
    found = find(problem, RangedWithin)
    if found is None:
        return Anywhere(problem)
    narrower: Within = found.part.within(bounds)
    return narrower


def possible_within(owner: str, bounds: Bounds, support: Ends) -> Bounds:
    """Return the part of the support (m), (m) that lies within bounds (m), which are checked.

    Where there is none, its low end is above the high end in some component.
    """
    arguments.kind(owner, "bounds", bounds, Bounds)
    ends = [np.asarray(end, float) for end in bounds]
    size = np.shape(support[0])
    fit = all(end.shape[-1:] == size for end in ends)
    if not (fit and (ends[0] <= ends[1]).all() and (ends[0] < np.inf).all()):
        expected = f"low <= high, of {size[0]} numbers each"
        raise arguments.wrong(owner, "bounds", expected, bounds)
    return Bounds(np.maximum(ends[0], support[0]), np.minimum(ends[1], support[1]))


def is_possible(box: Bounds) -> BoolArray:
    """Return whether () there is an outcome in what `possible_within` found."""
    return np.asarray((box.low <= box.high).all(axis=-1))


def _endless(low: Array, high: Array) -> Ends:
    return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)


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
