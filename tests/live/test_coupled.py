"""Series that share a program: one decision a time, each part's outcome by itself."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bocopt import PanelAgent, SampleAverage, binary, minimise, pos, program, real
from bocopt.core import Array, Problem, Status
from bocopt.live import CheckpointError, Coupled, CoupledAgent
from bocopt.models import AcrossSeries, LightMixture, Mixture
from bocopt.policies import Predictive
from bocopt.problems import Newsvendor
from bocopt.problems.program import Program

SIZES = {"north": 60.0, "south": 30.0, "west": 20.0, "east": 45.0}
NAMES = tuple(SIZES)


def budget(shops: Sequence[str]) -> Problem:
    return Newsvendor(unit_cost=[1.0] * len(shops), price=3.0, capacity=25.0 * len(shops))


def truck(shops: Sequence[str]) -> Program:
    """One truck, or two: how many is common, and which load each shop gets."""
    many = len(shops)

    @program(xi=many, load=real(many, upper=500), trucks=binary(2))
    def loads(xi: Any, load: Any, trucks: Any) -> Any:
        missed = pos(xi - load)
        return minimise(
            3.0 * missed.sum() + load.sum() + 20.0 * trucks.sum()
        ), load.sum() <= 60.0 * trucks.sum()

    found: Program = loads
    return found


def contexts(names: Sequence[str], day: int) -> Array:
    return np.tile((np.arange(3) == day % 3).astype(float), (len(names), 1))


def demand(day: int) -> Array:
    rng = np.random.default_rng(day)
    weather = np.exp(0.3 * rng.normal())
    return np.asarray(
        np.round(np.array([*SIZES.values()]) * weather * np.exp(0.1 * rng.normal(size=4)))
    )


def played(days: int, coupled: Coupled | None = None, **how: Any) -> CoupledAgent:
    agent = CoupledAgent(coupled or Coupled(budget), **how)
    for day in range(days):
        agent.decide(NAMES, contexts(NAMES, day))
        agent.observe(NAMES, demand(day))
    return agent


def state(agent: CoupledAgent) -> dict[str, bytes]:
    header, arrays = agent.parts()
    return {"header": repr(header).encode()} | {n: a.tobytes() for n, a in arrays.items()}


def test_the_laws_are_those_of_a_panel_agent() -> None:
    """Each series has the same law as without the program that couples it."""
    panel = PanelAgent(Predictive(Newsvendor(unit_cost=[1.0], price=3.0), LightMixture()))
    agent = played(12)
    for day in range(12):
        panel.decide(NAMES, contexts(NAMES, day))
        panel.observe(NAMES, demand(day)[:, None])
    x = contexts(NAMES, 12)
    ours, theirs = agent._laws, panel.scenarios(NAMES, x)
    (_, law), *_ = ours._laws(np.arange(4), np.full(4, 12), x)
    assert law is not None
    assert (law[0] == theirs[0]).all()
    assert (law[1] == theirs[1]).all()


def test_the_budget_is_kept_and_used() -> None:
    agent = played(30)
    found = agent.decide(NAMES, contexts(NAMES, 30))
    assert found.z.sum() == pytest.approx(100.0)
    assert found.each.shape == (4, 1)
    assert found.of("north") == {"z": found.z[0]}
    assert found.z[0] > found.z[2]


def test_common_parts_are_told_apart() -> None:
    agent = played(10, Coupled(truck))
    found = agent.decide(NAMES, contexts(NAMES, 10))
    assert found.each_names == ("load",)
    assert found.common_names == ("trucks[0]", "trucks[1]")
    assert found.each[:, 0].sum() <= 60.0 * found.common.sum() + 1e-6
    assert found.common.sum() in (1.0, 2.0)


def test_arrays_that_could_be_of_series_are_named() -> None:
    """Two trucks and two shops: which is which must be said, before or when it turns."""
    agent = played(2, Coupled(truck))
    before = state(agent)
    with pytest.raises(ValueError, match=r"Name|name them, by Coupled\(\.\.\., common"):
        agent.decide(NAMES[:2], contexts(NAMES[:2], 2))
    assert state(agent) == before
    agent = played(2, Coupled(truck, common=["trucks"]))
    assert agent.decide(NAMES[:2], contexts(NAMES[:2], 2)).common.shape == (2,)


def test_a_problem_is_made_once_for_each_set_of_names() -> None:
    asked = []

    def counted(shops: Sequence[str]) -> Problem:
        asked.append(tuple(shops))
        return budget(shops)

    agent = played(4, Coupled(counted))
    agent.decide(NAMES[1:], contexts(NAMES[1:], 4))
    assert asked == [NAMES, NAMES[1:]]


def test_series_depend_on_each_other_as_they_did() -> None:
    """The weather is common: scenarios of all shops rise and fall together."""
    agent = played(60)
    laws, x = agent._laws, contexts(NAMES, 60)
    beside = laws.beside(np.arange(4), x)
    joint = laws.scenarios(np.arange(4), np.full(4, 60), x, beside).joint
    seen = np.asarray(np.corrcoef(joint.T))[~np.eye(4, dtype=bool)]
    truth = 0.09 / 0.10
    assert 0.6 < seen.mean() < truth + 0.05


def test_outcomes_come_late_in_parts_in_any_order_or_never() -> None:
    agent = CoupledAgent(Coupled(budget))
    for day in range(3):
        agent.decide(NAMES, contexts(NAMES, day))
    assert list(agent.open) == [0, 1, 2]
    assert agent.observe(["south"], [30.0], 2).waiting == 3
    assert agent.observe(["west", "north"], [[20.0], [61.0]], 0).waiting == 2
    assert np.isnan(agent.observe(["south"], [29.0]).cost)
    last = agent.observe(["east"], [44.0])
    assert (last.number, last.waiting) == (0, 0)
    assert np.isfinite(last.cost)
    assert last.feasible == 1.0
    gone = agent.observe(NAMES, np.full(4, np.nan), 1)
    assert gone.waiting == 0
    assert np.isnan(gone.cost)
    assert list(agent.open) == [2]
    again = state(agent)
    agent.observe(["south"], [30.0], 2)
    assert state(agent) == again


def test_the_same_bits_whatever_order_parts_come_in() -> None:
    """Parts of one time do not see each other."""
    agents = [played(5), played(5)]
    for agent in agents:
        agent.decide(NAMES, contexts(NAMES, 5))
    agents[0].observe(NAMES, demand(5))
    for i in (2, 0, 3, 1):
        agents[1].observe([NAMES[i]], demand(5)[i : i + 1])
    assert state(agents[0]) == state(agents[1])


def test_saved_and_loaded_is_uninterrupted(tmp_path: Path) -> None:
    across = AcrossSeries(lags=[0], trees=3)
    coupled = Coupled(truck, law=LightMixture(given=15))
    agent = played(7, coupled, across=across, seed=3)
    agent.decide(NAMES[:3], contexts(NAMES[:3], 7))
    agent.observe(["west"], [22.0])
    agent.save(tmp_path / "agent.bin")
    loaded = CoupledAgent.load(tmp_path / "agent.bin", coupled, across=across)
    for one in (agent, loaded):
        one.observe(["north", "south"], [50.0, 28.0])
        one.decide([*NAMES, "new"], contexts([*NAMES, "new"], 8))
    assert state(agent) == state(loaded)


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    agent = played(2)
    agent.save(tmp_path / "agent.bin")
    with pytest.raises(CheckpointError, match=r"What differs: coupled\.memory"):
        CoupledAgent.load(tmp_path / "agent.bin", Coupled(budget, memory=7))
    with pytest.raises(CheckpointError, match="something else than a panel"):
        PanelAgent.load(tmp_path / "agent.bin", SampleAverage(budget(["a"])))


def test_a_new_series_is_as_the_others_until_it_is_known() -> None:
    agent = played(20)
    names = [*NAMES, "new"]
    laws = agent._laws
    found = agent.decide(names, contexts(names, 20))
    middle = float(np.median(found.each[:4, 0]))
    assert 0.2 * middle < found.of("new")["z"] < 3.0 * middle
    assert found.status == Status.OPTIMAL
    assert len(laws) == 5


def test_before_any_outcome_the_status_says_so() -> None:
    uninformed = CoupledAgent(Coupled(budget)).decide(NAMES, contexts(NAMES, 0))
    assert uninformed.status == Status.UNINFORMED
    informed = CoupledAgent(Coupled(budget, initial=[10.0, 20.0, 30.0]))
    found = informed.decide(NAMES, contexts(NAMES, 0))
    assert found.status == Status.OPTIMAL
    assert (found.each >= 10.0).all()


def test_each_by_itself_is_cut_to_what_the_program_allows() -> None:
    agent = played(30, Coupled(_hundred, together=False))
    found = agent.decide(NAMES, contexts(NAMES, 30))
    assert found.status == Status.GIVEN
    assert found.z.sum() == pytest.approx(100.0, abs=1e-4)
    wide = played(30, Coupled(_wide, together=False)).decide(NAMES, contexts(NAMES, 30))
    np.testing.assert_allclose(found.z / found.z.sum(), wide.z / wide.z.sum(), rtol=1e-6)
    assert wide.z.sum() > 100.0


def _hundred(shops: Sequence[str]) -> Problem:
    return Newsvendor(unit_cost=[1.0] * len(shops), price=3.0, capacity=100.0)


def _wide(shops: Sequence[str]) -> Problem:
    return Newsvendor(unit_cost=[1.0] * len(shops), price=3.0, capacity=1e6)


def test_what_is_common_cannot_be_decided_by_each() -> None:
    agent = CoupledAgent(Coupled(truck, together=False))
    with pytest.raises(ValueError, match=r"each by itself where parts .* common: trucks"):
        agent.decide(NAMES, contexts(NAMES, 0))


def test_other_laws_than_the_light_mixture() -> None:
    average = SampleAverage(Newsvendor(unit_cost=[1.0], price=3.0))
    agent = played(6, Coupled(budget, law=average))
    seen = np.array([demand(day) for day in range(6)])
    laws, x = agent._laws, contexts(NAMES, 6)
    found = laws.scenarios(np.arange(4), np.full(4, 6), x, laws.beside(np.arange(4), x))
    for i in range(4):
        assert {*found.each[i, :, 0]} == {*seen[:, i]}


def test_outcomes_of_blocks() -> None:
    def blocks(shops: Sequence[str]) -> Problem:
        return Newsvendor(unit_cost=[1.0] * (2 * len(shops)), price=3.0, capacity=100.0)

    agent = CoupledAgent(Coupled(blocks, law=LightMixture(dim_xi=2), dim_xi=2))
    for day in range(8):
        found = agent.decide(NAMES[:2], contexts(NAMES[:2], day))
        agent.observe(NAMES[:2], np.stack([demand(day)[:2], demand(day)[2:]], axis=1))
    assert found.each.shape == (2, 2)
    assert found.each_names == ("z[0]", "z[1]")
    agent.decide(NAMES[:2], contexts(NAMES[:2], 8))
    with pytest.raises(ValueError, match="'north' have only a part"):
        agent.observe(["north"], [[1.0, np.nan]])


def infeasible(shops: Sequence[str]) -> Program:
    @program(xi=len(shops), load=real(len(shops), upper=5))
    def loads(xi: Any, load: Any) -> Any:
        return minimise(load.sum()), load.sum() >= 100.0

    found: Program = loads
    return found


def test_a_program_without_any_decision_says_so() -> None:
    found = CoupledAgent(Coupled(infeasible)).decide(NAMES, contexts(NAMES, 0))
    assert found.status in (Status.INFEASIBLE, Status.FALLBACK)


class Broken(Newsvendor):
    """A solver that fails."""

    def solve(self, scenarios: Array, w: Array | None = None, x: Array | None = None) -> Any:
        raise RuntimeError("out of memory")


def _broken(shops: Sequence[str]) -> Problem:
    return Broken(unit_cost=[1.0] * len(shops), price=3.0)


def _fails(shops: Sequence[str]) -> Problem:
    raise KeyError(shops[0])


def _of_one(shops: Sequence[str]) -> Problem:
    return Newsvendor(unit_cost=[1.0], price=3.0)


def _no_array(shops: Sequence[str]) -> Program:
    @program(xi=len(shops), order=real(2))
    def orders(xi: Any, order: Any) -> Any:
        return minimise(order.sum() + pos(xi.sum() - order.sum()))

    found: Program = orders
    return found


def _nothing(shops: Sequence[str]) -> Any:
    return None


@pytest.mark.parametrize(
    ("problem_of", "why"),
    [
        (_broken, r"4 series: 'north', 'south', 'west', \.\.\. was not solved: out of memory"),
        (_fails, r"_fails\(4 series.*failed: KeyError\('north'\)"),
        (_of_one, r"whose xi has 1 for each of 4 series\. Got 1 in all"),
        (_no_array, r"an array with a place for each of 4 series\. Got order \(2,\)"),
        (_nothing, r"must be a Problem"),
    ],
)
def test_a_function_that_gives_no_program(problem_of: Any, why: str) -> None:
    agent = CoupledAgent(Coupled(problem_of))
    before = state(agent)
    with pytest.raises(ValueError, match=why):
        agent.decide(NAMES, contexts(NAMES, 0))
    assert state(agent) == before


@pytest.mark.parametrize(
    ("method", "given", "why"),
    [
        ("decide", ([], np.zeros((0, 3))), "No series is open"),
        ("decide", (["a", "a"], np.zeros((2, 3))), "'a' twice"),
        ("decide", (["a"], np.zeros((1, 2))), "of 3 numbers, as those before"),
        ("decide", (["a"], np.zeros((1, 3)), 9), "Decision 9 was not taken yet. Open are: [3]"),
        ("decide", (["a"], np.zeros((1, 3)), 1), "Decision 1 waits for nothing any more"),
        ("decide", (["a"], np.zeros((1, 3)), 3), "Decision 3 was taken for other series"),
        ("decide", (NAMES, np.zeros((4, 3)), 3), "Decision 3 was taken for other contexts"),
        ("observe", (["elsewhere"], [1.0]), "Series 'elsewhere' are not in decision 3."),
        ("observe", (["north"], [np.inf]), "must be finite"),
        ("observe", (["north"], [1.0, 2.0]), "1 outcomes, a row each"),
        ("observe", (["north"], [1.0], "0"), "a whole number"),
    ],
)
def test_bad_input_changes_nothing(method: str, given: Any, why: str) -> None:
    agent = played(3)
    agent.decide(NAMES, contexts(NAMES, 3))
    before = state(agent)
    with pytest.raises(ValueError, match=re.escape(why)):
        getattr(agent, method)(*given)
    assert state(agent) == before


def test_another_outcome_is_refused() -> None:
    agent = CoupledAgent(Coupled(budget))
    agent.decide(NAMES, contexts(NAMES, 0))
    agent.observe(["north"], [1.0])
    with pytest.raises(ValueError, match="'north' already have another outcome of decision 0"):
        agent.observe(["north"], [2.0])


def test_too_many_open_decisions() -> None:
    agent = CoupledAgent(Coupled(budget), max_open=2)
    for day in range(2):
        agent.decide(NAMES, contexts(NAMES, day))
    with pytest.raises(ValueError, match="2 decisions wait for outcomes, as max_open is"):
        agent.decide(NAMES, contexts(NAMES, 2))


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"problem_of": budget(NAMES)}, "a function of the names of series"),
        ({"law": Mixture(dim_xi=1)}, "whose states are rows"),
        ({"law": LightMixture(dim_xi=2)}, "one of outcomes of 1 numbers"),
        ({"law": SampleAverage(budget(NAMES))}, "one for outcomes of 1 numbers"),
        ({"scenarios": 1}, "scenarios"),
        ({"initial": []}, "initial"),
    ],
)
def test_what_cannot_be_coupled(how: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Coupled(**{"problem_of": budget} | how)


def test_a_decision_that_is_asked_again_is_told_as_it_was() -> None:
    agent = played(4)
    found = agent.decide(NAMES, contexts(NAMES, 4))
    again = agent.decide(NAMES, contexts(NAMES, 4), found.number)
    assert (again.z == found.z).all()
    assert agent.decisions == 5
