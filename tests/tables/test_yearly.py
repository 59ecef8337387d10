"""The gain of a year: as many times as were played in as long, and what that assumes is said."""

from pathlib import Path

import numpy as np
import pytest
from pages import parsed
from small_cases import changed
from small_panels import bakery

from bocopt.app import backtest_panel, open_case
from bocopt.app.findings import PanelFindings
from bocopt.app.page import panel_page
from bocopt.app.page.view import ReportView
from bocopt.app.page.yearly import in_a_year


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> PanelFindings:
    return backtest_panel(open_case(bakery(tmp_path_factory.mktemp("yearly"))))


def with_clock(found: PanelFindings, unit: str, every: int) -> PanelFindings:
    many = len(found.panel.time)
    clock = np.datetime64("2020-01", "M").astype(f"M8[{unit}]") + np.arange(many) * every
    return found._replace(panel=found.panel._replace(clock=clock))


@pytest.mark.parametrize(
    ("unit", "every", "times"), [("D", 1, 365.25), ("D", 7, 52.2), ("h", 1, 8766), ("M", 1, 12)]
)
def test_a_year_has_as_many_times_as_these(
    found: PanelFindings, unit: str, every: int, times: float
) -> None:
    view = ReportView(found.totals, {})
    year = in_a_year(with_clock(found, unit, every), view)
    assert year is not None
    assert year.always is not None
    assert year.times == pytest.approx(times, rel=0.002)
    one = found.totals.compared["SampleAverage"]
    assert year.gain == pytest.approx(-one.difference.seen * year.times)
    ends = -one.difference.high * year.times, -one.difference.low * year.times
    assert year.always == pytest.approx(ends)


def test_times_that_are_numbers_have_no_year(found: PanelFindings) -> None:
    numbers = found._replace(panel=found.panel._replace(clock=None))
    assert in_a_year(numbers, ReportView(found.totals, {})) is None
    assert "In a year" not in parsed(panel_page(numbers)).text


def test_the_report_says_what_a_year_assumes(found: PanelFindings) -> None:
    said = parsed(panel_page(found)).text
    assert "In a year of such times it would have earned" in said
    assert "less: 365 times of decisions, as often as from 2024-01-05 to 2024-01-24" in said
    assert "with as many series at each. Not all seasons of a year were seen." in said
    longer = parsed(panel_page(with_clock(found, "M", 1))).text
    assert "with as many series at each." in longer
    assert "seasons" not in longer


def test_one_policy_alone_has_no_gain(tmp_path: Path) -> None:
    path = changed(bakery(tmp_path), '["SampleAverage", "always"]', '["SampleAverage"]')
    alone = backtest_panel(open_case(changed(path, 'decisions = "baked"', "")))
    assert in_a_year(alone, ReportView(alone.totals, {})) is None
