"""Outcomes that were wrong, or seen in part: the state is that of the log with what is right."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running import Service
from shop import (
    assert_is_its_log,
    bits,
    cache,
    engine,
    folded,
    one,
    random_command,
    small,
    status,
)

from bocopt import SampleAverage, at_least
from bocopt import client as client_module
from bocopt.app.case_file import StreamLimits
from bocopt.app.service.commands import (
    Correct,
    Decide,
    Forget,
    Observe,
    Query,
    RefusedError,
    Teach,
)
from bocopt.app.service.config import Config, load_config
from bocopt.app.service.doctor import findings
from bocopt.app.service.engine import Engine
from bocopt.app.service.export import exported
from bocopt.app.service.refolding import followed
from bocopt.app.service.replay import replayed
from bocopt.app.service.shown import event_shown
from bocopt.app.service.stores import Store, open_store
from bocopt.app.service.stream_template import StreamTemplate, template_of
from bocopt.client import Client
from bocopt.problems import Newsvendor

NEWS = Newsvendor(unit_cost=[1.0], price=3.0)
SOLD = {"at_least": 87.0}


def bakery(**limits: Any) -> StreamTemplate:
    return template_of(
        "shop", NEWS, SampleAverage(NEWS), outcomes=("bread",), limits=StreamLimits(**limits)
    )


def days(ours: Engine, demand: list[Any]) -> None:
    """A day a number: a decision, and what was seen of its outcome; None leaves it open."""
    for xi in demand:
        number = one(ours, Decide("shop", [0.0])).body["id"]
        if xi is not None:
            one(ours, Observe("shop", number, [xi]))


def refusal(ours: Engine, command: Any) -> tuple[int, str]:
    with pytest.raises(RefusedError) as told:
        one(ours, command)
    return told.value.status, str(told.value)


def test_bounds_are_learned_once_and_shown_as_they_came(store: Store) -> None:
    ours = engine(store, bakery())
    days(ours, [80.0, 90.0])
    days(ours, [None])
    first = one(ours, Observe("shop", 2, {"bread": SOLD}))
    assert (first.status, first.body["cost" if "cost" in first.body else "reward"]) == (201, None)
    assert first.body["feasible"] is None
    again = one(ours, Observe("shop", 2, [SOLD]))
    assert (again.status, again.body) == (200, {"id": 2, "learned": True})
    code, why = refusal(ours, Observe("shop", 2, [87.0]))
    assert code == 409
    assert "correct it: PUT /v1/streams/shop/decisions/2/correction" in why
    [_, outcome] = one(ours, Query("shop", "decision", 2)).body["events"]
    assert outcome["xi"] == [SOLD]
    said = one(ours, Query("shop", "summary")).body
    assert (said["outcomes"], said["seen_in_part"]) == (3, 1)
    assert store.stages("shop")[-1].cost is None
    assert store.stages("shop")[-1].known == 2
    assert_is_its_log(ours, store)


def test_numbers_by_whatever_name_have_the_same_bytes(file: Store) -> None:
    ours = engine(file, bakery())
    given: list[Any] = [[80.0], [80], {"bread": 80}, [{"at_least": 80, "at_most": 80.0}]]
    for i, xi in enumerate(given):
        days(ours, [None])
        one(ours, Observe("shop", i, xi))
    bodies = [row.body for row in file.tail("shop") if row.kind == "outcome"]
    assert len({body.replace(b'"decision":%d' % i, b"") for i, body in enumerate(bodies)}) == 4
    assert {len(body) for body in bodies} == {len(bodies[0])}
    assert file.stages("shop")[-1].known == 4


@pytest.mark.parametrize(
    ("xi", "said"),
    [
        ([{"at_least": 5, "at_most": 4}], ["number 0 is at least 5 and at most 4"]),
        ([{"least": 5}], ["number 0 must be a finite number, null", "Got {'least': 5}"]),
        ([{"at_least": "5"}], ["Got '5' instead"]),
        ([{}], ["number 0 must be"]),
        (["a", True], ["must have shape (1,)", "number 0 must", "number 1 must", "Got True"]),
        ({"rolls": 10**400, "bread": []}, ["'bread'", "rolls", "instead; 'bread' must be"]),
        ([[1.0]], ["number 0 must be"]),
    ],
)
def test_all_that_is_wrong_with_an_outcome_is_told_at_once(
    file: Store, xi: Any, said: list[str]
) -> None:
    ours = engine(file, bakery())
    days(ours, [None])
    for command in (Observe("shop", 0, xi), Correct("shop", 0, xi)):
        code, why = refusal(ours, command)
        assert code == 422
        for words in said:
            assert words in why
    assert len(file.tail("shop")) == 1


def test_a_correction_is_as_if_the_right_outcome_had_come_at_once(store: Store) -> None:
    """But for what was decided meanwhile, which stays."""
    ours = engine(store, bakery())
    days(ours, [80.0, 900.0, 95.0, 70.0])
    taken = [row.body for row in store.tail("shop") if row.kind == "decision"]
    answer = one(ours, Correct("shop", 1, [90.0]))
    assert (answer.status, answer.body["corrected"]) == (201, True)
    assert one(ours, Correct("shop", 1, [90.0])).status == 200
    assert one(ours, Observe("shop", 1, [90.0])).status == 200
    assert status(ours, Observe("shop", 1, [900.0])) == 409
    assert [row.kind for row in store.tail("shop")].count("correction") == 1
    assert [row.body for row in store.tail("shop") if row.kind == "decision"] == taken
    law = cache(ours).state("shop").live.state
    assert sorted(np.ravel(law.outcomes.buffer)[:4].tolist()) == [70.0, 80.0, 90.0, 95.0]
    costs = [each.cost for each in store.stages("shop")]
    z = cache(ours).state("shop")
    assert len(costs) == 4
    assert store.stages("shop")[-1].costs == sum(cost or 0.0 for cost in costs)
    assert z.totals == store.stages("shop")[-1]
    one(ours, Correct("shop", 1, [SOLD]))
    one(ours, Correct("shop", 1, [91.0]))
    assert [row.nth for row in store.tail("shop") if row.kind == "correction"] == [1, 2, 3]
    assert_is_its_log(ours, store)
    again = engine(store, bakery())
    assert bits(cache(again).state("shop")) == bits(cache(ours).state("shop"))


def test_only_an_outcome_that_is_known_is_corrected(file: Store) -> None:
    ours = engine(file, bakery())
    days(ours, [80.0, None, None])
    one(ours, Forget("shop", 2))
    before = file.tail("shop")
    assert refusal(ours, Correct("shop", 1, [3.0])) == (
        409,
        "Decision 1 has no outcome yet, so there is nothing to correct: report it.",
    )
    assert "was given up, so it has no outcome" in refusal(ours, Correct("shop", 2, [3.0]))[1]
    assert refusal(ours, Correct("shop", 3, [3.0]))[0] == 404
    assert file.tail("shop") == before


def test_what_would_take_too_long_is_refused_with_what_to_do(file: Store) -> None:
    """But outcomes of the latest events always can be, wherever snapshots happened to be made."""
    kind = bakery(snapshot=20, correctable=60)
    ours = engine(file, kind)
    for day in range(60):
        days(ours, [float(day)])
        if day % 7 == 3:  # as if it had stopped, which leaves a snapshot
            ours.stop()
            ours = engine(file, kind)
        for back in range(min(4, day)):
            assert (
                one(ours, Correct("shop", day - back, [day - back + 0.5 * (day % 2)])).status < 300
            )
        assert len(file.snapshots("shop")) <= 3
    code, why = refusal(ours, Correct("shop", 3, [1000.0]))
    assert code == 409
    assert "more than 60 events would have to be folded again" in why
    assert "`correctable` in [cases.shop]" in why
    assert_is_its_log(ours, file)
    more = engine(file, bakery(snapshot=20, correctable=10_000))
    assert one(more, Correct("shop", 3, [1000.0])).status == 201
    assert_is_its_log(more, file)


def test_a_snapshot_from_before_a_correction_is_not_misread(file: Store) -> None:
    """Of an outcome before it; a correction of a later one leaves it of use."""
    kind = bakery(snapshot=8)
    ours = engine(file, kind)
    days(ours, [80.0, 900.0, 95.0, 70.0, 60.0])
    old = file.snapshots("shop")
    assert [each.seq for each in old] == [8]
    one(ours, Correct("shop", 1, [90.0]))
    file.append([], old)
    with_old = [each for each in file.snapshots("shop") if each.seq > 8]
    assert with_old  # one that knows of the correction
    damaged = [each._replace(state=each.state[:-1]) for each in with_old]
    file.append([], damaged)
    again = engine(file, kind)
    assert bits(cache(again).state("shop")) == bits(folded(file, kind))
    one(again, Correct("shop", 4, [61.0]))
    assert_is_its_log(again, file)


def test_another_server_reads_it_and_goes_on(url: str) -> None:
    """What one corrects, the other folds in, whatever it holds and whichever is first."""
    stores = open_store(url), open_store(url)
    pair = [engine(store, bakery(snapshot=5)) for store in stores]
    days(pair[0], [80.0, 900.0, 95.0])
    assert one(pair[1], Query("shop", "summary")).body["outcomes"] == 3
    one(pair[0], Correct("shop", 1, [90.0]))
    days(pair[1], [70.0])
    assert bits(cache(pair[1]).state("shop")) == bits(folded(stores[0], bakery()))
    assert status(pair[0], Correct("shop", 1, [90.0])) == 200
    one(pair[1], Correct("shop", 3, [SOLD]))
    one(pair[0], Correct("shop", 2, [96.0]))
    held = followed(stores[1], cache(pair[1]).state("shop"))
    assert bits(held) == bits(cache(pair[0]).state("shop"))
    assert_is_its_log(pair[0], stores[0])
    for store in stores:
        store.close()


@pytest.mark.parametrize("seed", range(4))
def test_after_any_commands_every_reader_comes_to_the_same(url: str, seed: int) -> None:
    """Two servers, kills and small snapshots; many corrections in one batch."""
    store, rng = open_store(url), np.random.default_rng(seed)
    kind = small(snapshot=int(rng.integers(1, 12)))
    pair = [engine(store, kind), engine(store, kind)]
    for n in range(1, 22):
        at = int(rng.integers(2))
        some = [random_command(rng, n + 1) for _ in range(rng.integers(1, 12))]
        answers = pair[at].step(some)
        assert not [each for each in answers if getattr(each, "status", 0) >= 500]
        if n % 4 == 0:
            pair[at] = engine(store, kind)
            assert_is_its_log(pair[at], store)
    kinds = [row.kind for row in store.tail("shop")]
    assert kinds.count("correction") > 2
    one(pair[0], Decide("shop", [0.5]))  # which has it catch up
    assert_is_its_log(pair[0], store)
    store.close()


def test_decisions_are_explained_by_what_was_known_then(file: Store) -> None:
    ours = engine(file, bakery())
    days(ours, [80.0, 90.0, None])
    before = one(ours, Query("shop", "explanation", 2)).body
    one(ours, Correct("shop", 1, [9.0]))
    assert one(ours, Query("shop", "explanation", 2)).body == before
    cache(ours).drop_all()
    assert one(ours, Query("shop", "explanation", 2)).body == before
    days(ours, [None])
    assert one(ours, Query("shop", "explanation", 3)).body["candidates"] != before["candidates"]


SHOP = """\
from bocopt import SampleAverage
from bocopt.problems import Newsvendor

