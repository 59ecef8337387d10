"""Events of a stream as they are logged, for pages that stay open (server-sent events)."""

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence

from anyio.to_thread import run_sync

from bocopt.app.service.shown import event_shown
from bocopt.app.service.stores import EventRow, Store, StoreError
from bocopt.app.service.stream_template import StreamTemplate

_AT_ONCE = 500  # events that are read at once
_LOOK = 1.0  # seconds until the log is looked at anyway: another server may write to it
_REST = 0.05  # seconds from one telling to the next: decisions do not wait for those who listen
_PING = 15.0  # seconds of silence after which a comment keeps the connection open
_TEXTS = 1000  # events that are kept as text


class Notifier:
    """Rung by an engine's thread for streams that have a new event; heard in the event loop."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._events: dict[str, asyncio.Event] = {}
        self.stopping: Callable[[], bool] = lambda: False

    def attach(self) -> None:
        """Attach to the event loop that runs now; before that, `notify` has no effect."""
        self._loop = asyncio.get_running_loop()

    def notify(self, rows: Sequence[EventRow]) -> None:
        """Wake the listeners to the streams of these rows; safe to call from any thread."""
        if self._loop is not None and rows and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake, {row.stream for row in rows})

    def _wake(self, streams: set[str]) -> None:
        for stream in streams & self._events.keys():
            self._events.pop(stream).set()

    def expected(self, stream: str) -> asyncio.Event:
        """Return the event that a stream's next row sets; call it before the log is read."""
        return self._events.setdefault(stream, asyncio.Event())

    async def wait_for(self, event: asyncio.Event) -> None:
        """Return once the event is set, or after a while."""
        try:
            async with asyncio.timeout(_LOOK):
                await event.wait()
        except TimeoutError:
            return


class EventCache:
    """The latest events as text, each made once for all who listen: the log never changes."""

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[str, int], bytes] = OrderedDict()

    def of(self, template: StreamTemplate, row: EventRow) -> bytes:
        """Return a row as the bytes of a server-sent event, from the cache if it is there."""
        place = (row.stream, row.seq)
        if place not in self._found:
            self._found[place] = _text(template, row)
            if len(self._found) > _TEXTS:
                self._found.popitem(last=False)
        return self._found[place]


async def feed(
    store: Store,
    template: StreamTemplate,
    stream: str,
    after: int,
    bell: Notifier,
    texts: EventCache,
) -> AsyncIterator[bytes]:
    """Each event after one, as text; it ends when the service stops."""
    yield b"retry: 1000\n\n"
    loop = asyncio.get_running_loop()
    said = loop.time()
    while not bell.stopping():
        event = bell.expected(stream)
        try:
            rows = await run_sync(store.tail, stream, after, _AT_ONCE)
        except StoreError:
            return  # whoever listens connects again, from where it was
        for row in rows:
            after = row.seq
            yield texts.of(template, row)
        if rows:
            said = loop.time()
            await asyncio.sleep(_REST if len(rows) < _AT_ONCE else 0.0)
            continue
        if loop.time() - said > _PING:
            said = loop.time()
            yield b": still here\n\n"
        await bell.wait_for(event)


def _text(template: StreamTemplate, row: EventRow) -> bytes:
    data = json.dumps(event_shown(template, row))
    return f"id: {row.seq}\nevent: {row.kind}\ndata: {data}\n\n".encode()
