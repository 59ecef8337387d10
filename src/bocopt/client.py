"""A client of `bocopt serve`: it asks again until it is answered, and nothing is done twice.

This file needs nothing but Python. It may be copied to where bocopt is not installed.
"""

import json
import math
import random
import ssl
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit
from uuid import uuid4

_AGAIN = (408, 429, 502, 503, 504, 507)  # it may be otherwise in a while
_FIRST, _LONGEST = 0.05, 5.0  # seconds from one try to the next
_ANSWER = 35.0  # seconds that one try may take: the service itself says 504 after 30
_AT_ONCE = 1000  # items of one request: ten times as many are allowed, but take as much longer
_SILENCE = 45.0  # seconds without an event: the service says that it is there every 15


#: Numbers in order, or named fields: numbers, texts, and None for one that is missing.
Context = Iterable[float | None] | Mapping[str, float | str | None]

#: Of one number of an outcome: it, `at_least(87)` and the like, or None where nothing was seen.
Seen = Any
#: What was seen of an outcome, in order or by name.
Outcome = Iterable[Seen] | Mapping[str, Seen]


def at_least(low: float) -> dict[str, float]:
    """Return what was seen of a number that is not below `low`: demand, where all was sold."""
    return {"at_least": low}


def at_most(high: float) -> dict[str, float]:
    """Return what was seen of a number that is not above `high`."""
    return {"at_most": high}


def between(low: float, high: float) -> dict[str, float]:
    """Return what was seen of a number from `low` to `high`."""
    return {"at_least": low, "at_most": high}


class Ticket(NamedTuple):
    """A decision to act on; its outcome is reported under its id."""

    id: int
    z: Mapping[str, float]  # by name
    status: str
    message: str
    gap: float | None  # None: unknown
    at: float  # seconds since 1970
    key: str  # asked again with this key, it is the same decision
    missing: Sequence[str] = ()  # named fields of the context that were not there


