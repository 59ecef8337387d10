"""Effects of errata choices and settings on the paper's policies, and their fit to the print.

Changes are over the first half of the stages (500 of 1000), the fit is over all of them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from bocopt.trace import ONE_SERIES, averages
from bocopt_studies.paper.distance import fit
from bocopt_studies.paper.settings import PRINTED, Settings, tasks_of
from bocopt_studies.report.blocks import Grid, Row, Section
from bocopt_studies.report.tables import change, number
from bocopt_studies.study import Size, Summary
from bocopt_studies.summaries import Paired, cell, clairvoyant, differences, over_trials, shown
from bocopt_studies.work.task import Play, Record

DEFAULT, _HOT = "as by default", "lambda 1e-2"


class Choice(NamedTuple):
    """Settings that differ from the defaults, and the choice that they are compared with."""

    settings: Mapping[str, Any]
    errata: tuple[str, ...] = ()
    against: str = DEFAULT
    paired: bool = True  # False where the streams differ as well: there is no interval then


CHOICES = {
    DEFAULT: Choice({}),
    "offset 2, as printed": Choice({"offset": 2.0}, ("E1",)),
    "z from 1": Choice({"lower": 1}, ("E2",)),
    "box 10": Choice({"upper": 10}, ("E3",)),
    "box 100": Choice({"upper": 100}, ("E3",)),
    "without V <= c'z, as printed": Choice({"capped": False}, ("E4",)),
    "corrected move": Choice({"move": "corrected"}, ("E6", "E7")),
    "corrected move at lambda 1e-2": Choice(
        {"move": "corrected", "lam": 1e-2}, ("E6", "E7"), against=_HOT
    ),
    "200 particles": Choice({"particles": 200}, ("E8",)),
    "prior and start scale 0.15": Choice({"prior_sd": 0.15}, ("E10",)),
    "step decay every stage": Choice({"decay_every": 1}, ("E17",)),
    "step decay every 5 stages": Choice({"decay_every": 5}, ("E17",)),
    "step decay every 10 stages": Choice({"decay_every": 10}, ("E17",)),
    "DFL weights clipped at 0.1": Choice({"floor": 0.1}, ("E18",)),
    "one stream for all trials": Choice({"one_stream": True}, ("E19",), paired=False),
    **{f"alpha {a}": Choice({"alpha": a}, ("E20",)) for a in (0.3, 0.5, 0.7, 0.95)},
    "lambda 2e-4": Choice({"lam": 2e-4}),
    "lambda 5e-4": Choice({"lam": 5e-4}),
    "lambda 1e-3": Choice({"lam": 1e-3}, ("E9", "E21")),
    _HOT: Choice({"lam": 1e-2}, ("E9", "E21")),
    "learning rate 0.3": Choice({"rate": 0.3}),
    "DFL with 40 perturbations": Choice({"perturbations": 40}),
    "no run-in": Choice({"run_in": 0}, paired=False),
}


def tasks(size: Size) -> dict[str, Play]:
    """Return the tasks of the paper's policies under each choice, by `choice/policy`."""
    return {
        f"{label}/{name}": task
        for label, choice in CHOICES.items()
        for name, task in tasks_of(replace(Settings(), **choice.settings), size, PRINTED).items()
    }


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return means, changes and the fit to the print, for each choice."""
    half = max(1, size.horizon // 2)

    def first_half(label: str, name: str) -> Record:
        """Return a policy's record under a choice, over the first half of the stages."""
        return {what: a[:, :half] for what, a in records[f"{label}/{name}"].items()}

    def cells(label: str, choice: Choice) -> Iterator[tuple[str, Summary]]:
        """Yield means and changes of each policy under a choice, then hindsight's means."""
        for name in PRINTED:
            found = shown(first_half(label, name))
            ours, theirs = averages(found), averages(shown(first_half(choice.against, name)))
            changes = {w: d for w, d in differences(ours, theirs).items() if w in found}
            if not choice.paired:
                changes = {
                    k: Paired(c.mean, float("nan"), float("nan")) for k, c in changes.items()
                }
            yield (
                name,
                {
                    **over_trials(found),
                    "change": {what: cell(difference) for what, difference in changes.items()},
                },
            )
        yield "Hindsight", over_trials(clairvoyant(first_half(label, "PtO")))

    return {
        **size._asdict(),
        "first_half": half,
        "rows": [
            {
                "choice": label,
                "errata": list(choice.errata),
                "settings": dict(choice.settings),
                **dict(cells(label, choice)),
                "fit": fit({name: shown(records[f"{label}/{name}"]) for name in PRINTED}),
            }
            for label, choice in CHOICES.items()
        ],
    }


def show(summary: Summary) -> Section:
    """Return the section: changes of reward and of feasibility, and the fits."""
    return Section(
        "Sensitivity",
        [
            "Each row changes one choice and keeps the others at their defaults: what moves a "
            "number and by how much, and what that does to the distance from the print.",
            _changes(summary, "reward", 2),
            _changes(summary, "feasibility", 3),
            _fits(summary),
        ],
    )


def label_of(row: Summary) -> str:
    """Return the name of a row's choice, with its errata in brackets."""
    return f"{row['choice']} ({', '.join(row['errata'])})" if row["errata"] else str(row["choice"])


def _changes(summary: Summary, what: str, digits: int) -> Grid:
    def cells(row: Summary) -> Iterator[str]:
        """Yield the mean and the change of each policy, then hindsight's mean."""
        for name in PRINTED:
            text = number(row[name][what]["mean"], digits)
            moved = change(row[name]["change"][what], digits)
            yield f"{text} ({moved})" if row["settings"] else text
        yield number(row["Hindsight"][what]["mean"], digits)

    size = Size.of(summary)._replace(horizon=summary["first_half"])
    return Grid(
        title=f"Sensitivity of the {what}: {size}",
        header=["choice", *PRINTED, "Hindsight"],
        rows=[Row([label_of(row), *cells(row)]) for row in summary["rows"]],
        caption="Mean over trials; in brackets the paired change from the default (of the "
        "corrected move at lambda 1e-2: from the printed move there) with the half width of its "
        "95% interval, where the streams are the same; = marks no change in any trial."
        + _on_one_series(summary),
    )


def _fits(summary: Summary) -> Grid:
    return Grid(
        title=f"Distance from table 1 of the print: {Size.of(summary)}",
        header=FIT_HEADER,
        rows=[Row([label_of(row), *fit_cells(row["fit"])]) for row in summary["rows"]],
        caption=FIT_CAPTION + _on_one_series(summary),
    )


def _on_one_series(summary: Summary) -> str:
    """Return a sentence on what "over trials" means where all trials have the same stream."""
    rows = [row for row in summary["rows"] if row["settings"].get("one_stream")]
    return "".join(f" Row {row['choice']!r}: over {ONE_SERIES}." for row in rows)


FIT_HEADER = (
    "reading",
    "reward",
    "feasible",
    "± of reward",
    "reward²",
    "feasible²",
    "± of reward²",
)
FIT_CAPTION = (
    "Root mean square distance of the four policies' means, over all stages and the last half, and "
    "of the ± of their rewards. Averaged along time; ² over trials (E19)."
)


def fit_cells(fits: Summary) -> list[str]:
    """Return the cells of a fit's distances: along time, then over trials."""
    return [
        number(fits[statistic]["distance"][measure], digits)
        for statistic in ("along_time", "over_trials")
        for measure, digits in (("reward", 2), ("feasibility", 3), ("spread", 2))
    ]
