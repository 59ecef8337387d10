"""A service in this process, and a client of it."""

import json
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from email.message import Message
from http.client import HTTPConnection
from typing import Any

import uvicorn

from bocopt.app.service.access import Access
from bocopt.app.service.addresses import application
from bocopt.app.service.engine import Engine
from bocopt.app.service.feed import Notifier
from bocopt.app.service.http import Api
from bocopt.app.service.registry import Registry
from bocopt.app.service.serving import prompt
from bocopt.app.service.shard import Shard
from bocopt.app.service.stores import open_store
from bocopt.app.service.stream_cache import StreamCache
from bocopt.app.service.stream_template import StreamTemplate

Headers = Sequence[tuple[str, str]]


class Service:
    """A service in this process, with a real server, and a client of it."""

    def __init__(
        self,
        url: str,
        kind: StreamTemplate,
        token: str | None = None,
        more: Sequence[StreamTemplate] = (),
        headers: float = 10.0,
        access: Access | None = None,
        **options: Any,
    ) -> None:
        self.store, self.reader = open_store(url), open_store(url, read_only=True)
        bell = Notifier()
        kinds = {each.name: each for each in (kind, *more)}
        registry, shard = (
            Registry(self.store, kinds, "machine"),
            Shard(self.store, StreamCache(self.store, kinds)),
        )
        self.engine = Engine(self.store, registry, [shard], committed=bell.notify, **options)
        self.front = Api(self.engine, self.reader, kinds, bell, patience=0.5)
        self.app = application(self.front, access or Access.of(token))
        self.server = uvicorn.Server(
            uvicorn.Config(self.app, port=0, log_level="error", http=prompt(headers))
        )
        bell.stopping = lambda: self.server.should_exit
        self.thread = threading.Thread(target=self.server.run)

    def __enter__(self) -> "Service":
        self.thread.start()
        assert self.engine.wait(120)
        while not self.server.started:
            time.sleep(0.005)
        return self

    def __exit__(self, *_: object) -> None:
        self.server.should_exit = True
        self.thread.join()
        self.reader.close()
        self.store.close()

    @property
    def port(self) -> int:
        port: int = self.server.servers[0].sockets[0].getsockname()[1]
        return port

    def connected(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=20)

    def raw(
        self, method: str, path: str, body: bytes | None = None, headers: Headers = ()
    ) -> tuple[int, Message, bytes]:
        with closing(self.connected()) as connection:
            connection.putrequest(method, path)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            for name, value in headers:
                connection.putheader(name, value.encode("latin-1"))
            connection.endheaders(body)
            found = connection.getresponse()
            return found.status, found.headers, found.read()

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        sent = [(name.replace("_", "-"), value) for name, value in headers.items()]
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        status, about, content = self.raw(method, path, data, sent)
        assert about["content-type"] == "application/json"
        assert about["x-content-type-options"] == "nosniff"
        return status, json.loads(content)
