"""`bocopt.client` against a real service, also over a network that loses answers."""

import runpy
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cutting import cutting
from extensions.pages import blocks
from lengths import long
from running import Service
from shop import assert_is_its_log, shop

from bocopt import client as here
from bocopt.app.service.stores import StoreError
from bocopt.client import Client, RefusedError, UnansweredError

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "service_client.py"


def address(service: Service) -> str:
    return f"http://127.0.0.1:{service.connected().port}"


@pytest.fixture
def client(local: Service) -> Iterator[Client]:
    with Client(address(local), patience=5) as found:
        yield found


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(here, "_FIRST", 0.002)
    monkeypatch.setattr(here, "_LONGEST", 0.1)


@pytest.fixture
def never(monkeypatch: pytest.MonkeyPatch) -> None:
    """No wait is short enough: what is asked again after one fails."""
    monkeypatch.setattr(here, "_FIRST", 1000.0)


def test_what_it_asks_is_what_the_service_answers(local: Service, client: Client) -> None:
    first = client.decide("shop", [0.3])
    assert first[:3] == (0, {"z0": 1.0, "z1": 1.0}, "GIVEN")
    assert client.decide("shop", np.array([0.3]), key=first.key) == first
    assert client.decide("shop", (0.3,)).id == 1
    told = client.observe("shop", first.id, np.array([1.0, 1.2]))
    assert (told["reward"], told["feasible"]) == (26.8, True)
    assert client.observe("shop", first.id, [1.0, 1.2]) == {"id": 0, "learned": True}
    assert client.forget("shop", 1) == client.forget("shop", 1) == {"id": 1, "forgotten": True}
    ticket = client.decide("shop", [0.1])
    assert client.explanation("shop", ticket.id)["scenarios"] == 1
    assert client.stream("shop")["outcomes"] == 1
    assert [each["name"] for each in client.certificates("shop")] == ["headline", "feasibility"]
    assert client.begin("north", case="shop", seed=3)["seed"] == 3
    assert client.begin("north")["id"] == "north"
    assert client.streams() == ["north", "shop"]
    kinds = ["decision", "decision", "outcome", "forgotten", "decision"]
    assert [event["kind"] for event in client.log("shop")] == kinds
    assert [event["seq"] for event in client.log("shop", after=2)] == [3, 4]
    assert [event["kind"] for event in client.decision("shop", 0)] == ["decision", "outcome"]
    assert len(client._idle) == 1  # one connection did it all


@pytest.mark.usefixtures("never")
def test_a_refusal_is_told_at_once_in_the_words_of_the_service(client: Client) -> None:
    client.observe("shop", client.decide("shop", [0.3], key="k").id, [1.0, 1.0])
    refused: list[tuple[int, str, Any]] = [
        (404, "There is no stream 'a b'", lambda: client.decide("a b", [0.3])),
        (404, "There is no decision 7", lambda: client.observe("shop", 7, [1.0, 1.0])),
        (404, "There is no stream 'mart'", lambda: list(client.events("mart", after=-1))),
        (409, "already has another outcome", lambda: client.observe("shop", 0, [1.0, 2.0])),
        (409, "has an outcome", lambda: client.forget("shop", 0)),
        (422, "another context", lambda: client.decide("shop", [0.4], key="k")),
        (422, "must be a finite number", lambda: client.observe("shop", 0, [1.0, {"least": 3}])),
    ]
    for status, words, asked in refused:
        with pytest.raises(RefusedError, match=words) as told:
            asked()
        assert told.value.status == status
        assert str(told.value) == f"{status}: {told.value.message}"


def test_bad_arguments_are_named(client: Client) -> None:
    for wrong in ("localhost:8321", "ftp://localhost", "http://", "http://h/?a=1"):
        with pytest.raises(ValueError, match="'address' of Client must be like"):
            Client(wrong)
    with pytest.raises(ValueError, match="'patience' of Client must be at least 0"):
        Client(patience=float("nan"))
    with pytest.raises(ValueError, match="'x' must have finite numbers"):
        client.decide("shop", [float("inf")])


def test_the_token_is_shown(tmp_path: Path) -> None:
    token = "a token of sixteen".replace(" ", "-")
    with Service(f"sqlite:///{tmp_path / 'log.db'}", shop(), token) as service:
        with Client(address(service), f"{token}\n") as known:
            assert known.decide("shop", [0.3]).id == 0
            assert next(known.events("shop", after=-1))["decision"] == 0
        with (
            Client(address(service)) as stranger,
            pytest.raises(RefusedError, match="Show the token") as told,
        ):
            stranger.decide("shop", [0.3])
        assert told.value.status == 401


Asked = Callable[[list[float]], tuple[int, dict[str, float]]]
Told = Callable[[int, list[float]], Any]


@contextmanager
def ours(network: str) -> Iterator[tuple[Asked, Told]]:
    with Client(network, patience=60) as client:

        def decide(x: list[float]) -> tuple[int, dict[str, float]]:
            ticket = client.decide("shop", x)
            return ticket.id, dict(ticket.z)

        yield decide, lambda number, xi: client.observe("shop", number, xi)


