"""Worker processes that end with the process that started them, however that ends."""

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, connection, get_context, parent_process


@contextmanager
def processes(workers: int) -> Iterator[Executor]:
    """A pool; when its block is left by an error or Ctrl-C, running tasks are dropped at once."""
    before = set(active_children())
    executor = ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_end_with_parent
    )
    try:
        with _deaf_to_interrupts():  # the workers inherit it: Ctrl-C is the parent's business
            list(executor.map(_nothing, range(workers)))
        yield executor
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for worker in set(active_children()) - before:
            worker.terminate()
        raise
    executor.shutdown()


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _nothing(_: int) -> None:
    """What starts a worker."""


def _end_with_parent() -> None:
    """End when the parent is gone, even when it was killed."""
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_wait_for, args=(parent.sentinel,), daemon=True).start()


def _wait_for(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)
