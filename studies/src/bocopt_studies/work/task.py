"""Pure, picklable tasks: some trials of some work, the same result wherever they run.

A task says all that its result depends on, so its result can be kept under the task's own digest,
and used again by any study that asks for the same.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bocopt.core import Policy, Problem, Sense, Stream
from bocopt.fingerprint import fingerprint
from bocopt.loop import run
from bocopt.sources import modules_of, software
from bocopt.trace import stacked

Record = dict[str, NDArray[Any]]  # (trials, T) by name

#: What is kept of each stage, where the policy has it.
_KEPT: dict[str, type[np.generic]] = {
    **{sense.value: np.float64 for sense in Sense},
    "feasible": np.bool_,
    **{f"hindsight_{sense.value}": np.float64 for sense in Sense},
    "solvable": np.bool_,
    "status": np.int8,
    "squared_error": np.float64,
    "rejuvenated": np.int16,
}


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """Some trials of some work: the same result whatever runs beside it."""

    seeds: tuple[int, ...]
    horizon: int
    #: Large enough to share the overhead of the loop, small enough to spread.
    trials_per_block: ClassVar[int] = 20

    @abstractmethod
    def run(self) -> Record:
        """Return arrays by name, whose first axis is that of the trials."""
        ...

    @property
    def stages(self) -> int:
        """Number of stages of all trials together."""
        return len(self.seeds) * self.horizon

    @property
    def digest(self) -> str:
        """A name for the result: what is run, by which code, with which libraries."""
        code = software(modules_of(self))
        return hashlib.sha256((fingerprint(self) + code).encode()).hexdigest()

    def short(self) -> Self:
        """A stage of it: as little as needs the same machine code."""
        return replace(self, seeds=self.seeds[:1], horizon=1)

    def blocks(self) -> Iterator[Self]:
        """Yield the task in parts of at most `trials_per_block` trials."""
        for first in range(0, len(self.seeds), self.trials_per_block):
            yield replace(self, seeds=self.seeds[first : first + self.trials_per_block])


@dataclass(frozen=True, kw_only=True)
class Play(Task):
    """A policy on a stream."""

    policy: Policy[Any]
    problem: Problem
    stream: Stream

    def run(self) -> Record:
        """Return what is kept of each stage by name, (trials, T) each."""
        stages = run(
            self.policy, self.stream, problem=self.problem, seeds=self.seeds, horizon=self.horizon
        )
        seen = stacked(stages, self.problem.sense).arrays()
        return {name: seen[name].astype(_KEPT[name]) for name in _KEPT if name in seen}
