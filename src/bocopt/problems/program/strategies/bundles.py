"""Programs with very many hinges: in bundles, which are cut until they are exact.

By convexity, the hinge of a mean bounds the mean of hinges from below. It is equal to it where all
hinges of the bundle are paid for, or none. So a program with few bundles is a relaxation, and exact
once no bundle is torn at its optimum. Torn ones are cut in pieces, by what is paid for there.
"""

from collections.abc import Callable

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.problems.program import highs
from bocopt.problems.program.form import SolveTask, Sparse
from bocopt.problems.program.strategies import hinged
from bocopt.problems.program.strategies.fixed import Relaxation, close, solved, stacked, sums
from bocopt.problems.program.strategies.hinged import Hinged, Hinges

_PIECES = 32  # that a bundle is cut in
_FEW = 300  # so many hinges need no bundles
_NEAR = 0.2  # the share of hinges near their knees that begin alone
_EXACT = 1e-10  # a linear program is done at this relative gap
_CALLED = 16  # hinges without limit that one round calls in
_ABSENT = -1  # the bundle of hinges that are left out

Refine = Callable[[IntArray, Array], IntArray]  # bundles (i), excess (i) -> finer bundles (i)


def best(program: Hinged, task: SolveTask, *, alike: bool) -> Relaxation:
    """The optimum; `alike`: hinges of one kind have one slope, so they stand in one order."""
    hinges = program.hinges
    bundles, refine = np.arange(len(hinges.most)), _cut if alike else _without_strays
    if alike and len(bundles) > _FEW:
        bundles = _pieces(hinges.group, hinges.excess(hinged.origin(program)))
    found, bundles = _tightened(program, bundles, hinged.relaxed, refine, _EXACT)
    if found.columns is None:
        return found
    if not program.integer.any():
        proved = close(hinged.value(program, found.columns), found.bound, task.limits.gap)
        return found if proved else _branched(program, task)
    excess = hinges.excess(found.columns)
    if np.isinf(hinges.most).any():
        bundles, refine = _called(np.full(len(bundles), _ABSENT), excess, -np.inf), _called
    elif len(bundles) > _FEW and not alike:
        bundles = _near_alone(hinges.group, excess)
    branched, _ = _tightened(
        program, bundles, lambda part: _branched(part, task), refine, task.limits.gap / 2
    )
    return branched._replace(bound=max(branched.bound, found.bound))


def _tightened(
    program: Hinged,
    bundles: IntArray,
    ask: Callable[[Hinged], Relaxation],
    refine: Refine,
    gap: float,
) -> tuple[Relaxation, IntArray]:
    """Ask with bundles, refine those that are torn, until the answer is true within the gap."""
    chosen, lowest, bound = None, np.inf, -np.inf
    while True:
        columns, least, limited = ask(program._replace(hinges=_merged(program.hinges, bundles)))
        bound = max(bound, least)
        if columns is None:
            finer = np.arange(len(bundles)) if np.isneginf(least) else bundles
        else:
            value = hinged.value(program, columns)
            if value <= lowest:
                chosen, lowest = columns, value
            finer = refine(bundles, program.hinges.excess(columns))
        if limited or close(lowest, bound, gap) or (finer == bundles).all():
            return Relaxation(chosen, bound), bundles
        bundles = finer


def _cut(bundles: IntArray, excess: Array) -> IntArray:
    """Torn bundles in pieces."""
    torn = (np.bincount(bundles, excess > 0) > 0) & (np.bincount(bundles, excess < 0) > 0)
    inside = torn[bundles]
    finer = bundles.copy()
    finer[inside] = len(torn) + _pieces(bundles[inside], excess[inside])
    return _numbered(finer)


def _without_strays(bundles: IntArray, excess: Array) -> IntArray:
    """Torn bundles without the hinges that differ from most of theirs; each of these alone."""
    paid, unpaid = excess > 0, excess < 0
    mostly_paid = np.bincount(bundles, paid) > np.bincount(bundles, unpaid)
    stray = np.where(mostly_paid[bundles], unpaid, paid)
    finer = bundles.copy()
    finer[stray] = len(mostly_paid) + np.arange(stray.sum())
    return _numbered(finer)


