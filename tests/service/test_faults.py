"""Failed commits, other writers, damage, and a database that goes away: nothing lost or doubled."""

import sqlite3
import subprocess
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shop as here
from databases import SCRIPT, empty_schema
from shop import (
    Counting,
    assert_is_its_log,
    bits,
    cache,
    engine,
    one,
    random_command,
    small,
    status,
    status_code,
)

from bocopt.app.service.commands import Decide, Forget, Observe, Query, RefusedError
from bocopt.app.service.stores import ConflictError, Store, open_store
from bocopt.app.service.stream_template import template_of


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_failed_commit_is_not_believed_and_a_repeat_is_safe(store: Store, when: str) -> None:
    faulty = Counting(store, failing={2: when, 4: when, 6: when})
    ours = engine(faulty)
    commands = [
        Decide("shop", [0.1], "a"),
        Observe("shop", 0, [1.0, 1.0]),
        Decide("shop", [0.2], "b"),
        Observe("shop", 1, [1.1, 1.0]),
        Decide("shop", [0.3], "c"),
    ]
    failed = 0
    for command in commands:
        while status(ours, command) not in (200, 201):
            failed += 1
            assert_is_its_log(ours, store)
    assert failed == {"before": 3, "after": 2}[when]
    assert [row.kind for row in store.tail("shop")] == [
        "decision",
        "outcome",
        "decision",
        "outcome",
        "decision",
    ]
    assert_is_its_log(ours, store)
    told = [status(engine(Counting(store, failing={0: "before"})), Decide("shop", [0.4], "d"))]
    assert told == [507]


def test_a_writer_that_never_wins_gives_up(file: Store) -> None:
    class Beaten(Counting):
        def append(self, rows: Any, snapshots: Any = (), stages: Any = ()) -> None:
            raise ConflictError

    with pytest.raises(RefusedError, match="too fast") as told:
        one(engine(Beaten(file)), Decide("shop", [0.1]))
    assert told.value.status == 503


def test_a_full_queue_refuses_and_a_stop_answers_what_was_accepted(file: Store) -> None:
    class Slow(Counting):
        """Commits when it is let."""

        def append(self, rows: Any, snapshots: Any = (), stages: Any = ()) -> None:
            let.wait(10)
            super().append(rows, snapshots, stages)

    let = threading.Event()
    ours = engine(Slow(file), queue=3, at_once=1)
    with pytest.raises(RefusedError, match="The service is starting"):
        ours.submit(Decide("shop", [0.1]))
    ours.start()
    assert ours.wait(60)
    answers = [ours.submit(Decide("shop", [0.1]))]
    while ours.gauges()[0]["queue"]:
        pass
    answers += [ours.submit(Decide("shop", [0.1])) for _ in range(3)]
    with pytest.raises(RefusedError, match="3 requests wait already") as told:
        ours.submit(Decide("shop", [0.1]))
    assert told.value.status == 503
    let.set()
    ours.stop()
    assert [answer.result(10).body["id"] for answer in answers] == [0, 1, 2, 3]
    with pytest.raises(RefusedError, match="The service is stopping"):
        ours.submit(Decide("shop", [0.1]))
    assert not ours.ready
    [snapshot] = file.snapshots("shop")
    assert snapshot.seq == len(file.tail("shop")) == 4


def test_a_policy_that_fails_is_told_and_the_rest_of_the_batch_is_done(file: Store) -> None:
    ours = engine(file)
    broken = cache(ours).state("shop").template.fold.policy

    def fail(state: Any, t: int, x: Any) -> Any:
        if x[0] > 1:
            raise ZeroDivisionError("of the policy")
        return type(broken).decide(broken, state, t, x)

    object.__setattr__(broken, "decide", fail)
    try:
        found = ours.step([Decide("shop", [0.1]), Decide("shop", [2.0]), Decide("shop", [0.2])])
    finally:
        object.__delattr__(broken, "decide")
    assert [getattr(answer, "status", None) for answer in found] == [201, 500, 201]
    assert "ZeroDivisionError: of the policy" in str(found[1])
    assert_is_its_log(ours, file)


def damage(folder: Path, sql: str) -> None:
    with sqlite3.connect(folder / "log.db") as connection:
        assert connection.execute(sql).rowcount > 0
    connection.close()


