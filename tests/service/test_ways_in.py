"""Bodies, addresses, tokens and clients that mean no good: refused, and nothing changes."""

import asyncio
import itertools
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from running import Service
from shop import assert_is_its_log, cache, shop

BAD_BODIES: list[tuple[bytes, int, str]] = [
    (b"", 422, "The body must have 'x', a list of numbers."),
    (b"{", 400, "The body is not JSON in UTF-8."),
    (b"\xff\xfe", 400, "The body is not JSON in UTF-8."),
    (b"[1]", 422, "A body must be a JSON object."),
    (b'{"x": [NaN]}', 422, "Numbers must be finite. Got NaN instead."),
    (b'{"x": [-Infinity]}', 422, "Numbers must be finite. Got -Infinity instead."),
    (b'{"x": [1e999]}', 422, "The 'x' parameter of decisions must be finite."),
    (b'{"x": [null]}', 422, "The 'x' parameter of decisions must be finite."),
    (b'{"x": [true]}', 422, "'x' must be a list of numbers. Got [True] instead."),
    (b'{"x": ["1"]}', 422, "'x' must be a list of numbers."),
    (b'{"x": 1}', 422, "'x' must be a list of numbers. Got 1 instead."),
    (b'{"x": [[1]]}', 422, "'x' must be a list of numbers."),
    (b'{"\\ud800": [1]}', 422, "There is no '\\ud800' in this body"),
    (b'{"x": [1], "y": 2}', 422, "There is no 'y' in this body; it may have 'x'."),
    (b'{"x": [1' + b"0" * 400 + b"]}", 422, "One is too large."),
    (b'{"x": [1' + b"0" * 6000 + b"]}", 400, "The body is not JSON in UTF-8."),
    (b"[" * 100_000, 400, "The body is not JSON in UTF-8."),
    (b'{"x": [1, 2]}', 422, "must be of 1 numbers, as the contexts before it"),
]


def test_bad_bodies_change_nothing(local: Service) -> None:
    local.ask("POST", "/v1/streams/shop/decisions", {"x": [0.3]})
    before = local.store.tail("shop")
    for body, code, message in BAD_BODIES:
        status, told = local.ask("POST", "/v1/streams/shop/decisions", body)
        assert (status, list(told)) == (code, ["error"]), body[:50]
        assert message in told["error"]
    assert local.store.tail("shop") == before


WAYS: list[tuple[str, str, int]] = [
    ("GET", "/v1/streams/none", 404),
    ("GET", "/v1/streams/..%2f..%2fetc%2fpasswd", 404),
    ("GET", "/v1/streams/../../etc/passwd", 404),
    ("GET", "/v1/streams/shop%00", 404),
    ("GET", "/v1/streams/shop%0d%0aX-Evil:1", 404),
    ("GET", "/v1/streams/shop';DROP%20TABLE%20events;--", 404),
    ("GET", "/v1/streams/" + "a" * 65, 404),
    ("GET", "/v1/streams/sh%C3%B6p", 404),
    ("GET", "/v1/streams/shop/decisions/-1", 404),
    ("GET", "/v1/streams/shop/decisions/1e3", 404),
    ("GET", "/v1/streams/shop/decisions/" + "9" * 30, 404),
    ("GET", "/v1/streams/shop/decisions/99", 404),
    ("GET", "/v1/streams/shop/decisions/99/explanation", 404),
    ("DELETE", "/v1/streams/shop/decisions/99", 404),
    ("GET", "/v1/streams/shop/log?after=x", 422),
    ("GET", "/v1/streams/shop/log?after=1;DROP", 422),
    ("GET", "/v1/streams/shop/log?limit=0", 422),
    ("GET", "/v1/streams/shop/log?limit=99999999", 422),
    ("GET", "/v1/streams/none/log", 404),
    ("GET", "/v1/streams/none/events", 404),
    ("GET", "/elsewhere", 404),
    ("GET", "/v1/streams/", 404),
    ("GET", "/v1/streams/shop/", 404),
    ("POST", "/v1/streams/shop", 405),
    ("DELETE", "/healthz", 405),
]


def test_ways_in_lead_nowhere(local: Service) -> None:
    for method, path, code in WAYS:
        status, told = local.ask(method, path)
        assert (status, list(told)) == (code, ["error"]), path
        assert "Traceback" not in told["error"]
    for name, value in (
        ("Idempotency-Key", ""),
        ("Idempotency-Key", "a" * 201),
        ("Idempotency-Key", "a b"),
        ("Idempotency-Key", "\xe9"),
        ("Last-Event-ID", "x"),
    ):
        method, path = ("GET", "events") if name == "Last-Event-ID" else ("POST", "decisions")
        body = b'{"x": [0.1]}'
        found = local.raw(method, f"/v1/streams/shop/{path}", body, [(name, value)])
        assert found[0] == 400, value
    assert local.store.tail("shop") == []


TOKEN = "a-token-of-sixteen"


