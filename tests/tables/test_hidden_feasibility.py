"""Outcomes that were never recorded: what is said of feasibility holds whatever they were."""

import re

import numpy as np
import pytest
from pages import Parsed, parsed

from bocopt.app.features.series import Series
from bocopt.app.findings import Findings, Played
from bocopt.app.page import page
from bocopt.app.page.feasible import band
from bocopt.app.page.view import ReportView
from bocopt.core import Array, Sense
from bocopt.guarantees import Feasibility
from bocopt.guarantees.feasibility import Counts

STAGES, HIDDEN = 400, 100  # feasible in 75% of the stages, of which it is seen in those alone


def findings(hidden: Array, *, alpha: float | None = 0.9, warm_up: int = 0) -> Findings:
    """Of a policy that is infeasible where the outcome is above 60; some outcomes are hidden."""
    xi = np.where(np.arange(STAGES) % (STAGES // HIDDEN) == 0, 80.0, 40.0)
    xi = np.where(hidden, np.nan, xi)
    feasible = np.where(hidden, np.nan, xi <= 60.0)
    t = np.arange(STAGES)
    arrives = np.where(hidden, STAGES, t + 1)
    times = tuple(f"stage {i}" for i in t)
    x = np.zeros((STAGES, 1))
    series = Series(times, x, ("x",), xi[:, None], ("demand",), arrives, None, t, ())
    one = Played(np.full((STAGES, 1), 60.0), xi, feasible, xi, t * 0, {}, ())
    played = {"policy": one, "other": one._replace(cost=xi + 1.0)}
    return Findings("", "", Sense.MINIMISE, alpha, series, warm_up, None, played, {}, "")


def shown(f: Findings) -> Parsed:
    return parsed(page(f))


HIGH = np.arange(STAGES) % (STAGES // HIDDEN) == 0


def test_the_share_is_of_what_is_known_and_the_band_of_all() -> None:
    f = findings(HIGH)
    said = re.search(r"policy was feasible in .*? is open\.", shown(f).text)
    assert said is not None
    assert said[0] == (
        "policy was feasible in 100% of the 300 stages whose outcome is known (95%, at all times, "
        "of all 400 whatever the 100 missing outcomes were: 67.5 to 100): whether the target of "
        "90% is met is open."
    )
    low, high = band(ReportView(f, {}), f.played["policy"])
    assert low < 0.75 < high
    [table] = [each for each in shown(f).tables if each.header[0] == "policy"]
    assert [row[table.header.index("feasible (target 90%)")] for row in table.rows] == [
        "100% (67.5 to 100)"
    ] * 2
    assert "of the stages whose outcome is known, with a 95% band of all" in shown(f).text


def test_without_a_target_it_is_not_said_that_all_were_feasible() -> None:
    said = shown(findings(HIGH, alpha=None)).text
    assert "Every decision of every policy whose outcome is known was feasible." in said
    assert "Every decision of every policy was feasible." not in said
    assert "the chance of one that is not is at most 32.5% for policy" in said
    assert "whatever the 100 missing outcomes were" in said


def test_what_is_surely_met_or_missed_is_so_whatever_is_missing() -> None:
    few = HIGH & (np.arange(STAGES) < 8)
    assert "the target of 50% is met" in shown(findings(few, alpha=0.5)).text
    low = ~HIGH & (np.arange(STAGES) < 8)
    assert "the target of 90% is not met" in shown(findings(low)).text


def test_where_no_outcome_is_missing_nothing_is_added() -> None:
    f = findings(HIGH & False)
    counts = Counts.of(np.array(400.0), np.array(100.0))
    least, most = Feasibility().interval(counts)
    low, high = band(ReportView(f, {}), f.played["policy"])
    assert (low, high) == (float(1.0 - most), float(1.0 - least))
    said = shown(f).text
    assert f"in 75.0% of the stages (95%, at all times: {100 * (1 - most):.1f} to " in said
    assert "missing outcome" not in said


def test_the_warm_up_and_decisions_that_were_not_taken_are_not_missing() -> None:
    f = findings(HIGH, warm_up=40)
    assert "of the 270 stages whose outcome is known" in shown(f).text
    z = f.played["policy"].z.copy()
    z[:200] = np.nan
    absent = f.played["policy"]._replace(z=z)
    assert len(ReportView(f, {}).missing(absent)) == 50


@pytest.mark.parametrize("hides", [0.0, 0.3])
def test_the_safe_interval_misses_no_more_than_it_may(hides: float) -> None:
    """Infeasible outcomes are hidden, and a share of the others."""
    rng, runs, stages = np.random.default_rng(0), 400, 300
    bad = rng.random((runs, stages)) < 0.25
    hidden = bad | (rng.random((runs, stages)) < hides)
    known = (~hidden).sum(axis=-1).astype(float)
    counts = Counts.of(known, np.zeros(runs))
    least, most = Feasibility().interval(counts, stages - known)
    assert ((least <= 0.25) & (0.25 <= most)).mean() >= 0.95
    naive = Feasibility().interval(counts)[1]
    assert (naive < 0.25).mean() > 0.9  # without them the truth is nearly always missed
