"""Commands to the engine, and its replies: plain data that can be sent through a pipe."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple


class Decide(NamedTuple):
    """A decision under a context; the same key again gives the same decision."""

    stream: str
    x: Any
    key: str | None = None


class Observe(NamedTuple):
    """The outcome of a decision: numbers, or bounds of them, in order or by name."""

    stream: str
    number: int
    xi: Any


class Correct(NamedTuple):
    """The right outcome of a decision whose outcome was wrong; the same again changes nothing."""

    stream: str
    number: int
    xi: Any


class Teach(NamedTuple):
    """The n-th row of a history, from 0; the same again changes nothing."""

    stream: str
    number: int
    x: Any
    xi: Any
    came: str | None = None  # when the outcome did, where that matters for contexts to come


class Forget(NamedTuple):
    """Give up waiting for an outcome."""

    stream: str
    number: int


class Create(NamedTuple):
    """A stream of a kind; again, with the same, changes nothing."""

    stream: str
    case: str | None = None  # None: that of the same name, or the only one
    seed: int | None = None


class Query(NamedTuple):
    """Something that is known of a stream; nothing changes."""

    stream: str
    what: Literal["summary", "certificates", "decision", "explanation"]
    number: int | None = None


Command = Decide | Observe | Correct | Teach | Forget | Create | Query


class Reply(NamedTuple):
    """An answer; the status is one of HTTP."""

    status: int
    body: Mapping[str, Any]


class RefusedError(Exception):
    """Why a command was not done; nothing has changed."""

    def __init__(self, status: int, message: str, damaged: bool = False) -> None:
        super().__init__(status, message, damaged)  # all, or it could not be sent through a pipe
        self.status = status
        self.damaged = damaged  # whether the stream's log cannot be folded

    def __str__(self) -> str:
        return str(self.args[1])
