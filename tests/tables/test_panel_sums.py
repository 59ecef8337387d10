"""Sums over the series of a time: an interval that holds however series depend on each other."""

from pathlib import Path

import numpy as np
import pytest
from small_cases import changed
from small_panels import ALONE, bakery

from bocopt.app import Case, Spec, backtest_panel, open_case, panel_of
from bocopt.app.findings import Played
from bocopt.app.playing.play import paid
from bocopt.app.playing.summed import compared_in_all
from bocopt.app.playing.verdict import compared
from bocopt.app.reading.columns import Table
from bocopt.compared import NOW, Compared
from bocopt.core import Array
from bocopt.problems import Newsvendor


def test_a_panel_of_one_series_is_compared_as_a_series(tmp_path: Path) -> None:
    path = bakery(tmp_path, shops=("north",), missing=True)
    case = open_case(changed(path, *ALONE[0]))
    assert case.panel is not None
    series = case.panel.series[0]
    found = backtest_panel(case)
    for name, one in found.totals.compared.items():
        alone = compared(
            case.problem, series, NOW, found.each[0], warm_up=4, scale=None, delta=case.delta
        )[name]
        assert_alike(one, alone)
        assert one.at_random is not None
        assert alone.at_random is not None
        assert_alike(one.at_random, alone.at_random)
        assert one.missing == alone.missing > 0


def assert_alike(one: Compared, other: Compared) -> None:
    np.testing.assert_allclose(one.difference, other.difference, rtol=1e-9)
    np.testing.assert_allclose(one.bootstrap, other.bootstrap, rtol=1e-9)
    np.testing.assert_allclose(one.differences, other.differences)
    assert one.certificate.assumptions == other.certificate.assumptions
    assert bool(one.certificate.applicable) == bool(other.certificate.applicable) is True


def test_missing_outcomes_count_at_their_worst(tmp_path: Path) -> None:
    """Whatever they were: the interval holds those of either end of what they can have been."""
    case = open_case(bakery(tmp_path / "whole"))
    found = backtest_panel(open_case(bakery(tmp_path / "hidden", missing=True)))
    one = found.totals.compared["always"]
    assert one.parts is not None
    assert one.missing == one.parts.missing == 8
    assert one.at_random is not None
    panel = case.panel
    assert panel is not None
    each = [dict(played) for played in found.each]
    for low in (True, False):  # as if each missing outcome had been an end of its range
        filled = [_filled(case, number, played, low) for number, played in enumerate(each)]
        end = compared_in_all(case.problem, panel, NOW, filled, scale=None, delta=case.delta)
        worst = end["always"].difference
        assert one.difference.low <= worst.low + 1e-9
        assert worst.high <= one.difference.high + 1e-9
    said = one.words(" EUR")
    assert "whatever the 8 missing outcomes were" in said


def _filled(case: Case, number: int, played: dict[str, Played], low: bool) -> dict[str, Played]:
    """Costs as they would be, had missing outcomes been 0 or 1000, the ends of the support."""
    assert case.panel is not None
    series = case.panel.series[number]
    lost = np.isnan(played[NOW].cost)
    xi = np.where(lost[:, None], 0.0 if low else 1000.0, series.xi)
    cost = {name: _cost(case, series.x, one.z, xi) for name, one in played.items()}
    return {name: one._replace(cost=cost[name]) for name, one in played.items()}


def _cost(case: Case, x: Array, z: Array, xi: Array) -> Array:
    return np.asarray(case.problem.cost(x, z, xi))


def alike_in_all(seed: int, many: int, times: int) -> Compared:
    """Two decisions of equal expected costs, on series that all have the same outcomes."""
    problem = Newsvendor(unit_cost=[1.0], price=2.0, upper=2.0, largest_demand=2.0)
    xi = np.random.default_rng(seed).choice([0.0, 2.0], (times, 1))
    frame = Table(
        "alike.csv",
        "row",
        np.arange(1, many * times + 1),
        {
            "series": [f"{n:02}" for n in range(many) for _ in range(times)],
            "at": np.tile(np.arange(float(times)), many),
            "y": np.tile(xi[:, 0], many),
        },
    )
    panel = panel_of(frame, Spec("y", time="at", series="series"))
    played = {}
    for name, z in ((NOW, 0.0), ("one", 1.0)):
        decided = np.full((times, 1), z)
        played[name] = paid(problem, panel.series[0], decided, np.zeros(times))
    found = compared_in_all(problem, panel, NOW, [played] * many, scale=None, delta=0.1)
    return found["one"]


def test_series_that_are_copies_say_no_more_than_one() -> None:
    """A range that is the sum of all gives the interval of one, as many times as wide."""
    alone, copies = (alike_in_all(3, many, 60) for many in (1, 8))
    for part in ("seen", "low", "high"):
        one, other = (getattr(found.difference, part) for found in (alone, copies))
        np.testing.assert_allclose(8.0 * one, other, rtol=1e-6)


@pytest.mark.full
def test_dependent_series_are_rarely_told_apart_where_there_is_nothing() -> None:
    """An interval that took each decision for news would miss 0 far more often than delta."""
    found = [alike_in_all(seed, 5, 200).difference for seed in range(400)]
    assert np.mean([one.low > 0 or one.high < 0 for one in found]) <= 0.1
