"""Hourly rows as one decision a day: each number at its place, whatever the clocks did."""

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from bocopt.app import (
    Featuriser,
    Spec,
    backtest,
    backtest_panel,
    decide,
    frame_of,
    open_case,
    panel_of,
    series_of,
)
from bocopt.app.case_file import table_of
from bocopt.app.features.days import whole_days
from bocopt.app.kept_features import save_features
from bocopt.app.panels.writing import write_panel
from bocopt.app.reading.columns import TableError
from bocopt.app.reading.sources import read

polars: Any = pytest.importorskip("polars")
pytest.importorskip("narwhals")

BERLIN = ZoneInfo("Europe/Berlin")
SPEC = Spec(
    "load",
    context=["price", "temperature"],
    categories=["weather", "shift"],
    time="at",
    lags=[1, 7],
    rolling=[2],
    calendar=["weekday"],
    warm_up=3,
    stage="day",
)


def hours(start: str, days: int, zone: Any = None) -> list[dt.datetime]:
    """All of some days, with those that clocks bring twice and without those they leave out."""
    first = dt.datetime.fromisoformat(start)
    if zone is None:
        return [first + dt.timedelta(hours=n) for n in range(24 * days)]
    begin, end = first.replace(tzinfo=zone), (first + dt.timedelta(days=days)).replace(tzinfo=zone)
    count = round((end.timestamp() - begin.timestamp()) / 3600)
    return [dt.datetime.fromtimestamp(begin.timestamp() + 3600 * n, tz=zone) for n in range(count)]