problem = Newsvendor(unit_cost=[1.0], price=3.0)
average = SampleAverage(problem)
"""
TOML = """\
[cases.shop]
problem = "problem:problem"
policies = ["average"]
outcome = ["bread"]
snapshot = 4
"""


def served(folder: Path) -> Config:
    (folder / "problem.py").write_text(SHOP, "utf-8")
    (folder / "bocopt.toml").write_text(TOML, "utf-8")
    return load_config(folder / "bocopt.toml")


def test_replay_doctor_and_export_understand_corrections(tmp_path: Path) -> None:
    config = served(tmp_path)
    store = open_store(config.store, config.folder)
    ours = engine(store, config.templates["shop"])
    days(ours, [80.0, 900.0, SOLD, 70.0, 60.0, None])
    one(ours, Correct("shop", 1, [90.0]))
    days(ours, [50.0, 55.0])
    one(ours, Correct("shop", 3, {"bread": {"at_least": 70, "at_most": 75}}))
    days(ours, [52.0])
    ours.stop()
    found = list(replayed(config, store, None, True))
    assert all(each.fine for each in found)
    told = "\n".join(each.words for each in found)
    assert "9 decisions, 8 outcomes, 1 open; 2 corrections." in told
    assert "decided again: 0 of 0" in told or "decided again: 9 of 9 bit for bit" in told
    looked = list(findings(config, store, None))
    assert all(each.fine for each in looked), looked
    assert any("is what the log says" in each.words for each in looked)
    assert exported(config, store, "shop", tmp_path / "out.csv") == 9
    lines = (tmp_path / "out.csv").read_text("utf-8").splitlines()
    head = lines[0].split(",")
    rows = [dict(zip(head, line.split(","), strict=True)) for line in lines[1:]]
    seen = [(row["xi0"], row["xi0_at_least"], row["xi0_at_most"]) for row in rows[:4]]
    assert seen == [("80.0", "", ""), ("90.0", "", ""), ("", "87.0", ""), ("", "70.0", "75.0")]
    assert [bool(row["corrected"]) for row in rows[:4]] == [False, True, False, True]
    assert (rows[2]["cost"], rows[2]["feasible"]) == ("", "")
    store.close()


def test_lessons_may_be_bounds_too(file: Store) -> None:
    ours = engine(file, bakery())
    for i, xi in enumerate([[80.0], [SOLD], [None]]):
        for code in (201, 200):
            assert one(ours, Teach("shop", i, [0.0], xi)).status == code
    assert status(ours, Teach("shop", 1, [0.0], [88.0])) == 409
    shown = [event_shown(bakery(), row)["xi"] for row in file.tail("shop")]
    assert shown == [[80.0], [SOLD], [None]]
    assert_is_its_log(ours, file)


def test_over_http_by_the_client_in_bulk_and_on_the_pages(tmp_path: Path) -> None:
    with Service(f"sqlite:///{tmp_path / 'log.db'}", bakery()) as service:
        with Client(f"http://127.0.0.1:{service.port}") as client:
            sold = client_module.at_least(87)
            for xi in ([80.0], {"bread": 90.0}, [sold], [at_least(95)], [None]):
                client.observe("shop", client.decide("shop", [0.0]).id, xi)
            asked = client.decide("shop", [0.0]), client.decide("shop", [0.0])
            bulk = client.observe_all(
                [
                    ("shop", asked[0].id, [client_module.between(3, 5)]),
                    ("shop", asked[1].id, {"bread": client_module.at_most(3)}),
                    ("shop", 0, [{"at_least": 5, "at_most": 3}]),
                ]
            )
            assert [getattr(each, "status", 201) for each in bulk] == [201, 201, 422]
            with pytest.raises(ValueError, match="None for what nobody saw"):
                client.observe("shop", 0, [float("nan")])
            for _ in range(2):
                assert client.correct("shop", 1, [sold])["learned"]
            client.observe("shop", client.decide("shop", [0.0]).id, [70.0])
            log = [event["xi"] for event in client.log("shop") if "xi" in event]
            assert log[2:5] == [[SOLD], [{"at_least": 95.0}], [None]]
            assert log[5:7] == [[{"at_least": 3.0, "at_most": 5.0}], [{"at_most": 3.0}]]
            assert log[-2:] == [[SOLD], [70.0]]
            told = client.stream("shop")
            assert (told["outcomes"], told["seen_in_part"]) == (8, 6)
        where = "/v1/streams/shop/decisions/1/correction"
        assert service.ask("PUT", where, {"xi": 5})[0] == 422
        assert service.ask("PUT", where, {"x": [5]})[0] == 422
        stream = service.raw("GET", "/streams/shop")[2].decode()
        assert "seen in part" in stream
        why = service.raw("GET", "/streams/shop/decisions/1")[2].decode()
        assert "bread: at least 87" in why
        assert "bread = 90" in why
        assert "corrected" in why
        assert service.raw("GET", "/")[0] == 200
        schemas = service.ask("GET", "/openapi.json")[1]["components"]["schemas"]
        assert set(schemas["Seen"]["oneOf"][1]["properties"]) == {"at_least", "at_most"}


def test_where_no_outcome_was_seen_in_full_no_average_is_told(tmp_path: Path) -> None:
    with Service(f"sqlite:///{tmp_path / 'log.db'}", bakery()) as service:
        for _ in range(3):
            decisions = "/v1/streams/shop/decisions"
            number = service.ask("POST", decisions, {"x": [0]})[1]["id"]
            assert service.ask("PUT", f"{decisions}/{number}/outcome", {"xi": [SOLD]})[0] == 201
        told = service.ask("GET", "/v1/streams/shop")[1]
        assert (told["average"], told["feasible"]) == (None, None)
        page = service.raw("GET", "/streams/shop")[2].decode()
        assert "seen: between" in page
        assert "count at their worst" in page
        assert service.raw("GET", "/")[0] == 200


def test_sales_are_asked_about_until_they_are_reported_as_such(file: Store) -> None:
    ours = engine(file, bakery())
    rng = np.random.default_rng(5)
    days(ours, rng.poisson(20.0, 8).astype(float).tolist())
    for _ in range(90):
        told = one(ours, Decide("shop", [0.0])).body
        z = next(iter(told["z"].values()))
        one(ours, Observe("shop", told["id"], [min(float(rng.poisson(20.0)), round(z))]))
        if concerns := one(ours, Query("shop", "summary")).body["concerns"]:
            break
    [words] = concerns
    assert "outcomes of bread are exactly what was decided, and none is above" in words
    days(ours, [{"at_least": 3.0}])
    assert one(ours, Query("shop", "summary")).body["concerns"] == []
    assert_is_its_log(ours, file)
