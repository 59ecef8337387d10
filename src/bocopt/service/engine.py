"""The engine: one thread decides and learns for all streams, and logs before it answers.

It drains its queue into a batch, does the commands on copies, commits one transaction for all of
them, and only then answers. So an answer means that it is on the disk, and a crash at any moment
leaves a log of which every stream is a fold.
"""

import logging
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import NamedTuple

from bocopt.service.batch import Batch, StaleError
from bocopt.service.commands import Begin, Command, Drop, RefusedError, Reply
from bocopt.service.fleet import Fleet
from bocopt.service.held import DamagedError
from bocopt.service.metrics import Metrics
from bocopt.service.stores import ConflictError, Row, Store, StoreError

_TRIES = 50  # of a batch, while other writers are quicker
_LOOK = 1.0  # seconds between looks at what is overdue
_log = logging.getLogger(__name__)


class _Job(NamedTuple):
    command: Command
    answer: Future[Reply]
    came: float


class Engine:
    """Answers commands about streams. `step` is the whole of it; a thread calls it in a loop."""

    def __init__(
        self,
        store: Store,
        fleet: Fleet,
        *,
        queue: int = 1000,
        at_once: int = 64,
        clock: Callable[[], float] = time.time,
        committed: Callable[[Sequence[Row]], None] = lambda rows: None,
    ) -> None:
        self._store, self.fleet, self._clock = store, fleet, clock
        self._queue: Queue[_Job] = Queue(queue)
        self._at_once, self._committed = at_once, committed
        self._stopping, self._thread = Event(), Thread(target=self._run, daemon=True)
        self._looked = 0.0
        self._ready = Event()
        self.failure: Exception | None = None  # why it could not start
        self.metrics = Metrics(lambda: {"queue": self._queue.qsize(), **fleet.counts()})

    def start(self) -> None:
        """Build all streams from the log, and answer from then on."""
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Until it is ready, but no longer than that."""
        return self._ready.wait(seconds)

    def stop(self) -> None:
        """Answer what was accepted, refuse what comes, and leave snapshots for the next start."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        self._refuse_the_rest()
        with suppress(StoreError, ConflictError):  # a cache: the log is whole without it
            self._store.append((), self.fleet.snapshots())

    @property
    def ready(self) -> bool:
        """Whether it answers: all streams are held, and their machine code is compiled."""
        return self._ready.is_set() and not self._stopping.is_set() and self._thread.is_alive()

    def submit(self, command: Command) -> Future[Reply]:
        """The answer, some time; a RefusedError where too many wait already."""
        if not self.ready:
            doing = "stopping" if self._stopping.is_set() else "starting"
            raise RefusedError(503, f"The service is {doing}.")
        job = _Job(command, Future(), time.perf_counter())
        try:
            self._queue.put_nowait(job)
        except Full:
            self.metrics.count("bocopt_refused_total")
            waiting = f"{self._queue.maxsize} requests wait already."
            raise RefusedError(503, f"{waiting} Try again in a second.") from None
        return job.answer

    def _run(self) -> None:
        try:
            self.fleet.open(self._clock())
        except Exception as error:
            self.failure = error
            return
        self._ready.set()
        while not (self._stopping.is_set() and self._queue.empty()):
            jobs = self._drained()
            try:
                if jobs:
                    self._answer(jobs)
                self._look_for_overdue()
            except Exception as error:  # a fault of ours: nobody may wait for ever
                _log.exception("The engine failed, and goes on from the log.")
                self.fleet.drop_all()
                for job in jobs:
                    _answered(job, error)

    def _drained(self) -> list[_Job]:
        try:
            jobs = [self._queue.get(timeout=0.1)]
        except Empty:
            return []
        while len(jobs) < self._at_once:
            try:
                jobs.append(self._queue.get_nowait())
            except Empty:
                break
        return jobs

    def _refuse_the_rest(self) -> None:
        while True:
            try:
                _answered(self._queue.get_nowait(), RefusedError(503, "The service is stopping."))
            except Empty:
                return

    def _answer(self, jobs: Sequence[_Job]) -> None:
        answers = self.step([job.command for job in jobs])
        for job, answer in zip(jobs, answers, strict=True):
            status = answer.status if isinstance(answer, Reply | RefusedError) else 500
            self.metrics.answered(type(job.command).__name__, status, job.came)
            _answered(job, answer)  # last: whoever hears it may look at the metrics

    def step(self, commands: Sequence[Command]) -> list[Reply | Exception]:
        """Do a batch and log it; the answers, where an error means that nothing was changed."""
        for attempt in range(_TRIES):
            batch = Batch(self._store, self.fleet.held, self._clock)
            try:
                answers = [self._done(batch, command) for command in commands]
                batch.commit()
            except StaleError as error:
                self.fleet.catch_up([error.stream])
                continue
            except ConflictError:
                self.metrics.count("bocopt_conflicts_total")
                self.fleet.catch_up(batch.held)
                time.sleep(random.uniform(0.0, 0.001) * min(attempt, 10))
                continue
            except StoreError as error:
                _log.error("Nothing could be logged: %s", error)
                self.fleet.drop(batch.held)
                refused = RefusedError(507 if error.full else 503, str(error))
                return [refused if isinstance(each, Reply) else each for each in answers]
            self.fleet.keep(batch.held)
            self.metrics.committed(batch.rows)
            self._committed(batch.rows)
            return answers
        busy = RefusedError(503, "Other servers write to the same streams too fast. Try again.")
        return [busy] * len(commands)

    def _done(self, batch: Batch, command: Command) -> Reply | Exception:
        try:
            if isinstance(command, Begin):
                return self.fleet.begin(command, self._clock())
            return batch.do(command)
        except StaleError:
            raise
        except RefusedError as error:
            return error
        except DamagedError as error:
            return RefusedError(503, f"{error} Run `bocopt doctor`.")
        except StoreError as error:
            return RefusedError(503, str(error))
        except Exception as error:  # of a user's problem or policy: the streams are as they were
            _log.exception("A %s failed.", type(command).__name__)
            return RefusedError(500, f"{type(error).__name__}: {error}")

    def _look_for_overdue(self) -> None:
        if time.monotonic() - self._looked < _LOOK:
            return
        self._looked = time.monotonic()
        overdue = self.fleet.overdue(self._clock())
        if overdue:
            self.step([Drop(stream, number) for stream, number in overdue[: self._at_once]])


def _answered(job: _Job, answer: Reply | Exception) -> None:
    if job.answer.done() or not job.answer.set_running_or_notify_cancel():
        return  # who asked has gone: it is logged all the same
    if isinstance(answer, Exception):
        job.answer.set_exception(answer)
    else:
        job.answer.set_result(answer)
