"""One model for the outcomes of many series, fitted anew as rows come."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.core import Array, IntArray
from bocopt.models.across_fit import AcrossFit, Draw, ForestRule, fit, no_fit, quantiles

_KEPT = np.array([1.0, 1.0, 0.98, 0.98])  # of the sums of a series, after another outcome
_FLOOR = 0.02  # of the scale, in units of the mean size of all outcomes of a series
_FURTHEST = 50.0  # scales: beyond, a context in units of outcomes tells no more


class AcrossState(NamedTuple):
    """State of an `AcrossSeries`: sums of each series (s), the latest rows with outcomes, a fit."""

    seed: IntArray  # ()
    sums: Array  # (s, 4) outcomes that came, and their sizes; then the same two, discounted
    seen: Array  # (r, k + 3) rows and outcomes that the fit has seen, as far as they are kept
    fresh: Array  # (r, k + 3) those that came since
    total: IntArray  # () all that came
    fit: AcrossFit
    of_new: AcrossFit  # for series without an outcome
    unit: Array  # () the size of outcomes there


@dataclass(frozen=True, kw_only=True)
class AcrossSeries:
    """Quantiles of the next outcome of any series, from the outcomes of all.

    What one series knows at a time is a row: its contexts, its scale (a discounted mean of the
    sizes of its outcomes so far) and its age (how many came). Contexts at the places `lags` are in
    units of outcomes; the model sees them in units of the scale. So a small shop learns from a
    large one, and a new one from all others. Before its first outcome, a series is thought to be as
    large as the others are under the contexts that are not in units of outcomes, its category say.

    - `rows` makes them, before outcomes are known; keep them until `learn`.
    - `quantiles` are at the levels (i + 0.5) / `levels`, in units of outcomes; NaN before a fit,
      where a context is missing, and
      for series that have shown nothing but zeros.
    - `learn` adds outcomes to rows. It never fits: `refit` does, when you like; `is_due` is True
      where a share of `renewed_at` of the rows is new, of at least `fewest`.

    The fit is a robust regression and, on its ratios, a forest with quantiles in its leaves, on the
    latest `most_rows` rows; each tree grows on a random sample of `rows_of_tree`, with `leaf` of
    them in each leaf. Randomness follows from the seed and the number of rows that came.

    >>> rng = np.random.default_rng(0)
    >>> model, shops = AcrossSeries(), np.arange(30)
    >>> state = model.init(np.array(0))
    >>> for day in range(20):
    ...     rows = model.rows(state, shops, np.full((30, 1), day % 2))
    ...     sold = rng.poisson((10.0 + shops) * (1 + day % 2))
    ...     state = model.learn(state, shops, rows, sold)
    >>> state = model.refit(state)
    >>> quiet, busy = model.rows(state, shops[:2], np.array([[0.0], [1.0]]))
    >>> low, high = model.quantiles(state, np.stack([quiet, busy]))[:, 7]
    >>> bool(low < 14 < high)
    True

    Reference: Meinshausen (2006), Quantile regression forests; Geurts, Ernst, Wehenkel (2006),
    Extremely randomized trees.
    """

    lags: Sequence[int] | None = None
    levels: int = 15
    trees: int = 16
    leaf: int = 10
    rows_of_tree: int = 20_000
    most_rows: int = 200_000
    renewed_at: float = 0.1
    fewest: int = 200

    def __post_init__(self) -> None:
        if self.lags is not None:
            lags = arguments.integers("AcrossSeries", "lags", self.lags, "[0, inf)")
            object.__setattr__(self, "lags", lags)
        for name in ("levels", "trees", "leaf", "rows_of_tree", "most_rows", "fewest"):
            arguments.integer("AcrossSeries", name, getattr(self, name), "[1, inf)")
        arguments.number("AcrossSeries", "renewed_at", self.renewed_at, "(0, inf)")

    def init(self, seed: IntArray) -> AcrossState:
        """Return the state before any series."""
        none = np.zeros((0, 0))
        return AcrossState(
            seed=arguments.seeds_of("AcrossSeries.init", seed),
            sums=np.zeros((0, 4)),
            seen=none,
            fresh=none,
            total=np.array(0),
            fit=no_fit(0, self._rule),
            of_new=no_fit(0, self._rule),
            unit=np.array(1.0),
        )

    def rows(self, state: AcrossState, series: IntArray, x: Array) -> Array:
        """Return what different series (n) know at contexts (n, k): rows (n, k + 2).

        The last two numbers are the scale, NaN where there is none yet, and the age.
        """
        series = _different("AcrossSeries.rows", series)
        x = arguments.array("AcrossSeries.rows", "x", x, (len(series), ...), gaps=True)
        x = arguments.finite_and_squarable("AcrossSeries.rows", "x", x, ..., gaps=True)
        if x.shape[1] <= max(self.lags or (-1,)):
            expected = f"contexts with a number at each of the places {self.lags}"
            raise arguments.wrong("AcrossSeries.rows", "x", expected, x.shape)
        sums = np.zeros((len(x), 4))
        known = series < len(state.sums)
        sums[known] = state.sums[series[known]]
        came, size, recent, weight = sums.T
        scale = np.maximum(recent / np.maximum(weight, 1.0), _FLOOR * size / np.maximum(came, 1.0))
        scale = np.where(size > 0.0, scale, np.nan)
        return np.concatenate([x, scale[:, None], came[:, None]], axis=1)

    def quantiles(self, state: AcrossState, rows: Array) -> Array:
        """Return the quantiles (n, L) of the outcomes of rows (n, k + 2), NaN where not known."""
        found = np.full((len(rows), self.levels), np.nan)
        if len(state.seen):
            new = rows[:, -1] == 0
            features, unit = self._features_of_new(rows[new]), np.full(new.sum(), state.unit)
            found[new] = quantiles(state.of_new, features, unit, self.trees)
            known = ~np.isnan(rows).any(axis=1)
            features, scale = self._features(rows[known]), rows[known, -2]
            found[known] = quantiles(state.fit, features, scale, self.trees)
        return found

    def learn(self, state: AcrossState, series: IntArray, rows: Array, y: Array) -> AcrossState:
        """Return the state after outcomes (n) of different series, of rows (n, k + 2)."""
        series = _different("AcrossSeries.learn", series)
        width = state.fresh.shape[1] - 1 if state.fresh.size else ...
        rows = arguments.array("AcrossSeries.learn", "rows", rows, (len(series), width), gaps=True)
        y = arguments.finite_and_squarable("AcrossSeries.learn", "y", y, len(series))
        sums = np.zeros((max(len(state.sums), int(series.max(initial=-1)) + 1), 4))
        sums[: len(state.sums)] = state.sums
        one, size = np.ones(len(y)), np.abs(y)
        sums[series] = sums[series] * _KEPT + np.stack([one, size, size, one], axis=1)
        new = np.concatenate([rows, y[:, None]], axis=1)
        new = new[~np.isnan(new).any(axis=1)]
        return state._replace(
            sums=sums, fresh=self._latest(state.fresh, new), total=state.total + len(new)
        )

    def is_due(self, state: AcrossState) -> bool:
        """Return True where enough rows are new for another fit."""
        return len(state.fresh) >= max(self.fewest, self.renewed_at * len(state.seen))

    def refit(self, state: AcrossState) -> AcrossState:
        """Return the state with a fit to the latest rows; unchanged where none is new."""
        if not len(state.fresh):
            return state
        seen = self._latest(state.seen, state.fresh)
        rows, y, draw = seen[:, :-1], seen[:, -1], Draw(state.seed, int(state.total))
        found = fit(self._features(rows), y, rows[:, -2], draw, self._rule)
        late, y = rows[-self.rows_of_tree :], y[-self.rows_of_tree :]
        unit = np.abs(y).mean() or 1.0
        of_new = fit(self._features_of_new(late), y, np.full(len(y), unit), draw, self._rule)
        return state._replace(
            seen=seen, fresh=seen[:0], fit=found, of_new=of_new, unit=np.array(unit)
        )

    def _features_of_new(self, rows: Array) -> Array:
        """Return the contexts (n, k) of rows without those that look back at outcomes."""
        x = rows[:, :-2].copy()
        x[:, list(self.lags or ())] = 0.0
        return x

    def _latest(self, rows: Array, new: Array) -> Array:
        """Return the latest rows, with new ones after them."""
        return np.concatenate([rows, new] if len(rows) else [new])[-self.most_rows :]

    @property
    def _rule(self) -> ForestRule:
        return ForestRule(self.trees, self.leaf, self.rows_of_tree, self.levels)

    def _features(self, rows: Array) -> Array:
        """Return what the model sees of rows (n, k + 2): as many numbers, all without units."""
        x, scale, age = rows[:, :-2].copy(), rows[:, -2:-1], rows[:, -1:]
        places = list(self.lags or ())
        x[:, places] = np.clip(x[:, places] / scale, -_FURTHEST, _FURTHEST)
        return np.concatenate([x, np.log(scale), np.log1p(age)], axis=1)


def _different(owner: str, series: IntArray) -> IntArray:
    """Return the places (n) of series, or an error where one is twice there."""
    found = np.asarray(series)
    whole = found.dtype.kind in "iu" or not found.size
    if found.ndim != 1 or not whole or len(np.unique(found)) < len(found) or (found < 0).any():
        expected = "an array (n) of different integers from 0 on"
        raise arguments.wrong(owner, "series", expected, series)
    return found.astype(np.int64)