@contextmanager
def in_plain_requests(network: str) -> Iterator[tuple[Asked, Told]]:
    pytest.importorskip("requests")
    example, stream = runpy.run_path(str(EXAMPLE)), f"{network}/v1/streams/shop"

    def decide(x: list[float]) -> tuple[int, dict[str, float]]:
        ticket = example["decide"](stream, x)
        return ticket["id"], ticket["z"]

    with example["session"]:
        yield decide, lambda number, xi: example["observe"](stream, number, xi)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("make", "each", "rate"),
    [(ours, 15, 0.2), (in_plain_requests, 3, 0.2), long(ours, 150, 0.3)],
)
def test_over_a_bad_network_all_is_done_once_and_all_is_told(
    tmp_path: Path,
    make: Callable[[str], AbstractContextManager[tuple[Asked, Told]]],
    each: int,
    rate: float,
) -> None:
    """Requests and answers are lost, in whole or in part, before and after they were done."""
    with (
        Service(f"sqlite:///{tmp_path / 'log.db'}", shop()) as service,
        cutting(("127.0.0.1", service.connected().port), rate) as network,
        make(network.address) as (decide, observe),
        ThreadPoolExecutor(4) as threads,
    ):

        def play(i: int) -> tuple[int, list[float], dict[str, float], list[float]]:
            x, xi = [0.01 * i], [1.0 + 0.001 * i, 1.0]
            number, z = decide(x)
            observe(number, xi)
            return number, x, z, xi

        played = list(threads.map(play, range(4 * each)))
        assert network.cuts > len(played) * rate / 2
        rows = list(service.reader.tail("shop"))
        assert Counter(row.kind for row in rows) == {"decision": 4 * each, "outcome": 4 * each}
        with Client(address(service)) as client:
            log = {(event["kind"], event["decision"]): event for event in client.log("shop")}
        assert {number for number, *_ in played} == set(range(4 * each))
        for number, x, z, xi in played:
            assert (log["decision", number]["x"], log["decision", number]["z"]) == (x, z)
            assert log["outcome", number]["xi"] == xi
        assert_is_its_log(service.engine, service.store)


@pytest.mark.usefixtures("quick")
def test_over_a_bad_network_each_event_is_heard_once_and_in_order(tmp_path: Path) -> None:
    with (
        Service(f"sqlite:///{tmp_path / 'log.db'}", shop()) as service,
        cutting(("127.0.0.1", service.connected().port), 0.3) as network,
        Client(network.address, patience=60) as far,
        Client(address(service)) as near,
    ):
        for i in range(3):
            near.decide("shop", [0.1 * i])
        listening = far.events("shop", after=0)
        heard = [event["seq"] for event in islice(listening, 2)]
        for i in range(20):
            near.decide("shop", [0.1 * i])
            heard.append(next(listening)["seq"])
        assert heard == list(range(1, 23))
        assert network.cuts >= 3


def test_events_begin_now_unless_they_are_to_begin_earlier(local: Service, client: Client) -> None:
    client.decide("shop", [0.1])
    with ThreadPoolExecutor(1) as threads:
        hearing = threads.submit(lambda: next(client.events("shop"))["seq"])
        deadline = time.monotonic() + 10
        while local.front.listeners == 0 and time.monotonic() < deadline:
            time.sleep(0.01)
        client.decide("shop", [0.2])
        assert hearing.result(10) == 1
    assert next(client.events("shop", after=-1))["seq"] == 0


def test_it_waits_as_long_as_a_busy_service_asks_it_to(local: Service, client: Client) -> None:
    class Away:
        """A store that cannot be read twice."""

        left = 2

        def __getattr__(self, name: str) -> Any:
            return getattr(local.reader, name)

        def streams(self) -> Any:
            self.left -= 1
            if self.left >= 0:
                raise StoreError("the database is away")
            return local.reader.streams()

    away: Any = Away()
    local.front.reader = away
    impatient = Client(address(local), patience=0.5)
    with pytest.raises(RefusedError, match="503: the database is away"):
        impatient.streams()
    started = time.perf_counter()
    assert client.streams() == ["shop"]
    assert time.perf_counter() - started >= 1.0  # Retry-After: 1
    local.front.reader = local.reader


def test_without_a_service_patience_ends_and_the_key_is_told() -> None:
    with socket.socket() as silent:  # it has an address, and does not listen
        silent.bind(("127.0.0.1", 0))
        _assert_patience_ends(Client(f"http://127.0.0.1:{silent.getsockname()[1]}", patience=0.3))


def _assert_patience_ends(nobody: Client) -> None:
    with pytest.raises(UnansweredError, match=r"not answered within 0\.3 seconds") as told:
        nobody.decide("shop", [0.3])
    assert told.value.key is not None
    assert f"ask again with key='{told.value.key}'" in str(told.value)
    with pytest.raises(UnansweredError, match="Ask again: nothing is done twice"):
        nobody.stream("shop")
    with pytest.raises(UnansweredError, match="events of 'shop' was not answered"):
        next(nobody.events("shop", after=0))


@pytest.mark.usefixtures("never")
def test_a_connection_that_was_closed_meanwhile_costs_no_wait(client: Client) -> None:
    client.decide("shop", [0.3])
    [kept] = client._idle
    assert kept.sock is not None
    kept.sock.shutdown(socket.SHUT_RDWR)
    assert client.decide("shop", [0.3]).id == 1
    assert len(client._idle) == 1


def test_its_file_stands_alone() -> None:
    """It works where neither bocopt nor numpy is."""
    code = (
        "import runpy, sys; "
        f"assert 'Client' in runpy.run_path({str(here.__file__)!r}); "
        "print(*{'bocopt', 'numpy', 'numba'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (0, "\n"), found.stderr


def test_the_page_shows_the_example_as_it_is() -> None:
    shown = [block.text for block in blocks(ROOT / "docs" / "service.md")]
    assert EXAMPLE.read_text("utf-8") in shown
