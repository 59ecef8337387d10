"""Excel files give the same series as CSV, and errors name the sheet, the row and the column."""

import datetime as dt
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bocopt import extras
from bocopt.app import Spec, open_case, read, series_of
from bocopt.app.reading.columns import TableError

pytest.importorskip("python_calamine")
openpyxl: Any = pytest.importorskip("openpyxl")

DAYS = [dt.date(2024, 2, 28) + dt.timedelta(days=n) for n in range(4)]
TABLE: list[list[Any]] = [
    ["day", "demand", "price", "shop", "open"],
    [DAYS[0], 5, 1.5, "a", True],
    [DAYS[1], 6, None, 7, False],
    [DAYS[2], None, 0.1, None, True],
    [DAYS[3], 9, 1e-7, "b ", None],
]
SPEC = Spec("demand", context=["price", "open"], categories="shop", time="day", warm_up=2)
CSV = (
    "day,demand,price,shop,open\n2024-02-28,5,1.5,a,true\n2024-02-29,6,,7,false\n"
    "2024-03-01,,0.1,,true\n2024-03-02,9,1e-7,b,\n"
)


def written(path: Path, **sheets: Sequence[Sequence[Any]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_it_gives_the_same_series_as_csv(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text(CSV)
    usual = series_of(read(tmp_path / "sales.csv"), SPEC)
    found = series_of(read(written(tmp_path / "any name", Sales=TABLE, Empty=[])), SPEC)
    np.testing.assert_array_equal(found.x, usual.x)
    np.testing.assert_array_equal(found.xi, usual.xi)
    assert (found.time, found.x_names, found.notes) == (usual.time, usual.x_names, usual.notes)
    assert found.lines.tolist() == [2, 3, 4, 5]


def test_a_sheet_is_named_where_there_are_several(tmp_path: Path) -> None:
    path = written(tmp_path / "sales.xlsx", North=TABLE, South=TABLE[:3])
    assert len(read(path, sheet="South")) == 2
    with pytest.raises(TableError) as several:
        read(path)
    listed = "'North', 'South'"
    assert str(several.value) == f'{path} has the sheets {listed}: say which, by sheet = "North".'
    with pytest.raises(TableError) as other:
        read(path, sheet="West")
    assert str(other.value) == f"{path} has no sheet 'West'. It has: {listed}."
    (tmp_path / "sales.csv").write_text(CSV)
    with pytest.raises(TableError, match=r"sales\.csv is no Excel file: leave out 'sheet'\.$"):
        read(tmp_path / "sales.csv", sheet="North")
    with pytest.raises(ValueError, match="'sheet' parameter of read must be the name of a sheet"):
        read(path, sheet="")


def test_errors_name_the_row_and_the_column(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        [],
        *TABLE,
        [],
        ["3 March", "six", 2, "a", True],
        ["2024-03-04", 7, "-", "a", True],
    ]
    path = written(tmp_path / "sales.xlsx", Sales=rows)
    with pytest.raises(TableError) as caught:
        series_of(read(path), SPEC)
    where = f"{path}, sheet 'Sales', row"
    assert str(caught.value).split("\n") == [
        f"{where} 8, column 'day': a date as in row 3 expected, '3 March' found.",
        f"{where} 8, column 'demand': a number expected, 'six' found.",
        f"{where} 9, column 'price': a number expected, '-' found. A gap? Write "
        'missing_words = ["-"].',
    ]


def test_texts_are_read_as_they_are_written_and_numbers_are_not(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["day", "demand", "price"],
        [DAYS[0], 5.5, "1,5"],
        ["29.02.2024", "6,25", 2.5],
    ]
    path = written(tmp_path / "sales.xlsx", Sales=rows)
    frame = read(path, decimal=",", dates="%d.%m.%Y")
    series = series_of(frame, Spec("demand", context="price", time="day"))
    assert series.time == ("2024-02-28", "2024-02-29")
    assert series.xi.tolist() == [[5.5], [6.25]]
    assert series.x.tolist() == [[1.5], [2.5]]


def test_hours_are_hours_at_midnight_and_elsewhere(tmp_path: Path) -> None:
    hours = [dt.datetime(2024, 3, 1) + dt.timedelta(minutes=20 * n) for n in range(150)]
    rows: list[list[Any]] = [["at", "load"], *([hour, n] for n, hour in enumerate(hours))]
    frame = read(written(tmp_path / "load.xlsx", Load=rows))
    assert series_of(frame, Spec("load", time="at")).time == tuple(map(str, hours))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], " is empty."),
        ([["day", "demand"]], ", sheet 'S' has no rows below the names of its columns."),
        ([["a", "b", "a"], [1, 2, 3]], ", sheet 'S', row 1: columns A and C are both named 'a'."),
        (
            [[1, 2], [3, 4]],
            ", sheet 'S', row 1: the names of the columns expected, '1.0' found.",
        ),
        (
            [["Sales of 2024"], ["day", "demand"], [DAYS[0], 5]],
            ", sheet 'S', cell B2: a column with a name in row 1 expected, 'demand' found. Leave "
            "out titles above the names and notes beside the table.",
        ),
    ],
)
def test_sheets_that_are_no_tables(rows: list[list[Any]], said: str, tmp_path: Path) -> None:
    path = written(tmp_path / "s.xlsx", S=rows)
    with pytest.raises(TableError) as caught:
        read(path)
    assert str(caught.value) == f"{path}{said}"


