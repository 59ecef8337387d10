"""Tasks, run by any executor and stored block by block as they finish.

`Executor` is the standard library's, or a cluster's. An interrupted run goes on where it stopped,
to the same bytes.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from functools import partial

import numpy as np

from bocopt.remote.answers import Planned, answered
from bocopt.remote.order import order
from bocopt.remote.origin import processor
from bocopt_studies.work.store import BlockStore, StoredBlock
from bocopt_studies.work.task import Record, Task


class Work:
    """Tasks, and what is known of their results: loaded from the store, or computed and stored."""

    def __init__(self, tasks: Sequence[Task], store: BlockStore, fresh: bool = False) -> None:
        """Looks up what is stored, unless everything is to be computed afresh."""
        self._store = store
        blocks = {block.digest: block for task in tasks for block in task.blocks()}
        stored = {digest: None if fresh else store.load(digest) for digest in blocks}
        self._done = {digest: block for digest, block in stored.items() if block is not None}
        self._missing = {d: block for d, block in blocks.items() if d not in self._done}
        self.stages = sum(block.stages for block in blocks.values())
        #: Of workers that computed something: other ones than ours, and where they are.
        self.other_processors: dict[str, str] = {}

    @property
    def stages_missing(self) -> int:
        """Number of stages that are not computed yet."""
        return sum(block.stages for block in self._missing.values())

    @property
    def blocks_missing(self) -> int:
        """Number of blocks that are not computed yet."""
        return len(self._missing)

    def compile(self) -> None:
        """Play one stage here, so that the workers find the machine code in the cache."""
        for block in list(self._missing.values())[:1]:
            block.short().run()

    def finish(
        self,
        executor: Executor,
        progress: Callable[[int], None],
        size: Callable[[], int] = lambda: 64,
    ) -> None:
        """Compute what is missing; `progress` hears how many stages each finished block had.

        `size` tells how many workers there are now. A worker with other code is refused by name,
        and nothing of it is stored.
        """
        orders = deque(
            Planned(digest, partial(order, task)) for digest, task in self._missing.items()
        )
        for digest, found in answered(executor, orders, size):
            if found.origin.processor != processor():
                self.other_processors[found.origin.processor] = found.origin.where
            block = StoredBlock(found.result, found.seconds)
            self._done[digest] = block
            self._store.save(digest, block)
            progress(self._missing.pop(digest).stages)

    def record(self, task: Task) -> Record:
        """All trials of one of the tasks."""
        blocks = [self._done[block.digest].record for block in task.blocks()]
        return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}

    def seconds(self, tasks: Iterable[Task]) -> float:
        """Return the seconds that computing these tasks took, whenever that was."""
        digests = {block.digest for task in tasks for block in task.blocks()}
        return sum(self._done[digest].seconds for digest in digests)
