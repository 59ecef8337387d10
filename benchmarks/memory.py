"""An agent over 100,000 stages: resident memory stays flat.

python benchmarks/memory.py        writes benchmarks/results/memory.{md,json}
"""

import os
from itertools import islice
from pathlib import Path
from time import perf_counter

import numpy as np
from results_file import write, write_markdown

from bocopt import Agent
from bocopt_studies.paper.settings import Settings, policies_of, problem_of, stream_of

STAGES, EVERY = 100_000, 20_000


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def main() -> None:
    settings = Settings(lam=1e-2)
    agent = Agent(policies_of(settings)["BMA"], problem=problem_of(settings))
    stream = stream_of(settings).stages(np.array(0))
    rows, start = [], perf_counter()
    for t, (x, xi) in enumerate(islice(stream, STAGES)):
        agent.observe(agent.decide(x).id, xi)
        if t % EVERY == EVERY - 1 or t == 4999:
            rows.append({"stages": t + 1, "resident_mb": resident_mb()})
    per_stage = 1e6 * (perf_counter() - start) / STAGES
    lines = [
        "# An agent over 100,000 stages",
        "",
        f"`python benchmarks/memory.py`: BMA at lam = 1e-2, {per_stage:.0f} microseconds per stage",
        "(stream, decision, outcome and review).",
        "",
        "| stages | resident memory, MB |",
        "|---:|---:|",
        *(f"| {row['stages']:,} | {row['resident_mb']:.1f} |" for row in rows),
    ]
    write("memory", {"us_per_stage": per_stage, "rows": rows})
    write_markdown("memory", lines)


if __name__ == "__main__":
    main()
