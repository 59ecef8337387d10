"""Outcomes that are bounds, outcomes of which a part is seen, and outcomes that were wrong."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bocopt import Agent, Ensemble, SampleAverage, at_least, at_most, between
from bocopt.bounds import Bound, exactly
from bocopt.core import Array, Policy
from bocopt.live import CheckpointError, SalesWarning
from bocopt.live.corrections import corrected, refolded
from bocopt.live.events import from_bytes, from_snapshot, snapshot_bytes, to_bytes
from bocopt.live.fold import Corrected, Event, Fold, Observed, watching
from bocopt.models import LightMixture
from bocopt.policies import Constant, PartlySeen, Predictive
from bocopt.problems import Newsvendor
from bocopt.state import flatten

SHOP = Newsvendor(unit_cost=[0.3], price=1.0)
TWO = Newsvendor(unit_cost=[0.3, 0.4], price=1.0)
X = np.zeros(1)

LIGHT = Predictive(SHOP, LightMixture())
policies = pytest.mark.parametrize(
    "policy",
    [
        pytest.param(SampleAverage(SHOP), id="SampleAverage"),
        pytest.param(LIGHT, id="LightMixture"),
        pytest.param(Ensemble(SHOP), id="Ensemble", marks=pytest.mark.full),
    ],
)


def demand(days: int, seed: int = 0) -> Array:
    return 30.0 * np.random.default_rng(seed).gamma(9.0, 1.0 / 9.0, days)


def sales(agent: Agent[Any], demand: Array) -> Array:
    """Decisions (T) of a shop that sees what it sold."""
    taken = []
    for y in demand.tolist():
        ticket = agent.decide(X)
        stock = float(ticket.z[0])
        agent.observe(ticket.id, [y if y < stock else at_least(stock)])
        taken.append(stock)
    return np.array(taken)


def own_state(agent: Agent[Any]) -> dict[str, Array]:
    """The arrays of the policy's own state, played inside `PartlySeen` or not."""
    return flatten(getattr(agent.state, "own", agent.state))


def same(one: dict[str, Array], other: dict[str, Array]) -> bool:
    return one.keys() == other.keys() and all(
        np.array_equal(one[name], other[name], equal_nan=True) for name in one
    )


@policies
def test_a_cold_start_does_not_stay_where_it_sells_out(policy: Policy[Any]) -> None:
    days = demand(60)
    taken = sales(Agent(policy, hindsight=False), days)
    assert abs(taken[30:].mean() / np.quantile(days, 0.7) - 1.0) < 0.25


@policies
def test_the_first_bound_after_a_long_history_does_not_upset_it(policy: Policy[Any]) -> None:
    agent = Agent(policy, hindsight=False)
    agent.teach(np.zeros((100, 1)), demand(100)[:, None])
    before = float(agent.decide(X).z[0])
    agent.observe(0, at_least(before))
    after = [float(agent.decide(X).z[0]) for _ in range(5)]
    assert max(after) < 1.3 * before
    assert min(after) > 0.8 * before


def test_what_is_seen_in_full_is_as_before() -> None:
    plain, bounded = Agent(LIGHT), Agent(LIGHT)
    for y in demand(20).tolist():
        one, other = plain.decide(X), bounded.decide(X)
        assert (one.z == other.z).all()
        plain.observe(one.id, [y])
        bounded.observe(other.id, between(y, y))
    assert same(flatten(plain.state), flatten(bounded.state))
    fold = Fold(LIGHT, SHOP, watching(LIGHT, SHOP))
    assert to_bytes(Observed(0, exactly(np.ones(1)))) == to_bytes(
        Observed(0, between_arrays(np.ones(1)))
    )
    assert snapshot_bytes(fold, plain._live) == snapshot_bytes(fold, bounded._live)


def between_arrays(xi: Array) -> Any:
    return exactly(xi)._replace(high=xi.copy())


def test_stages_say_what_was_seen() -> None:
    agent = Agent(SampleAverage(TWO))
    agent.teach([[0.0]], [[3.0, 4.0]])
    stage = agent.observe(agent.decide(X).id, {"bread": 3.0, "rolls": at_least(4.0)})
    assert stage is not None
    assert stage.seen is not None
    assert stage.seen.low.tolist() == [3.0, 4.0]
    assert np.array_equal(stage.xi, [3.0, np.nan], equal_nan=True)
    full = agent.observe(agent.decide(X).id, {"rolls": 5.0, "bread": 2.0})
    assert full is not None
    assert full.seen is None
    assert full.xi.tolist() == [2.0, 5.0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bread": 3.0, "buns": None}, "named bread, rolls"),
        ({"bread": None}, r"\(missing: rolls\), None where nothing was seen"),
        ([at_least(3.0)], "of 2 numbers, bounds or None"),
        ([at_least(3.0), float("nan")], "in \\(-inf, inf\\)"),
        ([Bound(3.0, 2.0), 1.0], "low end is not above the high"),
    ],
)
def test_bounds_that_do_not_fit_change_nothing(given: Any, message: str) -> None:
    agent = Agent(SampleAverage(TWO))
    agent.observe(agent.decide(X).id, {"bread": 3.0, "rolls": 4.0})
    ticket = agent.decide(X)
    before = flatten(agent._live.state)
    with pytest.raises(ValueError, match=message):
        agent.observe(ticket.id, given)
    assert same(before, flatten(agent._live.state))
    assert agent.open_ids == (ticket.id,)


