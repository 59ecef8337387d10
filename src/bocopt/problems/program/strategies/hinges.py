"""The expected cost with positive parts: each is a hinge of the columns that are decided before xi.

min  E constant_s + E cost_s . v + sum_k E price_sk pos(e_sk(v))    price_sk >= 0
"""

import numpy as np

from bocopt.core import Array, BoolArray
from bocopt.problems.program.form import BestFound, Form, Rows, SolveTask
from bocopt.problems.program.strategies import bundles
from bocopt.problems.program.strategies.fixed import (
    Relaxation,
    answered,
    expected,
    mean,
    own_columns,
    shrunk,
    together,
    unbroken,
)
from bocopt.problems.program.strategies.hinged import Hinged, Hinges


def applies(task: SolveTask) -> bool:
    """Return whether all is convex, and a scenario's columns are positive parts of one row each."""
    form, h = task.form, task.form.shared
    return (
        own_columns(form) > 0
        and expected(task)
        and unbroken(task)
        and not form.uncertain.matrix[..., h:].any()
        and not form.integer[h:].any()
        and not form.lower[h:].any()
        and bool(np.isposinf(form.upper[h:]).all())
        and bool((form.cost[:, h:] >= 0).all())
        and _each_once(form)
    )


def solve(task: SolveTask) -> BestFound:
    """One hinge for each positive part in each scenario."""
    program, alike = _program(task), len(task.form.defining.matrix) == 1

    def relaxed(inside: float) -> Relaxation:
        """Return the solution with rows of integer columns by `inside` within their limits."""
        tightened = shrunk(program.rows, program.integer, inside)
        return bundles.best(program._replace(rows=tightened), task, alike=alike)

    return answered(task, relaxed)


def _each_once(form: Form) -> bool:
    """Return whether a scenario's own columns stand in one row each: e - t <= 0."""
    parts = _parts(form)
    own = form.defining.matrix[:, parts, form.shared :]
    once = (own[0] != 0).sum(axis=0) == 1
    return (
        own.shape[1] == own.shape[2]
        and bool(once.all())
        and bool((own.min(axis=2) == -1).all())
        and bool((own == own[:1]).all())
        and not form.defining.equal[parts].any()
    )


def _parts(form: Form) -> BoolArray:
    """(r) The rows that define a scenario's own columns."""
    return np.asarray(form.defining.matrix[..., form.shared :].any(axis=(0, 2)))


def _program(task: SolveTask) -> Hinged:
    form, w, h = task.form, task.w, task.form.shared
    parts = _parts(form)
    terms, others = _those(form.defining, parts), _those(form.defining, ~parts)
    cost = mean(form.cost, w)
    return Hinged(
        cost[:h],
        float(mean(form.constant, w)),
        form.lower[:h],
        form.upper[:h],
        form.integer[:h],
        together(form, form.certain, others, form.uncertain),
        _hinges(terms, form.cost, w, h),
    )


def _hinges(terms: Rows, cost: Array, w: Array, h: int) -> Hinges:
    """Scenario by scenario, those that cost something."""
    s, k = len(w), terms.many
    column = h + terms.matrix[0, :, h:].argmin(axis=1)
    most = (w[:, None] * cost[:, column]).ravel()
    hinges = Hinges(
        np.broadcast_to(terms.matrix[..., :h], (s, k, h)).reshape(s * k, h),
        np.broadcast_to(terms.limit, (s, k)).ravel(),
        most,
        np.tile(np.arange(k), s),
    )
    return hinges if most.all() else hinges.of(most > 0)


def _those(rows: Rows, which: BoolArray) -> Rows:
    return Rows(rows.matrix[:, which], rows.limit[:, which], rows.equal[which])
