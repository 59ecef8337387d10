"""What panels cost: series in lock step, a whole backtest of a thousand, and the size of M5.

python benchmarks/panel_speed.py            writes benchmarks/results/panel_speed.{json,md}, minutes
python benchmarks/panel_speed.py --whole    the same with all days of the panel of M5's size

All is CPU time of one core. Panels are drawn: sizes are lognormal, demand is Poisson with a week
and promotions. A stage is a decision (a newsvendor) and the lesson of its outcome, with 12
contexts; the first stages, in which kernels are loaded, are not counted. The backtest reads its
table, plays the default of panels, the running average, a rule (last week) and what is done now,
compares them, and writes the report and all files. M5 has 30,490 series of 1,941 days: a slice of
its days is played after some to begin with, and the rest is reckoned at the same pace.
"""

import resource
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from results_file import write, write_markdown

from bocopt import PanelAgent, SampleAverage
from bocopt.core import Array, Policy
from bocopt.models import LightMixture
from bocopt.numeric.blas import one_thread
from bocopt.policies import Predictive
from bocopt.problems import Newsvendor

SHOP = Newsvendor(unit_cost=[1.0], price=[2.5], upper=1e5, largest_demand=1e5)
POLICIES: dict[str, Policy[Any]] = {
    "LightMixture": Predictive(SHOP, LightMixture()),
    "SampleAverage": SampleAverage(SHOP),
}
CONTEXTS, BEGIN = 12, 40
SERIES, DAYS = 1000, 1000
M5_SERIES, M5_DAYS, SLICE = 30_490, 1_941, 40
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


def days_of(series: int, days: int, seed: int) -> Iterator[tuple[Array, Array, Array]]:
    """Promotions, demand and what is ordered now, of all series, day by day."""
    rng = np.random.default_rng(seed)
    size = np.exp(rng.normal(3.0, 0.8, series))
    for day in range(days):
        promotion = rng.random(series) < 0.1
        sold = rng.poisson(size * WEEK[day % 7] * (1.0 + 0.4 * promotion))
        yield promotion.astype(float), sold.astype(float), np.ceil(1.1 * size)


def played(policy: Policy[Any], series: int, days: int) -> dict[str, float]:
    """CPU seconds of decisions and lessons after the first days, and the state of a series."""
    agent, names = PanelAgent(policy), [f"s{i}" for i in range(series)]
    x, spent = np.zeros((series, CONTEXTS)), np.zeros(2)
    recent = np.zeros((28, series))
    for day, (promotion, sold, _) in enumerate(days_of(series, BEGIN + days, seed=1)):
        x[:, :6] = np.eye(7)[day % 7, :6]
        x[:, 6], x[:, 7], x[:, 8] = promotion, recent[-1], recent[-7]
        x[:, 9], x[:, 10], x[:, 11] = recent[-7:].mean(0), recent.mean(0), recent[-28]
        before = process_time()
        agent.decide(names, x)
        between = process_time()
        agent.observe(names, sold[:, None])
        if day >= BEGIN:
            spent += between - before, process_time() - between
        recent = np.concatenate([recent[1:], sold[None]])
    with tempfile.TemporaryDirectory() as folder:
        agent.save(Path(folder) / "panel.bin")
        size = (Path(folder) / "panel.bin").stat().st_size
    stages = series * days
    return {
        "series": series,
        "days": days,
        "microseconds a decision": 1e6 * spent[0] / stages,
        "microseconds a lesson": 1e6 * spent[1] / stages,
        "series-stages a second": stages / spent.sum(),
        "bytes a series, saved": size / series,
    }


def backtested() -> dict[str, float]:
    """CPU seconds of the parts of a whole backtest, from its files to its files."""
    from bocopt.app import backtest_panel, open_case
    from bocopt.app.panels.player import PanelPlayer
    from bocopt.app.panels.writing import write_panel

    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder))
        at = process_time()

        def took(part: str) -> None:
            """Note the seconds since the part before."""
            nonlocal at
            now = process_time()
            found[part], at = now - at, now

        case = open_case(path)
        took("read the table")
        player = PanelPlayer(case)
        for part in player.parts:
            player.play(part)
        took("play")
        findings = backtest_panel(case)
        took("compare")
        write_panel(case, findings)
        took("write")
    found["all"] = sum(found.values())
    return found


def written(folder: Path) -> Path:
    """Write the case and its table, and return its file."""
    dates = np.datetime_as_string(np.datetime64("2021-01-01") + np.arange(DAYS)).tolist()
    with (folder / "data.csv").open("w") as table:
        table.write("date,shop,promotion,sold,ordered\n")
        for date, (promotion, sold, ordered) in zip(
            dates, days_of(SERIES, DAYS, seed=0), strict=True
        ):
            rows = zip(promotion.astype(int), sold.astype(int), ordered, strict=True)
            table.writelines(
                f"{date},s{shop:04},{sale},{count},{order:g}\n"
                for shop, (sale, count, order) in enumerate(rows)
            )
    (folder / "problem.py").write_text(PROBLEM)
    (folder / "bocopt.toml").write_text(CASE)
    return folder / "bocopt.toml"


def main(whole: bool) -> None:
    with one_thread():
        for policy in POLICIES.values():
            played(policy, 2, 2)  # compile
        lockstep = {name: played(one, SERIES, 100) for name, one in POLICIES.items()}
        parts = backtested()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        days = M5_DAYS - BEGIN if whole else SLICE
        large = played(POLICIES["LightMixture"], M5_SERIES, days)
    minutes = M5_SERIES * M5_DAYS / large["series-stages a second"] / 60.0
    large["minutes of a core, of all days"] = minutes
    large["gigabytes, at most"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    numbers = {"lock step": lockstep, "backtest": {**parts, "gigabytes": memory}, "M5": large}
    write("panel_speed", numbers)
    write_markdown("panel_speed", list(_lines(numbers)))


def _lines(numbers: dict[str, Any]) -> Iterator[str]:
    large, parts = numbers["M5"], numbers["backtest"]
    yield from ["# What panels cost", "", "`python benchmarks/panel_speed.py`: CPU time of a core."]
    yield ""
    yield "| policy | series | µs a decision | µs a lesson | series-stages a second | kB a series |"
    yield "|---|---:|---:|---:|---:|---:|"
    rows = {**numbers["lock step"], "LightMixture, M5's size": large}
    for name, row in rows.items():
        yield (
            f"| {name} | {row['series']:,} | {row['microseconds a decision']:.1f} | "
            f"{row['microseconds a lesson']:.1f} | {row['series-stages a second']:,.0f} | "
            f"{row['bytes a series, saved'] / 1e3:.1f} |"
        )
    yield ""
    yield (
        f"M5's {M5_SERIES:,} series: {large['days']} days were played, and all {M5_DAYS:,} take "
        f"{large['minutes of a core, of all days']:.0f} minutes of a core at this pace; "
        f"{large['gigabytes, at most']:.1f} GB at the most."
    )
    yield ""
    said = ", ".join(f"{part} {parts[part]:.0f}" for part in [*parts][:-2])
    yield (
        f"A backtest of {SERIES:,} series of {DAYS:,} days with four policies takes "
        f"{parts['all']:.0f} s ({said}) and {parts['gigabytes']:.1f} GB."
    )


if __name__ == "__main__":
    main("--whole" in sys.argv[1:])
