"""Tasks, run by any executor and stored block by block as they finish.

`Executor` is the standard library's, or a cluster's. An interrupted run goes on where it stopped,
to the same bytes.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from queue import SimpleQueue
from time import perf_counter

import numpy as np

from bocopt.interrupts import held_back
from bocopt.work.store import Block, Store
from bocopt.work.task import Record, Task


def timed(task: Task) -> Block:
    """What a worker does."""
    started = perf_counter()
    return Block(task.run(), perf_counter() - started)


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
        """Compute what is missing; `progress` hears how many stages each finished block had.

        Futures are touched only while interrupts are held back: one that came while a future is
        locked would leave it locked, and its executor would wait for it for ever.
        """
        finished: SimpleQueue[Future[Block]] = SimpleQueue()
        digests = {}
        for digest, task in self._missing.items():
            with held_back():
                future = executor.submit(timed, task)
                digests[future] = digest
                future.add_done_callback(finished.put)
        for _ in range(len(digests)):
            future = finished.get()  # an interrupt is noticed here
            with held_back():
                digest, block = digests[future], future.result()
            self._done[digest] = block
            self._store.save(digest, block)
            progress(self._missing.pop(digest).stages)

    def record(self, task: Task) -> Record:
        """All trials of one of the tasks."""
        blocks = [self._done[block.digest].record for block in task.blocks()]
        return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}

    def seconds(self, tasks: Iterable[Task]) -> float:
        """What computing these tasks took, whenever that was."""
        digests = {block.digest for task in tasks for block in task.blocks()}
        return sum(self._done[digest].seconds for digest in digests)
