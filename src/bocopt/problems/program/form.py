"""A program in numbers: what a declaration becomes for one context and s scenarios.

    min  risk of  constant_s + cost_s . (v, y_s)        v (h): z (d), then auxiliaries of z
    s.t. certain   . v        <= limit                  y_s: what scenario s has for itself
         defining_s . (v, y_s) <= limit_s               (auxiliaries: t >= e, t >= 0)
         uncertain_s . (v, y_s) <= limit_s              in scenarios of weight alpha or more
         lower <= (v, y_s) <= upper, some columns integer

What is the same in all scenarios has a leading axis of 1 instead of s. Everything is a cost.
A way to solve it is a function of a `SolveTask` that returns a `BestFound`.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bocopt.core import Array, BoolArray, Risk

Index = NDArray[np.int32]


class Sparse(NamedTuple):
    """Rows of a matrix, without their zeros."""

    start: Index  # (r) where each row begins
    column: Index
    value: Array

    @classmethod
    def of(cls, dense: Array) -> "Sparse":
        """(r, n) -> its rows."""
        r, n = dense.shape
        if np.count_nonzero(dense) == dense.size:
            return cls(*_full(r, n), dense.ravel())
        row, column = dense.nonzero()
        first = np.searchsorted(row, np.arange(r))
        return cls(first.astype(np.int32), column.astype(np.int32), dense[row, column])


@lru_cache(maxsize=64)
def _full(r: int, n: int) -> tuple[Index, Index]:
    start = np.arange(0, r * n, n, dtype=np.int32) if n else np.zeros(r, np.int32)
    column = np.tile(np.arange(n, dtype=np.int32), r)
    start.flags.writeable = column.flags.writeable = False
    return start, column


class Rows(NamedTuple):
    """matrix . columns <= limit, or == where `equal`."""

    matrix: Array  # (s or 1, r, n)
    limit: Array  # (s or 1, r)
    equal: BoolArray  # (r)
    sparse: Sparse | None = None  # the matrix once more, where no x and no scenario changes it

    @property
    def many(self) -> int:
        """The number r of rows."""
        return len(self.equal)


class Form(NamedTuple):
    """The arrays of a program."""

    lower: Array  # (n), may be infinite where not integer
    upper: Array  # (n)
    integer: BoolArray  # (n)
    size: int  # d, the first columns: the decision z
    shared: int  # h, columns that are decided before xi is known: z and its auxiliaries
    constant: Array  # (s or 1)
    cost: Array  # (s or 1, n)
    certain: Rows  # (1, r, h): no scenario changes them
    defining: Rows  # (s or 1, r, n): they hold in every scenario
    uncertain: Rows  # (s or 1, r, n): they hold as far as the risk asks


class Judged(NamedTuple):
    """One decision under all scenarios, by the one judge."""

    costs: Array  # (s)
    violations: Array  # (s) <= 0 is feasible
    value: float  # the risk of the costs
    met: bool  # whether the constraints hold as far as the risk asks


class SolveLimits(NamedTuple):
    """When to stop."""

    gap: float = 1e-6  # what is proved to be this near to the optimum, relative, counts as optimal
    nodes: int = 1000  # of one branch and bound
    deadline: float | None = None  # on the clock of time.perf_counter()


class SolveTask(NamedTuple):
    """A program, the weights of its scenarios, and what is asked of a decision."""

    form: Form
    w: Array  # (s) positive, their sum is 1
    risk: Risk  # alpha is never None; 1: the uncertain rows hold in all scenarios
    infeasible_objective: (
        float | None
    )  # what is paid in a scenario whose rows do not hold; None: its cost
    judge: Callable[[Array], Judged]  # z (d) -> the verdict
    limits: SolveLimits = SolveLimits()


class BestFound(NamedTuple):
    """The best decision found, and a value that none falls below.

    No z and a bound of +inf: it is proved that no decision meets the constraints. No z and any
    other bound: none was found.
    """

    z: Array | None  # (d)
    bound: float


class EndlessError(ValueError):
    """A column without finite bounds, where a way needs them."""

    def __init__(self, form: Form, column: int, reason: str) -> None:
        self.column, self.reason = column, reason
        self.bounds = f"[{form.lower[column]:g}, {form.upper[column]:g}]"
        super().__init__(self.about(f"column {column}"))

    def about(self, column: str) -> str:
        """Return the message of the error, with this name of the column."""
        return f"The bounds of {column} must be finite: {self.reason}. Got {self.bounds} instead."


def tidied(z: Array, form: Form) -> Array:
    """A solver's decision on its grid and in its box, (d) -> (d)."""
    integer = form.integer[: form.size]
    if integer.any():
        z = np.where(integer, np.rint(z), z)
    z = np.minimum(np.maximum(z, form.lower[: form.size]), form.upper[: form.size])
    return z + 0.0  # no negative zeros