def columns(times: list[dt.datetime], zoned: bool = False) -> dict[str, list[Any]]:
    count = len(times)
    rng = np.random.default_rng(0)
    return {
        "at": [at.isoformat() if zoned else str(at.replace(tzinfo=None)) for at in times],
        "load": rng.normal(size=count).round(3).tolist(),
        "price": rng.normal(size=count).round(3).tolist(),
        "temperature": [float(at.timetuple().tm_yday % 9) for at in times],
        "weather": [["sun", "rain"][at.day % 2] for at in times],
        "shift": [["night", "day"][(at.hour + at.day % 3) // 12 % 2] for at in times],
    }


def series(table: dict[str, list[Any]], spec: Spec = SPEC) -> Any:
    return series_of(frame_of(polars.DataFrame(table)), spec)


def test_every_number_stands_at_its_place() -> None:
    times = hours("2024-05-01", 9)
    table = columns(times)
    found = series(table)
    names = [f"{h:02}:00" for h in range(24)]
    assert found.time == tuple(f"2024-05-{d:02}" for d in range(1, 10))
    assert found.xi_names == tuple(f"load {name}" for name in names)
    assert found.x_names[:25] == (*(f"price {name}" for name in names), "temperature")
    np.testing.assert_array_equal(found.xi, np.reshape(table["load"], (9, 24)))
    np.testing.assert_array_equal(found.x[:, :24], np.reshape(table["price"], (9, 24)))
    assert found.x[:, 24].tolist() == table["temperature"][::24]
    by_name = dict(zip(found.x_names, found.x.T, strict=True))
    assert by_name["weather = rain"].tolist() == [float(d % 2) for d in range(1, 10)]
    assert by_name["shift 11:00 = day"].tolist() == [
        float(table["shift"][24 * d + 11] == "day") for d in range(9)
    ]
    np.testing.assert_array_equal(by_name["load 05:00, lag 7"][7:], found.xi[:2, 5])
    assert found.lines.tolist() == [1 + 24 * d for d in range(9)]
    assert found.warm_up == 3
    assert found.notes[0] == (
        "All rows of a day are one decision: 24 times (00:00, 01:00, ..., 23:00), as on most days."
    )
    assert not any("have not all" in note or "Clocks" in note for note in found.notes)


def test_the_order_of_rows_does_not_matter() -> None:
    table = columns(hours("2024-05-01", 9))
    mixed = np.random.default_rng(1).permutation(9 * 24).tolist()
    one, other = series(table), series({n: [v[i] for i in mixed] for n, v in table.items()})
    np.testing.assert_array_equal(one.x, other.x)
    np.testing.assert_array_equal(one.xi, other.xi)
    assert one.time == other.time


@pytest.mark.parametrize("zoned", [True, False])
def test_clocks_go_forward(zoned: bool) -> None:
    times = hours("2024-03-28", 8, BERLIN)
    table = columns(times, zoned)
    assert len(times) == 8 * 24 - 1
    found = series(table)
    assert found.time[3] == "2024-03-31"
    by_name = dict(zip(found.x_names, found.x.T, strict=True))
    missing = 3 * 24 + 2  # the row that would be that of 02:00 is that of 03:00
    assert by_name["price 01:00"][3] == by_name["price 02:00"][3] == table["price"][missing - 1]
    assert by_name["price 03:00"][3] == table["price"][missing]
    assert [found.xi_names[i] for i in np.flatnonzero(np.isnan(found.xi[3]))] == ["load 02:00"]
    assert np.isfinite(np.delete(found.xi, 3, axis=0)).all()
    assert found.arrives[3] == 4
    assert (
        "Clocks go forward on 2024-03-31: contexts of the hour that is missing are those before "
        "it, and the outcome of the day is known in part."
    ) in found.notes
    assert not any("have not all 24 rows" in note for note in found.notes)
    assert not any("is missing in" in note for note in found.notes)


@pytest.mark.parametrize("zoned", [True, False])
def test_clocks_go_back(zoned: bool) -> None:
    times = hours("2024-10-25", 8, BERLIN)
    table = columns(times, zoned)
    assert len(times) == 8 * 24 + 1
    found = series(table)
    assert found.time[2] == "2024-10-27"
    twice = 2 * 24 + 2
    assert found.xi[2, 2] == sum(table["load"][twice : twice + 2]) / 2
    assert found.xi[2, 3] == table["load"][twice + 2]
    assert np.isfinite(found.xi).all()
    expected = "Clocks go back on 2024-10-27: the hour that comes twice is averaged."
    assert expected in found.notes


def test_half_hours_change_by_two_rows() -> None:
    times = hours("2024-03-28", 8, BERLIN)
    halves = [at + dt.timedelta(minutes=m) for at in times for m in (0, 30)]
    found = series(columns(halves), Spec("load", context="price", time="at", stage="day"))
    assert len(found.xi_names) == 48
    assert found.xi_names[:2] == ("load 00:00", "load 00:30")
    assert np.isfinite(found.x).all()
    gone = np.isnan(found.xi)
    assert np.flatnonzero(gone.any(axis=1)).tolist() == [3]
    assert [found.xi_names[i] for i in np.flatnonzero(gone[3])] == ["load 02:00", "load 02:30"]


def test_a_day_with_fewer_rows_has_gaps_and_a_part_of_its_outcome() -> None:
    table = columns(hours("2024-05-01", 9))
    kept = [n for n in range(9 * 24) if not 3 * 24 + 10 <= n < 3 * 24 + 15 and n < 8 * 24 + 6]
    found = series({n: [v[i] for i in kept] for n, v in table.items()})
    assert np.isnan(found.xi[[3, 8]]).sum(axis=1).tolist() == [5, 18]
    assert found.in_part.tolist() == [False] * 3 + [True] + [False] * 4 + [True]
    assert np.isfinite(found.xi[[0, 1, 2, 4, 5, 6, 7]]).all()
    by_name = dict(zip(found.x_names, found.x.T, strict=True))
    assert by_name["price 12:00"][3] == table["price"][2 * 24 + 12]  # the last known one
    assert (
        "2 of 9 days have not all 24 rows (2024-05-04, 2024-05-09): what is missing is a gap."
    ) in found.notes


def test_two_hours_missing_in_a_year_are_no_change_of_clocks() -> None:
    table = columns(hours("2024-03-01", 20))
    kept = [n for n in range(20 * 24) if n not in (3 * 24 + 2, 9 * 24 + 2)]
    found = series({n: [v[i] for i in kept] for n, v in table.items()})
    assert any("2 of 20 days have not all 24 rows" in note for note in found.notes)
    assert not any("Clocks" in note for note in found.notes)


def test_zones_that_stay_know_no_change_of_clocks() -> None:
    times = hours("2024-03-28", 8, dt.UTC)
    table = columns(times, zoned=True)
    kept = [n for n in range(len(times)) if n != 3 * 24 + 2]
    found = series({n: [v[i] for i in kept] for n, v in table.items()})
    assert any("1 of 8 days have not all 24 rows" in note for note in found.notes)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda t: t["at"].__setitem__(30, "2024-05-02 06:07:00"),
            "row 31, column 'at': a time of a full day (00:00, 01:00, ..., 23:00) expected, "
            "'2024-05-02 06:07:00' found.",
        ),
        (
            lambda t: t["at"].__setitem__(30, t["at"][29]),
            "rows 30 and 31, column 'at': both at 2024-05-02 05:00:00. A time that comes twice is "
            "one of clocks that go back, once a year; remove others.",
        ),
        (
            lambda t: t["price"].__setitem__(30, "a"),
            "row 31, column 'price': a number expected, 'a' found.",
        ),
        (
            lambda t: t["load"].__setitem__(30, "inf"),
            "row 31, column 'load': a finite number expected, 'inf' found.",
        ),
        (
            lambda t: t["at"].__setitem__(30, "soon"),
            "row 31, column 'at': a date with a time of day as in row 1 expected, 'soon' found.",
        ),
        (
            lambda t: t.__setitem__("at", [at[:10] for at in t["at"]]),
            "column 'at': times of day expected, for 'stage', dates found.",
        ),
        (
            lambda t: t.update({n: v[::24] for n, v in t.items()}),
            "column 'at': several rows of most days expected, for 'stage', one found.",
        ),
    ],
)
def test_what_cannot_be_laid_out_is_told(change: Callable[[Any], Any], said: str) -> None:
    table = columns(hours("2024-05-01", 9))
    table["load"] = list(map(str, table["load"]))
    table["price"] = list(map(str, table["price"]))
    change(table)
    with pytest.raises(TableError) as caught:
        series(table)
    assert str(caught.value) == f"The table, {said}"


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "load.csv"
    path.write_text(
        "at,load,price\n2024-05-01 00:00,x,1\n2024-05-01 12:00,5\n2024-05-02 00:00,5,y\n"
    )
    with pytest.raises(TableError) as caught:
        series_of(read(path), Spec("load", context="price", time="at", stage="day"))
    assert [line.split(": ")[0] for line in str(caught.value).split("\n")] == [
        f"{path}, line 2, column 'load'",
        f"{path}, line 3",
        f"{path}, line 4, column 'price'",
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"stage": "week"}, "'stage' parameter of Spec must be one of 'row', 'day'"),
        ({"time": None}, "'time' parameter of Spec must be a column where 'stage' is 'day'"),
        ({"arrives": "b"}, "'arrives' parameter of Spec must be None where 'stage' is 'day'"),
        ({"repeated": "keep"}, "must be 'refuse' where 'stage' is 'day'. Got 'keep' instead"),
    ],
)
def test_what_makes_no_sense_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match="must be") as caught:
        Spec("y", **{"time": "t", "stage": "day", **change})
    assert said in str(caught.value)


