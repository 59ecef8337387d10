"""Tables as they are written elsewhere: the same series as of one in the usual notation."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocopt.app import Spec, open_case, read, series_of
from bocopt.app.case_file import load_cases
from bocopt.app.features.rows import rows_of
from bocopt.app.reading.columns import TableError
from bocopt.app.reading.cures import for_numbers, for_times
from bocopt.app.reading.notation import Notation

DAILY = Spec("demand", context="price", categories="shop", time="day", warm_up=1)
USUAL = "day;demand;price;shop\n2024-03-01;1234;1.5;a\n2024-03-02;-6;;b\n2024-03-03;7;-0.25;\n"
WRITTEN: dict[str, tuple[str, dict[str, Any]]] = {
    "decimal commas": (USUAL.replace(".", ","), {"decimal": ","}),
    "thousands": (USUAL.replace("1234", "1,234"), {"thousands": ","}),
    "thousands with points": (
        USUAL.replace(".", ",").replace("1234", "1.234"),
        {"decimal": ",", "thousands": "."},
    ),
    "thousands with narrow spaces": (USUAL.replace("1234", "1\u202f234"), {"thousands": " "}),
    "Swiss thousands": (USUAL.replace("1234", "1\u2019234"), {"thousands": "'"}),
    "days before months": (
        re.sub(r"(\d+)-(\d\d)-(\d\d)", r"\3.\2.\1", USUAL),
        {"dates": "%d.%m.%Y"},
    ),
    "short American dates": (
        re.sub(r"20(\d+)-0(\d)-0(\d)", r"\2/\3/\1", USUAL),
        {"dates": "%m/%d/%y"},
    ),
    "dates that look like numbers": (
        re.sub(r"(\d+)-(\d\d)-(\d\d)", r"\3\2\1", USUAL),
        {"dates": "%d%m%Y"},
    ),
    "words for gaps": (
        USUAL.replace("-6;;", "-6;N.V.;").replace("25;\n", "25;-\n"),
        {"missing_words": ["-", "n.v."]},
    ),
}


def series(path: Path, content: str, **how: Any) -> Any:
    path.write_text(content)
    return series_of(read(path, **how), DAILY)


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_table_is_the_same_however_it_is_written(kind: str, tmp_path: Path) -> None:
    content, how = WRITTEN[kind]
    usual = series(tmp_path / "usual.csv", USUAL)
    found = series(tmp_path / "written.csv", content, **how)
    assert content != USUAL
    np.testing.assert_array_equal(found.x, usual.x)
    np.testing.assert_array_equal(found.xi, usual.xi)
    assert (found.time, found.x_names, found.notes) == (usual.time, usual.x_names, usual.notes)


@pytest.mark.parametrize("kind", ["decimal commas", "days before months"])
def test_without_it_the_error_says_what_to_write(kind: str, tmp_path: Path) -> None:
    content, how = WRITTEN[kind]
    with pytest.raises(TableError) as caught:
        series(tmp_path / "written.csv", content)
    lines = [f'{name} = "{value}"' for name, value in how.items()]
    assert " and ".join(lines) in str(caught.value)


def test_points_between_thousands_are_told_once_commas_are_decimal(tmp_path: Path) -> None:
    content = WRITTEN["thousands with points"][0]
    with pytest.raises(TableError, match=r'found\. Thousands separators\? Write thousands = "\."'):
        series(tmp_path / "written.csv", content, decimal=",")


def test_months_and_moments_in_their_own_form(tmp_path: Path) -> None:
    months = "day;demand\n02.2024;5\n03.2024;6\n"
    (tmp_path / "months.csv").write_text(months)
    frame = read(tmp_path / "months.csv", dates="%m.%Y")
    assert series_of(frame, Spec("demand", time="day")).time == ("2024-02", "2024-03")
    moments = "day;demand\n1 Mar 2024 02:30 PM;5\n1 Mar 2024 03:30 PM;6\n"
    (tmp_path / "moments.csv").write_text(moments)
    frame = read(tmp_path / "moments.csv", dates="%d %b %Y %I:%M %p")
    times = series_of(frame, Spec("demand", time="day")).time
    assert times == ("2024-03-01 14:30:00", "2024-03-01 15:30:00")


def test_numbers_stay_numbers_where_dates_look_like_them(tmp_path: Path) -> None:
    path = tmp_path / "months.csv"
    path.write_text("day;demand;price\n02.2024;12.2;\n03.2024;9.5;\n")
    frame = read(path, dates="%m.%Y")
    assert frame.numbers("demand").tolist() == [12.2, 9.5]
    assert np.isnan(frame.numbers("price")).all()


def test_texts_of_parquet_are_read_so_and_its_numbers_are_not(tmp_path: Path) -> None:
    polars: Any = pytest.importorskip("polars")
    pytest.importorskip("narwhals")
    columns = {"a": ["1,5", "-"], "b": [1.5, 2.0], "c": ["31.12.2024", "01.01.2025"]}
    polars.DataFrame(columns).write_parquet(tmp_path / "t")
    frame = read(tmp_path / "t", decimal=",", dates="%d.%m.%Y", missing_words="-")
    np.testing.assert_array_equal(frame.numbers("a"), [1.5, np.nan])
    assert frame.numbers("b").tolist() == [1.5, 2.0]
    assert frame.texts("c") == ["2024-12-31", "2025-01-01"]


def test_numbers_that_are_categories_or_times_are_the_same_row_by_row(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("hour;size;y\n0,5;1,5;1\n1,5;2,5;2\n2,5;1,5;3\n")
    frame = read(tmp_path / "t.csv", decimal=",")
    spec = Spec("y", categories="size", time="hour", calendar="trend", lags=[1], warm_up=2)
    found = series_of(frame, spec)
    assert found.x_names[:2] == ("size = 1.5", "size = 2.5")
    assert found.featuriser is not None
    state = found.featuriser.begin()
    for stage, row in enumerate(rows_of(frame, spec)):
        state, x = found.featuriser.decide(state, row.fields)
        assert x.tobytes() == found.x[stage].tobytes()
        state = found.featuriser.learn(state, stage, row.xi)


def test_another_point_than_was_said_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b\n1,5;1\n1.5;2\n")
    with pytest.raises(TableError) as caught:
        read(tmp_path / "t.csv", decimal=",").numbers("a")
    assert str(caught.value).endswith(
        "t.csv, line 3, column 'a': a number expected, '1.5' found. Write numbers with a decimal "
        "comma and without thousands separators."
    )


NUMBERS = st.one_of(
    st.integers(-(10**8), 10**8), st.floats(-1e9, 1e9).filter(lambda x: abs(x) > 1e-3 or x == 0)
)


@given(
    st.lists(NUMBERS, min_size=1),
    st.sampled_from([(".", ""), (",", ""), (".", ","), (",", "."), (",", " "), (".", "'")]),
)
@settings(deadline=None)
def test_numbers_come_back_as_they_were(numbers: list[float], signs: tuple[str, str]) -> None:
    decimal, thousands = signs
    notation = Notation(decimal, thousands)
    plain = [f"{number:,}".replace(".", "\0") for number in numbers]
    cells = [cell.replace(",", thousands).replace("\0", decimal) for cell in plain]
    assert notation.numbers(cells) is not None
    assert np.array_equal(np.array(numbers, float), np.asarray(notation.numbers(cells)))


CELLS = st.lists(
    st.sampled_from(["5", "1,5", "1.5", "1,500", "1.500", "1.500,5", "1,500.5", "1 500", "1'500"])
    | st.sampled_from(["-", "?", "abc", "missing", ""]),
    min_size=1,
)


@given(CELLS)
@settings(deadline=None)
def test_what_is_said_helps(cells: list[str]) -> None:
    """Each setting that an error names reads the whole column, beside the words for gaps."""
    bad = [cell for cell in cells if Notation().number(cell) is None]
    hint = for_numbers(cells, Notation())
    said = {cell: hint(cell) for cell in bad}
    words = [cell for cell in bad if "missing_words" in said[cell]]
    assert set(words) == set(bad) & {"-", "?", "missing"}
    for text in said.values():
        for lines in re.findall(r"Write ((?:decimal|thousands)[^?]*?)\.(?: |$)", text):
            found = dict(re.findall(r'(\w+) = "([^"])"', lines))
            other = Notation(**found, missing_words=words)
            assert all(other.number(cell) is not None for cell in cells)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["31.12.2024", "01.01.2025"], ' Write dates = "%d.%m.%Y".'),
        (["31.12.2024", "2025-01-01"], ' Write dates = "%d.%m.%Y".'),
        (["12/31/24 14:05"], ' Write dates = "%m/%d/%y %H:%M".'),
        (["1 May 2024"], ' Write dates = "%d %b %Y".'),
        (["31.12.2024", "12/31/2024"], ""),
        (["spring"], ""),
    ],
)
def test_the_form_of_dates_is_found(cells: list[str], said: str) -> None:
    assert for_times(cells, Notation(), lambda cell: cell.startswith("2025-")) == said


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"decimal": ";"}, "'decimal' parameter of read must be '.' or ','. Got ';' instead"),
        ({"thousands": "-"}, "'thousands' parameter of read must be one of"),
        ({"decimal": ",", "thousands": ","}, "another sign than 'decimal'. Got ',' instead"),
        ({"dates": "%d.%m."}, "'dates' parameter of read must be a form of times with a year"),
        ({"dates": "%d.%m.%Y %I:%M"}, "must be a form of times with a year and a month"),
        ({"dates": "%Y-%d-%m"}, "must be no form that ISO 8601 reads as another day"),
        ({"dates": 3}, "must be a form of times with a year and a month"),
        ({"missing_words": 3}, "'missing_words' parameter of read must be a list of words"),
        ({"missing_words": [""]}, "must be a list of words. Got"),
    ],
)
def test_settings_that_make_no_sense_are_refused(how: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match="must be") as caught:
        read("nowhere.csv", **how)
    assert said in str(caught.value)


CASE = """[cases.shop]
problem = "problem:shop"
[cases.shop.data]
file = "sales.csv"
outcome = "demand"
time = "day"
decimal = ","
dates = "%d.%m.%Y"
"""
PROBLEM = """from bocopt.problems import Newsvendor
shop = Newsvendor(unit_cost=[1.0], price=[2.0])
"""


def test_a_case_says_how_its_table_is_written(tmp_path: Path) -> None:
    (tmp_path / "bocopt.toml").write_text(CASE)
    (tmp_path / "problem.py").write_text(PROBLEM)
    (tmp_path / "sales.csv").write_text("day;demand\n30.12.2024;5,5\n31.12.2024;6\n")
    (tmp_path / "today.csv").write_text("day;demand\n01.01.2025;0,5\n")
    case = open_case(tmp_path / "bocopt.toml")
    assert case.data.xi.tolist() == [[5.5], [6.0]]
    assert case.data.time == ("2024-12-30", "2024-12-31")
    assert case.read(tmp_path / "today.csv").numbers("demand").tolist() == [0.5]


def test_wrong_settings_of_a_case_are_told_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "bocopt.toml"
    path.write_text(CASE.replace('","', '";"').replace("%Y", ""))
    with pytest.raises(ValueError, match="decimal") as caught:
        load_cases(path)
    said = str(caught.value).split("\n")
    assert said[0] == f"{path}, line 7: 'decimal' must be '.' or ','. Got ';' instead."
    assert said[1].startswith(f"{path}, line 8: 'dates' must be a form of times with a year")
