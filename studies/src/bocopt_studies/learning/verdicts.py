"""Tables of the studies that compare learners with rivals, world by world."""

from collections.abc import Mapping, Sequence
from typing import Any

from bocopt_studies.learning.judged import SETTLED
from bocopt_studies.learning.table import BEST
from bocopt_studies.report import tables
from bocopt_studies.report.blocks import Grid, Row
from bocopt_studies.study import Size, Summary


def overview(summary: Summary) -> Grid:
    """One row a world, one column a policy."""
    places = summary["worlds"]
    names = list(dict.fromkeys(name for found in places.values() for name in found["rows"]))
    return Grid(
        title=f"Per cent worse than the best of all learners: {Size.of(summary)}",
        header=["world", *names],
        rows=[
            Row([place, *(_percent(found["rows"].get(name)) for name in names)])
            for place, found in places.items()
        ],
        caption="By what all stages cost, the first included. Who knows the law is better than the "
        "best learner: below 0.",
    )


def _percent(row: Mapping[str, Any] | None) -> str:
    return "" if row is None else tables.number(row["behind"]["mean"], 1)


def of_world(summary: Summary, place: str, how: str) -> Grid:
    """All policies on one world; `how` says where the intervals come from."""
    found = summary["worlds"][place]
    known = BEST in found["rows"]
    target = "" if found["alpha"] is None else f" The target of feasibility is {found['alpha']:g}."
    return Grid(
        title=f"{place[0].upper()}{place[1:]}: {Size.of(summary)}",
        header=[
            "policy",
            found["measure"],
            "% worse than the best",
            *(["% worse than the optimum"] if known else []),
            "feasible",
        ],
        rows=[
            Row(
                [
                    name,
                    tables.format_mean_sd(row["mean"]),
                    tables.interval(row["behind"]),
                    *([tables.interval(row["from_optimum"])] if known else []),
                    tables.number(row["feasible"], 3),
                ],
                muted=name == BEST,
            )
            for name, row in found["rows"].items()
        ],
        caption=f"The best learner is {found['best']}. {how}{target}",
    )


def coverages(summary: Summary, intervals: Sequence[str] = ("50", "90")) -> Grid:
    """Return the coverage of the ensemble's mixture, one row a world."""
    return Grid(
        title=f"Calibration of the ensemble's mixture: {Size.of(summary)}",
        header=["world", *(f"{p}%" for p in intervals)],
        rows=[
            Row([place, *(tables.number(found["coverage"][p], 3) for p in intervals)])
            for place, found in summary["worlds"].items()
        ],
        caption=f"Share of outcomes after stage {SETTLED}, component by component, inside the "
        "central 50% and 90% intervals that were predicted for them.",
    )