def test_a_featuriser_is_one_of_days() -> None:
    with pytest.raises(ValueError, match="must be one whose 'stage' is 'row', as of a Series"):
        Featuriser(Spec("y", time="t", stage="day"), kind="moment")


def test_a_day_by_the_names_of_its_vectors_gives_the_same_bits() -> None:
    times = hours("2024-03-20", 20, BERLIN)
    table = frame_of(polars.DataFrame(columns(times)))
    found = series_of(table, SPEC)
    featuriser = found.featuriser
    assert featuriser is not None
    assert Featuriser.from_json(featuriser.to_json()) == featuriser
    wide, spec = whole_days(table, SPEC)
    assert featuriser.spec == spec
    state = featuriser.begin()
    for stage, day in enumerate(found.time):
        row: dict[str, Any] = {"at": day}
        row |= {name: wide.numbers(name)[stage] for name in spec.context}
        row |= {name: wide.texts(name)[stage] for name in spec.categories}
        state, x = featuriser.decide(state, row)
        assert x.tobytes() == found.x[stage].tobytes()
        state = featuriser.learn(state, stage, found.xi[stage])


CASE = """[cases.power]
problem = "problem:power"
policies = ["SampleAverage"]
[cases.power.data]
file = "load.csv"
outcome = "load"
context = ["price", "promo"]
time = "at"
stage = "day"
lags = [1]
warm_up = 2
"""
PROBLEM = """from bocopt.problems import Newsvendor
power = Newsvendor(unit_cost=[1.0] * 4, price=[2.0] * 4)
"""


