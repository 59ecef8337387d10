"""The exact posterior: which scale of the prior and which learning rate."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from bocopt.trace import mean_sd
from bocopt_studies.catalogue import STUDIES
from bocopt_studies.posterior.samplers import (
    CHOSEN,
    CHOSEN_FOR_ONE,
    calibrated,
    full_history,
    rules,
)
from bocopt_studies.posterior.tasks import RULES
from bocopt_studies.report import tables
from bocopt_studies.report.blocks import Grid, Row, Section
from bocopt_studies.study import Size, Summary
from bocopt_studies.summaries import Cell, cell
from bocopt_studies.work.task import Record, Task

STRETCHES, LAMS = (1.0, 1.5, 2.0, 3.0), (1e-4, 1e-3, 1e-2)


def tasks(size: Size) -> dict[str, Task]:
    """Return the tasks of all scales and learning rates, by `stretch/lam`."""
    return {
        f"{stretch:g}/{lam:g}": rules(full_history(calibrated(stretch), lam), size)
        for stretch, lam in product(STRETCHES, LAMS)
    }


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return rewards and feasibility of all scales and learning rates, and the best."""
    rows: list[Summary] = [
        {"stretch": stretch, "lam": lam, **_rule_cells(records[f"{stretch:g}/{lam:g}"])}
        for stretch, lam in product(STRETCHES, LAMS)
    ]

    def best(rules: Iterable[str]) -> list[float]:
        """Return the stretch and lam of the largest reward under any of these rules."""
        row = max(rows, key=lambda row: max(row[rule]["reward"]["mean"] for rule in rules))
        return [row["stretch"], row["lam"]]

    others = [rule for rule in RULES if rule != "aggregated"]
    return {
        **size._asdict(),
        "rows": rows,
        "best": best(["aggregated"]),
        "best_for_one": best(others),
    }


def _rule_cells(record: Record) -> dict[str, dict[str, Cell]]:
    return {
        rule: {
            what: cell(mean_sd(record[f"{rule}/{what}"].mean(axis=-1)))
            for what in ("reward", "feasible")
        }
        for rule in RULES
    }


def _named(setting: Sequence[float]) -> str:
    stretch, lam = setting
    return f"{stretch:g} sd of xi, {lam:g}"


def show(summary: Summary) -> Section:
    """Return the section: the table of rewards."""
    grid = Grid(
        title=f"Reward by prior scale and learning rate: {Size.of(summary)}",
        header=["scale, lambda", *RULES],
        rows=[
            Row(
                [
                    _named((row["stretch"], row["lam"])),
                    *(tables.format_mean_sd(row[rule]["reward"]) for rule in RULES),
                ]
            )
            for row in summary["rows"]
        ],
        caption="Full-history moves, 200 particles. Best here under the aggregated rule: "
        f"{_named(summary['best'])}; under any other: {_named(summary['best_for_one'])}. The "
        f"studies of the posterior use {_named(CHOSEN)} and {_named(CHOSEN_FOR_ONE)}, chosen at "
        f"full size: {STUDIES['posterior-tuning'].full}.",
    )
    return Section("The posterior: choosing scale and learning rate", [grid])
