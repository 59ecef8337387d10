"""A history taught: what a policy knows is as if it had lived it, and nobody decided anything."""

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fleets import assert_same_live, assert_same_stage, same
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from registry import KNAPSACK, STREAM, played_on, policies
from small_agent import CONTEXT, OUTCOME, PROBLEM, small_agent

from bocopt import Agent, Ensemble, Monitor, SampleAverage, checkpoint
from bocopt.app.features.series import Series
from bocopt.app.playing.play import play
from bocopt.bounds import exactly
from bocopt.core import Array
from bocopt.guarantees import BestArm
from bocopt.live.events import (
    from_bytes,
    from_snapshot,
    sealed,
    snapshot_bytes,
    to_bytes,
    unsealed,
)
from bocopt.live.fold import Event, Fold, Forgotten, Observed, Taught, watching
from bocopt.live.record import Live
from bocopt.live.stacked import StackedFold
from bocopt.policies import Constant, Shadowed
from bocopt.state import CheckpointError

ROWS = 5


def table(rows: int = ROWS, seed: int = 0) -> tuple[Array, Array]:
    x, xi = zip(*islice(STREAM.stages(np.array(seed)), rows), strict=True)
    return np.array(x), np.array(xi)


def agent_of(name: str) -> Agent[Any]:
    policy = policies()[name]
    return Agent(policy, problem=played_on(policy), seed=3)


def lived(agent: Agent[Any], x: Array, xi: Array) -> Agent[Any]:
    for context, outcome in zip(x, xi, strict=True):
        agent.observe(agent.decide(context).id, outcome)
    return agent


def assert_goes_on_like(one: Agent[Any], other: Agent[Any]) -> None:
    """States, and what follows from them: a decision, all that it keeps, and the next lesson."""
    assert same(one.state, other.state)
    x, xi = table(2, seed=9)
    tickets = one.decide(x[0]), other.decide(x[0])
    assert same(tickets[0][1:], tickets[1][1:])
    waiting = one._live.open[tickets[0].id], other._live.open[tickets[1].id]
    assert same(waiting[0].decision, waiting[1].decision)
    stages = one.observe(tickets[0].id, xi[0]), other.observe(tickets[1].id, xi[0])
    assert stages[0] is not None
    assert stages[1] is not None
    assert_same_stage(stages[0], stages[1]._replace(t=stages[0].t))
    assert same(one.state, other.state)


@pytest.mark.parametrize("name", policies())
def test_an_agent_that_was_taught_a_table_is_one_that_lived_it(name: str, tmp_path: Path) -> None:
    x, xi = table()
    taught = agent_of(name)
    taught.teach(x, xi)
    assert (taught.taught, taught.open_ids, taught.monitor.states) == (ROWS, (), None)
    in_chunks = agent_of(name)
    for part in (slice(0, 2), slice(2, 2), slice(2, 4)):
        in_chunks.teach(x[part], xi[part])
    in_chunks.teach(x[4], xi[4])
    assert same(in_chunks.state, taught.state)
    taught.save(tmp_path / "agent")
    policy = policies()[name]
    loaded = Agent.load(tmp_path / "agent", policy, problem=played_on(policy))
    assert (loaded.taught, loaded.open_ids, loaded.monitor.states) == (ROWS, (), None)
    assert_goes_on_like(lived(agent_of(name), x, xi), taught)
    assert_goes_on_like(lived(agent_of(name), x, xi), loaded)


@pytest.mark.parametrize("name", ["BMA", "SampleAverage", "Ensemble"])
def test_the_monitor_is_as_before_teaching(name: str) -> None:
    policy = Shadowed(policies()[name], {"other": SampleAverage(KNAPSACK, latest=2)})
    agent = Agent(policy, problem=KNAPSACK, seed=3)
    x, xi = table()
    lived(agent, x[:2], xi[:2])
    before = agent.monitor.states
    agent.teach(x[2:], xi[2:])
    assert same(agent.monitor.states, before)
    assert [each.words() for each in agent.monitor.certificates()]
    ticket = agent.decide(x[0])
    stage = agent.observe(ticket.id, xi[0])
    assert stage is not None
    assert (ticket.id, stage.t) == (2, 2)  # ids count decisions, and lessons are none
    assert "came late" not in str(agent.monitor)
    assert [int(states.t) for states in agent.monitor.states or () if hasattr(states, "t")] == [3]


