"""The page of a service: what it says is what the log says, and nothing in it can run."""

import asyncio
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shop as here
from running import Service
from shop import assert_is_its_log, cache, engine, one, play, shop
from troubled import HOUR

from bocopt import Ensemble, Mixture
from bocopt.abilities import HasLaws
from bocopt.app.case_file import StreamLimits
from bocopt.app.page.markup import unmarked
from bocopt.app.service.commands import Decide, Forget, Observe, RefusedError
from bocopt.app.service.page import charts
from bocopt.app.service.page.concerns import judged
from bocopt.app.service.page.fleet import SHOWN, fleet_page
from bocopt.app.service.page.fresh import Fresh
from bocopt.app.service.page.seen import seen
from bocopt.app.service.stores import Store, StreamSummary
from bocopt.app.service.stream_template import StreamTemplate
from bocopt.app.service.summaries import read, stage_summary
from bocopt.bounds import exactly
from bocopt.guarantees import Feasibility
from bocopt.guarantees.feasibility import Counts
from bocopt.live.fold import Observed
from bocopt.models import Informed, Remembering, SharedPrior
from bocopt.policies import Constant
from bocopt.wrappers import says

NOW = 1e9
FINE = StreamSummary(
    id="fine",
    problem="shop",
    created=NOW - 100 * HOUR,
    events=100,
    decisions=50,
    last=NOW - HOUR,
    open=0,
    oldest=None,
    outcomes=50,
    delay=60.0,
    known=50,
    costs=-50.0,
    feasibles=48,
    hindsights=None,
    told="{}",
)


def test_a_stage_tells_weights_and_where_its_outcome_lay(file: Store) -> None:
    ours = engine(file, shop(policy=here.learner))
    play(ours, 4)
    assert_is_its_log(ours, file)
    last = file.last_stage("shop")
    assert last is not None
    found = read(last.told)
    state = cache(ours).state("shop").live.state
    weights = dict(zip(here.learner.arm_names, state.info.arm_weights, strict=True))
    assert found["arms"] == {name: round(w, 4) for name, w in weights.items() if w >= 0.0005}
    assert set(found["members"]) <= {"Forest", "Smooth", "LogVariance"} | {
        "ConstantVariance",
        "RandomCoefficients",
    }
    assert sum(found["members"].values()) == pytest.approx(1.0, abs=0.003)
    assert found["levels"] == state.info.of_arms[0].probability.round(4).tolist()


@pytest.mark.parametrize("kind", ["of a fleet", "with lags"])
def test_a_stage_tells_the_laws_of_any_model(file: Store, kind: str) -> None:
    streams = [np.random.default_rng(seed).lognormal(0.0, 0.3, (9, 2)) for seed in range(3)]
    prior = SharedPrior.of([(np.zeros((9, 1)), xi) for xi in streams])
    model = Informed(prior) if kind == "of a fleet" else Remembering(Mixture(dim_xi=2), lags=[1])
    ours = engine(file, shop(policy=Ensemble(here.problem, model)))
    play(ours, 4)
    last = file.last_stage("shop")
    assert last is not None
    found = read(last.told)
    laws = {name.partition(",")[0] for name in says(model, HasLaws)}
    assert {"own", "near the fleet"} <= laws or "Forest" in laws
    assert set(found["members"]) <= laws
    assert sum(found["members"].values()) == pytest.approx(1.0, abs=0.003)
    info = cache(ours).state("shop").live.state.info.of_arms[0]
    assert found["levels"] == info.probability.round(4).tolist()


