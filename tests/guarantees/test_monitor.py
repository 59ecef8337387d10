"""The monitor: the same bits live and afterwards, and what it says of real streams."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trees import same_bits

from bocopt import Agent, Ensemble, Replay, SampleAverage, checkpoint, from_callables, run
from bocopt.core import Dims, Policy
from bocopt.guarantees import BestArm, EmpiricalBernstein, Monitor, certify, evidence_of
from bocopt.paper import PaperStream
from bocopt.policies import Constant
from bocopt.problems import Knapsack
from bocopt.state import CheckpointError

PROBLEM = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3)


def watched(policy: Policy[Any], stream: PaperStream, horizon: int, **settings: Any) -> Monitor:
    monitor = Monitor(PROBLEM, **settings)
    for stage in run(policy, stream, problem=PROBLEM, seeds=0, horizon=horizon):
        monitor.observe(stage)
    return monitor


def test_watching_live_and_computing_afterwards_agree_bit_for_bit() -> None:
    monitor = Monitor(PROBLEM, [BestArm()], scale=160.0)
    stages = list(run(Ensemble(PROBLEM), PaperStream(), seeds=range(3), horizon=20))
    for t, stage in enumerate(stages, start=1):
        monitor.observe(stage)
        if t in (1, 7, 20):
            seen = [evidence_of(PROBLEM, s) for s in stages[:t]]
            for live, guarantee in zip(monitor.certificates(), monitor.guarantees, strict=True):
                after = certify(guarantee, seen)
                assert live.note == after.note
                assert same_bits(
                    (live.value, live.bound, live.vacuous),
                    (after.value, after.bound, after.vacuous),
                )


def test_the_cost_of_a_knapsack_lies_in_its_range() -> None:
    for stage in run(SampleAverage(PROBLEM), PaperStream(), seeds=range(20), horizon=30):
        low, high = PROBLEM.range(stage.x, stage.decision.solution.z)
        assert ((low <= stage.cost) & (stage.cost <= high)).all()
    low, high = PROBLEM.range(np.zeros(3), np.array([2.0, 2.0, 1.0, 1.0]))
    assert low == -144.0
    assert high == 0.0
    fined = Knapsack(value=[12], capacity=[8], salvage=[3], infeasible_reward=-7.0)
    for weight in (0.0, 0.5, 1.0, 3.0):
        low, high = fined.range(np.zeros(0), np.array([4.0]))
        assert low <= fined.cost(np.zeros(0), np.array([4.0]), np.array([weight])) <= high
    assert high == 7.0
    assert fined.possible(np.zeros(0), np.array([[0.0], [-1e-9]])).tolist() == [True, False]


def test_negative_weights_are_not_what_the_range_was_meant_for() -> None:
    headline = watched(Constant([2, 2, 1, 1]), PaperStream(offset=-0.5), 20).headline()
    assert not headline.applicable
    assert np.isnan(headline.bound)
    assert "outside the support" in headline.note


def test_a_decision_that_outgrows_what_was_declared() -> None:
    monitor = watched(
        Constant([2, 2, 1, 1]), PaperStream(), 5, guarantees=[EmpiricalBernstein(scale=100.0)]
    )
    found = monitor.certificates()[-1]
    assert not found.applicable
    assert "wider than the declared 100 on 5 stages" in found.note


def test_best_arm_is_for_those_who_draw() -> None:
    for policy, fine in ((Ensemble(PROBLEM), True), (Ensemble(PROBLEM, selection="leader"), False)):
        found = watched(policy, PaperStream(), 25, guarantees=[BestArm()]).certificates()[-1]
        assert found.applicable == fine
        assert found.delta == 0.0
        if fine:
            assert found.value <= found.bound + 1e-12
        else:
            assert 'rule="sample"' in found.note
    found = watched(Constant([1] * 4), PaperStream(), 5, guarantees=[BestArm()]).certificates()[-1]
    assert not found.applicable


def test_best_arm_has_seen_all_that_the_arms_have() -> None:
    stages = list(run(Ensemble(PROBLEM), PaperStream(), seeds=0, horizon=6))
    seen = [evidence_of(PROBLEM, stage) for stage in stages]
    assert certify(BestArm(), seen).applicable
    late = certify(BestArm(), seen[3:])
    assert not late.applicable
    assert "stages that were not watched on 3 stages" in late.note
    useless = [e._replace(arms=e.arms._replace(arm_bound=np.array(1e9))) for e in seen]
    assert certify(BestArm(), useless).vacuous
    between = sum(float(np.ptp(e.arms.arm_cost)) for e in seen)
    half = np.array(0.5 * between)
    some = [e._replace(arms=e.arms._replace(arm_bound=half)) for e in seen]
    assert not certify(BestArm(), some).vacuous


def newsvendor(**known: Any) -> Any:
    return from_callables(
        solve=lambda x, xi: xi,
        cost=lambda x, z, xi: (z - 2 * min(z, xi)).item(),
        dims=Dims(x=None, z=1, xi=1),
        fallback=[0],
        **known,
    )


def test_a_problem_from_callables_may_know_its_range_and_support() -> None:
    rng = np.random.default_rng(0)
    stream = Replay(x=np.zeros((200, 1)), xi=rng.uniform(0, 1, (200, 1)))

    def headline(problem: Any) -> Any:
        monitor = Monitor(problem)
        for stage in run(Constant([0.5]), stream, problem=problem, horizon=200):
            monitor.observe(stage)
        return monitor.headline()

    assert "No range was known" in headline(newsvendor()).note
    known = headline(newsvendor(bounds=lambda x, z: (-z.item(), z.item())))
    assert known.applicable
    assert known.value < known.bound < 0.5
    narrow = {
        "bounds": lambda x, z: (-z.item(), z.item()),
        "support": lambda x, xi: xi.item() < 0.9,
    }
    assert "outside the support" in headline(newsvendor(**narrow)).note
    for nonsense in ((1.0, 0.0), "12", None, (np.nan, 1.0)):
        with pytest.raises(ValueError, match="user's bounds must return two numbers"):
            headline(newsvendor(bounds=lambda x, z, given=nonsense: given))
    for other in (np.nan, "no", None):
        with pytest.raises(ValueError, match="user's support must return True or False"):
            headline(newsvendor(support=lambda x, xi, given=other: given))
    with pytest.raises(ValueError, match="'bounds' parameter of from_callables"):
        newsvendor(bounds=3)


def test_an_agent_is_watched_and_its_checkpoint_knows_what_was_seen(tmp_path: Path) -> None:
    def monitor() -> Monitor:
        return Monitor(PROBLEM, [BestArm()], scale=160.0)

    stages = list(run(SampleAverage(PROBLEM), PaperStream(), seeds=0, horizon=30))
    agent = Agent(SampleAverage(PROBLEM), monitor=monitor())
    for t, stage in enumerate(stages):
        agent.observe(agent.decide(stage.x).id, stage.xi)
        if t == 15:
            agent.save(tmp_path / "agent")
            agent = Agent.load(tmp_path / "agent", SampleAverage(PROBLEM), monitor=monitor())
    plain = watched(SampleAverage(PROBLEM), PaperStream(), 30, guarantees=[BestArm()], scale=160.0)
    assert str(agent.monitor) == str(plain)
    assert same_bits(agent.monitor.headline().bound, plain.headline().bound)
    with pytest.raises(CheckpointError, match="What differs: monitor"):
        Agent.load(tmp_path / "agent", SampleAverage(PROBLEM))
    other = Monitor(Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3, alpha=0.5))
    for wrong in (plain, agent.monitor, other):
        with pytest.raises(ValueError, match="'monitor' parameter of Agent"):
            Agent(SampleAverage(PROBLEM), monitor=wrong)


@pytest.mark.parametrize("schedule", ["in order but late", "out of order", "forgotten"])
def test_late_outcomes_are_an_assumption_or_the_end_of_a_guarantee(schedule: str) -> None:
    stages = list(run(Constant([2, 2, 1, 1]), PaperStream(), problem=PROBLEM, seeds=0, horizon=3))
    agent = Agent(Ensemble(PROBLEM), monitor=Monitor(PROBLEM, [BestArm()]))
    agent.observe(agent.decide(stages[0].x).id, stages[0].xi)
    headline, _, best_arm = agent.monitor.certificates()
    assert len(headline.assumptions) == 1
    assert best_arm.applicable
    one, two = (agent.decide(stage.x).id for stage in stages[1:])
    if schedule == "forgotten":
        agent.forget(one)
        agent.observe(two, stages[2].xi)
    else:
        order = [(one, stages[1]), (two, stages[2])]
        for ticket, stage in order if schedule == "in order but late" else order[::-1]:
            agent.observe(ticket, stage.xi)
    headline, feasibility, best_arm = agent.monitor.certificates()
    assert headline.applicable
    assert "came late or never" in headline.assumptions[-1]
    assert "came late or never" in feasibility.assumptions[-1]
    assert best_arm.applicable == (schedule == "forgotten")  # the weights that learned had drawn
    if schedule != "forgotten":
        assert "weights had changed between a decision and its outcome" in best_arm.note


@pytest.mark.parametrize(
    ("order", "late"), [([0, 1, 2], 2), ([2, 1, 0], 3), ([0, 2, 1], 2), ([1, 0, 2], 3)]
)
def test_all_are_late_but_the_first_that_nothing_was_learned_before(
    order: list[int], late: int
) -> None:
    """Three decisions are open at once: only the first, if learned first, missed nothing."""
    agent = Agent(Constant([2, 2, 1, 1]), problem=PROBLEM)
    stages = list(run(Constant([2, 2, 1, 1]), PaperStream(), problem=PROBLEM, seeds=0, horizon=3))
    tickets = [agent.decide(stage.x).id for stage in stages]
    for i in order:
        agent.observe(tickets[i], stages[i].xi)
    assert agent.monitor.states is not None
    assert agent.monitor.states[1].late == late


def test_what_a_decision_can_cost_is_asked_before_its_outcome() -> None:
    def bounds(x: Any, z: Any) -> tuple[float, float]:
        if x > 1:
            raise RuntimeError("no idea")
        return -z.item(), z.item()

    agent = Agent(Constant([0.5]), problem=newsvendor(bounds=bounds))
    with pytest.raises(ValueError, match="user's bounds raised RuntimeError: no idea"):
        agent.decide([2.0])
    assert agent.open_ids == ()
    agent.observe(agent.decide([0.0]).id, [0.3])
    assert agent.monitor.headline().applicable


def test_what_was_said_before_the_outcome_counts() -> None:
    said = [(-0.5, 0.5)]
    agent = Agent(Constant([0.5]), problem=newsvendor(bounds=lambda x, z: said[-1]))
    ticket = agent.decide([0.0])
    said.append((9.0, 9.0))  # too late
    agent.observe(ticket.id, [0.3])
    assert agent.monitor.headline().applicable


class OneTooMany(Knapsack):
    """Its range has an axis that no one asked for."""

    def range(self, x: Any, z: Any) -> Any:
        return tuple(end[..., None] for end in super().range(x, z))


def test_a_range_of_another_shape_is_named() -> None:
    problem = OneTooMany(value=[12], capacity=[8], salvage=[3])
    with pytest.raises(ValueError, match="'range' parameter of the problem"):
        Agent(Constant([1]), problem=problem).decide([0.0])


def test_a_load_that_fails_leaves_the_monitor_free(tmp_path: Path) -> None:
    agent = Agent(Constant([1] * 4), problem=PROBLEM)
    x, xi = next(PaperStream().stages(np.array(0)))
    agent.observe(agent.decide(x).id, xi)
    agent.save(tmp_path / "agent")
    header, arrays = checkpoint.load(tmp_path / "agent")
    del arrays["monitor.1.infeasible"]
    checkpoint.save(tmp_path / "cut", header, arrays)
    monitor = Monitor(PROBLEM)
    with pytest.raises(CheckpointError, match=r"no array 'monitor\.1\.infeasible'"):
        Agent.load(tmp_path / "cut", Constant([1] * 4), problem=PROBLEM, monitor=monitor)
    loaded = Agent.load(tmp_path / "agent", Constant([1] * 4), problem=PROBLEM, monitor=monitor)
    assert loaded.monitor is monitor
    many = next(run(Constant([1] * 4), PaperStream(), problem=PROBLEM, seeds=[0, 1], horizon=1))
    with pytest.raises(ValueError, match="'stage' parameter of Monitor"):
        monitor.observe(many)


def test_misuse_is_named() -> None:
    monitor = Monitor(PROBLEM)
    with pytest.raises(ValueError, match="has not seen a stage"):
        monitor.certificates()
    for seeds, fine in (([0, 1], True), ([0, 1, 2], False)):
        stage = next(run(Constant([1] * 4), PaperStream(), problem=PROBLEM, seeds=seeds, horizon=1))
        if fine:
            monitor.observe(stage)
        else:
            with pytest.raises(ValueError, match="'stage' parameter of Monitor"):
                monitor.observe(stage)


def test_what_holds_together_counts_a_target_that_is_surely_missed() -> None:
    """A certificate of feasibility ends there, but what it says of the target is still a claim."""
    monitor = watched(Constant([8, 8, 8, 8]), PaperStream(), 60)
    said = str(monitor)
    assert "alpha = 0.9 is not met" in said
    assert "feasibility: not applicable." in said
    assert "all together with 90%." in said
    [_, feasibility] = monitor.certificates()
    assert (bool(feasibility.applicable), bool(feasibility.refuted)) == (False, True)
