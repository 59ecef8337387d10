"""Requests as they come in: bodies that are small, in time, and numbers; and errors as JSON."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from bocopt.app.case_file import ID
from bocopt.app.service.commands import RefusedError

_LARGEST = 1 << 20  # bytes of a body
KEY = re.compile(r"[!-~]{1,200}")
_NUMBER = re.compile(r"[0-9]{1,15}")
_MORE: Mapping[int, dict[str, str]] = {
    408: {"Connection": "close"},  # the rest of the body is not waited for
    413: {"Connection": "close"},
    503: {"Retry-After": "1"},
}
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def answer(status: int, body: Mapping[str, Any]) -> Response:
    """Return a JSON response in ASCII: half a character of a request may be quoted in it."""
    text = json.dumps(body, allow_nan=False, separators=(",", ":"))
    headers = {**_HEADERS, **_MORE.get(status, {})}
    return Response(text, status, headers, media_type="application/json")


def refused(status: int, message: str) -> Response:
    """Return a JSON response with an error message."""
    return answer(status, {"error": message})


async def body_of(
    request: Request, patience: float, known: Sequence[str], largest: int = _LARGEST
) -> dict[str, Any]:
    """A JSON object with these keys, or a RefusedError."""
    found = _parsed(await content_of(request, patience, largest))
    if not isinstance(found, dict):
        raise RefusedError(422, "A body must be a JSON object.")
    for key in found:
        if key not in known:
            has = ", ".join(repr(name) for name in known) or "nothing"
            raise RefusedError(422, f"There is no {key[:50]!r} in this body; it may have {has}.")
    return found


async def content_of(request: Request, patience: float, largest: int) -> bytes:
    """The body: neither larger nor slower than that."""
    if int(_header(request, "content-length", _NUMBER, "0")) > largest:
        raise RefusedError(413, f"A body must be at most {largest} bytes.")
    try:
        async with asyncio.timeout(patience):
            return await _read(request, largest)
    except TimeoutError:
        raise RefusedError(408, f"The body did not come within {patience:g} seconds.") from None
    except ClientDisconnect:
        raise RefusedError(400, "The body was cut short.") from None


async def _read(request: Request, largest: int) -> bytes:
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > largest:
            raise RefusedError(413, f"A body must be at most {largest} bytes.")
    return bytes(data)


def _parsed(data: bytes) -> Any:
    if not data.strip():
        return {}
    try:
        return json.loads(data, parse_constant=_not_finite)
    except (ValueError, RecursionError) as error:
        if isinstance(error, _NotFiniteError):
            raise RefusedError(422, str(error)) from None
        raise RefusedError(400, "The body is not JSON in UTF-8.") from None


class _NotFiniteError(ValueError):
    pass


def _not_finite(word: str) -> None:
    raise _NotFiniteError(f"Numbers must be finite. Got {word} instead.")


def vector_or_fields(found: Mapping[str, Any], key: str) -> list[float] | dict[str, Any]:
    """A list of numbers, or an object of named numbers and texts; null is one that is missing."""
    fields = found.get(key)
    if not isinstance(fields, dict):
        return vector(found, key)
    for name, value in fields.items():
        if not (value is None or isinstance(value, str | int | float)):
            raise RefusedError(
                422, f"'{key}' has {name[:50]!r}, which is neither a number nor a text."
            )
    return fields


def outcome(found: Mapping[str, Any]) -> list[Any] | dict[str, Any]:
    """An outcome: a list or an object, of numbers, bounds and null; `outcomes.py` reads them."""
    given = found.get("xi")
    if not isinstance(given, list | dict):
        words = 'a list of numbers, of bounds such as {"at_least": 87}, or of null'
        raise RefusedError(422, f"The body must have 'xi', {words}. Got {_short(given)} instead.")
    return given


def vector(found: Mapping[str, Any], key: str) -> list[float]:
    """A list of numbers; null is one that is missing."""
    if key not in found:
        raise RefusedError(422, f"The body must have '{key}', a list of numbers.")
    values = found[key]
    fits = isinstance(values, list) and all(
        value is None or (isinstance(value, int | float) and not isinstance(value, bool))
        for value in values
    )
    if not fits:
        raise RefusedError(422, f"'{key}' must be a list of numbers. Got {_short(values)} instead.")
    try:
        return [float("nan") if value is None else float(value) for value in values]
    except OverflowError:
        raise RefusedError(422, f"'{key}' must be a list of numbers. One is too large.") from None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def stream_of(request: Request) -> str:
    """The id in the path."""
    found = str(request.path_params["stream"])
    if not ID.fullmatch(found):
        raise RefusedError(404, f"There is no stream {found[:64]!r}: ids match {ID.pattern}.")
    return found


def decision_of(request: Request) -> int:
    """The number in the path."""
    found = str(request.path_params["number"])
    if not _NUMBER.fullmatch(found):
        raise RefusedError(404, f"There is no decision {found[:64]!r}.")
    return int(found)


def key_of(request: Request) -> str | None:
    """The Idempotency-Key."""
    if "idempotency-key" not in request.headers:
        return None
    return _header(request, "idempotency-key", KEY, "")


def number_in_query(request: Request, name: str, default: int, most: int) -> int:
    """Return an integer of the query, at most `most`, or the default if it is absent."""
    found = request.query_params.get(name)
    if found is None:
        return default
    if not re.fullmatch(r"-?[0-9]{1,15}", found) or int(found) > most:
        expected = f"must be an integer of at most {most}"
        raise RefusedError(422, f"'{name}' {expected}. Got {found[:50]!r} instead.")
    return int(found)


def _header(request: Request, name: str, allowed: re.Pattern[str], default: str) -> str:
    value = request.headers.get(name, default)
    if not allowed.fullmatch(value):
        raise RefusedError(400, f"The header {name} must match {allowed.pattern}.")
    return value


async def on_refused(request: Request, error: Exception) -> Response:
    """Answer a RefusedError with its status and its message."""
    assert isinstance(error, RefusedError)
    return refused(error.status, str(error))


async def on_http(request: Request, error: Exception) -> Response:
    """Answer an HTTPException of the framework as JSON."""
    assert isinstance(error, HTTPException)
    words = "There is nothing here." if error.status_code == 404 else f"{error.detail}."
    return refused(error.status_code, words)


async def on_error(request: Request, error: Exception) -> Response:
    """Answer any other exception with 500 and a message without details."""
    return refused(500, "Something failed inside: the server's log has it.")
