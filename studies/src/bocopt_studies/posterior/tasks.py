"""Tasks about beliefs: one posterior under every decision rule, and how losses spread in it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocopt.beliefs import ResampleMove
from bocopt.core import Predictor, Problem, Sampler, Stream, judge
from bocopt.policies import BGS, BMA, MeanPrediction, MostProbable, Vote
from bocopt.policies.bayes import FromBelief
from bocopt_studies.work.task import Record, Task

RULES: dict[str, Callable[[Problem, Predictor, Sampler[Any]], FromBelief[Any]]] = {
    "aggregated": BMA,
    "one draw": BGS,
    "most probable": MostProbable,
    "mean prediction": MeanPrediction,
    "vote": Vote,
}


@dataclass(frozen=True, kw_only=True)
class Rules(Task):
    """One posterior, and what each decision rule earns from it.

    All see every outcome in full, so that what is learned does not depend on what is decided.
    """

    problem: Problem
    predictor: Predictor
    stream: Stream
    sampler: Sampler[Any]

    def run(self) -> Record:
        """Return objective, feasibility and status by rule, mean loss and moves, (trials, T)."""
        seeds = np.array(self.seeds)
        policies = {
            name: rule(self.problem, self.predictor, self.sampler) for name, rule in RULES.items()
        }
        belief = next(iter(policies.values())).init(seeds)
        found: dict[str, list[NDArray[Any]]] = {}
        for t, (x, xi) in zip(range(self.horizon), self.stream.stages(seeds), strict=False):
            for name, policy in policies.items():
                solution = policy.decide(belief, t, x).solution
                z, sense = solution.z, self.problem.sense
                cost, violation = judge(self.problem, x, z, xi)
                found.setdefault(f"{name}/{sense.value}", []).append(sense.sign * cost)
                found.setdefault(f"{name}/status", []).append(solution.status.astype(np.int8))
                found.setdefault(f"{name}/feasible", []).append(violation <= 0)
            belief = self.sampler.step(belief, t, x, xi)
            found.setdefault("mean_loss", []).append(belief.info.belief.losses.mean_loss)
            found.setdefault("moves", []).append(belief.info.rejuvenated)
        return {name: np.stack(series, axis=-1) for name, series in found.items()}


@dataclass(frozen=True, kw_only=True)
class LossSpread(Task):
    """Total losses of the particles after the last stage, and after many more sweeps there.

    `evaluated` and `spared` count the losses that moves took up to then.
    """

    sampler: ResampleMove
    stream: Stream
    more_sweeps: int

    def run(self) -> Record:
        """Return total losses and log weights (trials, n), and counts of losses (trials)."""
        seeds = np.array(self.seeds)
        belief = self.sampler.init(seeds)
        evaluated, spared = np.zeros(len(seeds)), np.zeros(len(seeds))
        for t, (x, xi) in zip(range(self.horizon), self.stream.stages(seeds), strict=False):
            belief = self.sampler.step(belief, t, x, xi)
            evaluated += belief.info.evaluated
            spared += belief.info.spared
        if self.more_sweeps:
            belief = self.sampler.refresh(belief, self.more_sweeps)
        return {
            "total": belief.total,
            "log_w": belief.log_w,
            "evaluated": evaluated,
            "spared": spared,
        }
