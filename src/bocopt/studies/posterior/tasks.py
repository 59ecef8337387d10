"""Tasks about beliefs: one posterior under every decision rule, and accuracy against an oracle."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bocopt.beliefs import Belief, ResampleMove, posterior_mean
from bocopt.core import Array, Predictor, Problem, Sampler, Stream
from bocopt.numeric import noise
from bocopt.policies import BGS, BMA, MeanPrediction, MostProbable, Vote
from bocopt.policies.bayes import FromBelief
from bocopt.work.task import Record, Task

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
                shown = sense.sign * self.problem.cost(x, z, xi)
                found.setdefault(f"{name}/{sense.value}", []).append(shown)
                found.setdefault(f"{name}/status", []).append(solution.status.astype(np.int8))
                feasible = self.problem.violation(x, z, xi) <= 0
                found.setdefault(f"{name}/feasible", []).append(feasible)
            belief = self.sampler.step(belief, t, x, xi)
            found.setdefault("mean_loss", []).append(belief.info.belief.losses.mean_loss)
            found.setdefault("moves", []).append(belief.info.rejuvenated)
        return {name: np.stack(series, axis=-1) for name, series in found.items()}


@dataclass(frozen=True, kw_only=True)
class Oracle(Task):
    """A sampler against a posterior that is known.

    For l = |theta - xi|^2 / 2 and the prior N(0, I), it is N(lam sum xi / n, I / n) with
    n = 1 + lam t.
    """

    sampler: Sampler[Any]
    lam: float
    dim: int

    def run(self) -> Record:
        seeds = np.array(self.seeds)
        belief = self.sampler.init(seeds)
        total, moves = np.zeros((len(seeds), self.dim)), np.zeros(len(seeds))
        for t in range(self.horizon):
            xi = 0.5 + noise.normal(seeds, t, "oracle", (self.dim,))
            belief = self.sampler.step(belief, t, np.zeros((len(seeds), 1)), xi)
            total += xi
            moves += belief.info.rejuvenated
        n = 1 + self.lam * self.horizon
        w = np.exp(belief.log_w)[..., None]
        mean = (w * belief.theta).sum(axis=-2)
        variance = (w * (belief.theta - mean[..., None, :]) ** 2).sum(axis=-2)
        error = mean - self.lam * total / n
        record = {"error": error * np.sqrt(n), "variance": variance * n, "moves": moves}
        if isinstance(belief, Belief):
            record["standard_error"] = posterior_mean(belief, belief.theta).standard_error * (
                np.sqrt(n)
            )
        return record


@dataclass(frozen=True, kw_only=True)
class Spread(Task):
    """Total losses of the particles after the last stage, and after many more sweeps there.

    `evaluated` and `spared` count the losses that moves took up to then.
    """

    sampler: ResampleMove
    stream: Stream
    more_sweeps: int

    def run(self) -> Record:
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


@dataclass(frozen=True)
class Quadratic:
    """|theta - xi|^2 / 2."""

    lower: ClassVar[float] = 0.0
    dim_noise: ClassVar[int] = 0

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        loss: Array = 0.5 * ((theta - xi) ** 2).sum(axis=-1)
        return loss
