"""The paper's four policies at full size on two processes, and where the time goes.

python benchmarks/table1.py        writes benchmarks/results/table1.{md,json}
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from time import perf_counter
from typing import Any

from results_file import write, write_markdown

from bocopt import run
from bocopt.problems.knapsack import judge, lattice
from bocopt.remote.order import answer, order
from bocopt_studies.paper.settings import (
    PRINTED,
    Settings,
    policies_of,
    problem_of,
    stream_of,
    tasks_of,
)
from bocopt_studies.study import Size

PROFILED_TRIALS, PROFILED_STAGES = 50, 200


@contextmanager
def timed_kernels() -> Iterator[dict[str, float]]:
    """Add up the time spent inside the compiled kernels."""
    spent = {"kernels": 0.0}
    saved = {(module, name): getattr(module, name) for module, name in _KERNELS}

    def timed(kernel: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            start = perf_counter()
            answer = kernel(*arguments)
            spent["kernels"] += perf_counter() - start
            return answer

        return call

    for (module, name), kernel in saved.items():
        setattr(module, name, timed(kernel))
    try:
        yield spent
    finally:
        for (module, name), kernel in saved.items():
            setattr(module, name, kernel)


_KERNELS = ((lattice, "solve"), (judge, "cost"), (judge, "violation"))


def profile(name: str) -> dict[str, Any]:
    settings = Settings()
    problem = problem_of(settings)
    options: dict[str, Any] = {"seeds": range(PROFILED_TRIALS), "horizon": PROFILED_STAGES}
    with timed_kernels() as spent:
        start = perf_counter()
        for _ in run(policies_of(settings)[name], stream_of(settings), problem=problem, **options):
            pass
        total = perf_counter() - start
    stages = PROFILED_TRIALS * PROFILED_STAGES
    return {
        "policy": name,
        "us_per_stage": 1e6 * total / stages,
        "us_in_kernels": 1e6 * spent["kernels"] / stages,
    }


def main() -> None:
    tasks = tasks_of(Settings(), Size(100, 1000), PRINTED).values()
    blocks = [block for task in tasks for block in task.blocks()]
    replace(blocks[0], horizon=2).run()
    start = perf_counter()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        list(executor.map(answer, map(order, blocks)))
    seconds = perf_counter() - start
    rows = [profile(name) for name in PRINTED]
    lines = [
        "# Table 1: time at full size, and where it goes",
        "",
        f"`python benchmarks/table1.py`: 4 policies x 100 trials x 1000 stages on two processes: "
        f"**{seconds:.1f} s**.",
        f"Profile in one process, {PROFILED_TRIALS} trials at a time, microseconds per trial and",
        "stage:",
        "",
        "| policy | total | in kernels | outside |",
        "|---|---:|---:|---:|",
    ]
    for row in rows:
        inside, total = row["us_in_kernels"], row["us_per_stage"]
        lines.append(f"| {row['policy']} | {total:.0f} | {inside:.0f} | {total - inside:.0f} |")
    write("table1", {"seconds_four_policies": seconds, "profile": rows})
    write_markdown("table1", lines)


if __name__ == "__main__":
    main()
