"""The one judge: what a decision costs and by how much it violates a row, in plain float64.

Rows are sums in the order of the columns. Leading axes are free, and change no bit.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.problems.program.blueprint import Blueprint, Plane


class Measure:
    """A plane, ready to be evaluated."""

    def __init__(self, plane: Plane) -> None:
        self.plane = plane
        many = np.bincount(plane.row, minlength=plane.size)
        self.most = int(many.max(initial=0))
        self.full = bool((many == self.most).all())  # all rows have as many entries

    def __call__(self, values: Sequence[Array], columns: Array) -> Array:
        """The arrays of the tape, (n) -> (size)."""
        plane, offset = self.plane, values[self.plane.offset]
        if self.most == 0:
            return offset
        return self.summed(values[plane.value] * columns[..., plane.column], offset)

    def summed(self, terms: Array, offset: Array) -> Array:
        """(e), (size) -> (size): the terms of each row, in order, and its offset."""
        plane = self.plane
        if self.most == 0:
            return offset
        if terms.size == len(plane.row):  # one instance: the same sums, sooner
            sums = np.bincount(plane.row, terms.ravel(), plane.size).astype(np.float64, copy=False)
            return sums.reshape(*terms.shape[:-1], plane.size) + offset
        if self.full:
            terms = terms.reshape(*terms.shape[:-1], plane.size, self.most)
        else:
            zero = np.zeros((*terms.shape[:-1], 1))
            terms = np.concatenate([terms, zero], axis=-1)[..., self.table]
        total: Array = terms.cumsum(axis=-1)[..., -1] + offset
        return total

    @cached_property
    def table(self) -> IntArray:
        """(size, most) the entries of each row; the one past all where there are fewer."""
        plane = self.plane
        many = np.bincount(plane.row, minlength=plane.size)
        table = np.full((plane.size, self.most), len(plane.row))
        within = np.arange(len(plane.row)) - np.repeat(np.cumsum(many) - many, many)
        table[plane.row, within] = np.arange(len(plane.row))
        return table


class ProgramJudge:
    """A blueprint, ready to judge decisions; without recourse, it needs no solver."""

    def __init__(self, blueprint: Blueprint, tolerance: float) -> None:
        self.blueprint, self.tolerance = blueprint, tolerance
        self.objective = Measure(blueprint.objective)
        own = [plane for plane in blueprint.rows if not (blueprint.recourse and plane.later)]
        self.rows = [Measure(plane) for plane in own]  # the rest is for the second stage
        self.slack = [self._slack(plane) for plane in own]
        self.positives = [(first, Measure(plane)) for first, plane in blueprint.positives]
        d = blueprint.size
        self.lower, self.upper = blueprint.lower[:d], blueprint.upper[:d]
        self.integer = blueprint.integer[:d]
        self.whole = bool(self.integer.any())
        self.allowed = np.where(self.integer, 0.0, tolerance)  # outside of a bound

    def columns(self, values: Sequence[Array], z: Array) -> Array:
        """(d) -> (n): z and what follows from it; recourse, which does not, is NaN."""
        if not self.positives and not self.blueprint.recourse:
            return z
        known = np.full((*z.shape[:-1], self.blueprint.columns), np.nan)
        known[..., : self.blueprint.size] = z
        for first, measure in self.positives:
            found = np.maximum(measure(values, known), 0.0)
            if found.shape[:-1] != known.shape[:-1]:
                lead = np.broadcast_shapes(found.shape[:-1], known.shape[:-1])
                known = np.array(np.broadcast_to(known, (*lead, known.shape[-1])))
            known[..., first : first + measure.plane.size] = found
        return known

    def cost(self, values: Sequence[Array], columns: Array) -> Array:
        """The objective, (n) -> ()."""
        return self.objective(values, columns)[..., 0]

    def excess(self, values: Sequence[Array], columns: Array) -> Array:
        """(n) -> (): the largest violation of a row or of a bound, less the tolerance.

        A row of integers alone has none, nor has a bound of an integer.
        """
        z = columns[..., : self.blueprint.size]
        worst = self.outside(z)
        for measure, slack in zip(self.rows, self.slack, strict=True):
            over = measure(values, columns)
            over = np.abs(over) if measure.plane.equal else over
            worst = np.maximum(worst, over.max(axis=-1) - slack)
        return worst

    def outside(self, z: Array) -> Array:
        """Return how far () a decision (d) is from its box or from whole numbers."""
        far = np.maximum(self.lower - z, z - self.upper) - self.allowed
        if self.whole:
            far = np.maximum(far, np.where(self.integer, np.abs(z - np.rint(z)), -np.inf))
        most: Array = far.max(axis=-1)
        return most

    def _slack(self, plane: Plane) -> float:
        exact = not plane.equal and self.blueprint.integer[plane.column].all()
        return 0.0 if exact else self.tolerance