def test_what_is_told_is_short_whatever_a_policy_has() -> None:
    """Many names, or numbers that are no weights of anything."""

    kind = shop()
    live = kind.fold.begin(0)
    live, _ = kind.fold.apply(live, kind.fold.decide(live, np.zeros(1)))
    live, stage = kind.fold.apply(live, Observed(0, exactly(np.ones(2))))
    assert stage is not None
    kind.__dict__["weighed"] = {"arms": tuple(f"arm {i}" for i in range(100)), "members": ("a",)}
    info = {
        "arm_weights": np.full(100, 0.01),
        "weights": np.array([3.0]),
        "probability": np.full(100, 0.5),
    }
    found = json.loads(stage_summary(kind, live, stage._replace(info=info)))
    assert (len(found["arms"]), len(found["levels"]), "members" in found) == (20, 20, False)
    assert read("no JSON") == read("[]") == {}


def concerns(
    standing: StreamSummary, kind: StreamTemplate, damaged: str | None = None
) -> list[str]:
    damage = {} if damaged is None else {standing.id: damaged}
    [one] = judged([standing], {"shop": kind}, damage, NOW)
    return [each.short for each in one.concerns]


def test_who_needs_a_person_and_who_does_not() -> None:
    kind, expiring = shop(), shop(limits=StreamLimits(max_open=10, expire=2 * HOUR))
    assert concerns(FINE, kind) == []
    assert concerns(FINE, kind, "Event 3 is damaged") == ["not available"]
    waits = FINE._replace(open=3, oldest=NOW - HOUR)
    assert concerns(waits, kind) == ["overdue"]  # the latest outcome took a minute
    assert concerns(waits._replace(delay=HOUR / 5), kind) == []
    assert concerns(waits, expiring) == []
    assert concerns(waits._replace(oldest=NOW - 3 * HOUR), expiring) == ["overdue"]
    assert concerns(waits._replace(outcomes=0, known=0, feasibles=0, delay=None), kind) == []
    assert concerns(waits._replace(open=9), expiring) == ["almost full"]
    assert concerns(FINE._replace(last=NOW - 30 * HOUR), kind) == ["quiet"]
    assert concerns(FINE._replace(last=NOW - 15 * HOUR), kind) == []
    assert judged([FINE._replace(problem="gone")], {"shop": kind}, {}, NOW) == []


def test_feasibility_is_below_target_only_where_that_is_sure() -> None:
    alpha, t = here.problem.risk.alpha, 50.0
    assert alpha is not None
    for met in range(20, 51):
        counts = Counts.of(np.array(t), np.array(t - met))
        sure = 1.0 - Feasibility().interval(counts)[0] < alpha
        found = concerns(FINE._replace(feasibles=met), shop())
        assert found == (["below target"] if sure else [])


def test_a_large_fleet_is_sorted_searched_and_turned_over() -> None:
    kinds = {"shop": shop()}
    streams = [FINE._replace(id=f"s{i:05}") for i in range(10_000)]
    streams[7_777] = streams[7_777]._replace(open=1, oldest=NOW - 9 * HOUR)
    found = judged(streams, kinds, {}, NOW)
    assert [each.standing.id for each in found[:3]] == ["s07777", "s00000", "s00001"]

    def shown(**asked: Any) -> list[str]:
        return re.findall(r'href="/streams/([^"]+)"', fleet_page(found, kinds, NOW, **asked))

    assert shown() == ["s07777", *(f"s{i:05}" for i in range(SHOWN - 1))]
    assert shown(query="OVERDUE") == ["s07777"]
    assert shown(query="s0012") == [f"s{i:05}" for i in range(120, 130)]
    assert shown(query="nobody") == []
    assert len(shown(number=200)) == SHOWN
    assert shown(number=10**6) == shown(number=200) != shown(number=199)
    assert "1 of 10,000 streams needs a person." in fleet_page(found, kinds, NOW)


def test_a_chart_reads_few_rows_and_has_the_right_sums(file: Store) -> None:
    ours = engine(file)
    play(ours, 230)
    found = seen(file, shop(), "shop")
    every = file.stages("shop")
    assert len(found.drawn) == 200
    assert (found.drawn[0], found.drawn[-1]) == (every[0], every[-1])
    for each in found.drawn:
        if each.n > found.back:
            before = found.before[each.n - found.back]
            latest = [one.cost or 0.0 for one in every[each.n - found.back : each.n]]
            assert (each.costs - before.costs) == pytest.approx(sum(latest))


