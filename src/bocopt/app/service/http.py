"""Handlers of HTTP requests: they decide nothing; the engine does."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from bocopt.app.case_file import ID
from bocopt.app.service.commands import (
    Command,
    Correct,
    Create,
    Decide,
    Forget,
    Observe,
    Query,
    RefusedError,
    Reply,
)
from bocopt.app.service.compared import Better, better
from bocopt.app.service.engine import Engine
from bocopt.app.service.feed import EventCache, Notifier, feed
from bocopt.app.service.openapi import document
from bocopt.app.service.page.fresh import Fresh
from bocopt.app.service.requests import (
    answer,
    body_of,
    decision_of,
    key_of,
    number_in_query,
    outcome,
    refused,
    stream_of,
    vector_or_fields,
)
from bocopt.app.service.shown import event_shown
from bocopt.app.service.stores import Store, StoreError
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.app.service.summaries import read as read_summary

_WAIT = 10.0  # seconds that a request waits for those before it
_MOST = 10_000  # events of the log at once
_LISTENERS = 200  # that may follow events at once
_BETTER = 5.0  # seconds for which what is known of all shadows is good enough

T = TypeVar("T")
Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass
class Api:
    """Handlers of requests: commands go to the engine, and reads of the log go beside it."""

    engine: Engine
    reader: Store  # read only
    templates: Mapping[str, StreamTemplate]
    bell: Notifier
    patience: float = 10.0  # seconds that a body may take, and headers before it
    limit: float = 20.0  # seconds that a command may take
    delta: float = 0.05  # of what is said of all streams together
    room: int = 250  # commands of one request that may wait
    listeners: int = 0
    texts: EventCache = field(default_factory=EventCache)  # of events, for all who listen
    damaged: dict[str, str] = field(default_factory=dict)  # streams, and what was told of them
    page_reader: Store | None = None  # the page's own, so that no feed waits for a large table
    _better: Fresh[tuple[int, list[Better]]] = field(default_factory=lambda: Fresh(_BETTER, 1))

    async def _do(self, command: Command) -> Response:
        reply = await self.reply(command)
        return answer(reply.status, reply.body)

    async def reply(self, command: Command) -> Reply:
        """Return the engine's reply; a RefusedError if it refuses, or (504) takes too long."""
        patience = self.limit + _WAIT
        try:
            waiting = asyncio.wrap_future(self.engine.submit(command))
            async with asyncio.timeout(patience):
                reply = await waiting
        except TimeoutError:
            words = f"No answer within {patience:g} seconds. Ask again with the same key."
            raise RefusedError(504, words) from None
        except RefusedError as error:
            if error.damaged and len(self.damaged) < _MOST:
                self.damaged[command.stream] = str(error)
            raise
        self.damaged.pop(command.stream, None)
        return reply

    async def streams(self, request: Request) -> Response:
        """Answer with the ids of the streams whose kind the configuration file has."""
        found = await self._read(self.reader.streams)
        return answer(
            200, {"streams": [each.id for each in found if each.problem in self.templates]}
        )

    async def begin(self, request: Request) -> Response:
        """Begin a stream like one of the file, with a seed if given; answer with its summary."""
        body = await body_of(request, self.patience, ("case", "seed"))
        case, seed = body.get("case"), body.get("seed")
        if case is not None and not (isinstance(case, str) and ID.fullmatch(case)):
            raise RefusedError(422, "'case' must be the name of one of the file's cases.")
        if seed is not None and (type(seed) is not int or not 0 <= seed <= 9 * 10**18):
            raise RefusedError(422, "'seed' must be an integer in [0, 9e18].")
        return await self._do(Create(stream_of(request), case, seed))

    async def decide(self, request: Request) -> Response:
        """Decide under the context x (k) of the body; answer with the decision."""
        stream, key = stream_of(request), key_of(request)
        body = await body_of(request, self.patience, ("x",))
        return await self._do(Decide(stream, vector_or_fields(body, "x"), key))

    async def observe(self, request: Request) -> Response:
        """Learn the outcome xi (m) of a decision; answer with its cost or reward if new."""
        stream, number = stream_of(request), decision_of(request)
        body = await body_of(request, self.patience, ("xi",))
        return await self._do(Observe(stream, number, outcome(body)))

    async def correct(self, request: Request) -> Response:
        """Replace the outcome of a decision by the right one; answer with what came of it."""
        stream, number = stream_of(request), decision_of(request)
        body = await body_of(request, self.patience, ("xi",))
        return await self._do(Correct(stream, number, outcome(body)))

    async def forget(self, request: Request) -> Response:
        """Give up waiting for the outcome of a decision."""
        return await self._do(Forget(stream_of(request), decision_of(request)))

    async def show(self, request: Request) -> Response:
        """Answer with the summary of a stream: counts, averages, dimensions and names."""
        return await self._do(Query(stream_of(request), "summary"))

    async def certificates(self, request: Request) -> Response:
        """Answer with what is guaranteed so far of a stream."""
        return await self._do(Query(stream_of(request), "certificates"))

    async def decision(self, request: Request) -> Response:
        """Answer with all logged events of a decision."""
        return await self._about(request, "decision")

    async def explanation(self, request: Request) -> Response:
        """Answer with the z of a decision, compared with neighbours, arms and shadows."""
        return await self._about(request, "explanation")

    async def _about(self, request: Request, what: Literal["decision", "explanation"]) -> Response:
        return await self._do(Query(stream_of(request), what, decision_of(request)))

    async def log(self, request: Request) -> Response:
        """Answer with up to `limit` events after number `after`, and where to go on."""
        stream = stream_of(request)
        after = number_in_query(request, "after", -1, 10**15)
        limit = number_in_query(request, "limit", 1000, _MOST)
        if limit < 1:
            raise RefusedError(422, "'limit' must be at least 1.")
        template = await self._template(stream)
        rows = await self._read(lambda: self.reader.tail(stream, after, limit))
        shown = [event_shown(template, row) for row in rows]
        return answer(200, {"events": shown, "next": rows[-1].seq if rows else after})

    async def events(self, request: Request) -> Response:
        """Answer with a stream of server-sent events, after the one that the client has."""
        stream = stream_of(request)
        template = await self._template(stream)
        after = self._after(request)
        if after is None:
            after = await self._read(lambda: self.reader.last_seq(stream))
        if self.listeners >= _LISTENERS:
            raise RefusedError(503, f"{_LISTENERS} listeners are as many as there may be.")
        return StreamingResponse(
            self._heard(template, stream, after),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    def _after(self, request: Request) -> int | None:
        last = request.headers.get("last-event-id")
        if last is not None and not (last.isascii() and last.isdecimal() and len(last) <= 15):
            raise RefusedError(400, "The header last-event-id must be the number of an event.")
        if last is not None:
            return int(last)
        if "after" in request.query_params:
            return number_in_query(request, "after", -1, 10**15)
        return None

    async def _heard(
        self, template: StreamTemplate, stream: str, after: int
    ) -> AsyncIterator[bytes]:
        self.listeners += 1
        try:
            async for text in feed(self.reader, template, stream, after, self.bell, self.texts):
                yield text
        finally:
            self.listeners -= 1

    async def _template(self, stream: str) -> StreamTemplate:
        found = await self._read(lambda: self.reader.stream(stream))
        if found is None or found.problem not in self.templates:
            raise RefusedError(404, f"There is no stream {stream!r}.")
        return self.templates[found.problem]

    async def _read(self, read: Callable[[], T]) -> T:
        try:
            return await run_sync(read)
        except StoreError as error:
            raise RefusedError(503, str(error)) from error

    async def better(self) -> tuple[int, list[Better]]:
        """Return how many shadows were ever compared, and those that may be called better."""
        reader = self.page_reader or self.reader

        def read() -> tuple[int, list[Better]]:
            """Judge the shadows of all streams, from the log."""
            found = [(each, read_summary(each.told)) for each in reader.standings()]
            return better(found, reader.configurations(), self.templates, self.delta)

        return await self._better.of("", lambda: self._read(read))

    async def shadows(self, request: Request) -> Response:
        """Answer with the shadows that may be called better, judged over all streams."""
        compared, found = await self.better()
        signals = [
            {
                "stream": each.stream,
                "shadow": each.name,
                "log_e": each.shown.log_e,
                "compared_stages": each.shown.stages,
                "worse_lately": each.shown.alarm,
            }
            for each in found
        ]
        return answer(200, {"level": self.delta, "compared": compared, "better": signals})

    async def healthy(self, request: Request) -> Response:
        """Answer that the process is alive."""
        return answer(200, {"status": "alive"})

    async def ready(self, request: Request) -> Response:
        """Answer with 200 if the engine accepts commands, and with 503 if not."""
        if not self.engine.ready:
            return refused(503, "Not ready: streams are being built, or the service stops.")
        return answer(200, {"status": "ready"})

    async def metrics(self, request: Request) -> Response:
        """Answer with the metrics in the text format of Prometheus."""
        return PlainTextResponse(self.engine.metrics.text(), media_type="text/plain; version=0.0.4")

    async def openapi(self, request: Request) -> Response:
        """Answer with the OpenAPI document of the service."""
        return answer(200, document())
