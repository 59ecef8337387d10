"""Worker processes that end with the process that started them, however that ends."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import ParamSpec, TypeVar

from bocopt.interrupts import blocked, held_back, left_to_the_parent

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def processes(workers: int) -> Iterator[Executor]:
    """A pool; when its block is left by an error or Ctrl-C, running tasks are dropped at once.

    Workers start as tasks come, and nobody waits for them to be up.
    """
    before = set(active_children())
    executor = _Pool(workers, mp_context=get_context("spawn"), initializer=left_to_the_parent)
    try:
        yield executor
    except BaseException:
        with held_back():
            executor.shutdown(wait=False, cancel_futures=True)
            for worker in set(active_children()) - before:
                worker.terminate()
        raise
    executor.shutdown()


class _Pool(ProcessPoolExecutor):
    """Ctrl-C is the parent's business: workers are born deaf to it, and remain so."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Submit a task, with interrupts blocked while a worker may start."""
        # Submitting may start a worker, which would complain if it were cut off. Blocking alone is
        # not enough: a thread of a numerical library may take the signal.
        with held_back(), blocked():
            return super().submit(fn, *args, **kwargs)
