"""The exact posterior: which scale of the prior and which temperature."""

from collections.abc import Iterable, Mapping
from itertools import product

from bocopt.experiments.beliefs import RULES
from bocopt.experiments.posterior import calibrated, full_history, rules
from bocopt.experiments.study import Size, Summary
from bocopt.experiments.summaries import Cell, cell
from bocopt.experiments.tasks import Record, Task
from bocopt.report import tables
from bocopt.report.blocks import Grid, Row, Section
from bocopt.trace import spread

STRETCHES, LAMS = (1.0, 1.5, 2.0, 3.0), (1e-4, 1e-3, 1e-2)


def tasks(size: Size) -> dict[str, Task]:
    return {
        f"{stretch:g}/{lam:g}": rules(full_history(calibrated(stretch), lam), size)
        for stretch, lam in product(STRETCHES, LAMS)
    }


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    rows: list[Summary] = [
        {"stretch": stretch, "lam": lam, **_rule_cells(records[f"{stretch:g}/{lam:g}"])}
        for stretch, lam in product(STRETCHES, LAMS)
    ]

    def best(rules: Iterable[str]) -> list[float]:
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
            what: cell(spread(record[f"{rule}/{what}"].mean(axis=-1)))
            for what in ("reward", "feasible")
        }
        for rule in RULES
    }


def show(summary: Summary) -> Section:
    grid = Grid(
        title=f"Reward by prior scale and temperature: {Size.of(summary)}",
        header=["scale, lambda", *RULES],
        rows=[
            Row(
                [
                    f"{row['stretch']:g} sd of xi, {row['lam']:g}",
                    *(tables.spread(row[rule]["reward"]) for rule in RULES),
                ]
            )
            for row in summary["rows"]
        ],
        caption="Full-history moves, 200 particles. The best under the aggregated rule is used "
        "from here on: scale and temperature were chosen on these seeds alone.",
    )
    return Section("The posterior: choosing scale and temperature", [grid])
