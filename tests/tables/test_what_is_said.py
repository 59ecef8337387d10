"""Sentences of reports and commands say no more than is known, of tables that are short or odd."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from pages import parsed

from bocopt.app import Case, Spec, backtest_panel, panel_of
from bocopt.app.features.series import Series
from bocopt.app.findings import Findings, PanelFindings
from bocopt.app.page import page, panel_page
from bocopt.app.page.discovered import discovered_words
from bocopt.app.page.headline import sentence
from bocopt.app.page.view import ReportView
from bocopt.app.playing.play import paid
from bocopt.app.playing.summed import compared_in_all
from bocopt.app.playing.verdict import compared
from bocopt.app.reading.columns import Column, Table
from bocopt.compared import NOW, Compared
from bocopt.core import Array
from bocopt.policies import Constant
from bocopt.problems import Newsvendor

#: An order z that sells out earns z, as the benefits of these problems are costs below 0.
_PROBLEM = Newsvendor(unit_cost=[1.0], price=2.0, upper=100.0, largest_demand=100.0)


def found_of(xi: Array, now: Array, new: Array, *, ranged: bool = True) -> Findings:
    """Findings on two policies whose decisions are given, on outcomes (T)."""
    t = np.arange(len(xi))
    series = Series(
        time=tuple(f"day {n}" for n in t.tolist()),
        x=np.zeros((len(t), 1)),
        x_names=("nothing",),
        xi=xi[:, None],
        xi_names=("papers",),
        arrives=t + 1,
        now=now[:, None],
        lines=t + 2,
        notes=(),
        warm_up=0,
    )
    orders = {"new": new, NOW: now}
    played = {
        name: paid(_PROBLEM, series, z[:, None], np.zeros(len(t))) for name, z in orders.items()
    }
    certified = compared(_PROBLEM, series, NOW, played, warm_up=0, scale=None, delta=0.05)
    return Findings(
        title="A kiosk",
        unit="EUR",
        sense=_PROBLEM.sense,
        alpha=None,
        series=series,
        warm_up=0,
        now=NOW,
        played=played,
        compared=certified if ranged else unranged(certified),
        code="",
    )


def unranged(found: Mapping[str, Compared]) -> dict[str, Compared]:
    """Comparisons as of a problem that knows no ranges."""
    return {
        name: one._replace(
            certificate=one.certificate._replace(applicable=np.array(False)),
            shares=None,
            at_random=None if one.at_random is None else unranged({name: one.at_random})[name],
        )
        for name, one in found.items()
    }


def large(found: Findings) -> str:
    return sentence(ReportView(found, {}))


def full(stages: int, value: float) -> Array:
    return np.full(stages, value)


def test_costs_that_differ_and_cancel_are_not_the_same() -> None:
    turns = np.arange(400) % 2 == 0
    new, now = (np.where(turns == first, 40.0, 50.0) for first in (True, False))
    for ranged in (True, False):
        assert "cost the same" not in large(found_of(full(400, 50.0), now, new, ranged=ranged))
    said = large(found_of(full(400, 50.0), now, now))
    assert said == "<bdi>new</bdi> and what you do now cost the same at every stage."


@pytest.mark.parametrize("ranged", [True, False])
def test_decisions_that_differ_where_outcomes_are_missing_are_not_the_same(ranged: bool) -> None:
    xi, new, now = full(40, 50.0), full(40, 50.0), full(40, 50.0)
    xi[5], new[5] = np.nan, 10.0
    said = large(found_of(xi, now, new, ranged=ranged))
    assert "cost the same" not in said
    assert "which is better is open" in said
    new[5] = 50.0
    assert ("cost the same at every stage" in large(found_of(xi, now, new))) is True


@pytest.mark.parametrize("stages", [1, 2, 5, 19])
def test_few_stages_have_no_interval_of_a_bootstrap(stages: int) -> None:
    rng = np.random.default_rng(stages)
    xi, now, new = rng.uniform(0.0, 100.0, stages), full(stages, 40.0), full(stages, 50.0)
    found = found_of(xi, now, new, ranged=False)
    assert "a stage (no interval) " in large(found)
    assert large(found).endswith("which is better is open.")
    said = parsed(page(found)).text
    assert "roughly 95%" not in said
    assert "A block bootstrap needs 20 stages at least, not all alike." in said
    for one in found_of(xi, now, new).compared.values():
        assert "For one look: a block bootstrap needs 20 stages at least, not all" in one.words()


def test_why_one_outcome_has_no_interval_is_said() -> None:
    found = found_of(full(1, 50.0), full(1, 40.0), full(1, 50.0))
    said = parsed(page(found)).text
    assert "There is no interval that holds at all times. It needs two outcomes at least." in said


def test_differences_that_are_all_alike_tell_a_bootstrap_nothing() -> None:
    found = found_of(full(60, 50.0), full(60, 40.0), full(60, 50.0))
    assert "roughly" not in found.compared["new"].words()
    assert "a stage (no interval) " in large(found._replace(compared=unranged(found.compared)))


def test_a_percent_is_explained_where_there_is_one() -> None:
    found = found_of(full(60, 50.0), full(60, 40.0), full(60, 50.0))
    assert found.compared["new"].shares is None  # costs are below 0
    assert "the percent is" not in parsed(page(found)).text


def test_stages_with_an_outcome_are_named_where_others_have_none() -> None:
    """They may be those of a season, in which another one was better."""
    xi, now, new = full(200, 50.0), full(200, 40.0), full(200, 50.0)
    xi[100:] = np.nan
    found = found_of(xi, now, new)
    assert "against what you do now, at the stages with an outcome." in large(found)
    words = found.compared["new"].words()
    assert "at all times at once, expected at the stages with an outcome: " in words
    said = large(found._replace(compared=unranged(found.compared)))
    assert "against what you do now, at the stages with an outcome" in said


def panel_found(
    y: Array, now: Array, new: float = 50.0, start: str = "2024-01-01"
) -> PanelFindings:
    """A backtest of one order at each (time, series) of outcomes and orders of now."""
    times, many = y.shape
    days = np.datetime64(start) + np.arange(times)
    columns: dict[str, Column] = {
        "shop": [f"shop {n}" for _ in range(times) for n in range(many)],
        "day": [str(day) for day in days for _ in range(many)],
        "y": y.ravel(),
        "now": now.ravel(),
    }
    frame = Table("shops.csv", "row", np.arange(1, y.size + 1), columns)
    panel = panel_of(frame, Spec("y", time="day", series="shop", decisions="now"))
    policies = {"new": Constant([new])}
    with TemporaryDirectory() as folder:
        return backtest_panel(
            Case(
                name="shops",
                problem=_PROBLEM,
                policies=policies,
                panel=panel,
                unit="EUR",
                results=Path(folder),
            )
        )


def without_ranges(found: PanelFindings) -> PanelFindings:
    compared = unranged(found.totals.compared)
    return found._replace(totals=found.totals._replace(compared=compared))


@pytest.fixture(scope="module")
def half_missing() -> PanelFindings:
    """Two series that gain 10 at each time; of the second every other outcome is missing."""
    y = np.full((100, 2), 50.0)
    y[::2, 1] = np.nan
    return panel_found(y, np.full((100, 2), 40.0))


def test_sums_over_the_outcomes_that_came_are_called_that(half_missing: PanelFindings) -> None:
    """They are less than what was to be expected of all series, also where chance hides them."""
    one = half_missing.totals.compared["new"]
    assert one.at_random is not None
    assert -one.at_random.difference.low < 19.0  # and 20 is to be expected of both series
    words = one.words(" EUR")
    assert "100 stages, on the 150 of 200 outcomes that came)" in words
    assert "expected at these stages, in sums over the outcomes that came: " in words
    assert "Feasible in 100% of the 150 decisions whose outcome is known" in words
    said = parsed(panel_page(half_missing)).text
    assert "Feasible: share of the decisions whose outcome is known." in said


def test_a_large_sentence_on_such_sums_says_so() -> None:
    y = np.full((100, 2), 50.0)
    y[:80, 1] = y[::2, 0] = np.nan
    found = panel_found(y, np.full((100, 2), 40.0))
    said = large(found.totals)
    assert said.startswith("Whatever the 130 of 200 outcomes that are missing were")
    assert "against what you do now, in sums over the outcomes that came" in said


def test_a_year_has_as_many_decisions_also_where_outcomes_are_missing() -> None:
    y = np.full((100, 2), 50.0)
    y[30:90] = np.nan
    found = panel_found(y, np.full((100, 2), 40.0))
    said = parsed(panel_page(found)).text
    low, high = found.totals.compared["new"].difference[1:3]
    ends = f"{-365.25 * high:,.0f} to {-365.25 * low:,.0f} EUR"
    assert f"such times it would have saved {ends} (95%), whatever the missing outcomes" in said
    assert "365 times of decisions, as often as from 2024-01-01 to 2024-04-09" in said


def test_a_year_without_an_interval_says_so(half_missing: PanelFindings) -> None:
    assert "In a year" in parsed(panel_page(half_missing)).text
    assert "In a year" not in parsed(panel_page(without_ranges(half_missing))).text
    y = np.random.default_rng(0).uniform(0.0, 100.0, (100, 2))
    whole = panel_found(y, np.full((100, 2), 40.0))
    said = parsed(panel_page(without_ranges(whole))).text
    assert "at the average that was seen, of which no interval is known" in said


def test_names_of_series_rest_on_what_was_recorded() -> None:
    now = np.full((100, 2), 40.0)
    now[::3, 1] = np.nan
    provided = "provided that whether a decision was recorded does not depend on what came of it"
    found = panel_found(np.full((100, 2), 50.0), now)
    assert found.discoveries is not None
    assert provided in discovered_words(found.discoveries, found.panel.names)
    assert provided in parsed(panel_page(found)).text
    whole = panel_found(np.full((100, 2), 50.0), np.full((100, 2), 40.0))
    assert whole.discoveries is not None
    assert provided not in discovered_words(whole.discoveries, whole.panel.names)


def test_the_range_of_one_series_is_checked_by_its_width_also_where_costs_are_large() -> None:
    """Others of the same time must not hide it in the sum of their ranges."""
    found = panel_found(np.full((60, 2), 50.0), np.full((60, 2), 40.0))
    far = 1e9
    each = [
        {name: one._replace(cost=one.cost + far) for name, one in played.items()}
        for played in found.each
    ]
    each[0]["new"] = each[0]["new"]._replace(cost=each[0]["new"].cost + 20.5)  # in [-10, 10]
    one = compared_in_all(_PROBLEM, found.panel, NOW, each, scale=None, delta=0.05)["new"]
    assert not one.certificate.applicable
    assert "outside the support that the range rests on on 60 stages" in one.certificate.note
