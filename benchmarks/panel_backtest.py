"""The default policy of many series, by `bocopt backtest`, beside the same learner of each alone.

python benchmarks/panel_backtest.py FOLDER    writes a table there, plays it by the command, and
writes benchmarks/results/panel_backtest.{json,md}

The table has the drawn shops of benchmarks/panel_data.py as a user would have them: a row for each
shop and day, with its promotion and its kind of place; half of the shops open late. bocopt.toml
asks for weekdays, lags of 1 and 7 days and means of 7 and 28. Losses are those of
benchmarks/panels.py: pinball losses of a newsvendor in units of a shop's mean sales, means over the
times of a shop and then over shops. The first outcome of a shop is not judged.
"""

import csv
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import numpy as np
from panel_data import Panel, shops
from panels import Played, scores
from results_file import write, write_markdown

POLICIES = ("LightMixtureAcross", "LightMixture", "SampleAverage")
LEVELS = {"low": 0.3, "high": 0.9}
FIRST = np.datetime64("2022-01-01")
PROBLEM = "from bocopt.problems import Newsvendor\n" + "".join(
    f"{name} = Newsvendor(unit_cost=[{1 - level:g}], price=1.0)\n" for name, level in LEVELS.items()
)
CASE = """
[cases.{name}]
problem = "problem:{name}"
policies = {policies}

[cases.{name}.data]
file = "data.csv"
series = "shop"
time = "day"
outcome = "sold"
context = ["promotion"]
categories = ["place"]
calendar = ["weekday"]
lags = [1, 7]
rolling = [7, 28]
warm_up = 28
"""


def written(folder: Path, panel: Panel) -> None:
    """Write the table and the files of two cases."""
    folder.mkdir(parents=True, exist_ok=True)
    names = list(map(name_of, range(panel.y.shape[1])))
    promotion = panel.x[..., 6]  # after six weekdays
    with (folder / "data.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["day", "shop", "promotion", "place", "sold"])
        for t, sold in enumerate(panel.y):
            day = str(FIRST + t)
            for i in np.flatnonzero(panel.age[t] >= 0).tolist():
                place = "abc"[panel.kind[i]]
                rows.writerow([day, names[i], int(promotion[t, i]), place, int(sold[i])])
    (folder / "problem.py").write_text(PROBLEM)
    policies = str(list(POLICIES)).replace("'", '"')
    cases = (CASE.format(name=name, policies=policies) for name in LEVELS)
    (folder / "bocopt.toml").write_text("".join(cases))


def name_of(number: int) -> str:
    """Return the name of a shop; the order of names is that of numbers."""
    return f"shop {number:03}"


def decided(folder: Path, case: str, panel: Panel) -> dict[str, Any]:
    """Return the decisions (T, n) of each policy, by the command."""
    command = str(Path(sys.executable).parent / "bocopt")
    config = str(folder / "bocopt.toml")
    subprocess.run([command, "backtest", config, "--case", case, "--jobs", "1"], check=True)
    found = {policy: np.full(panel.y.shape, np.nan) for policy in POLICIES}
    with (folder / "results" / case / "decisions.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            t = int((np.datetime64(row["time"]) - FIRST).astype(int))
            found[row["policy"]][t, int(row["shop"][5:])] = float(row["z0"])
    return found


def main() -> None:
    parser = ArgumentParser(description="The default policy of many series, by the command.")
    parser.add_argument("folder", type=Path)
    folder, panel = parser.parse_args().folder, shops()
    written(folder, panel)
    by_case = [decided(folder, case, panel) for case in LEVELS]
    everyone, numbers = np.arange(panel.y.shape[1]), dict[str, Any]()
    for policy in POLICIES:
        low, high = (found[policy] for found in by_case)
        played = Played(np.stack([low, high, high], axis=-1), 0.0, everyone)
        numbers[policy] = scores(panel, played, everyone)
    write("panel_backtest", numbers)
    report(numbers, panel)


def report(numbers: dict[str, Any], panel: Panel) -> None:
    """Write the table."""
    stages, series = panel.y.shape
    lines = ["# The default of many series, by `bocopt backtest`", ""]
    lines += [*(__doc__ or "").split("\n")[5:-1], ""]
    lines += [
        f"{stages} times, {series} shops. Losses are in thousandths, with their standard errors",
        "over shops. New: days 2 to 50 of the shops that open late; later: from the 300th on.",
        "",
    ]
    heads = [
        f"{window}, {level:g}" for window in ("new", "later", "all") for level in LEVELS.values()
    ]
    lines += ["| policy | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    for policy, found in numbers.items():
        cells = [
            f"{1000 * found[window][problem][0]:.1f} ± {1000 * found[window][problem][1]:.1f}"
            for window in ("new", "later", "all")
            for problem in ("newsvendor .3", "newsvendor .9")
        ]
        lines.append(f"| {policy} | " + " | ".join(cells) + " |")
    write_markdown("panel_backtest", lines)


if __name__ == "__main__":
    main()
