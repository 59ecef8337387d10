"""Parts that nobody saw: two items of which only what is stocked is seen, and roads not taken.

python benchmarks/partly_seen_parts.py    writes results/partly_seen_parts.{json,md,svg}

It takes ten minutes.

*Two items* share a shelf of 60. One earns 2 a unit and sells 40 on average, the other earns 3 and
sells 30 (gamma of shape 4); what is left over is lost. An item that is not on the shelf shows
nothing; of one that is, sales are seen, and nothing beyond its stock.

*Roads*: a grid of 5 x 5 crossings, from corner to corner, by steps to the right and down. The costs
of each road are uniform between 0 and twice its mean, and means uniform between .1 and .5, drawn
anew for each seed. Only the roads that were taken are seen. Beside: CUCB, which takes for each road
the lower end of an interval, mean - sqrt(1.5 log(t) / n), and the shortest path of these.

Regret is what decisions cost on average above the best ones of who knows the law, all stages so far
together. "All seen" is the same learner that sees every outcome in full; "without looking up" is
PartlySeen(..., optimism=0). Bands: the mean over seeds, and two standard errors to each side.

References: Chen, Wang, Yuan (2013), Combinatorial multi-armed bandit: general framework, results
and applications; Besbes, Muharremoglu (2013), On implications of demand censoring in the
newsvendor problem.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import matplotlib as mpl
import numpy as np
from results_file import RESULTS, write, write_markdown

from bocopt.core import Array, Bounds, Decision, Policy, Problem
from bocopt.models import LightMixture
from bocopt.policies import PartlySeen, Predictive, SampleAverage
from bocopt.problems import Newsvendor, ShortestPath, grid

SEEDS, STAGES = 20, 1000
SHELF = Newsvendor(unit_cost=[1.0, 1.0], price=[3.0, 4.0], capacity=60.0)
ROADS = grid(5, 5)
SHOWN = (25, 100, 250, 500, 1000)
STYLE = Path(__file__).parents[1] / "docs" / "extensions" / "figures.mplstyle"

LINES = ("-", "-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
AXES = {
    "two items": ("day", "profit lost so far, in units of cost"),
    "roads": ("trip", "cost above the best path so far"),
}

See = Callable[[Array, Array], Bounds]  # decisions (S, d), outcomes (S, m)


def all_seen(z: Array, xi: Array) -> Bounds:
    """Return outcomes that were seen in full."""
    return Bounds(xi, xi)


def on_the_shelf(z: Array, xi: Array) -> Bounds:
    """Return what is seen of items that are stocked: their sales."""
    out = xi >= z
    low = np.where(z > 0, np.where(out, z, xi), -np.inf)
    return Bounds(low, np.where(out, np.inf, xi))


def taken(z: Array, xi: Array) -> Bounds:
    """Return what is seen of roads that were taken: their cost."""
    return Bounds(np.where(z > 0, xi, -np.inf), np.where(z > 0, xi, np.inf))


def demand(seeds: range) -> tuple[Array, Array]:
    """(T, S, 2) demands, and (S, s, 2) a sample by which decisions are priced."""
    mean = np.array([40.0, 30.0])
    drawn = [
        np.random.default_rng([s, 1]).gamma(4.0, mean / 4.0, (STAGES + 20_000, 2)) for s in seeds
    ]
    days = np.stack([each[:STAGES] for each in drawn], axis=1)
    return days, np.stack([each[STAGES:] for each in drawn])


def road_costs(seeds: range) -> tuple[Array, Array]:
    """(T, S, 40) costs, and (S, 1, 40) their means."""
    rngs = [np.random.default_rng([seed, 2]) for seed in seeds]
    means = [rng.uniform(0.1, 0.5, ROADS.dims.xi) for rng in rngs]
    days = [2.0 * m * rng.random((STAGES, m.size)) for rng, m in zip(rngs, means, strict=True)]
    return np.stack(days, axis=1), np.stack(means)[:, None, :]


def regret(problem: Problem, z: Array, sample: Array) -> Array:
    """(T, S, d), (S, s, m) -> (T, S): cost on average above the best, all stages together."""
    nothing = np.zeros(0)
    w = np.full(sample.shape[-2], 1.0 / sample.shape[-2])
    best = problem.solve(sample, w, nothing).value
    each = [problem.cost(nothing, now[:, None, :], sample).mean(axis=-1) for now in z]
    return np.cumsum(np.stack(each) - best, axis=0)


def by_policy(policy: Policy[Any], see: See, days: Array) -> Array:
    """(T, S, m) -> (T, S, d): decisions of a policy, which is told what is seen of outcomes."""
    x, state, z = np.zeros(1), policy.init(np.arange(days.shape[1])), []
    for t, xi in enumerate(days):
        decision: Decision = policy.decide(state, t, x)
        z.append(decision.solution.z)
        if isinstance(policy, PartlySeen):
            state = policy.learn_bounds(state, t, x, decision, see(z[-1], xi))
        else:
            state = policy.learn(state, t, x, decision, xi)
    return np.stack(z)


def cucb(problem: ShortestPath, days: Array) -> Array:
    """(T, S, m) -> (T, S, d): the shortest path of the lower ends; 0 for roads never taken."""
    many, total, z = np.zeros(days.shape[1:]), np.zeros(days.shape[1:]), []
    for t, xi in enumerate(days):
        n = np.maximum(many, 1.0)
        low = np.maximum(total / n - np.sqrt(1.5 * np.log(t + 1.0) / n), 0.0)
        z.append(problem.solve(np.where(many > 0, low, 0.0)[:, None, :]).z)
        many, total = many + z[-1], total + z[-1] * xi
    return np.stack(z)


def light(problem: Problem) -> Predictive:
    """Return the policy of a light mixture."""
    return Predictive(problem, LightMixture(dim_xi=problem.dims.xi))


def played() -> dict[str, dict[str, Array]]:
    """Return the regret (T, S) of each learner, in both worlds."""
    found: dict[str, dict[str, Array]] = {}
    worlds: list[tuple[str, Any, See, Callable[[range], tuple[Array, Array]]]] = [
        ("two items", SHELF, on_the_shelf, demand),
        ("roads", ROADS, taken, road_costs),
    ]
    for name, problem, see, draw in worlds:
        days, sample = draw(range(SEEDS))
        average, learner = SampleAverage(problem), light(problem)
        orders = {
            "running average, all seen": by_policy(average, all_seen, days),
            "running average, partly seen": by_policy(PartlySeen(average), see, days),
            "running average, without looking up": by_policy(PartlySeen(average, 0.0), see, days),
            "light mixture, all seen": by_policy(learner, all_seen, days),
            "light mixture, partly seen": by_policy(PartlySeen(learner), see, days),
        }
        if name == "roads":
            orders["CUCB"] = cucb(problem, days)
        found[name] = {who: regret(problem, z, sample) for who, z in orders.items()}
    return found


def draw(found: dict[str, dict[str, Array]]) -> None:
    """Draw the regrets of both worlds."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    stages = np.arange(1, STAGES + 1)
    with mpl.rc_context(fname=STYLE), patch.dict(os.environ, {"SOURCE_DATE_EPOCH": "0"}):
        figure, axes = plt.subplots(1, 2, figsize=(9.2, 4.0))
        for axis, (name, curves) in zip(axes, found.items(), strict=True):
            for (who, curve), style in zip(curves.items(), LINES, strict=False):
                mean = curve.mean(axis=1)
                error = 2.0 * curve.std(axis=1, ddof=1) / np.sqrt(curve.shape[1])
                (line,) = axis.plot(stages, mean, ls=style, label=who)
                band = np.maximum(mean - error, 1e-2), mean + error
                axis.fill_between(stages, *band, color=line.get_color(), alpha=0.2, lw=0)
            axis.set(xscale="log", yscale="log", xlabel=AXES[name][0], ylabel=AXES[name][1])
            axis.set(title=name, xlim=(5, STAGES))
        handles, labels = axes[1].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        figure.savefig(RESULTS / "partly_seen_parts.svg")
        plt.close(figure)


