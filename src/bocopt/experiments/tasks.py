"""The work of a study: pure, picklable tasks, stored block by block as they finish.

A task says all that its result depends on, so its result can be computed anywhere (`Executor` is
the standard library's, or a cluster's), kept under the task's own digest, and used again by any
study that asks for the same. An interrupted study goes on where it stopped, to the same bytes.
"""

import hashlib
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, as_completed
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import bocopt
from bocopt import checkpoint, record, run
from bocopt.core import Array, Policy, Problem, Stream

Record = dict[str, Array]  # (trials, T) by name

#: What is kept of each stage, where the policy has it.
_KEPT = ("reward", "feasible", "hindsight_reward", "solvable", "squared_error", "rejuvenated")
_TRIALS_PER_BLOCK = 20  # large enough to share the overhead of the loop, small enough to spread


class Task(NamedTuple):
    """Some trials of one policy: the same result whatever runs beside it."""

    policy: Policy[Any]
    problem: Problem
    stream: Stream
    seeds: tuple[int, ...]
    horizon: int

    @property
    def stages(self) -> int:
        return len(self.seeds) * self.horizon

    @property
    def digest(self) -> str:
        """A name for the result: what is run, by which code, with which libraries."""
        return hashlib.sha256((checkpoint.fingerprint(self) + _software()).encode()).hexdigest()

    def blocks(self) -> Iterator["Task"]:
        for first in range(0, len(self.seeds), _TRIALS_PER_BLOCK):
            yield self._replace(seeds=self.seeds[first : first + _TRIALS_PER_BLOCK])


def run_task(task: Task) -> Record:
    """The record of a block."""
    stages = run(task.policy, task.problem, task.stream, seeds=task.seeds, horizon=task.horizon)
    seen = record(stages, task.problem.sense).arrays()
    return {name: seen[name] for name in _KEPT if name in seen}


class Store:
    """A folder of finished blocks, each in a file that is whole or absent."""

    def __init__(self, folder: Path, fresh: bool = False) -> None:
        """Without what a killed run left half written and, if `fresh`, without any block."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for pattern in ("*.tmp", "*.block") if fresh else ("*.tmp",):
            for path in folder.glob(pattern):
                path.unlink(missing_ok=True)

    def load(self, digest: str) -> Record | None:
        """The block, or None where it is missing or damaged and must be computed."""
        try:
            header, arrays = checkpoint.load(self._path(digest))
        except (FileNotFoundError, checkpoint.CheckpointError):
            return None
        return arrays if header == {"digest": digest} else None

    def save(self, digest: str, block: Record) -> None:
        checkpoint.save(self._path(digest), {"digest": digest}, block)

    def _path(self, digest: str) -> Path:
        return self.folder / f"{digest[:32]}.block"


class Work:
    """Tasks, and what is known of their results: loaded from the store, or computed and stored."""

    def __init__(self, tasks: Sequence[Task], store: Store) -> None:
        self._tasks, self._store = tasks, store
        blocks = {block.digest: block for task in tasks for block in task.blocks()}
        stored = {digest: store.load(digest) for digest in blocks}
        self._done = {digest: block for digest, block in stored.items() if block is not None}
        self._missing = {d: block for d, block in blocks.items() if d not in self._done}
        self.stages = sum(block.stages for block in blocks.values())

    @property
    def stages_missing(self) -> int:
        return sum(block.stages for block in self._missing.values())

    def compile(self) -> None:
        """Play one stage here, so that the workers find the machine code in the cache."""
        for block in list(self._missing.values())[:1]:
            run_task(block._replace(seeds=block.seeds[:1], horizon=1))

    def finish(self, executor: Executor, progress: Callable[[int], None]) -> None:
        """Compute what is missing; `progress` hears how many stages each finished block had."""
        futures = {executor.submit(run_task, block): d for d, block in self._missing.items()}
        for future in as_completed(futures):
            digest = futures[future]
            self._done[digest] = future.result()
            self._store.save(digest, self._done[digest])
            progress(self._missing.pop(digest).stages)

    def records(self) -> list[Record]:
        """One for each task, in their order."""
        return [_joined(self._done[b.digest] for b in task.blocks()) for task in self._tasks]


def _joined(blocks: Iterable[Record]) -> Record:
    parts = list(blocks)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@cache
def _software() -> str:
    """A digest of this package's code, but for how results are shown, and of what it runs on."""
    root = Path(bocopt.__file__).parent
    code = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if name != "cli.py" and not name.startswith("report/"):
            code.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    libraries = [f"{name} {version(name)}" for name in ("numpy", "numba")]
    return ", ".join([code.hexdigest(), platform.python_version(), platform.machine(), *libraries])
