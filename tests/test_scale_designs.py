"""The road to many nodes: the simulation obeys what is known of queues, and the page its files."""

import json
from typing import Any

import numpy as np
import pytest
from results_file import RESULTS
from scale import nightly
from scale.page import PAGE, put, renewed
from scale.simulation import Death, Design, Line, simulate
from scale.traffic import Burst, Traffic, arrivals, asked_for

ONE: dict[str, Any] = {"nodes": 1, "workers": 1, "at_once": 1, "held": 10**6}
SERVICE = 0.01
#: Means of equal parts of an exponential law of mean 1: all alike often, with its own mean.
EXPONENTIAL = -np.log1p(-(np.arange(4000) + 0.5) / 4000)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
@pytest.mark.parametrize("law", ["M/D/1", "M/M/1"])
def test_one_server_waits_as_pollaczek_and_khinchine_say(load: float, law: str) -> None:
    """E wait = load / (1 - load) service (1 + cv^2) / 2, where one request is done at a time."""
    parts = SERVICE * (np.ones(1) if law == "M/D/1" else EXPONENTIAL)
    design = Design(name=law, parts=tuple(parts), **ONE)
    means = [
        simulate(design, Traffic(load / SERVICE, 400.0, 5), seed=seed).latency.mean()
        for seed in range(8)
    ]
    spread = 1 + parts.var() / parts.mean() ** 2
    theory = SERVICE + load / (1 - load) * SERVICE * spread / 2
    error = np.std(means, ddof=1) / np.sqrt(len(means))
    assert abs(np.mean(means) - theory) < 4 * error
    assert error < 0.1 * theory


def test_a_front_before_a_quicker_worker_is_the_same_queue() -> None:
    traffic = Traffic(60.0, 200.0, 5)
    alone = simulate(Design(name="worker", parts=(SERVICE,), **ONE), traffic)
    ahead = simulate(Design(name="front", front=SERVICE, parts=(0.0,), **ONE), traffic)
    np.testing.assert_allclose(alone.latency, ahead.latency, atol=1e-9)
    assert (alone.saturates, ahead.saturates) == ("worker", "front")


@pytest.mark.parametrize("many", [1, 8, 64])
def test_too_much_work_is_done_at_the_rate_of_full_batches(many: int) -> None:
    """k / (k service + commit(k)), of one lane with more than it can do."""
    design = Design(
        name="full", **ONE | {"at_once": many}, parts=(0.001,), commit=Line(0.004, 0.0002)
    )
    result = simulate(design, Traffic(3000.0, 10.0, 5))
    whole = result.latency + result.arrived
    rate = len(whole) / whole.max()
    assert rate == pytest.approx(many / (many * 0.001 + 0.004 + many * 0.0002), rel=0.02)


def test_lanes_of_a_node_commit_one_after_the_other() -> None:
    traffic = Traffic(6000.0, 4.0, 10_000, zipf=0.0)
    common: dict[str, Any] = {
        "workers": 8,
        "at_once": 1,
        "parts": (0.0,),
        "commit": Line(0.002, 0.0),
    }
    for one, lanes in ((True, 1), (False, 8)):
        result = simulate(Design(name="lanes", one_connection=one, **common), traffic)
        whole = result.latency + result.arrived
        while_all_work = ((whole > 1) & (whole <= 3)).sum() / 2
        assert while_all_work == pytest.approx(lanes / 0.002, rel=0.01)


def test_nodes_share_the_cores_of_their_database() -> None:
    traffic = Traffic(8000.0, 4.0, 10_000, zipf=0.0)
    common: dict[str, Any] = {"nodes": 8, "workers": 1, "at_once": 1, "parts": (0.0,)}
    slow = Line(0.002, 0.0)
    for databases, cores in ((1, 2), (2, 2), (4, 2)):
        design = Design(
            name="shared", **common, commit=slow, database=slow, databases=databases, cores=cores
        )
        result = simulate(design, traffic)
        rate = len(result.latency) / (result.latency + result.arrived).max()
        assert rate == pytest.approx(databases * cores / 0.002, rel=0.05)


def test_a_node_that_dies_answers_everything_when_it_is_back() -> None:
    design = Design(name="two", nodes=2, workers=2, parts=(0.001,), commit=Line(0.002, 0.0))
    traffic = Traffic(400.0, 30.0, 1000)
    calm = simulate(design, traffic)
    result = simulate(design, traffic, (Death(1, 10.0, 5.0),))
    hit = (result.node == 1) & (result.arrived >= 10) & (result.arrived < 15)
    assert (result.latency > 0).all()
    assert (result.arrived + result.latency)[hit].min() >= 15
    assert calm.slow == 0
    assert result.slow == pytest.approx(hit.mean(), rel=0.3)
    np.testing.assert_array_equal(result.latency[result.node == 0], calm.latency[calm.node == 0])
    assert result.missed > calm.missed


