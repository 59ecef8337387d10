"""The engine: what it answers is on the disk, and what it holds is a fold of its log."""

import pickle
from typing import Any

import numpy as np
import pytest
import shop as here
from shop import (
    Counting,
    assert_is_its_log,
    bits,
    cache,
    engine,
    folded,
    one,
    play,
    random_command,
    shop,
    small,
    status_code,
)

from bocopt.app.service.commands import Create, Decide, Forget, Observe, Query, RefusedError, Reply
from bocopt.app.service.stores import EventRow, Store, open_store


def test_decide_learn_repeat(store: Store) -> None:
    ours = engine(store)
    first = one(ours, Decide("shop", [0.5], "a"))
    assert first.status == 201
    assert first.body["z"] == {"z0": 1.0, "z1": 1.0}
    assert (first.body["id"], first.body["status"]) == (0, "GIVEN")
    assert one(ours, Decide("shop", [0.5], "a")) == Reply(200, first.body)
    learned = one(ours, Observe("shop", 0, [1.0, 1.5]))
    assert learned.status == 201
    assert learned.body["feasible"] is True
    assert learned.body["reward"] == -here.problem.cost(
        np.array([0.5]), np.ones(2), np.array([1.0, 1.5])
    )
    assert one(ours, Observe("shop", 0, [1.0, 1.5])).status == 200
    second = one(ours, Decide("shop", [0.1]))
    assert second.body["status"] == "OPTIMAL"
    assert one(ours, Forget("shop", 1)).status == 200
    assert one(ours, Forget("shop", 1)).status == 200
    assert [row.kind for row in store.tail("shop")] == [
        "decision",
        "outcome",
        "decision",
        "forgotten",
    ]
    assert_is_its_log(ours, store)


REFUSED: list[tuple[Any, int, str]] = [
    (Decide("shop", [0.5, 0.1]), 422, "'x' parameter of decisions must be of 1 numbers"),
    (Decide("shop", [float("nan")]), 422, "'x' parameter of decisions must be finite"),
    (Decide("shop", "abc"), 422, "must be an array of numbers"),
    (Decide("shop", [0.6], "a"), 422, "The key 'a' was used for decision 0, which had another"),
    (Decide("none", [0.5]), 404, "There is no stream 'none'"),
    (Decide("shop", [0.5]), 409, "3 decisions of 'shop' wait for their outcome"),
    (Observe("shop", 9, [1.0, 1.0]), 404, "There is no decision 9 of 'shop'"),
    (Observe("shop", 0, [1.0, 2.0]), 409, "Decision 0 already has another outcome"),
    (Observe("shop", 1, [1.0, 1.0]), 409, "Decision 1 was given up"),
    (Observe("shop", 2, [1.0]), 422, "'xi' parameter of outcome must be an array of shape"),
    (Observe("shop", 2, [1.0, float("inf")]), 422, "must be finite"),
    (Forget("shop", 0), 409, "Decision 0 has an outcome, which was learned"),
    (Forget("shop", 7), 404, "There is no decision 7"),
    (Create("other", "shap"), 404, r"No \[cases.shap\] is declared .* Did you mean 'shop'"),
    (Create("shop", "shop", 5), 409, "has begun already, like 'shop' and with the seed 0"),
]


@pytest.mark.parametrize(("command", "code", "message"), REFUSED)
def test_what_is_refused_changes_nothing(
    file: Store, command: Any, code: int, message: str
) -> None:
    ours = engine(file, small(max_open=3))
    for x, key in ((0.5, "a"), (0.1, "b"), (0.1, "c")):
        one(ours, Decide("shop", [x], key))
    one(ours, Observe("shop", 0, [1.0, 1.0]))
    one(ours, Forget("shop", 1))
    for _ in range(2):
        one(ours, Decide("shop", [0.1]))
    before, held = file.tail("shop"), bits(cache(ours).state("shop"))
    with pytest.raises(RefusedError, match=message) as told:
        one(ours, command)
    assert told.value.status == code
    assert file.tail("shop") == before
    assert bits(cache(ours).state("shop")) == held


def test_commands_and_answers_fit_through_a_pipe(file: Store) -> None:
    ours = engine(file)
    commands = [
        Decide("shop", [0.1], "a"),
        Observe("shop", 0, [1.0, 1.0]),
        Query("shop", "summary"),
    ]
    for command in [*commands, Create("two", "shop", 3), Forget("none", 0)]:
        [answer] = ours.step(pickle.loads(pickle.dumps([command])))
        again = pickle.loads(pickle.dumps(answer))
        assert (type(again), again.status, str(again)) == (
            type(answer),
            status_code(answer),
            str(answer),
        )


