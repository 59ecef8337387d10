"""A service: its store, its workers and its server, from start to graceful stop.

On its connections a request is told promptly, or not at all.
"""

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import h11
import uvicorn
from anyio.to_thread import run_sync
from uvicorn.protocols.http.h11_impl import H11Protocol

from bocopt.app.case import delta_of
from bocopt.app.service.addresses import application
from bocopt.app.service.config import Config
from bocopt.app.service.engine import Engine
from bocopt.app.service.feed import Notifier
from bocopt.app.service.http import Api
from bocopt.app.service.machine import numeric_fingerprint
from bocopt.app.service.registry import Registry
from bocopt.app.service.shard import Decider, Shard
from bocopt.app.service.stores import Store, open_store
from bocopt.app.service.stream_cache import StreamCache
from bocopt.app.service.worker import Worker

_STOP = 10  # seconds that open requests have when the service is told to stop


class _Prompt(H11Protocol):
    """Hangs up on who takes too long to send the headers of a request.

    Between two requests uvicorn's own limit holds, up to the first byte of the second one. It has
    none for headers that have begun, and applications are only called once they are whole; so this
    asks uvicorn's connection to a client: beside the class, `conn` is all that it uses of uvicorn.
    """

    patience: float
    _client: Any = None
    _end: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the time limit for the headers of the first request."""
        self._client = transport
        super().connection_made(transport)
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        """Stop the time limit once the headers are complete, or start it for new ones."""
        super().data_received(data)
        self._wait_for_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the time limit of a connection that has ended."""
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait_for_headers(self) -> None:
        if self.conn.their_state is not h11.IDLE:  # they are here
            self._wait_no_more()
        elif self._end is None:
            self._end = asyncio.get_running_loop().call_later(self.patience, self._client.close)

    def _wait_no_more(self) -> None:
        if self._end is not None:
            self._end.cancel()
            self._end = None


def prompt(patience: float) -> type[H11Protocol]:
    """Return a protocol for a server that waits so many seconds for headers."""
    return type("Prompt", (_Prompt,), {"patience": patience})


def serve(config: Config, say: Callable[[str], None]) -> None:
    """Until it is told to stop; an exception where it cannot start."""
    for note in config.notes:
        say(note)
    store = open_store(config.store, config.folder)
    try:
        reader = open_store(config.store, config.folder, read_only=True)
        page_reader = open_store(config.store, config.folder, read_only=True)
        try:
            bell = Notifier()
            registry = Registry(store, config.templates, numeric_fingerprint())
            engine = Engine(
                store,
                registry,
                _deciders(config, store),
                queue=config.queue,
                at_once=config.at_once,
                committed=bell.notify,
            )
            front = Api(engine, reader, config.templates, bell, config.patience, config.limit)
            front.delta, front.page_reader = delta_of(config.confidence), page_reader
            front.room = max(1, config.queue // (4 * max(1, config.workers)))
            asyncio.run(_served(config, front, say))
        finally:
            reader.close()
            page_reader.close()
    finally:
        store.close()
    if engine.failure is not None:
        raise engine.failure


def _deciders(config: Config, store: Store) -> list[Decider]:
    many = config.workers
    if many == 0:
        return [Shard(store, StreamCache(store, config.templates, config.held))]
    most = -(-config.held // many)
    return [Worker(config, place, many, most, config.limit) for place in range(many)]


async def _served(config: Config, front: Api, say: Callable[[str], None]) -> None:
    server = _Server(
        uvicorn.Config(
            application(front, config.access),
            host=config.host,
            port=config.port,
            http=prompt(config.patience),
            access_log=False,
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=_STOP,
        )
    )
    front.bell.stopping = lambda: server.should_exit
    watch = asyncio.create_task(_watched(server, front, say))
    await server.serve()
    watch.cancel()


async def _watched(server: "_Server", front: Api, say: Callable[[str], None]) -> None:
    """Say where it listens and when it is ready; stop where it cannot be."""
    while not server.started:
        await asyncio.sleep(0.01)
    say(f"Listening on {server.address}")
    while not front.engine.ready:
        if front.engine.failure is not None:
            server.should_exit = True
            return
        await asyncio.sleep(0.01)
    streams = await run_sync(front.reader.streams)
    say(f"Ready: {len(streams)} streams.")


class _Server(uvicorn.Server):
    """Stops on SIGINT and SIGTERM, and does not raise them again: a graceful stop is no failure."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle the signals while the server runs, then restore the handlers before."""
        before = {
            number: signal.signal(number, self.handle_exit)
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @property
    def address(self) -> str:
        """Return the URL at which the server listens."""
        listening: socket.socket = self.servers[0].sockets[0]
        host, port = listening.getsockname()[:2]
        return f"http://{f'[{host}]' if ':' in host else host}:{port}"