NASTY = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&"


def test_names_of_users_are_texts_and_nothing_is_inline(tmp_path: Path) -> None:
    kind = shop(names=(NASTY, f"{NASTY}2"), shadows={NASTY: here.better}, unit="<i>EUR</i>\"'&")
    with Service(f"sqlite:///{tmp_path / 'log.db'}", kind) as service:
        for i in range(4):
            service.ask("POST", "/v1/streams/shop/decisions", {"x": [0.1 * i]})
            path = f"/v1/streams/shop/decisions/{i}/outcome"
            service.ask("PUT", path, {"xi": [1.0 + 0.1 * i, 1.0]})
        pages = ["/", "/?q=%3Cscript%3E", "/streams/shop", "/streams/shop/decisions/3"]
        for path in [*pages, "/streams/none", "/streams/%3Cscript%3E", "/?page=x"]:
            status, about, body = service.raw("GET", path)
            text = body.decode()
            assert status == (200 if path in pages else 422 if "page=x" in path else 404), path
            assert "<img" not in text
            assert "<i>EUR" not in text
            assert re.findall(r"<script[^>]*>", text) == re.findall(
                r'<script src="/page/\w+\.js\?\w+" defer>', text
            )
            assert not re.search(r"<[^>]* (style|on\w+)=", text)
            policy = about["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert about["cache-control"] == "no-store"
        assert text.count("&lt;script&gt;") == 0
        for path in pages[:1] + pages[2:]:
            assert b"&lt;i&gt;EUR&lt;/i&gt;&quot;&#x27;&amp;" in service.raw("GET", path)[2], path
        assert b"&lt;script&gt;" in service.raw("GET", "/streams/shop/decisions/3")[2]


def test_many_who_look_ask_the_engine_once(local: Service) -> None:
    for i in range(3):
        local.ask("POST", "/v1/streams/shop/decisions", {"x": [0.1 * i]})
        local.ask("PUT", f"/v1/streams/shop/decisions/{i}/outcome", {"xi": [1.0, 1.2]})
    for _ in range(20):
        assert local.raw("GET", "/streams/shop")[0] == 200
        assert local.raw("GET", "/streams/shop/decisions/2")[0] == 200
    counted = local.raw("GET", "/metrics")[2].decode()
    assert 'bocopt_requests_total{command="query",status="200"} 2\n' in counted


def test_a_damaged_stream_is_named_and_its_page_still_there(local: Service) -> None:
    local.ask("POST", "/v1/streams/shop/decisions", {"x": [0.1]})
    cache(local.engine).drop_all()
    database: Any = local.store
    database._database.write([("UPDATE events SET body = ?", [(b"no event",)])])
    status, _, text = local.raw("GET", "/streams/shop")
    assert (status, b"Run `bocopt doctor`" in text) == (200, True)
    assert b"not available" in local.raw("GET", "/")[2]
    assert local.raw("GET", "/streams/shop/decisions/0")[0] == 503


def test_what_is_made_is_made_once_for_all_and_errors_are_not_kept() -> None:
    now, made = [0.0], list[str]()
    fresh = Fresh[str](1.0, 2, lambda: now[0])

    async def make(key: str) -> str:
        made.append(key)
        await asyncio.sleep(0)
        if key == "bad":
            raise RefusedError(503, "no")
        return key

    async def all_of_it() -> None:
        await asyncio.gather(*(fresh.of("a", lambda: make("a")) for _ in range(5)))
        assert made == ["a"]
        now[0] = 2.0
        await fresh.of("a", lambda: make("a"))
        assert made == ["a", "a"]
        for _ in range(2):
            with pytest.raises(RefusedError):
                await fresh.of("bad", lambda: make("bad"))
        assert made[2:] == ["bad", "bad"]
        for key in ("b", "c", "a"):
            await fresh.of(key, partial(make, key))
        assert made[4:] == ["b", "c", "a"]

    asyncio.run(all_of_it())


def _with_gaps(file: Store, given_up: bool) -> str:
    """The page of a stream of which every fourth outcome never came, all others being feasible."""
    ours, kind = engine(file, shop(policy=Constant([1, 1]))), shop(policy=Constant([1, 1]))
    for i in range(120):
        number = one(ours, Decide("shop", [0.0])).body["id"]
        if i % 4:
            one(ours, Observe("shop", number, [1.0, 1.0]))
        elif given_up:
            one(ours, Forget("shop", number))
    return unmarked(charts.feasibility(seen(file, kind, "shop")))


def test_decisions_that_were_given_up_count_at_their_worst(file: Store) -> None:
    said = _with_gaps(file, given_up=True)
    found = re.search(
        r"100% of the 90 decisions whose outcome is known were feasible \(95%, at all times, "
        r"whatever the outcomes were of the 30 decisions given up: ([\d.]+) to 100\): whether the "
        r"target of 90% is met is open\.",
        said,
    )
    assert found is not None
    counts = Counts.of(np.array(120.0), np.array(30.0))
    assert float(found[1]) == pytest.approx(100 * (1 - Feasibility().interval(counts)[1]), abs=0.06)
    assert float(found[1]) < 75.0
    assert "still wait" not in said


def test_decisions_that_wait_do_not_count_and_that_is_said(file: Store) -> None:
    said = _with_gaps(file, given_up=False)
    assert "100% of the decisions were feasible (95%, at all times: 94" in said
    assert "30 decisions that still wait do not count: it is assumed that" in said


def test_who_is_below_target_is_so_whatever_is_missing() -> None:
    few = FINE._replace(feasibles=30)
    assert concerns(few, shop()) == ["below target"]
    many = few._replace(decisions=5000)
    assert "below target" not in concerns(many, shop())
    [found] = judged([few._replace(decisions=53)], {"shop": shop()}, {}, NOW)
    assert "95% confidence, whatever comes of the 3 without an outcome" in found.concerns[0].words


def test_streams_that_are_told_to_be_below_target_share_what_may_be_untrue() -> None:
    """Of many that are feasible as often as asked, some are below by chance."""
    kinds = {"shop": shop()}
    bad = FINE._replace(feasibles=33)
    assert concerns(bad, shop()) == ["below target"]

    def told(streams: int) -> list[str]:
        others = [FINE._replace(id=f"s{i}") for i in range(streams - 1)]
        found = judged([bad, *others], kinds, {}, NOW)
        return [each.words for one in found for each in one.concerns if each.rank == 1]

    assert told(1000) == []
    [words] = told(2)
    assert "with 95% confidence for all 2 streams with a target together" in words
    [less] = judged([bad], kinds, {}, NOW, delta=0.2)
    assert "with 80% confidence, and" in less.concerns[0].words
    [sure] = judged([bad], kinds, {}, NOW, delta=1e-6)
    assert not sure.concerns
    alone = judged([bad], kinds, {}, NOW, asked=1000)
    assert alone[0].below
    assert not alone[0].concerns


def test_all_is_well_only_where_no_stream_is_below_its_target() -> None:
    kinds = {"shop": shop()}
    fine = [FINE._replace(id=f"s{i}") for i in range(10)]
    below = [FINE._replace(id=f"b{i}", feasibles=44) for i in range(2)]

    def said(*streams: StreamSummary) -> str:
        page = fleet_page(judged(streams, kinds, {}, NOW), kinds, NOW)
        return unmarked(page.partition("</header>")[0])

    assert "None of 10 streams needs a person." in said(*fine)
    assert "No stream is surely worse than asked; 2 of 12 are below their target so far." in said(
        *fine, *below
    )
    assert "1 of 11 is below its target so far." in said(*fine, below[0])
    assert "None of" not in said(*fine, below[0])
