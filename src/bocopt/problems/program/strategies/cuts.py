"""Convex risks by cuts: planes below the risk, each of which touches it at a decision.

    min  t     s.t.  u_s >= cost_s(v, y_s)                  for each scenario s, all its rows
                     t >= q_k . u - penalty_k               for each cut k

By its dual form a risk is the largest q . cost - penalty(q), and `worst_weights` attain it: so each
cut is a bound for all decisions, and exact at the one that it was asked for. The first is asked at
equal costs: then the risk is at least a mean. Reference: Kelley, The cutting-plane method for
solving convex programs, 1960.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array, IntArray
from bocopt.problems.program import highs
from bocopt.problems.program.form import BestFound, EndlessError, Form, SolveTask, Sparse, tidied
from bocopt.problems.program.highs import INF, LinearProgram, LinearSolution
from bocopt.problems.program.strategies import bigm
from bocopt.problems.program.strategies.assembly import Assembly, Columns
from bocopt.problems.program.strategies.fixed import close, stacked
from bocopt.problems.program.strategies.model import ExtensiveModel, ScenarioCosts, of_all
from bocopt.problems.program.strategies.recheck import Best, settled
from bocopt.problems.risk import Cut, cut_at, is_cut

_MOST = 300  # cuts


class Epigraph(NamedTuple):
    """A program without its risk: the columns of what is paid, and of what the risk is."""

    linear: LinearProgram
    paid: Columns  # (s)
    risk: Columns  # (1)

    def under(self, cuts: list[Cut]) -> LinearProgram:
        """Return the program with the risk above all cuts."""
        rows = Sparse.of(np.array([[*cut.q, -1.0] for cut in cuts]))
        places = np.concatenate([self.paid, self.risk])
        below = rows._replace(column=places[rows.column].astype(np.int32))
        return self.linear._replace(
            rows=stacked(self.linear.rows, below),
            row_lower=np.append(self.linear.row_lower, np.full(len(cuts), -INF)),
            row_upper=np.append(self.linear.row_upper, [cut.penalty for cut in cuts]),
        )


def applies(task: SolveTask) -> bool:
    """Return whether the risk has worst weights, and no tail means that say the same."""
    return is_cut(task.risk)


def solve(task: SolveTask) -> BestFound:
    """Cut until the bound meets the value; the cuts hold wherever decisions are sought again."""
    epigraph, cuts = _epigraph(task, inside=False), [_level(task)]
    best = [Best()]  # of all decisions that were judged

    def cut(task: SolveTask, linear: LinearProgram, _start: Array | None) -> LinearSolution:
        """Return the solution of a part of the program, under all cuts so far and its own."""
        return _cut(task, epigraph._replace(linear=linear), cuts, best)

    def built(inside: bool) -> ExtensiveModel:
        """Return the program, with limits further inside where that is asked for."""
        return ExtensiveModel((_epigraph(task, inside) if inside else epigraph).linear)

    found = settled(task, built, by=cut)
    return BestFound(best[-1].z, found.bound)


def _epigraph(task: SolveTask, inside: bool) -> Epigraph:
    """Return the program with limits further inside where that is asked for."""
    places: list[Columns] = []

    def charge(assembly: Assembly, task: SolveTask, priced: ScenarioCosts) -> float:
        """Add a column above what is paid in each scenario, and one for the risk of all."""
        free = np.full(len(task.w), INF)
        paid, risk = assembly.columns(-free, free), assembly.columns(-free[:1], free[:1])
        assembly.rows(
            np.concatenate([priced.cost, -np.ones((len(free), 1))], axis=1)[:, None],
            np.concatenate([priced.table, paid[:, None]], axis=1),
            -priced.constant[:, None],
        )
        assembly.charge(risk, 1.0)
        places.extend([paid, risk])
        return 0.0

    return Epigraph(of_all(task, bigm.add_rows, inside, charge).linear, *places)


def _level(task: SolveTask) -> Cut:
    """Return the cut at equal costs: the risk is at least a mean."""
    return cut_at(task.risk, np.zeros(len(task.w)), task.w)


def _cut(task: SolveTask, epigraph: Epigraph, cuts: list[Cut], best: list[Best]) -> LinearSolution:
    """Cut where the program decides, until that is proved or is decided once more."""
    form, limits, seen = task.form, task.limits, set[bytes]()
    chosen, lowest, bound = None, np.inf, -np.inf
    while True:
        found = highs.solve(
            epigraph.under(cuts), nodes=limits.nodes, gap=limits.gap / 2, deadline=limits.deadline
        )
        bound = max(bound, found.bound)
        if found.point is None:
            if np.isneginf(bound) and limits.deadline is None:
                _refuse_endless(form)
            return found._replace(bound=bound)
        z = tidied(found.point[: form.size], form)
        judged = task.judge(z)
        best[-1] = best[-1].or_better(z, judged)
        if judged.met and judged.value < lowest:
            chosen, lowest = found, judged.value
        if chosen is not None and close(lowest, bound, limits.gap / 2):
            return chosen._replace(value=lowest, bound=bound)
        limited = not close(found.value, found.bound, limits.gap)
        if limited or len(cuts) == _MOST or z.tobytes() in seen:
            return found._replace(bound=bound)
        seen.add(z.tobytes())
        paid = found.point[epigraph.paid]
        costs = np.where(np.isfinite(judged.costs), judged.costs, paid)
        cuts.append(cut_at(task.risk, costs, task.w))


def _refuse_endless(form: Form) -> None:
    """Name a column without finite bounds, if there is one: the program has no end under a mean."""
    endless: IntArray = np.flatnonzero(np.isinf(form.lower) | np.isinf(form.upper))
    if len(endless):
        reason = "a risk that is cut may be bounded where its cuts are not yet"
        raise EndlessError(form, int(endless[0]), reason)