def test_a_batch_is_one_commit_and_commands_see_those_before_them(file: Store) -> None:
    counted = Counting(file)
    ours = engine(counted)
    answers = ours.step(
        [
            Decide("shop", [0.1], "a"),
            Decide("shop", [0.1], "a"),
            Decide("shop", [0.2], "a"),
            Observe("shop", 0, [1.0, 1.0]),
            Observe("shop", 0, [1.0, 1.0]),
            Observe("shop", 0, [2.0, 1.0]),
            Forget("shop", 0),
            Decide("shop", [0.3], "b"),
            Forget("shop", 1),
            Forget("shop", 1),
        ]
    )
    found = [answer.status for answer in answers if isinstance(answer, Reply | RefusedError)]
    assert found == [201, 200, 422, 201, 200, 409, 409, 201, 200, 200]
    assert counted.appends == 1
    assert len(file.tail("shop")) == 4
    assert_is_its_log(ours, file)


@pytest.mark.parametrize("seed", range(3))
def test_after_any_commands_a_restart_is_where_it_was(url: str, seed: int) -> None:
    store, rng = open_store(url), np.random.default_rng(seed)
    kind = small(snapshot=7)
    ours = engine(store, kind)
    for n in range(1, 15):
        ours.step([random_command(rng, 4 * n) for _ in range(rng.integers(1, 9))])
        if n % 5 == 0:
            before = bits(cache(ours).state("shop"))
            ours = engine(store, kind)  # killed: nothing was saved at the end
            assert bits(cache(ours).state("shop")) == before
    assert_is_its_log(ours, store)
    assert store.last_stage("shop") is not None
    assert len(store.snapshots("shop")) == 2
    store.close()


def test_the_length_of_a_context_can_be_declared(file: Store) -> None:
    """Else the first one that asks decides how long they are."""
    ours = engine(file, small(context=2))
    with pytest.raises(RefusedError, match="must be of 2 numbers, as the configuration file says"):
        one(ours, Decide("shop", [0.1]))
    assert one(ours, Decide("shop", [0.1, 0.2])).status == 201


def test_a_restart_reads_a_snapshot_and_not_the_whole_log(file: Store) -> None:
    ours = engine(file, small(snapshot=10))
    for i in range(17):
        one(ours, Decide("shop", [0.1]))
        one(ours, Observe("shop", i, [1.0, 1.0]))
    read: list[int] = []

    class Watched(Counting):
        def tail(self, stream: str, after: int = -1, limit: int | None = None) -> list[EventRow]:
            read.append(after)
            return self.store.tail(stream, after, limit)

    again = engine(Watched(file), small(snapshot=10))
    assert read[0] == 29
    assert bits(cache(again).state("shop")) == bits(cache(ours).state("shop"))
    assert_is_its_log(again, file)


def test_overdue_outcomes_are_given_up(file: Store) -> None:
    now = [1000.0]
    ours = engine(file, small(expire=60.0), clock=lambda: now[0])
    one(ours, Decide("shop", [0.1]))
    now[0] += 50
    one(ours, Decide("shop", [0.2]))
    assert ours.step([]) == []
    assert list(cache(ours).state("shop").live.open) == [0, 1]
    now[0] += 20
    assert ours.step([]) == []
    assert list(cache(ours).state("shop").live.open) == [1]
    now[0] += 100  # of streams that are not in memory too
    few = engine(file, small(expire=60.0), clock=lambda: now[0], held=1)
    cache(few).drop_all()
    few.step([])
    assert list(cache(few).state("shop").live.open) == []
    cache(ours).drop_all()
    assert_is_its_log(ours, file)


def test_a_stream_begins_like_a_kind_with_a_seed_of_its_own(store: Store) -> None:
    ours = engine(store)
    assert one(ours, Create("shop-2", "shop", 7)).status == 201
    assert one(ours, Create("shop-2", "shop", 7)).status == 200
    assert one(ours, Create("shop-2")).status == 200
    assert one(ours, Decide("shop-2", [0.3])).body["id"] == 0
    assert one(ours, Query("shop-2", "summary")).body["seed"] == 7
    assert store.tail("shop") == []
    assert_is_its_log(ours, store, "shop-2")
    again = engine(store)
    assert one(again, Query("shop-2", "summary")).body["decisions"] == 1


def test_what_is_counted_is_what_is_held(file: Store) -> None:
    """Also where streams leave and come back, and where a commit fails before or after."""
    counting = Counting(file, failing={7: "before", 9: "after", 30: "after"})
    ours, rng = engine(counting, held=3), np.random.default_rng(0)
    streams = ["shop", "a", "b", "c", "d"]
    ours.step([Create(stream, "shop") for stream in streams[1:]])
    for _ in range(60):
        picked = rng.choice(streams, size=rng.integers(1, 4))
        ours.step([random_command(rng, 20, str(stream)) for stream in picked])
        held = cache(ours).all()
        open_now = sum(len(each.live.open) for each in held)
        assert cache(ours).counted({}) == (len(held), open_now)
    assert open_now > 0


def test_a_long_log_is_a_stream_of_constant_size_in_memory(file: Store) -> None:
    """What is kept of an outcome is what the policy keeps: here a window."""
    ours = engine(file, shop(policy=here.better))
    play(ours, 60)
    first = len(bits(cache(ours).state("shop")))
    play(ours, 60)
    assert abs(len(bits(cache(ours).state("shop"))) - first) < 50
    assert folded(file, cache(ours).state("shop").template).live.learned == 120
