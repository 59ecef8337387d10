"""The service over HTTP: what each address does."""

import asyncio
import json
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shop as here
from openapi_spec_validator import validate
from running import Service
from shop import assert_is_its_log, shop

from bocopt.app.service import feed as feeding
from bocopt.app.service.feed import EventCache, Notifier, feed
from bocopt.app.service.openapi import document
from bocopt.app.service.stores import EventRow
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.client import Client
from bocopt.policies import Shadowed


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
    sure = "Of the certificates, each holds with the confidence it says, all together with 90%."
    assert certified["together"] == sure
    assert sure.encode() in service.raw("GET", "/streams/shop")[2]
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
    assert local.ask("PUT", "/v1/streams/north", {"case": "shop", "seed": 3})[0] == 201
    assert local.ask("PUT", "/v1/streams/north", {"case": "shop", "seed": 3})[0] == 200
    assert local.ask("PUT", "/v1/streams/north", {"case": "shop", "seed": 4})[0] == 409
    assert local.ask("PUT", "/v1/streams/north")[0] == 200
    assert local.ask("PUT", "/v1/streams/south", {"case": "mart"})[0] == 404
    assert local.ask("PUT", "/v1/streams/a%20b", {"case": "shop"})[0] == 404
    assert local.ask("PUT", "/v1/streams/south", {"case": "\ud800"})[0] == 422
    assert local.ask("GET", "/v1/streams")[1] == {"streams": ["north", "shop"]}


def test_what_is_watched(local: Service) -> None:
    assert local.ask("GET", "/healthz") == (200, {"status": "alive"})
    assert local.ask("GET", "/readyz") == (200, {"status": "ready"})
    local.ask("POST", "/v1/streams/shop/decisions", {"x": [0.3]})
    text = local.raw("GET", "/metrics")[2].decode()
    assert 'bocopt_events_total{kind="decision"} 1\n' in text
    assert 'bocopt_requests_total{command="decide",status="201"} 1\n' in text
    assert "bocopt_answer_seconds_count 1\n" in text
    assert "bocopt_open 1\n" in text
    local.engine._stopping.set()
    assert local.ask("GET", "/readyz")[0] == 503
    assert local.ask("GET", "/healthz")[0] == 200


def test_every_address_is_in_the_document_and_it_is_valid(local: Service) -> None:
    found = local.ask("GET", "/openapi.json")[1]
    assert found == json.loads(json.dumps(document()))
    validate(found)
    routes: list[Any] = local.app.routes
    ours = [route for route in routes if route.include_in_schema]
    served = {(route.path, m) for route in ours for m in route.methods if m != "HEAD"}
    written = {(path, m.upper()) for path, ways in found["paths"].items() for m in ways}
    assert served == written


def test_answers_have_the_types_that_the_document_says(local: Service) -> None:
    local.ask("POST", "/v1/streams/shop/decisions", {"x": [0.3]})
    for path, ways in document()["paths"].items():
        if "get" not in ways or path.endswith("/events"):
            continue
        asked = path.replace("{stream}", "shop").replace("{number}", "0")
        status, headers, _ = local.raw("GET", asked)
        [media] = ways["get"]["responses"][str(status)]["content"]
        assert headers["content-type"].partition(";")[0] == media


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
        assert arms == ["model", "running average"]
        assert told["candidates"][0]["z"] in [
            each["z"] for each in told["candidates"] if each["what"] == "arm"
        ]


def test_events_are_told_as_they_come_and_from_where_one_was(local: Service) -> None:
    for i in range(3):
        local.ask("POST", "/v1/streams/shop/decisions", {"x": [0.1 * i]})
    kind = local.front.templates["shop"]

    async def listen(after: int, many: int) -> list[str]:
        bell, found = Notifier(), list[str]()
        bell.attach()
        told = feed(local.reader, kind, "shop", after, bell, EventCache())
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


def test_an_event_is_made_text_once_for_all_who_listen(
    local: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, text = [], feeding._text

    def counted(kind: StreamTemplate, row: EventRow) -> bytes:
        made.append(row.seq)
        return text(kind, row)

    monkeypatch.setattr(feeding, "_TEXTS", 4)
    monkeypatch.setattr(feeding, "_text", counted)
    for i in range(3):
        local.ask("POST", "/v1/streams/shop/decisions", {"x": [0.1 * i]})
    with Client(f"http://127.0.0.1:{local.connected().port}") as client:
        first, second = client.events("shop", after=-1), client.events("shop", after=0)
        heard = [next(first) for _ in range(3)]
        assert [next(second) for _ in range(2)] == heard[1:] == list(client.log("shop", after=0))
        assert made == [0, 1, 2]
        for i in range(3):
            client.observe("shop", i, [1.0, 1.0])
            assert next(first) == next(second)
        assert made == list(range(6))
        assert len(local.front.texts._found) == 4
        first.close()
        second.close()


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