def test_a_damaged_snapshot_is_not_used_and_a_damaged_event_is_named(
    file: Store, tmp_path: Path
) -> None:
    ours = engine(file, small(snapshot=4))
    for i in range(6):
        one(ours, Decide("shop", [0.1]))
        one(ours, Observe("shop", i, [1.0, 1.0]))
    before = bits(cache(ours).state("shop"))
    damage(tmp_path, "UPDATE snapshots SET state = zeroblob(100)")
    again = engine(file, small(snapshot=4))
    assert bits(cache(again).state("shop")) == before
    damage(tmp_path, "UPDATE events SET body = zeroblob(100) WHERE seq = 5")
    cache(again).drop_all()
    with pytest.raises(RefusedError, match="Event 5 of stream 'shop': It is damaged") as told:
        one(again, Decide("shop", [0.1]))
    assert told.value.status == 503
    assert one(ours, Decide("shop", [0.1])).status == 201  # what is in memory is sound
    started = engine(file, small(snapshot=4), template_of("mart", here.problem, here.policy))
    assert status(started, Decide("shop", [0.1])) == 503
    assert status(started, Decide("mart", [0.1])) == 201


def test_a_database_that_was_stopped_hard_is_found_again(server: tuple[str, str]) -> None:
    url, folder = server
    store = open_store(empty_schema(url))
    ours = engine(store)
    assert status(ours, Decide("shop", [0.1], "a")) == 201
    subprocess.run([SCRIPT, "stop", folder, "immediate"], check=True)
    try:
        for command in (
            Decide("shop", [0.2], "b"),
            Observe("shop", 0, [1.0, 1.0]),
            Query("shop", "summary"),
        ):
            assert status(ours, command) == 503
    finally:
        subprocess.run([SCRIPT, "again", folder], check=True)
    assert status(ours, Decide("shop", [0.1], "a")) == 200
    assert status(ours, Decide("shop", [0.2], "b")) == 201
    assert status(ours, Observe("shop", 0, [1.0, 1.0])) == 201
    assert_is_its_log(ours, store)
    store.close()


def test_two_engines_on_one_log_lose_and_double_nothing(url: str) -> None:
    """Each believes that it is alone; places and keys in the log are what keeps them apart."""
    stores = [open_store(url) for _ in range(2)]
    engines = [engine(each) for each in stores]
    answers: list[tuple[Any, Any]] = []

    def work(me: int) -> None:
        rng = np.random.default_rng(me)
        for n in range(1, 26):
            commands = [random_command(rng, 2 * n) for _ in range(4)]
            done = engines[me].step(commands)
            answers.extend(zip(commands, done, strict=True))

    threads = [threading.Thread(target=work, args=(me,)) for me in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = stores[0].tail("shop")
    assert [row.seq for row in rows] == list(range(len(rows)))
    made = [a.body["id"] for c, a in answers if isinstance(c, Decide) and status_of(a) == 201]
    assert sorted(made) == [row.decision for row in rows if row.kind == "decision"]
    learned = [c.number for c, a in answers if isinstance(c, Observe) and status_of(a) == 201]
    assert sorted(learned) == sorted(row.decision for row in rows if row.kind == "outcome")
    by_key: dict[str, set[int]] = {}
    for command, answer in answers:
        if isinstance(command, Decide) and status_of(answer) in (200, 201):
            by_key.setdefault(str(command.key), set()).add(answer.body["id"])
    assert all(len(ids) == 1 for ids in by_key.values())
    for ours, store in zip(engines, stores, strict=True):
        cache(ours).catch_up(["shop"])
        assert_is_its_log(ours, store)
        store.close()


def test_what_one_server_decided_another_may_learn(url: str) -> None:
    stores = [open_store(url) for _ in range(2)]
    left, right = (engine(each, small(max_open=2)) for each in stores)
    for first, second in ((left, right), (right, left)):
        number = one(first, Decide("shop", [0.1])).body["id"]
        assert one(second, Observe("shop", number, [1.0, 1.0])).status == 201
        assert one(first, Observe("shop", number, [1.0, 1.0])).status == 200
        assert status(first, Observe("shop", number, [2.0, 1.0])) == 409
        number = one(first, Decide("shop", [0.1])).body["id"]
        assert one(second, Forget("shop", number)).status == 200
        assert status(second, Observe("shop", number + 1, [1.0, 1.0])) == 404
    numbers = [one(left, Decide("shop", [0.1])).body["id"] for _ in range(2)]
    assert status(right, Decide("shop", [0.1])) == 409
    one(right, Forget("shop", numbers[0]))
    assert one(left, Query("shop", "summary")).body["open"][0]["id"] == numbers[1]
    one(right, Forget("shop", numbers[1]))
    assert status(left, Decide("shop", [0.1])) == 201
    for ours, store in zip((left, right), stores, strict=True):
        cache(ours).catch_up(["shop"])
        assert_is_its_log(ours, store)
        store.close()


def status_of(answer: Any) -> int:
    assert status_code(answer) < 500, answer
    return status_code(answer)
