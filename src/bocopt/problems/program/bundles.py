"""Programs with very many hinges: in bundles, which are cut until they are exact.

By convexity, the hinge of a mean bounds the mean of hinges from below. It is equal to it where all
hinges of the bundle are paid for, or none. So a program with few bundles is a relaxation, and exact
once no bundle is torn at its optimum. Torn ones are cut in pieces, by what is paid for there.
"""

from collections.abc import Callable

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.problems.program import highs, hinged
from bocopt.problems.program.fixed import Point, close, solved, stacked, sums
from bocopt.problems.program.form import Task
from bocopt.problems.program.hinged import Hinged, Hinges

_PIECES = 32  # that a bundle is cut in
_FEW = 300  # so many hinges need no bundles
_EXACT = 1e-10  # a linear program is done at this relative gap
_CALLED = 16  # hinges without limit that one round calls in
_ABSENT = -1  # the bundle of hinges that are left out


def best(program: Hinged, task: Task, *, alike: bool) -> Point:
    """The optimum; `alike`: hinges of one kind have one slope, so that bundles lose little."""
    hinges = program.hinges
    bundles = np.arange(len(hinges.most))
    if alike and len(bundles) > _FEW:
        bundles = _cut(hinges.kind, hinges.excess(hinged.origin(program)))
    found, bundles = _tightened(program, bundles, hinged.relaxed, _EXACT)
    if found.columns is None or not program.integer.any():
        return found
    if np.isinf(hinges.most).any():
        bundles = _called(np.full(len(bundles), _ABSENT), hinges.excess(found.columns))
    elif len(bundles) > _FEW and not alike:
        bundles = _cut(hinges.kind, hinges.excess(found.columns))
    branched, _ = _tightened(
        program, bundles, lambda part: _branched(part, task), task.limits.gap / 2
    )
    return branched._replace(bound=max(branched.bound, found.bound))


def _tightened(
    program: Hinged, bundles: IntArray, ask: Callable[[Hinged], Point], gap: float
) -> tuple[Point, IntArray]:
    """Ask with bundles, cut those that are torn, until the answer is true to within the gap."""
    chosen, lowest, bound = None, np.inf, -np.inf
    while True:
        columns, least = ask(program._replace(hinges=_merged(program.hinges, bundles)))
        bound = max(bound, least)
        if columns is None:
            finer = np.arange(len(bundles)) if np.isneginf(least) else bundles
        else:
            value = hinged.value(program, columns)
            if value <= lowest:
                chosen, lowest = columns, value
            finer = _refined(program.hinges, bundles, columns)
        if close(lowest, bound, gap) or (finer == bundles).all():
            return Point(chosen, bound), bundles
        bundles = finer


def _refined(hinges: Hinges, bundles: IntArray, columns: Array) -> IntArray:
    """(i) The same bundles, but for those that are torn."""
    excess = hinges.excess(columns)
    if np.isinf(hinges.most).any():
        return _called(bundles, excess)
    paid = np.bincount(bundles, excess > 0)
    torn = (paid > 0) & (np.bincount(bundles, excess < 0) > 0)
    inside = torn[bundles]
    finer = bundles.copy()
    finer[inside] = len(torn) + _cut(bundles[inside], excess[inside])
    return np.unique(finer, return_inverse=True)[1]


def _called(bundles: IntArray, excess: Array) -> IntArray:
    """(i) The same, and the worst of those that are left out, each in its own bundle."""
    out = (bundles == _ABSENT) & (excess > highs.FEASIBLE_WITHIN)
    worst = np.where(out, -excess, np.inf).argsort(kind="stable")[: min(_CALLED, int(out.sum()))]
    called = bundles.copy()
    called[worst] = bundles.max() + 1 + np.arange(len(worst))
    return called


def _cut(bundles: IntArray, excess: Array) -> IntArray:
    """(i), (i) -> (i): each bundle in pieces of about the same size, in the order of excess."""
    order = np.lexsort((excess, bundles))
    _, start, size = np.unique(bundles[order], return_index=True, return_counts=True)
    group = np.repeat(np.arange(len(start)), size)
    rank = np.arange(len(order)) - start[group]
    pieces = np.minimum(size, _PIECES)[group]
    finer = np.empty_like(bundles)
    finer[order] = group * _PIECES + rank * pieces // size[group]
    return np.unique(finer, return_inverse=True)[1]


def _merged(hinges: Hinges, bundles: IntArray) -> Hinges:
    """One hinge for each bundle, weighted by what its hinges cost."""
    many = int(bundles.max(initial=-1)) + 1
    if np.isinf(hinges.most).any() or many == len(bundles):
        return hinges.of(bundles != _ABSENT)
    most = sums(bundles, hinges.most)
    share = hinges.most / most[bundles]
    slope = np.stack([sums(bundles, share * part) for part in hinges.slope.T], axis=1)
    return Hinges(slope, sums(bundles, share * hinges.knee), most, np.arange(many))


def _branched(program: Hinged, task: Task) -> Point:
    columns, bound = solved(_explicit(program), task)
    return Point(None if columns is None else columns[: len(program.cost)], bound)


def _explicit(program: Hinged) -> highs.Linear:
    """Each hinge as a row, with a column for what is paid unless it has no limit."""
    rows, hinges = program.rows, program.hinges
    many, paid = len(hinges.most), bool(np.isfinite(hinges.most).all())
    extra = np.zeros(many if paid else 0)
    return highs.Linear(
        np.concatenate([program.cost, hinges.most if paid else extra]),
        np.concatenate([program.lower, extra]),
        np.concatenate([program.upper, extra + np.inf]),
        stacked(highs.Sparse.of(rows.matrix), _with_own_column(hinges.slope, paid)),
        np.concatenate([rows.least, np.full(many, -np.inf)]),
        np.concatenate([rows.limit, hinges.knee]),
        np.concatenate([program.integer, extra > 0]),
        program.offset,
    )


def _with_own_column(slope: Array, own: bool) -> highs.Sparse:
    """(i, n) -> its rows, each with -1 in a column of its own, if so."""
    many, n = slope.shape
    column = np.tile(np.arange(n + own), (many, 1))
    if own:
        column[:, -1] += np.arange(many)
        slope = np.hstack([slope, np.full((many, 1), -1.0)])
    start = (n + own) * np.arange(many)
    return highs.Sparse(start.astype(np.int32), column.ravel().astype(np.int32), slope.ravel())
