"""Many decisions or outcomes in one request: each is done by itself, or refused by itself.

Items are handed to the engines in their order, as if they had come one by one; so what waits
together is committed together. A request that is sent again, with its keys, does nothing twice.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bocopt.app.case_file import ID
from bocopt.app.service.commands import Command, Decide, Observe, RefusedError, Reply
from bocopt.app.service.requests import KEY, answer, body_of, outcome, vector_or_fields

MOST = 10_000  # items of a request
_LARGEST = 16 << 20  # bytes of a body
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Bulk:
    """Handlers of requests of many items, for many streams."""

    reply: Callable[[Command], Awaitable[Reply]]  # of the engine; a RefusedError if it refuses
    patience: float  # seconds that a body may take
    room: int  # items of one request that may wait at an engine: others come between

    async def decisions(self, request: Request) -> Response:
        """Take all decisions of the body; answer with each, or why it was refused."""
        return await self._answered(request, "decisions", _decide)

    async def outcomes(self, request: Request) -> Response:
        """Learn all outcomes of the body; answer with what came of each, or why it was refused."""
        return await self._answered(request, "outcomes", _observe)

    async def _answered(
        self, request: Request, name: str, command_of: Callable[[Mapping[str, Any]], Command]
    ) -> Response:
        body = await body_of(request, self.patience, (name,), _LARGEST)
        items = body.get(name)
        if not isinstance(items, list) or len(items) > MOST:
            many = f"{len(items)} of them" if isinstance(items, list) else type(items).__name__
            raise RefusedError(
                422, f"The body must have '{name}', a list of at most {MOST}. Got {many} instead."
            )
        turn = asyncio.Semaphore(self.room)  # which lets them through in their order

        async def done(item: Any) -> dict[str, Any]:
            """Return the answer to one item, once what it changed is on the disk."""
            async with turn:
                try:
                    reply = await self.reply(command_of(_checked(item, name)))
                except RefusedError as error:
                    return {"status": error.status, "error": str(error)}
                except Exception:
                    _log.exception("An item of a request failed.")
                    return {"status": 500, "error": "Something failed inside: see the log."}
                return {"status": reply.status, "answer": reply.body}

        return answer(200, {"answers": await asyncio.gather(*map(done, items))})


_KNOWN: Mapping[str, tuple[str, ...]] = {
    "decisions": ("stream", "key", "x"),
    "outcomes": ("stream", "decision", "xi"),
}


def _checked(item: Any, name: str) -> Mapping[str, Any]:
    """Return an item that has what it must have, and nothing else."""
    known = _KNOWN[name]
    if not isinstance(item, dict) or {*item} != {*known}:
        expected = ", ".join(f"'{key}'" for key in known)
        got = ", ".join(f"'{key[:50]}'" for key in item) if isinstance(item, dict) else repr(item)
        raise RefusedError(
            422, f"Each of the '{name}' must have {expected} alone. Got {got[:200]} instead."
        )
    stream = item["stream"]
    if not (isinstance(stream, str) and ID.fullmatch(stream)):
        raise RefusedError(404, f"There is no stream {str(stream)[:64]!r}: ids match {ID.pattern}.")
    return item


def _decide(item: Mapping[str, Any]) -> Decide:
    key = item["key"]
    if not (isinstance(key, str) and KEY.fullmatch(key)):
        raise RefusedError(422, f"'key' must be a text that matches {KEY.pattern}: its own.")
    return Decide(item["stream"], vector_or_fields(item, "x"), key)


def _observe(item: Mapping[str, Any]) -> Observe:
    number = item["decision"]
    if type(number) is not int or not 0 <= number < 10**15:
        raise RefusedError(404, f"There is no decision {str(number)[:64]!r}: ids are integers.")
    return Observe(item["stream"], number, outcome(item))
