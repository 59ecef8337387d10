"""Learning on four streams: against the best member, and how calibrated the predictions are."""

from collections.abc import Mapping

import numpy as np

from bocopt import Mixture
from bocopt.app.text import count
from bocopt.core import Array
from bocopt_studies.learning.table import (
    AVERAGE,
    BEST,
    COLUMNS,
    ENSEMBLE,
    averages,
    ensembles,
    learn,
    members,
    row,
    simple,
)
from bocopt_studies.learning.worlds import worlds
from bocopt_studies.report import tables
from bocopt_studies.report.blocks import Chart, Curve, Grid, Row, Section
from bocopt_studies.study import Size, Summary
from bocopt_studies.summaries import curve, stages_shown
from bocopt_studies.work.task import Record, Task

_CHANGE = "change of regime"
_BINS = 20
#: Stages (first, last) whose predictions are judged together.
_PHASES = {"first 10": (1, 10), "10 to 100": (10, 100), "later": (100, None)}
_SHOWN_WEIGHT = 0.03  # members with less, on average, share one curve


def tasks(size: Size) -> dict[str, Task]:
    """Return the tasks of ensembles, members and simple methods, by `stream/policy`."""
    return {
        f"{place}/{name}": task
        for place, world in worlds(size.horizon).items()
        for name, task in learn(
            world, {**ensembles(world), **members(world), **simple(world)}, size
        ).items()
    }


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return rewards by policy, calibration and weights of the members, for each stream."""
    found = {}
    for place, world in worlds(size.horizon).items():
        here = {
            name.removeprefix(f"{place}/"): record
            for name, record in records.items()
            if name.startswith(f"{place}/")
        }
        alone = members(world)
        best = max(alone, key=lambda name: float(here[name]["reward"].mean()))
        compared = {AVERAGE: here[AVERAGE], "best member": here[best]}
        if BEST in here:
            compared[BEST] = here[BEST]
        ensemble = here[ENSEMBLE]
        found[place] = {
            "rows": {name: row(record, compared) for name, record in here.items()},
            "best_member": best,
            "share_of_best": float(averages(ensemble)["all"].mean() / here[best]["reward"].mean()),
            "coverage": {
                phase: coverage(ensemble["probability"][:, slice(*stages)])
                for phase, stages in _PHASES.items()
            },
            "histogram": _histogram(ensemble["probability"][:, 1:]),
            "members": Mixture(dim_xi=world.problem.dims.xi).law_names,
            "weights": [curve(w) for w in np.moveaxis(ensemble["weights"], -1, 0)],
        }
    return {**size._asdict(), "worlds": found, "stages": stages_shown(size.horizon)}


def coverage(probability: Array) -> dict[str, float | None]:
    """The share of outcomes inside the 50% and 90% predictive intervals, and of what number."""
    if not probability.size:
        return {"50": None, "90": None}
    inside = {"50": 0.25, "90": 0.05}
    return {
        name: float(((probability > tail) & (probability < 1 - tail)).mean())
        for name, tail in inside.items()
    }


def _histogram(probability: Array) -> list[float]:
    """Density of the probability integral transform in equal bins: 1 if calibrated, 0 if none."""
    if not probability.size:
        return [0.0] * _BINS
    counts, _ = np.histogram(probability, bins=_BINS, range=(0.0, 1.0))
    return [float(f"{c:.4g}") for c in counts / counts.mean()]


def show(summary: Summary) -> Section:
    """Return the section: a table for each stream, the calibration, and the weights."""
    places = summary["worlds"]
    return Section(
        "Learning on four streams",
        [
            *(_table(summary, place) for place in places),
            _calibration(summary),
            _pit(summary),
            _weights(summary, _CHANGE),
        ],
    )


def _table(summary: Summary, place: str) -> Grid:
    found = summary["worlds"][place]

    def cells(row: Mapping[str, Mapping[str, float | None]]) -> list[str]:
        """Return the cells of a policy's average rewards and feasibility."""
        return [
            *(tables.format_mean_sd(row[column]) for column in COLUMNS),
            tables.number(row["feasible"]["mean"], 4),
        ]

    share = 100 * (found["share_of_best"] - 1)
    minus = found["rows"][ENSEMBLE]["minus"]
    against = ", ".join(
        f"{tables.interval(minus[other]['all'])} from the {other}"
        for other in minus
        if other != "best member"
    )
    return Grid(
        title=f"{place.capitalize()}: {Size.of(summary)}",
        header=["policy", "reward", "first 10", "first 100", "last half", "feasible"],
        rows=[Row([name, *cells(row)]) for name, row in found["rows"].items()],
        caption=f"The ensemble is {share:+.2f}% from its best member, {found['best_member']}; "
        f"{against} (paired, 95%).",
    )


def _calibration(summary: Summary) -> Grid:
    return Grid(
        title=f"Calibration of the ensemble's mixture: {Size.of(summary)}",
        header=["stream", *(f"{phase}: {p}%" for phase in _PHASES for p in ("50", "90"))],
        rows=[
            Row(
                [
                    place,
                    *(
                        tables.number(found["coverage"][phase][p], 3)
                        for phase in _PHASES
                        for p in ("50", "90")
                    ),
                ]
            )
            for place, found in summary["worlds"].items()
        ],
        caption="Share of outcomes, component by component, inside the central 50% and 90% "
        "intervals that were predicted for them.",
    )


def _pit(summary: Summary) -> Chart:
    middles = [(i + 0.5) / _BINS for i in range(_BINS)]
    return Chart(
        name="learning-calibration",
        title="How probable smaller outcomes were",
        y_label="density (1: calibrated)",
        curves=[
            Curve(place, middles, found["histogram"]) for place, found in summary["worlds"].items()
        ],
        caption="Probability integral transform of all outcomes but the first, all components and "
        "trials. A hump in the middle would mean that predictions are too wide.",
        x_label="predicted probability of a smaller outcome",
        steps=True,
    )


def _weights(summary: Summary, place: str) -> Chart:
    found = summary["worlds"][place]
    large = [i for i, w in enumerate(found["weights"]) if np.mean(w) > _SHOWN_WEIGHT]
    rest = [i for i in range(len(found["weights"])) if i not in large]
    curves = [Curve(found["members"][i], summary["stages"], found["weights"][i]) for i in large]
    if rest:
        total = [sum(found["weights"][i][t] for i in rest) for t in range(len(summary["stages"]))]
        curves.append(Curve("all others", summary["stages"], total))
    return Chart(
        name="learning-weights",
        title="Which members are believed",
        y_label="weight",
        curves=curves,
        caption=f"Mean over {count(summary['trials'], 'trial')}, in the world with a change of "
        "regime at half time.",
    )
