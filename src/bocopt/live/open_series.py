"""Programs that couple series, for whichever are open, as one problem: what judges and reports ask.

    x = (1 or 0 for each of N series: whether it is open; its context, where programs read it)
    z = (the part of each; what is common)        xi = (the outcome of each)

What stands there for a series that is not open means nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import (
    Array,
    BoolArray,
    Dims,
    IntArray,
    Problem,
    Risk,
    Sense,
    Solution,
    is_ranged,
    judge,
)
from bocopt.guarantees import range_of
from bocopt.live.coupled_layout import Layout
from bocopt.live.coupled_program import Coupled
from bocopt.problems.ranges import range_of_difference, why_unranged


class OpenRows(NamedTuple):
    """Rows at which the same series are open, and their program."""

    rows: IntArray  # (r)
    open: IntArray  # (n) the numbers of the series
    problem: Problem
    layout: Layout
    x: Array  # (r, n k) their contexts; (r, 0) where none is read


@dataclass(frozen=True)
class OpenSeries:
    """The programs of `coupled` for those of N series that are open, as one problem.

    `first` are some that are open together. `width` is how many numbers a context has, 0 where
    programs do not read it.

    >>> from bocopt.problems import Newsvendor
    >>> def truck(shops):
    ...     return Newsvendor(unit_cost=[1.0] * len(shops), price=3.0, capacity=50.0)
    >>> shops = OpenSeries(Coupled(truck), ("north", "south", "west"), ("north", "south"))
    >>> x, z, xi = np.array([1.0, 0.0, 1.0]), np.array([30.0, 99.0, 10.0]), np.full(3, 20.0)
    >>> float(shops.cost(x, z, xi)), float(shops.violation(x, z, xi))
    (-50.0, -10.0)
    """

    coupled: Coupled
    names: tuple[str, ...]
    first: tuple[str, ...]
    width: int = 0

    @property
    def sense(self) -> Sense:
        """Sense of the objective in reports."""
        return self.coupled.program(self.first).problem.sense

    @property
    def risk(self) -> Risk:
        """Risk by which decisions are taken."""
        return self.coupled.program(self.first).problem.risk

    @property
    def layout(self) -> Layout:
        """The layout of a decision for all series."""
        found, many = self.coupled.program(self.first).layout, len(self.names)
        size = found.each.shape[1]
        each = np.arange(many * size).reshape(many, size)
        return found._replace(each=each, common=each.size + np.arange(len(found.common)))

    @property
    def dims(self) -> Dims:
        """Sizes of x, z and xi."""
        many, layout = len(self.names), self.layout
        z = layout.each.size + layout.common.size
        return Dims(x=many * (1 + self.width), z=z, xi=many * self.coupled.dim_xi)

    def seen(self, opened: BoolArray, x: Array) -> Array:
        """Return what the problem sees of series (N) that are open, and their contexts (N, k)."""
        flat = x.reshape(*opened.shape[:-1], -1)
        return np.concatenate(
            [opened.astype(float), flat if self.width else flat[..., :0]], axis=-1
        )

    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        """(s, m), (s), (k) -> the decision of the program of the series that are open."""
        lead = arguments.lead("OpenSeries.solve", scenarios=scenarios.shape[:-2], x=x.shape[:-1])
        shape = scenarios.shape[-2:]
        flat = np.broadcast_to(scenarios, (*lead, *shape)).reshape(-1, *shape)
        z = np.zeros((len(flat), self.dims.z))
        value, gap = np.empty((2, len(flat)))
        status = np.empty(len(flat), np.int64)
        for part in self._parts(np.broadcast_to(x, (*lead, x.shape[-1]))):
            own = self._outcomes(part, flat[part.rows])
            found = part.problem.solve(own, w, part.x)
            z[part.rows] = self._padded(part, found.z)
            for whole, numbers in zip((value, status, gap), found[1:], strict=True):
                whole[part.rows] = numbers
        parts = (one.reshape((*lead, *one.shape[1:])) for one in (z, value, status, gap))
        return Solution(*parts)

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> ()."""
        return self.judge(x, z, xi)[0]

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        """(k), (d), (m) -> ()."""
        return self.judge(x, z, xi)[1]

    def judge(self, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
        """(k), (d), (m) -> (), () cost and violation."""

        def judged(part: OpenRows, taken: Array, came: Array) -> tuple[Array, Array]:
            """Return both of some rows."""
            own = self._outcomes(part, came)
            return judge(part.problem, part.x, self._decided(part, taken), own)

        return self._asked(judged, x, z, xi)

    def range(self, x: Array, z: Array) -> tuple[Array, Array]:
        """Return bounds () on the cost of a decision (d); NaN where a program knows none."""

        def ranged(part: OpenRows, taken: Array) -> tuple[Array, Array]:
            """Return both of some rows."""
            return range_of(part.problem, part.x, self._decided(part, taken))

        return self._asked(ranged, x, z)

    def range_of_difference(self, x: Array, z: Array, other: Array) -> tuple[Array, Array]:
        """Return bounds () on what one decision (d) costs more than another (d)."""

        def ranged(part: OpenRows, taken: Array, theirs: Array) -> tuple[Array, Array]:
            """Return both of some rows."""
            own, less = self._decided(part, taken), self._decided(part, theirs)
            return range_of_difference(part.problem, part.x, less, own)

        return self._asked(ranged, x, z, other)

    def possible(self, x: Array, xi: Array) -> BoolArray:
        """Return whether () ranges were meant for an outcome (m)."""

        def possible(part: OpenRows, came: Array) -> tuple[Array, Array]:
            """Return it twice."""
            if not is_ranged(part.problem):
                return np.ones(len(came)), np.ones(len(came))
            found = part.problem.possible(part.x, self._outcomes(part, came)).astype(float)
            return found, found

        return self._asked(possible, x, xi)[0] > 0

    @property
    def why_unranged(self) -> str:
        """Advice where the cost has no finite range."""
        return why_unranged(self.coupled.program(self.first).problem)

    def _asked(
        self, function: Callable[..., tuple[Array, Array]], x: Array, *others: Array
    ) -> tuple[Array, Array]:
        """Return what a function says of all rows, part by part."""
        leads = {f"argument {i}": one.shape[:-1] for i, one in enumerate((x, *others))}
        lead = arguments.lead("OpenSeries", **leads)
        rows = [np.broadcast_to(one, (*lead, one.shape[-1])) for one in others]
        flat = [one.reshape(-1, one.shape[-1]) for one in rows]
        first, second = np.empty((2, int(np.prod(lead))))
        for part in self._parts(np.broadcast_to(x, (*lead, x.shape[-1]))):
            found = function(part, *(one[part.rows] for one in flat))
            first[part.rows], second[part.rows] = found
        return first.reshape(lead), second.reshape(lead)

    def _parts(self, x: Array) -> Iterator[OpenRows]:
        """Yield rows at which the same series are open, of contexts with any leading axes."""
        many = len(self.names)
        rows = x.reshape(-1, x.shape[-1])
        masks, which = np.unique(rows[:, :many], axis=0, return_inverse=True)
        for number, mask in enumerate(masks):
            some, at = np.flatnonzero(which.reshape(-1) == number), np.flatnonzero(mask)
            program = self.coupled.program([self.names[i] for i in at.tolist()])
            seen = rows[some, many:].reshape(len(some), many, -1)[:, at] if self.width else rows[:0]
            own = seen.reshape(len(some), -1) if self.width else np.zeros((len(some), 0))
            yield OpenRows(some, at, *program, own)

    def _decided(self, part: OpenRows, z: Array) -> Array:
        """Return the decisions (r, d) of a program, of those for all series."""
        each, common = self.layout.parts(z)
        return part.layout.whole(each[:, part.open], common)

    def _padded(self, part: OpenRows, z: Array) -> Array:
        """Return decisions for all series, with 0 for those that are not open."""
        layout = self.layout
        own, common = part.layout.parts(z)
        each = np.zeros((len(z), *layout.each.shape))
        each[:, part.open] = own
        return layout.whole(each, common)

    def _outcomes(self, part: OpenRows, xi: Array) -> Array:
        """Return the outcomes (..., n m) of the series that are open."""
        blocks = xi.reshape(*xi.shape[:-1], len(self.names), self.coupled.dim_xi)
        own = blocks[..., part.open, :]
        return np.asarray(own.reshape(*own.shape[:-2], -1))
