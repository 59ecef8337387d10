"""Which reading of the print fits its table 1: hypotheses, each run and measured.

The print's numbers are compared with ours as it seems to have computed them (`along_time`, E19).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import sqrt
from typing import Any

from bocopt.experiments.paper import PRINTED, Settings, tasks_of
from bocopt.experiments.study import Size, Study, Summary
from bocopt.experiments.summaries import COLUMNS, Cell, along_time, over_trials, shown
from bocopt.experiments.tasks import Record, Task
from bocopt.report.blocks import Grid, Row, Section
from bocopt.report.tables import number, spread

#: Changes to the default settings, by name.
READINGS: dict[str, dict[str, Any]] = {
    "as by default": {},
    "offset 2, as printed (E1)": {"offset": 2.0},
    "z from 1 (E2)": {"lower": 1},
    "corrected move (E6, E7)": {"move": "corrected"},
    "step decay every stage (E17)": {"decay_every": 1},
    "step decay every 3 stages (E17)": {"decay_every": 3},
    "one stream for all trials (E19)": {"one_stream": True},
    "prior and start scale 0.5": {"prior_sd": 0.5},
    "lambda 2e-4": {"lam": 2e-4},
    "lambda 5e-4": {"lam": 5e-4},
    "lambda 1e-3": {"lam": 1e-3},
    "learning rate 0.2": {"rate": 0.2},
    "learning rate 0.3": {"rate": 0.3},
    "DFL with 40 perturbations": {"perturbations": 40},
    "DFL weights clipped at 0.1 (E18)": {"floor": 0.1},
    "no run-in": {"run_in": 0},
    "lambda 5e-4, z from 1": {"lam": 5e-4, "lower": 1},
    "lambda 5e-4, learning rate 0.3": {"lam": 5e-4, "rate": 0.3},
}


def size(full: Size) -> Size:
    return full._replace(trials=max(1, full.trials * 2 // 5))


def tasks(size: Size) -> dict[str, Task]:
    return {
        f"{reading}/{name}": task
        for reading, changes in READINGS.items()
        for name, task in tasks_of(replace(Settings(), **changes), size, PRINTED).items()
    }


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    rows: list[Summary] = []
    for reading, changes in READINGS.items():
        series = {name: shown(records[f"{reading}/{name}"]) for name in PRINTED}
        found = {name: along_time(values) for name, values in series.items()}
        groups = {"all": found, **{name: {name: cells} for name, cells in found.items()}}
        rows.append(
            {
                "reading": reading,
                "settings": changes,
                "distance": {
                    group: {what: _distance(cells, what) for what in ("reward", "feasibility")}
                    for group, cells in groups.items()
                },
                "along_time": found,
                "over_trials": {name: over_trials(values) for name, values in series.items()},
            }
        )
    best = {
        group: min(rows, key=lambda row: float(row["distance"][group]["reward"]))["reading"]
        for group in ("all", *PRINTED)
    }
    return {**size._asdict(), "best": best, "rows": rows}


def _distance(found: Mapping[str, Mapping[str, Cell]], what: str) -> float:
    """Root mean square distance of the means from those in print, both columns together."""
    squares = [
        (float(cells[column]["mean"] or 0) - float(PRINTED[name][column]["mean"] or 0)) ** 2
        for name, cells in found.items()
        for column in (what, f"{what}_last")
    ]
    return sqrt(sum(squares) / len(squares))


def show(summary: Summary) -> Section:
    best = summary["best"]["all"]
    return Section(
        "Which reading fits the print",
        [
            "Our numbers are averaged here as the print averages its own: mean ± sd over stages "
            "of the running average (E19).",
            _grid(summary),
            _closest(summary),
            f"Closest to the rewards in print, over all four policies: {best}.",
        ],
    )


def _grid(summary: Summary) -> Grid:
    rows = [Row(["in print", *(spread(PRINTED[n]["reward"]) for n in PRINTED), "", ""], True)]
    for row in summary["rows"]:
        cells = [spread(row["along_time"][name]["reward"]) for name in PRINTED]
        distance = row["distance"]["all"]
        rows.append(
            Row(
                [
                    row["reading"],
                    *cells,
                    number(distance["reward"]),
                    number(distance["feasibility"], 3),
                ]
            )
        )
    return Grid(
        title=f"Readings of the print: {Size.of(summary)}",
        header=["reading", *PRINTED, "distance", "of feasibility"],
        rows=rows,
        caption="Distance: root mean square over the four policies and both columns of table 1.",
    )


def _closest(summary: Summary) -> Grid:
    readings = {row["reading"]: row for row in summary["rows"]}

    def rows() -> Iterator[Row]:
        for name, columns in PRINTED.items():
            reading = summary["best"][name]
            cells = readings[reading]["along_time"][name]
            yield Row([name, reading, *(spread(cells[column]) for column in COLUMNS)])
            yield Row(["", "in print", *(spread(columns[column]) for column in COLUMNS)], True)

    return Grid(
        title=f"The closest reading for each policy: {Size.of(summary)}",
        header=["policy", "reading", "reward", "last half", "feasible", "last half"],
        rows=list(rows()),
    )


STUDY = Study("readings", size, tasks, summarise, show)
