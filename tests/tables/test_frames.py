"""The same table from any file and any library; what the calendar says; what is shown."""

import datetime as dt
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bocopt.app import Spec, frame_of, read, series_of, shown
from bocopt.app.reading.columns import Column, Table, TableError

DAYS = [dt.date(2024, 2, 28) + dt.timedelta(days=n) for n in range(5)]
COLUMNS: dict[str, list[Any]] = {
    "day": DAYS,
    "at": [dt.datetime(2024, 3, 30, 6, n, tzinfo=dt.UTC) for n in range(5)],
    "demand": [5, 6, None, 8, 9],
    "price": [1.5, None, 0.1 + 0.2, 2.0, 1e-7],
    "open": [True, False, True, None, True],
    "store": ["A", None, "B ", "A", "\u00fc, x"],
    "empty": [None] * 5,
}
SPEC = Spec(
    "demand",
    context=["price", "open", "empty"],
    categories="store",
    time="day",
    calendar=["weekday", "month", "hour", "week", "day_of_year", "trend"],
    lags=[1, 2],
    rolling=[2],
    warm_up=3,
)


def _polars() -> Any:
    pytest.importorskip("narwhals")
    return pytest.importorskip("polars").DataFrame(COLUMNS)


def assert_same(one: Table, other: Table) -> None:
    assert list(one.columns) == list(other.columns)
    for name in one.columns:
        np.testing.assert_array_equal(one.columns[name], other.columns[name], name)


@pytest.fixture
def frame() -> Table:
    return frame_of(_polars())


@pytest.mark.parametrize("way", ["lazy", "to_pandas", "to_arrow"])
def test_every_library_gives_theassert_same(way: str, frame: Table) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    assert_same(frame_of(getattr(_polars(), way)()), frame)


def test_gaps_of_pandas_are_gaps(frame: Table) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    assert_same(frame_of(_polars().to_pandas().convert_dtypes()), frame)
    assert_same(frame_of(_polars().to_pandas().astype(object)), frame)


