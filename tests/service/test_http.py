"""The service over HTTP: each address, each refusal, and ways in."""

import asyncio
import itertools
import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from email.message import Message
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shop as here
import uvicorn
from shop import assert_is_its_log, shop

from bocopt.policies import Shadowed
from bocopt.service.engine import Engine
from bocopt.service.feed import Bell, feed
from bocopt.service.fleet import Fleet
from bocopt.service.http import Front, application
from bocopt.service.kind import Kind, Limits
from bocopt.service.openapi import document
from bocopt.service.stores import open_store

TOKEN = "a-token-of-sixteen"
Headers = Sequence[tuple[str, str]]


class Service:
    """A service in this process, with a real server, and a client of it."""

    def __init__(self, url: str, kind: Kind, token: str | None = None, **options: Any) -> None:
        self.store, self.reader = open_store(url), open_store(url, read_only=True)
        bell = Bell()
        fleet = Fleet(self.store, {kind.name: kind}, "machine")
        self.engine = Engine(self.store, fleet, committed=bell.ring, **options)
        self.front = Front(self.engine, self.reader, {kind.name: kind}, bell, patience=0.5)
        self.app = application(self.front, token)
        self.server = uvicorn.Server(uvicorn.Config(self.app, port=0, log_level="error"))
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

    def connected(self) -> HTTPConnection:
        port = self.server.servers[0].sockets[0].getsockname()[1]
        return HTTPConnection("127.0.0.1", port, timeout=20)

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


@pytest.fixture
def service(url: str) -> Iterator[Service]:
    with Service(url, shop(names=("left", "right"))) as found:
        yield found


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Service]:
    with Service(f"sqlite:///{tmp_path / 'log.db'}", shop(limits=Limits(max_open=3))) as found:
        yield found


def test_a_day_in_the_life(service: Service) -> None:
    ask = service.ask
    status, ticket = ask("POST", "/v1/streams/shop/decisions", {"x": [0.3]}, Idempotency_Key="k1")
    assert (status, ticket["id"], ticket["z"]) == (201, 0, {"left": 1.0, "right": 1.0})
    assert (ticket["status"], ticket["gap"]) == ("GIVEN", None)
    again = ask("POST", "/v1/streams/shop/decisions", {"x": [0.3]}, Idempotency_Key="k1")
    assert again == (200, ticket)
    other = ask("POST", "/v1/streams/shop/decisions", {"x": [0.4]}, Idempotency_Key="k1")
    assert other[0] == 422
    path = "/v1/streams/shop/decisions/0/outcome"
    status, learned = ask("PUT", path, {"xi": [1.0, 1.2]})
    assert (status, learned["feasible"], learned["reward"]) == (201, True, 26.8)
    assert ask("PUT", path, {"xi": [1.0, 1.2]})[0] == 200
    assert ask("PUT", path, {"xi": [1.0, 1.3]})[0] == 409
    assert ask("POST", "/v1/streams/shop/decisions", {"x": [0.1]})[0] == 201
    assert ask("DELETE", "/v1/streams/shop/decisions/1") == (200, {"id": 1, "forgotten": True})
    status, shown = ask("GET", "/v1/streams/shop")
    assert (shown["decisions"], shown["outcomes"], shown["open"]) == (2, 1, [])
    assert shown["average"] == pytest.approx(26.8)
    status, certified = ask("GET", "/v1/streams/shop/certificates")
    assert [each["name"] for each in certified["certificates"]] == ["headline", "feasibility"]
    status, log = ask("GET", "/v1/streams/shop/log")
    assert [each["kind"] for each in log["events"]] == [
        "decision",
        "outcome",
        "decision",
        "forgotten",
    ]
    assert log["events"][0]["x"] == [0.3]
    assert log["events"][1]["xi"] == [1.0, 1.2]
    assert ask("GET", f"/v1/streams/shop/log?after={log['next']}")[1]["events"] == []
    assert len(ask("GET", "/v1/streams/shop/log?after=0&limit=2")[1]["events"]) == 2
    events = ask("GET", "/v1/streams/shop/decisions/0")[1]["events"]
    assert [each["kind"] for each in events] == ["decision", "outcome"]
    assert ask("GET", "/v1/streams") == (200, {"streams": ["shop"]})
    assert_is_its_log(service.engine, service.store)