def test_a_policy_without_scenarios_says_that_it_cannot_learn_from_a_part() -> None:
    agent = Agent(Constant([3.0]), problem=SHOP)
    ticket = agent.decide(X)
    with pytest.raises(ValueError, match="Constant cannot learn from an outcome that was seen in"):
        agent.observe(ticket.id, at_least(3.0))
    agent.observe(ticket.id, 2.0 * np.ones(1))


def test_the_same_bounds_again_change_nothing_and_others_are_refused() -> None:
    agent = Agent(SampleAverage(SHOP))
    ticket = agent.decide(X)
    agent.observe(ticket.id, at_least(5.0))
    assert agent.observe(ticket.id, [at_least(5.0)]) is None
    for other in (at_most(5.0), between(5.0, 6.0), [5.0]):
        with pytest.raises(ValueError, match="already has another outcome"):
            agent.observe(ticket.id, other)


@policies
def test_saved_and_loaded_goes_on_as_if_nothing_had_happened(
    policy: Policy[Any], tmp_path: Path
) -> None:
    whole, days = Agent(policy), demand(40)
    sales(whole, days[:20])
    open_one = whole.decide(X)
    whole.save(tmp_path / "agent")
    again = Agent.load(tmp_path / "agent", policy)
    for agent in (whole, again):
        agent.observe(open_one.id, at_least(10.0))
        agent.correct(12, [17.0])
    assert (sales(whole, days[20:]) == sales(again, days[20:])).all()
    assert same(flatten(whole.state), flatten(again.state))
    whole.save(tmp_path / "agent")
    again.save(tmp_path / "again")
    assert (tmp_path / "agent").read_bytes() == (tmp_path / "again").read_bytes()


@policies
def test_a_correction_is_as_if_the_right_outcome_had_come_at_once(policy: Policy[Any]) -> None:
    days = demand(12)
    wrong, right = Agent(policy), Agent(policy)
    for t, y in enumerate(days.tolist()):
        for agent in (wrong, right):
            ticket = agent.decide(X)
            agent.observe(ticket.id, [900.0 if agent is wrong and t == 11 else y])
    stage = wrong.correct(11, [days[11]])
    assert stage.cost == SHOP.cost(X, stage.decision.solution.z, days[11:])
    assert same(flatten(wrong.state), flatten(right.state))
    assert str(wrong.monitor) == str(right.monitor)
    assert (wrong.decide(X).z == right.decide(X).z).all()


@policies
def test_what_was_decided_meanwhile_stays(policy: Policy[Any]) -> None:
    """The log is folded with the right outcome in its place: decisions are those taken."""
    rng, agent = np.random.default_rng(3), Agent(policy)
    fold = Fold(policy, SHOP, watching(policy, SHOP))
    live, log = fold.begin(0), list[Event]()
    for y in demand(25).tolist():
        decided = fold.decide(live, X)
        seen = fold.outcome("test", [y if rng.random() < 0.5 else at_least(y)])
        for event in (decided, Observed(decided.number, seen)):
            live, _ = fold.apply(live, event)
            log.append(event)
        agent.decide(X)
        agent.observe(decided.number, seen)
    for number, right in ((3, [5.0]), (24, [at_least(2.0)]), (3, [at_most(7.0)])):
        agent.correct(number, right)
        log.append(Corrected(number, fold.outcome("test", right)))
    read = [from_bytes(to_bytes(event), SHOP) for event in log]
    found, _ = refolded(fold, fold.begin(0), read)
    assert same(flatten(found.state), flatten(agent.state))
    assert len(corrected(read)) == 50
    kept = from_snapshot(snapshot_bytes(fold, found), fold, 0)
    assert snapshot_bytes(fold, kept) == snapshot_bytes(fold, agent._live)


def test_outcomes_that_cannot_be_corrected() -> None:
    agent = Agent(SampleAverage(SHOP), correctable=3)
    tickets = [agent.decide(X).id for _ in range(12)]
    with pytest.raises(ValueError, match="Decision 0 has no outcome yet"):
        agent.correct(0, [3.0])
    for number in tickets[:-1]:
        agent.observe(number, [float(number)])
    agent.forget(11)
    for number in (11, 2):
        with pytest.raises(ValueError, match=r"cannot be corrected.*latest 3 decisions"):
            agent.correct(number, [3.0])
    with pytest.raises(ValueError, match="There is no decision with id 40"):
        agent.correct(40, [3.0])
    agent.correct(9, [3.0])
    assert 3.0 in agent.scenarios(X)[0]
    agent.teach([[0.0]], [[1.0]])
    with pytest.raises(ValueError, match="since the last lesson"):
        agent.correct(9, [9.0])


