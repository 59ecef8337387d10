"""Exact search in z: integers under a chance constraint on non-negative sums.

A node is one pass over the scenarios
(`kernels.node`). Prices of the rows bound the cost below it (`kernels.prices`, `quantile`). What is
found is improved by small moves at once (`kernels.climb`).

The search prunes with a margin for rounding, and the program's own judge decides on all that it
finds. The machine code comes back every few milliseconds: for the judge, the clock and interrupts.
"""

import time
from dataclasses import dataclass, field

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.problems.program.form import BestFound, Rows, SolveTask
from bocopt.problems.program.strategies.kernels.climb import climb
from bocopt.problems.program.strategies.kernels.explore import (
    FINISHED,
    FOUND,
    Place,
    explore,
    place_for,
    start,
)
from bocopt.problems.program.strategies.kernels.node import Own, SearchInstance, nodes_for
from bocopt.problems.program.strategies.kernels.prices import Prices, tables_for
from bocopt.problems.program.strategies.quantile import (
    RowPrices,
    alive,
    highest,
    implied,
    of_scenarios,
    own_of,
    prices_of,
    slopes,
)
from bocopt.problems.risk import WEIGHT_TOLERANCE

MARGIN = 1e-9  # relative, of limits and weights: the judge decides in between
ROUNDING = 1e-12  # relative, of costs
FIRST_NODES = 20_000  # before prices are found for single scenarios
OWN_PRICES = 100  # scenarios, at most
NODES_OF_A_JUDGE = 50
TURN = 3e6  # looks at one row of one scenario: some milliseconds


def solve(task: SolveTask, most: int) -> BestFound:
    """The optimum, or the best after so many nodes."""
    p = program_of(task)
    if (p.reach < 0.0).any() or alive(p).sum() < p.need:
        return BestFound(None, np.inf)
    priced = [implied(p, need) for need in (p.need, float(p.w.sum()))]
    if priced[0] is None:
        return BestFound(None, np.inf)
    known = [prices for prices in priced if prices is not None]
    order, upward = _order(p, known[0])
    search = _Search(task, in_order(p, order), known, order, upward)
    finished = search.run(min(FIRST_NODES, most), [])
    if not finished and most > FIRST_NODES and not search.late():
        finished = search.run(most - FIRST_NODES, of_scenarios(search.p, OWN_PRICES))
    if not finished:
        return BestFound(search.z, min(search.bound, search.best))
    return BestFound(search.z, search.best - 2.0 * search.rounding)


@dataclass
class _Search:
    """The state of one question: the best z found, and what is known of all others."""

    task: SolveTask
    p: SearchInstance  # items in the order of the search
    priced: list[RowPrices]
    order: IntArray  # (d) which column each item is
    upward: Array  # (d) 1 where few steps are tried first
    z: Array | None = None
    best: float = np.inf
    bound: float = -np.inf
    rounding: float = field(init=False)

    def run(self, most: int, choices: list[Array]) -> bool:
        """Search from the beginning; False if this many nodes or the clock stopped it."""
        prices = prices_of(self.p, self.priced)
        own = own_of(self.p, [*prices.rows, *choices])
        self.rounding = ROUNDING * _magnitude(self.p, prices, own)
        nodes = nodes_for(self.p, own)
        tables = tables_for(self.p, prices, nodes)
        place = place_for(self.upward == 1.0)
        root = max(start(self.p, prices, nodes, tables), self._quantile(own))
        self.bound = max(self.bound, root - self.rounding)
        looked = 0
        turn = 1 + int(TURN / (len(self.p.slack) + 1) / (len(self.p.w) + len(self.p.reach)))
        while looked < most and not self.late():
            ended, more = explore(
                self.p,
                own,
                prices,
                nodes,
                tables,
                place,
                self.best - self.rounding,
                min(turn, most - looked),
            )
            looked += more
            if ended == FINISHED:
                return True
            if ended == FOUND:
                looked += NODES_OF_A_JUDGE
                self._improve(place)
        return False

    def late(self) -> bool:
        """Return whether the deadline has passed."""
        deadline = self.task.limits.deadline
        return deadline is not None and time.perf_counter() >= deadline

    def _improve(self, place: Place) -> None:
        """Keep what was found if the judge accepts it, then what lies near."""
        steps = place.steps.copy()
        if self._keep(steps):
            climb(self.p, steps)
            self._keep(steps)

    def _keep(self, steps: Array) -> bool:
        z = self.task.form.lower.copy()
        z[self.order] += steps
        judged = self.task.judge(z)
        better = judged.met and judged.value < self.best
        if better:
            self.z, self.best = z, judged.value
        return better

    def _quantile(self, own: Own) -> float:
        """Return a bound on the cost: a quantile of the scenarios', each for its own rows alone."""
        w = alive(self.p)
        paid = w @ np.minimum(self.p.excess, 0.0) if self.p.pays else 0.0
        each = self.p.offset + paid - own.priced + own.leftover[0]
        return -float(highest(-each, w, self.p.need))


