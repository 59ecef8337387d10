"""The file of an agent under every accident: kills, damage, forgery, other configurations."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import schemas
from posteriors import PREDICTOR, knapsack
from posteriors import PROBLEM as REAL
from small_agent import CONTEXT, OUTCOME, PROBLEM, small_agent
from trees import same_bits

from bocopt import Agent, Ensemble, Replay, SampleAverage, checkpoint
from bocopt.beliefs import Belief
from bocopt.checks import LawError, check_policy
from bocopt.file import OwnedError
from bocopt.fingerprint import CHANGES_NO_RESULT, fingerprint
from bocopt.paper import BMA
from bocopt.policies import Constant, ResidualSampleAverage, Shadowed
from bocopt.policies.baselines import NoInfo, Seeded
from bocopt.problems import Knapsack
from bocopt.state import CheckpointError


def test_a_killed_save_leaves_the_old_file_or_the_new(tmp_path: Path) -> None:
    assert_killed_saves_load(tmp_path, kills=4)


@pytest.mark.full
def test_two_hundred_killed_saves(tmp_path: Path) -> None:
    inside = assert_killed_saves_load(tmp_path, kills=200)
    print(f"\n200 kills, {inside} of them while a file was being written: none broken")
    assert inside > 20


# For each line that it reads it forks: starting anew would take many times longer than the saves.
SAVING = """
import os, sys; sys.path[:0] = sys.argv[2:]
from small_agent import *
path, warm = sys.argv[1], small_agent()
warm.observe(warm.decide(CONTEXT).id, OUTCOME)
for _ in sys.stdin:
    if child := os.fork():
        os.waitpid(child, 0)
        print("killed", flush=True)
        continue
    agent = small_agent()
    if os.path.exists(path): agent = Agent.load(path, agent._policy, problem=PROBLEM)
    agent.observe(agent.decide(CONTEXT).id, OUTCOME)
    print(os.getpid(), flush=True)
    while True: agent.observe(agent.decide(CONTEXT).id, OUTCOME); agent.save(path)