@pytest.mark.parametrize("every", [1, 2, 5])
def test_the_latest_can_always_be_corrected(every: int, tmp_path: Path) -> None:
    policy = SampleAverage(SHOP)
    agent = Agent(policy, correctable=5)
    for t in range(40):
        agent.observe(agent.decide(X).id, [float(t)])
        for back in range(min(5, t + 1)):
            agent.correct(t - back, [float(t - back)])
        if t % every == 0:
            agent.save(tmp_path / "agent")
            agent.close()
            agent = Agent.load(tmp_path / "agent", policy)
    assert sorted(agent.scenarios(X)[0][:, 0].tolist()) == [float(t) for t in range(40)]
    assert len(agent._seen._recent.events) <= 4 * 5


def test_a_checkpoint_whose_outcomes_do_not_fit_is_refused(tmp_path: Path) -> None:
    from bocopt import checkpoint

    agent = Agent(SampleAverage(SHOP))
    agent.observe(agent.decide(X).id, at_least(5.0))
    agent.save(tmp_path / "agent")
    header, arrays = checkpoint.load(tmp_path / "agent")
    for name, value in (("outcomes.high", np.array([[4.0]])), ("outcomes", np.zeros((2, 1)))):
        checkpoint.save(tmp_path / "other", header, {**arrays, name: value})
        with pytest.raises(CheckpointError, match="outcomes do not fit"):
            Agent.load(tmp_path / "other", SampleAverage(SHOP))
    checkpoint.save(tmp_path / "other", {**header, "in_part": False}, arrays)
    with pytest.raises(CheckpointError):
        Agent.load(tmp_path / "other", SampleAverage(SHOP))


def test_a_policy_that_learns_bounds_itself_is_played_as_it_is() -> None:
    agent = Agent(PartlySeen(SampleAverage(SHOP)))
    taken = sales(agent, demand(30))
    assert taken[20:].mean() > 20.0
    assert not agent._live.in_part


def test_explained_after_a_part() -> None:
    agent = Agent(SampleAverage(SHOP))
    sales(agent, demand(10))
    found = agent.explain(agent.decide(X).id)
    assert str(found).startswith("Decision 10: z0 = ")
    plain = Agent(SampleAverage(SHOP))
    plain.teach(np.zeros((30, 1)), demand(30)[:, None])
    assert plain.explain(plain.decide(X).id).look_up is None


def test_a_decision_that_looks_up_is_no_decision_of_an_arm() -> None:
    agent, looked = Agent(Ensemble(SHOP), hindsight=False), 0
    agent.teach(np.zeros((5, 1)), demand(5)[:, None])
    for _ in range(8):
        ticket = agent.decide(X)
        found = agent.explain(ticket.id)
        assert (found.look_up is None) == (found.arm is not None)
        if found.look_up is not None:
            looked += 1
            assert "Taken to see more of what comes" in str(found)
        agent.observe(ticket.id, at_least(float(ticket.z[0])))
    assert looked


def test_outcomes_that_equal_orders_are_asked_about_once_in_a_run(tmp_path: Path) -> None:
    agent, rng = Agent(SampleAverage(SHOP, [20.0]), hindsight=False), np.random.default_rng(0)
    agent.teach(np.zeros((60, 1)), rng.poisson(20.0, (60, 1)))
    said = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for y in rng.poisson(30.0, 60).tolist():
            ticket = agent.decide(X)
            agent.observe(ticket.id, [min(float(y), float(ticket.z[0]))])
            said.append(agent.questions)
    assert [each.category for each in caught] == [SalesWarning]
    assert "are exactly what was decided, and none is above. Are these sales" in said[-1][0]
    assert caught[0].filename == __file__
    agent.save(tmp_path / "agent")
    assert Agent.load(tmp_path / "agent", SampleAverage(SHOP, [20.0]), hindsight=False).questions


def test_demand_is_not_asked_about() -> None:
    agent, rng = Agent(SampleAverage(SHOP), hindsight=False), np.random.default_rng(1)
    for y in rng.poisson(5.0, 200).tolist():  # equal to an order at about one time in six
        agent.observe(agent.decide(X).id, [float(y)])
    assert agent.questions == ()


def test_histories_of_which_a_part_was_seen() -> None:
    taught, one_by_one = Agent(SampleAverage(SHOP)), Agent(SampleAverage(SHOP))
    rows: list[Any] = [[3.0], [at_least(5.0)], [4.0], at_least(6.0)]
    taught.teach(np.zeros((4, 1)), rows)
    for row in rows:
        one_by_one.teach(X, row if isinstance(row, Bound | list) else [row])
    assert taught.taught == one_by_one.taught == 4
    assert same(flatten(taught.state), flatten(one_by_one.state))
    with pytest.raises(ValueError, match="of 1 numbers, bounds or None"):
        taught.teach(np.zeros((2, 1)), [[at_least(3.0), 2.0], [3.0]])
    with pytest.raises(ValueError, match="of x"):
        taught.teach(np.zeros((3, 1)), [[at_least(3.0)], [3.0]])
    assert taught.taught == 4
