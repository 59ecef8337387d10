"""A cache of recent results, each computed once for all who ask at the same time."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class _Made(NamedTuple, Generic[T]):
    at: float
    task: "asyncio.Task[T]"


class Fresh(Generic[T]):
    """A cache by key: results expire after `seconds`, and at most `most` are kept."""

    def __init__(
        self, seconds: float, most: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds, self._most, self._clock = seconds, most, clock
        self._made: dict[str, _Made[T]] = {}

    async def of(self, key: str, make: Callable[[], Awaitable[T]]) -> T:
        """Return the result of a key; an error reaches all who wait for it, and is not cached."""
        found = self._made.pop(key, None)
        if found is None or self._over(found):
            found = _Made(self._clock(), asyncio.create_task(_awaited(make)))
        self._made[key] = found  # the latest asked for stands last
        while len(self._made) > self._most:
            del self._made[next(iter(self._made))]
        return await asyncio.shield(found.task)  # who goes away stops nobody else

    def _over(self, made: _Made[T]) -> bool:
        if not made.task.done():
            return False
        failed = made.task.cancelled() or made.task.exception() is not None
        return failed or self._clock() - made.at > self._seconds


async def _awaited(make: Callable[[], Awaitable[T]]) -> T:
    return await make()