def program_of(task: SolveTask) -> SearchInstance:
    """The task as the kernels read it, columns in their own order."""
    form, w = task.form, task.w
    s, r, d = len(w), form.uncertain.many, form.size
    matrix = np.broadcast_to(form.uncertain.matrix, (s, r, d))
    limit = np.broadcast_to(form.uncertain.limit, (s, r))
    taken = matrix @ form.lower
    slack = (limit - taken + MARGIN * (np.abs(limit) + taken)).T
    certain, room = _room(form.certain, form.lower)
    cost = np.broadcast_to(form.cost, (s, d))
    constant = form.constant + cost @ form.lower
    pays, payment = task.infeasible_objective is not None, task.infeasible_objective or 0.0
    p = SearchInstance(
        load=np.ascontiguousarray(matrix.transpose(2, 1, 0)),
        slack=np.ascontiguousarray(slack),
        w=w,
        need=float(_alpha(task) * w.sum() - WEIGHT_TOLERANCE - MARGIN),
        pays=pays,
        cost=np.ascontiguousarray(cost.T) if pays else np.zeros((0, s)),
        excess=constant - payment if pays else np.zeros(0),
        steady=np.zeros(d) if pays else w @ cost,
        offset=float(payment * w.sum() if pays else w @ constant),
        certain=np.ascontiguousarray(certain.T),
        room=room,
        reach=form.upper - form.lower,
    )
    return p._replace(reach=_reach(p))


def in_order(p: SearchInstance, order: IntArray) -> SearchInstance:
    """The same program, its items in another order."""
    return p._replace(
        load=p.load[order],
        cost=p.cost[order] if p.pays else p.cost,
        steady=p.steady[order],
        certain=p.certain[order],
        reach=p.reach[order],
    )


def _alpha(task: SolveTask) -> float:
    return 1.0 if task.risk.alpha is None else task.risk.alpha


def _room(rows: Rows, lower: Array) -> tuple[Array, Array]:
    """Certain rows as (m, d) and what they leave at no step, an equality as two of them."""
    matrix = np.vstack([rows.matrix[0], -rows.matrix[0][rows.equal]])
    limit = np.concatenate([rows.limit[0], -rows.limit[0][rows.equal]])
    margin = MARGIN * (np.abs(limit) + np.abs(matrix) @ lower)
    return matrix, limit - matrix @ lower + margin


def _reach(p: SearchInstance) -> Array:
    """The most steps of each item alone that the box and the rows allow; negative: none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(p.load > 0.0, p.slack / p.load, np.inf).min(axis=1)  # (d, s)
        most = np.minimum(p.reach, highest(each, alive(p), p.need))
        least = np.minimum(p.certain, 0.0) * p.reach[:, None]  # (d, m)
        others = least.sum(axis=0) - least
        rows = np.where(p.certain > 0.0, (p.room - others) / p.certain, np.inf)
    steps: Array = np.floor(np.minimum(most, rows.min(axis=1, initial=np.inf)))
    return steps


def _order(p: SearchInstance, priced: RowPrices) -> tuple[IntArray, Array]:
    """Items that matter most first, and whether to try few steps of them first."""
    slope = slopes(p, priced)
    order = np.argsort(-np.abs(slope) * p.reach, kind="stable")
    return order, (slope[order] > 0.0).astype(np.float64)


def _magnitude(p: SearchInstance, prices: Prices, own: Own) -> float:
    """The size of the sums that bounds are made of."""
    paid = p.w @ (np.abs(p.excess) + p.reach @ np.abs(p.cost)) if p.pays else 0.0
    rows = (prices.rows @ np.abs(p.slack @ p.w)).max() + np.abs(own.priced).max()
    certain = (prices.certain @ np.abs(p.room)).max(initial=0.0)
    return float(abs(p.offset) + np.abs(p.steady) @ p.reach + paid + rows + certain)
