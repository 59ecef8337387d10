"""Worker processes: what ends one changes nothing, and what they hold is a fold of the log."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from shop import assert_is_its_log, bits, cache, engine, folded, one, random_command, shop, status
from typed import CONFIG, bocopt

from bocopt.app.service.commands import Command, Create, Decide, Observe, Query, RefusedError
from bocopt.app.service.config import Config, load_config
from bocopt.app.service.engine import Engine
from bocopt.app.service.registry import Registry
from bocopt.app.service.stores import Store, open_store
from bocopt.app.service.worker import Worker

MOODY = """\
import os
import time
from dataclasses import dataclass

from bocopt import SampleAverage
from bocopt.problems import Knapsack

problem = Knapsack(value=[12, 9], capacity=[8], salvage=[1], upper=8)


@dataclass(frozen=True)
class Moody:
    \"\"\"Thinks for ever about 7, and cannot bear 8.\"\"\"

    average: SampleAverage

    def init(self, seeds):
        return self.average.init(seeds)

    def decide(self, state, t, x):
        if x[0] == 7.0:
            time.sleep(60)
        if x[0] == 8.0:
            os._exit(1)
        return self.average.decide(state, t, x)

    def learn(self, state, t, x, decision, xi):
        return self.average.learn(state, t, x, decision, xi)


policy = Moody(SampleAverage(problem, initial_decision=[1, 1]))
"""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    (tmp_path / "shop.py").write_text(MOODY)
    (tmp_path / "bocopt.toml").write_text(CONFIG)
    return load_config(tmp_path / "bocopt.toml")


@pytest.fixture
def store(config: Config) -> Iterator[Store]:
    opened = open_store(config.store, config.folder)
    yield opened
    opened.close()


def working(config: Config, store: Store, **options: float) -> tuple[Engine, Worker]:
    """An engine whose streams are held by another process."""
    worker = Worker(config, 0, 1, most=10, limit=options.get("limit", 20.0))
    registry = Registry(store, config.templates, "machine")
    registry.open(0.0)
    worker.open()
    return Engine(store, registry, [worker]), worker


def test_a_worker_that_is_silent_or_ends_changes_nothing(config: Config, store: Store) -> None:
    ours, worker = working(config, store, limit=4.0)
    assert one(ours, Create("north", "shop")).status == 201
    asked = [Decide("shop", [1.0], "a"), Decide("shop", [7.0], "b"), Decide("north", [2.0], "c")]
    first, slow, last = ours.step(asked)
    assert [first.status, slow.status, last.status] == [201, 504, 201]
    assert "longer than 4 seconds, and nothing was changed" in str(slow)
    fatal, fine = ours.step([Decide("shop", [8.0], "d"), Observe("shop", 0, [1.0, 1.2])])
    assert (fatal.status, fine.status) == (503, 201)
    assert "worker process ended" in str(fatal)
    assert worker._process is not None
    assert worker._process.pid is not None
    os.kill(worker._process.pid, signal.SIGKILL)
    worker._process.join()
    assert (
        one(ours, Decide("shop", [3.0], "b")).status == 201
    )  # the key of what was refused is free
    assert [row.kind for row in store.tail("shop")] == ["decision", "outcome", "decision"]
    assert [row.key for row in store.tail("north")] == ["c"]
    ours.stop()
    again = folded(store, config.templates["shop"])
    assert store.snapshots("shop")[0].state == again.snapshot().state


def test_a_worker_that_was_killed_does_not_delay_a_graceful_stop(
    config: Config, store: Store
) -> None:
    ours, worker = working(config, store)
    one(ours, Decide("shop", [1.0], "a"))
    process = worker._process
    assert process is not None
    process.kill()
    process.join()
    ours.stop()
    assert (store.last_seq("shop"), store.snapshots("shop")) == (0, [])
    ours.stop()  # once more is no error


def test_a_worker_has_the_code_of_its_front_or_none(config: Config, store: Store) -> None:
    ours, _ = working(config, store)
    shop_file = config.folder / "shop.py"
    changed = shop_file.read_text().replace("initial_decision=[1, 1]", "initial_decision=[2, 2]")
    shop_file.write_text(changed)
    assert status(ours, Decide("shop", [8.0])) == 503  # it ends, and the next one is another
    with pytest.raises(RefusedError, match="has changed since the service was started"):
        ours.step([Decide("shop", [1.0])])
    shop_file.write_text(MOODY)
    assert one(ours, Decide("shop", [1.0])).body["z"] == {"z0": 1.0, "z1": 1.0}
    ours.stop()


def test_workers_share_streams(config: Config, store: Store) -> None:
    registry = Registry(store, config.templates, "machine")
    ours = Engine(store, registry, [Worker(config, i, 2, 10, 20.0) for i in range(2)])
    ours.start()
    assert ours.wait(60)
    names = [f"shop-{i}" for i in range(6)]
    begun = [ours.submit(Create(name, "shop")) for name in names]
    assert [each.result(30).status for each in begun] == [201] * 6
    rng = np.random.default_rng(0)
    answers = [ours.submit(random_command(rng, 20, name)) for _ in range(20) for name in names]
    assert {type(each.exception(30)) for each in answers} <= {type(None), RefusedError}
    held = [each["streams"] for each in ours.gauges()]
    assert sum(held) == 7
    assert min(held) > 0
    ours.stop()
    assert bocopt("doctor", str(config.path))[0] == 0
    for name in names:
        again = folded(store, config.templates["shop"], name)
        assert store.snapshots(name)[0].state == again.snapshot().state


def test_streams_that_leave_memory_come_back_with_the_same_bits(file: Store) -> None:
    few, all_of_them = engine(file, held=2), engine(file)
    names = [f"shop-{i}" for i in range(5)]
    for name in names:
        one(few, Create(name, "shop"))
    rng = np.random.default_rng(1)
    for _ in range(30):
        for name in rng.permutation(names):
            few.step([random_command(rng, 30, str(name)) for _ in range(3)])
            assert len(cache(few)) <= 3
    for name in names:
        assert_is_its_log(few, file, name)
        assert bits(cache(few).state(name)) == bits(cache(all_of_them).state(name))
    assert any(file.snapshots(name) for name in names)  # made when they left


def test_streams_begin_together(file: Store) -> None:
    ours = engine(file)
    asked: list[Command] = [
        Create("a", "shop"),
        Create("b", "none"),
        Decide("a", [0.1]),
        Create("a"),
        Create("a", "shop", 5),
    ]
    assert [each.status for each in ours.step(asked)] == [201, 404, 201, 200, 409]
    assert [each.id for each in file.streams()] == ["a", "shop"]


def test_what_is_held_may_be_no_more_than_one_stream(file: Store) -> None:
    ours = engine(file, shop(), held=1)
    one(ours, Create("north", "shop"))
    for i in range(3):
        answers = ours.step(
            [Decide("shop", [0.1]), Decide("north", [0.2]), Query("shop", "summary")]
        )
        assert [each.status for each in answers] == [201, 201, 200]
        assert len(file.tail("north")) == i + 1
