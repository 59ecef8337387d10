"""Supplementary figures 1 and 2: how the paper chose the learning rates of PtO and DFL."""

from collections.abc import Mapping
from typing import NamedTuple

from bocopt.app.text import count
from bocopt.trace import mean_sd
from bocopt_studies.paper.settings import Settings, tasks_of
from bocopt_studies.report import tables
from bocopt_studies.report.blocks import Chart, Curve, Grid, Row, Section
from bocopt_studies.study import Size, Summary
from bocopt_studies.summaries import cell, curve, paired, running, stages_shown
from bocopt_studies.work.task import Play, Record


class Tuning(NamedTuple):
    """One figure: a policy, its candidate rates, and what they are judged by."""

    name: str
    policy: str
    rates: tuple[float, ...]
    judged_by: str  # a name in the record
    label: str
    smallest: bool


CHOSEN_IN_PRINT = 0.1
DECAYS = (Settings().decay_every, 10, 5, 1)  # E17


def tasks(tuning: Tuning, size: Size) -> dict[str, Play]:
    """Return the tasks of one policy, by `decay/rate`."""
    return {
        f"{decay}/{rate}": tasks_of(Settings(rate=rate, decay_every=decay), size, [tuning.policy])[
            tuning.policy
        ]
        for decay in DECAYS
        for rate in tuning.rates
    }


def summarise(tuning: Tuning, size: Size, records: Mapping[str, Record]) -> Summary:
    """Return the best rate at each decay, and the curve of each rate at the default decay."""
    series = {name: record[tuning.judged_by] for name, record in records.items()}

    def by_decay(decay: int) -> Summary:
        """Return the means of all rates at one decay, the best two, and their difference."""
        per_trial = {rate: series[f"{decay}/{rate}"].mean(axis=-1) for rate in tuning.rates}
        sign = 1 if tuning.smallest else -1
        best, second = sorted(per_trial, key=lambda rate: sign * float(per_trial[rate].mean()))[:2]
        return {
            "best": best,
            "second": second,
            "margin": cell(paired(per_trial[second], per_trial[best])),
            "rates": {str(rate): cell(mean_sd(values)) for rate, values in per_trial.items()},
        }

    return {
        **size._asdict(),
        "policy": tuning.policy,
        "measure": tuning.label,
        "decays": {str(decay): by_decay(decay) for decay in DECAYS},
        "stages": stages_shown(size.horizon),
        "curves": {
            str(rate): curve(running(series[f"{DECAYS[0]}/{rate}"])) for rate in tuning.rates
        },
    }


def show(tuning: Tuning, summary: Summary) -> Section:
    """Return the section: the curves by rate, and the table by rate and decay."""
    title = f"Supplementary figure {tuning.name[-1]}"
    measure, policy, size = summary["measure"], summary["policy"], Size.of(summary)
    chart = Chart(
        name=tuning.name,
        title=f"{title}: {measure} of {policy} by learning rate",
        y_label=f"time-averaged {measure}",
        curves=[Curve(rate, summary["stages"], means) for rate, means in summary["curves"].items()],
        caption=f"Mean over {count(size.trials, 'trial')} of the average over all stages so far; "
        f"step decay every {DECAYS[0]} stages.",
    )
    by_decay: list[Summary] = list(summary["decays"].values())
    grid = Grid(
        title=f"{policy} by learning rate and step decay: {size}",
        header=[f"rate, {measure}", *(f"every {decay}" for decay in summary["decays"])],
        rows=[
            *(
                Row([rate, *(tables.format_mean_sd(found["rates"][rate], 3) for found in by_decay)])
                for rate in summary["curves"]
            ),
            Row(["best", *(str(found["best"]) for found in by_decay)]),
            Row(
                [
                    "runner-up",
                    *(f"{f['second']}: {tables.interval(f['margin'], 3)}" for f in by_decay),
                ]
            ),
        ],
        caption=f"Mean ± sd over trials by how often the rate decays (E17). Runner-up: its paired "
        f"distance from the best. The print chose {CHOSEN_IN_PRINT}.",
    )
    return Section(title, [chart, grid])
