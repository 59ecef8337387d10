"""Ways in that should lead nowhere: status and message of each.

python benchmarks/service/ways_in.py

Each is sent as raw bytes to a real `bocopt serve` with a token, or to one without. At the end the
store is as it was, the logs of the servers hold no line that a client wrote, and both still answer.

Writes benchmarks/results/service_ways_in.{md,json}.
"""

import argparse
import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from fuzz import digest
from proof_file import command, keep, table
from subject import Subject, ask, scratch, serving, subject

TOKEN = "a-token-for-the-proof-0123456789"
_PATIENCE = 2  # seconds that a body may take, in these servers


class Way(NamedTuple):
    """What is tried, what is sent, and which statuses refuse it."""

    name: str
    data: bytes
    wanted: tuple[int, ...]
    token: bool = True  # whether the server asks for one
    pause: float = 0.0  # seconds between bytes of the last part


def request(
    method: str, path: str, *headers: str, body: bytes = b"", host: str = "localhost"
) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", *headers]
    lines += [f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


_RIGHT = f"Authorization: Bearer {TOKEN}"
_BODY = b'{"x": [0.5]}'
_ASK = "/v1/streams/north/decisions"


def tokens() -> Iterator[Way]:
    for name, headers in {
        "no token": (),
        "a wrong token": ("Authorization: Bearer a-token-for-the-proof-0123456788",),
        "half of the token": (f"Authorization: Bearer {TOKEN[:16]}",),
        "the token and more": (f"{_RIGHT}x",),
        "the token by another scheme": (f"Authorization: Basic {TOKEN}",),
        "the token twice": (_RIGHT, _RIGHT),
        "the token in a cookie": (f"Cookie: token={TOKEN}",),
    }.items():
        yield Way(name, request("POST", _ASK, *headers, body=_BODY), (401,))
    yield Way("the token in the query", request("GET", f"/v1/streams?token={TOKEN}"), (401,))
    yield Way("metrics without a token", request("GET", "/metrics"), (401,))


def addresses() -> Iterator[Way]:
    """With the right token."""
    for name, method, path in (
        ("another stream, which is not there", "GET", "/v1/streams/west"),
        ("a decision of another stream", "GET", "/v1/streams/south/decisions/0"),
        ("path traversal, plain", "GET", "/v1/streams/../../etc/passwd"),
        ("path traversal, encoded", "GET", "/v1/streams/..%2f..%2f..%2fetc%2fpasswd"),
        ("path traversal, encoded twice", "GET", "/v1/streams/%252e%252e%252fetc"),
        ("path traversal by an id", "PUT", "/v1/streams/..%5c..%5cshop.py"),
        ("a null byte in an id", "GET", "/v1/streams/north%00.db"),
        ("SQL in an id", "GET", "/v1/streams/north'%20OR%20'1'='1"),
        ("SQL in an id, to write", "PUT", "/v1/streams/x');DROP%20TABLE%20events;--"),
        ("SQL in a number", "GET", "/v1/streams/north/decisions/0%20OR%201=1"),
        ("SQL in a query", "GET", "/v1/streams/north/log?after=0;DROP%20TABLE%20events"),
        ("header injection by an id", "GET", "/v1/streams/north%0d%0aSet-Cookie:%20a=b"),
        ("a number of 30 digits", "DELETE", f"{_ASK}/{'9' * 30}"),
        ("a redirection elsewhere", "GET", "//other.example/v1/streams/north/"),
    ):
        yield Way(name, request(method, path, _RIGHT), (404, 405, 422))
    yield Way(
        "SQL as a key",
        request("POST", _ASK, _RIGHT, "Idempotency-Key: a' OR 1=1", body=_BODY),
        (400,),
    )
    key = "Idempotency-Key: a\tERROR:root:forged"
    yield Way("log injection by a key", request("POST", _ASK, _RIGHT, key, body=_BODY), (400,))
    yield Way(
        "a broken line in a header",
        request("POST", _ASK, _RIGHT, "X-A: a\rINJECTED", body=_BODY),
        (400,),
    )


def bodies() -> Iterator[Way]:
    head = f"POST {_ASK} HTTP/1.1\r\nHost: localhost\r\n{_RIGHT}\r\n".encode()
    big = b'{"x": [' + b"1," * (1 << 20) + b"1]}"
    yield Way("a body of 2 MiB", request("POST", _ASK, _RIGHT, body=big), (413,))
    yield Way("a body said to be 10 GB", head + b"Content-Length: 10000000000\r\n\r\n{", (413,))
    endless = b"".join(b"8000\r\n" + b" " * 0x8000 + b"\r\n" for _ in range(40))
    chunked = head + b"Transfer-Encoding: chunked\r\n\r\n"
    yield Way("a body in chunks without an end", chunked + endless, (413,))
    both = head + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    yield Way("a length and chunks at once", both, (400, 422))
    yield Way("two lengths", head + b"Content-Length: 3\r\nContent-Length: 9\r\n\r\n{}", (400,))
    yield Way("a negative length", head + b"Content-Length: -5\r\n\r\n{}", (400,))
    yield Way("brackets, 100,000 deep", request("POST", _ASK, _RIGHT, body=b"[" * 100_000), (400,))
    yield Way("a body that never comes", head + b"Content-Length: 12\r\n\r\n{", (408,))
    slow = head + b"Content-Length: 12\r\n\r\n" + _BODY[:-1]
    yield Way("a body that comes byte by byte", slow, (408,), pause=0.4)
    large = "X-Large: " + "a" * 200_000
    yield Way("a header of 200 kB", request("GET", "/v1/streams", _RIGHT, large), (400, 431))


def other_sites() -> Iterator[Way]:
    """Without a token, what the browser of somebody on this machine could be made to send."""
    for name, host, header in (
        ("another site's page", "localhost", "Origin: https://other.example"),
        ("another site that claims our address", "other.example", "Accept: */*"),
        ("a page without a site", "localhost", "Origin: null"),
        ("a page of a name like ours", "localhost.other.example", "Accept: */*"),
    ):
        data = request("POST", _ASK, header, "Content-Type: text/plain", body=_BODY, host=host)
        yield Way(name, data, (403,), token=False)


def tried(made: Subject, way: Way) -> tuple[str, str]:
    """The status and the message."""
    with closing(socket.create_connection(made.address, timeout=30)) as wire:
        with suppress(ConnectionError, BrokenPipeError):  # it may hang up before all was sent
            head, gap, rest = way.data.partition(b"\r\n\r\n")
            if way.pause:
                wire.sendall(head + gap)
                for i in range(len(rest)):
                    wire.sendall(rest[i : i + 1])
                    time.sleep(way.pause)
            else:
                wire.sendall(way.data)
        return _heard(wire)


def _heard(wire: socket.socket) -> tuple[str, str]:
    got = b""
    with suppress(ConnectionError, TimeoutError):
        while b"\r\n\r\n" not in got or len(got) < _length(got):
            more = wire.recv(65536)
            if not more:
                break
            got += more
    head, _, body = got.partition(b"\r\n\r\n")
    try:
        message = str(json.loads(body)["error"])
    except (ValueError, KeyError, TypeError):
        message = body[:200].decode(errors="replace")
    return head[9:12].decode() or "hung up", message


def _length(got: bytes) -> int:
    head, _, _ = got.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return len(head) + 4 + int(line[15:])
    return 0


def held_open(made: Subject, count: int) -> dict[str, Any]:
    """Many connections that send half a request, and one that asks meanwhile.

    Byte by byte some more comes, until the service hangs up.
    """
    with ExitStack() as stack:
        wires = [
            stack.enter_context(closing(socket.create_connection(made.address, timeout=10)))
            for _ in range(count)
        ]
        for wire in wires:
            wire.sendall(b"GET /v1/streams HTTP/1.1\r\nHost: local")
        began = time.perf_counter()
        status = ask(made, "GET", "/v1/streams", None, {"Authorization": f"Bearer {TOKEN}"})[0]
        took = time.perf_counter() - began
        left = wires
        while left and time.perf_counter() - began < _PATIENCE + 10:
            time.sleep(0.1)
            left = [wire for wire in left if not hung_up(wire)]
        ended = time.perf_counter() - began
    told = f"somebody else was answered in {1000 * took:.0f} ms"
    gone = f"{count - len(left)} were hung up on within {ended:.1f} s"
    return {
        "way": f"{count} connections that send a header byte by byte",
        "status": str(status),
        "message": f"{told}; {gone}",
        "fine": status == 200 and not left,
    }


def hung_up(wire: socket.socket) -> bool:
    """Whether the other side has; else it gets one more byte."""
    try:
        wire.sendall(b"a")
        return not wire.recv(1, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def page(rows: list[dict[str, Any]], found: dict[str, Any]) -> list[str]:
    body = [
        [row["way"], row["status"], row["message"] or "-", "yes" if row["fine"] else "NO"]
        for row in rows
    ]
    return [
        "# Ways into the service",
        "",
        f"`{found['command']}`",
        "",
        *table(["way", "status", "message", "as it should be"], body),
        "",
        f"Afterwards the stores were as before: {found['unchanged']}. Lines in the servers' logs "
        f"that a client wrote: {found['forged']}. The token in an answer or a log: "
        f"{found['leaked']}.",
    ]


def all_of_them(here: Path, connections: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    (here / "guarded").mkdir()
    (here / "guarded" / "token").write_text(TOKEN)
    lines = f'token = "token"\npatience = {_PATIENCE}'
    names = ("north", "south")
    guarded = subject(here / "guarded", "sqlite:///log.db", service=lines, streams=names)
    free = subject(
        here / "free", "sqlite:///log.db", service=f"patience = {_PATIENCE}", streams=names
    )
    rows: list[dict[str, Any]] = []
    with serving(guarded), serving(free):
        for made, headers in ((guarded, {"Authorization": f"Bearer {TOKEN}"}), (free, None)):
            assert ask(made, "POST", _ASK, {"x": [0.5]}, headers)[0] == 201
        before = [digest(made) for made in (guarded, free)]
        for way in [*tokens(), *addresses(), *bodies(), *other_sites()]:
            status, message = tried(guarded if way.token else free, way)
            fine = status in map(str, way.wanted) and "Traceback" not in message
            rows.append({"way": way.name, "status": status, "message": message, "fine": fine})
        rows.append(held_open(guarded, connections))
        unchanged = [digest(made) for made in (guarded, free)] == before
        alive = ask(free, "GET", "/v1/streams/north")[0] == 200
    logs = "".join(path.read_text() for path in here.rglob("server-*.log"))
    forged = sum("forged" in line or "INJECTED" in line for line in logs.splitlines())
    leaked = sum(TOKEN in row["message"] for row in rows) + (TOKEN in logs)
    return rows, {"unchanged": unchanged and alive, "forged": forged, "leaked": leaked}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--connections", type=int, default=200, help="that send a header byte by byte"
    )
    settings = parser.parse_args()
    with scratch("ways") as here:
        rows, found = all_of_them(here, settings.connections)
    found["command"] = command()
    keep("service_ways_in", {**found, "rows": rows}, page(rows, found))
    wrong = [f"{row['way']}: {row['status']} {row['message']}" for row in rows if not row["fine"]]
    if wrong or not found["unchanged"] or found["forged"] or found["leaked"]:
        raise SystemExit("\n".join(wrong) or "Something was changed, forged or told.")


if __name__ == "__main__":
    main()
