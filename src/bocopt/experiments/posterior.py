"""The exact posterior: what repairing the paper's sampler brings, and what its rules make of it."""

from collections.abc import Iterable, Mapping
from itertools import product

from bocopt import (
    BMA,
    Calibrated,
    DecisionRegret,
    Gaussian,
    GibbsPosterior,
    LiuWest,
    ResampleMove,
    SigmoidLinear,
)
from bocopt.core import Array
from bocopt.experiments.beliefs import RULES, Rules
from bocopt.experiments.paper import (
    CONTEXT,
    ITEMS,
    RESOURCES,
    Settings,
    problem_of,
    stream_of,
    tasks_of,
)
from bocopt.experiments.study import Size, Study, Summary
from bocopt.experiments.summaries import Cell, cell, paired
from bocopt.experiments.tasks import Play, Record, Task
from bocopt.report import tables
from bocopt.report.blocks import Grid, Row, Section
from bocopt.smc.temperature import Temperature
from bocopt.trace import spread

PREDICTOR = SigmoidLinear(CONTEXT, ITEMS * RESOURCES)
PROBLEM, STREAM = problem_of(Settings()), stream_of(Settings())
LOSS = DecisionRegret(PROBLEM, PREDICTOR)
TUNING_SEED = 1000
_NOTHING = 1e-9  # a temperature at which nothing is learned
STRETCHES, LAMS = (1.0, 1.5, 2.0, 3.0), (1e-4, 1e-3, 1e-2)
#: The best of the grid on seeds 1000 to 1019: under the aggregated rule, and under any other.
CHOSEN, CHOSEN_FOR_ONE = (1.5, 1e-4), (3.0, 1e-2)


def full_history(prior: Gaussian | Calibrated, lam: float | Temperature) -> ResampleMove:
    return ResampleMove(prior=prior, loss=LOSS, lam=lam, size=200, chain_length=5)


def calibrated(stretch: float) -> Calibrated:
    return Calibrated(PREDICTOR, stretch=stretch)


def rules(sampler: ResampleMove | GibbsPosterior, size: Size) -> Rules:
    return Rules(
        problem=PROBLEM,
        predictor=PREDICTOR,
        stream=STREAM,
        sampler=sampler,
        seeds=size.seeds,
        horizon=size.horizon,
    )


# Tuning: which prior scale and temperature.


def tuning_size(full: Size) -> Size:
    return Size(max(1, full.trials // 5), full.horizon, TUNING_SEED)


def tuning_tasks(size: Size) -> dict[str, Task]:
    return {
        f"{stretch:g}/{lam:g}": rules(full_history(calibrated(stretch), lam), size)
        for stretch, lam in product(STRETCHES, LAMS)
    }


def tuning_summary(size: Size, records: Mapping[str, Record]) -> Summary:
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


def tuning_section(summary: Summary) -> Section:
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


# Repairs: which brings how much.


def repairs_tasks(size: Size) -> dict[str, Task]:
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


def repairs_summary(size: Size, records: Mapping[str, Record]) -> Summary:
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
                "reward": cell(spread(reward)),
                "feasible": cell(spread(feasible)),
                "minus_printed": cell(paired(reward, base)),
                "minus_average": cell(paired(reward, average)),
            }
            for name, record in records.items()
            for rule, (reward, feasible) in _rewards(record).items()
        ],
    }


def repairs_section(summary: Summary) -> Section:
    (stretch, lam), (wide, hot) = summary["chosen"], summary["chosen_for_one"]

    def grid(title: str, rows: list[Summary]) -> Grid:
        return Grid(
            title=f"{title}: {Size.of(summary)}",
            header=["repair", "rule", "reward", "feasible", "minus printed BMA", "minus average"],
            rows=[
                Row(
                    [
                        row["name"],
                        row["rule"],
                        tables.spread(row["reward"]),
                        tables.spread(row["feasible"], 3),
                        tables.interval(row["minus_printed"]),
                        tables.interval(row["minus_average"]),
                    ]
                )
                for row in rows
            ],
            caption="Mean ± sd over trials; paired differences with 95% intervals from BMA as "
            f"printed and from the running sample average. Calibrated: {stretch:g} sd of xi and "
            f"lambda {lam:g}; wide: {wide:g} sd and lambda {hot:g}, the best for rules that follow "
            "one prediction; all chosen on other seeds. 200 particles but for the first row.",
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


STUDIES = (
    Study("posterior-tuning", tuning_size, tuning_tasks, tuning_summary, tuning_section),
    Study("posterior-repairs", lambda size: size, repairs_tasks, repairs_summary, repairs_section),
)
