"""Small versions of benchmarks/service, and laws of the parts that they are made of."""

import random
import shutil
from argparse import Namespace
from pathlib import Path

import fuzz
import kills
import power
import pytest
import tape
from databases import empty_schema
from nonsense import Nonsense, harmless, nonsense


def _written(file: int, place: int, data: bytes) -> tape.Record:
    return tape.Record("w", file, place, len(data), data, 0)


def test_a_disk_keeps_what_was_synced_and_may_lose_the_rest() -> None:
    lost = set()
    for seed in range(40):
        for lies in (False, True):
            disk = tape.Disk(lies=lies)
            disk.play(tape.Record("c", 1, 0, 1, b"a", 0))
            disk.play(_written(1, 0, b"x" * 700))
            disk.play(tape.Record("s", 1, 0, 0, b"", 0))
            disk.play(tape.Record("d", -1, 0, 0, b"", 0))
            disk.play(_written(1, 600, b"y" * 1000))
            left = disk.cut(random.Random(seed))
            if not lies:
                assert left["a"][:600] == b"x" * 600
                assert set(left["a"][600:]) <= set(b"xy\0")
            lost.add((lies, left.get("a")))
    assert len({data for lies, data in lost if not lies}) > 3
    assert (True, None) in lost
    assert (True, b"") in lost


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/streams/north/decisions", b'{"x": [0.5]}'),
        ("PUT", "/v1/streams/north/decisions/2/outcome", b'{"xi": [1, 2.5]}'),
        ("PUT", "/v1/streams/new", b'{"case": "north"}'),
        ("PUT", "/v1/streams/new", b" "),
        ("GET", "/v1/streams/north/events", b""),
    ],
)
def test_what_could_be_done_is_not_harmless(method: str, path: str, body: bytes) -> None:
    assert not harmless(Nonsense(method, path, (), body))


def test_nonsense_is_of_many_kinds() -> None:
    rng = random.Random(0)
    found = [nonsense(rng) for _ in range(500)]
    assert len({each.method for each in found}) >= 6
    assert len({each.path for each in found}) >= 40
    assert len({each.body for each in found}) >= 250


@pytest.mark.parametrize("many", [1000, pytest.param(20_000, marks=pytest.mark.full)])
def test_nonsense_is_refused_and_changes_nothing(many: int) -> None:
    found = fuzz.fuzzed(
        Namespace(
            bodies=many, raw=20, connections=4, store="sqlite", service="workers = 1", seed=many
        )
    )
    assert found["bodies"] == many
    assert found["bad"] == []
    assert (found["store_unchanged"], found["summaries_unchanged"]) == (True, True)
    assert (found["first_outcome_after"], found["exit_code"], found["doctor"]) == (201, 0, 0)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="power.c is compiled by gcc")
@pytest.mark.parametrize("cuts", [15, pytest.param(150, marks=pytest.mark.full)])
def test_a_cut_of_the_power_loses_nothing_that_was_answered(cuts: int) -> None:
    settings = Namespace(
        cuts=cuts,
        seconds=0.4,
        lives=1,
        clients=6,
        doctor=5,
        serve=0,
        seed=cuts,
        service="workers = 1",
    )
    found = power.tried(power.CASES[0], settings)
    assert found.cuts == cuts
    assert found.answers > 0
    assert (found.lost, found.damaged, found.problems) == (0, 0, [])


@pytest.mark.skipif(shutil.which("gcc") is None, reason="power.c is compiled by gcc")
@pytest.mark.full
def test_a_cut_shows_what_was_not_synced() -> None:
    """The test above can fail."""
    settings = Namespace(
        cuts=50, seconds=1.0, lives=1, clients=6, doctor=5, serve=0, seed=0, service=""
    )
    for case in power.CASES[1:]:
        assert power.tried(case, settings).lost > 0


@pytest.mark.full
@pytest.mark.parametrize(
    ("store", "many"), [("sqlite", 5), ("postgres", 3), ("two-servers", 3), ("postgres-itself", 3)]
)
def test_kills_lose_and_double_nothing(
    store: str, many: int, request: pytest.FixtureRequest
) -> None:
    url, folder = "sqlite:///log.db", ""
    if store != "sqlite":
        server, folder = request.getfixturevalue("server")
        url = empty_schema(server)
    settings = Namespace(
        store=store, clients=6, live=0.5, starting=0.25, start=1.5, service="", learner=1
    )
    found = kills.one_round(settings, many, 0, url, folder)
    assert found["kills"] == many
    assert found["acknowledged"] > 0
    assert (found["lost"], found["doubled"], found["problems"]) == (0, 0, [])
    assert found["same"] == found["streams"]


def test_scripts_say_what_they_do() -> None:
    """Each names its own command and where its results go."""
    folder = Path(kills.__file__).parent
    for name in ("kills", "power", "faults", "load", "fuzz", "long_stream", "ways_in"):
        text = (folder / f"{name}.py").read_text()
        assert f"python benchmarks/service/{name}.py" in text
        assert f"benchmarks/results/service_{name}.{{md,json}}" in text
