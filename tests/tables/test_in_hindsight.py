"""Hindsight of a case: solved once for all who are played, with the numbers of stage by stage."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_cases import written

from bocopt import Agent, Solution
from bocopt.app.backtesting import backtest
from bocopt.app.case import Case
from bocopt.app.opening import open_case
from bocopt.app.playing import in_hindsight
from bocopt.app.playing.in_hindsight import KeptCosts, least_costs
from bocopt.app.side_by_side import play_side_by_side
from bocopt.core import Array
from bocopt.problems.hindsight import hindsight
from bocopt.problems.program import Program


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many programs with one scenario each call solved."""
    solve, rows = Program.solve, list[int]()

    def counting(self: Program, scenarios: Array, w: Array, x: Array) -> Solution:
        if scenarios.shape[-2] == 1:
            rows.append(int(np.prod(scenarios.shape[:-2])))
        return solve(self, scenarios, w, x)

    monkeypatch.setattr(Program, "solve", counting)
    return rows


def cut(case: Case, stages: int) -> Case:
    """The same with outcomes of so many stages; that of the third never came."""
    xi = case.data.xi.copy()
    xi[[2, *range(stages, len(xi))]] = np.nan
    return replace(case, series=case.data._replace(xi=xi))


def test_a_study_solves_it_once_for_all_policies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, solved: list[int]
) -> None:
    monkeypatch.setattr(in_hindsight, "_LONG", 1e6)  # however slow this machine is
    case = open_case(written(tmp_path, "staffing"))
    assert len(case.everyone) == 2
    found, _ = backtest(case)
    assert solved.count(59) == 1  # after the first; the other ones are what was decided
    assert sum(solved) < 60 + 5
    least = [hindsight(case.problem, x, xi).cost for x, xi in _stages(case)]
    for one in found.played.values():
        assert (one.hindsight == least).all()
    solved.clear()
    backtest(case)
    assert not solved  # it was kept
    case.kept_costs.keep(np.zeros(60))
    found, _ = backtest(case, fresh=True)
    assert (found.played["SampleAverage"].hindsight == least).all()


def _stages(case: Case) -> Any:
    return zip(case.data.x, case.data.xi, strict=True)


def test_it_goes_on_where_it_stopped(tmp_path: Path, solved: list[int]) -> None:
    case = cut(open_case(written(tmp_path, "staffing")), 12)
    kept = KeptCosts(tmp_path / "of" / "costs.bin", "digest")
    whole = least_costs(case.problem, case.data)
    assert (np.isnan(whole) == [t == 2 or t >= 12 for t in range(60)]).all()
    half = np.where(np.arange(60) < 7, whole, np.nan)
    kept.keep(half)
    solved.clear()
    assert np.array_equal(least_costs(case.problem, case.data, kept), whole, equal_nan=True)
    assert sum(solved) == 5
    for other in (KeptCosts(kept.path, "another"), KeptCosts(tmp_path / "none.bin", "digest")):
        assert other.latest() is None
    kept.path.write_bytes(b"broken")
    assert kept.latest() is None
    kept.forget()
    kept.forget()
    assert not kept.path.exists()


def test_slow_programs_are_kept_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, solved: list[int]
) -> None:
    case = cut(open_case(written(tmp_path, "staffing")), 12)
    whole = least_costs(case.problem, case.data)
    monkeypatch.setattr(in_hindsight, "_LONG", 0.0)
    kept = KeptCosts(tmp_path / "costs.bin", "digest")
    case = cut(open_case(tmp_path / "bocopt.toml"), 12)  # of which nothing is recent
    solved.clear()
    assert np.array_equal(least_costs(case.problem, case.data, kept), whole, equal_nan=True)
    assert solved == [1] * 11
    latest = kept.latest()
    assert latest is not None
    assert np.array_equal(latest, whole, equal_nan=True)


def test_processes_side_by_side_leave_it_for_all(tmp_path: Path, solved: list[int]) -> None:
    case = open_case(written(tmp_path, "staffing"))
    play_side_by_side(case, 2)
    latest = case.kept_costs.latest()
    assert latest is not None
    found, _ = backtest(case)
    assert not solved
    for one in found.played.values():
        assert (one.hindsight == latest).all()


def test_what_an_agent_knows_does_not_depend_on_hindsight(tmp_path: Path) -> None:
    """One that a study played goes on as one that always looked back."""
    case = open_case(written(tmp_path, "staffing"))
    policy, files = case.policies["SampleAverage"], []
    for asked in (True, False):
        agent = Agent(policy, problem=case.problem, hindsight=asked)
        for x, xi in list(_stages(case))[:20]:
            agent.observe(agent.decide(x).id, xi)
        agent.save(tmp_path / f"{asked}.bin")
        agent.close()
        files.append((tmp_path / f"{asked}.bin").read_bytes())
    assert files[0] == files[1]
