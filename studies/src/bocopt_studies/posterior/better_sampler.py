"""Effect of a sampler nearer to the exact posterior on what the repairs bring."""

from collections.abc import Mapping
from dataclasses import replace

from bocopt.beliefs import FittedCrankNicolson
from bocopt.trace import mean_sd
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
from bocopt_studies.summaries import cell, paired
from bocopt_studies.work.task import Record, Task

SETTINGS = {"calibrated prior": CHOSEN, "wide prior, high lambda": CHOSEN_FOR_ONE}
QUICK, LONG = "waste-free pCN, chains of 5", "fitted pCN, 10 sweeps"


def tasks(size: Size) -> dict[str, Task]:
    """Return the tasks of both beliefs under both samplers, by `belief/sampler`."""
    found: dict[str, Task] = {}
    for name, (stretch, lam) in SETTINGS.items():
        quick = full_history(calibrated(stretch), lam)
        long = replace(quick, chain_length=None, kernel=FittedCrankNicolson(), sweeps=10)
        found |= {f"{name}/{QUICK}": rules(quick, size), f"{name}/{LONG}": rules(long, size)}
    return found


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return rewards of both samplers and their difference, by belief and decision rule."""

    def row(name: str, rule: str) -> Summary:
        """Return the rewards of both samplers under one belief and rule, and the difference."""
        quick, long = (
            records[f"{name}/{sampler}"][f"{rule}/reward"].mean(axis=-1)
            for sampler in (QUICK, LONG)
        )
        return {
            "name": name,
            "rule": rule,
            "quick": cell(mean_sd(quick)),
            "long": cell(mean_sd(long)),
            "long_minus_quick": cell(paired(long, quick)),
        }

    return {**size._asdict(), "rows": [row(name, rule) for name in SETTINGS for rule in RULES]}


def show(summary: Summary) -> Section:
    """Return the section: the table of both samplers."""
    grid = Grid(
        title=f"Two samplers: {Size.of(summary)}",
        header=["belief", "rule", QUICK, LONG, "difference"],
        rows=[
            Row(
                [
                    row["name"],
                    row["rule"],
                    tables.format_mean_sd(row["quick"]),
                    tables.format_mean_sd(row["long"]),
                    tables.interval(row["long_minus_quick"]),
                ]
            )
            for row in summary["rows"]
        ],
        caption="Reward, mean ± sd over trials, 200 particles each; paired differences with 95% "
        "intervals. The repairs were measured with the first sampler; how far both are from a "
        "known posterior is what `posterior-accuracy` shows.",
    )
    return Section("The posterior: does another sampler change it?", [grid])
