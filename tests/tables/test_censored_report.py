"""A report of outcomes that were seen in part: what it says is so whatever the rest was."""

from pathlib import Path

import numpy as np
import pytest
import test_censored
from small_cases import ran
from test_censored import PROBLEM, sales, shop

from bocopt.app import open_case
from bocopt.app.backtesting import backtest
from bocopt.app.findings import Findings
from bocopt.app.page.feasible import feasibility
from bocopt.app.page.headline import headline
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


def test_words_say_that_a_part_was_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    findings = played(tmp_path, monkeypatch, PENALISED)
    view = ReportView(findings, {})
    said, words = unmarked(headline(view)), findings.compared["SampleAverage"].words()
    assert said.startswith("Whatever the 32 of 70 outcomes that were not seen in full were")
    assert "Over 38 stages whose outcome is known, and 32 of which it is not in full" in said
    assert "An outcome that was not seen in full counts as the worst" in said
    assert "whatever the 32 outcomes that were not seen in full were" in words
    for told in (said, words):
        assert "does not depend on what it was" not in told  # it does
    assert "(seen: between " in findings.played["SampleAverage"].said[0]


def test_decisions_of_which_it_is_not_known_are_neither_feasible_nor_infeasible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = played(tmp_path, monkeypatch, SERVED)
    now = findings.played["SampleAverage"]
    unknown = np.isnan(now.feasible)
    assert 0 < unknown.sum() < len(unknown)
    said = unmarked(feasibility(ReportView(findings, {})))
    assert "outcomes that were not seen in full were" in said
    assert "whether the target of 90% is met is open" in said


def test_a_report_of_sales_is_written(tmp_path: Path) -> None:
    code, said = ran("backtest", str(shop(tmp_path, 'censored = "sold_out"\n')))
    assert code == 0, said
    assert "were not seen in full" in said
