"""Who may be called better than what decides: over all streams, however often it is declared."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import shop as here
from running import Service
from shop import assert_is_its_log, cache, engine, one, shop

from bocopt import Recorded
from bocopt.app.service import compared
from bocopt.app.service.commands import Decide, Observe, Query, RefusedError
from bocopt.app.service.compared import Better, ShadowStatus, better
from bocopt.app.service.engine import Engine
from bocopt.app.service.page.concerns import judged
from bocopt.app.service.stores import Configured, Store, StreamSummary
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.app.service.summaries import read
from bocopt.policies import Constant

KIND = shop(policy=Constant([0, 1]), shadows={"average": here.better})
NOW = 1e9


def standing(
    stream: str, log_e: float, kind: StreamTemplate = KIND, alarm: int | None = None
) -> StreamSummary:
    told = {"compared": {"by": kind.fold.by, "shadows": {"average": [log_e, 300, alarm]}}}
    nothing = StreamSummary(
        stream, "shop", NOW, 0, 0, NOW, 0, None, 300, None, 300, 0.0, 300, None, "{}"
    )
    return nothing._replace(told=json.dumps(told))


def found(
    standings: list[StreamSummary],
    configured: list[Configured],
    kind: StreamTemplate = KIND,
    delta: float = 0.05,
) -> tuple[int, list[str]]:
    known = [(each, read(each.told)) for each in standings]
    many, some = better(known, configured, {"shop": kind}, delta)
    return many, [each.stream for each in some]


def first(stream: str, n: int = 1, by: str = KIND.fold.by, of: int = 1) -> Configured:
    about = json.dumps({"shadows": {f"shadow {i}": "print" for i in range(of)}})
    return Configured(stream, n, by, 0, NOW, about)


def test_a_shadow_needs_more_evidence_where_there_are_more_streams() -> None:
    """e >= 40 was enough for each alone; of 10,000 streams, one alone needs 400,000."""
    for streams, needed in [(1, 40.0), (100, 4e3), (10_000, 4e5)]:
        configured = [first(f"{i:05}") for i in range(streams)]
        for log_e, sure in [(np.log(needed) + 1e-6, 1), (np.log(needed) - 1e-6, 0)]:
            seen = [standing(f"{i:05}", 0.0) for i in range(streams - 1)]
            [*rest] = [standing(f"{streams - 1:05}", float(log_e)), *seen]
            many, some = found(rest, configured)
            assert (many, len(some)) == (streams, sure)


def test_a_lower_confidence_needs_less_evidence() -> None:
    """By itself, e >= 2 / delta: its own name has half of the share."""
    for delta, needed in [(0.05, 40.0), (0.2, 10.0), (0.01, 200.0)]:
        for log_e, sure in [(np.log(needed) + 1e-6, ["a"]), (np.log(needed) - 1e-6, [])]:
            assert found([standing("a", float(log_e))], [first("a")], delta=delta) == (1, sure)


def test_many_that_are_better_need_less_each() -> None:
    configured = [first(f"{i:03}") for i in range(100)]
    half = [standing(f"{i:03}", float(np.log(81.0)) if i < 50 else 0.0) for i in range(100)]
    assert len(found(half, configured)[1]) == 50
    assert (
        found(half[:20] + [standing(f"{i:03}", 0.0) for i in range(20, 100)], configured)[1] == []
    )


def test_declaring_it_anew_costs_and_so_do_others_beside_it() -> None:
    """The 20th name of a stream has 1 / 420 of its share; nothing gives the others' back."""
    sure = [standing("a", float(np.log(100.0)))]
    assert found(sure, [first("a")]) == (1, ["a"])
    others = [first("a", n, by=f"other {n}") for n in range(1, 20)]
    assert found(sure, [*others, first("a", 20)]) == (20, [])
    needed = [standing("a", float(np.log(20 * 420.0)) + 1e-6)]
    assert found(needed, [*others, first("a", 20)]) == (20, ["a"])
    assert found(sure, [first("a", of=3)]) == (3, [])
    again = [first("a"), first("a", 2, by="plain", of=0), first("a", 3)]
    assert found(sure, again) == (1, ["a"])  # back to what it was: the same comparison goes on


def test_what_another_configuration_told_is_not_believed() -> None:
    other = shop(policy=Constant([0, 1]), shadows={"average": here.latest})
    assert found([standing("a", 50.0)], [first("a")], other) == (1, [])
    assert found([standing("a", 50.0)], [])[1] == []
    assert found([standing("a", 50.0)._replace(told="{}")], [first("a")])[1] == []


def concerns(*better: Better) -> list[tuple[str, str]]:
    [one] = judged([standing("a", 0.0)], {"shop": KIND}, {}, NOW, better)
    return [(each.short, each.words) for each in one.concerns]