def test_what_needs_every_stage_says_that_some_were_not_watched() -> None:
    policy = Ensemble(KNAPSACK, selection="sample")
    agent = Agent(policy, problem=KNAPSACK, monitor=Monitor(KNAPSACK, [BestArm()]))
    agent.teach(*table())
    lived(agent, *table(2, seed=1))
    best = agent.monitor.certificates()[-1]
    assert not best.applicable
    assert "stages that were not watched" in best.note


def test_a_table_that_is_taught_is_the_end_of_its_backtest() -> None:
    x, xi = table(12)
    series = Series(
        time=tuple(map(str, range(12))),
        x=x,
        x_names=("a", "b", "c"),
        xi=xi,
        xi_names=("d", "e"),
        arrives=np.arange(1, 13),
        now=None,
        lines=np.arange(12),
        notes=(),
    )
    for name in ("SampleAverage", "BMA", "Ensemble"):
        _, end = play(policies()[name], KNAPSACK, series, seed=3)
        taught = Agent(policies()[name], problem=KNAPSACK, seed=3, hindsight=False)
        taught.teach(series.x, series.xi)
        assert_goes_on_like(end, taught)


BROKEN: dict[str, tuple[Any, Any, str]] = {
    "an outcome that is missing": ([[0.1]] * 2, [[1, 1], [1, np.nan]], "'xi' .* must be finite"),
    "a context that is missing": ([[0.1], [np.nan]], [[1, 1]] * 2, "'x' .* must be finite"),
    "an infinite context": ([[0.1], [np.inf]], [[1, 1]] * 2, "'x' .* must be finite"),
    "a short outcome": ([[0.1]] * 2, [[1], [1]], "'xi' .* must be an array of shape"),
    "a wide context": ([[0.1, 0.2]] * 2, [[1, 1]] * 2, "must be of 1 numbers, as the contexts"),
    "an outcome too few": ([[0.1]] * 3, [[1, 1]] * 2, "must be 3 outcomes, one a row of x"),
    "an outcome for all": ([[0.1]] * 3, [1, 1], "must be 3 outcomes, one a row of x"),
    "outcomes for one": ([0.1], [[1, 1]], "must be one outcome of x"),
    "words": ([["a"]], [[1, 1]], "must be an array of numbers"),
    "a table of tables": ([[[0.1]]], [[[1, 1]]], r"must be \(k\) or \(T, k\)"),
    "nothing": (None, None, "must be an array of numbers"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_row_changes_nothing(broken: str, tmp_path: Path) -> None:
    x, xi, message = BROKEN[broken]
    agent = small_agent()
    agent.teach([[0.1]], [[1, 1]])
    before = agent._live
    with pytest.raises(ValueError, match=message):
        agent.teach(x, xi)
    assert agent._live is before


def test_a_policy_that_fails_has_learned_nothing() -> None:
    class Fails(SampleAverage):
        def learn(self, state: Any, t: int, x: Any, decision: Any, xi: Any) -> Any:
            if t == 3:
                raise RuntimeError
            return super().learn(state, t, x, decision, xi)

    x, xi = np.zeros((5, 1)), np.arange(10.0).reshape(5, 2)
    agent, other = (Agent(Fails(PROBLEM)) for _ in range(2))
    agent.teach(x[:1], xi[:1])
    with pytest.raises(RuntimeError):
        agent.teach(x[1:], xi[1:])
    other.teach(x[:1], xi[:1])
    assert agent.taught == 1
    for each in (agent, other):
        each.teach(x[1:3], xi[3:])
    assert same(agent.state, other.state)


def test_open_decisions_come_first() -> None:
    """Their outcome belongs to what the policy knew when it decided."""
    agent = small_agent()
    ticket = agent.decide(CONTEXT)
    with pytest.raises(ValueError, match="1 decisions wait for their outcome"):
        agent.teach([CONTEXT], [OUTCOME])
    assert agent.taught == 0
    agent.forget(ticket.id)
    agent.teach([CONTEXT], [OUTCOME])
    with pytest.raises(ValueError, match="no decision with id 1; the last one was 0"):
        agent.observe(1, OUTCOME)
    assert agent.decide(CONTEXT).id == 1


def test_what_was_taught_can_be_changed_by_nobody() -> None:
    agent = small_agent()
    x, xi = np.zeros((3, 1)), np.ones((3, 2))
    agent.teach(x, xi)
    other = small_agent()
    other.teach(x.copy(), xi.copy())
    x[...] = xi[...] = 7.0
    assert same(agent.state, other.state)
    assert agent._live.last is not None
    assert all(part.base is None or part.base.size == part.size for part in agent._live.last)


STEPS = st.lists(st.sampled_from(["decide", "observe", "forget", "teach"]), max_size=25)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS, name=st.sampled_from(["SampleAverage", "BMA", "DFL"]))
def test_any_schedule_is_its_log(steps: list[str], name: str) -> None:
    """The plain loop beside it counts stages on its own; through bytes, snapshots and a file."""
    policy = policies()[name]
    fold = Fold(policy, KNAPSACK, watching(policy, KNAPSACK), by="here")
    live, log = fold.begin(3), list[Event]()
    state: Any = policy.init(np.array(3))
    waiting: dict[int, tuple[int, Array, Any]] = {}
    rng, stage = np.random.default_rng(0), 0
    for step in steps:
        x, xi = rng.normal(size=3), rng.uniform(0.5, 1.5, 2)
        if step == "teach" and not live.open:
            state = policy.learn(state, stage, x, policy.decide(state, stage, x), xi)
            event: Event = fold.teach(live, x, xi)
            stage += 1
        elif step == "decide":
            waiting[live.t] = stage, x, policy.decide(state, stage, x)
            event = fold.decide(live, x)
            stage += 1
        elif step in ("observe", "forget") and waiting:
            number = next(iter(waiting))
            at, then, decision = waiting.pop(number)
            event = Forgotten(number)
            if step == "observe":
                state = policy.learn(state, at, then, decision, xi)
                event = Observed(number, exactly(xi))
        else:
            continue
        live, _ = fold.apply(live, event)
        log.append(event)
    assert same(live.state, state)
    assert (live.stage, tuple(live.open)) == (stage, tuple(waiting))
    again, half = fold.begin(3), len(log) // 2
    for event in log[:half]:
        again, _ = fold.apply(again, from_bytes(to_bytes(event), KNAPSACK))
    again = from_snapshot(snapshot_bytes(fold, again), fold, 3)
    for event in log[half:]:
        again, _ = fold.apply(again, from_bytes(to_bytes(event), KNAPSACK))
    assert_same_live(again, live)
    assert snapshot_bytes(fold, again) == snapshot_bytes(fold, live)


def test_a_log_with_lessons_is_read_back_without_deciding() -> None:
    class Once(SampleAverage):
        def decide(self, state: Any, t: int, x: Any) -> Any:
            raise AssertionError

    lives = list[Live]()
    events = list[Event]()
    for policy in (SampleAverage(KNAPSACK), Once(KNAPSACK)):
        fold = Fold(policy, KNAPSACK, watching(policy, KNAPSACK), by="here")
        live = fold.begin(3)
        for i, (x, xi) in enumerate(zip(*table(), strict=True)):
            if len(events) <= i:
                events.append(fold.teach(live, x, xi))
            live, _ = fold.apply(live, events[i])
        lives.append(live)
    assert_same_live(*lives)


def test_another_configuration_learns_lessons_by_its_own_decisions() -> None:
    x, xi = table()
    before, after = Constant([1, 1]), policies()["BMA"]
    folds = [
        Fold(policy, KNAPSACK, watching(policy, KNAPSACK), by=by)
        for policy, by in ((before, "before"), (after, "after"))
    ]
    lives = [fold.begin(3) for fold in folds]
    for row in zip(x, xi, strict=True):
        event = folds[0].teach(lives[0], *row)
        lives = [fold.apply(live, event)[0] for fold, live in zip(folds, lives, strict=True)]
    agent = agent_of("BMA")
    agent.teach(x, xi)
    assert same(lives[1].state, agent.state)


def test_lessons_in_another_order_are_refused() -> None:
    fold = Fold(Constant([1, 1]), PROBLEM, watching(Constant([1, 1]), PROBLEM))
    begun = fold.begin(0)
    lesson, first = fold.teach(begun, CONTEXT, OUTCOME), fold.decide(begun, CONTEXT)
    taught, _ = fold.apply(begun, lesson)
    opened, _ = fold.apply(begun, first)
    for live, event, message in (
        (taught, lesson, "Lesson 0 stands where 1 was due"),
        (opened, lesson, "Lesson 0 stands where decisions were open"),
        (taught, first, "Decision 0 knew 0 lessons of 1"),
    ):
        with pytest.raises(CheckpointError, match=message):
            fold.apply(live, event)


FORGED: dict[str, Any] = {
    "no number": lambda header, arrays: header.pop("lesson"),
    "a number of the past": lambda header, arrays: header.update(lesson=-1),
    "another kind": lambda header, arrays: header.update(kind="outcome"),
    "a memo of another shape": lambda header, arrays: header.update(memo=[None]),
    "no outcome": lambda header, arrays: arrays.pop("xi"),
    "an outcome of another size": lambda header, arrays: arrays.update(xi=np.zeros(3)),
    "a context of other axes": lambda header, arrays: arrays.update(x=np.zeros((1, 1))),
    "a decision of another size": lambda header, arrays: arrays.update(
        {"own.solution.z": np.zeros(3)}
    ),
    "an array too many": lambda header, arrays: arrays.update(more=np.zeros(1)),
}


@pytest.mark.parametrize("forgery", FORGED)
def test_a_forged_lesson_with_a_right_checksum_is_refused(forgery: str) -> None:
    fold = Fold(SampleAverage(PROBLEM), PROBLEM, watching(SampleAverage(PROBLEM), PROBLEM))
    data = to_bytes(fold.teach(fold.begin(0), CONTEXT, OUTCOME))
    assert isinstance(from_bytes(data, PROBLEM), Taught)
    header, arrays = unsealed(data)
    FORGED[forgery](header, arrays)
    with pytest.raises(CheckpointError):
        from_bytes(sealed(header, arrays), PROBLEM)


def test_a_checkpoint_with_other_lessons_is_refused(tmp_path: Path) -> None:
    agent = small_agent()
    agent.teach([CONTEXT], [OUTCOME])
    agent.decide(CONTEXT)
    agent.save(tmp_path / "agent")
    header, arrays = checkpoint.load(tmp_path / "agent")
    for wrong in ({"taught": 2}, {"taught": -1}, {"taught": "1"}):
        checkpoint.save(tmp_path / "forged", header | wrong, arrays)
        with pytest.raises(CheckpointError, match="does not fit"):
            Agent.load(tmp_path / "forged", agent._policy, problem=PROBLEM)


@pytest.mark.parametrize("name", ["BMA", "SampleAverage", "Ensemble"])
def test_streams_that_were_taught_are_played_together_as_alone(name: str) -> None:
    """Some were taught, some lived as much: they can be stacked, each at its own stage."""
    policy = policies()[name]
    fold = Fold(policy, KNAPSACK, watching(policy, KNAPSACK))
    x, xi = table(6)
    lives = list[Live]()
    for seed in range(4):
        live = fold.begin(seed)
        for row in zip(x, xi, strict=True):
            if seed % 2:
                live, _ = fold.apply(live, fold.teach(live, *row))
            else:
                live, _ = fold.apply(live, fold.decide(live, row[0]))
                live, _ = fold.apply(live, Observed(live.t - 1, exactly(row[1])))
        lives.append(live)
    together = StackedFold(fold)
    alone = [fold.decide(live, x[0]) for live in lives]
    for one, other in zip(alone, together.decide(lives, [x[0]] * 4), strict=True):
        assert not isinstance(other, Exception)
        assert same(one[:2], other[:2])
    lives = [fold.apply(live, event)[0] for live, event in zip(lives, alone, strict=True)]
    outcomes = [Observed(event.number, exactly(xi[0])) for event in alone]
    found = together.observe(lives, outcomes)
    for live, outcome, both in zip(lives, outcomes, found, strict=True):
        assert not isinstance(both, Exception), both
        after, stage = fold.apply(live, outcome)
        assert stage is not None
        assert_same_live(after, both[0])
        assert_same_stage(stage, both[1])