@pytest.mark.parametrize("absent", ["", "polars"])
def test_parquet_gives_theassert_same(
    absent: str, frame: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    _polars().write_parquet(tmp_path / "any name")
    monkeypatch.setattr("bocopt.app.reading.frame.find_spec", lambda name: name != absent or None)
    found = read(tmp_path / "any name")
    assert_same(found, frame)
    assert found.path == str(tmp_path / "any name")
    assert found.places.tolist() == [1, 2, 3, 4, 5]


def test_csv_gives_the_same_series(frame: Table, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    _polars().write_csv(path, separator=";")
    found = read(path)
    assert found.places.tolist() == [2, 3, 4, 5, 6]
    one, other = (series_of(table, SPEC) for table in (frame, found))
    np.testing.assert_array_equal(one.x, other.x)
    np.testing.assert_array_equal(one.xi, other.xi)
    assert one.arrives.tolist() == other.arrives.tolist()
    assert (one.time, one.x_names, one.notes) == (other.time, other.x_names, other.notes)


def test_numbers_of_a_file_are_those_that_stand_there(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=700) * 10.0 ** np.linspace(-320, 300, 700)
    path = tmp_path / "numbers.csv"
    path.write_text("\n".join(["a,b", *(f"{value!r},1" for value in values.tolist())]))
    assert np.array_equal(read(path).numbers("a"), values)


def test_what_a_decision_sees(frame: Table) -> None:
    series = series_of(frame, SPEC)
    seen = dict(zip(series.x_names, series.x.T.tolist(), strict=True))
    assert seen["price"] == [1.5, 1.5, 0.1 + 0.2, 2.0, 1e-7]
    assert seen["open"] == [1.0, 0.0, 1.0, 1.0, 1.0]
    assert seen["empty"] == [0.0] * 5
    assert seen["store = A"] == [1.0, 1.0, 0.0, 1.0, 0.0]
    assert seen["store = B"] == [0.0, 0.0, 1.0, 0.0, 0.0]
    assert seen["demand, lag 1"] == [0.0, 5.0, 6.0, 6.0, 8.0]
    assert seen["demand, lag 2"] == [0.0, 0.0, 5.0, 6.0, 6.0]
    assert seen["demand, mean of last 2"] == [0.0, 5.0, 5.5, 5.5, 7.0]
    assert series.arrives.tolist() == [1, 2, 5, 4, 5]
    assert np.isnan(series.xi).ravel().tolist() == [False, False, True, False, False]
    assert series.time == tuple(map(str, DAYS))
    assert series.now is None


def test_gaps_may_stay(frame: Table) -> None:
    series = series_of(frame, replace(SPEC, missing="keep"))
    gaps = dict(zip(series.x_names, np.isnan(series.x).T.tolist(), strict=True))
    assert gaps["price"] == [False, True, False, False, False]
    assert gaps["store = A"] == [False, True, False, False, False]
    assert gaps["demand, lag 1"] == [True, False, False, False, False]
    assert gaps["demand, lag 2"] == [True, True, False, False, False]


def test_the_calendar_is_that_of_the_standard_library(frame: Table) -> None:
    series = series_of(frame, SPEC)
    seen = dict(zip(series.x_names, series.x.T, strict=True))
    assert "Monday" not in seen
    assert "January" not in seen
    for t, day in enumerate(DAYS):
        assert seen[day.strftime("%A")][t] == 1
        assert sum(seen[d.strftime("%A")][t] for d in DAYS) == 1
        assert seen[day.strftime("%B")][t] == 1
        angle = 2 * np.pi * (day.timetuple().tm_yday - 1) / 366
        assert seen["day of year (sine)"][t] == pytest.approx(np.sin(angle), abs=1e-15)
        assert seen["week (cosine)"][t] == pytest.approx(np.cos(2 * np.pi * day.weekday() / 7))
        assert seen["hour (cosine)"][t] == 1
        assert seen["trend"][t] == t / 365.25


def test_hours_are_those_of_the_clock_and_the_order_that_of_the_world(tmp_path: Path) -> None:
    path = tmp_path / "clock.csv"
    moments = ("2024-10-27T02:30+02:00", "2024-10-27T02:15+01:00", "2024-10-27T06:00+01:00")
    path.write_text("\n".join(["at,y", *(f"{moment},1" for moment in moments)]))
    series = series_of(read(path), Spec("y", time="at", calendar=["hour"]))
    assert series.time == moments
    angles = 2 * np.pi * np.array([2.5, 2.25, 6]) / 24
    np.testing.assert_allclose(series.x, np.stack([np.sin(angles), np.cos(angles)], 1), atol=1e-15)


def test_numbers_have_a_trend_and_rows_have_one_too() -> None:
    frame = Table("t", "row", np.arange(3), {"n": np.array([4.0, 6, 9]), "y": np.ones(3)})
    by_time = series_of(frame, Spec("y", time="n", calendar="trend"))
    assert by_time.x.ravel().tolist() == [0.0, 2.0, 5.0]
    assert by_time.time == ("4", "6", "9")
    by_row = series_of(frame, Spec("y", calendar="trend"))
    assert by_row.x.ravel().tolist() == [0.0, 1.0, 2.0]
    assert by_row.time == ("1", "2", "3")


def test_rows_of_one_time_do_not_know_each_other() -> None:
    columns = {"n": np.array([1.0, 1, 2, 2, 3]), "y": np.arange(5.0)}
    frame = Table("t", "row", np.arange(5), columns)
    series = series_of(frame, Spec("y", time="n", repeated="keep"))
    assert series.arrives.tolist() == [2, 2, 4, 4, 5]


def test_past_decisions_are_whole_or_none() -> None:
    columns = {"y": np.ones(3), "a": np.array([1.0, np.nan, 3]), "b": np.array([4.0, 5, 6])}
    frame = Table("t", "row", np.arange(3), columns)
    now = series_of(frame, Spec("y", decisions=["a", "b"])).now
    np.testing.assert_array_equal(now, [[1, 4], [np.nan, np.nan], [3, 6]])


def test_a_file_is_not_changed_by_reading_it(frame: Table) -> None:
    before = {name: list(column) for name, column in frame.columns.items()}
    series_of(frame, replace(SPEC, outcome=["demand", "price"], context=["open"]))
    for name, column in frame.columns.items():
        np.testing.assert_array_equal(list(column), before[name])


def test_the_first_stages_as_a_text() -> None:
    columns: dict[str, Column] = {
        "day": ["2024-03-01", "2024-03-02", "2024-03-03"],
        "price\n": np.array([1.5, 1.5, 2]),
        "demand": np.array([5.0, np.nan, 1e9]),
        "order": np.array([4.0, 6, 6]),
    }
    frame = Table("sales.csv", "line", np.arange(2, 5), columns)
    spec = Spec("demand", context=["price\n"], time="day", decisions="order", lags=[1])
    assert shown(series_of(frame, spec), rows=2).splitlines() == [
        "stage                        0           1",
        "line                         2           3",
        "time                2024-03-01  2024-03-02",
        "sees price?                1.5         1.5",
        "sees demand, lag 1           0           5",
        "outcome demand               5         nan",
        "decided 1                    4           6",
        "known at stage               1       never",
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"outcome": []}, "'outcome' parameter of Spec must be one or more names of columns"),
        ({"outcome": ["a", "a"]}, "'outcome' parameter of Spec must be a list of different names"),
        ({"context": "y"}, "'context' parameter of Spec must be other columns than 'outcome'"),
        ({"decisions": "y"}, "'decisions' parameter of Spec must be other columns than 'outcome'"),
        ({"calendar": "moon"}, "'calendar' parameter of Spec must be one of 'hour', 'weekday'"),
        ({"calendar": "hour", "time": None}, "'time' parameter of Spec must be a column where"),
        ({"arrives": "a", "time": None}, "'time' parameter of Spec must be a column where"),
        ({"arrives": "a", "delay": 1}, "'delay' parameter of Spec must be 0 where there is"),
        ({"categories": "a"}, "'warm_up' parameter of Spec must be 1 or more where there are"),
        ({"lags": [0]}, "'lags' parameter of Spec must be an integer in"),
        ({"rolling": [2, 2]}, "'rolling' parameter of Spec must be different from each other"),
        ({"missing": "drop"}, "'missing' parameter of Spec must be one of 'last', 'keep'"),
    ],
)
def test_a_spec_that_makes_no_sense_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Spec(**{"outcome": "y", "time": "t", **change})


def test_a_column_may_not_be_there() -> None:
    frame = Table("t", "row", np.arange(3), {f"column {n}": np.ones(3) for n in range(30)})
    with pytest.raises(TableError, match=r"'column 19' and 10 more\.$"):
        series_of(frame, Spec("y"))
