"""The engine: what it answers is on the disk, and what it holds is a fold of its log."""

import pickle
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shop as here
from databases import SCRIPT, empty_schema
from shop import (
    assert_is_its_log,
    bits,
    engine,
    folded,
    one,
    random_command,
    shop,
    small,
    status,
)

from bocopt.live.events import from_bytes
from bocopt.live.fold import Decided, Observed
from bocopt.service.commands import Ask, Begin, Drop, RefusedError, Reply, Show, Tell
from bocopt.service.engine import Engine
from bocopt.service.kind import kind_of
from bocopt.service.stores import ConflictError, Row, Snapshot, Store, StoreError, open_store
from bocopt.service.stores.store import Tally


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = open_store(url)
    yield opened
    opened.close()


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Store]:
    opened = open_store("sqlite:///log.db", tmp_path)
    yield opened
    opened.close()


def test_decide_learn_repeat(store: Store) -> None:
    ours = engine(store)
    first = one(ours, Ask("shop", [0.5], "a"))
    assert first.status == 201
    assert first.body["z"] == {"z0": 1.0, "z1": 1.0}
    assert (first.body["id"], first.body["status"]) == (0, "GIVEN")
    assert one(ours, Ask("shop", [0.5], "a")) == Reply(200, first.body)
    learned = one(ours, Tell("shop", 0, [1.0, 1.5]))
    assert learned.status == 201
    assert learned.body["feasible"] is True
    assert learned.body["reward"] == -here.problem.cost(
        np.array([0.5]), np.ones(2), np.array([1.0, 1.5])
    )
    assert one(ours, Tell("shop", 0, [1.0, 1.5])).status == 200
    second = one(ours, Ask("shop", [0.1]))
    assert second.body["status"] == "OPTIMAL"
    assert one(ours, Drop("shop", 1)).status == 200
    assert one(ours, Drop("shop", 1)).status == 200
    assert [row.kind for row in store.tail("shop")] == [
        "decision",
        "outcome",
        "decision",
        "forgotten",
    ]
    assert_is_its_log(ours, store)


REFUSED: list[tuple[Any, int, str]] = [
    (Ask("shop", [0.5, 0.1]), 422, "'x' parameter of decisions must be of 1 numbers"),
    (Ask("shop", [float("nan")]), 422, "'x' parameter of decisions must be finite"),
    (Ask("shop", "abc"), 422, "must be an array of numbers"),
    (Ask("shop", [0.6], "a"), 422, "The key 'a' was used for decision 0, which had another"),
    (Ask("none", [0.5]), 404, "There is no stream 'none'"),
    (Ask("shop", [0.5]), 409, "3 decisions of 'shop' wait for their outcome"),
    (Tell("shop", 9, [1.0, 1.0]), 404, "There is no decision 9 of 'shop'"),
    (Tell("shop", 0, [1.0, 2.0]), 409, "Decision 0 already has another outcome"),
    (Tell("shop", 1, [1.0, 1.0]), 409, "Decision 1 was given up"),
    (Tell("shop", 2, [1.0]), 422, "'xi' parameter of outcome must be an array of shape"),
    (Tell("shop", 2, [1.0, float("inf")]), 422, "must be finite"),
    (Drop("shop", 0), 409, "Decision 0 has an outcome, which was learned"),
    (Drop("shop", 7), 404, "There is no decision 7"),
    (Begin("other", "shap"), 404, r"No \[streams.shap\] is declared .* Did you mean 'shop'"),
    (Begin("shop", "shop", 5), 409, "has begun already, like 'shop' and with the seed 0"),
]


@pytest.mark.parametrize(("command", "code", "message"), REFUSED)
def test_what_is_refused_changes_nothing(
    file: Store, command: Any, code: int, message: str
) -> None:
    ours = engine(file, small(max_open=3))
    for x, key in ((0.5, "a"), (0.1, "b"), (0.1, "c")):
        one(ours, Ask("shop", [x], key))
    one(ours, Tell("shop", 0, [1.0, 1.0]))
    one(ours, Drop("shop", 1))
    for _ in range(2):
        one(ours, Ask("shop", [0.1]))
    before, held = file.tail("shop"), bits(ours.fleet.held("shop"))
    with pytest.raises(RefusedError, match=message) as told:
        one(ours, command)
    assert told.value.status == code
    assert file.tail("shop") == before
    assert bits(ours.fleet.held("shop")) == held