def test_streams_begin_like_those_of_the_file(local: Service) -> None:
    assert local.ask("PUT", "/v1/streams/north", {"like": "shop", "seed": 3})[0] == 201
    assert local.ask("PUT", "/v1/streams/north", {"like": "shop", "seed": 3})[0] == 200
    assert local.ask("PUT", "/v1/streams/north", {"like": "shop", "seed": 4})[0] == 409
    assert local.ask("PUT", "/v1/streams/north")[0] == 200
    assert local.ask("PUT", "/v1/streams/south", {"like": "mart"})[0] == 404
    assert local.ask("PUT", "/v1/streams/a%20b", {"like": "shop"})[0] == 404
    assert local.ask("PUT", "/v1/streams/south", {"like": "\ud800"})[0] == 422
    assert local.ask("GET", "/v1/streams")[1] == {"streams": ["north", "shop"]}


def test_what_is_watched(local: Service) -> None:
    assert local.ask("GET", "/healthz") == (200, {"status": "alive"})
    assert local.ask("GET", "/readyz") == (200, {"status": "ready"})
    local.ask("POST", "/v1/streams/shop/decisions", {"x": [0.3]})
    text = local.raw("GET", "/metrics")[2].decode()
    assert 'bocopt_events_total{kind="decision"} 1\n' in text
    assert 'bocopt_requests_total{command="ask",status="201"} 1\n' in text
    assert "bocopt_answer_seconds_count 1\n" in text
    assert "bocopt_open 1\n" in text
    local.engine._stopping.set()
    assert local.ask("GET", "/readyz")[0] == 503
    assert local.ask("GET", "/healthz")[0] == 200


def test_every_address_is_in_the_document(local: Service) -> None:
    found = local.ask("GET", "/openapi.json")[1]
    assert found == json.loads(json.dumps(document()))
    routes: list[Any] = local.app.routes
    served = {(route.path, m) for route in routes for m in route.methods if m != "HEAD"}
    written = {(path, m.upper()) for path, ways in found["paths"].items() for m in ways}
    watched = {(path, "GET") for path in ("/healthz", "/readyz", "/metrics", "/openapi.json")}
    assert served == written | watched


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
            b"POST /v1/streams/shop/decisions HTTP/1.1\r\nHost: shop\r\n"
            b"Content-Length: " + length + b"\r\n\r\n{"
        )
        connection.sock.settimeout(5)
        told = b""
        while more := connection.sock.recv(4096):
            told += more
    assert told.startswith(b"HTTP/1.1 " + code)
    assert message in told


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
    local.engine.fleet.drop_all()
    open_now = local.ask("GET", "/v1/streams/shop")[1]["open"]
    path = f"/v1/streams/shop/decisions/{open_now[0]['id']}/outcome"
    assert local.ask("PUT", path, {"xi": [1.0, 1.0]})[0] == 201
    assert_is_its_log(local.engine, local.store)


