"""The light mixture beside the rich one and plain rules: what forecasts lose, and what they cost.

python benchmarks/light.py    writes benchmarks/results/light.{json,md}, about ten minutes

Four panels of benchmarks/panel_data.py, two of them real and two drawn; each series is met at its
first outcome. Contexts are weekdays or months, categories, its own last and seasonal lags and two
means. In a fifth one, `lines`, outcomes or their logarithms are lines in eight contexts of all
sizes, with heavy tails, and there are no lags. Constants of the light mixture were chosen on the
first two, on `lines`, and on drawn panels of other generators than those of the third and fourth.
All is decided before the outcome is seen; nothing is known of other series. Losses are pinball
losses, the mean of those at .3, .5, .8, .9 and .95, in per cent of the mean size of a series.
"Covered" is how many outcomes, from the 52nd on, lay in the intervals of 50, 80, 90 and 95%; counts
lie on their ends, too. Plain rules: quantiles of all outcomes so far, of those of the same weekday
or month, and of what was left over by the outcome a week or a year ago.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from panel_data import PANELS, Panel
from results_file import write, write_markdown

from bocopt import Mixture
from bocopt.core import Array
from bocopt.models import LightMixture

SERIES = 40  # of a panel, evenly spread
JUDGED = (0.3, 0.5, 0.8, 0.9, 0.95)
ENDS = ((0.25, 0.75), (0.1, 0.9), (0.05, 0.95), (0.025, 0.975))
LEVELS = np.array(sorted({*JUDGED, *(end for ends in ENDS for end in ends)}))
PARTS = {"first 50": (1, 51), "51 to 300": (51, 301), "from 301 on": (301, 10**6)}
MANY = 1000  # series of one call, for speed

SHARE_OF_EFFECTS, SEED = 0.5, 5

Rule = Callable[[Array, Array, int], Array]  # contexts, outcomes, season -> (T, S, levels)


def lines() -> Panel:
    """Drawn: 40 series of 400 outcomes, a third of them lognormal; no context is a lag."""
    rng, stages, series, k = np.random.default_rng(SEED), 400, 40, 8
    sizes, centres = np.exp(rng.normal(size=k)), np.array([20, 0, 0, 300, 0, 5, 0, 1.0])
    x = rng.normal(size=(stages, series, k)) * sizes + centres
    x[..., 6], x[..., 7] = np.maximum(x[..., 6], 0.0), rng.random((stages, series)) < 0.4
    effects = rng.normal(size=(series, k)) * (rng.random((series, k)) < SHARE_OF_EFFECTS)
    noise = rng.standard_t(4, (stages, series)) * np.exp(rng.normal(-0.5, 0.7, series))
    line = ((x - x.mean(axis=0)) / x.std(axis=0) * effects).sum(axis=-1) + noise
    kind = np.arange(series) % 3
    y = np.where(kind == 0, np.exp(2 + 0.4 * line), 40.0 * (kind == 1) + 3 * line)
    return Panel(y, x, (), kind, 7, 28, series)


def by_age(panel: Panel) -> tuple[Array, Array]:
    """(T, S, k) contexts and (T, S) outcomes of each series from its first one on, then NaN."""
    x, y = np.full_like(panel.x, np.nan), np.full_like(panel.y, np.nan)
    for series, begins in enumerate(panel.begins):
        stages = len(y) - begins
        x[:stages, series], y[:stages, series] = panel.x[begins:, series], panel.y[begins:, series]
    return x, y


def weighted_quantiles(scenarios: Array, w: Array) -> Array:
    """(S, s), (S, s) -> (S, levels)."""
    order = np.argsort(scenarios, axis=-1)
    upto = np.cumsum(np.take_along_axis(np.broadcast_to(w, order.shape), order, -1), axis=-1)
    place = (upto[..., None, :] < LEVELS[:, None] - 1e-12).sum(axis=-1)
    rising = np.take_along_axis(scenarios, order, -1)
    return np.take_along_axis(rising, np.minimum(place, order.shape[-1] - 1), -1)


def by_model(model: Any) -> Rule:
    """The quantiles of a model, for all series at once; those that ended learn their last again."""

    def played(x: Array, y: Array, season: int) -> Array:
        found, state, last = np.full((*y.shape, len(LEVELS)), np.nan), None, y[0]
        for t in range(len(y)):
            last = np.where(np.isnan(y[t]), last, y[t])
            now = np.where(np.isnan(x[t]), last[:, None], x[t])  # at first, and after the end
            if state is None:
                state = model.init(np.arange(y.shape[1]))
            else:
                scenarios, w = model.sample(state, now)
                found[t] = weighted_quantiles(scenarios[..., 0], w)
            state = model.step(state, t, now, last[:, None])
        return found

    return played


def so_far(x: Array, y: Array, season: int) -> Array:
    """Quantiles of all outcomes."""
    return _from_past(y, lambda t: y[:t], lambda t: 0.0)


def same_season(x: Array, y: Array, season: int) -> Array:
    """Quantiles of the outcomes of the same weekday or month; of all before there is one."""
    return _from_past(y, lambda t: y[t % season : t : season] if t >= season else y[:t], _nothing)


def seasonal_naive(x: Array, y: Array, season: int) -> Array:
    """The outcome of a season ago, and quantiles of how that erred; of all before there is one."""
    return _from_past(
        y,
        lambda t: y[season:t] - y[: t - season] if t > season else y[:t],
        lambda t: y[t - season, :, None] if t > season else 0.0,
    )


def _nothing(t: int) -> float:
    return 0.0


def _from_past(y: Array, past: Callable[[int], Array], around: Callable[[int], Any]) -> Array:
    found = np.full((*y.shape, len(LEVELS)), np.nan)
    for t in range(1, len(y)):
        found[t] = around(t) + np.quantile(past(t), LEVELS, axis=0).T
    return found


RULES: dict[str, Rule] = {
    "light": by_model(LightMixture()),
    "rich": by_model(Mixture(dim_xi=1, scenarios=256)),
    "all outcomes so far": so_far,
    "same season so far": same_season,
    "seasonal naive": seasonal_naive,
}


def scores(found: Array, y: Array) -> dict[str, Any]:
    """Return the losses of each part with their standard errors over series, and the coverage."""
    rest = (y[..., None] - found) / np.nanmean(np.abs(y), axis=0)[:, None]
    judged = np.isin(LEVELS, JUDGED)
    losses = 100 * np.maximum(LEVELS * rest, (LEVELS - 1) * rest)[..., judged].mean(axis=-1)
    told: dict[str, Any] = {}
    for part, (first, last) in PARTS.items():
        seen = losses[first:last]
        each = np.nanmean(seen[:, ~np.isnan(seen).all(axis=0)], axis=0) if len(seen) else seen
        if each.size:
            told[part] = [float(each.mean()), float(each.std(ddof=1) / np.sqrt(len(each)))]
    late, told["covered"] = ~np.isnan(y[51:]), {}
    for low, high in ENDS:
        ends = (found[51:, :, np.searchsorted(LEVELS, end)] for end in (low, high))
        inside = np.logical_and(next(ends) <= y[51:], y[51:] <= next(ends))
        told["covered"][f"{high - low:g}"] = float(inside[late].mean())
    return told


def microseconds(model: Any, k: int, stages: int, series: int) -> dict[str, float]:
    """CPU of a forecast and of a lesson, a series."""
    rng, spent = np.random.default_rng(0), {"sample": 0.0, "step": 0.0}
    state, counted = model.init(np.arange(series)), 0
    for t in range(stages):
        x, y = rng.normal(size=(series, k)) + 5.0, rng.normal(size=(series, 1)) + 20.0
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


def rows_of(panel: str, found: dict[str, Any]) -> list[str]:
    """Return a table: a row a rule."""
    heads = [*(part for part in PARTS if part in found["light"]), "covered"]
    rows = [f"| {panel} | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    for name, told in found.items():
        cells = [f"{told[part][0]:.2f} ± {told[part][1]:.2f}" for part in heads[:-1]]
        cells.append(", ".join(f"{share:.2f}" for share in told["covered"].values()))
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return [*rows, ""]


def main() -> None:
    from bocopt.models.kernels.light import layout

    table: dict[str, Any] = {}
    page = ["# The light mixture beside the rich one", "", *(__doc__ or "").split("\n")[2:-1], ""]
    for name, read in (PANELS | {"lines": lines}).items():
        panel = read()
        count = panel.y.shape[1]
        chosen = np.unique(np.linspace(0, count - 1, min(SERIES, count)).round().astype(int))
        x, y = by_age(panel.part(chosen))
        table[name] = {who: scores(rule(x, y, panel.season), y) for who, rule in RULES.items()}
        page += rows_of(f"{name}: {len(chosen)} series", table[name])
    speed = {
        "light": microseconds(LightMixture(), 12, 200, MANY),
        "rich": microseconds(Mixture(dim_xi=1, scenarios=256), 12, 60, 20),
    }
    size = layout.size_of(12) * 8
    write("light", {"losses": table, "microseconds": speed, "bytes": size})
    page.append(
        f"With 12 contexts, a stream takes {size:,} bytes; a forecast and a lesson take "
        f"{speed['light']['sample']:.1f} and {speed['light']['step']:.1f} us of CPU "
        f"({MANY} streams at once), those of the rich one {speed['rich']['sample']:.0f} and "
        f"{speed['rich']['step']:.0f} us (20 at once, stages 31 to 60)."
    )
    write_markdown("light", page)


if __name__ == "__main__":
    main()
