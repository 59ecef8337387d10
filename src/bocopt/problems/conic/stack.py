"""The cone programs of all scenarios as one: they share the columns of z.

expectation   the scenarios' costs, each times its weight
the worst     min t                          t >= e_s            e_s: the epigraph of the cost
a share       min t + sum w_s u_s / share    u_s >= e_s - t, u_s >= 0
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray, IntArray, Risk
from bocopt.problems.conic.clarabel import ConeProgram, ConeSolution, solve
from bocopt.problems.conic.cones import Cone, Cones, VaryingEntries
from bocopt.problems.risk import tail_means_of

Triplets = tuple[IntArray, IntArray, Array]  # rows, columns, values


class Compiled(NamedTuple):
    """A declaration as cone programs."""

    size: int  # d
    certain: Cones  # what is asked of z in any scenario, without a cost
    each: Cones  # one scenario; with an epigraph where the risk is no expectation
    later: Cones | None  # one scenario's second stage, where there is one


def needs_epigraph(risk: Risk) -> bool:
    """Return whether the risk needs the cost of each scenario, and not only their mean."""
    return any(part.share != 1.0 for part in tail_means_of(risk, "from_cvxpy"))


def under(
    compiled: Compiled, parameters: Array, w: Array, risk: Risk, options: Mapping[str, Any]
) -> ConeSolution:
    """(s, k + m), (s) -> the best z under the scenarios."""
    stack = BlockStack(compiled.size)
    stack.add(compiled.certain, parameters[:1], np.zeros(1))
    priced = np.zeros_like(w) if needs_epigraph(risk) else w
    places = stack.add(compiled.each, parameters, priced)
    if compiled.each.epigraph is not None:
        _value(stack, places[:, compiled.each.epigraph], w, risk)
    found = solve(stack.program(), options)
    return found if found.point is None else found._replace(point=found.point[: compiled.size])


def second_stage(
    cones: Cones, parameters: Array, z: Array, options: Mapping[str, Any]
) -> ConeSolution:
    """(k + m), (d) -> the best of what is left once z is decided."""
    numbers = cones.numbers(parameters[None])[0]
    fixed, own = np.zeros(cones.columns), np.ones(cones.columns, bool)
    fixed[cones.shared], own[cones.shared] = z, False
    c, size = numbers[cones.c], int(own.sum())
    moved = _times(cones.p, numbers, fixed, cones.columns)
    return solve(
        ConeProgram(
            p=_upper([_kept(cones.p, numbers, own, both=True)], size),
            c=(c + moved)[own],
            a=_summed([_kept(cones.a, numbers, own, both=False)], (cones.rows, size)),
            b=numbers[cones.b] - _times(cones.a, numbers, fixed, cones.rows),
            cones=list(cones.cones),
            offset=float(numbers[-1] + c @ fixed + 0.5 * fixed @ moved),
        ),
        options,
    )


def _times(entries: VaryingEntries, numbers: Array, v: Array, rows: int) -> Array:
    terms = numbers[entries.place] * v[entries.column]
    product: Array = np.bincount(entries.row, terms, rows).astype(np.float64)
    return product


def _kept(entries: VaryingEntries, numbers: Array, own: BoolArray, both: bool) -> Triplets:
    """The entries in some columns (and rows), which are counted anew."""
    kept = own[entries.column] & (own[entries.row] if both else True)
    number = np.cumsum(own) - 1
    row = entries.row[kept]
    values = numbers[entries.place][kept]
    return number[row] if both else row, number[entries.column[kept]], values


class BlockStack:
    """Blocks of rows and columns, added one after the other."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.columns, self.rows, self.offset = size, 0, 0.0
        self.a: list[Triplets] = []
        self.p: list[Triplets] = []
        self.c: list[tuple[IntArray, Array]] = []
        self.b: list[Array] = []
        self.cones: list[Cone] = []

    def add(self, cones: Cones, parameters: Array, w: Array) -> IntArray:
        """s copies, with costs times w (s) -> (s, n) where their columns are."""
        many, numbers = len(parameters), cones.numbers(parameters)
        places = self._places(cones, many)
        first = self.rows + cones.rows * np.arange(many)[:, None]
        of_a, of_p = cones.a.column, cones.p.column
        self.a.append((first + cones.a.row, places[:, of_a], numbers[:, cones.a.place]))
        if w.any():
            quadratic = w[:, None] * numbers[:, cones.p.place]
            self.p.append((places[:, cones.p.row], places[:, of_p], quadratic))
            self.c.append((places, w[:, None] * numbers[:, cones.c]))
            self.offset += float(w @ numbers[:, -1])
        self.b.append(numbers[:, cones.b].ravel())
        self.cones += list(cones.cones) * many
        self.rows += cones.rows * many
        return places

    def column(self, costs: Array) -> IntArray:
        """New columns with these costs."""
        new = np.arange(self.columns, self.columns + len(costs))
        self.c.append((new, costs))
        self.columns += len(costs)
        return new

    def charge(self, columns: IntArray, costs: Array) -> None:
        """Add to the costs of columns."""
        self.c.append((columns, costs))

    def at_most_zero(self, *terms: tuple[IntArray, float]) -> None:
        """Rows: the sum of columns times coefficients is at most zero."""
        many = len(terms[0][0])
        rows = self.rows + np.arange(many)
        self.a += [(rows, column, np.full(many, coefficient)) for column, coefficient in terms]
        self.b.append(np.zeros(many))
        self.cones.append(("nonneg", many))
        self.rows += many

    def program(self) -> ConeProgram:
        """Return the cone program of all blocks added so far."""
        costs = np.zeros(self.columns)
        for place, cost in self.c:
            np.add.at(costs, place, cost)
        return ConeProgram(
            p=_upper(self.p, self.columns),
            c=costs,
            a=_summed(self.a, (self.rows, self.columns)),
            b=np.concatenate(self.b),
            cones=self.cones,
            offset=self.offset,
        )

    def _places(self, cones: Cones, many: int) -> IntArray:
        own = np.setdiff1d(np.arange(cones.columns), cones.shared)
        places = np.empty((many, cones.columns), np.int64)
        places[:, cones.shared] = np.arange(self.size)
        places[:, own] = self.columns + np.arange(many * len(own)).reshape(many, len(own))
        self.columns += many * len(own)
        return places


