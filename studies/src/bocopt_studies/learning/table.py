"""Learning with noise in the predictor: the extended table 1 on the paper's stream."""

from collections.abc import Mapping
from typing import Any

from bocopt import Ensemble, Mixture, SampleAverage
from bocopt.app.text import count
from bocopt.core import Array, Policy
from bocopt.models import Member, RandomCoefficients, default_members
from bocopt.models.member import least_discount
from bocopt.paper import ConditionalOptimum
from bocopt.policies import Near, Predictive, ResidualSampleAverage, WeightedSampleAverage
from bocopt.trace import last_half, mean_sd
from bocopt_studies.learning.task import Learn
from bocopt_studies.learning.worlds import LearningWorld, worlds
from bocopt_studies.paper.settings import Settings, policies_of
from bocopt_studies.report import tables
from bocopt_studies.report.blocks import Chart, Curve, Grid, Row, Section
from bocopt_studies.study import Size, Summary
from bocopt_studies.summaries import Cell, cell, curve, paired, running, stages_shown
from bocopt_studies.work.task import Record, Task

ENSEMBLE, MIXTURE, AGNOSTIC, AVERAGE, BEST = (
    "Ensemble",
    "its mixture, without the hedge",
    "Ensemble without random coefficients",
    "running average",
    "conditional optimum",
)
_CURVES = (BEST, ENSEMBLE, AGNOSTIC, AVERAGE, "BMA as printed")
COLUMNS = ("all", "first10", "first100", "last")


def without_best(members: tuple[Member, ...]) -> tuple[Member, ...]:
    """The members of all families but the one that does best on the paper's stream."""
    return tuple(m for m in members if not isinstance(m, RandomCoefficients))


def ensembles(world: LearningWorld) -> dict[str, Policy[Any]]:
    """Return the ensemble, and the one without random coefficients, by name."""
    problem, size = world.problem, world.problem.dims.xi
    others = Mixture(dim_xi=size, members=without_best(default_members()))
    return {ENSEMBLE: Ensemble(problem), AGNOSTIC: Ensemble(problem, others)}


def members(world: LearningWorld) -> dict[str, Policy[Any]]:
    """Each member of the default mixture on its own, on all scales: no heavy tails, as it is."""
    size = world.problem.dims.xi
    alone = [
        Mixture(dim_xi=size, members=[member], discounts=[discount], tails=[60.0], calibrate=False)
        for discount in Mixture(dim_xi=size).discounts
        for member in default_members()
        if discount >= least_discount(member)
    ]
    return {mixture.law_names[0]: Predictive(world.problem, mixture) for mixture in alone}


def simple(world: LearningWorld) -> dict[str, Policy[Any]]:
    """Return simple methods and, where the law is known, the conditional optimum, by name."""
    problem = world.problem
    best = {} if world.law is None else {BEST: ConditionalOptimum(problem, world.law)}
    return {
        "regression and residuals": ResidualSampleAverage(problem),
        "nearest outcomes": WeightedSampleAverage(problem),
        "kernel-weighted outcomes": WeightedSampleAverage(problem, nearness=Near()),
        AVERAGE: SampleAverage(problem),
        **best,
    }


def learn(world: LearningWorld, policies: Mapping[str, Policy[Any]], size: Size) -> dict[str, Task]:
    """Return the task of each policy on a world, by name."""
    return {
        name: Learn(
            policy=policy,
            problem=world.problem,
            stream=world.stream,
            seeds=size.seeds,
            horizon=size.horizon,
        )
        for name, policy in policies.items()
    }


def tasks(size: Size) -> dict[str, Task]:
    """Return the tasks on the paper's stream, with BMA and DFL as printed, by policy."""
    world = worlds(size.horizon)["paper"]
    printed = policies_of(Settings())
    policies: dict[str, Policy[Any]] = {
        **ensembles(world),
        **members(world),
        **simple(world),
        "BMA as printed": printed["BMA"],
        "DFL as printed": printed["DFL"],
    }
    return learn(world, policies, size)