def test_times_of_day_are_refused_where_they_are_used(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["at", "demand"], [dt.time(3, 30), 5], [dt.time(4, 30), 6]]
    frame = read(written(tmp_path / "s.xlsx", S=rows))
    assert frame.numbers("demand").tolist() == [5, 6]
    with pytest.raises(TableError, match="numbers, texts or times expected, times of day or"):
        series_of(frame, Spec("demand", time="at"))


@pytest.mark.parametrize("content", [b"PK\x03\x04\x14\0", b"\xd0\xcf\x11\xe0" + bytes(600)])
def test_a_broken_file_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "cut.xlsx").write_bytes(content)
    with pytest.raises(TableError, match=r"cut\.xlsx is no Excel file that can be read: "):
        read(tmp_path / "cut.xlsx")


def test_another_zip_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "sales.csv").write_text(CSV)
    path = Path(shutil.make_archive(str(tmp_path / "sales"), "zip", tmp_path / "folder"))
    with pytest.raises(TableError, match=r"sales\.zip is no Excel file that can be read: "):
        read(path)


def test_what_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "sales.xlsx", Sales=TABLE)

    def absent(module: str) -> Any:
        raise ModuleNotFoundError(name=module)

    extras.needed.cache_clear()
    monkeypatch.setattr(extras, "import_module", absent)
    with pytest.raises(ModuleNotFoundError) as caught:
        read(path)
    assert str(caught.value) == (
        f'{path}, an Excel file, needs python_calamine: pip install "bocopt[excel]".'
    )


def test_a_case_names_its_sheet(tmp_path: Path) -> None:
    (tmp_path / "bocopt.toml").write_text(
        '[cases.shop]\nproblem = "problem:shop"\n[cases.shop.data]\nfile = "sales.xlsx"\n'
        'sheet = "North"\noutcome = "demand"\ntime = "day"\n'
    )
    (tmp_path / "problem.py").write_text(
        "from bocopt.problems import Newsvendor\nshop = Newsvendor(unit_cost=[1.0], price=[2.0])\n"
    )
    written(tmp_path / "sales.xlsx", North=TABLE, South=TABLE)
    case = open_case(tmp_path / "bocopt.toml")
    np.testing.assert_array_equal(case.data.xi.ravel(), [5, 6, np.nan, 9])
    (tmp_path / "today.csv").write_text(CSV)
    assert len(case.read(tmp_path / "today.csv")) == 4
    assert len(case.read(tmp_path / "sales.xlsx")) == 4
