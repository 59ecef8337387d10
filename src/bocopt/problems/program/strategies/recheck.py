"""Every decision of a solver is judged once more, and others are sought where the judge disagrees.

A solver meets rows up to its tolerance; the judge allows none where all columns are integer. A
refused z is rare (3 of 1300 knapsacks with one-decimal numbers). Then the limits are moved inside
by 1e-7. That may also lose decisions that the judge accepts, and a payment that the solver chose
may not be due: so the box around z is split into boxes without z, and those are solved that may
hold something better.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.problems.program import highs
from bocopt.problems.program.form import BestFound, Judged, SolveTask, tidied
from bocopt.problems.program.highs import LinearProgram, LinearSolution
from bocopt.problems.program.strategies.model import ExtensiveModel

_SOLVES = 16  # of such boxes
_NOTHING = Judged(np.zeros(0), np.zeros(0), np.inf, met=False)


Begin = Callable[[SolveTask, ExtensiveModel], BestFound]
Solver = Callable[[SolveTask, LinearProgram, Array | None], LinearSolution]


class Best(NamedTuple):
    """The best decision that was judged so far."""

    z: Array | None = None
    value: float = np.inf

    def or_better(self, z: Array | None, judged: Judged) -> "Best":
        """Return the better of this decision and z (d), if the judge accepts z."""
        if z is None or not judged.met:
            return self
        return Best(z, judged.value) if self.z is None or judged.value < self.value else self


class Boxed(NamedTuple):
    """A part of the box of z, and what is known of it."""

    lower: Array  # (d)
    upper: Array  # (d)
    bound: float


def by_highs(task: SolveTask, linear: LinearProgram, start: Array | None) -> LinearSolution:
    """Solve a program within the limits of a task, from a point to start from."""
    limits = task.limits
    return highs.solve(
        linear, nodes=limits.nodes, gap=limits.gap, deadline=limits.deadline, start=start
    )


def settled(
    task: SolveTask,
    build: Callable[[bool], ExtensiveModel],
    begin: Begin | None = None,
    by: Solver = by_highs,
) -> BestFound:
    """Solve `build(False)`; `build(True)` is the same with limits further inside.

    `begin` gives a decision to start from and a first bound; `by` solves what is built.
    """
    model = build(False)
    best, start, least = Best(), None, -np.inf
    if begin is not None:
        first = begin(task, model)
        least = first.bound
        if least == np.inf:
            return first
        if first.z is not None:
            judged = task.judge(first.z)
            best, start = best.or_better(first.z, judged), model.start(first.z, judged)
    found = by(task, model.linear, start)
    bound = max(least, found.bound)
    z, verdict = _judged(task, found)
    best = best.or_better(z, verdict)
    if z is None or not _misled(task, found, verdict):
        return BestFound(best.z, bound)
    if not verdict.met:
        best = best.or_better(*_judged(task, by(task, build(True).linear, start)))
    if _proved(task, best, bound) or not task.form.integer[: task.form.size].all():
        return BestFound(best.z, bound)
    return _best_of_others(task, model.linear, z, bound, best, by)


def _best_of_others(
    task: SolveTask, linear: LinearProgram, known: Array, bound: float, best: Best, by: Solver
) -> BestFound:
    """The best of `best` and all decisions that are not known."""
    d = task.form.size
    waiting = _split(Boxed(linear.lower[:d], linear.upper[:d], bound), known)
    solves, least = 0, best.value
    while waiting:
        part = waiting.pop(0)
        if solves == _SOLVES or _proved(task, best, part.bound):
            least = min(least, part.bound)
            continue
        solves += 1
        found = by(task, _within(linear, part), None)
        part = part._replace(bound=max(part.bound, found.bound))
        z, verdict = _judged(task, found)
        best = best.or_better(z, verdict)
        if z is not None and _misled(task, found, verdict):
            waiting += _split(part, z)
        else:
            least = min(least, part.bound)
    return BestFound(best.z, min(least, best.value))


def _misled(task: SolveTask, found: LinearSolution, verdict: Judged) -> bool:
    """Return whether the judge finds a decision worse than the solver does."""
    slack = task.limits.gap * max(1.0, abs(verdict.value))
    return not verdict.met or verdict.value > found.value + slack


def _split(part: Boxed, z: Array) -> list[Boxed]:
    """The box without z, as boxes: the first columns as in z, the next below or above it."""
    lower, upper, parts = part.lower.copy(), part.upper.copy(), []
    for j, here in enumerate(z):
        if lower[j] < here:
            below = upper.copy()
            below[j] = here - 1
            parts.append(Boxed(lower.copy(), below, part.bound))
        if here < upper[j]:
            above = lower.copy()
            above[j] = here + 1
            parts.append(Boxed(above, upper.copy(), part.bound))
        lower[j] = upper[j] = here
    return parts


def _within(linear: LinearProgram, part: Boxed) -> LinearProgram:
    d = len(part.lower)
    lower = np.concatenate([part.lower, linear.lower[d:]])
    upper = np.concatenate([part.upper, linear.upper[d:]])
    return linear._replace(lower=lower, upper=upper)


def _proved(task: SolveTask, best: Best, bound: float) -> bool:
    return best.z is not None and best.value - bound <= task.limits.gap * max(1, abs(best.value))


def _judged(task: SolveTask, found: LinearSolution) -> tuple[Array | None, Judged]:
    if found.point is None:
        return None, _NOTHING
    z = tidied(found.point[: task.form.size], task.form)
    return z, task.judge(z)
