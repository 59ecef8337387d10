"""Every decision of a solver is judged once more, and sought again where the judge refuses it.

A solver meets rows up to its tolerance; the judge allows none where all columns are integer. A
refused z is rare (3 of 1300 knapsacks with one-decimal numbers). Then the limits are moved inside
by 1e-7. That may also lose decisions that the judge accepts: so the box around z is split into
boxes without z, and each that may hold something better is solved.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.problems.program import highs
from bocopt.problems.program.form import Answer, Judged, Task, tidied
from bocopt.problems.program.highs import Found, Linear
from bocopt.problems.program.model import Model

_SPLITS = 3  # refused decisions that are split away; each takes up to 2 d more solves


Begin = Callable[[Task, Model], Answer]


class Best(NamedTuple):
    """The best decision that was judged so far."""

    z: Array | None = None
    value: float = np.inf

    def or_better(self, z: Array | None, judged: Judged | None) -> "Best":
        if z is None or judged is None or not judged.met:
            return self
        return Best(z, judged.value) if self.z is None or judged.value < self.value else self


class Boxed(NamedTuple):
    """A part of the box of z, and what is known of it."""

    lower: Array  # (d)
    upper: Array  # (d)
    bound: float


def settled(task: Task, build: Callable[[bool], Model], begin: Begin | None = None) -> Answer:
    """Solve `build(False)`; `build(True)` is the same with limits further inside.

    `begin` gives a decision to start from and a first bound.
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
    found = _solved(task, model.linear, start)
    bound = max(least, found.bound)
    z, verdict = _judged(task, found)
    best = best.or_better(z, verdict)
    if z is None or verdict is None or verdict.met:
        return Answer(best.z, bound)
    inside = _solved(task, build(True).linear, start)
    best = best.or_better(*_judged(task, inside))
    if _proved(task, best, bound) or not task.form.integer[: task.form.size].all():
        return Answer(best.z, bound)
    return _apart(task, model.linear, z, bound, best)


def _apart(task: Task, linear: Linear, refused: Array, bound: float, best: Best) -> Answer:
    """The best of all decisions but the refused ones."""
    d = task.form.size
    waiting = _split(Boxed(linear.lower[:d], linear.upper[:d], bound), refused)
    splits, done = 1, []
    while waiting:
        part = waiting.pop(0)
        if _proved(task, best, part.bound):
            done.append(part.bound)
            continue
        found = _solved(task, _within(linear, part))
        z, verdict = _judged(task, found)
        best = best.or_better(z, verdict)
        part = part._replace(bound=max(part.bound, found.bound))
        if z is None or verdict is None or verdict.met or splits == _SPLITS:
            done.append(part.bound)
        else:
            waiting += _split(part, z)
            splits += 1
    return Answer(best.z, min(done))


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


def _within(linear: Linear, part: Boxed) -> Linear:
    d = len(part.lower)
    lower = np.concatenate([part.lower, linear.lower[d:]])
    upper = np.concatenate([part.upper, linear.upper[d:]])
    return linear._replace(lower=lower, upper=upper)


def _proved(task: Task, best: Best, bound: float) -> bool:
    return best.value - bound <= task.limits.gap * max(1.0, abs(best.value))


def _judged(task: Task, found: Found) -> tuple[Array | None, Judged | None]:
    if found.point is None:
        return None, None
    z = tidied(found.point[: task.form.size], task.form)
    return z, task.judge(z)


def _solved(task: Task, linear: Linear, start: Array | None = None) -> Found:
    limits = task.limits
    return highs.solve(
        linear, nodes=limits.nodes, gap=limits.gap, deadline=limits.deadline, start=start
    )
