"""A worker process: it holds some of the streams, and decides and learns for them.

It reads the configuration file and the log by itself, and never writes. The front hears from it
before each command; where it is silent for too long it is ended, and another one takes its place,
which builds its streams from the log.
"""

import logging
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing import Pipe, get_all_start_methods, get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

from bocopt.app.service.commands import Command, RefusedError
from bocopt.app.service.config import Config, load_config
from bocopt.app.service.shard import Answer, CommitResult, Proposal, Shard
from bocopt.app.service.stores import Snapshot, open_store
from bocopt.app.service.stream_cache import StreamCache
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.interrupts import blocked, held_back, left_to_the_parent

#: What is slow to import, for the process that workers are forked from.
_PRELOADED = [
    "bocopt.app.service.worker",
    "bocopt.numeric.compiled",
    "scipy.linalg",
    "scipy.special",
]
_TRIES = 5  # of a batch, while workers end
_END = 10.0  # seconds that a worker has to end
_log = logging.getLogger(__name__)


class _Setting(NamedTuple):
    """The parameters of a worker process when it starts."""

    path: Path
    host: str  # that was checked
    place: int
    of: int
    most: int  # streams that it holds
    warm: bool  # whether to build streams before they are asked for


class WorkerLostError(Exception):
    """A worker ended, or was ended since it was silent for too long."""

    def __init__(self, at: int | None, slow: bool) -> None:
        super().__init__(at, slow)
        self.at, self.slow = at, slow  # at which command


@dataclass
class Worker:
    """Decides in a process of its own; `limit` is how many seconds a command may take."""

    config: Config
    place: int
    of: int
    most: int
    limit: float
    _process: BaseProcess | None = field(default=None, init=False)
    _pipe: Any = field(default=None, init=False)
    _first: bool = field(default=True, init=False)

    def open(self) -> None:
        """Start the process; a RefusedError (503) if its configuration differs from the front's."""
        ours, theirs = Pipe()
        path, host = self.config.path.resolve(), self.config.host
        setting = _Setting(path, host, self.place, self.of, self.most, self._first)
        process = _context().Process(target=_work, args=(setting, theirs), daemon=True)
        with held_back(), blocked():
            process.start()
        theirs.close()
        self._process, self._pipe = process, ours
        made_of = self._receive(None)
        if made_of != _made_of(self.config.templates):
            self._end()
            raise RefusedError(
                503,
                f"{self.config.path} or a file that it names has changed since the service was "
                "started. Start it again.",
            )
        self._first = False

    def propose(self, commands: Sequence[Command], now: float, alone: bool = False) -> Proposal:
        """Do commands in the process; one at which it is lost is refused, and the others go on.

        They then go one by one, so that it is known which one it was.
        """
        left, refused = dict(enumerate(commands)), {}
        for again in range(_TRIES):
            try:
                asked = list(left.values()), now, alone or again > 0
                proposal: Proposal = self._call("propose", *asked)
            except WorkerLostError as lost:
                if lost.at is not None:
                    at = list(left)[lost.at]
                    refused[at] = self._refused(left.pop(at), lost)
                continue
            answers: dict[int, Answer] = dict(zip(left, proposal.answers, strict=True))
            together = {**answers, **refused}
            return proposal._replace(answers=[together[at] for at in range(len(commands))])
        return Proposal([_ENDS] * len(commands))

    def _refused(self, command: Command, lost: WorkerLostError) -> RefusedError:
        what = type(command).__name__.lower()
        if lost.slow:
            _log.error("%s on %r took too long: its worker was ended.", what, command.stream)
            words = f"It took longer than {self.limit:g} seconds, and nothing was changed."
            return RefusedError(504, f"{words} Ask again with the same key.")
        _log.error("A worker ended at %s on %r.", what, command.stream)
        return RefusedError(503, "Its worker process ended, and nothing was changed. Try again.")

    def settle(self, verdict: CommitResult) -> None:
        """Send the result of the latest commit to the process, if there is one."""
        if self._pipe is not None:
            try:
                self._pipe.send(("settle", verdict))
            except OSError:  # it has ended: the next one builds its streams from the log
                self._end()

    def close(self) -> Sequence[Snapshot]:
        """Return the process's snapshots, none if it is lost, and end it."""
        try:
            snapshots: Sequence[Snapshot] = () if self._pipe is None else self._call("close")
        except (WorkerLostError, RefusedError):  # a cache: the log is whole without it
            snapshots = ()
        finally:
            self._end(_END)
        return snapshots

    def _call(self, what: str, *arguments: object) -> Any:
        """Return the process's answer; a WorkerLostError if it is lost, and then ended."""
        if self._pipe is None:
            self.open()
        try:
            self._pipe.send((what, *arguments))
        except OSError:
            self._end()
            raise WorkerLostError(None, slow=False) from None
        return self._receive(self.limit)

    def _receive(self, patience: float | None) -> Any:
        """Its answer, which may take as long as it goes on beating."""
        at: int | None = None
        try:
            while self._pipe.poll(patience):
                word, value = self._pipe.recv()
                if word == "answer":
                    return value
                at = value if value >= 0 else at
        except (EOFError, OSError):
            self._end()
            raise WorkerLostError(at, slow=False) from None
        self._end()
        raise WorkerLostError(at, slow=True)

    def _end(self, patience: float = 0.0) -> None:
        """It may have so many seconds to end by itself."""
        process, pipe = self._process, self._pipe
        self._process = self._pipe = None
        if pipe is not None:
            pipe.close()
        if process is not None:
            process.join(patience)
            process.kill()
            process.join()
            process.close()


_ENDS = RefusedError(503, "Worker processes end again and again. Try again, or see the log.")


def _context() -> SpawnContext | ForkServerContext:
    """Forked from a process that has imported all and does nothing else, where there can be one."""
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    return context


def _made_of(templates: Mapping[str, StreamTemplate]) -> dict[str, tuple[str, str, str]]:
    """Return version and fingerprints by kind; where they are equal, the same code decides."""
    return {name: (k.version, k.fingerprint, k.fold.by) for name, k in templates.items()}


def _work(setting: _Setting, pipe: "Connection[Any, Any]") -> None:
    """Answer commands in the worker process, until its front is gone or closes it."""
    left_to_the_parent()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the front says when to end
    config = load_config(setting.path, host=setting.host)
    store = open_store(config.store, config.folder, read_only=True)
    shard = Shard(
        store,
        StreamCache(store, config.templates, setting.most, lambda: pipe.send(("beat", -1))),
        place=setting.place,
        of=setting.of,
        beat=lambda at: pipe.send(("beat", at)),
    )
    shard.compile()
    if setting.warm:
        shard.warm()
    pipe.send(("answer", _made_of(config.templates)))
    while True:
        try:
            what, *arguments = pipe.recv()
        except EOFError:
            return
        answer = getattr(shard, what)(*arguments)
        if what != "settle":
            pipe.send(("answer", answer))
        if what == "close":
            return
