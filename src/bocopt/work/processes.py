"""Worker processes that end with the process that started them, however that ends."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, connection, get_context, parent_process
from typing import ParamSpec, TypeVar

from bocopt.interrupts import held_back

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def processes(workers: int) -> Iterator[Executor]:
    """A pool; when its block is left by an error or Ctrl-C, running tasks are dropped at once.

    Workers start as tasks come, and nobody waits for them to be up.
    """
    before = set(active_children())
    executor = _Pool(workers, mp_context=get_context("spawn"), initializer=_prepare)
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
        # Submitting may start a worker, which would complain if it were cut off. Blocking alone is
        # not enough: a thread of a numerical library may take the signal.
        with held_back(), _interrupts_blocked():
            return super().submit(fn, *args, **kwargs)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """What starts here inherits it, where the system can do that."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare() -> None:
    """In a worker: leave Ctrl-C to the parent; end when it is gone, even when it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_wait_for, args=(parent.sentinel,), daemon=True).start()


def _wait_for(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)
