"""Many series in lock step: each is played as an agent alone would play it, bit for bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import long
from registry import KNAPSACK, played_on, policies

from bocopt import Agent, PanelAgent, SampleAverage
from bocopt.live.series_names import series_seed
from bocopt.live.series_states import plays_in_rows
from bocopt.models import AcrossSeries, LightMixture
from bocopt.policies import Constant, GivenAcross, Predictive
from bocopt.problems import Newsvendor
from bocopt.state import CheckpointError

SHOP = Newsvendor(unit_cost=[1.0], price=[3.0])
LIGHT = Predictive(SHOP, LightMixture())
NAMES = ("north", "South", "a/b c", "late", "ä")


def memoless(name: str) -> bool:
    policy = policies()[name]
    if not plays_in_rows(policy) or isinstance(policy, GivenAcross):  # which knows other series
        return False
    decision = policy.decide(policy.init(np.zeros(1, np.int64)), 0, np.ones((1, 3)))
    return decision.memo == ()


IN_ROWS = sorted(filter(memoless, policies()))


class Lives:
    """Series as one panel, and each by an agent of its own, which must say the same."""

    def __init__(self, policy: Any, problem: Any, width: int) -> None:
        self.policy, self.problem, self.width = policy, problem, width
        self.panel = PanelAgent(policy, problem=problem, seed=5)
        self.alone: dict[str, Agent[Any]] = {}
        self.open: dict[str, list[int]] = {}

    def decide(self, names: list[str], rng: np.random.Generator) -> None:
        x = rng.normal(size=(len(names), self.width))
        found = self.panel.decide(names, x)
        again = self.panel.decide(names, x, found.number)
        assert again.z.tobytes() == found.z.tobytes()
        for i, name in enumerate(names):
            if name not in self.alone:
                seed = series_seed(5, name)
                self.alone[name] = Agent(self.policy, problem=self.problem, seed=seed)
            ticket = self.alone[name].decide(x[i])
            assert found.z[i].tobytes() == ticket.z.tobytes()
            assert (found.number[i], found.status[i]) == (ticket.id, ticket.status)
            self.open.setdefault(name, []).append(ticket.id)

    def observe(self, names: list[str], rng: np.random.Generator, comes: float = 0.9) -> None:
        names = [name for name in names if self.open.get(name)]
        if not names:
            return
        numbers = [int(rng.choice(self.open[name])) for name in names]
        xi = rng.gamma(4.0, 5.0, size=(len(names), self.problem.dims.xi))
        xi[rng.random(len(names)) > comes] = np.nan
        found = self.panel.observe(names, xi, numbers)
        for i, (name, number) in enumerate(zip(names, numbers, strict=True)):
            self.open[name].remove(number)
            if np.isnan(xi[i]).any():
                self.alone[name].forget(number)
                continue
            stage = self.alone[name].observe(number, xi[i])
            assert stage is not None
            assert (found.cost[i], bool(found.feasible[i])) == (stage.cost, bool(stage.feasible))


@pytest.mark.parametrize("name", IN_ROWS)
def test_a_panel_is_its_series_alone(name: str) -> None:
    policy = policies()[name]
    lives, rng = Lives(policy, played_on(policy), 3), np.random.default_rng(0)
    for t in range(12):
        some = [one for one in NAMES if rng.random() < 0.7 and (one != "late" or t > 4)]
        if some:
            lives.decide(some, rng)
        lives.observe([one for one in NAMES if rng.random() < 0.7], rng)


steps = st.lists(st.tuples(st.booleans(), st.sets(st.sampled_from(NAMES), min_size=1)), max_size=30)


@settings(max_examples=15, deadline=None)
@given(steps, st.integers(0, 1000), st.sampled_from(["light", "average", "latest"]))
def test_whatever_comes_when_a_panel_is_its_series_alone(
    steps: list[tuple[bool, set[str]]], seed: int, name: str
) -> None:
    chosen = {
        "light": LIGHT,
        "average": SampleAverage(SHOP),
        "latest": SampleAverage(SHOP, latest=3),
    }
    lives, rng = Lives(chosen[name], SHOP, 2), np.random.default_rng(seed)
    for decides, some in steps:
        if decides:
            lives.decide(sorted(some), rng)
        else:
            lives.observe(sorted(some), rng)


@pytest.mark.parametrize("policy", [LIGHT, SampleAverage(SHOP)], ids=["light", "average"])
def test_a_panel_that_was_saved_goes_on(policy: Any, tmp_path: Path) -> None:
    lives, rng = Lives(policy, SHOP, 2), np.random.default_rng(1)
    for t in range(8):
        lives.decide(list(NAMES[: 3 + t // 4]), rng)
        lives.observe(list(NAMES), rng, comes=0.8)
        lives.panel.save(tmp_path / "panel.bin")
        lives.panel.close()
        lives.panel = PanelAgent.load(tmp_path / "panel.bin", policy)
    lives.panel.save(tmp_path / "again.bin")
    assert (tmp_path / "again.bin").read_bytes() == (tmp_path / "panel.bin").read_bytes()
    with pytest.raises(CheckpointError, match=r"another configuration. What differs: policy"):
        PanelAgent.load(tmp_path / "panel.bin", Constant([3.0]), problem=SHOP)
    Agent(LIGHT).save(tmp_path / "one.bin")
    with pytest.raises(CheckpointError, match="something else than a panel"):
        PanelAgent.load(tmp_path / "one.bin", LIGHT)


@pytest.mark.parametrize("many", [300, long(2000)])
def test_many_series_are_played_in_parts(many: int) -> None:
    """More than go into one call, in any order, and some of them at other stages."""
    names = [f"shop {i}" for i in range(many)]
    rng = np.random.default_rng(2)
    x, xi = rng.normal(size=(6, many, 2)), rng.gamma(4.0, 5.0, size=(6, many, 1))
    panel = PanelAgent(LIGHT)
    said = []
    for t in range(6):
        order = rng.permutation(many)[: many if t % 2 else many // 2]
        some = [names[i] for i in order]
        said.append((order, panel.decide(some, x[t, order]).z))
        panel.observe(some, xi[t, order])
    for i in (0, 17, many - 1):
        agent = Agent(LIGHT, seed=series_seed(0, names[i]))
        for t, (order, z) in enumerate(said):
            for at in np.flatnonzero(order == i):
                ticket = agent.decide(x[t, i])
                assert ticket.z.tobytes() == z[at].tobytes()
                agent.observe(ticket.id, xi[t, i])


def test_scenarios_are_those_of_each_series() -> None:
    panel = PanelAgent(SampleAverage(SHOP))
    panel.decide(["a", "b"], [[0.0], [0.0]])
    panel.observe(["a", "b"], [[3.0], [4.0]])
    panel.decide(["a"], [[0.0]])
    panel.observe(["a"], [[5.0]])
    scenarios, w = panel.scenarios(["b", "a"], [[0.0], [0.0]])
    assert scenarios[..., 0].tolist() == [[4.0, 4.0], [3.0, 5.0]]
    assert w.tolist() == [[1.0, 0.0], [0.5, 0.5]]
    with pytest.raises(ValueError, match="Series 'c' have no scenarios"):
        panel.scenarios(["a", "c"], [[0.0], [0.0]])
    assert panel.names == ("a", "b")
    assert panel.decide(["c"], [[0.0]]).number.tolist() == [0]


def asked() -> PanelAgent[Any]:
    panel = PanelAgent(LIGHT, max_open=2)
    panel.decide(["a", "b"], [[0.0], [1.0]])
    panel.observe(["a"], [[3.0]])
    panel.decide(["a"], [[0.5]])
    return panel


WRONG: dict[str, tuple[Any, str]] = {
    "twice": (lambda p: p.decide(["a", "a"], [[0.0], [0.0]]), "different series. Got \"'a' twice"),
    "one text": (lambda p: p.decide("a", [[0.0]]), "a sequence of names of series"),
    "too few": (lambda p: p.decide(["a", "b"], [[0.0]]), "2 contexts of 1 numbers"),
    "wider": (lambda p: p.decide(["a"], [[0.0, 1.0]]), "1 contexts of 1 numbers"),
    "endless": (lambda p: p.decide(["a"], [[np.inf]]), "must be finite"),
    "early": (lambda p: p.decide(["a"], [[0.0]], [3]), "'a' have not come to the decision of that"),
    "gone": (lambda p: p.decide(["a"], [[0.0]], [0]), "'a' took that decision too long ago"),
    "otherwise": (lambda p: p.decide(["b"], [[2.0]], [0]), "under another context"),
    "nothing open": (lambda p: p.observe(["c"], [[1.0]]), "'c' have no such decision"),
    "half": (lambda p: p.observe(["a"], [[1.0, 2.0]]), r"shape \(..., 1\)"),
    "numbers": (lambda p: p.decide(["a"], [[0.0]], ["x"]), "1 whole numbers, one for each series"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_changes_nothing(name: str, tmp_path: Path) -> None:
    panel = asked()
    call, said = WRONG[name]
    with pytest.raises(ValueError, match=said):
        call(panel)
    for number, one in enumerate((panel, asked())):
        one.save(tmp_path / f"{number}.bin")
    assert (tmp_path / "0.bin").read_bytes() == (tmp_path / "1.bin").read_bytes()


def test_too_much_that_waits_is_refused() -> None:
    panel = asked()
    panel.decide(["a", "b"], [[0.1], [0.1]])
    with pytest.raises(ValueError, match="'a', 'b' have 2 decisions that wait"):
        panel.decide(["a", "b"], [[0.2], [0.2]])
    assert panel.open(["a", "b", "c"]).tolist() == [2, 2, 0]
    assert panel.decisions(["a", "b", "c"]).tolist() == [3, 2, 0]


def test_an_outcome_is_learned_once() -> None:
    panel = asked()
    first = panel.observe(["a", "b"], [[3.0], [4.0]], [1, 0])
    again = panel.observe(["a", "b"], [[3.0], [4.0]], [1, 0])
    assert np.isfinite(first.cost).all()
    assert np.isnan(again.cost).all()
    with pytest.raises(ValueError, match="'b' already have another outcome"):
        panel.observe(["a", "b"], [[3.0], [5.0]], [1, 0])


def test_policies_that_are_no_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="a policy whose states are rows"):
        PanelAgent(policies()["Ensemble"])
    panel = PanelAgent(policies()["Shadowed"], problem=KNAPSACK)
    with pytest.raises(ValueError, match="decides without a memo"):
        panel.decide(["a"], [[0.0, 1.0, 2.0]])
    assert panel.names == ()


def days_of(panel: PanelAgent[Any], days: range, seed: int = 3) -> list[bytes]:
    """What a panel decides for series, one of which begins late, whose outcomes come a day late."""
    said = []
    for day in days:
        rng = np.random.default_rng([seed, day])
        names = [f"shop {i}" for i in range(12 if day > 8 else 11)]
        x = np.stack([np.full(len(names), day % 2), rng.random(len(names))], axis=1)
        said.append(panel.decide(names, x).z.tobytes())
        some = [name for name in names if panel.open([name])[0] > 1]
        if some:
            panel.observe(some, rng.poisson(20.0, size=(len(some), 1)).astype(float))
    return said


ACROSS = AcrossSeries(trees=4, levels=3, fewest=20)


def test_a_model_of_all_series_is_seen_by_each() -> None:
    """Its quantiles are the last contexts of the policy, of before any outcome of the day."""
    both, alone = PanelAgent(LIGHT, across=ACROSS), PanelAgent(LIGHT)
    state = ACROSS.init(np.array(0))
    names, places = [f"shop {i}" for i in range(12)], np.arange(12)
    known = 0
    for day in range(8):
        rng = np.random.default_rng(day)
        x, sold = rng.random((12, 2)), rng.poisson(20.0, size=(12, 1)).astype(float)
        rows = ACROSS.rows(state, places, x)
        seen = np.hstack([x, ACROSS.quantiles(state, rows)])
        known += int(np.isfinite(seen).all())
        assert both.decide(names, x).z.tobytes() == alone.decide(names, seen).z.tobytes()
        assert both.scenarios(names, x)[0].shape[0] == 12 if day else True
        both.observe(names, sold)
        alone.observe(names, sold)
        state = ACROSS.learn(state, places, rows, sold[:, 0])
        state = ACROSS.refit(state) if ACROSS.is_due(state) else state
    assert known > 3
    with pytest.raises(ValueError, match="has no agent by itself"):
        both.alone("shop 1")


def test_a_panel_with_a_model_of_all_series_goes_on_from_its_file(tmp_path: Path) -> None:
    whole, path = days_of(PanelAgent(LIGHT, across=ACROSS), range(14)), tmp_path / "panel.bin"
    panel = PanelAgent(LIGHT, across=ACROSS)
    first = days_of(panel, range(9))
    panel.save(path)
    again = PanelAgent.load(path, LIGHT, across=ACROSS)
    assert first + days_of(again, range(9, 14)) == whole
    with pytest.raises(CheckpointError, match="What differs: across"):
        PanelAgent.load(path, LIGHT)
    with pytest.raises(ValueError, match="None where an outcome has several numbers"):
        PanelAgent(policies()["SampleAverage"], across=ACROSS)


def test_a_decision_under_a_context_with_gaps_is_told_again() -> None:
    panel = PanelAgent(LIGHT)
    first = panel.decide(["a"], [[np.nan, 1.0]])
    assert panel.decide(["a"], [[np.nan, 1.0]], first.number).z.tobytes() == first.z.tobytes()


class StopError(Exception):
    pass


def test_what_is_interrupted_while_it_learns_is_not_gone_on_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [f"shop {i}" for i in range(600)]
    panel = PanelAgent(LIGHT)
    panel.decide(names, np.zeros((600, 1)))
    calls: list[int] = []
    step = LightMixture.step

    def stopped(*parts: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise StopError
        return step(*parts)

    monkeypatch.setattr(LightMixture, "step", stopped)
    with pytest.raises(StopError):
        panel.observe(names, np.ones((600, 1)))
    with pytest.raises(ValueError, match="Learning was interrupted"):
        panel.decide(names, np.zeros((600, 1)))
