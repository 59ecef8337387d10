"""Are these sales? A question to outcomes that equal what was decided too often to be chance.

Sales are demand that is cut off at the stock: xi = min(demand, z). Then outcomes often equal z, and
none is above. Demand does that by chance too, where it is counted: so this bets against chance. Let
u be the unit that outcomes come in, k = z / u, and e, l and a the chances, given the past, that an
outcome equals z, that it lies less than a unit below, from z - u on, and that it lies above. If
demand, in units, is Poisson, or any mixture of Poisson laws, then by the inequality of Cauchy and
Schwarz

    e^2 k <= (k + 1) l a,    so    e <= c (b l + a / b) / 2    with c^2 = 1 + 1 / k, for any b > 0:

a number is not much more likely than its neighbours. So capital that is multiplied by

    1 + 2 b / c  where an outcome equals z,   1 - b^2  where it is one less,   0  where it is above

is expected not to grow, for b < 1. The mean over some b is called suspicious when it reaches
j (j + 1) m / delta, in the j-th run and with m components; a run ends with an outcome above, and
with one of which bounds are known, since who reports bounds has heard of sales. By Ville's
inequality **demand is called sales with a chance of delta at most, however long one looks**.

Assumed is a mixture of Poisson laws: so is negative binomial demand, and so are days without any,
seasons and drifts. Demand with an upper limit near z (10 rooms, often all asked for) is none, nor
are amounts that are no counts; where such amounts equal z exactly, it is worth the question. The
unit is the least difference of two outcomes in a row, before: too large is on the safe side.

>>> from bocopt.bounds import exactly
>>> sales = begin(1)
>>> for demand in [7.0, 3.0, 9.0, 8.0, 4.0] * 8:
...     sold = min(demand, 6.0)
...     sales = after(sales, np.array([6.0]), exactly(np.array([sold])))
>>> [suspicion] = suspicions(sales)
>>> print(suspicion.words(["bread"]))
60% of the latest 40 outcomes of bread are exactly what was decided, and none is above. Are these \
sales, cut off at the stock? Then report each of them as {"at_least": ...}.

Reference: Ville (1939), Étude critique de la notion de collectif; Johnson, Kemp, Kotz (2005),
Univariate discrete distributions (mixtures of Poisson laws).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bocopt.core import Array, Bounds, IntArray, Problem

DELTA = 0.001  # the chance that demand is ever called sales
_BETS = np.array([0.1, 0.25, 0.5])  # b: the rarer demand is, the smaller is the best
_CURE = 'Then report each of them as {"at_least": ...}.'  # over HTTP
_NEAR = 1e-6  # of a number, within which another is the same


class Sales(NamedTuple):
    """What is remembered of outcomes beside decisions: a few numbers for each component (m)."""

    last: Array  # (m) the latest outcome that was seen in full; NaN before any
    unit: Array  # (m) the least difference of two in a row; inf before any
    runs: IntArray  # (m) from 1
    n: IntArray  # (m) outcomes of this run that were seen in full
    equal: IntArray  # (m) of these, how many were what was decided
    capital: Array  # (m, bets)


class Suspicion(NamedTuple):
    """A component whose outcomes look like sales."""

    component: int
    n: int  # its latest outcomes, of which none is above what was decided
    equal: int  # of these, how many equal it

    def words(self, names: Sequence[str] = (), cure: str = _CURE) -> str:
        """Return the question, by the name of the component where it has one, and the cure."""
        of = f" of {names[self.component]}" if names else f" of xi{self.component}"
        return (
            f"{self.equal / self.n:.0%} of the latest {self.n:,} outcomes{of} are exactly what was "
            f"decided, and none is above. Are these sales, cut off at the stock? {cure}"
        )


def comparable(problem: Problem) -> bool:
    """Return whether component i of a decision can be what component i of an outcome is cut at."""
    return problem.dims.z == problem.dims.xi


def begin(m: int, lead: tuple[int, ...] = ()) -> Sales:
    """Return what is remembered before any outcome, of m components."""
    shape = (*lead, m)
    zeros = np.zeros(shape, np.int64)
    return Sales(
        last=np.full(shape, np.nan),
        unit=np.full(shape, np.inf),
        runs=zeros + 1,
        n=zeros,
        equal=zeros,
        capital=np.ones((*shape, len(_BETS))),
    )


def after(sales: Sales, z: Array, seen: Bounds) -> Sales:
    """Return what is remembered after a decision z (m) and what was seen of its outcome (m)."""
    known = seen.exact & np.isfinite(seen.low)
    xi = np.where(known, seen.low, 0.0)
    near = _NEAR * np.maximum(np.abs(z), 1.0)
    equal, above = known & (np.abs(xi - z) <= near), known & (xi > z + near)
    k = z / sales.unit  # 0 before the unit is known
    tells = known & (k >= 1.0 - _NEAR)
    less = known & ~equal & ~above & (xi >= z - sales.unit - near)
    factor = np.ones(sales.capital.shape)
    c = np.sqrt(1.0 + 1.0 / np.where(tells, k, 1.0))[..., None]
    factor = np.where((tells & equal)[..., None], 1.0 + 2.0 * _BETS / c, factor)
    factor = np.where((tells & less)[..., None], 1.0 - _BETS**2, factor)
    ends = above | ~known
    gap = np.abs(xi - sales.last)
    gap = np.where(known & (gap > _NEAR * np.maximum(np.abs(xi), 1.0)), gap, np.inf)
    begun = sales.n > 0  # a run that has not begun cannot end
    return Sales(
        last=np.where(known, xi, sales.last),
        unit=np.minimum(sales.unit, gap),
        runs=sales.runs + (ends & begun),
        n=np.where(ends, 0, sales.n + known),
        equal=np.where(ends, 0, sales.equal + (equal & (z > 0))),
        capital=np.where(ends[..., None], 1.0, np.minimum(sales.capital * factor, 1e300)),
    )


def suspicions(sales: Sales, delta: float = DELTA) -> list[Suspicion]:
    """Return the components of one stream that look like sales, the most suspicious first."""
    runs = sales.runs.astype(float)
    level = sales.capital.mean(axis=-1) / (runs * (runs + 1.0) * len(runs) / delta)
    found = np.flatnonzero(level >= 1.0)
    return [
        Suspicion(int(i), int(sales.n[i]), int(sales.equal[i]))
        for i in sorted(found, key=lambda i: -level[i])
    ]