def averages(record: Record) -> dict[str, Array]:
    """(trials) each."""
    reward = record["reward"]
    return {
        "all": reward.mean(axis=-1),
        "first10": reward[:, :10].mean(axis=-1),
        "first100": reward[:, :100].mean(axis=-1),
        "last": last_half(reward).mean(axis=-1),
    }


def row(record: Record, others: Mapping[str, Record]) -> Summary:
    """Averages, and paired differences from others in the first three of them."""
    found = averages(record)
    minus: dict[str, dict[str, Cell]] = {
        name: {c: cell(paired(found[c], averages(other)[c])) for c in COLUMNS}
        for name, other in others.items()
    }
    return {
        **{name: cell(mean_sd(values)) for name, values in found.items()},
        "feasible": cell(mean_sd(record["feasible"].mean(axis=-1)))
        if "feasible" in record
        else None,
        "minus": minus,
    }


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return rewards and differences by policy, curves, and the regret to the best arm."""
    compared = {name: records[name] for name in (AVERAGE, BEST)}
    ensemble = records[ENSEMBLE]
    mixture = {"reward": -ensemble["arm_cost"][..., 0].astype(float)}
    shown = {ENSEMBLE: ensemble, MIXTURE: mixture, **records}
    return {
        **size._asdict(),
        "rows": {name: row(record, compared) for name, record in shown.items()},
        "stages": stages_shown(size.horizon),
        "curves": {name: curve(running(records[name]["reward"])) for name in _CURVES},
        "bound": cell(mean_sd(ensemble["arm_bound"][:, -1])),
        "behind": cell(mean_sd(-ensemble["reward"].sum(axis=-1) - _best_arm(ensemble))),
    }


def _best_arm(record: Record) -> Array:
    """(trials): what the arm cost that cost least."""
    least: Array = record["arm_cost"].sum(axis=1, dtype=float).min(axis=-1)
    return least


def show(summary: Summary) -> Section:
    """Return the section: the extended table 1, early differences, and the curves."""
    return Section("Learning", [_table(summary), _early(summary), _chart(summary)])


def _cells(row: Mapping[str, Any]) -> list[str]:
    feasible = row["feasible"]
    return [
        *(tables.format_mean_sd(row[column]) for column in COLUMNS),
        tables.number(feasible["mean"], 4) if feasible else "",
    ]


def _table(summary: Summary) -> Grid:
    return Grid(
        title=f"Extended table 1: {Size.of(summary)}",
        header=["policy", "reward", "first 10", "first 100", "last half", "feasible"],
        rows=[Row([name, *_cells(row)]) for name, row in summary["rows"].items()],
        caption="Mean ± sd over trials. Members: each alone, with everything it is given in the "
        "ensemble. The drawn arm's expected cost is at most "
        f"{tables.format_mean_sd(summary['bound'], 0)} over all stages above that of the best arm; "
        f"{tables.format_mean_sd(summary['behind'], 0)} was seen.",
    )


def _early(summary: Summary) -> Grid:
    return Grid(
        title="Differences from the running average and from the conditional optimum",
        header=["policy", "minus average", "its first 10", "its first 100", "minus optimum"],
        rows=[
            Row(
                [
                    name,
                    *(
                        tables.interval(row["minus"][AVERAGE][column])
                        for column in ("all", "first10", "first100")
                    ),
                    tables.interval(row["minus"][BEST]["all"]),
                ]
            )
            for name, row in summary["rows"].items()
        ],
        caption="Paired over the same streams: mean and 95% interval (Student's t).",
    )


def _chart(summary: Summary) -> Chart:
    stages = summary["stages"]
    first = next((i for i, t in enumerate(stages) if t >= 10), 0)  # before, averages jump
    return Chart(
        name="learning-curves",
        title="Learning on the paper's stream",
        y_label="time-averaged reward",
        curves=[
            Curve(name, stages[first:], values[first:])
            for name, values in summary["curves"].items()
        ],
        caption=f"Mean over {count(summary['trials'], 'trial')} of the average over all stages so "
        "far, from the tenth on.",
    )
