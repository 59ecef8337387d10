"""Linear algebra on one thread."""

from contextlib import AbstractContextManager
from functools import cache
from importlib import import_module
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread: matrices here are small, and threads wait longer than they work.

    On a machine that is busy with something else, by ten times.
    """
    context: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return context


@cache
def _controller() -> Any:
    return import_module("threadpoolctl").ThreadpoolController()
