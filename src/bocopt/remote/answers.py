"""Orders on their way to workers, and what comes back.

`Executor` is the standard library's, or a cluster's.
"""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from queue import Empty, SimpleQueue
from typing import NamedTuple

from bocopt.interrupts import held_back
from bocopt.remote.order import JobResult, JobSpec, answer
from bocopt.remote.origin import refuse_foreign

#: Orders on their way for each worker: enough that none waits for the next one.
AHEAD = 4
_LOOK = 1.0  # seconds after which to look whether the workers are still there


class Planned(NamedTuple):
    """Name that an answer will be known by, and its order, written when its time comes."""

    name: str
    order: Callable[[], JobSpec]


def answered(
    executor: Executor,
    orders: deque[Planned],
    size: Callable[[], int],
    ahead: int = AHEAD,
) -> Iterator[tuple[str, JobResult]]:
    """The answers as they come; whoever takes them may append to the orders meanwhile.

    `size` tells how many workers there are now, and is asked at least once a second: it raises an
    error once nobody can come any more. An answer of other code ends it all.

    Futures are touched only while interrupts are held back: one that came while a future is
    locked would leave it locked, and its executor would wait for it for ever.
    """
    finished: SimpleQueue[Future[JobResult]] = SimpleQueue()
    sent: dict[Future[JobResult], tuple[str, frozenset[str]]] = {}
    while orders or sent:
        while orders and len(sent) < ahead * max(1, size()):
            name, written = orders.popleft()
            order = written()
            with held_back():
                future = executor.submit(answer, order)
                sent[future] = name, order.modules
                future.add_done_callback(finished.put)
        try:
            future = finished.get(timeout=_LOOK)  # an interrupt is noticed here
        except Empty:
            size()
            continue
        with held_back():
            name, modules = sent.pop(future)
            found = future.result()
        refuse_foreign(found.origin, modules)
        yield name, found
