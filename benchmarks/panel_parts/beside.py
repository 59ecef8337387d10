"""What others take for some series of the same panel: CPU, and all series at the same pace.

Each gives a quantile (0.8) of each outcome before it is known, from the 29th day on, and is fitted
anew every 28 days where it is fitted at all.

LightGBM   one model for all series of the sample: 200 rounds, 31 leaves, one thread
AutoETS    statsforecast, a series by itself, a season of 7; fitted to all days so far
river      a series by itself: scaled contexts, a linear quantile, learned stage by stage
"""

import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import version
from time import process_time
from typing import Any

import numpy as np
from panel_made import DAYS, SERIES, demand

from bocopt.core import Array
from bocopt.numeric.blas import one_thread

LEVEL, REFIT, FIRST = 0.8, 28, 28
ROUNDS, LEAVES = 200, 31
SAMPLE = {"lightgbm": 100, "statsforecast": 4, "river": 20}  # series


def beside(before: Any, small: bool) -> Iterator[dict[str, Any]]:
    """Yield what each takes, one after the other."""
    days, found = 90 if small else DAYS, dict[str, Any]()
    with one_thread():
        for library, many in SAMPLE.items():
            some = min(many, 3) if small else many
            try:
                import_module(library)
            except ModuleNotFoundError:
                found[library] = {"not measured": f"{library} is not installed"}
                continue
            x, y = demand(np.random.default_rng(2), days, some)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                RIVALS[library](x[:, :1], y[:, :1])  # compile
                start = process_time()
                guess = RIVALS[library](x, y)
                spent = process_time() - start
            found[library] = {
                "version": version(library),
                "series": some,
                "days": days,
                "seconds of CPU": spent,
                "hours of CPU, all series and days": spent / (some * days) * SERIES * DAYS / 3600,
                "share below": float((y[FIRST:] <= guess[FIRST:]).mean()),
            }
            yield found
    yield found


def boosted(x: Array, y: Array) -> Array:
    """Return quantiles (T, S) of one LightGBM for all series."""
    light, guess = import_module("lightgbm"), np.zeros(y.shape)
    settings = {"objective": "quantile", "alpha": LEVEL, "num_leaves": LEAVES, "verbose": -1}
    settings |= {"num_threads": 1, "seed": 0}
    for t in range(FIRST, len(y), REFIT):
        data = light.Dataset(x[:t].reshape(-1, x.shape[2]), y[:t].ravel())
        fit = light.train(settings, data, num_boost_round=ROUNDS)
        for now in range(t, min(t + REFIT, len(y))):
            guess[now] = fit.predict(x[now], num_threads=1)
    return guess


def exponential(x: Array, y: Array) -> Array:
    """Return quantiles (T, S) of AutoETS, a series by itself."""
    model_of = import_module("statsforecast.models").AutoETS
    guess, share = np.zeros(y.shape), round(100 * (2 * LEVEL - 1))
    for own in range(y.shape[1]):
        model = model_of(season_length=7)
        for t in range(FIRST, len(y)):
            if (t - FIRST) % REFIT == 0:
                model.fit(y[:t, own])
            guess[t, own] = model.forward(y[:t, own], h=1, level=[share])[f"hi-{share}"][0]
    return guess


def online(x: Array, y: Array) -> Array:
    """Return quantiles (T, S) of river, a series by itself."""
    linear, optim, scaled = (
        import_module(f"river.{name}") for name in ("linear_model", "optim", "preprocessing")
    )
    guess, names = np.zeros(y.shape), [f"x{i}" for i in range(x.shape[2])]
    for own in range(y.shape[1]):
        loss = optim.losses.Quantile(LEVEL)
        model = scaled.StandardScaler() | linear.LinearRegression(
            loss=loss, intercept_lr=0.1, optimizer=optim.SGD(0.01)
        )
        for t in range(len(y)):
            row = dict(zip(names, x[t, own].tolist(), strict=True))
            guess[t, own] = model.predict_one(row)
            model.learn_one(row, y[t, own])
    return guess


RIVALS: dict[str, Callable[[Array, Array], Array]] = {
    "lightgbm": boosted,
    "statsforecast": exponential,
    "river": online,
}
