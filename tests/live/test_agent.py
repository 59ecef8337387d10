"""The agent against the plain loop, under every schedule; its file under every accident."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from cases import parts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from posteriors import PREDICTOR, knapsack
from posteriors import PROBLEM as REAL
from registry import KNAPSACK, STREAM, policies
from trees import same_bits

from bocopt import BMA, Agent, Constant, Knapsack, Replay, SampleAverage, checkpoint
from bocopt.beliefs import Belief
from bocopt.checks import LawError, check_policy
from bocopt.file import OwnedError
from bocopt.fingerprint import CHANGES_NO_RESULT, fingerprint
from bocopt.policies.baselines import NoInfo, Seeded
from bocopt.state import CheckpointError, leaves

PROBLEM = Knapsack(value=[12.0] * 2, capacity=[8.0], salvage=[3.0], upper=9)
CONTEXT, OUTCOME = np.zeros(1), np.array([1.0, 2.0])

# one step of a schedule: decide, observe one of the open decisions, repeat an outcome, or restart
STEPS = st.lists(
    st.tuples(st.sampled_from(["decide", "observe", "repeat", "restart"]), st.integers(0, 99)),
    min_size=5,
    max_size=30,
)


def small_agent() -> Agent[Any]:
    return Agent(SampleAverage(PROBLEM, first=[0, 0]), PROBLEM, seed=3, max_open=5)


@pytest.mark.parametrize("name", ["BMA", "SAA", "DFL"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
def test_any_schedule_ends_like_the_plain_loop(
    name: str, steps: list[tuple[str, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert_like_the_plain_loop(name, steps, tmp_path_factory.getbasetemp() / "agent.ckpt")


@pytest.mark.full
@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS, name=st.sampled_from(["BMA", "BGS", "SAA", "DFL", "PtO", "Constant"]))
def test_a_thousand_schedules_end_like_the_plain_loop(
    steps: list[tuple[str, int]], name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert_like_the_plain_loop(name, steps, tmp_path_factory.getbasetemp() / "agent.ckpt")


def assert_like_the_plain_loop(name: str, steps: list[tuple[str, int]], path: Path) -> None:
    """The plain loop calls the policy itself, in the same order, and is never restarted."""
    policy, problem, _ = parts("hot", name)
    rng = np.random.default_rng(0)
    agent = Agent(policy, problem, seed=5, max_open=8)
    state: Any = policy.init(np.array(5))
    waiting: dict[int, tuple[Any, Any]] = {}
    seen: dict[int, Any] = {}
    t = 0
    for step, pick in steps:
        if step == "decide" and len(waiting) < 8:
            x = rng.normal(size=3)
            waiting[t] = x, policy.decide(state, t, x)
            ticket = agent.decide(x)
            assert ticket.id == t
            assert (ticket.z == waiting[t][1].solution.z).all()
            t += 1
        elif step == "observe" and waiting:
            number = list(waiting)[pick % len(waiting)]
            seen[number] = rng.uniform(0.5, 1.5, 12)
            state = policy.learn(state, number, *waiting.pop(number), seen[number])
            stage = agent.observe(number, seen[number])
            assert stage is not None
            assert stage.t == number
        elif step == "repeat" and seen:
            number = list(seen)[pick % len(seen)]
            assert agent.observe(number, seen[number]) is None
            with pytest.raises(ValueError, match="already has another outcome"):
                agent.observe(number, seen[number] + 1)
        elif step == "restart":
            agent.save(path)
            agent = Agent.load(path, policy, problem)
    assert same_bits(agent.state, state)
    assert agent.open_ids == tuple(waiting)


def test_a_killed_save_leaves_the_old_file_or_the_new(tmp_path: Path) -> None:
    assert_killed_saves_load(tmp_path, kills=4)


@pytest.mark.full
def test_two_hundred_killed_saves(tmp_path: Path) -> None:
    inside = assert_killed_saves_load(tmp_path, kills=200)
    print(f"\n200 kills, {inside} of them while a file was being written: none broken")
    assert inside > 20


def assert_killed_saves_load(folder: Path, kills: int) -> int:
    """SIGKILL a process that saves without pause, at random moments; the file always loads."""
    path, chance = folder / "agent.ckpt", random.Random(0)
    code = (
        "import sys; sys.path[:0] = sys.argv[2:]; from test_agent import *\n"
        "from bocopt import *; agent = small_agent()\n"
        "if os.path.exists(sys.argv[1]): agent = Agent.load(sys.argv[1], agent._policy, PROBLEM)\n"
        "agent.observe(agent.decide(CONTEXT).id, OUTCOME); print('ready', flush=True)\n"
        "while True: agent.observe(agent.decide(CONTEXT).id, OUTCOME); agent.save(sys.argv[1])"
    )
    agent = small_agent()
    agent.save(path)
    agent.close()
    stages = inside = 0
    for _ in range(kills):
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(path), *map(str, Path(__file__).parents[:2])],
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(chance.uniform(0, 0.05))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        restored = Agent.load(path, agent._policy, PROBLEM)
        stages_now = int(restored.state.outcomes.size)
        assert stages_now >= stages
        stages = stages_now
        inside += len(list(folder.glob(".*.tmp")))  # it was being written when it was killed
    assert stages > 0
    agent.save(path)
    assert [entry.name for entry in folder.iterdir()] == [path.name]
    return inside


def test_every_flipped_byte_and_every_cut_is_detected(tmp_path: Path) -> None:
    agent = Agent(Constant([1, 1]), PROBLEM)
    agent.decide(CONTEXT)
    path = tmp_path / "agent.ckpt"
    agent.save(path)
    data = path.read_bytes()
    for i in range(len(data)):
        path.write_bytes(data[:i] + bytes([data[i] ^ 0x10]) + data[i + 1 :])
        with pytest.raises(CheckpointError):
            Agent.load(path, agent._policy, PROBLEM)
    for length in range(0, len(data), 7):
        path.write_bytes(data[:length])
        with pytest.raises(CheckpointError):
            Agent.load(path, agent._policy, PROBLEM)


def test_foreign_files_and_other_configurations_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "agent.ckpt"
    path.write_bytes(b"PK\x03\x04 something else")
    policy = SampleAverage(PROBLEM, first=[0, 0])
    with pytest.raises(CheckpointError, match="is not a bocopt checkpoint"):
        Agent.load(path, policy, PROBLEM)
    small_agent().save(path)
    Agent.load(path, policy, PROBLEM)
    other = Knapsack(value=[12.0] * 2, capacity=[8.0], salvage=[3.0], upper=9, alpha=0.8)
    for wrong in ((SampleAverage(PROBLEM, first=[1, 0]), PROBLEM), (policy, other)):
        with pytest.raises(CheckpointError, match="another configuration"):
            Agent.load(path, *wrong)
    with pytest.raises(FileNotFoundError):
        Agent.load(tmp_path / "missing", policy, PROBLEM)


class Tale(NamedTuple):
    told: tuple[Any, ...]
    info: NoInfo = NoInfo()


class Memoirs(Constant):
    """Keeps its history in a tuple that grows, which cannot be restored."""

    def __init__(self) -> None:
        super().__init__([1, 1])

    def init(self, seeds: Any) -> Any:
        return Tale(())

    def decide(self, state: Any, t: int, x: Any) -> Any:
        return super().decide(Seeded(np.array(0)), t, x)

    def learn(self, state: Any, t: int, x: Any, decision: Any, xi: Any) -> Any:
        return Tale((*state.told, xi))


def test_a_state_that_does_not_fit_is_refused_not_cut(tmp_path: Path) -> None:
    agent = Agent(Memoirs(), PROBLEM)
    agent.observe(agent.decide(CONTEXT).id, OUTCOME)
    agent.save(tmp_path / "file")
    with pytest.raises(CheckpointError, match="arrays that fit nowhere"):
        Agent.load(tmp_path / "file", Memoirs(), PROBLEM)
    with pytest.raises(LawError):
        check_policy(Memoirs(), PROBLEM, Replay(np.zeros((4, 1)), np.ones((4, 2))))


class Note(NamedTuple):
    x: Any
    more: tuple[Any, ...]


class Remembers(Constant):
    """Checks that learning gets the memo that deciding left, however it is nested."""

    def decide(self, state: Any, t: int, x: Any) -> Any:
        note = Note(x, ((), (np.array(t), np.array([t > 0]))))
        return super().decide(state, t, x)._replace(memo=note)

    def learn(self, state: Any, t: int, x: Any, decision: Any, xi: Any) -> Any:
        note = Note(*decision.memo)
        assert (note.x == x).all()
        assert note.more == ((), (t, [t > 0]))
        return state


def test_a_nested_memo_survives_a_restart(tmp_path: Path) -> None:
    agent: Agent[Any] = Agent(Remembers([1, 1]), PROBLEM)
    tickets = [agent.decide([float(t)]).id for t in range(4)]
    agent.observe(tickets[1], OUTCOME)
    agent.save(tmp_path / "agent")
    agent.observe(tickets[2], OUTCOME)
    agent = Agent.load(tmp_path / "agent", Remembers([1, 1]), PROBLEM)
    for ticket in (tickets[3], tickets[0], tickets[2]):
        assert agent.observe(ticket, OUTCOME) is not None


@dataclass(frozen=True)
class Worker:
    accuracy: int = 3
    threads: int = field(default=1, metadata=CHANGES_NO_RESULT)
    steps: int = field(default=1, metadata={"changes": "the result"})


def test_fingerprints_do_not_see_what_changes_no_result() -> None:
    assert fingerprint(Worker(threads=8)) == fingerprint(Worker())
    assert fingerprint((Worker(threads=8), 1)) == fingerprint((Worker(), 1))
    assert fingerprint(Worker(accuracy=4)) != fingerprint(Worker())
    assert fingerprint(Worker(steps=2)) != fingerprint(Worker())


def test_a_checkpoint_does_not_depend_on_how_fast_it_was_computed(tmp_path: Path) -> None:
    def policy(**options: Any) -> BMA[Belief]:
        return BMA(REAL, PREDICTOR, knapsack(**options))

    agent = Agent(policy(), REAL)
    agent.observe(agent.decide(np.zeros(3)).id, np.ones(12))
    agent.save(tmp_path / "file")
    loaded = Agent.load(tmp_path / "file", policy(threads=2, early_rejection=False), REAL)
    assert same_bits(loaded.state, agent.state)
    for other in ({"sweeps": 6}, {"size": 30}, {"discount": 0.9}):
        with pytest.raises(CheckpointError, match="another configuration"):
            Agent.load(tmp_path / "file", policy(**other), REAL)


def test_a_checkpoint_of_something_else_is_refused(tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "file", {"other": 1}, {"a": np.zeros(1)})
    with pytest.raises(CheckpointError, match="something else than an agent"):
        Agent.load(tmp_path / "file", small_agent()._policy, PROBLEM)


def test_a_failed_save_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        small_agent().save(tmp_path / "folder")
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


def test_bad_calls_change_nothing(tmp_path: Path) -> None:
    agent = small_agent()
    first = agent.decide(CONTEXT)
    agent.observe(first.id, OUTCOME)
    for _ in range(5):
        agent.decide(CONTEXT)
    agent.save(tmp_path / "before")
    for call, message in (
        (lambda: agent.decide(CONTEXT), "5 decisions wait for their outcome"),
        (lambda: agent.observe(77, OUTCOME), "no decision with id 77; the last one was 5"),
        (lambda: agent.observe(6, OUTCOME), "no decision with id 6; the last one was 5"),
        (lambda: agent.observe(-1, OUTCOME), "no decision with id -1"),
        (lambda: agent.observe(2, [1.0, np.nan]), "'xi' parameter of Agent.observe must be finite"),
        (lambda: agent.observe(2, [1.0]), "must be an array of shape"),
        (lambda: agent.observe(2, np.ones((3, 2))), "must be one outcome"),
        (lambda: agent.observe(0, [9.0, 9.0]), "Decision 0 already has another outcome"),
        (lambda: agent.forget(0), "No decision with id 0 is open"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    agent.forget(3)
    with pytest.raises(ValueError, match="Decision 3 was forgotten"):
        agent.observe(3, OUTCOME)
    for x, message in (([np.inf], "must be finite"), (np.ones((2, 1)), "must be one context")):
        with pytest.raises(ValueError, match=message):
            agent.decide(x)
    assert agent.open_ids == (1, 2, 4, 5)
    agent.save(tmp_path / "after")
    restored = Agent.load(tmp_path / "before", agent._policy, PROBLEM)
    assert same_bits(restored.state, agent.state)


def test_a_context_of_another_length_is_refused_at_once() -> None:
    agent = Agent(Constant([1, 1]), PROBLEM)
    ticket = agent.decide([1.0, 2.0])
    for wrong in ([1.0], [1.0, 2.0, 3.0], []):
        with pytest.raises(ValueError, match="must be of 2 numbers, as the contexts before it"):
            agent.decide(wrong)
    agent.observe(ticket.id, OUTCOME)
    with pytest.raises(ValueError, match="must be of 2 numbers"):
        agent.decide([1.0])
    assert agent.decide([3.0, 4.0]).id == 1


@pytest.mark.parametrize("wrong", [3.0, None, "x", Constant])
def test_something_else_where_a_policy_or_a_problem_belongs_is_named(wrong: Any) -> None:
    with pytest.raises(ValueError, match="'policy' parameter of Agent must be a Policy"):
        Agent(wrong, PROBLEM)
    with pytest.raises(ValueError, match="'problem' parameter of Agent must be a Problem"):
        Agent(Constant([1, 1]), wrong)


def test_a_decision_that_is_not_a_number_gives_no_ticket() -> None:
    class Lost(Constant):
        def decide(self, state: Any, t: int, x: Any) -> Any:
            decision = super().decide(state, t, x)
            return decision._replace(solution=decision.solution._replace(z=np.full(2, np.nan)))

    agent = Agent(Lost([1, 1]), PROBLEM)
    with pytest.raises(ValueError, match=r"'z' that Lost.decide returned must be finite"):
        agent.decide(CONTEXT)
    assert agent.open_ids == ()


def test_old_outcomes_are_forgotten_but_not_mistaken() -> None:
    agent = Agent(Constant([1, 1]), PROBLEM)
    for _ in range(4200):
        agent.observe(agent.decide(CONTEXT).id, OUTCOME)
    assert agent.observe(4199, OUTCOME) is None
    with pytest.raises(ValueError, match="too long ago"):
        agent.observe(3, OUTCOME)


def test_threads_share_an_agent() -> None:
    agent: Agent[Any] = Agent(SampleAverage(PROBLEM, first=[0, 0]), PROBLEM)
    seen: list[int] = []
    raised: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(60):
                ticket = agent.decide(CONTEXT)
                seen.append(ticket.id)
                agent.observe(ticket.id, OUTCOME)
                agent.observe(ticket.id, OUTCOME)
        except BaseException as error:
            raised.append(error)

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=work) for _ in range(4)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    assert raised == []
    assert sorted(seen) == list(range(240))
    assert int(agent.state.outcomes.size) == 240
    assert agent.open_ids == ()


@pytest.mark.parametrize("name", policies())
def test_nothing_that_an_agent_shows_or_is_shown_can_change_it(name: str) -> None:
    policy = policies()[name]
    agent, watched = Agent(policy, KNAPSACK), Agent(policy, KNAPSACK)
    for x, xi in islice(STREAM.stages(np.array(0)), 4):
        mine, given = x.copy(), xi.copy()
        ticket = agent.decide(mine)
        mine[...] = 7.0
        with pytest.raises(ValueError, match="read-only"):
            ticket.z[...] = 9.0
        stage = agent.observe(ticket.id, given)
        given[...] = 7.0
        assert stage is not None
        shown = [leaf for leaf in leaves((stage.x, stage.xi, stage.decision)) if leaf.size]
        shown += [a for a in (*stage.info.values(), *leaves(agent.state)) if a.size]
        for array in shown:
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 7.0
        watched.observe(watched.decide(x).id, xi)
    assert same_bits(agent.state, watched.state)
    branch = policy.learn(agent.state, 4, x, policy.decide(agent.state, 4, x), 2 * xi)
    assert same_bits(agent.state, watched.state)
    learns = name not in ("Constant", "Frozen", "ConditionalOptimum")
    assert learns != same_bits(branch, agent.state)


def test_an_interrupt_at_any_line_leaves_the_old_or_the_new() -> None:
    """Raise at every line in turn: after it the outcome is open, or it is learned."""
    for line in range(1000):
        agent = small_agent()
        ticket = agent.decide(CONTEXT)
        lines = iter(range(line))

        def trace(frame: Any, event: str, _: Any, lines: Any = lines) -> Any:
            if frame.f_code.co_filename.endswith("live/agent.py"):
                if event == "line" and next(lines, None) is None:
                    raise KeyboardInterrupt
                return trace
            return None

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            agent.observe(ticket.id, OUTCOME)
        except KeyboardInterrupt:
            pass
        else:
            break
        finally:
            sys.settrace(before)
        learned = int(agent.state.outcomes.size)
        assert (agent.open_ids == ()) == (learned == 1)
        assert (agent.monitor.states is None) == (learned == 0)
        again = agent.observe(ticket.id, OUTCOME)
        assert (again is None) == (learned == 1)
        assert int(agent.state.outcomes.size) == 1
    assert line > 10
    with pytest.raises(ValueError, match="must be finite"):  # nothing is left behind
        PROBLEM.cost(CONTEXT, np.zeros(2), np.full(2, np.nan))


FORGED: dict[str, Any] = {
    "a header that is short": lambda header, arrays: header.pop("t"),
    "time that runs backwards": lambda header, arrays: header.update(t=-1),
    "fewer decisions than outcomes": lambda header, arrays: header.update(t=1),
    "a text as a number": lambda header, arrays: header.update(learned="3"),
    "an id of the future": lambda header, arrays: header.update(closed=[0, 1, 99]),
    "an id twice": lambda header, arrays: header.update(open=[1, 1]),
    "no room": lambda header, arrays: header.update(max_open=0),
    "a seed of no kind": lambda header, arrays: header.update(seed=-4),
    "an unknown status": lambda header, arrays: arrays.update(
        {"open.3.decision.solution.status": np.array(77)}
    ),
    "a decision of another size": lambda header, arrays: arrays.update(
        {"open.3.decision.solution.z": np.zeros(3)}
    ),
    "a decision that is not a number": lambda header, arrays: arrays.update(
        {"open.3.decision.solution.z": np.full(2, np.nan)}
    ),
    "a context that is not finite": lambda header, arrays: arrays.update(
        {"open.3.x": np.array([np.inf])}
    ),
    "one who knew the future": lambda header, arrays: arrays.update(
        {"open.3.learned": np.array(50)}
    ),
    "a memo of another shape": lambda header, arrays: header.update(memo=[[None], []]),
    "outcomes of another size": lambda header, arrays: arrays.update(outcomes=np.ones((3, 5))),
    "outcomes that are not numbers": lambda header, arrays: arrays.update(
        outcomes=np.full((3, 2), np.nan)
    ),
    "a state of other numbers": lambda header, arrays: arrays.update(
        {"state.outcomes.buffer": np.ones((16, 2), np.int64)}
    ),
    "a state of other axes": lambda header, arrays: arrays.update(
        {"state.outcomes.buffer": np.ones(16)}
    ),
    "a state of another size": lambda header, arrays: arrays.update(
        {"state.outcomes.buffer": np.ones((16, 3))}
    ),
    "a state that points nowhere": lambda header, arrays: arrays.update(
        {"state.outcomes.start": np.array(400)}
    ),
    "a state that is not a number": lambda header, arrays: arrays.update(
        {"state.outcomes.buffer": np.full((16, 2), np.nan)}
    ),
    "an array too few": lambda header, arrays: arrays.pop("monitor.1.late"),
    "an array too many": lambda header, arrays: arrays.update(more=np.zeros(1)),
    "another agent's array": lambda header, arrays: arrays.update({"open.9.x": np.zeros(1)}),
}


@pytest.mark.parametrize("forgery", FORGED)
def test_a_forged_checkpoint_is_refused(forgery: str, tmp_path: Path) -> None:
    agent = small_agent()
    tickets = [agent.decide(CONTEXT).id for _ in range(5)]
    for ticket in tickets[:3]:
        agent.observe(ticket, OUTCOME + ticket)
    agent.save(tmp_path / "agent")
    header, arrays = checkpoint.load(tmp_path / "agent")
    Agent.load(tmp_path / "agent", agent._policy, PROBLEM)
    FORGED[forgery](header, arrays)
    checkpoint.save(tmp_path / "forged", header, arrays)
    with pytest.raises(CheckpointError, match="does not fit"):
        Agent.load(tmp_path / "forged", agent._policy, PROBLEM)


def test_another_schema_is_refused_by_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "SCHEMA", 2)
    small_agent().save(tmp_path / "agent")
    monkeypatch.undo()
    with pytest.raises(CheckpointError, match="has schema version 2; this bocopt reads version 3"):
        Agent.load(tmp_path / "agent", small_agent()._policy, PROBLEM)


def test_two_agents_do_not_save_to_one_file(tmp_path: Path) -> None:
    one, other = small_agent(), small_agent()
    one.save(tmp_path / "agent")
    with pytest.raises(OwnedError, match="Another agent saves to"):
        other.save(tmp_path / "agent")
    Agent.load(tmp_path / "agent", one._policy, PROBLEM)  # reading is free
    one.close()
    other.save(tmp_path / "agent")
