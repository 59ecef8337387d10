"""Clients that write down what was answered, and repeat by key what was not."""

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any, NamedTuple

from subject import STREAMS, Subject, rng_of

_AGAIN = (503, 504, 507)  # nothing was done, or nobody knows: ask again
_PAUSE = 0.05  # seconds before that
_LATE = 8  # decisions of a client that wait for their outcome
_ENOUGH = 120.0  # seconds after which one that is never answered is a failure


class Decision(NamedTuple):
    """An answer that was given."""

    stream: str
    key: str
    x: float
    number: int
    z: tuple[float, ...]


class End(NamedTuple):
    """An outcome that was acknowledged, a correction of one, or that one was given up (None).

    Outcomes are as they were sent: numbers, bounds, and None for what was not seen.
    """

    stream: str
    number: int
    xi: list[Any] | None


@dataclass
class Notes:
    """What a client knows for certain."""

    decisions: list[Decision] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)
    cut: int = 0  # requests whose answer never came
    were_done: int = 0  # of those: the repeat said that they had been done
    refused: int = 0  # 503 and the like, asked again
    repeats: int = 0  # on purpose, of what was answered
    in_part: int = 0  # outcomes and corrections with bounds, acknowledged
    corrected: int = 0  # corrections, acknowledged
    too_late: int = 0  # corrections that were refused: too many events to fold again
    wrong: list[str] = field(default_factory=list)  # answers that should not be


