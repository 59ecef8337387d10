"""Verdicts on policies on a world: cost beside the best, feasibility, coverage."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, ClassVar

from bocopt.core import Array, Policy
from bocopt.numeric.blocks import block_interval
from bocopt.trace import mean_sd
from bocopt_studies.learning.streams import coverage
from bocopt_studies.learning.table import BEST, ENSEMBLE
from bocopt_studies.learning.task import Learn
from bocopt_studies.learning.worlds import LearningWorld
from bocopt_studies.study import Size, Summary
from bocopt_studies.summaries import Paired, cell, paired
from bocopt_studies.work.task import Record, Task

SETTLED = 100  # stages after which predictions should be calibrated
_BLOCK = 25  # stages that are drawn together


@dataclass(frozen=True, kw_only=True)
class Judge(Learn):
    """The same in small blocks: forests take seconds to grow."""

    forests: str  # the version of scikit-learn, on which the record depends
    trials_per_block: ClassVar[int] = 2


def judge(world: LearningWorld, policies: Mapping[str, Policy[Any]], size: Size) -> dict[str, Task]:
    """Return a task a policy, all on the same outcomes; only BEST sees all that the law reads."""
    return {
        name: Judge(
            policy=policy,
            problem=world.problem,
            stream=world.best_stream if name == BEST else world.stream,
            seeds=size.seeds,
            horizon=size.horizon,
            forests=version("scikit-learn"),
        )
        for name, policy in policies.items()
    }


def verdict(world: LearningWorld, records: Mapping[str, Record]) -> Summary:
    """Return costs, differences and feasibility of all policies on one world, and coverage."""
    sense = world.problem.sense
    costs = {name: sense.sign * record[sense.value] for name, record in records.items()}
    best = min((name for name in costs if name != BEST), key=lambda name: costs[name].mean())
    return {
        "measure": sense.value,
        "alpha": world.problem.risk.alpha,
        "best": best,
        "rows": {
            name: {
                "mean": cell(mean_sd(sense.sign * cost.mean(axis=-1))),
                "behind": cell(behind(cost, costs[best], world.law is None)),
                "from_optimum": cell(behind(cost, costs[BEST])) if BEST in costs else None,
                "feasible": float(records[name]["feasible"].mean()),
            }
            for name, cost in costs.items()
        },
        "coverage": coverage(records[ENSEMBLE]["probability"][:, SETTLED:]),
    }


def behind(ours: Array, theirs: Array, one_series: bool = False) -> Paired:
    """(trials, T) each -> how much more is paid, in per cent of what they pay, with its interval.

    >>> import numpy as np
    >>> behind(np.array([[2.0, 4.0], [1.0, 5.0]]), np.array([[2.0, 2.0], [2.0, 2.0]])).mean
    50.0
    """
    scale = 100.0 / abs(float(theirs.mean()))
    if one_series:
        return _by_blocks(scale * (ours - theirs).mean(axis=0))
    return paired(scale * ours.mean(axis=-1), scale * theirs.mean(axis=-1))


def _by_blocks(differences: Array) -> Paired:
    """(T) -> their mean, with an interval that keeps stages that follow each other together."""
    return Paired(float(differences.mean()), *block_interval(differences, _BLOCK))
