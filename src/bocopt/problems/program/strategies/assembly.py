"""One linear program out of blocks that repeat for each scenario.

A block of rows is dense and local: its own few columns, and a table that says which columns of the
program these are, scenario by scenario. So nothing here loops over scenarios.
"""

import numpy as np
from numpy.typing import NDArray

from bocopt.core import Array, BoolArray
from bocopt.problems.program.form import Sparse
from bocopt.problems.program.highs import INF, LinearProgram

Columns = NDArray[np.intp]


class Assembly:
    """Columns and rows, collected block by block."""

    def __init__(self) -> None:
        self.width = 0  # columns so far
        self.height = 0  # rows so far
        self._columns: list[tuple[Array, Array, BoolArray]] = []
        self._costs: list[tuple[Columns, Array]] = []
        self._tighter: list[tuple[Columns, Array, Array]] = []
        self._rows: list[tuple[Array, Columns, Columns]] = []
        self._limits: list[tuple[Array, Array]] = []

    def columns(self, lower: Array, upper: Array, integer: BoolArray | bool = False) -> Columns:
        """Add columns, of any shape: -> their places in the program, of that shape."""
        shape = np.broadcast_shapes(lower.shape, upper.shape, np.shape(integer))
        bounds = [np.broadcast_to(bound, shape).ravel() for bound in (lower, upper)]
        whole = np.broadcast_to(np.asarray(integer, bool), shape).ravel()
        self._columns.append((bounds[0], bounds[1], whole))
        places = self.width + np.arange(whole.size).reshape(shape)
        self.width += whole.size
        return places

    def charge(self, places: Columns, cost: Array | float) -> None:
        """Add to the cost of columns, which may be named several times."""
        self._costs.append((places.ravel(), np.broadcast_to(cost, places.shape).ravel()))

    def tighten(self, places: Columns, lower: Array, upper: Array) -> None:
        """Give columns other bounds."""
        self._tighter.append((places, lower, upper))

    def rows(
        self, matrix: Array, table: Columns, upper: Array, lower: Array | float = -INF
    ) -> None:
        """Add lower <= matrix . columns <= upper: (s, r, m), (s, m), (s, r); 1 may stand for s."""
        (s,) = np.broadcast_shapes(matrix.shape[:1], table.shape[:1], upper.shape[:1])
        r, m = matrix.shape[1:]
        self.height += s * r
        matrix = np.broadcast_to(matrix, (s, r, m))
        scenario, row, column = matrix.nonzero()
        count = np.bincount(scenario * r + row, minlength=s * r)
        table = np.broadcast_to(table, (s, m))
        self._rows.append((matrix[scenario, row, column], table[scenario, column], count))
        bounds = (np.broadcast_to(bound, (s, r)).ravel() for bound in (lower, upper))
        self._limits.append((next(bounds), next(bounds)))

    def linear(self, offset: float = 0.0) -> LinearProgram:
        """All of it."""
        lower, upper, integer = (
            np.concatenate([block[part] for block in self._columns]) for part in range(3)
        )
        for places, low, high in self._tighter:
            lower[places], upper[places] = low, high
        cost = np.zeros(self.width)
        for places, each in self._costs:
            cost += np.bincount(places, each, minlength=self.width)
        row_lower = np.concatenate([np.zeros(0), *(low for low, _ in self._limits)])
        row_upper = np.concatenate([np.zeros(0), *(high for _, high in self._limits)])
        return LinearProgram(
            cost=cost,
            lower=lower,
            upper=upper,
            rows=self._sparse(),
            row_lower=row_lower,
            row_upper=row_upper,
            integer=integer if integer.any() else None,
            offset=offset,
        )

    def _sparse(self) -> Sparse:
        value = np.concatenate([np.zeros(0), *(block[0] for block in self._rows)])
        column = np.concatenate([np.zeros(0, np.intp), *(block[1] for block in self._rows)])
        count = np.concatenate([np.zeros(0, np.intp), *(block[2] for block in self._rows)])
        start = np.cumsum(count) - count
        return Sparse(start.astype(np.int32), column.astype(np.int32), value)