def test_the_token_must_be_shown_and_be_right(tmp_path: Path) -> None:
    with Service(f"sqlite:///{tmp_path / 'log.db'}", shop(), TOKEN) as service:
        for shown in (
            {},
            {"Authorization": ""},
            {"Authorization": "Bearer"},
            {"Authorization": f"Bearer {TOKEN}x"},
            {"Authorization": f"Bearer {TOKEN[:-1]}"},
            {"Authorization": f"Basic {TOKEN}"},
            {"Authorization": TOKEN},
        ):
            for path in ("/v1/streams/shop", "/metrics", "/openapi.json", "/elsewhere"):
                status, told = service.ask("GET", path, **shown)
                assert (status, list(told)) == (401, ["error"])
                assert TOKEN not in told["error"]
        twice = [("Authorization", f"Bearer {TOKEN}"), ("Authorization", "Bearer other")]
        assert service.raw("GET", "/v1/streams", headers=twice)[0] == 401
        right = {"Authorization": f"Bearer {TOKEN}"}
        assert service.ask("GET", "/v1/streams/shop", **right)[0] == 200
        assert service.ask("GET", "/healthz")[0] == 200


@pytest.mark.parametrize(
    ("length", "code", "message"),
    [
        (b"100", b"408", b"The body did not come within 0.5 seconds."),
        (b"2000000", b"413", b"A body must be at most 1048576 bytes."),
        (b"many", b"400", b""),
    ],
)
def test_a_slow_or_a_large_body_is_not_waited_for(
    local: Service, length: bytes, code: bytes, message: bytes
) -> None:
    """The connection ends too: nobody can hold many of them open."""
    with closing(local.connected()) as connection:
        connection.connect()
        connection.sock.sendall(
            b"POST /v1/streams/shop/decisions HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Length: " + length + b"\r\n\r\n{"
        )
        connection.sock.settimeout(30)
        told = b""
        while more := connection.sock.recv(4096):
            told += more
    assert told.startswith(b"HTTP/1.1 " + code)
    assert message in told


WHOLE, HALF = (
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: local",
)


@pytest.mark.parametrize("sent", [b"", HALF, WHOLE + HALF])
def test_headers_that_do_not_come_are_not_waited_for(tmp_path: Path, sent: bytes) -> None:
    """Nor are those that come byte by byte, or after a request that was answered."""
    url = f"sqlite:///{tmp_path / 'log.db'}"
    with Service(url, shop(), headers=0.5) as service:
        took, told = until_it_hangs_up(service, sent)
    assert took < 5
    assert told.count(b"HTTP/1.1 200 OK") == sent.startswith(WHOLE)


def until_it_hangs_up(service: Service, sent: bytes) -> tuple[float, bytes]:
    """How long that takes, and what came; some more is sent meanwhile, if anything is."""
    told, began = b"", time.monotonic()
    with closing(service.connected()) as connection, suppress(ConnectionError):
        connection.connect()
        connection.sock.sendall(sent)
        connection.sock.settimeout(0.1)
        while time.monotonic() - began < 10:
            try:
                more = connection.sock.recv(4096)
            except TimeoutError:
                connection.sock.sendall(b"a" if sent else b"")
                continue
            if not more:
                break
            told += more
    return time.monotonic() - began, told


def test_a_body_of_unknown_length_is_measured(local: Service) -> None:
    """Told to the application itself: a client that still sends may not hear the answer."""
    taken = itertools.count()
    sent: list[Any] = []

    async def receive() -> Any:
        next(taken)
        return {"type": "http.request", "body": b" " * 65536, "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    path = "/v1/streams/shop/decisions"
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": []}
    asyncio.run(local.app(scope, receive, send))
    assert sent[0]["status"] == 413
    assert next(taken) == 17


def test_too_many_open_decisions_are_refused_and_a_full_disk_is_told(local: Service) -> None:
    for _ in range(3):
        assert local.ask("POST", "/v1/streams/shop/decisions", {"x": [0.3]})[0] == 201
    status, told = local.ask("POST", "/v1/streams/shop/decisions", {"x": [0.3]})
    assert (status, "max_open" in told["error"]) == (409, True)
    database: Any = local.store
    [(pages,)] = database._database.read("PRAGMA page_count")
    database._database.read(f"PRAGMA max_page_count = {pages}")
    codes, n = [0], 0
    while max(codes) < 500 and n < 200:
        outcome = f"/v1/streams/shop/decisions/{n}/outcome"
        codes.append(local.ask("PUT", outcome, {"xi": [1.0, 1.0]})[0])
        codes.append(local.ask("POST", "/v1/streams/shop/decisions", {"x": [0.3]})[0])
        n += 1
    assert codes[-1] == 507 or codes[-2] == 507
    database._database.read("PRAGMA max_page_count = 100000")
    cache(local.engine).drop_all()
    open_now = local.ask("GET", "/v1/streams/shop")[1]["open"]
    path = f"/v1/streams/shop/decisions/{open_now[0]['id']}/outcome"
    assert local.ask("PUT", path, {"xi": [1.0, 1.0]})[0] == 201
    assert_is_its_log(local.engine, local.store)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "shop.example"},
        {"Host": "localhost", "Origin": "https://shop.example"},
    ],
)
def test_pages_of_other_sites_are_not_answered(local: Service, headers: dict[str, str]) -> None:
    with closing(local.connected()) as connection:
        connection.request("GET", "/v1/streams", headers=headers)
        assert connection.getresponse().status == 403
