"""The workers of a Dask cluster, an extra: pip install "bocopt[cluster]"."""

import asyncio
import logging
import pickle
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any

from bocopt.extras import needed
from bocopt.interrupts import held_back

_CONNECT = 3.0  # seconds: whoever is there answers sooner
_SILENT = 30.0  # seconds after which a scheduler that says nothing counts as lost
_NEWS = 1.0  # seconds for which a number of workers is news


class ClusterLostError(BrokenExecutor):
    """Workers or their scheduler are gone."""


class NoSchedulerError(ValueError):
    """Nobody is at an address."""


class _Call:
    """A call that is made by unpickling it.

    A worker that cannot load what it is sent stays silent for ever; this one it can, and what is
    inside fails as any other call.
    """

    def __init__(self, fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self._parts = fn, args

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self._parts


class Cluster(Executor):
    """An executor on a Dask cluster; what is lost is told as by a pool of processes."""

    def __init__(self, client: Any) -> None:
        self._client, self._inner = client, client.get_executor(pure=False)
        self._address = client.scheduler.address
        self._size, self._asked = 0, -_NEWS

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Send a call to the cluster, and return the future of its result."""
        outer: Future[Any] = Future()
        try:
            inner = self._inner.submit(
                pickle.loads, pickle.dumps(_Call(partial(fn, **kwargs), args))
            )
        except Exception as error:
            raise self._lost(error) from None
        inner.add_done_callback(lambda done: self._pass_on(done, outer))
        return outer

    def size(self) -> int:
        """Return the number of workers now; raise an error if the scheduler is gone."""
        if monotonic() - self._asked >= _NEWS:
            try:
                about = self._client.sync(
                    self._client.scheduler.identity, n_workers=0, callback_timeout=_SILENT
                )
            except Exception as error:
                raise self._lost(error) from None
            if self._client.status != "running":
                raise self._lost(self._client.status)
            self._size, self._asked = about["n_workers"], monotonic()
        return self._size

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nothing is waited for: whoever wanted an answer has it."""
        self._inner.shutdown(wait=False)

    def _pass_on(self, done: Future[Any], outer: Future[Any]) -> None:
        if done.cancelled():
            outer.set_exception(self._lost("the connection was closed"))
            return
        error = done.exception()
        if error is None:
            outer.set_result(done.result())
        else:
            outer.set_exception(self._lost_or_own(error))

    def _lost_or_own(self, error: BaseException) -> BaseException:
        distributed = _distributed()
        if isinstance(error, distributed.scheduler.KilledWorker):
            return ClusterLostError("A worker process was killed, perhaps for want of memory.")
        if isinstance(error, distributed.comm.CommClosedError | TimeoutError):
            return self._lost(error)
        if isinstance(error, ImportError | AttributeError) and "bocopt" in str(error):
            return ClusterLostError(
                f"A worker of the cluster at {self._address} could not load bocopt: {error}. "
                "Install there what is installed here, and start it again."
            )
        return error

    def _lost(self, why: object) -> ClusterLostError:
        """Return the error of a lost scheduler, with only the name of an exception of Dask."""
        reason = type(why).__name__ if isinstance(why, BaseException) else why
        return ClusterLostError(f"The scheduler at {self._address} was lost: {reason}.")


@contextmanager
def cluster(address: str) -> Iterator[Cluster]:
    """The workers that the scheduler at an address has, now and later.

    When its block is left, whatever has not begun is given up; workers and scheduler stay.
    """
    distributed = _distributed()
    dask = needed("dask", "--cluster", '"bocopt[cluster]"')
    _hush()
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
        client = _connected(distributed, address)
        executor = Cluster(client)
        try:
            yield executor
        finally:
            with held_back():
                executor.shutdown()
                client.close(timeout=2)


def _connected(distributed: Any, address: str) -> Any:
    try:
        _greet(distributed, address)
        # Other versions are refused by name, if they matter: no need to be warned of all.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", distributed.versions.VersionMismatchWarning)
            return distributed.Client(address, timeout=_CONNECT, set_as_default=False)
    except (OSError, ValueError, TypeError, ImportError) as error:
        raise NoSchedulerError(
            f"No Dask scheduler answers at {address!r}: {error}. Expected an address such as "
            "tcp://127.0.0.1:8786, which 'dask scheduler' prints when it starts."
        ) from None


def _greet(distributed: Any, address: str) -> None:
    """Check that a scheduler is there: a client takes long to give up, a stranger is silent."""
    security = distributed.Security().get_connection_args("client")
    failed: SimpleQueue[BaseException | None] = SimpleQueue()

    async def meet() -> None:
        """Connect to the address, and close the connection."""
        comm = await distributed.core.connect(address, timeout=_CONNECT, **security)
        await comm.close()

    def attempt() -> None:
        """Try to connect, and report the error, or None, to the thread that waits."""
        try:
            asyncio.run(meet())
            failed.put(None)
        except Exception as error:
            failed.put(error)

    Thread(target=attempt, daemon=True).start()
    try:
        error = failed.get(timeout=2 * _CONNECT)
    except Empty:
        error = TimeoutError(f"whoever is there says nothing for {2 * _CONNECT:g} s")
    if error is not None:
        raise error


def _distributed() -> Any:
    return needed("distributed", "--cluster", '"bocopt[cluster]"')


def _hush() -> None:
    """Silence the logs of Dask: we say it in a sentence, and some of it comes after we are done."""
    for name in ("distributed", "distributed.client", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