def test_what_is_said_of_them() -> None:
    fine, turned = ShadowStatus(9.0, 300, None), ShadowStatus(9.0, 1200, 1100)
    assert concerns() == []
    assert concerns(Better("b", "average", fine)) == []
    [(short, words)] = concerns(Better("a", "average", fine))
    assert short == "shadow is better"
    assert "on average so far: average (over 300 compared stages). Promote it?" in words
    assert "over all streams, 5% at most are expected not to be better on average" in words
    [(short, words)] = concerns(Better("a", "average", turned))
    assert short == "shadow was better"
    assert "Promote it?" not in words
    assert "average (over 1,200 compared stages), but it has cost more lately (alarm at" in words
    assert "at compared stage 1,100; false alarms come once in 1,000 stages at most" in words
    assert len(concerns(Better("a", "one", fine), Better("a", "two", turned))) == 2
    both = [Better("a", "one", fine), Better("a", "two", turned)]
    [one] = judged([standing("a", 0.0)], {"shop": KIND}, {}, NOW, both, delta=0.2)
    for concern in one.concerns:
        assert "20% at most are expected not to be better on average" in concern.words


def lived(ours: Engine, stages: int, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(stages):
        number = one(ours, Decide("shop", [0.0])).body["id"]
        one(ours, Observe("shop", number, rng.uniform(0.8, 1.2, 2).tolist()))


def test_the_log_tells_evidence_and_the_page_and_the_api_agree(tmp_path: Path) -> None:
    with Service(f"sqlite:///{tmp_path / 'log.db'}", KIND) as service:
        for _ in range(60):
            _, body = service.ask("POST", "/v1/streams/shop/decisions", {"x": [0.0]})
            path = f"/v1/streams/shop/decisions/{body['id']}/outcome"
            service.ask("PUT", path, {"xi": [1.0, 1.1]})
        status, body = service.ask("GET", "/v1/shadows")
        assert (status, body["level"], body["compared"]) == (200, 0.05, 1)
        [told] = body["better"]
        assert (told["stream"], told["shadow"], told["compared_stages"]) == ("shop", "average", 60)
        assert told["worse_lately"] is None
        assert told["log_e"] > np.log(40.0)
        for page in ("/", "/streams/shop"):
            text = service.raw("GET", page)[2].decode()
            assert "shadow is better" in text
            assert "average (over 60 compared stages)" in text
            assert "over all streams, 5% at most are expected not to be better" in text
        assert "Compared since the first decision." in text
        since = service.ask("GET", "/v1/streams/shop/certificates")[1]["compared_since"]
        assert since == {"decision": 0, "words": "Compared since the first decision."}


def test_a_comparison_that_begins_again_says_so(file: Store) -> None:
    lived(engine(file, KIND), 5)
    renamed = shop(policy=Constant([0, 1]), shadows={"new name": here.better})
    ours = engine(file, renamed)
    since = one(ours, Query("shop", "certificates")).body["compared_since"]
    assert since["decision"] == 5
    assert since["words"].startswith("Compared since decision 5; before, another configuration")
    lived(ours, 3)
    last = file.last_stage("shop")
    assert last is not None
    assert compared.read(renamed, read(last.told))["new name"].stages == 3
    assert compared.read(KIND, read(last.told)) == {}
    assert_is_its_log(ours, file)
    back = engine(file, KIND)
    words = one(back, Query("shop", "certificates")).body["compared_since"]["words"]
    assert words == "Compared since the first decision. Nor do those that others took in between."


def test_a_shadow_that_costs_more_lately_is_told_so(file: Store) -> None:
    """At first it does what is better, and then less."""
    did = np.repeat([[3.0, 4.0], [1.0, 2.0]], [200, 100], axis=0)
    ours = engine(file, shop(policy=Constant([2, 2]), shadows={"turns": Recorded(did)}))
    for stages, told in [(200, False), (100, True)]:
        lived(ours, stages)
        last = file.last_stage("shop")
        assert last is not None
        own = compared.read(cache(ours).templates["shop"], read(last.told))["turns"]
        assert (own.alarm is not None) == told
    assert own.log_e > np.log(40.0)  # on average so far, it still is better
    assert own.alarm is not None
    assert 200 < own.alarm <= 300


class Quoting(Constant):
    def decide(self, state: Any, t: int, x: Any) -> Any:
        raise RuntimeError("Run `bocopt doctor`, says the policy.")


def test_a_policy_that_quotes_the_service_does_not_make_a_stream_damaged(tmp_path: Path) -> None:
    """What is damaged is known by a field, which a pipe leaves as it is."""
    sent = pickle.loads(pickle.dumps(RefusedError(503, "Event 3 is damaged.", damaged=True)))
    assert (sent.status, str(sent), sent.damaged) == (503, "Event 3 is damaged.", True)
    kind = shop(policy=Quoting([1, 1]))
    with Service(f"sqlite:///{tmp_path / 'log.db'}", kind) as service:
        status, body = service.ask("POST", "/v1/streams/shop/decisions", {"x": [0.0]})
        assert (status, "Run `bocopt doctor`" in body["error"]) == (500, True)
        assert b"not available" not in service.raw("GET", "/")[2]
