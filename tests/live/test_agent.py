"""The agent against the plain loop, under every schedule; bad calls, threads and interrupts."""

import sys
import threading
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import parts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from registry import STREAM, played_on, policies
from small_agent import CONTEXT, OUTCOME, PROBLEM, small_agent
from trees import same_bits

from bocopt import Agent, SampleAverage
from bocopt.policies import Constant
from bocopt.state import leaves

# one step of a schedule: decide, observe one of the open decisions, repeat an outcome, or restart
STEPS = st.lists(
    st.tuples(st.sampled_from(["decide", "observe", "repeat", "restart"]), st.integers(0, 99)),
    min_size=5,
    max_size=30,
)


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
    agent = Agent(policy, problem=problem, seed=5, max_open=8)
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
            agent = Agent.load(path, policy, problem=problem)
    assert same_bits(agent.state, state)
    assert agent.open_ids == tuple(waiting)


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
    restored = Agent.load(tmp_path / "before", agent._policy, problem=PROBLEM)
    assert same_bits(restored.state, agent.state)


def test_a_context_of_another_length_is_refused_at_once() -> None:
    agent = Agent(Constant([1, 1]), problem=PROBLEM)
    ticket = agent.decide([1.0, 2.0])
    for wrong in ([1.0], [1.0, 2.0, 3.0], []):
        with pytest.raises(ValueError, match="must be of 2 numbers, as the contexts before it"):
            agent.decide(wrong)
    agent.observe(ticket.id, OUTCOME)
    with pytest.raises(ValueError, match="must be of 2 numbers"):
        agent.decide([1.0])
    assert agent.decide([3.0, 4.0]).id == 1


@pytest.mark.parametrize("wrong", [3.0, [], "x", Constant])
def test_something_else_where_a_policy_or_a_problem_belongs_is_named(wrong: Any) -> None:
    with pytest.raises(ValueError, match="'policy' parameter of Agent must be a Policy"):
        Agent(wrong, problem=PROBLEM)
    with pytest.raises(ValueError, match="'problem' parameter of Agent must be a Problem"):
        Agent(Constant([1, 1]), problem=wrong)


def test_a_decision_that_is_not_a_number_gives_no_ticket() -> None:
    class Lost(Constant):
        def decide(self, state: Any, t: int, x: Any) -> Any:
            decision = super().decide(state, t, x)
            return decision._replace(solution=decision.solution._replace(z=np.full(2, np.nan)))

    agent = Agent(Lost([1, 1]), problem=PROBLEM)
    with pytest.raises(ValueError, match=r"'z' that Lost.decide returned must be finite"):
        agent.decide(CONTEXT)
    assert agent.open_ids == ()


def test_old_outcomes_are_forgotten_but_not_mistaken() -> None:
    agent = Agent(Constant([1, 1]), problem=PROBLEM)
    for _ in range(4200):
        agent.observe(agent.decide(CONTEXT).id, OUTCOME)
    assert agent.observe(4199, OUTCOME) is None
    with pytest.raises(ValueError, match="too long ago"):
        agent.observe(3, OUTCOME)


def test_threads_share_an_agent() -> None:
    agent: Agent[Any] = Agent(SampleAverage(PROBLEM, initial_decision=[0, 0]))
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
    agent, watched = (Agent(policy, problem=played_on(policy)) for _ in range(2))
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
    still = ("Constant", "GivenAcross", "Rule", "Recorded", "Frozen", "ConditionalOptimum")
    learns = name not in still
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


def test_scenarios_are_those_of_the_next_decision_and_some_have_none() -> None:
    agent = Agent(SampleAverage(PROBLEM))
    with pytest.raises(ValueError, match="has no scenarios, or none before the first outcome"):
        agent.scenarios(CONTEXT)
    agent.observe(agent.decide(CONTEXT).id, OUTCOME)
    scenarios, weights = agent.scenarios(CONTEXT)
    assert (scenarios == OUTCOME).all()
    assert weights.tolist() == [1.0]
    with pytest.raises(ValueError, match=r"'x' parameter of Agent\.scenarios"):
        agent.scenarios(["a"])
    constant = Agent(Constant([1, 1]), problem=PROBLEM)
    constant.observe(constant.decide(CONTEXT).id, OUTCOME)
    with pytest.raises(ValueError, match="Constant has no scenarios"):
        constant.scenarios(CONTEXT)
    assert repr(constant) == "<Agent: Constant on Knapsack, 1 decisions, 1 outcomes, 0 open>"
