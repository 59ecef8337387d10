"""What each errata choice and each setting does to the paper's policies, one at a time."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any, NamedTuple

from bocopt.experiments.paper import PRINTED, Settings, tasks_of
from bocopt.experiments.study import Size, Study, Summary
from bocopt.experiments.summaries import cell, clairvoyant, over_trials, paired, shown
from bocopt.experiments.tasks import Record, Task
from bocopt.report.blocks import Grid, Row, Section
from bocopt.report.tables import change, number
from bocopt.trace import averages

DEFAULT = "as by default"


class Choice(NamedTuple):
    """One setting changed, the erratum it belongs to, and the choice it is compared with."""

    erratum: str
    label: str
    settings: Settings
    against: str


def _choice(erratum: str, label: str, against: str = DEFAULT, **changes: Any) -> Choice:
    return Choice(erratum, label, replace(Settings(), **changes), against)


_HOT = "lambda 1e-2"
CHOICES = (
    _choice("", DEFAULT),
    _choice("E1", "offset 2, as printed", offset=2.0),
    _choice("E2", "z from 1", lower=1),
    _choice("E3", "box 10", upper=10),
    _choice("E3", "box 100", upper=100),
    _choice("E4", "without V <= c'z, as printed", capped=False),
    _choice("E6, E7", "corrected move", move="corrected"),
    _choice("E6, E7", "corrected move at lambda 1e-2", _HOT, move="corrected", lam=1e-2),
    _choice("E10", "prior scale 0.15", prior_sd=0.15),
    _choice("E17", "step decay every stage", decay_every=1),
    _choice("E17", "step decay every 10 stages", decay_every=10),
    _choice("E18", "DFL weights clipped at 0.1", floor=0.1),
    _choice("E19", "one stream for all trials", one_stream=True),
    *(_choice("E20", f"alpha {alpha}", alpha=alpha) for alpha in (0.3, 0.5, 0.7, 0.95)),
    _choice("E8", "200 particles", particles=200),
    _choice("E9, E21", "lambda 1e-3", lam=1e-3),
    _choice("E9, E21", _HOT, lam=1e-2),
    _choice("", "no run-in", run_in=0),
)


def tasks(size: Size) -> dict[str, Task]:
    return {
        f"{choice.label}/{name}": task
        for choice in CHOICES
        for name, task in tasks_of(choice.settings, size, PRINTED).items()
    }


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    def cells(choice: Choice) -> Iterator[tuple[str, dict[str, Any]]]:
        for name in PRINTED:
            found = shown(records[f"{choice.label}/{name}"])
            per_trial = averages(found)
            before = averages(shown(records[f"{choice.against}/{name}"]))
            yield (
                name,
                {
                    **over_trials(found),
                    "change": {
                        what: cell(paired(per_trial[what], before[what]))
                        for what in ("reward", "feasibility")
                    },
                },
            )
        yield "Hindsight", over_trials(clairvoyant(records[f"{choice.label}/PtO"]))

    changed = [
        {k: v for k, v in asdict(c.settings).items() if v != getattr(Settings(), k)}
        for c in CHOICES
    ]
    return {
        **size._asdict(),
        "rows": [
            {"erratum": c.erratum, "choice": c.label, "settings": changes, **dict(cells(c))}
            for c, changes in zip(CHOICES, changed, strict=True)
        ],
    }


def show(summary: Summary) -> Section:
    return Section(
        "Sensitivity",
        [
            "Each row changes one choice and keeps the others at their defaults: what moves a "
            "number, and by how much.",
            _grid(summary, "reward", 2),
            _grid(summary, "feasibility", 3),
        ],
    )


def _grid(summary: Summary, what: str, digits: int) -> Grid:
    def label(row: Summary) -> str:
        return f"{row['choice']} ({row['erratum']})" if row["erratum"] else str(row["choice"])

    def cells(row: Summary) -> Iterator[str]:
        for name in PRINTED:
            text = number(row[name][what]["mean"], digits)
            moved = change(row[name]["change"][what], digits)
            yield f"{text} ({moved})" if row["settings"] else text
        yield number(row["Hindsight"][what]["mean"], digits)

    size = Size.of(summary)
    return Grid(
        title=f"Sensitivity of the {what}: {size}",
        header=["choice", *PRINTED, "Hindsight"],
        rows=[Row([label(row), *cells(row)]) for row in summary["rows"]],
        caption="Mean over trials; in brackets the paired change from the default (of the "
        "corrected move at lambda 1e-2: from the printed move there) with the half width of its "
        "95% interval; = marks no change in any trial.",
    )


STUDY = Study("sensitivity", Size.tuning, tasks, summarise, show)
