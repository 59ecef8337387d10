"""What it costs to watch: a monitor beside the policy that it watches, in one run.

python benchmarks/monitor.py  writes benchmarks/results/monitor.{md,json}

CPU time a stage, the least of seven passes over the same 400 stages of the paper's stream. What
watching with every guarantee takes is told apart: reading a stage, which asks the problem for its
ranges and prices the shadow, and folding it.
"""

import time
from collections.abc import Callable, Iterable
from typing import Any

from results_file import write, write_markdown

from bocopt import Ensemble, SampleAverage, run
from bocopt.guarantees import (
    BestArm,
    Comparator,
    Corollary35,
    Direct,
    EmpiricalBernstein,
    HoeffdingMixture,
    Monitor,
    Outlook,
    Theorem32,
    Theorem33,
    evidence_of,
)
from bocopt.paper import PaperStream
from bocopt.policies import Constant, Shadowed
from bocopt_studies.paper.settings import Settings, problem_of

STAGES, PASSES = 400, 7
PROBLEM = problem_of(Settings())
ON_BELIEF = {"lam": 0.01, "scale": 100.0}
EVERYTHING = (
    Direct(lam=0.01),
    HoeffdingMixture(),
    EmpiricalBernstein(scale=160.0),
    Theorem32(**ON_BELIEF),
    Theorem33(**ON_BELIEF),
    Corollary35(**ON_BELIEF),
    Comparator(**ON_BELIEF),
    BestArm(),
    Outlook(),
)


def least(pass_over: Callable[[], Any]) -> float:
    """Microseconds a stage."""
    taken = []
    for _ in range(PASSES):
        before = time.process_time()
        pass_over()
        taken.append(time.process_time() - before)
    return 1e6 * min(taken) / STAGES


def watched(stages: Iterable[Any], guarantees: Any, shadows: tuple[str, ...]) -> None:
    monitor = Monitor(PROBLEM, guarantees, shadows=shadows, scale=160.0)
    for stage in stages:
        monitor.observe(stage)


def folded(evidence: Iterable[Any]) -> None:
    monitor, states = Monitor(PROBLEM, EVERYTHING, shadows=("now",), scale=160.0), None
    for shown in evidence:
        states = monitor.update(states, shown)


def played(policy: Any) -> list[Any]:
    return list(
        run(policy, PaperStream(), problem=PROBLEM, seeds=0, horizon=STAGES, hindsight=False)
    )


def main() -> None:
    alone = played(SampleAverage(PROBLEM))
    beside = played(Shadowed(SampleAverage(PROBLEM), {"now": Constant([1, 1, 1, 1])}))
    evidence = [evidence_of(PROBLEM, stage) for stage in beside]
    rows = {
        "headline and feasibility": least(lambda: watched(alone, (), ())),
        "every guarantee": least(lambda: watched(alone, EVERYTHING, ())),
        "every guarantee, and a comparison with a shadow": least(
            lambda: watched(beside, EVERYTHING, ("now",))
        ),
        "of that, reading the stage": least(lambda: [evidence_of(PROBLEM, s) for s in beside]),
        "of that, folding": least(lambda: folded(evidence)),
        "a stage of the running average": least(lambda: played(SampleAverage(PROBLEM))),
        "a stage of the ensemble": least(lambda: played(Ensemble(PROBLEM))),
    }
    monitor = Monitor(PROBLEM, EVERYTHING, shadows=("now",), scale=160.0)
    for stage in beside:
        monitor.observe(stage)
    rows["all certificates in words, once"] = STAGES * least(lambda: str(monitor))
    write("monitor", {"stages": STAGES, "passes": PASSES, "microseconds": rows})
    lines = [
        "# What it costs to watch",
        "",
        f"`python benchmarks/monitor.py`: CPU time a stage on the paper's stream, the least of "
        f"{PASSES} passes over {STAGES} stages.",
        "",
        "| | ms a stage |",
        "|---|---:|",
        *(f"| {name} | {micro / 1000:.3f} |" for name, micro in rows.items()),
    ]
    write_markdown("monitor", lines)


if __name__ == "__main__":
    main()
