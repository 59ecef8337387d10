"""Holidays as columns: the right days, the same bits row by row, the version of the library."""

import datetime as dt
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bocopt import extras
from bocopt.app import (
    Featuriser,
    PanelFeaturiser,
    Spec,
    frame_of,
    open_case,
    panel_of,
    read,
    series_of,
)
from bocopt.app.case_file import load_cases
from bocopt.app.faults import FaultsError
from bocopt.app.features import public_holidays
from bocopt.app.features.rows import rows_of
from bocopt.app.features.spec import Calendar

library: Any = pytest.importorskip("holidays")
polars: Any = pytest.importorskip("polars")
pytest.importorskip("narwhals")

WORDS: tuple[Calendar, ...] = ("holiday", "day_before_holiday", "day_after_holiday")
SPEC = Spec("y", time="day", calendar=WORDS, holidays="DE", lags=[1])
DAYS = [dt.date(2023, 12, 20) + dt.timedelta(days=n) for n in range(400)]


def frame(days: list[Any]) -> Any:
    return frame_of(polars.DataFrame({"day": days, "y": range(len(days))}))


def test_columns_are_one_on_the_right_days() -> None:
    series = series_of(frame(DAYS), SPEC)
    assert series.x_names[:3] == ("holiday", "day before holiday", "day after holiday")
    known = library.country_holidays("DE")
    for column, away in zip(series.x.T[:3], (0, 1, -1), strict=True):
        expected = [float(day + dt.timedelta(days=away) in known) for day in DAYS]
        assert column.tolist() == expected
    ones = [str(day) for day, one in zip(DAYS, series.x[:, 0], strict=True) if one]
    assert ones[:4] == ["2023-12-25", "2023-12-26", "2024-01-01", "2024-03-29"]


def test_a_region_has_its_own() -> None:
    found = {}
    for region in ("US", "US-IL"):
        spec = Spec("y", time="day", calendar="holiday", holidays=region)
        found[region] = series_of(frame(DAYS), spec).x[:, 0]
    lincoln = DAYS.index(dt.date(2024, 2, 12))
    assert (found["US"][lincoln], found["US-IL"][lincoln]) == (0, 1)


def test_a_row_at_a_time_gives_the_same_bits() -> None:
    moments = [dt.datetime(2024, 12, 23) + dt.timedelta(hours=5 * n) for n in range(60)]
    series = series_of(frame(moments), SPEC)
    featuriser = series.featuriser
    assert featuriser is not None
    assert featuriser.x_names == series.x_names
    state = featuriser.begin()
    for stage, row in enumerate(rows_of(frame(moments), SPEC)):
        state, x = featuriser.decide(state, row.fields)
        assert x.tobytes() == series.x[stage].tobytes()
        state = featuriser.learn(state, stage, row.xi)


def test_the_version_is_noted() -> None:
    notes = series_of(frame(DAYS), SPEC).notes
    told = f"The holidays are those of DE, by version {library.__version__} of 'holidays'."
    assert notes.count(told) == 1


def test_a_featuriser_knows_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    featuriser = series_of(frame(DAYS), SPEC).featuriser
    assert featuriser is not None
    text = featuriser.to_json()
    assert Featuriser.from_json(text) == featuriser
    monkeypatch.setattr(library, "__version__", "999.1")
    assert featuriser.to_json() != text
    with pytest.raises(FaultsError) as caught:
        Featuriser.from_json(text)
    assert f"made with version {public_holidays.version()}" not in str(caught.value)
    assert "and 999.1 is installed: make it anew, of its table." in str(caught.value)


def test_texts_without_holidays_stay_as_they_were() -> None:
    """The fingerprint of a service's streams is made of them."""
    text = Featuriser(Spec("y", context="price")).to_json()
    assert "holidays" not in text
    assert "stage" not in text
    assert "series" not in text


