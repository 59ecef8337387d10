"""Time per stage of the default ensemble on one live stream, and where it goes.

python benchmarks/ensemble.py    writes benchmarks/results/ensemble.{md,json}

One trial, one process, the paper's stream: decide and learn, as an `Agent` would.
"""

from time import perf_counter
from typing import Any

import numpy as np
from results_file import write, write_markdown

from bocopt import Ensemble, Mixture, SampleAverage, run
from bocopt.core import Policy
from bocopt.models import default_members
from bocopt.paper import PaperStream
from bocopt.policies import Predictive
from bocopt_studies.paper.settings import Settings, problem_of

PROBLEM = problem_of(Settings())
EDGES = (100, 300, 1000, 3000, 10_000)
SHORT = 600


def milliseconds(policy: Policy[Any], stages: int) -> list[float]:
    """Of each stage, all but the first, which compiles."""
    found, before = [], perf_counter()
    for _ in run(policy, PaperStream(), problem=PROBLEM, seeds=0, horizon=stages):
        now = perf_counter()
        found.append(1e3 * (now - before))
        before = now
    return found[1:]


def main() -> None:
    list(run(Ensemble(PROBLEM), PaperStream(), seeds=0, horizon=3))  # compile
    times = milliseconds(Ensemble(PROBLEM), EDGES[-1])
    starts = (0, *EDGES[:-1])
    growth = [
        {
            "from": first,
            "to": last,
            "mean": float(np.mean(times[first:last])),
            "p99": float(np.percentile(times[first:last], 99)),
            "most": float(np.max(times[first:last])),
        }
        for first, last in zip(starts, EDGES, strict=True)
    ]
    policies: dict[str, Policy[Any]] = {
        "the default ensemble": Ensemble(PROBLEM),
        "its mixture alone": Predictive(PROBLEM, Mixture(dim_xi=12)),
        "without discounted copies": Predictive(PROBLEM, Mixture(dim_xi=12, discounts=[1.0])),
        **{
            Mixture(dim_xi=12, members=[member]).law_names[0]: Predictive(
                PROBLEM, Mixture(dim_xi=12, members=[member], discounts=[1.0])
            )
            for member in default_members()
        },
        "256 scenarios": Ensemble(PROBLEM, Mixture(dim_xi=12, scenarios=256)),
        "running average": SampleAverage(PROBLEM),
    }
    parts = {name: float(np.mean(milliseconds(policy, SHORT))) for name, policy in policies.items()}
    lines = [
        "# The default ensemble on a live stream",
        "",
        "`python benchmarks/ensemble.py`: milliseconds a stage (decide and learn), one trial, one"
        " process, the paper's stream.",
        "",
        "| stages | mean | 99% | most |",
        "|---|---:|---:|---:|",
        *(
            f"| {row['from']:,.0f} to {row['to']:,.0f} | {row['mean']:.2f} | {row['p99']:.2f} |"
            f" {row['most']:.1f} |"
            for row in growth
        ),
        "",
        f"Over the first {SHORT} stages:",
        "",
        "| policy | mean |",
        "|---|---:|",
        *(f"| {name} | {mean:.2f} |" for name, mean in parts.items()),
    ]
    write("ensemble", {"growth": growth, "parts": parts})
    write_markdown("ensemble", lines)


if __name__ == "__main__":
    main()