class RefusedError(Exception):
    """The service answered, and said no."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, message)
        self.status, self.message = status, message

    def __str__(self) -> str:
        return f"{self.status}: {self.message}"


class UnansweredError(ConnectionError):
    """No answer within the patience. It may have been done: to know, ask again with the key."""

    def __init__(self, message: str, key: str | None = None) -> None:
        super().__init__(message, key)
        self.key = key

    def __str__(self) -> str:
        return str(self.args[0])


class _BusyError(Exception):
    """A refusal that may be otherwise in a while, and when."""

    def __init__(self, refusal: RefusedError, wait: float) -> None:
        super().__init__(refusal, wait)
        self.refusal, self.wait = refusal, wait


class _Tries:
    """The tries of one request: the waits between them grow, and end when patience does."""

    def __init__(self, what: str, patience: float, key: str | None = None) -> None:
        self._what, self._patience, self._key = what, patience, key
        self._pause, self._end = _FIRST, time.monotonic() + patience

    @property
    def left(self) -> float:
        """Seconds of patience that are left."""
        return self._end - time.monotonic()

    def wait(self, why: Exception, *, at_once: bool = False) -> None:
        """Wait before the next try; where none is left, raise an error that has the last cause."""
        pause = 0.0 if at_once else self._pause * random.uniform(0.5, 1.0)
        if isinstance(why, _BusyError):
            pause = max(pause, why.wait * random.uniform(1.0, 1.25))
        if pause >= self.left:
            raise self._error(why) from why
        time.sleep(pause)
        if not at_once:
            self._pause = min(2 * self._pause, _LONGEST)

    def _error(self, why: Exception) -> Exception:
        if isinstance(why, _BusyError):
            return why.refusal
        words = f"{self._what} was not answered within {self._patience:g} seconds: {why!r}."
        if self._key is None:
            return UnansweredError(f"{words} Ask again: nothing is done twice.")
        hint = f"It may have been done: ask again with key={self._key!r} to know."
        return UnansweredError(f"{words} {hint}", self._key)


class Client:
    """A client of a service, for use from any number of threads.

    Each request is repeated for up to `patience` seconds, after waits that grow, if the connection
    fails or the service is busy. That is safe: decisions carry a key, and all else changes nothing
    when it is done twice.
    """

    def __init__(
        self,
        address: str = "http://127.0.0.1:8321",
        token: str | None = None,
        *,
        patience: float = 60.0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
            expected = "must be like 'http://127.0.0.1:8321'"
            raise ValueError(f"The 'address' of Client {expected}. Got {address!r} instead.")
        if not patience >= 0:
            raise ValueError(
                f"The 'patience' of Client must be at least 0. Got {patience} instead."
            )
        self._host, self._port = parts.hostname, parts.port
        self._tls = (tls or ssl.create_default_context()) if parts.scheme == "https" else None
        self._prefix = parts.path.rstrip("/")
        self._shown = {} if token is None else {"Authorization": f"Bearer {token.strip()}"}
        self._idle: list[HTTPConnection] = []  # append and pop are safe between threads
        self.patience = patience

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections that are not in use."""
        while self._idle:
            self._idle.pop().close()

    def begin(
        self, stream: str, case: str | None = None, seed: int | None = None
    ) -> dict[str, Any]:
        """Begin a stream like one of the service's file; again, with the same, changes nothing."""
        asked = {"case": case, "seed": seed}
        body = {name: value for name, value in asked.items() if value is not None}
        return self._json("PUT", _path(stream), body)

    def decide(self, stream: str, x: Context, key: str | None = None) -> Ticket:
        """A decision under a context: numbers in order, or named fields; None is one missing.

        After an `UnansweredError`, ask with the same `key` to get the same decision. Without one,
        each call makes its own.
        """
        key = uuid4().hex if key is None else key
        found = self._json("POST", f"{_path(stream)}/decisions", {"x": _sent("x", x)}, key)
        return _ticket(found, key)

    def observe(self, stream: str, number: int, xi: Outcome) -> dict[str, Any]:
        """Report the outcome of a decision; the first time, the answer says what came of it.

        Where it was not seen in full: `client.observe("shop", 7, [3, at_least(87), None])`.
        """
        return self._json("PUT", f"{_path(stream, number)}/outcome", {"xi": _seen(xi)})

    def correct(self, stream: str, number: int, xi: Outcome) -> dict[str, Any]:
        """Replace the outcome of a decision by the right one; again, the same changes nothing."""
        return self._json("PUT", f"{_path(stream, number)}/correction", {"xi": _seen(xi)})

    def decide_all(
        self, asked: Iterable[tuple[str, Context]], keys: Iterable[str] | None = None
    ) -> list["Ticket | RefusedError"]:
        """Decisions for pairs of a stream and a context, in few requests; or why each was refused.

        With the same `keys`, one for each pair, they are the same decisions: give them to be able
        to ask again after an `UnansweredError`.
        """
        pairs = list(asked)
        own = [uuid4().hex for _ in pairs] if keys is None else list(keys)
        items = [
            {"stream": stream, "key": key, "x": _sent("x", x)}
            for (stream, x), key in zip(pairs, own, strict=True)
        ]
        return [
            found if isinstance(found, RefusedError) else _ticket(found, key)
            for found, key in zip(self._each("decisions", items), own, strict=True)
        ]

    def observe_all(
        self, outcomes: Iterable[tuple[str, int, Outcome]]
    ) -> list["dict[str, Any] | RefusedError"]:
        """Report outcomes by stream and decision, in few requests; what came of each."""
        items = [
            {"stream": stream, "decision": int(number), "xi": _seen(xi)}
            for stream, number, xi in outcomes
        ]
        return self._each("outcomes", items)

    def _each(
        self, name: str, items: Sequence[Mapping[str, Any]]
    ) -> list["dict[str, Any] | RefusedError"]:
        """The answer to each item; those that were refused for a while are asked again."""
        found, left = dict[int, dict[str, Any]](), list(range(len(items)))
        tries = _Tries(f"POST /v1/{name}", self.patience)
        while left:
            for some in (left[i : i + _AT_ONCE] for i in range(0, len(left), _AT_ONCE)):
                body = {name: [items[at] for at in some]}
                answers = self._json("POST", f"/v1/{name}", body)["answers"]
                found |= dict(zip(some, answers, strict=True))
            left = [at for at in left if found[at]["status"] in _AGAIN]
            try:
                if left:
                    tries.wait(_BusyError(_refusal(found[left[0]]), 0.0))
            except RefusedError:
                break
        return [
            _refusal(one) if "error" in one else one["answer"]
            for one in map(found.__getitem__, range(len(items)))
        ]

    def forget(self, stream: str, number: int) -> dict[str, Any]:
        """Give up waiting for the outcome of a decision."""
        return self._json("DELETE", _path(stream, number))

    def streams(self) -> list[str]:
        """The ids of all streams."""
        return list(self._json("GET", "/v1/streams")["streams"])

    def stream(self, stream: str) -> dict[str, Any]:
        """A stream in a few numbers."""
        return self._json("GET", _path(stream))

    def certificates(self, stream: str) -> list[dict[str, Any]]:
        """Return the certificates of a stream so far, each with its `words`."""
        return list(self._json("GET", f"{_path(stream)}/certificates")["certificates"])

    def decision(self, stream: str, number: int) -> list[dict[str, Any]]:
        """The events of a decision."""
        return list(self._json("GET", _path(stream, number))["events"])

    def explanation(self, stream: str, number: int) -> dict[str, Any]:
        """Return why this z: it, its neighbours and others, under the same scenarios."""
        return self._json("GET", f"{_path(stream, number)}/explanation")

    def log(self, stream: str, after: int = -1) -> Iterator[dict[str, Any]]:
        """The events after one, up to the last that there is."""
        while True:
            page = self._json("GET", f"{_path(stream)}/log?after={after}")
            yield from page["events"]
            if not page["events"]:
                return
            after = page["next"]

    def events(
        self, stream: str, after: int | None = None
    ) -> Generator[dict[str, Any], None, None]:
        """The events after one (or from now on) as they are logged, each once, without end.

        Where the connection fails, it goes on from the last event. An `UnansweredError` says that
        there was no connection for as long as `patience`. Its `close` ends the connection.
        """
        if after is None:
            after = int(self.stream(stream)["events"]) - 1
        what = f"The connection for the events of {stream!r}"
        tries = _Tries(what, self.patience)
        while True:
            connection, began = self._connection(_ANSWER), math.inf
            why: Exception = ConnectionError("the service ended it")
            try:
                found = self._listening(connection, stream, after, tries.left)
                began = time.monotonic()
                for event in _events_of(found):
                    if event["seq"] > after:
                        after, began = event["seq"], -math.inf
                        yield event
            except (OSError, HTTPException, _BusyError) as error:
                why = error
            finally:
                connection.close()
            if time.monotonic() - began > 1.0:  # it was one that worked
                tries = _Tries(what, self.patience)
            tries.wait(why)

    def _listening(
        self, connection: HTTPConnection, stream: str, after: int, left: float
    ) -> HTTPResponse:
        known = {"Last-Event-ID": str(after)} if after >= 0 else {}
        path = f"{self._prefix}{_path(stream)}/events{'' if known else '?after=-1'}"
        connection.timeout = min(_ANSWER, max(left, 0.1))
        connection.request("GET", path, headers={**self._shown, **known})
        if connection.sock is not None:
            connection.sock.settimeout(_SILENCE)
        found = connection.getresponse()
        if found.status != 200:
            raise _no(found, _whole(found))
        return found

    def _json(
        self, method: str, path: str, body: Any = None, key: str | None = None
    ) -> dict[str, Any]:
        """The answer; repeated until there is one, or patience ends."""
        data = None if body is None else json.dumps(body).encode()
        headers = self._shown if key is None else {**self._shown, "Idempotency-Key": key}
        tries = _Tries(f"{method} {path}", self.patience, key)
        while True:
            connection, used = self._taken(min(_ANSWER, max(tries.left, 0.1)))
            try:
                connection.request(method, f"{self._prefix}{path}", data, headers)
                found = _answer(connection.getresponse())
            except RefusedError:
                self._idle.append(connection)
                raise
            except (OSError, HTTPException, _BusyError) as error:
                connection.close()
                tries.wait(error, at_once=used and not isinstance(error, _BusyError))
            except BaseException:  # half a request may be on its way
                connection.close()
                raise
            else:
                self._idle.append(connection)
                return found

    def _taken(self, timeout: float) -> tuple[HTTPConnection, bool]:
        """A connection, and whether it was open already: then it may have been closed since."""
        try:
            connection = self._idle.pop()
        except IndexError:
            return self._connection(timeout), False
        connection.timeout = timeout
        if connection.sock is None:
            return connection, False
        connection.sock.settimeout(timeout)
        return connection, True

    def _connection(self, timeout: float) -> HTTPConnection:
        if self._tls is None:
            return HTTPConnection(self._host, self._port, timeout=timeout)
        return HTTPSConnection(self._host, self._port, timeout=timeout, context=self._tls)


