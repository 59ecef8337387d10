"""What Assumption 3.1(a) hides: infeasible decisions that pay the worst feasible value.

python benchmarks/worst_feasible.py  writes benchmarks/results/worst_feasible.{md,json}

The paper's policies, learning and paid as in its experiment (nothing for an infeasible decision)
and as in the assumption; 10 trials of 300 stages, seeds 0 to 9.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from results_file import write, write_markdown

from bocopt import run
from bocopt.trace import record
from bocopt_studies.paper.settings import Settings, policies_of, problem_of, stream_of

TRIALS, STAGES = 10, 300


def swapped(policy: Any, problem: Any) -> Any:
    """The policy, for another problem wherever it has one."""
    fields = {"problem": problem}
    if hasattr(policy, "sampler"):
        loss = replace(policy.sampler.loss, problem=problem)
        fields["sampler"] = replace(policy.sampler, loss=loss)
    return replace(policy, **fields)


def measure(name: str, assumed: bool) -> dict[str, float]:
    settings = Settings()
    problem = replace(problem_of(settings), pays_worst_feasible=assumed)
    policy = swapped(policies_of(settings)[name], problem)
    seeds = np.arange(TRIALS)
    stages = run(
        policy, stream_of(settings), problem=problem, seeds=seeds, horizon=STAGES, hindsight=False
    )
    trace = record(stages, problem.sense)
    reward = trace.reward.mean(axis=-1)
    return {
        "reward": float(reward.mean()),
        "sd": float(reward.std(ddof=1)),
        "feasible": float(trace.feasible.mean()),
    }


def main() -> None:
    rows = {
        name: {"experiment": measure(name, False), "assumption": measure(name, True)}
        for name in ("BMA", "BGS", "PtO")
    }
    write("worst_feasible", {"trials": TRIALS, "stages": STAGES, "rows": rows})
    lines = [
        "# What an infeasible decision pays",
        "",
        f"`python benchmarks/worst_feasible.py`: {TRIALS} trials of {STAGES} stages, seeds 0 to "
        f"{TRIALS - 1}; reward, mean ± sd over trials.",
        "",
        "| | nothing (the experiment) | the worst feasible value (Assumption 3.1(a)) | feasible |",
        "|---|---:|---:|---:|",
    ]
    for name, row in rows.items():
        paid = [f"{row[way]['reward']:.1f} ± {row[way]['sd']:.1f}" for way in row]
        shares = [f"{row[way]['feasible']:.2f}" for way in row]
        lines.append(f"| {name} | {' | '.join(paid)} | {', '.join(shares)} |")
    write_markdown("worst_feasible", lines)


if __name__ == "__main__":
    main()
