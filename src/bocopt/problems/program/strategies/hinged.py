"""Linear programs with very many hinges, solved by their duals.

    min  offset + cost . v + sum_i most_i pos(slope_i . v - knee_i)
    s.t. least <= rows v <= limit,  lower <= v <= upper

The dual has a row for each column of v, and a column 0 <= p_i <= most_i for each hinge: how much
of it is paid. Boxed columns are what the dual simplex method is best at; v is the duals' dual.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray, IntArray
from bocopt.problems.program import highs
from bocopt.problems.program.form import Sparse
from bocopt.problems.program.strategies.fixed import Relaxation, RowSystem


class Hinges(NamedTuple):
    """most . pos(slope v - knee)."""

    slope: Array  # (i, n)
    knee: Array  # (i)
    most: Array  # (i) not negative; +inf: the hinge is a row, slope v <= knee
    group: IntArray  # (i) hinges of one group resemble each other

    def excess(self, v: Array) -> Array:
        """Return the excess (i) of a point (n); where it is positive, it is paid for."""
        return np.asarray(self.slope @ v - self.knee)

    def of(self, which: BoolArray) -> "Hinges":
        """Some of them."""
        return Hinges(self.slope[which], self.knee[which], self.most[which], self.group[which])


class Hinged(NamedTuple):
    """A program with hinges."""

    cost: Array  # (n)
    offset: float
    lower: Array  # (n)
    upper: Array  # (n)
    integer: BoolArray  # (n)
    rows: RowSystem
    hinges: Hinges


def relaxed(program: Hinged) -> Relaxation:
    """The optimum with all columns continuous."""
    cost, lower, upper = program.cost, program.lower, program.upper
    found = highs.solve_wide(_dual(program))
    if found.point is None:
        return Relaxation(None, np.inf if _hopeless(program) else -np.inf)
    start = origin(program)
    v = np.clip(start - found.row_dual, lower, upper)
    return Relaxation(v, program.offset + float(cost @ start) - found.value)


def _dual(program: Hinged) -> highs.LinearProgram:
    """Columns: hinges, limits of rows (of either sign where ==), least of rows, upper bounds."""
    start, (matrix, least, limit), hinges = origin(program), program.rows, program.hinges
    below, above = np.isfinite(limit), np.isfinite(least) & (least != limit)
    high, equal = np.isfinite(program.upper), (least == limit)[below]
    shift = matrix @ start
    columns = np.concatenate(
        [hinges.slope, matrix[below], -matrix[above], np.eye(len(start))[high]]
    )
    others = len(columns) - len(hinges.most)
    return highs.LinearProgram(
        np.concatenate(
            [
                hinges.knee - hinges.slope @ start,
                (limit - shift)[below],
                (shift - least)[above],
                (program.upper - start)[high],
            ]
        ),
        np.concatenate(
            [
                np.zeros(len(hinges.most)),
                np.where(equal, -np.inf, 0.0),
                np.zeros(others - len(equal)),
            ]
        ),
        np.concatenate([hinges.most, np.full(others, np.inf)]),
        Sparse.of(-columns.T),
        np.where(np.isfinite(program.lower), -np.inf, program.cost),
        program.cost,
    )


def value(program: Hinged, v: Array) -> float:
    """Return the cost of a point v (n); +inf where a hinge without limit is to be paid."""
    excess = program.hinges.excess(v)
    limited = np.isfinite(program.hinges.most)
    if (excess[~limited] > highs.FEASIBLE_WITHIN).any():
        return np.inf
    paid = program.hinges.most[limited] @ np.maximum(excess[limited], 0.0)
    return float(program.offset + program.cost @ v + paid)


def _hopeless(program: Hinged) -> bool:
    """Return whether no point meets the rows: a dual without a solution does not say."""
    rows, hinges = program.rows, program.hinges
    hard = np.isinf(hinges.most)
    found = highs.solve(
        highs.LinearProgram(
            np.zeros(len(program.cost)),
            program.lower,
            program.upper,
            Sparse.of(np.concatenate([rows.matrix, hinges.slope[hard]])),
            np.concatenate([rows.least, np.full(hard.sum(), -np.inf)]),
            np.concatenate([rows.limit, hinges.knee[hard]]),
        )
    )
    return found.point is None


def origin(program: Hinged) -> Array:
    """Return where columns (n) go up from: where a lower bound is zero its dual is a slack."""
    return np.where(np.isfinite(program.lower), program.lower, 0.0)
