"""What an agent knows is a fold of events, through bytes and back, bit for bit."""

from itertools import islice
from typing import Any

import numpy as np
import pytest
from laws import same
from registry import KNAPSACK, STREAM, played_on, policies
from small_agent import CONTEXT, OUTCOME, PROBLEM

from bocopt import Agent, SampleAverage
from bocopt.bounds import exactly
from bocopt.live.events import (
    from_bytes,
    from_snapshot,
    kind_of,
    sealed,
    snapshot_bytes,
    to_bytes,
    unsealed,
)
from bocopt.live.fold import Decided, Event, Fold, Forgotten, Observed, watching
from bocopt.live.record import Live
from bocopt.policies import Constant, Shadowed
from bocopt.state import CheckpointError, leaves


def fold_of(policy: Any, problem: Any = PROBLEM, by: str = "here") -> Fold[Any]:
    return Fold(policy, problem, watching(policy, problem, lately=True), by=by)


def played(fold: Fold[Any], seed: int = 3, stages: int = 8) -> tuple[Live, list[Event]]:
    """Decisions with late outcomes, and one that is given up."""
    live, log = fold.begin(seed), []
    pairs = list(islice(STREAM.stages(np.array(seed)), stages))

    def add(event: Event) -> None:
        nonlocal live
        live, _ = fold.apply(live, event)
        log.append(event)

    for t, (x, _) in enumerate(pairs):
        add(fold.decide(live, fold.context("test", live, x)))
        if t == 3:
            add(Forgotten(t))
        elif t % 2:
            for late in (t, t - 1):
                if late in live.open:
                    add(Observed(late, exactly(pairs[late][1])))
    return live, log


def assert_same(one: Live, other: Live) -> None:
    assert same(one.state, other.state)
    assert same(one.watched or (), other.watched or ())
    assert one.open.keys() == other.open.keys()
    for number, waiting in one.open.items():
        assert same(leaves(waiting), leaves(other.open[number]))
    assert (one.t, one.learned, one.foreign) == (other.t, other.learned, other.foreign)


@pytest.mark.parametrize("name", policies())
def test_a_log_read_back_ends_as_it_was(name: str) -> None:
    """Decisions are not taken again: a policy that cannot decide folds the same log."""
    policy = policies()[name]
    fold = fold_of(policy, played_on(policy))
    live, log = played(fold)
    again = fold.begin(3)
    for event in log:
        again, _ = fold.apply(again, from_bytes(to_bytes(event), fold.problem))
    assert_same(again, live)


@pytest.mark.parametrize("name", policies())
def test_a_snapshot_and_the_rest_of_the_log_are_the_whole(name: str) -> None:
    policy = policies()[name]
    fold = fold_of(policy, played_on(policy))
    live, log = played(fold)
    half = fold.begin(3)
    for event in log[:7]:
        half, _ = fold.apply(half, event)
    data = snapshot_bytes(fold, half)
    half = from_snapshot(data, fold, 3)
    assert snapshot_bytes(fold, half) == data
    for event in log[7:]:
        half, _ = fold.apply(half, event)
    assert_same(half, live)
    assert snapshot_bytes(fold, half) == snapshot_bytes(fold, live)


def test_an_agent_is_the_same_fold() -> None:
    policy = SampleAverage(KNAPSACK)
    fold, agent = fold_of(policy, KNAPSACK), Agent(policy, problem=KNAPSACK, seed=3)
    live, log = played(fold)
    for event in log:
        if isinstance(event, Decided):
            assert agent.decide(event.waiting.x).id == event.number
        elif isinstance(event, Observed):
            agent.observe(event.number, event.seen)
        else:
            agent.forget(event.number)
    assert same(agent.state, live.state)
    assert agent.open_ids == tuple(live.open)


def test_replay_never_decides() -> None:
    class Once(SampleAverage):
        def decide(self, state: Any, t: int, x: Any) -> Any:
            raise AssertionError

    live, log = played(fold_of(SampleAverage(KNAPSACK), KNAPSACK))
    blind = fold_of(Once(KNAPSACK), KNAPSACK)
    again = blind.begin(3)
    for event in log:
        again, _ = blind.apply(again, event)
    assert_same(again, live)


def events() -> list[Event]:
    fold = fold_of(Shadowed(Constant([1, 1]), {"mean": SampleAverage(PROBLEM)}))
    return [fold.decide(fold.begin(0), CONTEXT), Observed(0, exactly(OUTCOME)), Forgotten(0)]


@pytest.mark.parametrize("event", events(), ids=kind_of)
def test_every_flipped_byte_and_every_cut_of_an_event_is_detected(event: Event) -> None:
    data = to_bytes(event)
    from_bytes(data, PROBLEM)
    for i in range(len(data)):
        for bit in (0x01, 0x80):
            with pytest.raises(CheckpointError):
                from_bytes(data[:i] + bytes([data[i] ^ bit]) + data[i + 1 :], PROBLEM)
        with pytest.raises(CheckpointError):
            from_bytes(data[:i], PROBLEM)
    with pytest.raises(CheckpointError):
        from_bytes(data + b"\0", PROBLEM)