def test_memory_is_of_those_used_last() -> None:
    """Where all streams fit nothing is missed; where none does, nearly everything is."""
    traffic = Traffic(500.0, 10.0, 2000, zipf=0.0)
    missed = [
        simulate(Design(name="memory", held=held, parts=(0.0,)), traffic).missed
        for held in (4, 1000, 4000)
    ]
    assert missed[0] > 0.99
    assert missed[1] == pytest.approx(0.5, abs=0.05)
    assert missed[2] == 0


def test_streams_that_leave_take_their_time_and_those_that_stay_take_none() -> None:
    traffic = Traffic(20.0, 50.0, 2000, zipf=0.0)
    common: dict[str, Any] = {**ONE, "at_once": 1, "parts": (0.0,)}
    leaves = Design(name="leaves", **common | {"held": 1}, leave=0.001, restore=0.002)
    stays = Design(name="stays", **common | {"held": 2000})
    assert np.median(simulate(leaves, traffic).latency) == pytest.approx(0.003, abs=2e-5)
    assert np.median(simulate(stays, traffic).latency) == pytest.approx(0.0, abs=2e-5)


def test_traffic_has_its_rates_and_shares() -> None:
    rng = np.random.default_rng(0)
    traffic = Traffic(1000.0, 100.0, 50, zipf=1.0, burst=Burst(20.0, 10.0, 5.0))
    at = arrivals(traffic, rng)
    in_burst = ((at >= 20) & (at < 30)).sum()
    assert in_burst == pytest.approx(50_000, rel=0.03)
    assert len(at) - in_burst == pytest.approx(90_000, rel=0.03)
    assert (np.diff(at) >= 0).all()
    rank = asked_for(traffic, 200_000, rng)
    assert (rank == 0).mean() == pytest.approx(traffic.hottest, rel=0.03)
    assert (rank == 0).sum() == pytest.approx(2 * (rank == 1).sum(), rel=0.05)


LINE = {"a series": 1e-3, "fixed": 4.0}
NIGHTS: dict[str, Any] = {
    "nights": {
        "nights": {},
        "load before": 0.1,
        "line": dict.fromkeys(("seconds of CPU", "bytes kept", "bytes read"), LINE)
        | {"gigabytes": {"a series": 1e-5, "fixed": 0.2}},
    }
}


@pytest.mark.parametrize("machines", [1, 2, 5])
@pytest.mark.parametrize("parts", [1, 8, 50])
def test_a_night_of_equal_parts_takes_as_many_rounds_as_there_are(
    machines: int, parts: int
) -> None:
    found = nightly.simulated(10.0, parts, machines)
    rounds = -(-parts // (machines * nightly.CORES))
    assert found == nightly.Batch(10.0 * rounds, 10.0 * parts, parts)


@pytest.mark.parametrize("dies", [0.0, 5.0, 14.0, 1000.0])
def test_a_machine_that_dies_leaves_its_parts_to_the_others(dies: float) -> None:
    """Each part is done once, and what was under way is begun again after it is noticed."""
    calm = nightly.simulated(10.0, 64, 2)
    found = nightly.simulated(10.0, 64, 2, dies)
    lost = nightly.CORES * (0.0 < dies < calm.seconds)
    assert found.begun == 64 + lost
    assert found.cpu == pytest.approx(640.0 + lost * (dies % 10.0))
    if dies < calm.seconds:
        alone = nightly.simulated(10.0, 64, 1).seconds
        assert calm.seconds < found.seconds <= max(alone, dies + nightly.NOTICE + 10.0)
    else:
        assert found == calm


def test_a_part_fits_into_the_memory_of_a_core() -> None:
    part = nightly.part_of(NIGHTS)
    assert part.series == 100_000
    assert part.seconds == pytest.approx(104.0)
    heavy = json.loads(json.dumps(NIGHTS))
    heavy["nights"]["line"]["gigabytes"]["a series"] = 1e-3
    part = nightly.part_of(heavy)
    room = 0.75 * nightly.MEMORY / nightly.CORES
    assert part.gigabytes <= room < part.gigabytes + 0.002  # two more series do not


def test_the_page_has_the_tables_of_its_files() -> None:
    inputs, found = (
        json.loads((RESULTS / f"{name}.json").read_text())
        for name in ("scale_inputs", "scale_designs")
    )
    text = PAGE.read_text("utf-8")
    assert renewed(text, inputs, found) == text
    night = json.loads((RESULTS / "panel_speed.json").read_text())
    assert put(text, "nightly", nightly.table(night)) == text
    other = inputs | {"load_before": inputs["load_before"] + 1}
    assert renewed(text, other, found) != text
    with pytest.raises(ValueError, match="no room for the table 'measured'"):
        renewed("", inputs, found)