def rows(first: int, last: int, header: str = "at,load,price,promo") -> str:
    lines = [header]
    for day in range(first, last):
        for hour in range(0, 24, 6):
            load = f"{10 + day % 5 + hour}," if "load" in header else ""
            lines.append(f"2024-05-{day:02} {hour:02}:00,{load}{day * hour % 7},{day % 2}")
    return "\n".join([*lines, ""])


def test_a_case_of_days_is_played_and_decided_by_rows_of_hours(tmp_path: Path) -> None:
    (tmp_path / "bocopt.toml").write_text(CASE)
    (tmp_path / "problem.py").write_text(PROBLEM)
    (tmp_path / "load.csv").write_text(rows(1, 21))
    case = open_case(tmp_path / "bocopt.toml")
    assert case.data.xi.shape == (20, 4)
    assert sum("All rows of a day" in note for note in case.data.notes) == 1
    _, agents = backtest(case)
    for name, agent in agents.items():
        case.saved(name).parent.mkdir(parents=True, exist_ok=True)
        agent.save(case.saved(name))
    save_features(case)
    (tmp_path / "today.csv").write_text(rows(21, 23, header="at,price,promo"))
    (tmp_path / "days.csv").write_text(
        "at,price 00:00,price 06:00,price 12:00,price 18:00,promo\n"
        + "".join(
            f"2024-05-{d},{','.join(str(d * h % 7) for h in (0, 6, 12, 18))},{d % 2}\n"
            for d in (21, 22)
        )
    )
    found = [decide(case, case.read(tmp_path / name)) for name in ("today.csv", "days.csv")]
    assert found[0] == found[1]
    assert found[0].columns["at"] == ["2024-05-21", "2024-05-22"]
    assert found[0].stages == (20, 21)
    same_price = rows(21, 23).replace(",5,", ",6,")
    (tmp_path / "taught.csv").write_text(re.sub(r"\d+,(\d)\n", r"3,\1\n", same_price))
    taught = table_of(tmp_path / "bocopt.toml", "power", str(tmp_path / "taught.csv"))
    assert taught.numbers("price 18:00").tolist() == [3, 3]  # a column for each hour all the same
    assert len(table_of(tmp_path / "bocopt.toml", "power")) == 20
    changing = rows(21, 22, header="at,price,promo").replace("18:00,0,1", "18:00,0,0")
    (tmp_path / "odd.csv").write_text(changing)
    with pytest.raises(TableError, match=r"line 5, column 'promo': what the first row of its day"):
        decide(case, case.read(tmp_path / "odd.csv"))


def of_shops(first: int, last: int, shops: dict[str, int], header: str = "") -> str:
    """Rows of hours; each shop has loads of its own, and one shares its times with the others."""
    lines = [header or "at,shop,load,price,promo"]
    for day in range(first, last):
        for hour in range(0, 24, 6):
            for shop, size in shops.items():
                load = "" if header else f"{size + day % 5 + hour},"
                lines.append(
                    f"2024-05-{day:02} {hour:02}:00,{shop},{load}{size * hour % 7},{day % 2}"
                )
    return "\n".join([*lines, ""])


