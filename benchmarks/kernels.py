"""The exact kernels against SciPy (HiGHS) in the same run, hot and with cold caches.

python benchmarks/kernels.py        writes benchmarks/results/kernels.{md,json}
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np
from bigm import UPPER, solve_big_m, solve_certain
from results_file import write, write_markdown

from bocopt.core import Array
from bocopt.paper import PaperStream, SigmoidLinear
from bocopt.problems import Knapsack

PROBLEM = Knapsack(value=[12.0] * 4, capacity=[8.0] * 3, salvage=[3.0] * 3)
NOTHING = np.zeros(0)
_CACHES = np.zeros(16_000_000)  # 128 MB: larger than any cache


def seconds(
    call: Callable[..., object], *arguments: object, repeats: int, cold: bool = False
) -> float:
    """The median time of a call; cold: after everything has been pushed out of the caches."""
    times = []
    for _ in range(repeats):
        if cold:
            _CACHES[:] += 1.0
        start = perf_counter()
        call(*arguments)
        times.append(perf_counter() - start)
    return float(np.median(times))


def outcomes(size: int) -> Array:
    """Weights as the paper's stream gives them."""
    return np.stack([xi for _, xi in islice(PaperStream().stages(np.array(0)), size)])


def predictions(contexts: int, particles: int) -> Array:
    """Weights as the paper's prior predicts them, (contexts, particles, 12)."""
    rng, predictor = np.random.default_rng(0), SigmoidLinear(3, 12)
    x = np.stack([x for x, _ in islice(PaperStream().stages(np.array(0)), contexts)])
    theta = rng.normal(size=(contexts, particles, predictor.dim))
    return predictor.sample(theta, x[:, None, :], np.empty(0))


def row_of(program: str, scenarios: Array, w: Array, repeats: int, few: int) -> dict[str, Any]:
    """Our searches on a batch (n, s, 12); cold on the first `few` of it."""
    per = 1e6 / len(scenarios)
    readable = replace(PROBLEM, readable_search=True)
    cold = seconds(PROBLEM.solve, scenarios[:few], w, NOTHING, repeats=30, cold=True)
    return {
        "program": program,
        "hot_us": per * seconds(PROBLEM.solve, scenarios, w, NOTHING, repeats=repeats),
        "cold_us": 1e6 / few * cold,
        "readable_us": per * seconds(readable.solve, scenarios, w, NOTHING, repeats=5),
    }


def certain_rows() -> list[dict[str, Any]]:
    rows = []
    for kind, batch in (("outcomes", outcomes(100)[:, None]), ("predictions", predictions(100, 1))):
        row = row_of(f"one scenario, 100 {kind}", batch, np.ones(1), repeats=300, few=20)
        start = perf_counter()
        for a in batch:
            solve_certain(PROBLEM, a.reshape(3, 4))
        rows.append({**row, "scipy_us": 1e6 * (perf_counter() - start) / len(batch)})
    return rows


def chance_rows() -> list[dict[str, Any]]:
    rows = []
    for size, count in ((20, 40), (100, 20), (1000, 10)):
        w = np.full(size, 1 / size)
        for kind, scenarios in (
            ("predictions", predictions(count, size)),
            ("outcomes", outcomes(size)[None]),
        ):
            row = row_of(f"{size} scenarios, {kind}", scenarios, w, repeats=30, few=1)
            if size == 20:
                row |= by_scipy(scenarios[:4], w)
            rows.append(row)
    return rows


def by_scipy(scenarios: Array, w: Array) -> dict[str, float]:
    """The repaired big-M program, and how far its objective is from ours after the judge."""
    boxed = replace(PROBLEM, upper=UPPER)
    start = perf_counter()
    answers = [solve_big_m(boxed, s, w) for s in scenarios]
    spent = perf_counter() - start
    theirs = [w @ boxed.cost(NOTHING, z, s) for z, s in zip(answers, scenarios, strict=True)]
    difference = np.abs(boxed.solve(scenarios, w, NOTHING).value - np.array(theirs))
    return {
        "scipy_us": 1e6 * spent / len(scenarios),
        "largest_difference": float(difference.max()),
    }


def main() -> None:
    PROBLEM.solve(np.ones((2, 12)), np.full(2, 0.5), NOTHING)  # load or compile first
    rows = [*certain_rows(), *chance_rows()]
    lines = [
        "# Exact kernels against SciPy (HiGHS), in one run",
        "",
        "Microseconds per instance; `python benchmarks/kernels.py`. Hot: the same batch again and",
        "again. Cold: 20 instances (one, for many scenarios) after the caches were emptied.",
        "",
        "| program | hot | cold | readable search | SciPy `milp` | SciPy / hot |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        scipy = row.get("scipy_us", np.nan)
        ratio = f"{scipy / row['hot_us']:,.0f}" if "scipy_us" in row else "-"
        shown = f"{scipy:,.0f}" if "scipy_us" in row else "not run"
        lines.append(
            f"| {row['program']} | {row['hot_us']:.2f} | {row['cold_us']:.1f} "
            f"| {row['readable_us']:.1f} | {shown} | {ratio} |"
        )
    write("kernels", {"rows": rows})
    write_markdown("kernels", lines)


if __name__ == "__main__":
    main()