def _near_alone(group: IntArray, excess: Array) -> IntArray:
    """Hinges near their knees alone, the others by kind and by whether they are paid for."""
    bundles = 2 * group + (excess > 0)
    near = np.abs(excess).argsort(kind="stable")[: int(_NEAR * len(excess))]
    bundles[near] = bundles.max() + 1 + np.arange(len(near))
    return _numbered(bundles)


def _called(bundles: IntArray, excess: Array, least: float = highs.FEASIBLE_WITHIN) -> IntArray:
    """The same bundles, and the worst of the hinges that are left out, each alone."""
    out = (bundles == _ABSENT) & (excess > least)
    worst = np.where(out, -excess, np.inf).argsort(kind="stable")[: min(_CALLED, int(out.sum()))]
    called = bundles.copy()
    called[worst] = bundles.max() + 1 + np.arange(len(worst))
    return called


def _pieces(bundles: IntArray, excess: Array) -> IntArray:
    """Each bundle in pieces of about the same size, in the order of excess."""
    order = np.lexsort((excess, bundles))
    _, start, size = np.unique(bundles[order], return_index=True, return_counts=True)
    group = np.repeat(np.arange(len(start)), size)
    rank = np.arange(len(order)) - start[group]
    pieces = np.minimum(size, _PIECES)[group]
    finer = np.empty_like(bundles)
    finer[order] = group * _PIECES + rank * pieces // size[group]
    return _numbered(finer)


def _numbered(bundles: IntArray) -> IntArray:
    """The same bundles, numbered from 0 without gaps."""
    return np.unique(bundles, return_inverse=True)[1]


def _merged(hinges: Hinges, bundles: IntArray) -> Hinges:
    """One hinge for each bundle, weighted by what its hinges cost."""
    many = int(bundles.max(initial=-1)) + 1
    if np.isinf(hinges.most).any() or many == len(bundles):
        return hinges.of(bundles != _ABSENT)
    most = sums(bundles, hinges.most)
    share = hinges.most / most[bundles]
    slope = np.stack([sums(bundles, share * part) for part in hinges.slope.T], axis=1)
    return Hinges(slope, sums(bundles, share * hinges.knee), most, np.arange(many))


def _branched(program: Hinged, task: SolveTask) -> Relaxation:
    """The optimum with its integers, hinge by hinge."""
    found = solved(_explicit(program), task)
    if found.columns is None:
        return found
    return found._replace(columns=found.columns[: len(program.cost)])


def _explicit(program: Hinged) -> highs.LinearProgram:
    """Each hinge as a row, with a column for what is paid unless it has no limit."""
    rows, hinges = program.rows, program.hinges
    many, paid = len(hinges.most), bool(np.isfinite(hinges.most).all())
    extra = np.zeros(many if paid else 0)
    return highs.LinearProgram(
        np.concatenate([program.cost, hinges.most if paid else extra]),
        np.concatenate([program.lower, extra]),
        np.concatenate([program.upper, extra + np.inf]),
        stacked(Sparse.of(rows.matrix), _with_own_column(hinges.slope, paid)),
        np.concatenate([rows.least, np.full(many, -np.inf)]),
        np.concatenate([rows.limit, hinges.knee]),
        np.concatenate([program.integer, extra > 0]) if program.integer.any() else None,
        program.offset,
    )


def _with_own_column(slope: Array, own: bool) -> Sparse:
    """(i, n) -> its rows, each with -1 in a column of its own, if so."""
    many, n = slope.shape
    column = np.tile(np.arange(n + own), (many, 1))
    if own:
        column[:, -1] += np.arange(many)
        slope = np.hstack([slope, np.full((many, 1), -1.0)])
    start = (n + own) * np.arange(many)
    return Sparse(start.astype(np.int32), column.ravel().astype(np.int32), slope.ravel())
