"""The work of a study: pure, picklable tasks, stored block by block as they finish.

A task says all that its result depends on, so its result can be computed anywhere (`Executor` is
the standard library's, or a cluster's), kept under the task's own digest, and used again by any
study that asks for the same. An interrupted study goes on where it stopped, to the same bytes.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bocopt import checkpoint, run
from bocopt.core import Policy, Problem, Sense, Stream
from bocopt.experiments.sources import modules_of, software
from bocopt.fingerprint import fingerprint
from bocopt.state import CheckpointError
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
    def run(self) -> Record: ...

    @property
    def stages(self) -> int:
        return len(self.seeds) * self.horizon

    @property
    def digest(self) -> str:
        """A name for the result: what is run, by which code, with which libraries."""
        code = software(modules_of(self))
        return hashlib.sha256((fingerprint(self) + code).encode()).hexdigest()

    def blocks(self) -> Iterator[Self]:
        for first in range(0, len(self.seeds), self.trials_per_block):
            yield replace(self, seeds=self.seeds[first : first + self.trials_per_block])


@dataclass(frozen=True, kw_only=True)
class Play(Task):
    """A policy on a stream."""

    policy: Policy[Any]
    problem: Problem
    stream: Stream

    def run(self) -> Record:
        stages = run(self.policy, self.problem, self.stream, seeds=self.seeds, horizon=self.horizon)
        seen = stacked(stages, self.problem.sense).arrays()
        return {name: seen[name].astype(_KEPT[name]) for name in _KEPT if name in seen}


def timed(task: Task) -> "Block":
    """What a worker does."""
    started = perf_counter()
    return Block(task.run(), perf_counter() - started)


class Block(NamedTuple):
    """Some trials' record, and how long it took."""

    record: Record
    seconds: float


class Store:
    """A folder of finished blocks, each in a file that is whole or absent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def load(self, digest: str) -> Block | None:
        """The block, or None where it is missing or damaged and must be computed."""
        try:
            header, arrays = checkpoint.load(self._path(digest))
        except (FileNotFoundError, CheckpointError):
            return None
        return Block(arrays, header["seconds"]) if header.get("digest") == digest else None

    def save(self, digest: str, block: Block) -> None:
        header = {"digest": digest, "seconds": block.seconds}
        checkpoint.save(self._path(digest), header, block.record)

    def _path(self, digest: str) -> Path:
        return self.folder / f"{digest[:32]}.block"


class Work:
    """Tasks, and what is known of their results: loaded from the store, or computed and stored."""

    def __init__(self, tasks: Sequence[Task], store: Store, fresh: bool = False) -> None:
        """Looks up what is stored, unless everything is to be computed afresh."""
        self._store = store
        blocks = {block.digest: block for task in tasks for block in task.blocks()}
        stored = {digest: None if fresh else store.load(digest) for digest in blocks}
        self._done = {digest: block for digest, block in stored.items() if block is not None}
        self._missing = {d: block for d, block in blocks.items() if d not in self._done}
        self.stages = sum(block.stages for block in blocks.values())

    @property
    def stages_missing(self) -> int:
        return sum(block.stages for block in self._missing.values())

    @property
    def blocks_missing(self) -> int:
        return len(self._missing)

    def compile(self) -> None:
        """Play one stage here, so that the workers find the machine code in the cache."""
        for block in list(self._missing.values())[:1]:
            replace(block, seeds=block.seeds[:1], horizon=1).run()

    def finish(self, executor: Executor, progress: Callable[[int], None]) -> None:
        """Compute what is missing; `progress` hears how many stages each finished block had."""
        futures = {executor.submit(timed, block): d for d, block in self._missing.items()}
        for future in as_completed(futures):
            digest = futures[future]
            self._done[digest] = future.result()
            self._store.save(digest, self._done[digest])
            progress(self._missing.pop(digest).stages)

    def record(self, task: Task) -> Record:
        """All trials of one of the tasks."""
        blocks = [self._done[block.digest].record for block in task.blocks()]
        return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}

    def seconds(self, tasks: Iterable[Task]) -> float:
        """What computing these tasks took, whenever that was."""
        digests = {block.digest for task in tasks for block in task.blocks()}
        return sum(self._done[digest].seconds for digest in digests)
