"""A report of outcomes that were seen in part: what it says is so whatever the rest was."""

from pathlib import Path

import numpy as np
import pytest
import test_censored
from test_censored import PROBLEM, sales, shop

from bocopt.app import open_case
from bocopt.app.backtesting import backtest
from bocopt.app.findings import Findings
from bocopt.app.page.feasible import feasibility
from bocopt.app.page.markup import unmarked
from bocopt.app.page.view import ReportView
from bocopt.core import judge

SERVED = '''"""A shop that promises to serve."""

from bocopt import minimise, pos, program, real


@program(xi=1, chance=0.9, support=(0, 200), order=real(1, upper=200))
def SHOP(xi, order):
    return minimise(order.sum() - 2 * (xi - pos(xi - order)).sum()), pos(xi - order).sum() <= 4
'''


def played(folder: Path, monkeypatch: pytest.MonkeyPatch, problem: str) -> Findings:
    monkeypatch.setattr(test_censored, "PROBLEM", problem)
    findings, _ = backtest(open_case(shop(folder, 'censored = "sold_out"\n')))
    return findings


PENALISED = PROBLEM.replace("price=1.0", "price=1.0, penalty=0.5")


@pytest.mark.parametrize("problem", [PROBLEM, PENALISED], ids=["free", "penalised"])
def test_a_comparison_holds_whatever_the_demand_was_beyond_the_stock(
    problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = played(tmp_path, monkeypatch, problem)
    kind, found = open_case(tmp_path / "bocopt.toml").problem, findings.compared["SampleAverage"]
    demand, x = np.array(sales()[1])[10:, None], np.zeros((70, 1))
    assert found.missing > 0
    for sold_out in (demand, np.full((70, 1), 30.0), np.full((70, 1), 200.0)):
        xi = np.where(demand < 30.0, demand, sold_out)
        taken, other = (
            judge(kind, x, findings.played[name].z[10:], xi)[0]
            for name in ("what is done now", "SampleAverage")
        )
        d, more = found.difference, (other - taken).mean()
        assert d.low - 1e-9 <= d.least - 1e-9 <= more <= d.most + 1e-9 <= d.high + 2e-9


def test_decisions_of_which_it_is_not_known_are_neither_feasible_nor_infeasible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = played(tmp_path, monkeypatch, SERVED)
    now = findings.played["SampleAverage"]
    unknown = np.isnan(now.feasible)
    assert 0 < unknown.sum() < len(unknown)
    said = unmarked(feasibility(ReportView(findings, {})))
    assert "outcomes not seen in full were" in said
    assert "whether the target of 90% is met is open" in said