def test_every_flipped_byte_and_every_cut_of_a_snapshot_is_detected() -> None:
    fold = fold_of(SampleAverage(PROBLEM, initial_decision=[0, 0]))
    live, _ = fold.apply(fold.begin(0), fold.decide(fold.begin(0), CONTEXT))
    data = snapshot_bytes(fold, live)
    from_snapshot(data, fold, 0)
    for i in range(len(data)):
        with pytest.raises(CheckpointError):
            from_snapshot(data[:i] + bytes([data[i] ^ 0x10]) + data[i + 1 :], fold, 0)
        with pytest.raises(CheckpointError):
            from_snapshot(data[:i], fold, 0)


FORGED: dict[str, Any] = {
    "no kind": lambda header, arrays: header.pop("kind"),
    "another kind": lambda header, arrays: header.update(kind="guess"),
    "a text as a number": lambda header, arrays: header.update(decision="0"),
    "a truth value as a number": lambda header, arrays: header.update(decision=True),
    "a negative number": lambda header, arrays: header.update(decision=-1),
    "a memo of another shape": lambda header, arrays: header.update(memo=[None]),
    "a decision of another size": lambda header, arrays: arrays.update(
        {"open.decision.solution.z": np.zeros(3)}
    ),
    "an unknown status": lambda header, arrays: arrays.update(
        {"open.decision.solution.status": np.array(99)}
    ),
    "an array too few": lambda header, arrays: arrays.pop("open.low"),
}


@pytest.mark.parametrize("forgery", FORGED)
def test_a_forged_event_with_a_right_checksum_is_refused(forgery: str) -> None:
    header, arrays = unsealed(to_bytes(events()[0]))
    FORGED[forgery](header, arrays)
    with pytest.raises(CheckpointError):
        from_bytes(sealed(header, arrays), PROBLEM)


def test_a_snapshot_of_another_configuration_is_refused() -> None:
    fold = fold_of(SampleAverage(PROBLEM))
    data = snapshot_bytes(fold, fold.begin(0))
    with pytest.raises(CheckpointError, match="another configuration"):
        from_snapshot(data, fold_of(SampleAverage(PROBLEM), by="there"), 0)


def test_events_in_another_order_are_refused() -> None:
    fold = fold_of(SampleAverage(PROBLEM, initial_decision=[0, 0]))
    begun = fold.begin(0)
    first = fold.decide(begun, CONTEXT)
    one, _ = fold.apply(begun, first)
    for live, event, message in (
        (one, first, "decision 1, after 0, was due"),
        (begun, Observed(0, exactly(OUTCOME)), "Decision 0 is not open"),
        (begun, Forgotten(0), "Decision 0 is not open"),
    ):
        with pytest.raises(CheckpointError, match=message):
            fold.apply(live, event)
    known, _ = fold.apply(one, Observed(0, exactly(OUTCOME)))
    stale = first._replace(number=1)
    with pytest.raises(CheckpointError, match="after 0 outcomes, stands where decision 1, after 1"):
        fold.apply(known, stale)


def test_another_configuration_learns_from_the_log_by_its_own_decisions() -> None:
    """As it would have been as a shadow; the comparison begins where it is declared."""
    plain = SampleAverage(KNAPSACK)
    both = Shadowed(Constant([1, 1]), {"mean": plain})
    before = fold_of(Constant([1, 1]), KNAPSACK, by="before")
    _, log = played(before)
    after = fold_of(both, KNAPSACK, by="after")
    live = after.begin(3)
    for event in log:
        live, _ = after.apply(live, event)
    shadowed, _ = played(fold_of(both, KNAPSACK, by="after"))
    assert same(live.state.shadows, shadowed.state.shadows)
    assert live.watched is not None
    assert shadowed.watched is not None
    assert same(live.watched[:2], shadowed.watched[:2])
    assert live.learned > 4
    for beside in (2, 3):  # the comparison, and whether it costs more lately
        assert same(live.watched[beside], after.monitor.initial(())[beside])
        assert not same(shadowed.watched[beside], after.monitor.initial(())[beside])


def test_outcomes_need_not_be_remembered() -> None:
    """Where a log answers repetitions: what an agent then knows does not grow."""
    agents = [Agent(Constant([1, 1]), problem=PROBLEM, dedupe_window=n) for n in (0, 2, 4096)]
    for agent in agents:
        for _ in range(4):
            agent.observe(agent.decide(CONTEXT).id, OUTCOME)
    forgets, short, long = agents
    for agent, number in ((forgets, 3), (short, 1)):
        with pytest.raises(ValueError, match="came too long ago"):
            agent.observe(number, OUTCOME)
    assert short.observe(2, OUTCOME) is None
    assert long.observe(0, OUTCOME) is None
