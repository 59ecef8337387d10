"""Where sales hide the demand: what that costs, with the cure, without, and with what others do.

python benchmarks/sales.py    writes benchmarks/results/sales.{json,md}, half an hour; some parts of
it alone are made anew by their names, as `python benchmarks/sales.py ensemble "rules of others"`

A shop orders z, sells min(z, demand), and sees no more: sold out means "at least z". Demand has one
of five laws: counts (Poisson with mean 5); gamma with a week, the weekday being told; nothing on
every other day, else gamma; lognormal; a level that drifts by 3% a day. What is left over costs
1 - r a unit, what is missing r, where r is the critical ratio. *Cold*: nothing is known before the
first of 500 days. *Warm*: 100 days came before them on which all demand was seen.

Each number is what 500 days cost above the same learner that sees the demand, in per cent: of the
sums over all seeds, with its standard error; in brackets the worst seed. "Today" takes sales for
demand. "Now" tells at_least(z), by PartlySeen(learner). Seeds from 5000 on: constants were chosen
on others. Rules of others, which see sales and what was sold out, are measured above the running
average that sees the demand: Tobit is told the weekday, which that does not read.
"""

import json
import sys
import time
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from results_file import RESULTS, write, write_markdown
from sales_rivals import Dropped, Gradient, KaplanMeier, Tobit
from sales_worlds import LAWS, Rule, World, by_policy, by_rule, paid, shop, world

from bocopt.core import Array, Policy
from bocopt.models import ConstantVariance, LightMixture, Mixture, RandomCoefficients
from bocopt.models.member import Member
from bocopt.policies import Ensemble, PartlySeen, Predictive, SampleAverage

RATIOS = (0.6, 0.8, 0.95)
DAYS, WARM, FIRST_SEED, SEEDS = 500, 100, 5000, 60
FEW = 500, 4  # days and seeds of the ensemble
MANY = 1000, 200  # seeds and days, where collapses are counted
TOBITS = 8  # seeds of what others do, whose regressions take seconds
STEPS = (0.1, 0.3, 1.0)  # of the gradient method, the best in hindsight of each law and ratio

TRIED = """\
## What was tried

By the light mixture, cold, 40 to 80 other seeds, in per cent above the learner that sees demand.

- Kept: a weight of scenarios beyond that falls with what bounds leave of the law. With one weight
  for all ratios, 17% at .95 (E of mean 2), or 4.5% for zeros at .6 (mean .5); now 2 and 1 to 2%.
- Kept: nine scenarios on the way, not one at its end: counts at .95 from 4.8 to 3.9%, the week at
  .95 from 2.3 to 1.3%. Three times the largest bound until a number was seen, not twice: the week
  at .6 from 4.9 to 4.5%, drift at .6 from 3.5 to 2.9%; four times gained no more.
- Kept: a size counts as known once any number but 0 was seen. Asking for one beyond half of the
  largest bound, a single early jump cost 80% in one seed of 40.
- Kept: whole completions where all that was seen is whole: counts, warm, from .8 to .2% at .6 and
  from 2.6 to 2.0% at .95, though cold from 2.6 to 3.9% at .95.
- Kept: an ensemble that takes another arm than that of its scenarios looks up as much more as this
  arm would: zeros at .95, first 100 days, from 42 to 22% (four seeds).
- Kept: running averages complete anew with each outcome: counts from 3.0 to 1.6% at .6, from 4.8 to
  1.6% at .8; lognormal from 2.6 to .4% at .8 (with what stands above).
- Dropped: looking back on 100 outcomes, not 500, to say whether any was seen beyond a bound: drift,
  warm, at .6 from 2.6 to .4%, but counts from .2 to 1.6%, and at .95 from 1.3 to 3.5%. So where a
  level rises, what lies beyond the stock is found late: the one row here above its aim.
- Dropped: heavy tails for E (4 to 25% more everywhere); a weight by the number of outcomes that
  were seen beyond the last bound, in place of all that were ruled out (2 to 10% more at .95)."""

Make = Callable[[float], Policy[Any]]


def average(ratio: float) -> SampleAverage:
    """Return the running average."""
    return SampleAverage(shop(ratio))


