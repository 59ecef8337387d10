"""The engines: a thread for each decider hands it commands, and logs before it answers.

An engine drains its queue into a batch, has the commands done on copies, commits one transaction
for all of them, and only then answers. So an answer means that it is on the disk, and a crash at
any moment leaves a log of which every stream is a fold.
"""

import logging
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import NamedTuple

from bocopt.app.service.commands import Command, Create, Query, RefusedError, Reply
from bocopt.app.service.metrics import Metrics
from bocopt.app.service.registry import Registry
from bocopt.app.service.shard import BUSY, Answer, CommitResult, Decider, Proposal, place_of
from bocopt.app.service.stores import ConflictError, EventRow, Store, StoreError

_TRIES = 50  # of a batch, while other writers are quicker
_IDLE = 1.0  # seconds after which a shard is asked whether something is overdue
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
        registry: Registry,
        decider: Decider,
        *,
        queue: int = 1000,
        at_once: int = 64,
        clock: Callable[[], float] = time.time,
        committed: Callable[[Sequence[EventRow]], None] = lambda rows: None,
        metrics: Metrics | None = None,
    ) -> None:
        self._store, self._registry, self.decider = store, registry, decider
        self._queue: Queue[_Job] = Queue(queue)
        self._at_once, self._clock, self._committed = at_once, clock, committed
        self._stopping, self._thread = Event(), Thread(target=self._run, daemon=True)
        self._worked, self._ready = 0.0, Event()
        self._metrics = metrics or Metrics(self.gauges)
        self._latest = Proposal(())
        self.failure: Exception | None = None  # why it could not start

    def start(self) -> None:
        """Open who decides, and answer from then on."""
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Until it is ready, but no longer than that."""
        return self._ready.wait(seconds)

    def refuse(self) -> None:
        """Refuse all commands from now on; those accepted before are still answered."""
        self._stopping.set()

    def stop(self) -> None:
        """Answer what was accepted, refuse what comes, and leave snapshots for the next start."""
        self.refuse()
        if self._thread.is_alive():
            self._thread.join()
        self._refuse_the_rest()
        snapshots = self.decider.close()
        with suppress(StoreError, ConflictError):  # a cache: the log is whole without it
            self._store.append((), snapshots)

    @property
    def ready(self) -> bool:
        """Return True while commands are accepted: code is compiled, and no stop was asked."""
        return self._ready.is_set() and not self._stopping.is_set() and self._thread.is_alive()

    def gauges(self) -> Mapping[str, float]:
        """Return the queue length, the streams in memory and their open decisions."""
        latest = self._latest
        return {"queue": self._queue.qsize(), "streams": latest.streams, "open": latest.open}

    def submit(self, command: Command) -> Future[Reply]:
        """The answer, some time; a RefusedError where too many wait already."""
        if not self.ready:
            doing = "stopping" if self._stopping.is_set() else "starting"
            raise RefusedError(503, f"The service is {doing}.")
        job = _Job(command, Future(), time.perf_counter())
        try:
            self._queue.put_nowait(job)
        except Full:
            self._metrics.count("bocopt_refused_total")
            waiting = f"{self._queue.maxsize} requests wait already."
            raise RefusedError(503, f"{waiting} Try again in a second.") from None
        return job.answer

    def _run(self) -> None:
        try:
            self.decider.open()
        except Exception as error:
            self.failure = error
            return
        self._ready.set()
        while not (self._stopping.is_set() and self._queue.empty()):
            jobs = self._drained()
            try:
                if jobs or time.monotonic() - self._worked > _IDLE:
                    self._answer(jobs)
            except Exception as error:  # a fault of ours: nobody may wait for ever
                _log.exception("The engine failed, and goes on from the log.")
                self.decider.settle(CommitResult.UNKNOWN)
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
        self._worked = time.monotonic()
        for job, answer in zip(jobs, answers, strict=True):
            self._metrics.answered(type(job.command).__name__, answer.status, job.came)
            _answered(job, answer)  # last: whoever hears it may look at the metrics

    def step(self, commands: Sequence[Command]) -> list[Answer]:
        """Do a batch and log it; the answers, where an error means that nothing was changed."""
        begun = self._begun([each for each in commands if isinstance(each, Create)])
        new = [next(begun) if isinstance(each, Create) else False for each in commands]
        asked = [
            Query(each.stream, "summary") if isinstance(each, Create) else each
            for each, how in zip(commands, new, strict=True)
            if not isinstance(how, RefusedError)
        ]
        answers = iter(self._logged(asked))
        return [
            how if isinstance(how, RefusedError) else _as_begun(next(answers), how) for how in new
        ]

    def _begun(self, asked: Sequence[Create]) -> Iterator[bool | RefusedError]:
        """Begin streams; return for each whether it is new, or the error that refused it."""
        try:
            return iter(self._registry.begin(asked, self._clock()))
        except StoreError as error:
            return iter([_refused(error)] * len(asked))

    def _logged(self, commands: Sequence[Command]) -> Sequence[Answer]:
        for attempt in range(_TRIES):
            proposal = self._latest = self.decider.propose(commands, self._clock())
            try:
                if proposal.rows or proposal.snapshots:
                    self._store.append(proposal.rows, proposal.snapshots, proposal.stages)
            except ConflictError:
                self._metrics.count("bocopt_conflicts_total")
                self.decider.settle(CommitResult.BEATEN)
                time.sleep(random.uniform(0.0, 0.001) * min(attempt, 10))
                continue
            except StoreError as error:
                _log.error("Nothing could be logged: %s", error)
                self.decider.settle(CommitResult.UNKNOWN)
                refused = _refused(error)
                return [refused if isinstance(each, Reply) else each for each in proposal.answers]
            self.decider.settle(CommitResult.KEPT)
            self._metrics.committed(proposal.rows)
            self._committed(proposal.rows)
            return proposal.answers
        return [BUSY] * len(commands)


class Router:
    """All engines of a service, one for each decider: a stream always has the same one."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        deciders: Sequence[Decider],
        *,
        queue: int = 1000,
        at_once: int = 64,
        clock: Callable[[], float] = time.time,
        committed: Callable[[Sequence[EventRow]], None] = lambda rows: None,
    ) -> None:
        self.metrics = Metrics(self._gauges)
        self.engines = [
            Engine(
                store,
                registry,
                decider,
                queue=max(1, queue // len(deciders)),
                at_once=at_once,
                clock=clock,
                committed=committed,
                metrics=self.metrics,
            )
            for decider in deciders
        ]
        self._registry, self._clock = registry, clock
        self._opening = Thread(target=self._open, daemon=True)
        self._failure: Exception | None = None

    def start(self) -> None:
        """Adopt the streams of the log, and answer from then on."""
        self._opening.start()

    def _open(self) -> None:
        try:
            self._registry.open(self._clock())
        except Exception as error:
            self._failure = error
            return
        for engine in self.engines:
            engine.start()

    def wait(self, seconds: float) -> bool:
        """Until it is ready, but no longer than that."""
        until = time.monotonic() + seconds
        return all(engine.wait(max(0.0, until - time.monotonic())) for engine in self.engines)

    def stop(self) -> None:
        """Answer what was accepted, refuse what comes, and leave snapshots for the next start."""
        self._opening.join()
        for engine in self.engines:
            engine.refuse()
        with ExitStack() as all_of_them:  # also where one of them fails
            for engine in self.engines:
                all_of_them.callback(engine.stop)

    @property
    def ready(self) -> bool:
        """Return True while all engines accept commands."""
        return all(engine.ready for engine in self.engines)

    @property
    def failure(self) -> Exception | None:
        """Why it could not start."""
        return self._failure or next((e.failure for e in self.engines if e.failure), None)

    def submit(self, command: Command) -> Future[Reply]:
        """The answer, some time; a RefusedError where too many wait already."""
        return self.engines[place_of(command.stream, len(self.engines))].submit(command)

    def _gauges(self) -> Mapping[str, float]:
        total: Counter[str] = Counter()
        for engine in self.engines:
            total.update(engine.gauges())
        return total


def _refused(error: StoreError) -> RefusedError:
    return RefusedError(507 if error.full else 503, str(error))


def _as_begun(answer: Answer, new: bool) -> Answer:
    """A summary as the answer to who began a stream."""
    return answer._replace(status=201) if new and isinstance(answer, Reply) else answer


def _answered(job: _Job, answer: Reply | Exception) -> None:
    if job.answer.done() or not job.answer.set_running_or_notify_cancel():
        return  # who asked has gone: it is logged all the same
    if isinstance(answer, Exception):
        job.answer.set_exception(answer)
    else:
        job.answer.set_result(answer)
