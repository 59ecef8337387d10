"""Handlers of the page's addresses. They read the log, and ask the engine for little."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bocopt.app.service.access import Access
from bocopt.app.service.commands import Command, Query, RefusedError, Reply
from bocopt.app.service.compared import Better
from bocopt.app.service.page.candidates import ExplainedDecision
from bocopt.app.service.page.concerns import StreamConcerns, judged, with_target
from bocopt.app.service.page.document import file_response, html, trouble
from bocopt.app.service.page.fleet import fleet_page
from bocopt.app.service.page.fresh import Fresh
from bocopt.app.service.page.seen import seen
from bocopt.app.service.page.sign_in import form_of, ours, set_cookie, sign_in_page
from bocopt.app.service.page.stream import stream_page
from bocopt.app.service.page.why import why_page
from bocopt.app.service.requests import content_of, decision_of, number_in_query, stream_of
from bocopt.app.service.stores import Store, StoreError
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.state import CheckpointError

_FLEET, _STREAM = 3.0, 1.0  # seconds for which a page is good enough
_KEPT = 200  # pages and explanations
_WRONG = 1.0  # seconds that a wrong token costs
_GUESSES = 10  # that may wait at once

T = TypeVar("T")
Certificates = Sequence[Mapping[str, Any]]
Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass
class Pages:
    """The page of a service."""

    reply: Callable[[Command], Awaitable[Reply]]
    reader: Store  # read only, and nobody else's: no feed waits for a large table
    templates: Mapping[str, StreamTemplate]
    damaged: Mapping[str, str]  # streams that could not be built, and why
    access: Access
    patience: float
    count: Callable[[str, str], None]
    better: Callable[[], Awaitable[tuple[int, Sequence[Better]]]]  # shadows, over all streams
    delta: float = 0.05  # of what is said of all streams together
    guesses: int = 0
    _fleet: Fresh[list[StreamConcerns]] = field(default_factory=lambda: Fresh(_FLEET, 1))
    _streams: Fresh[str] = field(default_factory=lambda: Fresh(_STREAM, _KEPT))
    _explained: Fresh[Mapping[str, Any]] = field(default_factory=lambda: Fresh(1e9, _KEPT))
    _certified: dict[str, tuple[int, Certificates]] = field(default_factory=dict)

    @property
    def routes(self) -> list[tuple[str, str, Endpoint]]:
        """Return the addresses of the page as triples of method, path and handler."""
        return [
            ("GET", "/", self._with_error_page(self._fleet_page)),
            ("GET", "/streams/{stream}", self._with_error_page(self._stream_page)),
            ("GET", "/streams/{stream}/decisions/{number}", self._with_error_page(self._why_page)),
            ("GET", "/login", self._with_error_page(self._sign_in)),
            ("POST", "/login", self._with_error_page(self._signed_in)),
            ("POST", "/logout", self._with_error_page(self._sign_out)),
            ("GET", "/page/{file}", self._with_error_page(self._file)),
        ]

    def _with_error_page(self, endpoint: Endpoint) -> Endpoint:
        """Wrap a handler, so that a RefusedError is shown on a page."""

        async def answered(request: Request) -> Response:
            """Return the handler's response, or a page with the error."""
            try:
                return await endpoint(request)
            except RefusedError as error:
                return trouble(error.status, str(error), leave=self.access.asks_for_token)

        return answered

    async def _read(self, read: Callable[[], T]) -> T:
        try:
            return await run_sync(read)
        except StoreError as error:
            raise RefusedError(503, str(error)) from error

    async def _fleet_page(self, request: Request) -> Response:
        query = request.query_params.get("q", "")[:100]
        number = number_in_query(request, "page", 1, 10**6)
        found = await self._fleet.of("", self._judged)
        make = partial(fleet_page, found, self.templates, time.time(), query=query, number=number)
        return html(await run_sync(partial(make, leave=self.access.asks_for_token)))

    async def _judged(self, stream: str | None = None) -> list[StreamConcerns]:
        _, better = await self.better()

        def read() -> list[StreamConcerns]:
            """Judge one stream or all of them, from the log."""
            standings = self.reader.standings(stream)
            asked = with_target((each.problem for each in self.reader.streams()), self.templates)
            damaged, now = dict(self.damaged), time.time()
            return judged(
                standings, self.templates, damaged, now, better, asked=asked, delta=self.delta
            )

        return await self._read(read)

    async def _stream_page(self, request: Request) -> Response:
        stream = stream_of(request)
        template = await self._template(stream)
        return html(await self._streams.of(stream, partial(self._drawn, stream, template)))

    async def _drawn(self, stream: str, template: StreamTemplate) -> str:
        found = await self._read(partial(seen, self.reader, template, stream))
        certificates = await self._certificates(stream, found.seq)
        concerns = [each for one in await self._judged(stream) for each in one.concerns]
        now, leave = time.time(), self.access.asks_for_token
        return await run_sync(partial(stream_page, found, certificates, concerns, now, leave=leave))

    async def _certificates(self, stream: str, seq: int) -> Certificates | str:
        """Return the certificates after event `seq`, cached, or why the engine refuses them."""
        at, known = self._certified.get(stream, (-2, ()))
        if at == seq:
            return known
        try:
            found: Certificates = (await self.reply(Query(stream, "certificates"))).body[
                "certificates"
            ]
        except RefusedError as error:
            return str(error)
        while len(self._certified) >= _KEPT:
            del self._certified[next(iter(self._certified))]
        self._certified[stream] = seq, found
        return found

    async def _why_page(self, request: Request) -> Response:
        stream, number = stream_of(request), decision_of(request)
        template = await self._template(stream)
        rows = await self._read(partial(self.reader.events_of, stream, number, number))
        if not rows:
            raise RefusedError(404, f"There is no decision {number} of {stream!r}.")
        outcomes = await self._read(partial(self.reader.stages_of, stream, number, number))
        last = await self._read(partial(self.reader.last_decision, stream))
        try:
            ask = partial(self._explanation, stream, number)
            explained: Mapping[str, Any] | str = await self._explained.of(f"{stream}/{number}", ask)
        except RefusedError as error:
            explained = str(error)
        outcome = outcomes[0] if outcomes else None
        case = ExplainedDecision(stream, template, number, rows, outcome, last, explained)
        try:
            text = await run_sync(partial(why_page, case, leave=self.access.asks_for_token))
        except CheckpointError as error:
            words = f"Decision {number} of {stream!r}: {error} Run `bocopt doctor`."
            raise RefusedError(503, words) from error
        return html(text)

    async def _explanation(self, stream: str, number: int) -> Mapping[str, Any]:
        return (await self.reply(Query(stream, "explanation", number))).body

    async def _template(self, stream: str) -> StreamTemplate:
        found = await self._read(partial(self.reader.stream, stream))
        if found is None or found.problem not in self.templates:
            raise RefusedError(404, f"There is no stream {stream!r}.")
        return self.templates[found.problem]

    async def _file(self, request: Request) -> Response:
        found = file_response(str(request.path_params["file"]))
        return found or trouble(404, "There is nothing here.", leave=False)

    async def _sign_in(self, request: Request) -> Response:
        towards = ours(request.query_params.get("next"))
        if not self.access.asks_for_token:
            return RedirectResponse(towards, 303)
        return html(sign_in_page(towards))

    async def _signed_in(self, request: Request) -> Response:
        token, towards = form_of(await content_of(request, self.patience, 4096))
        if not self.access.asks_for_token:
            return RedirectResponse(towards, 303)
        session = self.access.session(token)
        if session is None:
            await self._wrong()
            return html(sign_in_page(towards, "That is not the token."), 401)
        self.count("bocopt_sign_ins_total", '{result="right"}')
        cookie = await run_sync(session.cookie, time.time())
        return _redirected(towards, set_cookie(cookie, secure=request.url.scheme == "https"))

    async def _wrong(self) -> None:
        """Guessing takes long, however many guess at once."""
        self.count("bocopt_sign_ins_total", '{result="wrong"}')
        if self.guesses >= _GUESSES:
            raise RefusedError(503, "Too many wrong tokens. Try again in a second.")
        self.guesses += 1
        try:
            await asyncio.sleep(_WRONG)
        finally:
            self.guesses -= 1

    async def _sign_out(self, request: Request) -> Response:
        return _redirected("/login", set_cookie("", secure=request.url.scheme == "https"))


def _redirected(towards: str, cookie: str) -> Response:
    kept = {"Set-Cookie": cookie, "Cache-Control": "no-store"}
    return RedirectResponse(towards, 303, headers=kept)