def light(ratio: float) -> Predictive:
    """Return the policy of a light mixture."""
    return Predictive(shop(ratio), LightMixture())


def ensemble(ratio: float) -> Ensemble:
    """Return an ensemble of two members, as in docs/examples/newsvendor.md."""
    members: list[Member] = [RandomCoefficients(), ConstantVariance()]
    return Ensemble(shop(ratio), Mixture(dim_xi=1, members=members, scenarios=128))


def rules(ratio: float, first: float, world: World) -> dict[str, list[Rule]]:
    """Return what others do; of several, the best in hindsight counts."""
    upper = 2.0 * np.quantile(world.y, 0.99, axis=0)
    return {
        "Kaplan-Meier, order up to": [KaplanMeier(ratio, first)],
        "Huh and Rusmevichientong": [Gradient(ratio, first, upper, step) for step in STEPS],
        "sold-out days dropped": [Dropped(ratio, first)],
        "Tobit": [Tobit(ratio, first)],
    }


def above(own: Array, seeing: Array) -> dict[str, float]:
    """Return what (S) seeds paid above those who saw, in per cent."""
    share = own.sum() / seeing.sum()
    error = np.std(own - share * seeing, ddof=1) * np.sqrt(len(own)) / seeing.sum()
    return {
        "mean": 100.0 * float(share - 1.0),
        "error": 100.0 * float(error),
        "worst": 100.0 * float((own / seeing).max() - 1.0),
    }


def learner(
    make: Make, days: int, seeds: int, starts: tuple[int, ...], at_once: int = 60
) -> dict[str, Any]:
    """Return what a learner pays today and now, for each law, ratio and start."""
    found: dict[str, Any] = {}
    for law, ratio, warm in product(LAWS, RATIOS, starts):
        own, costs = make(ratio), []
        for first in range(FIRST_SEED, FIRST_SEED + seeds, at_once):
            drawn = world(law, range(first, first + at_once), days + warm)
            ways = (own, "demand"), (own, "sales"), (PartlySeen(own), "bounds")
            z = [by_policy(policy, tell, drawn, warm) for policy, tell in ways]
            costs.append([paid(ratio, each, drawn.y)[warm:].sum(axis=0) for each in z])
        seeing, today, now = np.concatenate(costs, axis=-1)
        found[f"{law}, {ratio}, {'warm' if warm else 'cold'}"] = {
            "today": above(today, seeing),
            "now": above(now, seeing),
        }
    return found


def others(seeds: int) -> dict[str, Any]:
    """Return what rules of others pay, beside the running average."""
    found: dict[str, Any] = {}
    for law in LAWS:
        for ratio in RATIOS:
            for warm in (0, WARM):
                drawn = world(law, range(FIRST_SEED, FIRST_SEED + seeds), DAYS + warm)
                seen = by_policy(average(ratio), "demand", drawn)
                seeing = paid(ratio, seen, drawn.y)[warm:].sum(0)
                told = {}
                for name, some in rules(ratio, float(seen[0, 0]), drawn).items():
                    costs = [paid(ratio, by_rule(rule, drawn, warm), drawn.y) for rule in some]
                    best = min((cost[warm:].sum(0) for cost in costs), key=lambda cost: cost.sum())
                    told[name] = above(best, seeing)
                found[f"{law}, {ratio}, {'warm' if warm else 'cold'}"] = told
    return found


def collapses(make: Make, seeds: int, days: int, at_once: int = 250) -> dict[str, Any]:
    """Count the seeds that order less than half on the last 50 days, or pay half as much again."""
    found: dict[str, Any] = {}
    for law in LAWS:
        for ratio in RATIOS:
            counts, worst = {"low": 0, "dear": 0}, {"order": np.inf, "cost": 0.0}
            for first in range(0, seeds, at_once):
                drawn = world(law, range(first + 10_000, first + 10_000 + at_once), days)
                z = by_policy(PartlySeen(make(ratio)), "bounds", drawn)
                seen = by_policy(make(ratio), "demand", drawn)
                late = z[-50:].mean(axis=0) / np.maximum(seen[-50:].mean(axis=0), 1e-9)
                cost = paid(ratio, z, drawn.y).sum(0) / paid(ratio, seen, drawn.y).sum(0)
                counts["low"] += int((late < 0.5).sum())
                counts["dear"] += int((cost > 1.5).sum())
                worst = {
                    "order": min(worst["order"], float(late.min())),
                    "cost": max(worst["cost"], float(cost.max())),
                }
            found[f"{law}, {ratio}"] = counts | worst
    return found


