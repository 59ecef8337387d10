"""The tasks of the studies of other problems: what decisions cost, and what they miss."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from bocopt import arguments, run
from bocopt.core import Array, IntArray, Policy
from bocopt.loop import Stage
from bocopt.problems import ShortestPath
from bocopt.problems.hindsight import decide_as_if
from bocopt.streams.polynomial import PolynomialCosts
from bocopt_studies.work.task import Play, Record, Task


@dataclass(frozen=True, kw_only=True)
class DecideTask(Play):
    """Task that records each stage's cost, whether it was feasible, and how it was decided."""

    trials_per_block: ClassVar[int] = 2  # programs are solved one by one: no overhead to share

    def run(self) -> Record:
        """Return costs, feasibility and statuses by name, (trials, T) each."""
        seen = partial(run, problem=self.problem, seeds=self.seeds, horizon=self.horizon)
        return stacked(
            {
                "cost": stage.cost,
                "feasible": stage.feasible,
                "status": stage.decision.solution.status.astype(np.int8),
            }
            for stage in seen(self.policy, self.stream, hindsight=False)
        )


@dataclass(frozen=True)
class OwnLaws:
    """The polynomial stream, where the matrix of each trial is its own, as in the literature."""

    degree: int
    half_width: float

    def stages(self, seeds: IntArray) -> Iterator[tuple[Array, Array]]:
        """Endless."""
        seeds = arguments.seeds_of("OwnLaws.stages", seeds)
        each = [self._law(seed).stages(np.array(seed)) for seed in seeds.ravel().tolist()]
        for stage in zip(*each, strict=True):
            x, xi = (np.stack(part).reshape(*seeds.shape, -1) for part in zip(*stage, strict=True))
            yield x, xi

    def mean(self, seeds: IntArray, x: Array) -> Array:
        """(trials), (trials, k) -> (trials, m) the mean of xi given x."""
        none = np.zeros(PolynomialCosts().dim_noise)
        pairs = zip(seeds.tolist(), x, strict=True)
        return np.stack([self._law(seed).sample_given(own, none) for seed, own in pairs])

    def _law(self, seed: int) -> PolynomialCosts:
        return PolynomialCosts(degree=self.degree, half_width=self.half_width, law=seed)


@dataclass(frozen=True, kw_only=True)
class Race(Task):
    """Task that records a path's cost above the shortest, by the mean costs given the context."""

    policy: Policy[Any]
    problem: ShortestPath
    stream: OwnLaws

    def run(self) -> Record:
        """Return excess costs and least costs by name, (trials, T) each."""
        seen = partial(run, problem=self.problem, seeds=self.seeds, horizon=self.horizon)
        return stacked(
            self._missed(stage) for stage in seen(self.policy, self.stream, hindsight=False)
        )

    def _missed(self, stage: Stage) -> Record:
        mean = self.stream.mean(np.array(self.seeds), stage.x)
        least = decide_as_if(self.problem, stage.x, mean).value
        paid = self.problem.cost(stage.x, stage.decision.solution.z, mean)
        return {"missed": paid - least, "least": least}


def stacked(stages: Iterator[Record]) -> Record:
    """(trials) by name at each stage -> (trials, T) by name."""
    found: dict[str, list[np.ndarray]] = {}
    for stage in stages:
        for name, numbers in stage.items():
            found.setdefault(name, []).append(numbers)
    return {name: np.stack(series, axis=1) for name, series in found.items()}
