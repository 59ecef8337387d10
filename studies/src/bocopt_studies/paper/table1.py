"""Table 1 of the paper, side by side with the print, and with honest baselines."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict

from bocopt.trace import averages, mean_sd
from bocopt_studies.paper.settings import PRINTED, Settings, tasks_of
from bocopt_studies.report import tables
from bocopt_studies.report.blocks import Grid, Row, Section
from bocopt_studies.study import Size, Summary
from bocopt_studies.summaries import (
    COLUMNS,
    Cell,
    along_time,
    cell,
    clairvoyant,
    differences,
    over_trials,
    shown,
)
from bocopt_studies.work.task import Play, Record

ROWS = ("BMA", "DFL", "BGS", "PtO", "Constant", "SAA", "Prior", "Conditional", "Hindsight")
_LONGEST_FIRST = ("Conditional", "SAA", "BMA", "BGS", "DFL", "Prior", "PtO", "Constant")
_COMPARED = ("BMA", "SAA")
_HEADER = ("reward", "last half", "feasible", "last half")


def tasks(size: Size) -> dict[str, Play]:
    """Return the tasks of the paper's policies and of the baselines, by name, longest first."""
    return tasks_of(Settings(), size, _LONGEST_FIRST)


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return averages over trials and along time by policy, and differences from two."""
    series = {name: shown(record) for name, record in records.items()}
    series["Hindsight"] = clairvoyant(records["Constant"])
    per_trial = {name: averages(values) for name, values in series.items()}

    def minus(name: str, other: str) -> dict[str, Cell]:
        """Return the paired differences of two policies, by column."""
        found = differences(per_trial[name], per_trial[other])
        return {column: cell(found[column]) for column in COLUMNS}

    return {
        **size._asdict(),
        "settings": asdict(Settings()),
        "moves": cell(mean_sd(records["BMA"]["rejuvenated"].sum(axis=-1))),
        "rows": [
            {
                "policy": name,
                **over_trials(series[name]),
                "along_time": along_time(series[name]),
                **{f"minus_{other}": minus(name, other) for other in _COMPARED},
            }
            for name in ROWS
        ],
    }


def show(summary: Summary) -> Section:
    """Return the section: table 1 beside the print, extended, and the differences."""
    return Section(
        "Table 1",
        [
            _beside_print(summary),
            _extended(summary),
            *(_pairs(summary, other) for other in _COMPARED),
        ],
    )


def _beside_print(summary: Summary) -> Grid:
    def rows() -> Iterator[Row]:
        """Yield rows of each printed policy: over trials, along time, and the print."""
        for row in summary["rows"]:
            name = row["policy"]
            if name in PRINTED:
                yield Row([name, *_cells(row)])
                yield Row(["along time", *_cells(row["along_time"])], muted=True)
                yield Row(["in print", *_cells(PRINTED[name])], muted=True)

    return Grid(
        title=f"Table 1: {Size.of(summary)}",
        header=["policy", *_HEADER],
        rows=list(rows()),
        caption="Mean ± sd over independent trials. Along time: mean ± sd over stages of the "
        "running average, itself averaged over trials (E19).",
    )


def _extended(summary: Summary) -> Grid:
    return Grid(
        title=f"Table 1, extended: {Size.of(summary)}",
        header=["policy", *_HEADER],
        rows=[Row([_label(row["policy"]), *_cells(row)]) for row in summary["rows"]],
        caption="Mean ± sd over independent trials. "
        f"¹ Always ({', '.join(map(str, summary['settings']['constant']))}), tuned in hindsight. "
        "SAA: running sample average, no context. Prior: BMA that never learns. "
        "Conditional: knows the law of xi given x. Hindsight: knows xi. "
        f"BMA's particles were moved {tables.format_mean_sd(summary['moves'])} times a trial.",
    )


def _pairs(summary: Summary, other: str) -> Grid:
    return Grid(
        title=f"Differences from {other}",
        header=["policy", *_HEADER],
        rows=[
            Row(
                [
                    _label(row["policy"]),
                    *(
                        tables.interval(row[f"minus_{other}"][column], digits)
                        for column, digits in zip(COLUMNS, (2, 2, 3, 3), strict=True)
                    ),
                ]
            )
            for row in summary["rows"]
            if row["policy"] != other
        ],
        caption="Paired over the same streams: mean and 95% interval (Student's t).",
    )


def _label(policy: str) -> str:
    return "Constant¹" if policy == "Constant" else policy


def _cells(cells: Mapping[str, Cell]) -> list[str]:
    return [tables.format_mean_sd(cells[column]) for column in COLUMNS]