def cell(told: dict[str, float]) -> str:
    """Return a cell: mean, error and worst."""
    digits = 0 if told["mean"] >= 100 else 1
    mean, error = (f"{told[name]:.{digits}f}" for name in ("mean", "error"))
    return f"{mean} ± {error} ({told['worst']:.0f})"


def tables(found: dict[str, Any]) -> list[str]:
    """Return the page."""
    page = ["# Where sales hide the demand", "", *(__doc__ or "").split("\n")[2:-1], ""]
    sizes = {"running average": (DAYS, SEEDS), "light mixture": (DAYS, SEEDS), "ensemble": FEW}
    for name, (days, seeds) in sizes.items():
        own = found[name]
        starts = [s for s in ("cold", "warm") if any(key.endswith(s) for key in own)]
        heads = [f"{when}, {start}" for start in starts for when in ("today", "now")]
        page += [f"## {name.capitalize()}: {seeds} seeds, {days} days", "", *head(heads)]
        for where in (f"{law}, {ratio}" for law in LAWS for ratio in RATIOS):
            told = [own[f"{where}, {start}"][when] for start in starts for when in ("today", "now")]
            page.append(f"| {where} | " + " | ".join(map(cell, told)) + " |")
        page.append("")
    rivals = found["rules of others"]
    for start in ("cold", "warm"):
        page += [f"## Rules of others, {start}: {TOBITS} seeds", ""]
        page += head(list(next(iter(rivals.values()))))
        for where in (f"{law}, {ratio}" for law in LAWS for ratio in RATIOS):
            told = list(rivals[f"{where}, {start}"].values())
            page.append(f"| {where} | " + " | ".join(map(cell, told)) + " |")
        page.append("")
    return page + collapse_lines(found)


def head(columns: list[str]) -> list[str]:
    """Return the first lines of a table."""
    return ["| demand, ratio | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]


def collapse_lines(found: dict[str, Any]) -> list[str]:
    """Return how many seeds collapsed."""
    page = ["## Collapses", "", "From a cold start: seeds whose orders on the last 50 days were"]
    page += ["less than half of those of the learner that sees demand (low), and seeds that paid"]
    page += ["more than 1.5 times as much in all (dear).", ""]
    page += ["| learner | ratios x seeds x days | low | least order | dear | largest cost |"]
    page += ["|---|---:|---:|---:|---:|---:|"]
    for name in ("running average", "light mixture"):
        for law in LAWS:
            told = [found[f"collapses of {name}"][f"{law}, {ratio}"] for ratio in RATIOS]
            low, dear = (sum(each[count] for each in told) for count in ("low", "dear"))
            least, most = min(t["order"] for t in told), max(t["cost"] for t in told)
            size = f"{len(RATIOS)} x {MANY[0]} x {MANY[1]}"
            page.append(f"| {name}, {law} | {size} | {low} | {least:.2f} | {dear} | {most:.2f} |")
    return page


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "running average": lambda: learner(average, DAYS, SEEDS, (0, WARM)),
    "light mixture": lambda: learner(light, DAYS, SEEDS, (0, WARM)),
    "ensemble": lambda: learner(ensemble, *FEW, (0,), at_once=1),
    "rules of others": lambda: others(TOBITS),
    "collapses of running average": lambda: collapses(average, *MANY),
    "collapses of light mixture": lambda: collapses(light, *MANY),
}


def main() -> None:
    file = RESULTS / "sales.json"
    found = json.loads(file.read_text()) if file.exists() else {}
    for name in sys.argv[1:] or PARTS:
        begin = time.perf_counter()
        found[name] = PARTS[name]()
        print(name, round(time.perf_counter() - begin), "s", flush=True)
        write("sales", {key: found[key] for key in PARTS if key in found})
    if all(name in found for name in PARTS):
        write_markdown("sales", [*tables(found), "", TRIED])


if __name__ == "__main__":
    main()
