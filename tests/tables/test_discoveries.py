"""Series that are named better or worse: by evidence of each, and seldom wrongly."""

from pathlib import Path

import numpy as np
import pytest
from lengths import long
from pages import parsed
from panel_claims import (
    PANELS,
    SERIES,
    Draw,
    each_by_itself,
    empty,
    half_of_them_better,
    named,
    picked,
    said,
    until,
)
from scipy.stats import binom
from small_panels import bakery

from bocopt.app import backtest_panel, open_case
from bocopt.app.findings import Discoveries
from bocopt.app.page import panel_page
from bocopt.app.page.discovered import discovered_words, verdicts
from bocopt.app.playing.discoveries import discoveries_of
from bocopt.app.playing.verdict import both
from bocopt.compared import NOW
from bocopt.core import Array, BoolArray
from bocopt.guarantees import Comparison, Evidence
from bocopt.guarantees.certificate import Shadow, folded

DELTA = 0.2


@pytest.mark.parametrize("runs", [20, long(400)])
@pytest.mark.parametrize("draw", PANELS, ids=lambda draw: draw.__name__)
def test_of_the_series_that_are_named_few_are_wrong(draw: Draw, runs: int) -> None:
    """Also where they depend on each other, and whoever looks stops at the first that is wrong."""
    panel = empty()
    wrong = sum(picked(panel, draw, DELTA, seed) for seed in range(runs))
    assert wrong <= binom.ppf(0.999, runs, DELTA)


def test_names_that_are_wrong_too_often_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when any evidence at all were enough."""

    def alone(log_e: Array, shares: Array, q: float) -> BoolArray:
        return log_e > 0.0

    monkeypatch.setattr("bocopt.app.playing.discoveries.discoveries", alone)
    panel = empty()
    wrong = sum(picked(panel, each_by_itself, DELTA, seed) for seed in range(20))
    assert wrong > binom.ppf(0.999, 20, DELTA)


def test_what_is_better_is_found_and_read() -> None:
    lucky, chances = half_of_them_better(np.random.default_rng(0))
    words = said(until(empty(), lucky, 120), DELTA)
    found = named(words)
    assert len(found) >= SERIES // 4
    assert f"better on average so far in {len(found)} of the 20 series (shop 00, " in words
    truly = {f"shop {n:02}" for n in np.flatnonzero(chances > 0.5).tolist()}
    assert {name for name, better in found if better} <= truly
    assert all(better for _, better in found)


def test_evidence_is_that_of_each_series_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever others there are, and however many are folded together."""
    case = open_case(bakery(tmp_path, missing=True))
    found, panel = backtest_panel(case), case.panel
    assert panel is not None
    assert found.discoveries is not None
    one, alone = Comparison(), []
    for series, played in zip(panel.series, found.each, strict=True):
        pair = both(case.problem, series, played[NOW], played["SampleAverage"], series.warm_up)
        stages = [
            Evidence(cost, possible=possible, shadows=(Shadow(other, low, high).where(came),))
            for cost, other, low, high, possible, came in zip(
                pair.pair.own.value,
                pair.others,
                *pair.pair.difference[1:],
                pair.possible,
                pair.came,
                strict=True,
            )
        ]
        assert not pair.came.all()
        state = folded(one, stages)
        alone.append([float(one.log_evidence(state, worse=worse)) for worse in (False, True)])
    log_e = found.discoveries.log_e
    assert log_e.tolist() == alone
    monkeypatch.setattr("bocopt.app.playing.discoveries._TOGETHER", 3)
    again = discoveries_of(case.problem, panel, NOW, "SampleAverage", found.each, delta=0.05)
    assert again.log_e.tolist() == alone
    turned = discoveries_of(case.problem, panel, "SampleAverage", NOW, found.each, delta=0.05)
    np.testing.assert_allclose(turned.log_e, log_e[:, ::-1])


def test_the_report_and_its_table_name_the_same_series(tmp_path: Path) -> None:
    found = backtest_panel(open_case(bakery(tmp_path)))
    assert found.discoveries is not None
    assert "in none of the 4 series yet" in parsed(panel_page(found)).text
    better, worse = np.array([True, False, False, True]), np.array([False, True, False, False])
    some = found.discoveries._replace(better=better, worse=worse)
    page = parsed(panel_page(found._replace(discoveries=some)))
    assert (
        "better on average so far in 2 of the 4 series (South, north) and worse in 1" in page.text
    )
    assert "(a/b c). Of all series that are named so, 5% at most" in page.text
    place = page.tables[-1].header.index("on average")
    shown = [row[place] for row in page.tables[-1].rows]
    assert shown == verdicts(some) == ["better", "worse", "open", "better"]


def test_long_lists_are_cut_and_counted() -> None:
    yes, no, log_e = np.ones(5, bool), np.zeros(5, bool), np.zeros((5, 2))
    found = Discoveries("Ensemble", "always 8", 0.05, log_e, yes, no)
    words = discovered_words(found, list("abcde"), listed=2)
    assert words.startswith(
        "Compared with always 8, Ensemble is better on average so far in 5 of the 5 series "
        "(a, b and 3 more) and worse in none. "
    )


def test_without_ranges_the_reason_is_told() -> None:
    none = np.zeros(3, bool)
    found = Discoveries("Ensemble", NOW, 0.05, np.full((3, 2), -np.inf), none, none)
    assert discovered_words(found, list("abc")) == (
        "Compared with what is done now, Ensemble can be called better or worse in none of the 3 "
        "series yet. That needs costs whose ranges are known before the outcome, and hold."
    )