def test_another_version_plays_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bocopt.toml").write_text(
        '[cases.shop]\nproblem = "problem:shop"\n[cases.shop.data]\nfile = "sales.csv"\n'
        'outcome = "demand"\ntime = "day"\ncalendar = ["holiday"]\nholidays = "DE"\n'
    )
    (tmp_path / "problem.py").write_text(
        "from bocopt.problems import Newsvendor\nshop = Newsvendor(unit_cost=[1.0], price=[2.0])\n"
    )
    (tmp_path / "sales.csv").write_text("day,demand\n2024-12-24,5\n2024-12-25,0\n")
    path = tmp_path / "bocopt.toml"
    digests = [open_case(path).kept("Ensemble", 200).digest]
    digests.append(open_case(path).kept("Ensemble", 200).digest)
    monkeypatch.setattr(library, "__version__", "999.1")
    digests.append(open_case(path).kept("Ensemble", 200).digest)
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"holidays": "DX"}, "'holidays' parameter of Spec must be a country, such as 'DE', or a"),
        ({"holidays": "US-XX"}, "or a part of one, such as 'US-IL'. Got 'US-XX' instead"),
        ({"holidays": 3}, "'holidays' parameter of Spec must be a country"),
        ({"holidays": ""}, "must be a country where there is 'calendar' ['holiday']. Got ''"),
        ({"calendar": "weekday"}, "must be left out where 'calendar' has no 'holiday'. Got 'DE'"),
        ({"time": None}, "'time' parameter of Spec must be a column where there is 'calendar'"),
    ],
)
def test_what_makes_no_sense_is_refused(change: dict[str, Any], said: str) -> None:
    given: dict[str, Any] = {"time": "t", "calendar": "holiday", "holidays": "DE"}
    with pytest.raises(ValueError, match="must be") as caught:
        Spec("y", **{**given, **change})
    assert said in str(caught.value)


def test_a_country_that_there_is_not_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "bocopt.toml"
    path.write_text(
        '[cases.a]\nproblem = "p:a"\n[cases.a.data]\nfile = "d.csv"\noutcome = "y"\ntime = "t"\n'
        'calendar = "holiday"\nholidays = "Germany"\n'
    )
    with pytest.raises(ValueError, match=r"line 8: 'holidays' must be a country, such as 'DE'"):
        load_cases(path)


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(module: str) -> Any:
        raise ModuleNotFoundError(name=module)

    extras.needed.cache_clear()
    monkeypatch.setattr(extras, "import_module", absent)
    with pytest.raises(ModuleNotFoundError) as caught:
        Spec("y", time="t", calendar="holiday", holidays="SE")
    said = 'A calendar of holidays needs holidays: pip install "bocopt[holidays]".'
    assert str(caught.value) == said


def test_days_are_taken_each_by_itself() -> None:
    clock = np.array(DAYS, "M8[D]")
    together = public_holidays.near_holiday(clock, "DE", "holiday")
    alone = [public_holidays.near_holiday(clock[[n]], "DE", "holiday")[0] for n in range(400)]
    assert together.tolist() == alone


def test_each_of_several_series_has_the_holidays(tmp_path: Path) -> None:
    days = DAYS[:20]
    lines = [f"{day},{shop},{n}\n" for n, day in enumerate(days) for shop in ("north", "south")]
    (tmp_path / "shops.csv").write_text("".join(["day,shop,y\n", *lines]))
    panel = panel_of(read(tmp_path / "shops.csv"), replace(SPEC, series="shop"))
    alone = series_of(frame(days), SPEC)
    assert all(one.x.tobytes() == alone.x.tobytes() for one in panel.series)
    assert sum("The holidays are those of DE" in note for note in panel.notes) == 1
    featuriser = PanelFeaturiser.from_json(panel.featuriser.to_json())
    assert featuriser == panel.featuriser
    _, _, x = featuriser.decide(featuriser.begin(), {"shop": "new", "day": "2024-01-01"})
    assert x.tolist() == [1, 0, 0, 0]