def test_days_of_a_series_are_those_of_its_rows_alone(tmp_path: Path) -> None:
    spec = Spec("load", context=["price", "promo"], time="at", lags=[1], stage="day", series="shop")
    path, shops = tmp_path / "load.csv", {"north": 10, "south": 50}
    text = of_shops(1, 12, shops) + of_shops(12, 20, {"south": 50}).partition("\n")[2]
    path.write_text(text.replace("2024-05-04 06:00,north,20,4,0\n", ""))
    panel = panel_of(read(path), spec)
    assert panel.names == ("north", "south")
    assert [len(one.x) for one in panel.series] == [11, 19]
    assert np.isnan(panel.series[0].xi[3]).tolist() == [False, True, False, False]
    assert any("1 of 30 days of series have not all 4 rows (2024-05-04)" in n for n in panel.notes)
    for name, one in zip(panel.names, panel.series, strict=True):
        lines = path.read_text().splitlines()
        own = [lines[0], *(line for line in lines if f",{name}," in line)]
        path.with_name("own.csv").write_text("\n".join([*own, ""]))
        alone = series_of(read(path.with_name("own.csv")), replace(spec, series=()))
        assert one.x.tobytes() == alone.x.tobytes()
        assert one.xi.tobytes() == alone.xi.tobytes()
        assert (one.time, one.x_names, one.xi_names) == (alone.time, alone.x_names, alone.xi_names)


def test_clocks_change_in_each_series(tmp_path: Path) -> None:
    """An hour that is missing in each, and one twice, are no more than in one."""
    times = hours("2024-03-30", 3, BERLIN)
    table = columns(times)
    both = {name: [*values, *values] for name, values in table.items()}
    both["shop"] = ["north"] * len(times) + ["south"] * len(times)
    panel = panel_of(frame_of(polars.DataFrame(both)), replace(SPEC, warm_up=1, series="shop"))
    alone = series(table, replace(SPEC, warm_up=1))
    for one in panel.series:
        assert one.x.tobytes() == alone.x.tobytes()
        assert one.xi.tobytes() == alone.xi.tobytes()
    assert any("Clocks go forward on 2024-03-31:" in note for note in panel.notes)


def test_rows_of_hours_that_stand_there_twice_are_of_one_series(tmp_path: Path) -> None:
    path = tmp_path / "load.csv"
    path.write_text(of_shops(1, 4, {"a": 10, "b": 20}) + "2024-05-02 06:00,b,99,1,0\n")
    spec = Spec("load", time="at", stage="day", series="shop")
    with pytest.raises(TableError, match=r"lines 13 and 26, column 'at': both at 2024-05-02 06:00"):
        panel_of(read(path), spec)


def test_a_case_of_days_of_several_series_is_played_and_decided(tmp_path: Path) -> None:
    (tmp_path / "bocopt.toml").write_text(CASE + 'series = "shop"\n')
    (tmp_path / "problem.py").write_text(PROBLEM)
    (tmp_path / "load.csv").write_text(of_shops(1, 12, {"north": 10, "south": 50}))
    case = open_case(tmp_path / "bocopt.toml")
    assert case.panel is not None
    assert case.panel.stages == 22
    write_panel(case, backtest_panel(case))
    today = of_shops(12, 14, {"north": 10, "new": 5}, header="at,shop,price,promo")
    (tmp_path / "today.csv").write_text(today)
    found = decide(case, case.read(tmp_path / "today.csv"))
    assert found.columns["shop"] == ["new", "north"] * 2
    assert found.columns["at"] == ["2024-05-12"] * 2 + ["2024-05-13"] * 2
    assert found.columns["agent"] == ["new", "of the backtest"] * 2
