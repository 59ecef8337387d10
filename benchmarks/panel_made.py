"""Panels that are drawn: arrays of M5's size, and a case with its table."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bocopt.core import Array

SERIES, DAYS, CONTEXTS = 30_490, 1_941, 12  # of M5, and twelve contexts
WEEK = 1.0 + 0.3 * np.sin(2.0 * np.pi * np.arange(7) / 7.0)
CASE = """
[cases.shops]
problem = "problem:problem"
policies = ["LightMixture", "SampleAverage", "last_week"]

[cases.shops.data]
file = "data.csv"
series = "shop"
time = "date"
outcome = "sold"
context = ["promotion"]
calendar = ["weekday"]
lags = [1, 7]
rolling = [7, 28]
warm_up = 28
decisions = "ordered"
"""
PROBLEM = """
from bocopt.policies import Rule
from bocopt.problems import Newsvendor

problem = Newsvendor(unit_cost=[1.0], price=[2.5], upper=1e5, largest_demand=1e5)


class LastWeek:
    def policy(self, problem, x_names):
        place = x_names.index("sold, lag 7")
        return Rule(lambda x: [x[place]])


last_week = LastWeek()
"""


def demand(rng: np.random.Generator, days: int, series: int) -> tuple[Array, Array]:
    """(T, S, 12) contexts and (T, S) counts: sizes, weeks and promotions differ by series."""
    size = rng.lognormal(0.0, 1.2, series)
    week = rng.uniform(0.6, 1.4, (7, series))
    weekday = np.arange(days) % 7
    promoted = rng.random((days, series), np.float32) < 0.05
    y = rng.poisson(size * week[weekday] * (1.0 + promoted)).astype(float)
    sums = np.zeros((days + 1, series))
    np.cumsum(y, axis=0, out=sums[1:])
    x = np.zeros((days, series, CONTEXTS))
    x[:, :, :6] = np.eye(7)[weekday, None, 1:]
    for place, lag in enumerate((1, 7, 28), 6):
        x[lag:, :, place] = y[:-lag]
    for place, width in enumerate((7, 28), 9):
        x[width:, :, place] = (sums[width:-1] - sums[: -width - 1]) / width
    x[:, :, 11] = promoted
    return x, y


def days_of(series: int, days: int, seed: int) -> Iterator[tuple[Array, Array, Array]]:
    """Promotions, demand and what is ordered now, of all series, day by day."""
    rng = np.random.default_rng(seed)
    size = np.exp(rng.normal(3.0, 0.8, series))
    for day in range(days):
        promotion = rng.random(series) < 0.1
        sold = rng.poisson(size * WEEK[day % 7] * (1.0 + 0.4 * promotion))
        yield promotion.astype(float), sold.astype(float), np.ceil(1.1 * size)


def written(folder: Path, series: int, days: int) -> Path:
    """Write the case and its table, and return its file."""
    dates = np.datetime_as_string(np.datetime64("2021-01-01") + np.arange(days)).tolist()
    with (folder / "data.csv").open("w") as table:
        table.write("date,shop,promotion,sold,ordered\n")
        for date, (promotion, sold, ordered) in zip(
            dates, days_of(series, days, seed=0), strict=True
        ):
            rows = zip(promotion.astype(int), sold.astype(int), ordered, strict=True)
            table.writelines(
                f"{date},s{shop:04},{sale},{count},{order:g}\n"
                for shop, (sale, count, order) in enumerate(rows)
            )
    (folder / "problem.py").write_text(PROBLEM)
    (folder / "bocopt.toml").write_text(CASE)
    return folder / "bocopt.toml"
