"""What people's files look like, and what is said of each: where, what was expected, what came."""

from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from bocopt.app import Spec, frame_of, read, series_of
from bocopt.app.reading.columns import TableError

FINE = "day,demand,price\n2024-03-01,5,1.5\n2024-03-02,6,1.5\n2024-03-03,7,2\n"
DAILY: dict[str, Any] = {"outcome": "demand", "context": ["price"], "time": "day"}
TIMES = " Write times like 2024-03-01, 2024-03-01 14:30 or 2024-03."


class Case(NamedTuple):
    """A file, how it is to be read, and what is said of it; {} stands for its path."""

    content: str | bytes
    said: str
    name: str
    spec: dict[str, Any]


def case(content: str | bytes, said: str, name: str = "sales.csv", **change: Any) -> Case:
    return Case(content, said, name, {**DAILY, **change})


def rows(*lines: str, header: str = "day,demand,price") -> str:
    return "\n".join([header, *lines, ""])


def prepared(case: Case, folder: Path) -> Any:
    path = folder / case.name
    path.write_bytes(case.content if isinstance(case.content, bytes) else case.content.encode())
    return series_of(read(path), Spec(**case.spec))


REFUSED = {
    "empty file": case("", "{} is empty."),
    "blank lines only": case("\n\n\n", "{} is empty."),
    "header only": case("day,demand,price\n", "{} has no rows below the names of its columns."),
    "no header": case(
        "2024-03-01,5,1.5\n2024-03-02,6,1.5\n",
        "{}, line 1: the names of the columns expected, '2024-03-01' found.",
    ),
    "one row": case(rows("2024-03-01,5,1.5"), "{} has one row: two or more expected."),
    "warm-up only": case(
        FINE, "{} has 3 rows: more expected than the 3 of the 'warm_up'.", warm_up=3
    ),
    "another delimiter": case(
        FINE.replace(",", "|"),
        "{}, line 1: columns separated by , ; or tab expected, '|' found.",
    ),
    "missing column": case(
        FINE.replace("demand", "Demand"),
        "{} has no column 'demand'. It has: 'day', 'Demand', 'price'. Is 'Demand' meant?",
    ),
    "duplicated column": case(
        rows("2024-03-01,5,1", header="day,demand,demand"),
        "{}, line 1: columns 2 and 3 are both named 'demand'.",
    ),
    "text in numbers": case(
        rows("2024-03-01,5,1.5", "2024-03-02,abc,1.5"),
        "{}, line 3, column 'demand': a number expected, 'abc' found.",
    ),
    "text in numbers, far below": case(
        rows(*(f"{n},{n},1" for n in range(1000)), "1000,abc,1"),
        "{}, line 1002, column 'demand': a number expected, 'abc' found.",
    ),
    "decimal commas": case(
        "day;demand;price\n2024-03-01;5;1,5\n2024-03-02;6;2\n",
        "{}, line 2, column 'price': a number expected, '1,5' found. A decimal comma? "
        'Write decimal = ",".',
    ),
    "decimal commas between commas": case(
        rows("2024-03-01,5,1,5", "2024-03-02,6,2"),
        "{}, line 2: 3 cells expected, 4 found. A cell with a , in it must stand in quotes.",
    ),
    "thousands separators": case(
        rows('2024-03-01,"5,000",1', "2024-03-02,6,2"),
        "{}, line 2, column 'demand': a number expected, '5,000' found. A decimal comma? "
        'Write decimal = ",". Thousands separators? Write thousands = ",".',
    ),
    "underscores in numbers": case(
        rows("2024-03-01,5_000,1", "2024-03-02,6,2"),
        "{}, line 2, column 'demand': a number expected, '5_000' found.",
    ),
    "units in numbers": case(
        rows("2024-03-01,5,1.50 EUR", "2024-03-02,6,2"),
        "{}, line 2, column 'price': a number expected, '1.50 EUR' found.",
    ),
    "infinite number": case(
        rows("2024-03-01,5,1", "2024-03-02,6,-inf"),
        "{}, line 3, column 'price': a finite number expected, '-inf' found.",
    ),
    "infinite by size": case(
        rows("2024-03-01,5,1", "2024-03-02,1e999,2"),
        "{}, line 3, column 'demand': a finite number expected, 'inf' found.",
    ),
    "huge number": case(
        rows("2024-03-01,5,1", "2024-03-02,2e100,2"),
        "{}, line 3, column 'demand': a number up to 1e+100 in size expected, '2e+100' found.",
    ),
    "gap that is refused": case(
        rows("2024-03-01,5,1", "2024-03-02,6,"),
        "{}, line 3, column 'price': a number expected, nothing found.",
        missing="refuse",
    ),
    "category gap that is refused": case(
        rows("2024-03-01,5,a", "2024-03-02,6,", "2024-03-03,6,b"),
        "{}, line 3, column 'price': a text or a number expected, nothing found.",
        context=(),
        categories=["price"],
        warm_up=1,
        missing="refuse",
    ),
    "too many categories": case(
        rows(*(f"{n},{n},id{n}" for n in range(600))),
        "{}, column 'price': at most 500 categories expected, 599 found in the first 599 rows.",
        context=(),
        categories=["price"],
        warm_up=599,
    ),
    "all outcomes missing": case(
        rows("2024-03-01,,1", "2024-03-02,NA,2"),
        "{}, column 'demand': outcomes expected, all are missing.",
    ),
    "never all outcomes": case(
        rows("2024-03-01,5,", "2024-03-02,,2"),
        "{}: no row has all outcomes, demand, price.",
        outcome=["demand", "price"],
        context=(),
    ),
    "no decision": case(
        rows("2024-03-01,5,", "2024-03-02,6,"),
        "{}: no row has a decision in 'price'.",
        context=(),
        decisions="price",
    ),
    "repeated times": case(
        rows("2024-03-01,5,1", "2024-03-02,6,2", "2024-03-01,7,2"),
        "{}, lines 2 and 4, column 'day': both at 2024-03-01. Where a time has several "
        'decisions, say repeated = "keep"; what looks back, such as lags, must then stand in '
        "columns of the table.",
    ),
    "missing time": case(
        rows("2024-03-01,5,1", ",6,2"),
        "{}, line 3, column 'day': a date as in line 2 expected, nothing found.",
    ),
    "all times missing": case(
        rows(",5,1", ",6,2"),
        "{0}, line 2, column 'day': a time expected, nothing found.\n"
        "{0}, line 3, column 'day': a time expected, nothing found.",
    ),
    "infinite time": case(
        rows("1,5,1", "inf,6,2"), "{}, line 3, column 'day': a time expected, 'inf' found."
    ),
    "times in another notation": case(
        rows("01/03/2024,5,1", "02/03/2024,6,2"),
        "{0}, line 2, column 'day': a time expected, '01/03/2024' found. "
        'Write dates = "%d/%m/%Y" for days before months, or dates = "%m/%d/%Y".\n'
        "{0}, line 3, column 'day': a time expected, '02/03/2024' found.",
    ),
    "times in no notation": case(
        rows("Friday,5,1", "2024-03-02,6,2"),
        "{}, line 2, column 'day': a date as in line 3 expected, 'Friday' found.",
    ),
    "no times at all": case(
        rows("Friday,5,1", "Saturday,6,2"),
        "{0}, line 2, column 'day': a time expected, 'Friday' found." + TIMES + "\n"
        "{0}, line 3, column 'day': a time expected, 'Saturday' found.",
    ),
    "mixed notations": case(
        rows("2024-03-01,5,1", "2024-03-02 12:00,6,2"),
        "{}, line 3, column 'day': a date as in line 2 expected, '2024-03-02 12:00' found.",
    ),
    "numbers and dates": case(
        rows("1,5,1", "2024-03-02,6,2"),
        "{}, line 3, column 'day': a number as in line 2 expected, '2024-03-02' found.",
    ),
    "a day that there is not": case(
        rows("2023-02-28,5,1", "2023-02-29,6,2"),
        "{}, line 3, column 'day': a date as in line 2 expected, '2023-02-29' found.",
    ),
    "one time zone missing": case(
        rows("2024-03-01 10:00+01:00,5,1", "2024-03-02 10:00,6,2"),
        "{}, lines 2 and 3, column 'day': one time has a time zone and one has none.",
    ),
    "two time zones": case(
        rows("2024-03-01T10:00+01:00,5,1", "2024-03-02T10:00-05:00,6,2"),
        "{}, lines 2 and 3, column 'day': time zones -05:00 and +01:00. Write all times in one.",
    ),
    "calendar of numbers": case(
        rows("1,5,1", "2,6,2"),
        "{}, column 'day': dates expected, for 'calendar', numbers found.",
        calendar="weekday",
    ),
    "arrival before the decision": case(
        rows("2024-03-01,5,2024-03-02", "2024-03-02,6,2024-03-01"),
        "{}, line 3, column 'price': a time from 2024-03-02 on, that of the decision, expected, "
        "'2024-03-01' found.",
        context=(),
        arrives="price",
    ),
    "arrival of another kind": case(
        rows("2024-03-01,5,2", "2024-03-02,6,3"),
        "{}, column 'price': the kind of 'day' expected (dates), numbers found.",
        context=(),
        arrives="price",
    ),
    "arrival in a time zone": case(
        rows("2024-03-01,5,2024-03-01 09:00Z", "2024-03-02,6,2024-03-02 09:00Z"),
        "{}: times with a time zone are in only one of 'day' and 'price'.",
        context=(),
        arrives="price",
    ),
    "too few cells": case(
        rows("2024-03-01,5,1", "2024-03-02,6"), "{}, line 3: 3 cells expected, 2 found."
    ),
    "too many cells, behind tabs": case(
        "day\tdemand\tprice\n2024-03-01\t5\t1\n2024-03-02\t6\t1\t9\n",
        "{}, line 3: 3 cells expected, 4 found. A cell with a tab in it must stand in quotes.",
    ),
    "ragged after a quoted newline": case(
        rows('2024-03-01,5,"a\nb"', "2024-03-02,6"),
        "{0}, line 2, column 'price': a number expected, 'a\\nb' found.\n"
        "{0}, line 4: 3 cells expected, 2 found.",
    ),
    "open quote": case(
        rows("2024-03-01,5,1", '2024-03-02,"6,1'),
        "{}, line 3: a quote is opened and never closed.",
    ),
    "quote within a cell": case(
        rows("2024-03-01,5,1", '2024-03-02,"6"7,1'),
        "{}, line 3: no CSV (',' expected after '\"').",
    ),
    "latin-1": case(
        rows("2024-03-01,5,1", "2024-03-02,6,1 caf\u00e9").encode("latin-1"),
        "{}, line 3: UTF-8 expected, the byte 0xe9 found. Save the file in UTF-8.",
    ),
    "utf-16": case(FINE.encode("utf-16"), "{} is in UTF-16: save it in UTF-8."),
    "binary file": case(
        b"\x7fELF\x02\x01\0\0", "{} is neither CSV, Excel nor Parquet: it has bytes of value zero."
    ),
    "Excel that is none": case(FINE, "{} is not an Excel file, by its first bytes.", "sales.xlsx"),
    "compressed": case(b"\x1f\x8b\x08\0", "{} is compressed: unpack it.", "sales.csv.gz"),
    "Parquet that is none": case(
        FINE, "{} is not a Parquet file, by its first bytes.", "sales.parquet"
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_broken_file_is_refused_with_its_place(kind: str, tmp_path: Path) -> None:
    broken = REFUSED[kind]
    with pytest.raises(TableError) as caught:
        prepared(broken, tmp_path)
    assert str(caught.value) == broken.said.format(tmp_path / broken.name)


FINE_AFTER_ALL = {
    "BOM": case(b"\xef\xbb\xbf" + FINE.encode(), ""),
    "CRLF": case(FINE.replace("\n", "\r\n"), ""),
    "CR": case(FINE.replace("\n", "\r"), ""),
    "no last newline": case(FINE.rstrip(), ""),
    "semicolons": case(FINE.replace(",", ";"), ""),
    "tabs": case(FINE.replace(",", "\t"), "", "sales.tsv"),
    "spaces after commas": case(FINE.replace(",", ", "), ""),
    "blank lines": case(FINE.replace("\n", "\n\n"), ""),
    "quotes": case("\n".join(f'"{line}"'.replace(",", '","') for line in FINE.split()), ""),
    "a header with commas, between semicolons": case(
        FINE.replace(",", ";").replace("price", '"price, EUR, net, per piece"'),
        "",
        context=["price, EUR, net, per piece"],
    ),
    "a column without a name": case(FINE.replace("\n", ",\n"), ""),
    "a text column": case(FINE.replace("\n", ",note\n"), ""),
}


@pytest.mark.parametrize("kind", FINE_AFTER_ALL)
def test_ways_to_write_a_file_do_not_matter(kind: str, tmp_path: Path) -> None:
    series = prepared(FINE_AFTER_ALL[kind], tmp_path)
    assert series.time == ("2024-03-01", "2024-03-02", "2024-03-03")
    assert series.x.tolist() == [[1.5], [1.5], [2.0]]
    assert series.xi.tolist() == [[5.0], [6.0], [7.0]]
    assert series.notes == ()


NOTED = {
    "unordered times": case(
        rows("2024-03-02,5,1", "2024-03-01,6,2", "2024-03-03,6,3"),
        "Rows are not in the order of 'day' (line 3 is the first that is not): they are sorted.",
    ),
    "repeated times that are kept": case(
        rows("2024-03-01,5,1", "2024-03-01,6,2", "2024-03-02,6,3"),
        "1 of 3 rows have the time of the row before: all rows of one time are decided before any "
        "outcome of it is known.",
        repeated="keep",
    ),
    "missing days": case(
        rows(*(f"2024-03-{d:02},5,{d}" for d in (1, 2, 3, 4, 5, 6, 7, 8, 12))),
        "3 days are missing between the first and the last, the first of them after 2024-03-08.",
    ),
    "a missing hour": case(
        rows(*(f"2024-03-01 {h:02}:00,5,{h}" for h in (1, 2, 3, 5))),
        "One of the hours is missing between the first and the last, after 2024-03-01 03:00.",
    ),
    "a missing month": case(
        rows(*(f"2024-{m:02},5,{m}" for m in (1, 2, 3, 5))),
        "One of the months is missing between the first and the last, after 2024-03.",
    ),
    "a missing number": case(
        rows("1,5,1", "2,5,2", "3,5,3", "5,5,3"),
        "One of the times is missing between the first and the last, after 3.",
    ),
    "time zones": case(
        rows("2024-03-30T10:00+01:00,5,1", "2024-03-31T10:00+02:00,6,2"),
        "The times of 'day' are +01:00 and +02:00 from UTC; calendars follow the clock as written.",
    ),
    "days as numbers": case(
        rows("20240229,5,1", "20240301,6,2"),
        "The numbers of 'day' are taken for dates, such as 20240229 for 2024-02-29.",
    ),
    "NaN outcome": case(rows("2024-03-01,NaN,1", "2024-03-02,6,2"), "1 of 2 rows have no outcome."),
    "half an outcome": case(
        rows("2024-03-01,5,", "2024-03-02,6,2"),
        "1 of 2 rows have a part of their outcome alone.",
        outcome=["demand", "price"],
        context=(),
    ),
    "a gap": case(
        rows("2024-03-01,5,1", "2024-03-02,6,", "2024-03-03,6,2"),
        "'price' is missing in 1 of 3 rows: the last known one stands for it, and 0 before "
        "the first.",
    ),
    "a gap that is kept": case(
        rows("2024-03-01,5,1", "2024-03-02,6,", "2024-03-03,6,2"),
        "'price' is missing in 1 of 3 rows: it stays so.",
        missing="keep",
    ),
    "a constant": case(
        rows("2024-03-01,5,1", "2024-03-02,6,1"), "Of no use, as it never changes: price."
    ),
    "a category that was not there": case(
        rows("2024-03-01,5,a", "2024-03-02,6,b", "2024-03-03,6,a"),
        "'price' has values that are not in the first 1 rows in 1 of 3 rows: they count as none "
        "of the others.",
        context=(),
        categories=["price"],
        warm_up=1,
    ),
    "a delay": case(FINE, "An outcome is known 3 stages after its decision.", delay=2),
    "no time of arrival": case(
        rows("2024-03-01,5,2024-03-01", "2024-03-02,6,"),
        "1 of 2 rows have no 'price': their outcomes never arrive.",
        context=(),
        arrives="price",
    ),
    "a stage without a decision": case(
        rows("2024-03-01,5,", "2024-03-02,6,1"),
        "1 of 2 rows have no decision.",
        context=(),
        decisions=["price"],
    ),
}


@pytest.mark.parametrize("kind", NOTED)
def test_what_is_odd_is_noted(kind: str, tmp_path: Path) -> None:
    assert NOTED[kind].said in prepared(NOTED[kind], tmp_path).notes


def test_a_column_of_gaps_is_noted_twice(tmp_path: Path) -> None:
    empty = case(rows("2024-03-01,5,", "2024-03-02,6,n/a"), "")
    assert prepared(empty, tmp_path).notes == (
        "'price' is missing in all of 2 rows: the last known one stands for it, and 0 before "
        "the first.",
        "Of no use, as it never changes: price.",
    )


@pytest.mark.parametrize(
    "days",
    [
        [1, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 18],  # of March 2024: Mondays to Fridays
        [1, 2, 5, 9, 16, 22, 29, 31],  # at any time
    ],
)
def test_weekends_and_irregular_times_are_no_gaps(days: list[int], tmp_path: Path) -> None:
    free = case(rows(*(f"2024-03-{day:02},5,{day}" for day in days)), "")
    assert prepared(free, tmp_path).notes == ()


def test_large_numbers_and_odd_names_are_kept(tmp_path: Path) -> None:
    header = 'day,"\u9700\u8981 <script>","a, ""b"""'
    odd = case(
        rows("2024-03-01,1e9,-3e9", "2024-03-02,1000000001,4", header=header),
        "",
        outcome="\u9700\u8981 <script>",
        context=['a, "b"'],
    )
    series = prepared(odd, tmp_path)
    assert series.xi_names == ("\u9700\u8981 <script>",)
    assert series.x_names == ('a, "b"',)
    assert series.xi.tolist() == [[1e9], [1000000001.0]]


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    spread = case(rows("2024-03-03,5,1", "", '2024-03-01,6,"2\n"', "2024-03-02,6,2"), "")
    assert prepared(spread, tmp_path).lines.tolist() == [4, 6, 2]


def test_a_negative_delay_is_refused() -> None:
    with pytest.raises(ValueError, match="'delay' parameter of Spec must be an integer in"):
        Spec("demand", delay=-1)


def test_files_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        read(tmp_path / "sale.csv")
    assert str(missing.value) == f"There is no file {tmp_path / 'sale.csv'}."
    with pytest.raises(IsADirectoryError) as folder:
        read(tmp_path)
    assert str(folder.value) == f"{tmp_path} is a folder: a CSV, Excel or Parquet file expected."

    def locked(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", locked)  # root may read everything
    with pytest.raises(PermissionError) as denied:
        read(tmp_path / "sales.csv")
    assert str(denied.value) == f"There is no permission to read {tmp_path / 'sales.csv'}."


@pytest.fixture(params=["polars", "pandas"])
def library(request: pytest.FixtureRequest) -> Any:
    pytest.importorskip("narwhals")
    pytest.importorskip("pyarrow")
    return pytest.importorskip(request.param)


def test_a_cut_parquet_file_is_refused(library: Any, tmp_path: Path) -> None:
    path = tmp_path / "cut.parquet"
    path.write_bytes(b"PAR1" + bytes(100))
    with pytest.raises(TableError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path} is a broken Parquet file: ")


def test_lists_in_a_frame_are_refused_where_they_are_used(library: Any) -> None:
    frame = frame_of(library.DataFrame({"demand": [5, 6], "basket": [["a"], ["b"]]}))
    assert series_of(frame, Spec("demand")).xi.tolist() == [[5.0], [6.0]]
    with pytest.raises(TableError, match="The table, column 'basket': numbers, texts or times exp"):
        series_of(frame, Spec("demand", context=["basket"]))


def test_an_error_of_a_frame_names_the_row(library: Any) -> None:
    frame = frame_of(library.DataFrame({"demand": [5, 6], "price": ["1", "x"]}))
    with pytest.raises(TableError) as caught:
        series_of(frame, Spec("demand", context=["price"]))
    assert str(caught.value) == "The table, row 2, column 'price': a number expected, 'x' found."


def test_a_frame_without_rows_is_refused(library: Any) -> None:
    with pytest.raises(TableError, match=r"^The table has no rows\.$"):
        frame_of(library.DataFrame({"demand": []}))


def test_odd_names_of_a_data_frame_are_refused() -> None:
    pandas: Any = pytest.importorskip("pandas")
    pytest.importorskip("narwhals")
    with pytest.raises(TableError, match="The table has two columns of one name"):
        frame_of(pandas.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(TableError, match=r"The table has a column named 0: a text expected\."):
        frame_of(pandas.DataFrame(np.ones((2, 2))))


def test_what_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "sales.parquet"
    path.write_bytes(b"PAR1" + bytes(100))
    monkeypatch.setattr(import_module("bocopt.app.reading.frame"), "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError) as caught:
        read(path)
    assert str(caught.value) == (
        'Parquet files need polars, or pandas with pyarrow: pip install "bocopt[tables]".'
    )