def page(found: dict[str, dict[str, Array]]) -> list[str]:
    """Return the tables."""
    lines = ["# Parts that nobody saw", "", *(__doc__ or "").split("\n")[2:-1], ""]
    lines += ["![Regret of the learners, both axes logarithmic](partly_seen_parts.svg)", ""]
    for name, curves in found.items():
        heads = [f"after {t:,}" for t in SHOWN] + ["growth"]
        lines += [f"| {name}: regret | " + " | ".join(heads) + " |"]
        lines += ["|---|" + "---:|" * len(heads)]
        for who, curve in curves.items():
            many = np.sqrt(curve.shape[1])
            at = [curve[t - 1] for t in SHOWN]
            cells = [f"{c.mean():.3g} ± {c.std(ddof=1) / many:.2g}" for c in at]
            lines.append(f"| {who} | " + " | ".join([*cells, f"{growth(curve):.2f}"]) + " |")
        lines.append("")
    return [*lines, '"Growth" is p where regret grew as t^p in the last three quarters of stages.']


def growth(curve: Array) -> float:
    """Return the power of t by which the mean of (T, S) grew from a quarter of all stages on."""
    mean = curve.mean(axis=1)
    return float(np.log(mean[-1] / mean[len(mean) // 4 - 1]) / np.log(4.0))


def main() -> None:
    found = played()
    draw(found)
    told = {
        name: {
            who: {
                str(t): [float(curve[t - 1].mean()), float(curve[t - 1].std(ddof=1))] for t in SHOWN
            }
            for who, curve in curves.items()
        }
        for name, curves in found.items()
    }
    write("partly_seen_parts", {"seeds": SEEDS, "regret: mean, sd": told})
    write_markdown("partly_seen_parts", page(found))


if __name__ == "__main__":
    main()
