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
        workers, mp_context=get_context("spawn"), initializer=_follow_parent
    )
    try:
        yield executor
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for worker in set(active_children()) - before:
            worker.terminate()
        raise
    executor.shutdown()


def _follow_parent() -> None:
    """Leave Ctrl-C to the parent, and end when it is gone: even when it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)
