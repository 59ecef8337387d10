"""A client that costs little: raw bytes over one connection that stays open."""

import itertools
import json
import socket
import time
import zlib
from urllib.parse import urlsplit

from scale.subject import data

STAGES = 300  # that a client goes through, again and again


class Client:
    """One connection, and one stream: a decision, its outcome, the next decision."""

    def __init__(self, address: str, stream: str) -> None:
        at = urlsplit(address)
        self.socket = socket.create_connection((at.hostname, at.port), 60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent = 0.0
        self._path = f"/v1/streams/{stream}"
        self._number: int | None = None  # of the decision that waits for its outcome
        seen = [
            (json.dumps({"x": x.tolist()}), json.dumps({"xi": xi.tolist()}))
            for x, xi in data(STAGES, zlib.crc32(stream.encode()))
        ]
        self._seen = itertools.cycle(seen)
        self._x, self._xi = next(self._seen)

    def send(self) -> None:
        path = f"{self._path}/decisions"
        if self._number is None:
            self._x, self._xi = next(self._seen)
            self._send("POST", path, self._x)
        else:
            self._send("PUT", f"{path}/{self._number}/outcome", self._xi)

    def _send(self, method: str, path: str, body: str) -> None:
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        self.sent = time.perf_counter()
        self.socket.sendall((head + body).encode())

    def heard(self) -> int:
        """The status of the answer."""
        got = b""
        while b"\r\n\r\n" not in got:
            got += self._some()
        head, _, body = got.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        while len(body) < length:
            body += self._some()
        status = int(head[9:12])
        if status == 201:
            self._number = json.loads(body)["id"] if self._number is None else None
        return status

    def _some(self) -> bytes:
        some = self.socket.recv(65_536)
        if not some:
            raise ConnectionError("The service closed a connection.")
        return some

    def until_answered(self) -> None:
        """Ask until it is done, for a minute at most."""
        until = time.perf_counter() + 60
        status = 0
        while status != 201 and time.perf_counter() < until:
            self.send()
            status = self.heard()
        assert status == 201, status

    def begin(self) -> None:
        self._send("PUT", self._path, "{}")
        assert self.heard() == 201
        self._number = None
