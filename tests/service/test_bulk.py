"""Many decisions or outcomes in one request: each as if it had come alone, or refused alone."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running import Service
from shop import Counting, assert_is_its_log, shop

from bocopt import client as here
from bocopt.app.service.bulk import MOST
from bocopt.client import Client, RefusedError, Ticket

STREAMS = [f"shop-{n}" for n in range(12)]


def begun(service: Service) -> None:
    for stream in STREAMS:
        assert service.ask("PUT", f"/v1/streams/{stream}", {"case": "shop"})[0] == 201


@pytest.fixture
def client(local: Service) -> Iterator[Client]:
    begun(local)
    with Client(f"http://127.0.0.1:{local.port}", patience=5) as found:
        yield found


def asked(stages: int = 1) -> list[dict[str, Any]]:
    return [
        {"stream": stream, "key": f"{stream}.{t}", "x": [0.1 * n + t]}
        for t in range(stages)
        for n, stream in enumerate(STREAMS)
    ]


def told(stages: int = 1) -> list[dict[str, Any]]:
    return [
        {"stream": stream, "decision": t, "xi": [1.0 + 0.01 * n, 1.0]}
        for t in range(stages)
        for n, stream in enumerate(STREAMS)
    ]


def sent(service: Service, name: str, items: Any) -> list[Any]:
    status, found = service.ask("POST", f"/v1/{name}", {name: items})
    assert (status, [*found]) == (200, ["answers"])
    return list(found["answers"])


def test_answers_are_those_of_single_requests(tmp_path: Path) -> None:
    """The same decisions, numbers, costs and logs, in the order of the items."""
    with (
        Service(f"sqlite:///{tmp_path / 'one.db'}", shop()) as one,
        Service(f"sqlite:///{tmp_path / 'all.db'}", shop()) as other,
    ):
        begun(one)
        begun(other)
        for item in asked(3):
            path = f"/v1/streams/{item['stream']}/decisions"
            assert one.ask("POST", path, {"x": item["x"]}, Idempotency_Key=item["key"])[0] == 201
        decided = sent(other, "decisions", asked(3))
        assert [each["status"] for each in decided] == [201] * 36
        assert [each["answer"]["id"] for each in decided] == [0] * 12 + [1] * 12 + [2] * 12
        for item in told(3):
            path = f"/v1/streams/{item['stream']}/decisions/{item['decision']}/outcome"
            status, alone = one.ask("PUT", path, {"xi": item["xi"]})
            assert status == 201
            assert sent(other, "outcomes", [item]) == [{"status": 201, "answer": alone}]
        for stream in STREAMS:
            logs = [service.ask("GET", f"/v1/streams/{stream}/log")[1] for service in (one, other)]
            for log in logs:
                for event in log["events"]:
                    del event["at"]
            assert logs[0] == logs[1]
            assert_is_its_log(other.engine, other.store, stream)


def test_the_same_keys_change_nothing(service: Service) -> None:
    begun(service)
    first = sent(service, "decisions", asked(2))
    again = sent(service, "decisions", asked(2))
    assert [each["status"] for each in again] == [200] * 24
    assert [each["answer"] for each in again] == [each["answer"] for each in first]
    sent(service, "outcomes", told(2))
    assert [each["status"] for each in sent(service, "outcomes", told(2))] == [200] * 24
    twice = sent(service, "decisions", [asked()[0] | {"key": "new"}] * 2)
    assert [each["status"] for each in twice] == [201, 200]
    assert twice[0]["answer"] == twice[1]["answer"]
    assert service.ask("GET", f"/v1/streams/{STREAMS[0]}")[1]["decisions"] == 3


def test_each_item_is_refused_by_itself(service: Service) -> None:
    begun(service)
    [good] = asked()[:1]
    wrong: list[tuple[Any, int, str]] = [
        (good | {"stream": "nowhere"}, 404, "There is no stream 'nowhere'"),
        (good | {"stream": "a b"}, 404, "There is no stream 'a b': ids match"),
        (good | {"x": [0.1, 0.2]}, 422, "x"),
        (good | {"x": "much"}, 422, "'x' must be a list of numbers. Got 'much' instead."),
        (good | {"key": "a b"}, 422, "'key' must be a text that matches"),
        (good | {"key": 5}, 422, "'key' must be a text that matches"),
        ({"stream": good["stream"], "x": [0.1]}, 422, "must have 'stream', 'key', 'x' alone. Got"),
        (good | {"seed": 3}, 422, "Got 'stream', 'key', 'x', 'seed' instead."),
        (7, 422, "Each of the 'decisions' must have 'stream', 'key', 'x' alone. Got 7 instead."),
    ]
    items = [item for bad, _, _ in wrong for item in (bad, good)]
    found = sent(service, "decisions", items)
    assert [each["status"] for each in found[1::2]] == [201, *[200] * (len(wrong) - 1)]
    for answer, (_, status, words) in zip(found[::2], wrong, strict=True):
        assert (answer["status"], [*answer]) == (status, ["status", "error"])
        assert words in answer["error"]
    late = [{"stream": good["stream"], "decision": n, "xi": [1.0, 1.0]} for n in (0, 5, -1, "0")]
    late += [late[0] | {"xi": [1.0, 2.0]}, late[0] | {"xi": [1.0]}]
    assert [each["status"] for each in sent(service, "outcomes", late)] == [
        201,
        404,
        404,
        404,
        409,
        422,
    ]
    assert_is_its_log(service.engine, service.store, STREAMS[0])


def test_a_body_that_is_no_list_changes_nothing(local: Service) -> None:
    begun(local)
    for body, said in (
        ({}, "The body must have 'decisions', a list of at most 10000. Got NoneType instead."),
        ({"decisions": {"a": 1}}, "Got dict instead."),
        ({"decisions": asked() * (MOST // 12 + 1)}, f"Got {12 * (MOST // 12 + 1)} of them"),
        ({"outcomes": []}, "There is no 'outcomes' in this body; it may have 'decisions'."),
    ):
        status, found = local.ask("POST", "/v1/decisions", body)
        assert status == 422
        assert said in found["error"]
    assert local.ask("POST", "/v1/decisions", b"[1")[0] == 400
    assert local.ask("GET", f"/v1/streams/{STREAMS[0]}")[1]["decisions"] == 0
    assert sent(local, "decisions", []) == []


def test_ten_thousand_are_answered_though_few_may_wait(tmp_path: Path) -> None:
    """As many wait at an engine as there is room for, and no more."""
    with Service(f"sqlite:///{tmp_path / 'log.db'}", shop(), queue=300, at_once=64) as service:
        begun(service)
        known = sent(service, "decisions", asked())
        items = [item for _ in range(MOST // 12) for item in asked()]
        assert sent(service, "decisions", items)[-12:] == [each | {"status": 200} for each in known]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_fault_between_commits_is_told_of_each_and_asked_again(tmp_path: Path, when: str) -> None:
    """Some items are on the disk, some are not: those are told, and nothing is done twice."""
    with Service(f"sqlite:///{tmp_path / 'log.db'}", shop(), at_once=4) as service:
        begun(service)
        store = Counting(service.store)
        store.failing = dict.fromkeys(range(1, 3), when)
        service.engine._store = store
        found = sent(service, "decisions", asked(2))
        statuses = {each["status"] for each in found}
        assert statuses <= {201, 200, 503, 507}
        assert statuses & {503, 507}
        keys = [item["key"] for item in asked(2)]
        pairs = [(item["stream"], item["x"]) for item in asked(2)]
        with Client(f"http://127.0.0.1:{service.port}", patience=5) as client:
            tickets = client.decide_all(pairs, keys)
        numbers = Counter(
            (stream, ticket.id)
            for (stream, _), ticket in zip(pairs, tickets, strict=True)
            if isinstance(ticket, Ticket)
        )
        assert numbers == Counter((stream, n) for stream in STREAMS for n in (0, 1))
        for each, ticket in zip(found, tickets, strict=True):
            if "answer" in each:
                assert isinstance(ticket, Ticket)
                assert each["answer"]["id"] == ticket.id
        for stream in STREAMS:
            assert service.ask("GET", f"/v1/streams/{stream}")[1]["decisions"] == 2


def test_the_client_asks_and_tells_all(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(here, "_AT_ONCE", 5)
    pairs = [(stream, [0.3]) for stream in STREAMS]
    tickets = client.decide_all([*pairs, ("nowhere", [0.3])], keys=map(str, range(13)))
    good = [ticket for ticket in tickets if isinstance(ticket, Ticket)]
    assert [ticket.key for ticket in good] == [str(n) for n in range(12)]
    assert client.decide(STREAMS[3], [0.3], key="3") == good[3]
    assert isinstance(tickets[-1], RefusedError)
    assert str(tickets[-1]).startswith("404: There is no stream 'nowhere'")
    learned = client.observe_all((stream, 0, [1.0, 1.2]) for stream in STREAMS)
    assert [each["reward"] for each in learned if isinstance(each, dict)] == [26.8] * 12
    assert client.decide_all([]) == []
    other = client.decide_all(pairs)
    assert len({ticket.key for ticket in other if isinstance(ticket, Ticket)}) == 12


def test_what_stays_refused_is_told_when_patience_ends(
    local: Service, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(here, "_FIRST", 0.001)
    client.patience = 0.05
    local.engine._stopping.set()
    [found] = client.decide_all([(STREAMS[0], [0.3])])
    assert isinstance(found, RefusedError)
    assert (found.status, found.message) == (503, "The service is stopping.")


def test_the_example_of_the_document_is_answered(local: Service) -> None:
    from bocopt.app.service.openapi import document

    for name in ("decisions", "outcomes"):
        post = document()["paths"][f"/v1/{name}"]["post"]
        body = post["requestBody"]["content"]["application/json"]["example"]
        shown = post["responses"]["200"]["content"]["application/json"]["example"]["answers"]
        [found] = sent(local, name, body[name])
        assert found["status"] == shown[0]["status"] == 201
        assert {*found["answer"]} <= {*shown[0]["answer"]}, json.dumps(found)