def _path(stream: str, number: int | None = None) -> str:
    path = f"/v1/streams/{quote(stream, safe='')}"
    return path if number is None else f"{path}/decisions/{int(number)}"


def _ticket(found: Mapping[str, Any], key: str) -> Ticket:
    return Ticket(**{name: found[name] for name in Ticket._fields if name in found}, key=key)


def _refusal(found: Mapping[str, Any]) -> RefusedError:
    return RefusedError(found["status"], found["error"])


def _sent(name: str, values: Context) -> list[float | None] | dict[str, Any]:
    """Numbers in order, or named fields as they are; a NaN is null.

    >>> _sent("x", {"price": 1.5, "weather": None, "wind": float("nan")})
    {'price': 1.5, 'weather': None, 'wind': None}
    """
    if not isinstance(values, Mapping):
        return _numbers(name, values)
    numbers = {key: value for key, value in values.items() if isinstance(value, int | float)}
    return {**values, **dict(zip(numbers, _numbers(name, numbers.values()), strict=True))}


def _numbers(name: str, values: Iterable[float | None]) -> list[float | None]:
    """Return numbers as JSON has them: what is missing is null.

    >>> _numbers("x", (1, float("nan"), None))
    [1.0, None, None]
    """
    found = [None if value is None or math.isnan(value) else float(value) for value in values]
    if any(value is not None and math.isinf(value) for value in found):
        raise ValueError(f"'{name}' must have finite numbers. Got {found} instead.")
    return found


