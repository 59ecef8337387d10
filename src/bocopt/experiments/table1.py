"""Table 1 of the paper with honest baselines beside it."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, as_completed
from dataclasses import asdict
from math import isnan, nan
from typing import Any, NamedTuple

import numpy as np

from bocopt import record, run
from bocopt.core import Array
from bocopt.experiments.paper import Settings, policies_of, problem_of, stream_of
from bocopt.trace import Spread, spread

COLUMNS = ("reward", "reward_last", "feasibility", "feasibility_last")
ROWS = (*policies_of(Settings()), "Hindsight")
_TRIALS_PER_TASK = 20  # large enough to share the overhead of the loop, small enough to spread
_LONGEST_FIRST = ("Conditional", "SAA", "BMA", "BGS", "DFL", "Prior", "PtO", "Constant")


class Task(NamedTuple):
    """Some trials of one policy: pure and picklable, and the same whatever runs beside it."""

    settings: Settings
    policy: str
    seeds: tuple[int, ...]
    horizon: int


def run_task(task: Task) -> dict[str, dict[str, Array]]:
    """Averages per trial by row of the table; the Constant's stream also gives Hindsight."""
    problem = problem_of(task.settings)
    stages = run(
        policies_of(task.settings)[task.policy],
        problem,
        stream_of(task.settings),
        seeds=task.seeds,
        horizon=task.horizon,
    )
    trace = record(stages, problem.sense)
    rows = {task.policy: trace.averages()}
    if task.policy == "Constant":
        rows["Hindsight"] = trace.hindsight_averages()
    return rows


def tasks_of(settings: Settings, trials: int, horizon: int, seed: int) -> list[Task]:
    """Blocks of trials, longest first so that no worker is left with a long one at the end."""
    blocks = [
        tuple(range(seed + first, seed + min(first + _TRIALS_PER_TASK, trials)))
        for first in range(0, trials, _TRIALS_PER_TASK)
    ]
    return [Task(settings, policy, block, horizon) for policy in _LONGEST_FIRST for block in blocks]


def table1(
    tasks: list[Task], executor: Executor, progress: Callable[[Task], None] = lambda task: None
) -> dict[str, Any]:
    """Run the tasks and tabulate: the content of table1.json, the same for any executor."""
    results: dict[tuple[str, int], dict[str, Array]] = {}
    futures = {executor.submit(run_task, task): task for task in tasks}
    try:
        for future in as_completed(futures):
            task = futures[future]
            for row, averages in future.result().items():
                results[row, task.seeds[0]] = averages
            progress(task)
    finally:
        executor.shutdown(cancel_futures=True)
    first = tasks[0]
    seeds = sorted({seed for task in tasks for seed in task.seeds})
    return {
        "trials": len(seeds),
        "horizon": first.horizon,
        "seed": seeds[0],
        "settings": asdict(first.settings),
        "rows": [{"policy": row, **dict(_cells(row, results))} for row in ROWS],
    }


def _cells(
    row: str, results: dict[tuple[str, int], dict[str, Array]]
) -> Iterator[tuple[str, dict[str, float | None]]]:
    blocks = [results[key] for key in sorted(results) if key[0] == row]
    for column in COLUMNS:
        values = [block[column] for block in blocks if column in block]  # a last half may not exist
        over_trials = spread(np.concatenate(values)) if values else Spread(nan, nan)
        yield column, {k: None if isnan(v) else v for k, v in over_trials._asdict().items()}