def test_commands_and_answers_fit_through_a_pipe(file: Store) -> None:
    ours = engine(file)
    commands = [Ask("shop", [0.1], "a"), Tell("shop", 0, [1.0, 1.0]), Show("shop", "summary")]
    for command in [*commands, Begin("two", "shop", 3), Drop("none", 0)]:
        [answer] = ours.step(pickle.loads(pickle.dumps([command])))
        again = pickle.loads(pickle.dumps(answer))
        assert (type(again), again.status, str(again)) == (
            type(answer),
            status_code(answer),
            str(answer),
        )


def status_code(answer: Reply | Exception) -> int:
    assert isinstance(answer, Reply | RefusedError)
    return answer.status


def test_a_batch_is_one_commit_and_commands_see_those_before_them(file: Store) -> None:
    counted = Counting(file)
    ours = engine(counted)
    answers = ours.step(
        [
            Ask("shop", [0.1], "a"),
            Ask("shop", [0.1], "a"),
            Ask("shop", [0.2], "a"),
            Tell("shop", 0, [1.0, 1.0]),
            Tell("shop", 0, [1.0, 1.0]),
            Tell("shop", 0, [2.0, 1.0]),
            Drop("shop", 0),
            Ask("shop", [0.3], "b"),
            Drop("shop", 1),
            Drop("shop", 1),
        ]
    )
    found = [answer.status for answer in answers if isinstance(answer, Reply | RefusedError)]
    assert found == [201, 200, 422, 201, 200, 409, 409, 201, 200, 200]
    assert counted.appends == 1
    assert len(file.tail("shop")) == 4
    assert_is_its_log(ours, file)


