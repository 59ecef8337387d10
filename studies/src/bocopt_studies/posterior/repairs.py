"""The exact posterior: what repairing the paper's sampler brings, and what its rules make of it."""

from collections.abc import Mapping

from bocopt.core import Array
from bocopt.paper import BMA, Gaussian, GibbsPosterior, LiuWest
from bocopt.trace import mean_sd
from bocopt_studies.paper.settings import Settings, tasks_of
from bocopt_studies.posterior.samplers import (
    CHOSEN,
    CHOSEN_FOR_ONE,
    LOSS,
    PREDICTOR,
    PROBLEM,
    STREAM,
    calibrated,
    full_history,
    rules,
)
from bocopt_studies.posterior.tasks import RULES
from bocopt_studies.report import tables
from bocopt_studies.report.blocks import Grid, Row, Section
from bocopt_studies.study import Size, Summary
from bocopt_studies.summaries import cell, paired
from bocopt_studies.work.task import Play, Record, Task

_NOTHING = 1e-9  # a learning rate at which nothing is learned


def tasks(size: Size) -> dict[str, Task]:
    """Return the tasks of each repair and of the baselines, by name."""
    settings = Settings()
    paper = tasks_of(settings, size, ["SAA", "Conditional", "Prior"])
    normal = Gaussian.isotropic(PREDICTOR.dim)
    (stretch, lam), (wide, hot) = CHOSEN, CHOSEN_FOR_ONE
    frozen = BMA(PROBLEM, PREDICTOR, full_history(calibrated(stretch), _NOTHING))
    return {
        "as printed": rules(_printed(settings.particles, settings.lam), size),
        "200 particles": rules(_printed(200, settings.lam), size),
        "200 particles, full-history moves": rules(full_history(normal, settings.lam), size),
        "calibrated prior, nothing learned": Play(
            policy=frozen,
            problem=PROBLEM,
            stream=STREAM,
            seeds=size.seeds,
            horizon=size.horizon,
        ),
        "calibrated prior, full-history moves": rules(full_history(calibrated(stretch), lam), size),
        "wide prior, full-history moves, high lambda": rules(
            full_history(calibrated(wide), hot), size
        ),
        "prior N(0, I), nothing learned": paper["Prior"],
        "running sample average": paper["SAA"],
        "conditional optimum": paper["Conditional"],
    }


def _printed(particles: int, lam: float) -> GibbsPosterior:
    return GibbsPosterior(
        prior=Gaussian.isotropic(PREDICTOR.dim),
        loss=LOSS,
        lam=lam,
        size=particles,
        move=LiuWest(mode="printed"),
    )


def _rewards(record: Record) -> dict[str, tuple[Array, Array]]:
    """Reward and feasibility per trial, by decision rule; a policy has only its own."""
    names = {rule: f"{rule}/" for rule in RULES} if "aggregated/reward" in record else {"": ""}
    return {
        rule: tuple(record[f"{prefix}{what}"].mean(axis=-1) for what in ("reward", "feasible"))
        for rule, prefix in names.items()
    }


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return rewards, feasibility and paired differences, by repair and decision rule."""
    base, _ = _rewards(records["as printed"])["aggregated"]
    average, _ = _rewards(records["running sample average"])[""]
    return {
        **size._asdict(),
        "chosen": list(CHOSEN),
        "chosen_for_one": list(CHOSEN_FOR_ONE),
        "rows": [
            {
                "name": name,
                "rule": rule,
                "reward": cell(mean_sd(reward)),
                "feasible": cell(mean_sd(feasible)),
                "minus_printed": cell(paired(reward, base)),
                "minus_average": cell(paired(reward, average)),
            }
            for name, record in records.items()
            for rule, (reward, feasible) in _rewards(record).items()
        ],
    }


def show(summary: Summary) -> Section:
    """Return the section: the tables of repairs and of decision rules."""
    (stretch, lam), (wide, hot) = summary["chosen"], summary["chosen_for_one"]

    def grid(title: str, rows: list[Summary]) -> Grid:
        """Return the table of these rows."""
        return Grid(
            title=f"{title}: {Size.of(summary)}",
            header=["repair", "rule", "reward", "feasible", "minus printed BMA", "minus average"],
            rows=[
                Row(
                    [
                        row["name"],
                        row["rule"],
                        tables.format_mean_sd(row["reward"]),
                        tables.format_mean_sd(row["feasible"], 3),
                        tables.interval(row["minus_printed"]),
                        tables.interval(row["minus_average"]),
                    ]
                )
                for row in rows
            ],
            caption="Mean ± sd over trials; paired differences with 95% intervals from BMA as "
            f"printed and from the running sample average. Calibrated: {stretch:g} sd of xi and "
            f"lambda {lam:g}; wide: {wide:g} sd and lambda {hot:g}: what `posterior-tuning` chose, "
            "at full size, under the aggregated rule and under any other. As printed: "
            f"{Settings().particles} particles; else 200.",
        )

    rows = summary["rows"]
    return Section(
        "The posterior: what each repair brings",
        [
            grid("Repairs", [row for row in rows if row["rule"] in ("", "aggregated")]),
            grid(
                "Decision rules",
                [row for row in rows if row["rule"] and not row["name"].startswith("200")],
            ),
        ],
    )
