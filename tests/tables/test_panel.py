"""Tables of several series: each has its own past, and all of one time are decided before it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_featuriser import HEADER, WRITTEN, bits, tables

from bocopt import arguments
from bocopt.app import Panel, PanelFeaturiser, Spec, frame_of, panel_of, read, series_of
from bocopt.app.faults import FaultsError
from bocopt.app.features.panel_rows import PanelState
from bocopt.app.reading.cells import numbers_or_none
from bocopt.app.reading.columns import Column, Table, TableError
from bocopt.core import Array

Rows = dict[str, list[list[str]]]  # of each series, in time order

SHOPS = """\
day,shop,region,price,demand,ordered
2024-03-01,north,A,2,101,90
2024-03-01,south,B,1,11,10
2024-03-02,north,A,2,102,90
2024-03-02,south,B,,12,10
2024-03-03,west,A,5,1,1
2024-03-03,north,A,3,103,90
2024-03-04,west,A,,2,1
2024-03-04,north,A,3,,90
2024-03-05,west,A,5,3,1
2024-03-05,north,C,3,105,90
"""
SPEC = Spec(
    "demand",
    context="price",
    categories="region",
    time="day",
    calendar="trend",
    lags=[1, 2],
    rolling=[2],
    decisions="ordered",
    warm_up=2,
    series="shop",
)


def made(text: str, folder: Path, spec: Spec = SPEC) -> Panel:
    path = folder / "shops.csv"
    path.write_text(text)
    return panel_of(read(path), spec)


def refused(text: str, folder: Path, spec: Spec = SPEC) -> list[str]:
    with pytest.raises(TableError) as caught:
        made(text, folder, spec)
    return str(caught.value).replace(str(folder / "shops.csv"), "shops.csv").splitlines()


@st.composite
def panels(draw: st.DrawFn, kind: str, missing: str) -> tuple[Rows, Spec]:
    """Two or three series, each of rows that could stand alone."""
    found = [draw(tables(kind, missing, repeated=False)) for _ in range(draw(st.integers(2, 3)))]
    rows = {f"shop {n}": table.rows for n, table in enumerate(found)}
    return rows, replace(found[0].spec, repeated="refuse", series="name")


def frame_from(rows: Rows, order: list[int] | None = None) -> Table:
    lines = [[name, *row] for name, each in rows.items() for row in each]
    lines = lines if order is None else [lines[place] for place in order]
    cells = np.array(lines, object).T.tolist()
    numbers = [numbers_or_none(each) for each in cells]
    made = [each if n is None else n for each, n in zip(cells, numbers, strict=True)]
    columns: dict[str, Column] = dict(zip(["name", *HEADER], made, strict=True))
    return Table("table.csv", "row", np.arange(1, len(lines) + 1), columns)


@pytest.mark.parametrize("kind", [kind for kind in WRITTEN if kind not in ("none", "day number")])
@pytest.mark.parametrize("missing", ["last", "keep", "refuse"])
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_x_is_that_of_the_series_alone_and_of_its_rows_one_at_a_time(
    kind: str, missing: str, data: st.DataObject
) -> None:
    rows, spec = data.draw(panels(kind, missing))
    count = sum(map(len, rows.values()))
    panel = panel_of(frame_from(rows, data.draw(st.permutations(range(count)))), spec)
    assert panel.names == tuple(sorted(rows))
    for name, series in zip(panel.names, panel.series, strict=True):
        alone = series_of(frame_from({name: rows[name]}), replace(spec, series=(), warm_up=1))
        hot = {one.name for one in panel.featuriser.categories}
        kept = [n for n in alone.x_names if n in series.x_names]
        others = [n for n in series.x_names if n not in kept]
        assert all(n.partition(" = ")[0] in hot for n in others)
        for one, other in ((alone, series), (series, alone)):
            assert bits(one.xi) == bits(other.xi)
            assert one.arrives.tolist() == other.arrives.tolist()
            assert one.time == other.time
        places = [[one.x_names.index(n) for n in kept] for one in (alone, series)]
        assert bits(alone.x[:, places[0]]) == bits(series.x[:, places[1]])
    for name, x in one_at_a_time(data, panel.featuriser, rows).items():
        assert bits(np.stack(x)) == bits(panel.series[panel.names.index(name)].x)


def one_at_a_time(
    data: st.DataObject, featuriser: PanelFeaturiser, rows: Rows
) -> dict[str, list[Array]]:
    """The contexts of all rows, of different series in any order; outcomes are told at once."""
    featuriser = PanelFeaturiser.from_json(featuriser.to_json())
    spec, state = featuriser.spec, featuriser.begin()
    found: dict[str, list[Array]] = {name: [] for name in rows}
    turns = [name for name, each in rows.items() for _ in each]
    for name in data.draw(st.permutations(turns)):
        stage = len(found[name])
        cells: dict[str, object] = dict(zip(HEADER, rows[name][stage], strict=True))
        sent = {n: cells[n] for n in (str(spec.time), *spec.context, *spec.categories)}
        state, named, x = featuriser.decide(state, {"name": f" {name}", **sent})
        assert named == name
        found[name].append(x)
        xi = [float(str(cells[n] or "nan").replace("true", "1")) for n in spec.outcome]
        came = cells["came"] if spec.arrives else None
        if came or (not spec.arrives and not np.isnan(xi).any()):
            state = featuriser.learn(state, name, stage, xi, came)
    return found


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_all_series_of_a_time_are_decided_before_any_outcome_of_it(data: st.DataObject) -> None:
    """Other outcomes from a time on, of all series, change no context up to that time."""
    rows, spec = data.draw(panels("number", "last"))
    spec = replace(spec, arrives=None, delay=0, lags=[1, 2], rolling=[1, 3])
    frame = frame_from(rows)
    times = frame.columns["at"]
    since = data.draw(st.sampled_from(sorted({*map(float, times)})))
    columns = dict(frame.columns)
    for name in ("demand", "returns"):
        cells = zip(frame.columns[name], times, strict=True)
        columns[name] = ["77" if float(at) >= since else str(cell) for cell, at in cells]
    one, other = panel_of(frame, spec), panel_of(replace(frame, columns=columns), spec)
    for before, after in zip(one.series, other.series, strict=True):
        until = [float(at) <= since for at in before.time]
        assert bits(before.x[until]) == bits(after.x[until])


def test_each_series_has_its_own_past(tmp_path: Path) -> None:
    panel = made(SHOPS, tmp_path)
    assert panel.names == ("north", "south", "west")
    assert (panel.columns, panel.keys) == (("shop",), (("north",), ("south",), ("west",)))
    assert panel.time == tuple(f"2024-03-0{n}" for n in range(1, 6))
    assert [at.tolist() for at in panel.at] == [[0, 1, 2, 3, 4], [0, 1], [2, 3, 4]]
    assert panel.stages == 10
    north, south, west = panel.series
    lags = [panel.x_names.index(name) for name in ("demand, lag 1", "demand, lag 2")]
    assert north.x[:, lags[0]].tolist() == [0, 101, 102, 103, 103]
    assert south.x[:, lags[0]].tolist() == [0, 11]
    assert west.x[:, lags[1]].tolist() == [0, 0, 1]
    assert west.x[:, panel.x_names.index("price")].tolist() == [5, 5, 5]
    assert west.now is not None
    assert west.now.ravel().tolist() == [1, 1, 1]
    assert west.lines.tolist() == [6, 8, 10]
    days = np.array([0, 1, 2]) / 365.25
    np.testing.assert_allclose(west.x[:, panel.x_names.index("trend")], days)


def test_the_warm_up_counts_times_of_the_table(tmp_path: Path) -> None:
    """What begins later counts from its first row; categories are those of the whole table."""
    panel = made(SHOPS, tmp_path)
    assert [one.warm_up for one in panel.series] == [2, 2, 0]
    assert panel.x_names[1:3] == ("region = A", "region = B")
    west = panel.series[2]
    assert west.x[:, 1:3].tolist() == [[1, 0]] * 3
    assert panel.series[0].x[-1, 1:3].tolist() == [0, 0]  # C came later
    assert refused(SHOPS, tmp_path, replace(SPEC, warm_up=5)) == [
        "shops.csv has 5 times: more expected than the 5 of the 'warm_up'."
    ]


def test_notes_tell_what_is_odd_beside_the_other_series(tmp_path: Path) -> None:
    panel = made(SHOPS, tmp_path)
    assert panel.notes == (
        "3 series.",
        "One series begins after the first time of the table: 'west' (from 2024-03-03).",
        "1 of them begins after the warm-up of 2 times: all their stages count, from the first.",
        "One series stops before the last time of the table: 'south' (up to 2024-03-02). If it "
        "goes on, rows are missing in the file.",
        "'region' never changes within a series, but in 'north' (line 11): is that right?",
    )
    assert panel.series[0].notes == (
        "1 of 5 rows have no outcome.",
        "'region' has values that are not in the first 2 times in 1 of 5 rows: they count as none "
        "of the others.",
    )


def test_another_frequency_is_noted() -> None:
    days = np.datetime64("2024-01-01") + np.arange(29)
    rows = [("a", str(day)) for day in days] + [("b", str(day)) for day in days]
    rows += [("c", str(day)) for day in days[::7]]
    table = polars.DataFrame(rows, schema=["unique_id", "ds"], orient="row").with_columns(y=1.5)
    panel = panel_of(frame_of(table))
    assert panel.notes[1] == (
        "'c': another frequency than the other series (7 days from row to row, usually 1 day). "
        "Lags, means and delays count rows of the series: where that is not meant, give them a "
        "case of their own."
    )
    assert not any("stop" in note for note in panel.notes)  # the next row of c would come later
    assert panel.xi_names == ("y",)


def test_several_columns_name_a_series() -> None:
    table = {"shop": [1.0, 1, 2, 1], "kind": ["x", "y", "x", "x"], "n": [1.0, 1, 1, 2]}
    frame = frame_of(polars.DataFrame({**table, "y": [5.0, 6, 7, 8]}))
    panel = panel_of(frame, Spec("y", time="n", series=["shop", "kind"], lags=[1]))
    assert panel.names == ("1 / x", "1 / y", "2 / x")
    assert panel.series[0].x.tolist() == [[0], [5]]
    assert panel.featuriser.name({"kind": "x", "shop": "2.0"}) == "2 / x"
    spec = Spec("y", time="n", series=["shop", "kind"], categories="kind", warm_up=1)
    shown = panel_of(frame, spec)
    assert [one.x[0].tolist() for one in shown.series] == [[1, 0], [0, 1], [1, 0]]
    row = {"shop": 2, "kind": "y", "n": 5}
    assert shown.featuriser.decide(shown.featuriser.begin(), row)[2].tolist() == [0, 1]


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    text = SHOPS.replace("2024-03-02,north,A,2,102", "2024-03-01,north,A,2,102")
    text = text.replace("B,1,11,", "B,1,,").replace("B,,12,", "B,,,")
    text = text.replace("2024-03-03,west,A,5,1", "2024-03-03,,A,5,abc")
    assert refused(text, tmp_path) == [
        "shops.csv, lines 2 and 4: both are 'north' at 2024-03-01. A series has one row a time: "
        "remove one of them, or add them up.",
        "shops.csv, line 3: 'south' has no outcome in all of its 2 rows. Leave its rows out until "
        "it has one.",
        "shops.csv, line 6, column 'demand': a number expected, 'abc' found.",
        "shops.csv, line 6, column 'shop': the name of a series expected, nothing found.",
    ]
    text = SHOPS.replace("2024-03-02,north", "1.3.2024,north").replace("05,west", "04,west")
    assert [line.split(":")[0] for line in refused(text, tmp_path)] == [
        "shops.csv, line 4, column 'day'",
        "shops.csv, lines 8 and 10",
    ]


def test_rows_of_one_series_and_time_are_told_apart(tmp_path: Path) -> None:
    """A copy is one; rows of different products need another column in 'series'."""
    assert refused(SHOPS + "2024-03-02,north,A,2,102,90\n", tmp_path) == [
        "shops.csv, lines 4 and 12: the same row twice, of 'north' at 2024-03-02. Remove one of "
        "them."
    ]
    rows = [f"2024-03-0{day},north,{kind},{day}" for day in (1, 2, 3) for kind in ("rye", "wheat")]
    text = "\n".join(["day,shop,kind,demand", *rows, ""])
    assert refused(text, tmp_path, Spec("demand", time="day", series="shop")) == [
        "shops.csv, lines 2 and 3: both are 'north' at 2024-03-01. 'kind' tells such rows apart: "
        'say series = ["shop", "kind"].',
        "shops.csv, lines 4 and 5: both are 'north' at 2024-03-02.",
        "shops.csv, lines 6 and 7: both are 'north' at 2024-03-03.",
    ]
    panel = made(text, tmp_path, Spec("demand", time="day", series=["shop", "kind"]))
    assert panel.names == ("north / rye", "north / wheat")


def test_what_looks_wrong_within_a_series_is_noted(tmp_path: Path) -> None:
    """Names that differ in case alone, and an outcome eight times as large as others of its own."""
    rows = [
        f"2024-01-{day:02},{shop},{size + day % 5}"
        for day in range(1, 29)
        for shop, size in (("north", 500), ("south", 20))
    ]
    rows[27] = "2024-01-14,south,180"
    rows[55] = "2024-01-28,South ,22"
    panel = made("\n".join(["day,shop,demand", *rows, ""]), tmp_path, _OF_DAYS)
    assert panel.notes[-1] == (
        "'shop' has 'South' and 'south', which differ in case or spaces alone: they count as "
        "different."
    )
    notes = dict(zip(panel.names, (one.notes for one in panel.series), strict=True))
    assert notes["north"] == ()
    assert notes["south"] == (
        "'demand' is 180 at line 29, far from all others (20 to 24): is that right?",
    )


_OF_DAYS = Spec("demand", time="day", series="shop")


@pytest.mark.parametrize("series", ["shop", ["north", "south"]])
def test_a_wide_table_is_refused_with_the_line_that_melts_it(series: Any, tmp_path: Path) -> None:
    text = "day,price,north,south\n2024-03-01,1,5,6\n2024-03-02,2,7,8\n"
    spec = Spec("demand", context="price", time="day", series=series, lags=[1])
    [said] = refused(text, tmp_path, spec)
    named = "shop" if series == "shop" else "series"
    assert said.startswith("shops.csv is wide: a row is a time, and each series a column")
    table = polars.read_csv(tmp_path / "shops.csv")
    melted = eval(said.rpartition("In polars: ")[2].rstrip("."), {"table": table})
    panel = panel_of(frame_of(melted), replace(spec, series=named))
    assert panel.names == ("north", "south")
    assert [one.xi.ravel().tolist() for one in panel.series] == [[5, 7], [6, 8]]
    pandas = pytest.importorskip("pandas")
    code = said.partition("In pandas: ")[2].partition(". In polars")[0]
    other = eval(code, {"table": pandas.read_csv(tmp_path / "shops.csv")})
    assert panel_of(frame_of(other), replace(spec, series=named)).names == panel.names


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"time": None, "calendar": ()}, "time"),
        ({"repeated": "keep"}, "repeated"),
        ({"stage": "day", "arrives": "price"}, "arrives"),
        ({"series": "price"}, "series"),
        ({"series": 3}, "series"),
    ],
)
def test_what_does_not_go_with_series_is_refused(change: dict[str, Any], field: str) -> None:
    with pytest.raises(arguments.WrongError, match=rf"'?{field}'?"):
        replace(SPEC, **change)


def test_one_series_and_several_are_told_apart(tmp_path: Path) -> None:
    frame = read(_file(tmp_path))
    with pytest.raises(ValueError, match="panel_of"):
        series_of(frame, SPEC)
    with pytest.raises(ValueError, match="series_of"):
        panel_of(frame, replace(SPEC, series=()))


def test_rows_tell_all_that_is_wrong_with_them(tmp_path: Path) -> None:
    featuriser = made(SHOPS, tmp_path).featuriser
    state: PanelState = featuriser.begin()
    with pytest.raises(FaultsError) as caught:
        featuriser.decide(state, {"day": "1.3.2024", "price": "x"})
    assert str(caught.value).splitlines() == [
        "The field 'shop' is missing: a text or a whole number expected.",
        "The field 'day' must be a date. Got '1.3.2024' instead.",
        "The field 'price' must be a number up to 1e+100 in size. Got 'x' instead.",
    ]
    state, name, _ = featuriser.decide(state, {"shop": "new", "day": "2024-03-06", "price": 2})
    assert name == "new"
    with pytest.raises(ValueError, match="later than 2024-03-06"):
        featuriser.decide(state, {"shop": "new", "day": "2024-03-06", "price": 2})
    featuriser.decide(state, {"shop": "north", "day": "2024-03-06", "price": 2})
    with pytest.raises(ValueError, match="of which a row was decided"):
        featuriser.learn(state, "north", 0, [3.0])


def _file(folder: Path) -> Path:
    path = folder / "shops.csv"
    path.write_text(SHOPS)
    return path
