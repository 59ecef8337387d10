"""The engine: a thread for each decider hands it commands, and logs before it answers.

A thread drains its queue into a batch, has the commands done on copies, commits one transaction
for all of them, and only then answers. So an answer means that it is on the disk, and a crash at
any moment leaves a log of which every stream is a fold.
"""

import logging
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
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


@dataclass
class _Line:
    """The commands that wait for one decider, and the thread that has them done."""

    jobs: Queue[_Job]
    decider: Decider
    thread: Thread = field(default_factory=Thread)
    ready: Event = field(default_factory=Event)
    worked: float = 0.0
    latest: Proposal = field(default_factory=lambda: Proposal(()))


class Engine:
    """Answers commands about streams: a stream always has the same one of the deciders.

    `step` is the whole of it; a thread for each decider calls it in a loop.
    """

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
        self._store, self._registry = store, registry
        self._at_once, self._clock, self._committed = at_once, clock, committed
        share = max(1, queue // len(deciders))
        self.deciders = tuple(deciders)
        self._lines = [_Line(Queue(share), decider) for decider in deciders]
        self._stopping, self._opening = Event(), Thread(target=self._open, daemon=True)
        self.metrics = Metrics(self._totals)
        self.failure: Exception | None = None  # why it could not start

    def start(self) -> None:
        """Adopt the streams of the log, open all who decide, and answer from then on."""
        self._opening.start()

    def _open(self) -> None:
        try:
            self._registry.open(self._clock())
        except Exception as error:
            self.failure = error
            return
        for line in self._lines:
            line.thread = Thread(target=self._run, args=(line,), daemon=True)
            line.thread.start()

    def wait(self, seconds: float) -> bool:
        """Until it is ready, but no longer than that."""
        until = time.monotonic() + seconds
        return all(line.ready.wait(max(0.0, until - time.monotonic())) for line in self._lines)

    def stop(self) -> None:
        """Answer what was accepted, refuse what comes, and leave snapshots for the next start."""
        if self._opening.is_alive():
            self._opening.join()
        self._stopping.set()
        with ExitStack() as all_of_them:  # also where one of them fails
            for line in self._lines:
                all_of_them.callback(self._close, line)

    def _close(self, line: _Line) -> None:
        if line.thread.is_alive():
            line.thread.join()
        while not line.jobs.empty():
            _answered(line.jobs.get_nowait(), RefusedError(503, "The service is stopping."))
        snapshots = line.decider.close()
        with suppress(StoreError, ConflictError):  # a cache: the log is whole without it
            self._store.append((), snapshots)

    @property
    def ready(self) -> bool:
        """Return True while commands are accepted: code is compiled, and no stop was asked."""
        return all(self._accepts(line) for line in self._lines)

    def _accepts(self, line: _Line) -> bool:
        return line.ready.is_set() and not self._stopping.is_set() and line.thread.is_alive()

    def gauges(self) -> list[Counter[str]]:
        """Return for each decider its queue length, streams in memory and their open decisions."""
        return [
            Counter(queue=one.jobs.qsize(), streams=one.latest.streams, open=one.latest.open)
            for one in self._lines
        ]

    def _totals(self) -> Counter[str]:
        total: Counter[str] = Counter()
        for one in self.gauges():
            total.update(one)
        return total

    def submit(self, command: Command) -> Future[Reply]:
        """The answer, some time; a RefusedError where too many wait already."""
        line = self._lines[place_of(command.stream, len(self._lines))]
        if not self._accepts(line):
            doing = "stopping" if self._stopping.is_set() else "starting"
            raise RefusedError(503, f"The service is {doing}.")
        job = _Job(command, Future(), time.perf_counter())
        try:
            line.jobs.put_nowait(job)
        except Full:
            self.metrics.count("bocopt_refused_total")
            waiting = f"{line.jobs.maxsize} requests wait already."
            raise RefusedError(503, f"{waiting} Try again in a second.") from None
        return job.answer

    def _run(self, line: _Line) -> None:
        try:
            line.decider.open()
        except Exception as error:
            self.failure = self.failure or error
            return
        line.ready.set()
        while not (self._stopping.is_set() and line.jobs.empty()):
            jobs = self._drained(line)
            try:
                if jobs or time.monotonic() - line.worked > _IDLE:
                    self._answer(line, jobs)
            except Exception as error:  # a fault of ours: nobody may wait for ever
                _log.exception("The engine failed, and goes on from the log.")
                line.decider.settle(CommitResult.UNKNOWN)
                for job in jobs:
                    _answered(job, error)

    def _drained(self, line: _Line) -> list[_Job]:
        try:
            jobs = [line.jobs.get(timeout=0.1)]
        except Empty:
            return []
        while len(jobs) < self._at_once:
            try:
                jobs.append(line.jobs.get_nowait())
            except Empty:
                break
        return jobs

    def _answer(self, line: _Line, jobs: Sequence[_Job]) -> None:
        answers = self._done(line, [job.command for job in jobs])
        line.worked = time.monotonic()
        for job, answer in zip(jobs, answers, strict=True):
            self.metrics.answered(type(job.command).__name__, answer.status, job.came)
            _answered(job, answer)  # last: whoever hears it may look at the metrics

    def step(self, commands: Sequence[Command], place: int = 0) -> list[Answer]:
        """Have a batch done by the decider at this place, and log it.

        Returns the answers, where an error means that nothing was changed.
        """
        return self._done(self._lines[place], commands)

    def _done(self, line: _Line, commands: Sequence[Command]) -> list[Answer]:
        begun = self._begun([each for each in commands if isinstance(each, Create)])
        new = [next(begun) if isinstance(each, Create) else False for each in commands]
        asked = [
            Query(each.stream, "summary") if isinstance(each, Create) else each
            for each, how in zip(commands, new, strict=True)
            if not isinstance(how, RefusedError)
        ]
        answers = iter(self._logged(line, asked))
        return [
            how if isinstance(how, RefusedError) else _as_begun(next(answers), how) for how in new
        ]

    def _begun(self, asked: Sequence[Create]) -> Iterator[bool | RefusedError]:
        """Begin streams; return for each whether it is new, or the error that refused it."""
        try:
            return iter(self._registry.begin(asked, self._clock()))
        except StoreError as error:
            return iter([_refused(error)] * len(asked))

    def _logged(self, line: _Line, commands: Sequence[Command]) -> Sequence[Answer]:
        for attempt in range(_TRIES):
            proposal = line.latest = line.decider.propose(commands, self._clock())
            try:
                if proposal.rows or proposal.snapshots:
                    self._store.append(proposal.rows, proposal.snapshots, proposal.stages)
            except ConflictError:
                self.metrics.count("bocopt_conflicts_total")
                line.decider.settle(CommitResult.BEATEN)
                time.sleep(random.uniform(0.0, 0.001) * min(attempt, 10))
                continue
            except StoreError as error:
                _log.error("Nothing could be logged: %s", error)
                line.decider.settle(CommitResult.UNKNOWN)
                refused = _refused(error)
                return [refused if isinstance(each, Reply) else each for each in proposal.answers]
            line.decider.settle(CommitResult.KEPT)
            self.metrics.committed(proposal.rows)
            self._committed(proposal.rows)
            return proposal.answers
        return [BUSY] * len(commands)


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
