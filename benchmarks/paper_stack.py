"""The paper's policies on the paper's tool chain, SciPy's `milp`, beside ours: decisions and time.

python benchmarks/paper_stack.py        writes benchmarks/results/paper_stack.{md,json}

The same policies, particles and streams; only the solver differs. The big-M program is the
supplement's with V_i <= c'z in place (E4), in a box of 100 (E3).
"""

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from bigm import UPPER, solve_big_m, solve_certain
from results_file import write, write_markdown

from bocopt import Trace, run
from bocopt.core import Array, Policy, Solution, Status
from bocopt.paper import BGS, BMA, DFL, DecisionRegret, GibbsPosterior, PtO
from bocopt.trace import mean_sd, record
from bocopt_studies.paper.settings import PRINTED, Settings, policies_of, problem_of, stream_of
from bocopt_studies.paper.variants import OtherSolver

SETTINGS = Settings(upper=UPPER)
TRIALS, STAGES = 3, 24
OUR_TRIALS, OUR_STAGES = 20, 1000
FULL_TABLE = 100 * 1000


class WithMilp(OtherSolver):
    """Solved by SciPy."""

    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        lead = scenarios.shape[:-2]
        w = np.broadcast_to(w, (*lead, scenarios.shape[-2]))
        z = np.empty((*lead, self.dims.z))
        for index in np.ndindex(lead):
            z[index] = self._one(scenarios[index], w[index])
        cost = self.problem.cost(x[..., None, :], z[..., None, :], scenarios)
        status = np.full(lead, Status.OPTIMAL, np.int64)
        return Solution(z, (w * cost).sum(axis=-1), status, np.zeros(lead))

    def _one(self, scenarios: Array, w: Array) -> Array:
        if len(w) == 1:
            return solve_certain(self.problem, scenarios[0].reshape(-1, self.dims.z))
        return solve_big_m(self.problem, scenarios, w)


def with_milp(policy: Policy[Any], solver: WithMilp) -> Policy[Any]:
    """The same policy with SciPy inside, for decisions and losses alike."""
    match policy:
        case (
            BMA(sampler=GibbsPosterior(loss=DecisionRegret() as loss) as sampler)
            | BGS(sampler=GibbsPosterior(loss=DecisionRegret() as loss) as sampler)
        ):
            sampler = replace(sampler, loss=replace(loss, problem=solver))
            return replace(policy, problem=solver, sampler=sampler)
        case DFL() | PtO():
            return replace(policy, problem=solver)
    raise TypeError(f"{policy} is none of the paper's.")


def compare(name: str) -> dict[str, Any]:
    """A few dozen stages with each solver: seconds per stage, and how the decisions differ.

    Hindsight, which only our record needs, is solved by us in both runs.
    """
    problem, stream = problem_of(SETTINGS), stream_of(SETTINGS)
    policy = policies_of(SETTINGS)[name]
    milp_policy = with_milp(policy, WithMilp(problem))
    record(run(policy, stream, problem=problem, seeds=[0], horizon=2), problem.sense)  # compile
    seconds, theirs = [], []
    for seed in range(TRIALS):
        start = perf_counter()
        stages = run(milp_policy, stream, problem=problem, seeds=[seed], horizon=STAGES)
        theirs.append(record(stages, problem.sense))
        seconds.append((perf_counter() - start) / STAGES)
    start = perf_counter()
    stages = run(policy, stream, problem=problem, seeds=range(OUR_TRIALS), horizon=OUR_STAGES)
    ours = record(stages, problem.sense)
    our_seconds = (perf_counter() - start) / (OUR_TRIALS * OUR_STAGES)
    return {
        "policy": name,
        "their_seconds_per_stage": mean_sd(np.array(seconds))._asdict(),
        "our_seconds_per_stage": our_seconds,
        **_agreement(ours, theirs),
    }


def _agreement(ours: Trace, theirs: list[Trace]) -> dict[str, int]:
    """Stages with the same decision; with another that promises the same; with a worse one."""
    z, found = (np.concatenate([getattr(t, part) for t in theirs]) for part in ("z", "value"))
    same = (ours.z[:TRIALS, :STAGES] == z).all(axis=-1)
    promised = ours.value[:TRIALS, :STAGES]
    tie = ~same & (np.abs(promised - found) <= 1e-9 * np.abs(promised))
    return {
        "same": int(same.sum()),
        "ties": int(tie.sum()),
        "theirs_worse": int((~same & ~tie & (found > promised)).sum()),
        "ours_worse": int((~same & ~tie & (found < promised)).sum()),
    }


def main() -> None:
    rows = [compare(name) for name in PRINTED]
    theirs = FULL_TABLE * sum(row["their_seconds_per_stage"]["mean"] for row in rows)
    ours = FULL_TABLE * sum(row["our_seconds_per_stage"] for row in rows)
    lines = [
        "# The paper's tool chain beside ours",
        "",
        "`python benchmarks/paper_stack.py`: the same policies with SciPy's `milp`"
        f" ({TRIALS} trials of {STAGES} stages, mean ± sd over trials) and with ours"
        f" ({OUR_TRIALS} trials of {OUR_STAGES} stages), one process, milliseconds per trial and"
        " stage. Decisions are compared on the stages that both played: a tie is another z with"
        " the same expected reward.",
        "",
        "| policy | SciPy | ours | ratio | same z | ties | SciPy's is worse | ours is worse |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        a, b = 1e3 * row["their_seconds_per_stage"]["mean"], 1e3 * row["our_seconds_per_stage"]
        sd = 1e3 * row["their_seconds_per_stage"]["sd"]
        counts = " | ".join(str(row[n]) for n in ("same", "ties", "theirs_worse", "ours_worse"))
        lines.append(
            f"| {row['policy']} | {a:,.1f} ± {sd:.1f} | {b:.3f} | {a / b:,.0f} | {counts} |"
        )
    lines += [
        "",
        f"The whole table (4 policies, 100 trials, 1000 stages) on one core: {theirs / 3600:,.0f}"
        f" hours extrapolated from SciPy's stages, {ours:,.0f} s of ours: a ratio of"
        f" **{theirs / ours:,.0f}**.",
    ]
    write(
        "paper_stack",
        {"rows": rows, "their_seconds": theirs, "our_seconds": ours, "ratio": theirs / ours},
    )
    write_markdown("paper_stack", lines)


if __name__ == "__main__":
    main()
