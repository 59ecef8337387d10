"""What an agent tells of a decision, against plain sums over its scenarios."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_agent import CONTEXT, OUTCOME, PROBLEM
from trees import same_bits

from bocopt import Agent, Ensemble, SampleAverage, minimise, pos, program, real
from bocopt.core import Sense, Status
from bocopt.live import Explanation, NoExplanationError
from bocopt.policies import Constant, Shadowed

OUTCOMES = np.random.default_rng(0).uniform(0.5, 1.5, (6, 2))


@program(xi=1, order=real(2, upper=9.0), more=real(upper=9.0))
def shop(xi: Any, order: Any, more: Any) -> Any:
    return minimise(order.sum() + 2 * more + 4 * pos(xi[0] - order.sum() - more))


def taught(policy: Any = None) -> Agent[Any]:
    agent = Agent(policy or SampleAverage(PROBLEM), problem=PROBLEM)
    agent.teach(np.zeros((6, 1)), OUTCOMES)
    return agent


def test_candidates_are_what_plain_sums_over_the_scenarios_say() -> None:
    agent = taught()
    ticket = agent.decide(CONTEXT)
    found = agent.explain(ticket.id)
    assert (found.id, found.scenarios, found.status) == (0, 6, Status.OPTIMAL)
    assert (found.sense, found.alpha, found.arm) == (Sense.MAXIMISE, PROBLEM.risk.alpha, None)
    assert [(each.what, each.name) for each in found.candidates] == [
        *(("taken", ""), ("one more", "z0"), ("one less", "z0")),
        *(("one more", "z1"), ("one less", "z1")),
    ]
    assert (found.taken.z == ticket.z).all()
    steps = [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)]
    for each, step in zip(found.candidates, steps, strict=True):
        assert (each.z == ticket.z + step).all()
        costs = [float(PROBLEM.cost(CONTEXT, each.z, xi)) for xi in OUTCOMES]
        met = [float(PROBLEM.violation(CONTEXT, each.z, xi)) <= 0 for xi in OUTCOMES]
        assert each.expected == pytest.approx(-np.mean(costs))
        assert each.feasibility == pytest.approx(np.mean(met))


class Shy(SampleAverage):
    """Does nothing, whatever its scenarios say."""

    def decide(self, state: Any, t: int, x: Any) -> Any:
        decision = super().decide(state, t, x)
        return decision._replace(solution=decision.solution._replace(z=np.zeros(2)))


def test_nothing_beside_an_optimal_decision_is_better_and_a_poor_one_has_rivals() -> None:
    agent = taught()
    assert agent.explain(agent.decide(CONTEXT).id).better == ()
    shy = taught(Shy(PROBLEM))
    found = shy.explain(shy.decide(CONTEXT).id)
    assert [(each.what, each.name) for each in found.better] == [
        ("one more", "z1"),
        ("one more", "z0"),
    ]
    best, second = (each.expected for each in found.better)
    assert best >= second > found.taken.expected
    assert str(found) == (
        "Decision 0: z0 = 0, z1 = 0, given x = (0).\nIts status: z is optimal.\n"
        f"Expected reward {found.taken.expected:.4g} under 6 scenarios, feasible in 100% of them, "
        "target 90%.\nThese would bring more and meet the target: "
        f"{found.better[0]} ({best:.4g}), {found.better[1]} ({second:.4g})."
    )


def test_it_is_of_what_was_known_then_whatever_was_learned_since() -> None:
    agent = taught()
    first, late = agent.decide(CONTEXT), agent.decide(CONTEXT)
    before = agent.explain(first.id)
    agent.observe(late.id, OUTCOME)
    assert agent.explain(first.id).scenarios == 6
    assert str(agent.explain(first.id)) == str(before)
    agent.observe(first.id, OUTCOME)  # closed, and still among the latest
    assert str(agent.explain(first.id)) == str(before)
    assert agent.explain(agent.decide(CONTEXT).id).scenarios == 8


def test_explaining_changes_nothing() -> None:
    asked, left = taught(Ensemble(PROBLEM)), taught(Ensemble(PROBLEM))
    for agent in (asked, left):
        for _ in range(3):
            ticket = agent.decide(CONTEXT)
            if agent is asked:
                agent.explain(ticket.id)
            agent.observe(ticket.id, OUTCOME)
    assert same_bits(asked.state, left.state)


def test_what_is_no_longer_known_is_said_to_be_gone() -> None:
    agent = taught()
    tickets = [agent.decide(CONTEXT) for _ in range(20)]
    assert agent.explain(0).scenarios == 6  # nothing was learned since
    agent.observe(tickets[1].id, OUTCOME)
    with pytest.raises(NoExplanationError, match="known at decision 0 is no longer held: an agent"):
        agent.explain(0)
    assert agent.explain(tickets[-1].id).scenarios == 6
    for number in (20, -1):
        with pytest.raises(ValueError, match=f"There is no decision with id {number}"):
            agent.explain(number)


def test_a_loaded_agent_explains_what_it_can(tmp_path: Path) -> None:
    agent = taught()
    old = agent.decide(CONTEXT)
    agent.observe(agent.decide(CONTEXT).id, OUTCOME)
    new = agent.decide(CONTEXT)
    said = str(agent.explain(new.id))
    agent.save(tmp_path / "agent")
    again = Agent.load(tmp_path / "agent", SampleAverage(PROBLEM))
    assert str(again.explain(new.id)) == said
    with pytest.raises(NoExplanationError, match="no longer held"):
        again.explain(old.id)


@pytest.mark.parametrize(
    ("policy", "why"),
    [(SampleAverage(PROBLEM), "no outcome was known yet"), (Constant([1, 1]), "Constant has none")],
)
def test_a_decision_without_scenarios_says_why_it_has_none(policy: Any, why: str) -> None:
    agent = Agent(policy, problem=PROBLEM)
    with pytest.raises(NoExplanationError, match=f"Decision 0 was not taken under.*: {why}"):
        agent.explain(agent.decide(CONTEXT).id)


def test_words_have_the_names_of_the_program_the_context_and_the_others() -> None:
    rng = np.random.default_rng(1)
    agent: Agent[Any] = Agent(Shadowed(Ensemble(shop), {"now": Constant([1, 1, 1])}))
    for _ in range(12):
        agent.observe(agent.decide({"rain": 0.5}).id, {"demand": rng.uniform(3, 6)})
    ticket = agent.decide({"rain": 0.25})
    assert set(ticket.named) == {"order[0]", "order[1]", "more"}
    assert repr(ticket).startswith("<Ticket 12: order[0] = ")
    found: Explanation = agent.explain(ticket.id)
    words = str(found)
    assert re.match(r"Decision 12: order\[0\] = .*, more = .*, given rain = 0\.25\.\n", words)
    assert "Taken by the arm '" in words
    kinds = {(each.what, each.name) for each in found.candidates}
    assert {("shadow", "now"), ("arm", "model"), ("one less", "more")} <= kinds
    assert "Expected cost " in words