"""


def assert_killed_saves_load(folder: Path, kills: int) -> int:
    """SIGKILL a process that saves without pause, at random moments; the file always loads."""
    path, chance = folder / "agent.ckpt", random.Random(0)
    agent = small_agent()
    agent.save(path)
    agent.close()
    stages = inside = 0
    command = [sys.executable, "-c", SAVING, str(path), str(Path(__file__).parents[1])]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as forking:
        assert forking.stdin is not None
        assert forking.stdout is not None
        for _ in range(kills):
            forking.stdin.write(b"\n")
            saving = int(forking.stdout.readline())
            time.sleep(chance.uniform(0, 0.05))
            os.kill(saving, signal.SIGKILL)
            assert forking.stdout.readline() == b"killed\n"
            restored = Agent.load(path, agent._policy, problem=PROBLEM)
            stages_now = int(restored.state.outcomes.size)
            assert stages_now >= stages
            stages = stages_now
            inside += len(list(folder.glob(".*.tmp")))  # it was being written when it was killed
    assert stages > 0
    agent.save(path)
    assert [entry.name for entry in folder.iterdir()] == [path.name]
    return inside


def test_every_flipped_byte_and_every_cut_is_detected(tmp_path: Path) -> None:
    agent = Agent(Constant([1, 1]), problem=PROBLEM)
    agent.decide(CONTEXT)
    path = tmp_path / "agent.ckpt"
    agent.save(path)
    data = path.read_bytes()
    for i in range(len(data)):
        path.write_bytes(data[:i] + bytes([data[i] ^ 0x10]) + data[i + 1 :])
        with pytest.raises(CheckpointError):
            Agent.load(path, agent._policy, problem=PROBLEM)
    for length in range(0, len(data), 7):
        path.write_bytes(data[:length])
        with pytest.raises(CheckpointError):
            Agent.load(path, agent._policy, problem=PROBLEM)


def test_foreign_files_and_other_configurations_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "agent.ckpt"
    path.write_bytes(b"PK\x03\x04 something else")
    policy = SampleAverage(PROBLEM, initial_decision=[0, 0])
    with pytest.raises(CheckpointError, match="is not a bocopt checkpoint"):
        Agent.load(path, policy, problem=PROBLEM)
    small_agent().save(path)
    Agent.load(path, policy, problem=PROBLEM)
    other = Knapsack(value=[12.0] * 2, capacity=[8.0], salvage=[3.0], upper=9, alpha=0.8)
    for wrong in (
        SampleAverage(PROBLEM, initial_decision=[1, 0]),
        SampleAverage(other, initial_decision=[0, 0]),
    ):
        with pytest.raises(CheckpointError, match="another configuration"):
            Agent.load(path, wrong)
    with pytest.raises(CheckpointError, match=r"another configuration.* problem"):
        Agent.load(path, policy, problem=other)
    with pytest.raises(FileNotFoundError):
        Agent.load(tmp_path / "missing", policy, problem=PROBLEM)


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
    agent = Agent(Memoirs(), problem=PROBLEM)
    agent.observe(agent.decide(CONTEXT).id, OUTCOME)
    agent.save(tmp_path / "file")
    with pytest.raises(CheckpointError, match="arrays that fit nowhere"):
        Agent.load(tmp_path / "file", Memoirs(), problem=PROBLEM)
    with pytest.raises(LawError):
        check_policy(Memoirs(), Replay(np.zeros((4, 1)), np.ones((4, 2))), problem=PROBLEM)


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
    agent: Agent[Any] = Agent(Remembers([1, 1]), problem=PROBLEM)
    tickets = [agent.decide([float(t)]).id for t in range(4)]
    agent.observe(tickets[1], OUTCOME)
    agent.save(tmp_path / "agent")
    agent.observe(tickets[2], OUTCOME)
    agent = Agent.load(tmp_path / "agent", Remembers([1, 1]), problem=PROBLEM)
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

    agent = Agent(policy(), problem=REAL)
    agent.observe(agent.decide(np.zeros(3)).id, np.ones(12))
    agent.save(tmp_path / "file")
    loaded = Agent.load(tmp_path / "file", policy(threads=2, early_rejection=False), problem=REAL)
    assert same_bits(loaded.state, agent.state)
    for other in ({"sweeps": 6}, {"size": 30}, {"discount": 0.9}):
        with pytest.raises(CheckpointError, match="another configuration"):
            Agent.load(tmp_path / "file", policy(**other), problem=REAL)


def test_a_checkpoint_of_something_else_is_refused(tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "file", {"other": 1}, {"a": np.zeros(1)})
    with pytest.raises(CheckpointError, match="something else than an agent"):
        Agent.load(tmp_path / "file", small_agent()._policy, problem=PROBLEM)


def test_a_failed_save_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        small_agent().save(tmp_path / "folder")
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


FORGED: dict[str, Any] = {
    "a header that is short": lambda header, arrays: header.pop("t"),
    "time that runs backwards": lambda header, arrays: header.update(t=-1),
    "fewer decisions than outcomes": lambda header, arrays: header.update(t=1),
    "a text as a number": lambda header, arrays: header.update(learned="3"),
    "an id of the future": lambda header, arrays: header.update(closed=[0, 1, 99]),
    "an id twice": lambda header, arrays: header.update(open=[1, 1]),
    "no room": lambda header, arrays: header.update(max_open=0),
    "a seed of no kind": lambda header, arrays: header.update(seed=-4),
    "names of another size": lambda header, arrays: header.update(names={"x": ["a", "b"]}),
    "a name twice": lambda header, arrays: header.update(names={"xi": ["a", "a"]}),
    "names of something else": lambda header, arrays: header.update(names={"z": ["a", "b"]}),
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
    Agent.load(tmp_path / "agent", agent._policy, problem=PROBLEM)
    FORGED[forgery](header, arrays)
    checkpoint.save(tmp_path / "forged", header, arrays)
    with pytest.raises(CheckpointError, match="does not fit"):
        Agent.load(tmp_path / "forged", agent._policy, problem=PROBLEM)


def test_another_schema_is_refused_by_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "SCHEMA", 3)
    small_agent().save(tmp_path / "agent")
    monkeypatch.undo()
    with pytest.raises(
        CheckpointError, match=f"version 3; this bocopt reads version {checkpoint.SCHEMA}"
    ):
        Agent.load(tmp_path / "agent", small_agent()._policy, problem=PROBLEM)


def test_two_agents_do_not_save_to_one_file(tmp_path: Path) -> None:
    one, other = small_agent(), small_agent()
    one.save(tmp_path / "agent")
    with pytest.raises(OwnedError, match="Another agent saves to"):
        other.save(tmp_path / "agent")
    Agent.load(tmp_path / "agent", one._policy, problem=PROBLEM)  # reading is free
    one.close()
    other.save(tmp_path / "agent")


def test_other_states_have_another_number() -> None:
    """Or a checkpoint would be opened, and fail with an array that is not there."""
    average = SampleAverage(PROBLEM)
    lines = set[str]()
    policies: list[Any] = [
        Ensemble(PROBLEM),
        average,
        ResidualSampleAverage(PROBLEM),
        Shadowed(average, {"other": average}),
    ]
    for policy in policies:
        agent = Agent(policy, problem=PROBLEM)
        for _ in range(2):
            agent.observe(agent.decide(CONTEXT).id, OUTCOME)
        agent.decide(CONTEXT)
        header, arrays = agent._kept()
        lines |= set(header)
        for name, value in arrays.items():
            size = value.shape if name.startswith("monitor.") else value.ndim
            lines.add(f"{type(policy).__name__} {name} {value.dtype} {size}")
    digest = sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16]
    assert (checkpoint.SCHEMA, digest) == schemas.latest("checkpoint")


@pytest.mark.parametrize(
    ("policy", "problem", "said"),
    [
        (SampleAverage(PROBLEM, latest=6), PROBLEM, "policy.latest."),
        (Constant([1, 1]), PROBLEM, "policy."),
    ],
)
def test_what_differs_is_named(tmp_path: Path, policy: Any, problem: Any, said: str) -> None:
    path = tmp_path / "agent.bin"
    agent = Agent(SampleAverage(PROBLEM, latest=5))
    agent.save(path)
    agent.close()
    with pytest.raises(CheckpointError, match=f"What differs: {said}$"):
        Agent.load(path, policy, problem=problem)