def _seen(xi: Outcome) -> list[Any] | dict[str, Any]:
    """Return an outcome as JSON has it: a number that was not seen in full by its bounds, or null.

    >>> _seen([3, at_least(87), None])
    [3.0, {'at_least': 87}, None]
    """
    if isinstance(xi, Mapping):
        return {name: _part(part) for name, part in xi.items()}
    return [_part(part) for part in xi]


def _part(part: Seen) -> Any:
    """Return one number; NaN is refused, since it may be a fault, and not what nobody saw."""
    if hasattr(part, "low") and hasattr(part, "high"):  # of bocopt itself, where that is installed
        ends = {"at_least": float(part.low), "at_most": float(part.high)}
        return {end: value for end, value in ends.items() if math.isfinite(value)} or None
    if part is None or isinstance(part, Mapping):
        return part
    found = float(part)
    if not math.isfinite(found):
        raise ValueError(
            f"'xi' must have finite numbers, or None for what nobody saw. Got {found}."
        )
    return found


def _answer(found: HTTPResponse) -> dict[str, Any]:
    content = _whole(found)
    if found.status >= 300:
        raise _no(found, content)
    answer = _object(content)
    if answer is None:
        raise RefusedError(found.status, "This is no answer of bocopt serve: is the address right?")
    return answer


def _whole(found: HTTPResponse) -> bytes:
    """All that was sent; where the headers were cut short, nobody knows what that is."""
    if found.length is None and not found.chunked:
        raise HTTPException("the answer was cut short")
    return found.read()


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(content)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _no(found: HTTPResponse, content: bytes) -> RefusedError | _BusyError:
    """The refusal, in the words of the service."""
    words = (_object(content) or {}).get("error", found.reason)
    refusal = RefusedError(found.status, str(words))
    if found.status not in _AGAIN:
        return refusal
    wait = found.headers.get("Retry-After", "0")
    return _BusyError(refusal, float(wait) if wait.isdecimal() else 0.0)


def _events_of(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The events of a stream of server-sent events; one that was cut short is none.

    >>> list(_events_of(b'id: 0|data: {"seq": 0}||: hello|data: {"seq":'.split(b"|")))
    [{'seq': 0}]
    """
    data: list[bytes] = []
    for line in lines:
        if line.startswith(b"data:"):
            data.append(line.removeprefix(b"data:").strip())
        elif not line.strip() and data:
            yield json.loads(b"\n".join(data))
            data = []
