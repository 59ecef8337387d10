"""Bounds of columns that follow from rows: what a big M is computed from.

A row a . v <= b bounds each of its columns by what the others can be at least. A row that holds in
every scenario bounds a shared column in all of them. Rows that hold only in scenarios of weight
alpha bound it by a weighted quantile: the largest u with weight alpha of scenarios that allow it.
"""

from typing import NamedTuple

import numpy as np

from bocopt.core import Array
from bocopt.problems.program.form import Form, Rows

_ROUNDS = 3  # of propagation: more rarely find more
_ROUNDING = 1e-9  # an integer bound may be computed too low by this


class ColumnBounds(NamedTuple):
    """Bounds of all columns in each scenario; those of shared columns are the same in all."""

    low: Array  # (s, n)
    high: Array  # (s, n)


def box(form: Form, w: Array, need: float) -> ColumnBounds:
    """Return bounds of all (v, y_s) a decision can need, uncertain rows met in weight `need`."""
    s = len(w)
    found = ColumnBounds(*(np.tile(bound, (s, 1)) for bound in (form.lower, form.upper)))
    certain = _widened(form.certain, len(form.lower))
    for _ in range(_ROUNDS):
        before = found
        for rows in (certain, form.defining):
            if rows.many:
                found = _shared_by_all(form, found, implied(inequalities(rows), found))
        if form.uncertain.many:
            allowed = implied(inequalities(form.uncertain), found)
            found = _shared_by_many(form, found, allowed, w, need)
        found = _needed(form, found, certain)
        if all((old == new).all() for old, new in zip(before, found, strict=True)):
            break
    return found


def inequalities(rows: Rows) -> Rows:
    """The same, with two rows for each that is an equality."""
    if not rows.equal.any():
        return rows
    matrix = np.concatenate([rows.matrix, -rows.matrix[:, rows.equal]], axis=1)
    limit = np.concatenate([rows.limit, -rows.limit[:, rows.equal]], axis=1)
    return Rows(matrix, limit, np.zeros(matrix.shape[1], bool))


def largest(matrix: Array, found: ColumnBounds) -> Array:
    """Return the largest values of matrix . columns in the box: (s or 1, r, n) -> (s, r)."""
    most: Array = _terms(matrix, found).sum(axis=-1)
    return most


def smallest(matrix: Array, found: ColumnBounds) -> Array:
    """And at least."""
    return -largest(-matrix, found)


def quantile(bounds: Array, w: Array, need: float) -> Array:
    """The largest u with bounds >= u in weight `need`: (s, ...), (s) -> (...)."""
    order = (-bounds).argsort(axis=0, kind="stable")
    enough = np.cumsum(w[order], axis=0) >= need - _ROUNDING
    place = np.where(enough.any(axis=0), enough.argmax(axis=0), len(w) - 1)
    ranked = np.take_along_axis(bounds, order, axis=0)
    found: Array = np.take_along_axis(ranked, place[None], axis=0)[0]
    return found


def implied(rows: Rows, found: ColumnBounds) -> ColumnBounds:
    """Return the bounds (s, n) that rows alone imply, all other columns being in their box."""
    least = -_terms(-rows.matrix, found)  # (s, r, n) of each term
    endless = np.isinf(least)
    finite = np.where(endless, 0.0, least)
    rest = finite.sum(axis=-1, keepdims=True) - finite
    known = (endless.sum(axis=-1, keepdims=True) - endless) == 0
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = (rows.limit[..., None] - rest) / rows.matrix
    high = np.where(known & (rows.matrix > 0), bound, np.inf).min(axis=1)
    low = np.where(known & (rows.matrix < 0), bound, -np.inf).max(axis=1)
    return ColumnBounds(low, high)


def _terms(matrix: Array, found: ColumnBounds) -> Array:
    """The largest of each product of a coefficient and its column: (s, r, n)."""
    low, high = found.low[:, None], found.high[:, None]
    with np.errstate(invalid="ignore"):
        products = np.where(matrix > 0, matrix * high, matrix * low)
    return np.where(matrix == 0, 0.0, products)


def _shared_by_all(form: Form, found: ColumnBounds, new: ColumnBounds) -> ColumnBounds:
    h = form.shared
    low, high = new.low.copy(), new.high.copy()
    low[:, :h], high[:, :h] = low[:, :h].max(axis=0), high[:, :h].min(axis=0)
    return _cut(form, found, ColumnBounds(low, high))


def _shared_by_many(
    form: Form, found: ColumnBounds, new: ColumnBounds, w: Array, need: float
) -> ColumnBounds:
    """Only shared columns: what a scenario has for itself is free where its rows do not hold."""
    h = form.shared
    low, high = np.full_like(found.low, -np.inf), np.full_like(found.high, np.inf)
    low[:, :h] = -quantile(-new.low[:, :h], w, need)
    high[:, :h] = quantile(new.high[:, :h], w, need)
    return _cut(form, found, ColumnBounds(low, high))


def _cut(form: Form, found: ColumnBounds, new: ColumnBounds) -> ColumnBounds:
    slack = _ROUNDING * (1 + np.abs(np.where(np.isfinite(new.low), new.low, 0.0)))
    low = np.where(form.integer, np.ceil(new.low - slack), new.low - slack)
    slack = _ROUNDING * (1 + np.abs(np.where(np.isfinite(new.high), new.high, 0.0)))
    high = np.where(form.integer, np.floor(new.high + slack), new.high + slack)
    return ColumnBounds(np.maximum(found.low, low), np.minimum(found.high, high))


def _needed(form: Form, found: ColumnBounds, certain: Rows) -> ColumnBounds:
    """Upper bounds of columns that are never wanted larger than a row asks, such as t >= e.

    Where a column costs nothing or more, it can be lowered until a row keeps it from that.
    """
    asked = [_asked(inequalities(r), found) for r in (certain, form.defining, form.uncertain)]
    wanted = np.maximum(np.max(asked, axis=0), form.lower)
    h = form.shared
    wanted[:, :h] = wanted[:, :h].max(axis=0)
    usable = ~(form.cost < 0).any(axis=0) & ~form.integer & np.isfinite(wanted)
    return ColumnBounds(found.low, np.where(usable, np.minimum(found.high, wanted), found.high))


def _asked(rows: Rows, found: ColumnBounds) -> Array:
    """The largest value that any of the rows can ask of a column: (s, n)."""
    most = _terms(rows.matrix, found)  # (s, r, n)
    endless = np.isinf(most)
    finite = np.where(endless, 0.0, most)
    rest = finite.sum(axis=-1, keepdims=True) - finite
    known = (endless.sum(axis=-1, keepdims=True) - endless) == 0
    with np.errstate(divide="ignore", invalid="ignore"):
        ask = (rows.limit[..., None] - rest) / rows.matrix
    ask = np.where(known, ask, np.inf)
    asked: Array = np.where(rows.matrix < 0, ask, -np.inf).max(axis=1, initial=-np.inf)
    return asked


def _widened(rows: Rows, width: int) -> Rows:
    """Rows of shared columns as rows of all columns."""
    missing = width - rows.matrix.shape[-1]
    return Rows(np.pad(rows.matrix, ((0, 0), (0, 0), (0, missing))), rows.limit, rows.equal)