def test_why_this_z(tmp_path: Path) -> None:
    """Against the numbers of the problem itself, under the outcomes that were known then."""
    kind = shop(policy=here.policy, shadows={"learner": here.learner})
    with Service(f"sqlite:///{tmp_path / 'log.db'}", kind) as service:
        rng, known = np.random.default_rng(0), []
        for i in range(6):
            service.ask("POST", "/v1/streams/shop/decisions", {"x": [0.1 * i]})
            known.append(rng.uniform(0.5, 1.5, 2))
            path = f"/v1/streams/shop/decisions/{i}/outcome"
            service.ask("PUT", path, {"xi": known[-1].tolist()})
        status, told = service.ask("GET", "/v1/streams/shop/decisions/0/explanation")
        assert (status, "no outcome was known yet" in told["error"]) == (409, True)
        for i in (4, 5):
            status, told = service.ask("GET", f"/v1/streams/shop/decisions/{i}/explanation")
            assert (status, told["scenarios"], told["sense"]) == (200, i, "reward")
            whats = [each["what"] for each in told["candidates"]]
            assert whats == ["taken", *["one more", "one less"] * 2, "shadow"]
            taken = told["candidates"][0]
            for each in told["candidates"]:
                z, x = np.array(list(each["z"].values())), np.array([0.1 * i])
                then = np.array(known[:i])
                met = here.problem.violation(x, z, then) <= 0
                assert each["expected"] == pytest.approx(-here.problem.cost(x, z, then).mean())
                assert each["feasibility"] == pytest.approx(met.mean())
                fits = each["feasibility"] >= 0.9 - 1e-12
                assert not fits or each["expected"] <= taken["expected"] + 1e-9
        assert isinstance(kind.fold.policy, Shadowed)


def test_what_the_arms_would_have_done_is_shown(tmp_path: Path) -> None:
    with Service(f"sqlite:///{tmp_path / 'log.db'}", shop(policy=here.learner)) as service:
        for i in range(3):
            service.ask("POST", "/v1/streams/shop/decisions", {"x": [0.1 * i]})
            path = f"/v1/streams/shop/decisions/{i}/outcome"
            service.ask("PUT", path, {"xi": [1.0 + 0.1 * i, 1.0]})
        told = service.ask("GET", "/v1/streams/shop/decisions/2/explanation")[1]
        arms = [each["name"] for each in told["candidates"] if each["what"] == "arm"]
        assert arms == ["Predictive", "SampleAverage"]
        assert told["candidates"][0]["z"] in [
            each["z"] for each in told["candidates"] if each["what"] == "arm"
        ]


def test_events_are_told_as_they_come_and_from_where_one_was(local: Service) -> None:
    for i in range(3):
        local.ask("POST", "/v1/streams/shop/decisions", {"x": [0.1 * i]})
    kind = local.front.kinds["shop"]

    async def listen(after: int, many: int) -> list[str]:
        bell, found = Bell(), list[str]()
        bell.attach()
        told = feed(local.reader, kind, "shop", after, bell)
        assert await anext(told) == b"retry: 1000\n\n"
        while len(found) < many:
            text = await asyncio.wait_for(anext(told), 5)
            found.append(text.decode())
        bell.stopping = lambda: True
        assert [more async for more in told] == []
        return found

    first = asyncio.run(listen(-1, 3))
    assert [text.splitlines()[:2] for text in first] == [
        [f"id: {i}", "event: decision"] for i in range(3)
    ]
    assert json.loads(first[2].splitlines()[2].removeprefix("data: "))["x"] == [0.2]
    assert asyncio.run(listen(1, 1)) == first[2:]


def test_a_listener_hears_of_a_decision_at_once_and_of_the_end(local: Service) -> None:
    with closing(local.connected()) as listening:
        listening.request("GET", "/v1/streams/shop/events")
        told = listening.getresponse()
        assert told.headers["content-type"].startswith("text/event-stream")
        assert told.readline() == b"retry: 1000\n"
        took = []
        for i in range(3):
            time.sleep(0.2)  # it has looked, and waits
            started = time.perf_counter()
            local.ask("POST", "/v1/streams/shop/decisions", {"x": [0.3]})
            while told.readline() != f"id: {i}\n".encode():
                pass
            took.append(time.perf_counter() - started)
        assert min(took) < 0.5  # it looks once a second if nothing wakes it
        assert local.front.listeners == 1
        local.server.should_exit = True
        while told.readline():
            pass
