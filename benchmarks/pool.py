"""The pool of `from_callables`, as it was and as it is, on two problems of a user.

- A 0-1 knapsack of 48 items, values and weights uncertain, room 60, alpha 0.9; the user's solve is
  a dynamic program for one scenario. In how many instances is nothing feasible found, after how
  many solves, and what is the decision worth?
- A newsvendor of 5 products that share a room, 1000 scenarios, against the exact optimum (one
  linear program with all scenarios).

As it was: 50 candidates, all of them scenarios. Times are CPU, without the check of the first call.

    python benchmarks/pool.py        writes benchmarks/results/pool.{md,json}
"""

from time import process_time
from typing import Any

import numpy as np
from pool_cases import NO_CONTEXT, knapsack, knapsack_scenarios, knapsack_solve, newsvendor
from results_file import write, write_markdown

from bocopt import Status
from bocopt.core import Array, Solution

INSTANCES, SIZES = 20, (100, 1000)
WAS: dict[str, Any] = {"candidates": 50, "synthetic": False}
BINARY: dict[str, Any] = {"box": (0, 1), "integer": True}
ORDERS: dict[str, Any] = {"box": (0, 200)}
KNAPSACKS: dict[str, dict[str, Any]] = {
    "50 scenarios (as it was)": WAS,
    "26, half made up": {},
    "26, half made up, 200 moves": BINARY,
    "26, half made up, 1000 moves": BINARY | {"moves": 1000},
}
NEWSVENDORS: dict[str, dict[str, Any]] = {
    "50 scenarios (as it was)": WAS,
    "26, half made up": {},
    "26, half made up, 100 moves": ORDERS | {"moves": 100},
    "26, half made up, 200 moves": ORDERS,
}


def timed(problem: Any, scenarios: Array) -> tuple[Solution, float]:
    """The answer, and the CPU milliseconds of asking again."""
    w = np.full(len(scenarios), 1 / len(scenarios))
    problem.solve(scenarios, w, NO_CONTEXT)
    start = process_time()
    solution = problem.solve(scenarios, w, NO_CONTEXT)
    return solution, 1e3 * (process_time() - start)


def packed(size: int, options: dict[str, Any]) -> dict[str, float | None]:
    """Over all instances: failures, solves a decision, mean value where one was found, time."""
    solves: list[int] = []

    def counted(x: Array, xi: Array) -> Array:
        solves.append(1)
        return knapsack_solve(x, xi)

    problem = knapsack(solve=counted, **options)
    answers = [timed(problem, knapsack_scenarios(seed, size)) for seed in range(INSTANCES)]
    found = [-float(s.value) for s, _ in answers if int(s.status) == Status.POOL]
    return {
        "failures": INSTANCES - len(found),
        "solves": len(solves) / (2 * INSTANCES),
        "mean_value": float(np.mean(found)) if found else None,
        "ms": float(np.median([ms for _, ms in answers])),
    }


def ordered(options: dict[str, Any]) -> dict[str, float]:
    """Over all instances: regret in percent of the optimum, and time; one by one, of the first."""
    regrets, by_rows, one_by_one = [], [], 0.0
    for seed in range(INSTANCES):
        case = newsvendor(seed, 1000)
        solution, ms = timed(case.problem(vectorised=True, **options), case.demand)
        regrets.append(100 * case.regret(float(solution.value)))
        by_rows.append(ms)
        if seed == 0:
            one_by_one = timed(case.problem(**options), case.demand)[1]
    return {
        "mean_regret_percent": float(np.mean(regrets)),
        "largest_regret_percent": float(np.max(regrets)),
        "ms_vectorised": float(np.median(by_rows)),
        "ms_one_by_one": one_by_one,
    }


def shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def main() -> None:
    knapsacks = {
        size: {name: packed(size, options) for name, options in KNAPSACKS.items()} for size in SIZES
    }
    newsvendors = {name: ordered(options) for name, options in NEWSVENDORS.items()}
    lines = [
        "# The pool of `from_callables`",
        "",
        f"`python benchmarks/pool.py`: {INSTANCES} instances each; ms are CPU time a decision, the "
        "middle one.",
        "",
        "0-1 knapsack, 48 items, values and weights uncertain, alpha 0.9. Value: mean of the "
        "instances with a feasible decision. `vectorised=True`.",
        "",
        "| scenarios | candidates | nothing feasible | solves | value | ms |",
        "|---:|---|---:|---:|---:|---:|",
    ]
    for size, rows in knapsacks.items():
        lines += [
            f"| {size:,} | {name} | {row['failures']:.0f} of {INSTANCES} | {row['solves']:.0f} "
            f"| {shown(row['mean_value'])} | {row['ms']:.0f} |"
            for name, row in rows.items()
        ]
    lines += [
        "",
        "Newsvendor, 5 products, one room, 1000 scenarios: regret to the exact optimum. One "
        "by one: of one instance.",
        "",
        "| candidates | mean regret | largest | ms, vectorised | ms, one by one |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {name} | {row['mean_regret_percent']:.3f}% | {row['largest_regret_percent']:.3f}% "
        f"| {row['ms_vectorised']:.0f} | {row['ms_one_by_one']:.0f} |"
        for name, row in newsvendors.items()
    ]
    write("pool", {"knapsack": knapsacks, "newsvendor": newsvendors})
    write_markdown("pool", lines)


if __name__ == "__main__":
    main()
