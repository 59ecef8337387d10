"""What people would take for a panel instead: quantiles by LightGBM, AutoETS and plain rules.

A rival gives decisions (T, n, levels): quantiles of the outcomes of a time by what was known before
it; NaN where it has none.
"""

from collections.abc import Callable
from importlib import import_module
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from panel_data import Panel

from bocopt.core import Array, BoolArray

LEVELS = (0.3, 0.9)
WINDOW = 400  # outcomes that rules look back at, as far as there are any
GRID = {"num_leaves": (7, 31), "rounds": (100, 300), "number": (False, True)}
KEEP = 0.98  # weight of an outcome's size in the level of its series, after another one
FEWEST = 20  # outcomes a series, from which on a model is fitted


def running(panel: Panel) -> Array:
    """Return the quantiles of all outcomes of a series so far."""
    return _by_history(panel, lambda past: np.asarray(np.quantile(past, LEVELS)))


def seasonal(panel: Panel) -> Array:
    """Return the outcome of a season ago plus quantiles of what that was wrong by so far."""
    season = panel.season

    def decided(past: Array) -> Array:
        if len(past) < 2 * season:
            return np.asarray(np.quantile(past, LEVELS))
        wrong = past[season:] - past[:-season]
        return np.asarray(np.maximum(past[-season] + np.quantile(wrong, LEVELS), 0.0))

    return _by_history(panel, decided)


def exponential(panel: Panel) -> Array:
    """Return quantiles of AutoETS, a series by itself, chosen and fitted anew every `refit` times.

    With fewer than two seasons the running quantiles take its place.
    """
    model_of = import_module("statsforecast.models").AutoETS
    shares = [round(100 * abs(2 * level - 1)) for level in LEVELS]  # of symmetric intervals
    sides = ["lo" if level < 0.5 else "hi" for level in LEVELS]
    decisions = running(panel)
    for i, first in enumerate(panel.begins):
        model, due = model_of(season_length=panel.season), 2 * panel.season + 1
        for age in range(due, len(panel.y) - first):
            past = panel.y[first : first + age, i]
            if age == due:
                model.fit(past)
                due += panel.refit
            found = model.forward(past, h=1, level=sorted(shares))
            ends = zip(sides, shares, strict=True)
            quantiles = np.array([found[f"{side}-{share}"][0] for side, share in ends])
            if np.isfinite(quantiles).all():
                decisions[first + age, i] = np.maximum(quantiles, 0.0)
    return decisions


def boosted(panel: Panel) -> Array:
    """Return quantiles of one LightGBM a level for all series, fitted anew every `refit` times.

    It sees the contexts, those in the units of outcomes in units of the series' level, that level,
    the age and perhaps the number of the series; its targets are in units of the level. Rounds,
    leaves and whether it sees the number are chosen by the latest fifth of the past, whenever that
    has doubled.
    """
    light = import_module("lightgbm")
    scale, seen = levels_of(panel)
    features = _features(panel, scale)
    decisions, tuned_at, chosen = running(panel), 0, {}
    for t in range(FEWEST, len(panel.y)):
        if (t - FEWEST) % panel.refit == 0:
            past = np.flatnonzero(seen[:t].ravel())
            if t >= 2 * tuned_at:
                chosen, tuned_at = _tuned(light, features, panel, scale, seen, t), t
            x, y = features[:t].reshape(-1, features.shape[-1])[past], (panel.y / scale)[:t]
            fits = [_fit(light, x, y.ravel()[past], level, chosen[level]) for level in LEVELS]
        now = np.flatnonzero(seen[t])
        found = np.stack([fit.predict(features[t, now]) for fit in fits], axis=-1)
        decisions[t, now] = np.maximum(np.sort(found, axis=-1), 0.0) * scale[t, now, None]
    return decisions


def levels_of(panel: Panel) -> tuple[Array, BoolArray]:
    """Return the level (T, n) of each series, and where there is a row of it.

    That is the mean size of the outcomes so far, the latest count most.
    """
    level, came = np.ones(panel.y.shape), ~np.isnan(panel.y)
    total, weight = np.zeros((2, panel.y.shape[1]))
    for t, y in enumerate(np.abs(np.nan_to_num(panel.y))):
        level[t] = np.where(total > 0.0, total / np.maximum(weight, 1.0), 1.0)
        total, weight = KEEP * total + y, KEEP * weight + came[t]
    return level, np.asarray(panel.age > 0)


def _features(panel: Panel, scale: Array) -> Array:
    """(T, n, features): the last is the number of the series."""
    x, age = panel.x.copy(), np.maximum(panel.age, 0)
    x[..., list(panel.lags)] /= scale[..., None]
    number = np.broadcast_to(np.arange(panel.y.shape[1]), panel.y.shape)
    own = np.stack([np.log(scale), np.log1p(age), number], axis=-1)
    return np.concatenate([x, own], axis=-1)


class _Boosted(NamedTuple):
    """A fit of LightGBM, and how many of the features it sees."""

    fit: Any
    seen: int

    def predict(self, x: Array) -> Array:
        return np.asarray(self.fit.predict(x[:, : self.seen]))


def _fit(light: Any, x: Array, y: Array, level: float, options: dict[str, Any]) -> _Boosted:
    settings = {"objective": "quantile", "alpha": level, "verbose": -1, "num_threads": 1}
    settings |= {"num_leaves": options["num_leaves"], "learning_rate": 0.05, "seed": 0}
    seen = x.shape[1] - (not options["number"])
    named = [seen - 1] if options["number"] else []
    data = light.Dataset(x[:, :seen], y, categorical_feature=named)
    return _Boosted(light.train(settings, data, num_boost_round=options["rounds"]), seen)


def _tuned(
    light: Any, features: Array, panel: Panel, scale: Array, seen: BoolArray, t: int
) -> dict[float, dict[str, Any]]:
    """Return the options of the grid that are best on the latest fifth of the times before t."""
    split = int(0.8 * t)
    early, late = np.zeros_like(seen), np.zeros_like(seen)
    early[:split], late[split:t] = seen[:split], seen[split:t]
    y, found = panel.y / scale, {}
    for level in LEVELS:
        losses = []
        grid = [dict(zip(GRID, values, strict=True)) for values in product(*GRID.values())]
        for options in grid:
            guess = _fit(light, features[early], y[early], level, options).predict(features[late])
            losses.append(pinball(y[late] - guess, level).mean())
        found[level] = grid[int(np.argmin(losses))]
    return found


def pinball(rest: Array, level: float) -> Array:
    """Return the losses of quantiles that outcomes exceed by `rest`."""
    return np.maximum(level * rest, (level - 1.0) * rest)


def _by_history(panel: Panel, decided: Callable[[Array], Array]) -> Array:
    """Return decisions by the latest outcomes of each series alone."""
    decisions = np.full((*panel.y.shape, len(LEVELS)), np.nan)
    for i, first in enumerate(panel.begins):
        for t in range(first + 1, len(panel.y)):
            decisions[t, i] = decided(panel.y[max(first, t - WINDOW) : t, i])
    return decisions


RIVALS: dict[str, Callable[[Panel], Array]] = {
    "running quantile": running,
    "seasonal naive": seasonal,
    "AutoETS": exponential,
    "LightGBM": boosted,
}
SLOW = ("AutoETS",)  # asked about some series alone