class Client(threading.Thread):
    """Decides, reports late, corrects, gives up and repeats at times, until it is told to stop."""

    sees_parts = True  # whether some outcomes are bounds

    def __init__(
        self, name: str, servers: Sequence[Subject], streams: Sequence[str], pause: float, seed: int
    ) -> None:
        super().__init__(name=name, daemon=True)
        self.notes, self.ended = Notes(), threading.Event()
        self._servers, self._streams, self._pause = servers, streams, pause
        self._rng = rng_of(seed, name)
        self._connection: HTTPConnection | None = None
        self._open: list[Decision] = []
        self._asked = 0
        self.acknowledged: Callable[[tuple[str, ...]], None] = lambda about: None

    def run(self) -> None:
        try:
            while not self.ended.is_set():
                self._act()
                if self._pause:
                    time.sleep(self._rng.uniform(0, 2 * self._pause))
        except TimeoutError as error:
            self.notes.wrong.append(str(error))
        finally:
            self._hang_up()

    def _act(self) -> None:
        pick = self._rng.random()
        if self._open and (pick < 0.5 or len(self._open) >= _LATE):
            self._end(self._open.pop(self._rng.randrange(len(self._open))))
        elif pick < 0.88 or not self.notes.ends:
            self._decide(self._rng.choice(self._streams))
        elif pick < 0.95:
            self._correct(self._rng.choice(self.notes.ends[-6:]))
        else:
            self._repeat(self._rng.choice(self.notes.decisions[-50:]))

    def _decide(self, stream: str) -> None:
        key = f"{self.name}-{self._asked}"
        x = round(self._rng.gauss(0, 1), 3)
        self._asked += 1
        status, told = self._answered("POST", _decisions(stream), {"x": [x]}, key)
        if self._fine(status, told, (200, 201)):
            found = Decision(stream, key, x, told["id"], tuple(told["z"].values()))
            self.notes.decisions.append(found)
            self._open.append(found)
            self.acknowledged((stream, "decision", str(found.number)))

    def _end(self, decision: Decision) -> None:
        path, xi = f"{_decisions(decision.stream)}/{decision.number}", None
        if self._rng.random() < 0.05:
            status, told = self._answered("DELETE", path)
        else:
            xi = self._outcome()
            status, told = self._answered("PUT", f"{path}/outcome", {"xi": xi})
        if self._fine(status, told, (200, 201)):
            self._ended(End(decision.stream, decision.number, xi))
            kind = "forgotten" if xi is None else "outcome"
            self.acknowledged((decision.stream, kind, str(decision.number)))

    def _ended(self, end: End) -> None:
        self.notes.ends.append(end)
        self.notes.in_part += any(not isinstance(part, float) for part in end.xi or ())

    def _outcome(self) -> list[Any]:
        """Two numbers; now and then bounds of one, or nothing of it."""
        xi: list[Any] = [round(self._rng.uniform(0.5, 1.5), 3) for _ in range(2)]
        if not self.sees_parts:
            return xi
        pick, at = self._rng.random(), self._rng.randrange(2)
        if pick < 0.15:
            xi[at] = {"at_least": xi[at]}
        elif pick < 0.2:
            xi[at] = {"at_least": 0.25, "at_most": xi[at]}
        elif pick < 0.25:
            xi[at] = None
        return xi

    def _correct(self, end: End) -> None:
        """Put an outcome right that was reported a while ago, and at times once more."""
        known = [e for e in self.notes.ends if (e.stream, e.number) == (end.stream, end.number)]
        if end.xi is None:
            return
        path, xi = f"{_decisions(end.stream)}/{end.number}/correction", self._outcome()
        status, told = self._answered("PUT", path, {"xi": xi})
        if status == 409 and "too long ago" in str(told):
            self.notes.too_late += 1
        elif self._fine(status, told, (200, 201)) and xi != known[-1].xi:
            self._ended(End(end.stream, end.number, xi))
            self.notes.corrected += 1
            about = (end.stream, "correction", str(end.number), str(len(known)))
            self.acknowledged(about)
            if self._rng.random() < 0.3:
                self.notes.repeats += 1
                self._fine(*self._answered("PUT", path, {"xi": xi}), (200,))

    def _repeat(self, decision: Decision) -> None:
        """What was answered is answered again, and nothing is done."""
        self.notes.repeats += 1
        body = {"x": [decision.x]}
        status, told = self._answered("POST", _decisions(decision.stream), body, decision.key)
        if self._fine(status, told, (200,)):
            again = (told["id"], tuple(told["z"].values()))
            if again != (decision.number, decision.z):
                self.notes.wrong.append(f"{decision} was answered again as {again}")

    def _fine(self, status: int, told: Any, wanted: tuple[int, ...]) -> bool:
        if status not in wanted:
            self.notes.wrong.append(f"{self.name}: {status} {told}")
        return status in wanted

    def _answered(self, method: str, path: str, body: Any = None, key: str = "") -> tuple[int, Any]:
        """Asked until somebody answers."""
        deadline, cut = time.monotonic() + _ENOUGH, False
        while time.monotonic() < deadline:
            try:
                status, told = self._tried(method, path, body, key)
            except (OSError, HTTPException, ValueError) as error:
                cut = cut or not isinstance(error, ConnectionRefusedError)
                self.notes.cut += not isinstance(error, ConnectionRefusedError)
                self._hang_up()
            else:
                if status not in _AGAIN:
                    self.notes.were_done += cut and status == 200
                    return status, told
                self.notes.refused += 1
            time.sleep(self._rng.uniform(0, 2 * _PAUSE))
        raise TimeoutError(f"{self.name}: {method} {path} was not answered in {_ENOUGH:g} s")

    def _tried(self, method: str, path: str, body: Any, key: str) -> tuple[int, Any]:
        if self._connection is None:
            server = self._rng.choice(self._servers)
            self._connection = HTTPConnection(*server.address, timeout=40)
        headers = {"Idempotency-Key": key} if key else {}
        data = None if body is None else json.dumps(body)
        self._connection.request(method, path, data, headers)
        found = self._connection.getresponse()
        told = json.loads(found.read())
        if len(self._servers) > 1 and self._rng.random() < 0.2:
            self._hang_up()  # go to the other server now and then
        return found.status, told

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def _decisions(stream: str) -> str:
    return f"/v1/streams/{stream}/decisions"


def clients(
    servers: Sequence[Subject], count: int, seed: int, learner: bool = False
) -> list[Client]:
    """Most of them on the cheap streams; one on the learner, with pauses, if it is there."""
    names = [f"c{seed}-{i}" for i in range(count - learner)]
    cheap = [name for name in STREAMS if name != "learner"]
    some = [Client(name, servers, cheap, 0.002, seed) for name in names]
    slow = [Client(f"c{seed}-learner", servers, ["learner"], 0.05, seed)]
    return [*some, *slow] if learner else some


def finished(some: Sequence[Client]) -> list[Notes]:
    """Let each finish what it began; one that cannot has said so in its notes."""
    for client in some:
        client.ended.set()
    for client in some:
        client.join(2 * _ENOUGH)
        if client.is_alive():
            client.notes.wrong.append(f"{client.name} does not end")
    return [client.notes for client in some]
