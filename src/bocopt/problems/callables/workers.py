"""Slow solvers in processes of their own, with a time-out for each solve.

A worker holds the user's function, answers one question at a time, and ends with the process that
started it, however that ends. A time-out ends the worker, and a new one takes its place.
"""

import pickle
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import connection, get_context
from multiprocessing.process import BaseProcess
from threading import Lock
from time import perf_counter
from typing import Any, NamedTuple
from weakref import finalize

from bocopt import arguments
from bocopt.core import Array
from bocopt.interrupts import blocked, held_back, left_to_the_parent
from bocopt.problems.callables.calls import called

Solve = Callable[[Array, Array], Any]
Question = tuple[Array, Array]  # x, xi

_GUARD = "In a script, the code that runs must stand under: if __name__ == '__main__'."
_GRACE = 5.0  # seconds that a worker whose pipe is closed has to end


class SolverReply(NamedTuple):
    """Reply of the user's solve: what it returned, or that it raised an error or was too late."""

    given: Any
    late: bool = False
    error: ValueError | None = None


class _Reply(NamedTuple):
    given: Any
    error: str | None = None


def _sendable(solve: Solve) -> bytes:
    """The user's function as bytes, or an error that says what can be sent."""
    try:
        return pickle.dumps(solve)
    except Exception:
        expected = (
            "a function that can be sent to other processes (workers=...): one that is defined by "
            "'def' at the top level of a module, not a lambda and not inside a function"
        )
        raise arguments.wrong("from_callables", "solve", expected, solve) from None


def solver_of(owner: str, solve: Solve, workers: int | None, timeout: float | None) -> "Solver":
    """Return the solver that calls the user's solve: in this process, or in `workers` others."""
    if workers is None:
        if timeout is not None:
            raise arguments.wrong(owner, "timeout", "None without workers", timeout)
        return Here(solve)
    arguments.integer(owner, "workers", workers, "[1, inf)")
    if timeout is not None:
        arguments.number(owner, "timeout", timeout, "(0, inf)")
    return Workers(solve, workers, timeout)


class Here:
    """The user's solve in this process, when an answer is asked for."""

    def __init__(self, solve: Solve) -> None:
        self._solve = solve

    def answers(self, questions: Sequence[Question]) -> Iterator[SolverReply]:
        """Yield the replies of the user's solve to each (x, xi), in order."""
        for question in questions:
            try:
                yield SolverReply(called("solve", self._solve, *question))
            except ValueError as error:
                yield SolverReply(None, error=error)


class Workers:
    """Processes that solve; they start with the first question."""

    def __init__(self, solve: Solve, count: int, timeout: float | None) -> None:
        self._solve, self._count, self._timeout = _sendable(solve), count, timeout
        self._same = Workers, (solve, count, timeout)
        self._workers: list[_Worker] = []
        self._guard = Lock()
        finalize(self, _close, self._workers)

    def __reduce__(self) -> Any:
        return self._same  # a copy has processes of its own

    def answers(self, questions: Sequence[Question]) -> Iterator[SolverReply]:
        """Return an iterator over the replies of the user's solve to each (x, xi), in order."""
        with self._guard:
            try:
                return iter(self._answers(questions))
            except BaseException:  # a worker that is left with a question would answer the next
                with held_back():
                    _close(self._workers)
                raise

    def _answers(self, questions: Sequence[Question]) -> list[SolverReply]:
        answers = [SolverReply(None)] * len(questions)
        waiting = deque(enumerate(questions))
        while waiting or any(worker.busy for worker in self._workers):
            self._start(len(waiting) + sum(worker.busy for worker in self._workers))
            for worker in self._workers:
                if waiting and worker.ready and not worker.busy:
                    worker.ask(*waiting.popleft(), self._timeout)
            for worker in self._next_to_act():
                self._take(worker, answers)
        return answers

    def _start(self, wanted: int) -> None:
        for _ in range(min(wanted, self._count) - len(self._workers)):
            self._workers.append(_Worker(self._solve))

    def _next_to_act(self) -> list["_Worker"]:
        """Wait, and return the workers that have sent a message or passed their deadline."""
        expected = [worker for worker in self._workers if worker.busy or not worker.ready]
        deadline = min((worker.deadline for worker in expected), default=float("inf"))
        left = None if deadline == float("inf") else max(deadline - perf_counter(), 0.0)
        spoke = connection.wait([worker.pipe for worker in expected], left)
        now = perf_counter()
        return [w for w in expected if w.pipe in spoke or w.deadline <= now]

    def _take(self, worker: "_Worker", answers: list[SolverReply]) -> None:
        if not worker.pipe.poll():  # its time is over
            answers[worker.question] = SolverReply(None, late=True)
            self._workers.remove(worker)
            worker.end()
            return
        reply = worker.reply()
        error = None if reply.error is None else ValueError(reply.error)
        if worker.ready:
            answers[worker.question] = SolverReply(reply.given, error=error)
        elif error is not None:
            raise error
        worker.ready, worker.question, worker.deadline = True, -1, float("inf")


Solver = Here | Workers


class _Worker:
    """One process, and what it was asked."""

    def __init__(self, solve: bytes) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(
            target=_serve, args=(theirs, solve), daemon=True
        )
        with held_back(), blocked():
            self.process.start()
        theirs.close()  # so that the pipe ends when the worker does
        self.ready, self.question, self.deadline = False, -1, float("inf")

    @property
    def busy(self) -> bool:
        """True while the worker has a question to answer."""
        return self.question >= 0

    def ask(self, number: int, question: Question, timeout: float | None) -> None:
        """Send a question (x, xi) and set its deadline; `number` is its place among the answers."""
        self.question = number
        self.deadline = float("inf") if timeout is None else perf_counter() + timeout
        try:
            self.pipe.send(question)
        except OSError:
            raise self._died() from None

    def reply(self) -> _Reply:
        """Return the worker's next reply; raise RuntimeError if its process has died."""
        try:
            reply: _Reply = self.pipe.recv()
        except (EOFError, OSError):
            raise self._died() from None
        return reply

    def _died(self) -> RuntimeError:
        self.process.join(_GRACE)
        when = "while it ran the user's solve" if self.ready else "before it could start"
        hint = "" if self.ready else f" {_GUARD}"
        return RuntimeError(
            f"A worker process died {when} (exit code {self.process.exitcode}).{hint}"
        )

    def end(self) -> None:
        """Close the pipe, kill the process and wait for its end."""
        self.pipe.close()
        self.process.kill()
        self.process.join()


def _close(workers: list[_Worker]) -> None:
    while workers:
        workers.pop().end()


def _serve(pipe: "connection.Connection[Any, Any]", pickled: bytes) -> None:
    """In a worker: answer until nobody asks any more."""
    left_to_the_parent()
    try:
        solve: Solve = pickle.loads(pickled)
    except Exception as error:
        pipe.send(_Reply(None, f"The user's solve could not be read in a worker: {error!r}"))
        return
    pipe.send(_Reply(None))
    while True:
        try:
            question = pipe.recv()
        except EOFError:
            return
        _send(pipe, _answered(solve, question))


def _answered(solve: Solve, question: Question) -> _Reply:
    try:
        return _Reply(solve(*question))
    except Exception as error:
        return _Reply(None, f"The user's solve raised {type(error).__name__}: {error}")


def _send(pipe: "connection.Connection[Any, Any]", reply: _Reply) -> None:
    try:
        pipe.send(reply)
    except Exception as error:
        pipe.send(_Reply(None, f"What the user's solve returned cannot be sent: {error!r}"))