def _value(stack: BlockStack, epigraphs: IntArray, w: Array, risk: Risk) -> None:
    """Add the risk of the costs, of which epigraphs are columns."""
    for weight, share in tail_means_of(risk, "from_cvxpy"):
        if share == 1.0:
            stack.charge(epigraphs, weight * w / w.sum())
            continue
        levels = np.repeat(stack.column(np.full(1, weight)), len(w))
        if share:
            excess = stack.column(weight * w / w.sum() / share)
            stack.at_most_zero((epigraphs, 1.0), (levels, -1.0), (excess, -1.0))
            stack.at_most_zero((excess, -1.0))
        else:
            stack.at_most_zero((epigraphs, 1.0), (levels, -1.0))


def _upper(parts: list[Triplets], size: int) -> Any:
    """Return the upper triangle (n, n) of a symmetric matrix, which solvers read."""
    from scipy import sparse

    row, column, values = _joined(parts)
    half = row <= column
    return sparse.csc_array((values[half], (row[half], column[half])), shape=(size, size))


def _summed(parts: list[Triplets], shape: tuple[int, int]) -> Any:
    from scipy import sparse

    row, column, values = _joined(parts)
    return sparse.csc_array((values, (row, column)), shape=shape)


def _joined(parts: list[Triplets]) -> Triplets:
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    rows, columns, values = zip(*parts, strict=True)
    spread = [np.broadcast_to(row, v.shape) for row, v in zip(rows, values, strict=True)]
    return (
        np.concatenate([row.ravel() for row in spread]),
        np.concatenate([column.ravel() for column in columns]),
        np.concatenate([v.ravel() for v in values]),
    )
