"""Fit of the likely readings of the print to its table 1, at full size."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from bocopt_studies.paper.distance import STATISTICS, fit
from bocopt_studies.paper.sensitivity import CHOICES, DEFAULT, FIT_CAPTION, FIT_HEADER, fit_cells
from bocopt_studies.paper.settings import PRINTED, Settings, tasks_of
from bocopt_studies.report.blocks import Grid, Row, Section
from bocopt_studies.report.tables import format_mean_sd, number
from bocopt_studies.study import Size, Summary
from bocopt_studies.summaries import COLUMNS, shown
from bocopt_studies.work.task import Play, Record

READINGS = (
    DEFAULT,
    "lambda 2e-4",
    "lambda 5e-4",
    "z from 1",
    "step decay every 5 stages",
    "learning rate 0.3",
)
_NAMES = {"along_time": "along time", "over_trials": "over trials"}


def tasks(size: Size) -> dict[str, Play]:
    """Return the tasks of the paper's policies under each reading, by `reading/policy`."""
    return {
        f"{reading}/{name}": task
        for reading in READINGS
        for name, task in tasks_of(
            replace(Settings(), **CHOICES[reading].settings), size, PRINTED
        ).items()
    }


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return the fit of each reading to the print, and which ones come closest."""
    fits = {
        reading: fit({name: shown(records[f"{reading}/{name}"]) for name in PRINTED})
        for reading in READINGS
    }
    return {
        **size._asdict(),
        "closest": {
            statistic: {
                "all": min(READINGS, key=lambda r: float(fits[r][statistic]["distance"]["reward"])),
                **{
                    name: min(READINGS, key=lambda r: float(fits[r][statistic]["distances"][name]))
                    for name in PRINTED
                },
            }
            for statistic in STATISTICS
        },
        "readings": fits,
    }


def show(summary: Summary) -> Section:
    """Return the section: distances of the readings, and the cells of the closest."""
    along, over = (summary["closest"][statistic]["all"] for statistic in STATISTICS)
    spreads = (number(_least_spread(summary, statistic)) for statistic in STATISTICS)
    return Section(
        "Which reading fits the print",
        [
            "Table 1 of the print can be read as averages along time or over trials (E19). Under "
            "the reading that comes nearest, the ± of our rewards are {} from those in print "
            "along time, and {} over trials.".format(*spreads),
            _distances(summary),
            f"Closest to the rewards in print along time: {along}; over trials: {over}.",
            *(_cells(summary, statistic) for statistic in STATISTICS),
        ],
    )


def _least_spread(summary: Summary, statistic: str) -> float | None:
    found = [fits[statistic]["distance"]["spread"] for fits in summary["readings"].values()]
    return min((distance for distance in found if distance is not None), default=None)


def _distances(summary: Summary) -> Grid:
    return Grid(
        title=f"Distance of readings from table 1 of the print: {Size.of(summary)}",
        header=FIT_HEADER,
        rows=[Row([reading, *fit_cells(found)]) for reading, found in summary["readings"].items()],
        caption=FIT_CAPTION,
    )


def _cells(summary: Summary, statistic: str) -> Grid:
    """The default and the closest reading of each policy beside the print."""

    def rows() -> Iterator[Row]:
        """Yield rows of each policy: the default reading, the closest, and the print."""
        for name, printed in PRINTED.items():
            for reading in dict.fromkeys((DEFAULT, summary["closest"][statistic][name])):
                cells = summary["readings"][reading][statistic]["cells"][name]
                yield Row([name, reading, *(format_mean_sd(cells[column]) for column in COLUMNS)])
            yield Row(
                [name, "in print", *(format_mean_sd(printed[column]) for column in COLUMNS)], True
            )

    return Grid(
        title=f"Default and closest reading of each policy, {_NAMES[statistic]}",
        header=["policy", "reading", "reward", "last half", "feasible", "last half"],
        rows=list(rows()),
    )