@dataclass
class Counting:
    """A store that counts, and fails where it is told to: before the commit, or after it."""

    store: Store
    appends: int = 0
    failing: dict[int, str] = field(default_factory=dict)

    def append(
        self, rows: Any, snapshots: list[Snapshot] | Any = (), stages: list[Tally] | Any = ()
    ) -> None:
        when = self.failing.get(self.appends)
        self.appends += 1
        if when == "before":
            raise StoreError("no room", full=True)
        self.store.append(rows, snapshots, stages)
        if when == "after":
            raise StoreError("the connection was lost while committing")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_failed_commit_is_not_believed_and_a_repeat_is_safe(store: Store, when: str) -> None:
    faulty = Counting(store, failing={2: when, 4: when, 6: when})
    ours = engine(faulty)
    commands = [
        Ask("shop", [0.1], "a"),
        Tell("shop", 0, [1.0, 1.0]),
        Ask("shop", [0.2], "b"),
        Tell("shop", 1, [1.1, 1.0]),
        Ask("shop", [0.3], "c"),
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
    told = [status(engine(Counting(store, failing={0: "before"})), Ask("shop", [0.4], "d"))]
    assert told == [507]


@pytest.mark.parametrize("seed", range(3))
def test_after_any_commands_a_restart_is_where_it_was(url: str, seed: int) -> None:
    store, rng = open_store(url), np.random.default_rng(seed)
    kind = small(snapshot=7)
    ours = engine(store, kind)
    for n in range(1, 15):
        ours.step([random_command(rng, 4 * n) for _ in range(rng.integers(1, 9))])
        if n % 5 == 0:
            before = bits(ours.fleet.held("shop"))
            ours = engine(store, kind)  # killed: nothing was saved at the end
            assert bits(ours.fleet.held("shop")) == before
    assert_is_its_log(ours, store)
    assert store.last_stage("shop") is not None
    assert len(store.snapshots("shop")) == 2
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
    made = [a.body["id"] for c, a in answers if isinstance(c, Ask) and status_of(a) == 201]
    assert sorted(made) == [row.decision for row in rows if row.kind == "decision"]
    learned = [c.number for c, a in answers if isinstance(c, Tell) and status_of(a) == 201]
    assert sorted(learned) == sorted(row.decision for row in rows if row.kind == "outcome")
    by_key: dict[str, set[int]] = {}
    for command, answer in answers:
        if isinstance(command, Ask) and status_of(answer) in (200, 201):
            by_key.setdefault(str(command.key), set()).add(answer.body["id"])
    assert all(len(ids) == 1 for ids in by_key.values())
    for ours, store in zip(engines, stores, strict=True):
        ours.fleet.catch_up(["shop"])
        assert_is_its_log(ours, store)
        store.close()


def test_what_one_server_decided_another_may_learn(url: str) -> None:
    stores = [open_store(url) for _ in range(2)]
    left, right = (engine(each, small(max_open=2)) for each in stores)
    for first, second in ((left, right), (right, left)):
        number = one(first, Ask("shop", [0.1])).body["id"]
        assert one(second, Tell("shop", number, [1.0, 1.0])).status == 201
        assert one(first, Tell("shop", number, [1.0, 1.0])).status == 200
        assert status(first, Tell("shop", number, [2.0, 1.0])) == 409
        number = one(first, Ask("shop", [0.1])).body["id"]
        assert one(second, Drop("shop", number)).status == 200
        assert status(second, Tell("shop", number + 1, [1.0, 1.0])) == 404
    numbers = [one(left, Ask("shop", [0.1])).body["id"] for _ in range(2)]
    assert status(right, Ask("shop", [0.1])) == 409
    one(right, Drop("shop", numbers[0]))
    assert one(left, Show("shop", "summary")).body["open"][0]["id"] == numbers[1]
    one(right, Drop("shop", numbers[1]))
    assert status(left, Ask("shop", [0.1])) == 201
    for ours, store in zip((left, right), stores, strict=True):
        ours.fleet.catch_up(["shop"])
        assert_is_its_log(ours, store)
        store.close()


def status_of(answer: Any) -> int:
    assert status_code(answer) < 500, answer
    return status_code(answer)


def test_a_writer_that_never_wins_gives_up(file: Store) -> None:
    class Beaten(Counting):
        def append(self, rows: Any, snapshots: Any = (), stages: Any = ()) -> None:
            raise ConflictError

    with pytest.raises(RefusedError, match="too fast") as told:
        one(engine(Beaten(file)), Ask("shop", [0.1]))
    assert told.value.status == 503


def test_the_length_of_a_context_can_be_declared(file: Store) -> None:
    """Else the first one that asks decides how long they are."""
    ours = engine(file, small(context=2))
    with pytest.raises(RefusedError, match="must be of 2 numbers, as the configuration file says"):
        one(ours, Ask("shop", [0.1]))
    assert one(ours, Ask("shop", [0.1, 0.2])).status == 201


def test_a_full_queue_refuses_and_a_stop_answers_what_was_accepted(file: Store) -> None:
    class Slow(Counting):
        """Commits when it is let."""

        def append(self, rows: Any, snapshots: Any = (), stages: Any = ()) -> None:
            let.wait(10)
            super().append(rows, snapshots, stages)

    let = threading.Event()
    ours = engine(Slow(file), queue=3, at_once=1)
    with pytest.raises(RefusedError, match="The service is starting"):
        ours.submit(Ask("shop", [0.1]))
    ours.start()
    assert ours.wait(60)
    answers = [ours.submit(Ask("shop", [0.1]))]
    while ours._queue.qsize():
        pass
    answers += [ours.submit(Ask("shop", [0.1])) for _ in range(3)]
    with pytest.raises(RefusedError, match="3 requests wait already") as told:
        ours.submit(Ask("shop", [0.1]))
    assert told.value.status == 503
    let.set()
    ours.stop()
    assert [answer.result(10).body["id"] for answer in answers] == [0, 1, 2, 3]
    with pytest.raises(RefusedError, match="The service is stopping"):
        ours.submit(Ask("shop", [0.1]))
    assert not ours.ready
    [snapshot] = file.snapshots("shop")
    assert snapshot.seq == len(file.tail("shop")) == 4


def test_a_policy_that_fails_is_told_and_the_rest_of_the_batch_is_done(file: Store) -> None:
    ours = engine(file)
    broken = ours.fleet.held("shop").kind.fold.policy

    def fail(state: Any, t: int, x: Any) -> Any:
        if x[0] > 1:
            raise ZeroDivisionError("of the policy")
        return type(broken).decide(broken, state, t, x)

    object.__setattr__(broken, "decide", fail)
    try:
        found = ours.step([Ask("shop", [0.1]), Ask("shop", [2.0]), Ask("shop", [0.2])])
    finally:
        object.__delattr__(broken, "decide")
    assert [getattr(answer, "status", None) for answer in found] == [201, 500, 201]
    assert "ZeroDivisionError: of the policy" in str(found[1])
    assert_is_its_log(ours, file)


def test_a_restart_reads_a_snapshot_and_not_the_whole_log(file: Store) -> None:
    ours = engine(file, small(snapshot=10))
    for i in range(17):
        one(ours, Ask("shop", [0.1]))
        one(ours, Tell("shop", i, [1.0, 1.0]))
    read: list[int] = []

    class Watched(Counting):
        def tail(self, stream: str, after: int = -1, limit: int | None = None) -> list[Row]:
            read.append(after)
            return self.store.tail(stream, after, limit)

    again = engine(Watched(file), small(snapshot=10))
    assert read[0] == 29
    assert bits(again.fleet.held("shop")) == bits(ours.fleet.held("shop"))
    assert_is_its_log(again, file)


def damage(folder: Path, sql: str) -> None:
    with sqlite3.connect(folder / "log.db") as connection:
        assert connection.execute(sql).rowcount > 0
    connection.close()


def test_a_damaged_snapshot_is_not_used_and_a_damaged_event_is_named(
    file: Store, tmp_path: Path
) -> None:
    ours = engine(file, small(snapshot=4))
    for i in range(6):
        one(ours, Ask("shop", [0.1]))
        one(ours, Tell("shop", i, [1.0, 1.0]))
    before = bits(ours.fleet.held("shop"))
    damage(tmp_path, "UPDATE snapshots SET state = zeroblob(100)")
    again = engine(file, small(snapshot=4))
    assert bits(again.fleet.held("shop")) == before
    damage(tmp_path, "UPDATE events SET body = zeroblob(100) WHERE seq = 5")
    again.fleet.drop_all()
    with pytest.raises(RefusedError, match="Event 5 of stream 'shop': It is damaged") as told:
        one(again, Ask("shop", [0.1]))
    assert told.value.status == 503
    assert one(ours, Ask("shop", [0.1])).status == 201  # what is in memory is sound
    started = engine(file, small(snapshot=4), kind_of("mart", here.problem, here.policy))
    assert status(started, Ask("shop", [0.1])) == 503
    assert status(started, Ask("mart", [0.1])) == 201


def test_overdue_outcomes_are_given_up(file: Store) -> None:
    now = [1000.0]
    ours = engine(file, small(expire=60.0), clock=lambda: now[0])
    one(ours, Ask("shop", [0.1]))
    now[0] += 50
    one(ours, Ask("shop", [0.2]))
    ours._look_for_overdue()
    assert list(ours.fleet.held("shop").live.open) == [0, 1]
    now[0] += 20
    ours._looked = 0.0
    ours._look_for_overdue()
    assert list(ours.fleet.held("shop").live.open) == [1]
    again = engine(file, small(expire=60.0), clock=lambda: now[0])
    assert again.fleet.overdue(now[0] + 100) == [("shop", 1)]
    assert_is_its_log(ours, file)


def play(ours: Engine, stages: int, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(stages):
        number = one(ours, Ask("shop", [float(rng.normal())])).body["id"]
        one(ours, Tell("shop", number, rng.uniform(0.5, 1.5, 2).tolist()))


def test_a_changed_policy_is_refused_until_its_version_is_raised(file: Store) -> None:
    play(engine(file), 5)
    with pytest.raises(RefusedError, match=r"another problem or policy than \[streams.shop\]"):
        engine(file, shop(policy=here.better))
    raised = shop(policy=here.better, version="2")
    ours = engine(file, raised)
    assert ours.fleet.held("shop").live.learned == 5
    play(ours, 3)
    assert_is_its_log(ours, file)
    assert [each.version for each in file.streams()] == ["2"]
    with pytest.raises(RefusedError, match="another problem or policy"):
        engine(file, shop(version="2"))


def test_a_shadow_is_declared_promoted_and_compared_only_from_then_on(file: Store) -> None:
    play(engine(file, small(snapshot=3)), 6)
    shadowed = shop(shadows={"latest": here.latest})
    ours = engine(file, shadowed)
    assert "comparison with latest" not in certificates(ours)
    play(ours, 4, seed=1)
    learned = certificates(ours)["comparison with latest"]["value"]
    assert learned == pytest.approx(np.mean([apart(file, n) for n in range(6, 10)]))
    assert any(apart(file, n) for n in range(6, 10))
    assert_is_its_log(ours, file)
    promoted = shop(shadows={"latest": here.latest}, promote="latest")
    ours = engine(file, promoted)
    state = ours.fleet.held("shop").live.state
    assert int(state.own.outcomes.dropped) == 9
    play(ours, 2, seed=2)
    assert_is_its_log(ours, file)
    assert "comparison with before" in certificates(ours)


def certificates(ours: Engine) -> dict[str, Any]:
    found = one(ours, Show("shop", "certificates")).body["certificates"]
    return {each["name"]: each for each in found}


def apart(store: Store, number: int) -> float:
    """What the only shadow would have paid more for a decision, by the log."""
    decided, observed = (from_bytes(row.body, here.problem) for row in store.about("shop", number))
    assert isinstance(decided, Decided)
    assert isinstance(observed, Observed)
    x, decision, *_ = decided.waiting
    _, [(solution, _)] = decision.memo
    costs = [here.problem.cost(x, z, observed.xi) for z in (solution[0], decision.solution.z)]
    return float(costs[0] - costs[1])


def test_a_stream_begins_like_a_kind_with_a_seed_of_its_own(store: Store) -> None:
    ours = engine(store)
    assert one(ours, Begin("shop-2", "shop", 7)).status == 201
    assert one(ours, Begin("shop-2", "shop", 7)).status == 200
    assert one(ours, Begin("shop-2")).status == 200
    assert one(ours, Ask("shop-2", [0.3])).body["id"] == 0
    assert one(ours, Show("shop-2", "summary")).body["seed"] == 7
    assert store.tail("shop") == []
    assert_is_its_log(ours, store, "shop-2")
    again = engine(store)
    assert one(again, Show("shop-2", "summary")).body["decisions"] == 1


def test_a_long_log_is_a_stream_of_constant_size_in_memory(file: Store) -> None:
    """What is kept of an outcome is what the policy keeps: here a window."""
    ours = engine(file, shop(policy=here.better))
    play(ours, 60)
    first = len(bits(ours.fleet.held("shop")))
    play(ours, 60)
    assert abs(len(bits(ours.fleet.held("shop"))) - first) < 50
    assert folded(file, ours.fleet.held("shop").kind).live.learned == 120


def test_a_database_that_was_stopped_hard_is_found_again(server: tuple[str, str]) -> None:
    url, folder = server
    store = open_store(empty_schema(url))
    ours = engine(store)
    assert status(ours, Ask("shop", [0.1], "a")) == 201
    subprocess.run([SCRIPT, "stop", folder, "immediate"], check=True)
    try:
        for command in (
            Ask("shop", [0.2], "b"),
            Tell("shop", 0, [1.0, 1.0]),
            Show("shop", "summary"),
        ):
            assert status(ours, command) == 503
    finally:
        subprocess.run([SCRIPT, "again", folder], check=True)
    assert status(ours, Ask("shop", [0.1], "a")) == 200
    assert status(ours, Ask("shop", [0.2], "b")) == 201
    assert status(ours, Tell("shop", 0, [1.0, 1.0])) == 201
    assert_is_its_log(ours, store)
    store.close()
