"""The linear programs that a chance constraint implies, and the prices of their rows.

Scenarios of weight alpha or more are met: so, row by row, is their weighted sum. Its left side is
at least the lower tail of weight alpha of each column's coefficients, its right side at most the
sum over all scenarios:

    min cost'y   s.t.  tail_r'y <= sum_s w_s slack_sr,  certain rows,  0 <= y <= reach.        (Q)

And the cost is at least that of each scenario that is met, for its own rows alone: if all but too
few scenarios say so, it is above their quantile.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.problems.program import highs
from bocopt.problems.program.form import Sparse
from bocopt.problems.program.strategies.kernels.node import Own, SearchInstance
from bocopt.problems.program.strategies.kernels.prices import Prices

_LOOSE = 1e-6  # relative, of limits: what has no solution even so is infeasible beyond doubt


class RowPrices(NamedTuple):
    """A price for each row."""

    rows: Array  # (r) uncertain
    certain: Array  # (m)


def tail(terms: Array, w: Array, need: float) -> Array:
    """(..., s) -> (...): the least sum of w * terms over scenarios of weight `need` or more.

    >>> float(tail(np.array([3.0, 1.0, 2.0]), np.full(3, 1 / 3), 2 / 3))
    1.0
    """
    order = terms.argsort(axis=-1)
    terms, w = np.take_along_axis(terms, order, axis=-1), w[order]
    taken = np.clip(need - (w.cumsum(axis=-1) - w), 0.0, w)
    least: Array = (np.where(terms < 0.0, w, taken) * terms).sum(axis=-1)
    return least


def highest(values: Array, w: Array, need: float) -> Array:
    """(..., s) -> (...): the highest number that values of weight `need` or more reach, or -inf.

    >>> float(highest(np.array([3.0, 1.0, 2.0]), np.full(3, 1 / 3), 0.6))
    2.0
    """
    order = (-values).argsort(axis=-1)
    values, w = np.take_along_axis(values, order, axis=-1), w[order]
    reached: Array = np.where(w.cumsum(axis=-1) >= need, values, -np.inf).max(axis=-1)
    return reached


def alive(p: SearchInstance) -> Array:
    """(s): the weights of the scenarios that are met at no step, 0 for the others."""
    return np.where((p.slack >= 0.0).all(axis=0), p.w, 0.0)


def least_costs(p: SearchInstance) -> Array:
    """Return the least (d) that a step of each item adds to the cost."""
    return p.steady + tail(p.cost, alive(p), p.need) if p.pays else p.steady


def slopes(p: SearchInstance, priced: RowPrices) -> Array:
    """(d): the same, with what the prices charge for it."""
    term = np.tensordot(priced.rows, p.load, (0, 1)) + (p.cost if p.pays else 0.0)
    slope: Array = p.steady + p.certain @ priced.certain + tail(term, alive(p), p.need)
    return slope


def implied(p: SearchInstance, need: float) -> RowPrices | None:
    """The prices of (Q) with tails of weight `need`; None if it has no solution."""
    w = alive(p)
    limit = np.concatenate([p.slack @ w, p.room])
    rows = np.vstack([tail(p.load, w, need).T, p.certain.T])
    price = _duals(p, rows, limit + _LOOSE * (1.0 + np.abs(limit)))
    return None if price is None else RowPrices(price[: len(p.slack)], price[len(p.slack) :])


def of_scenarios(p: SearchInstance, most: int) -> list[Array]:
    """The prices of the rows of single scenarios, evenly picked from all that can be met."""
    met = alive(p).nonzero()[0]
    picked = met[np.linspace(0, len(met) - 1, min(most, len(met))).astype(np.int64)]
    duals = (_duals(p, p.load[:, :, i].T, p.slack[:, i]) for i in picked)
    return [price for price in duals if price is not None]


def _duals(p: SearchInstance, rows: Array, limit: Array) -> Array | None:
    """Return the duals (r) of min cost'y s.t. rows y <= limit, 0 <= y <= reach, if any."""
    found = highs.solve(
        highs.LinearProgram(
            cost=least_costs(p),
            lower=np.zeros(len(p.reach)),
            upper=p.reach,
            rows=Sparse.of(np.ascontiguousarray(rows)),
            row_lower=np.full(len(limit), -highs.INF),
            row_upper=limit,
        )
    )
    return None if found.point is None else np.maximum(-found.row_dual, 0.0)


def prices_of(p: SearchInstance, priced: list[RowPrices]) -> Prices:
    """Return the prices and their terms for each step; no price at all is one of them."""
    rows = np.array([np.zeros(len(p.slack)), *(q.rows for q in priced)])
    certain = np.array([np.zeros(len(p.room)), *(q.certain for q in priced)])
    term = np.tensordot(rows, p.load, (1, 1)) + (p.cost if p.pays else 0.0)
    return Prices(
        rows=rows,
        certain=certain,
        fixed=p.steady + certain @ p.certain.T,
        term=np.ascontiguousarray(term),
        falling=(-term).argsort(axis=-1),
    )


def own_of(p: SearchInstance, choices: list[Array]) -> Own:
    """Return the best of these prices (r) for the rows of each scenario, and their terms."""
    cost = least_costs(p)[:, None]
    best, chosen = np.full(len(p.w), -np.inf), np.zeros((len(p.w), len(p.slack)))
    for rows in choices:
        use = np.tensordot(rows, p.load, (0, 1))
        bound = p.reach @ np.minimum(cost + use, 0.0) - rows @ p.slack
        chosen[bound > best] = rows
        best = np.maximum(best, bound)
    use = np.einsum("sr,drs->ds", chosen, p.load)
    leftover = np.zeros((len(use) + 1, len(p.w)))
    added = p.reach[:, None] * np.minimum(cost + use, 0.0)
    leftover[:-1] = added[::-1].cumsum(axis=0)[::-1]
    return Own((chosen * p.slack.T).sum(axis=1), use, cost[:, 0].copy(), leftover)
