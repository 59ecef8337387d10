"""A table of several series gives the same panel wherever it stands, and the same errors."""

import datetime as dt
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from bocopt.app import Spec, panel_of, read
from bocopt.app.reading.columns import Table, TableError

openpyxl: Any = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")
pytest.importorskip("sqlalchemy")

DAYS = [dt.date(2024, 2, 26) + dt.timedelta(days=n) for n in range(6)]
#: Shops are numbers, and products are texts: the third series opens late, and one gap is in each.
ROWS: list[tuple[dt.date, int, str, float | None, float | None]] = [
    (day, shop, product, None if n == 2 else 1.5, None if n == shop else 10.0 * shop + n)
    for n, day in enumerate(DAYS)
    for shop, product in ((1, "rye"), (1, "wheat"), (2, "rye"))
    if not (shop == 2 and n < 1)
]
NAMES = ("day", "shop", "product", "price", "sold")
SPEC = Spec(
    "sold", context="price", time="day", series=["shop", "product"], lags=[1], calendar="weekday"
)


def csv(folder: Path, rows: list[Any]) -> Table:
    cells = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
    (folder / "sales.csv").write_text("\n".join([",".join(NAMES), *cells, ""]))
    return read(folder / "sales.csv")


def parquet(folder: Path, rows: list[Any]) -> Table:
    polars.DataFrame(rows, schema=[*NAMES], orient="row").write_parquet(folder / "sales.parquet")
    return read(folder / "sales.parquet")


def excel(folder: Path, rows: list[Any]) -> Table:
    book = openpyxl.Workbook()
    for row in (NAMES, *rows):
        book.active.append(row)
    book.save(folder / "sales.xlsx")
    return read(folder / "sales.xlsx")


def sql(folder: Path, rows: list[Any]) -> Table:
    with sqlite3.connect(folder / "sales.db") as database:
        database.execute(
            "CREATE TABLE sales (day TEXT, shop INTEGER, product TEXT, price REAL, sold REAL)"
        )
        written = [(str(day), *rest) for day, *rest in rows]
        database.executemany("INSERT INTO sales VALUES (?, ?, ?, ?, ?)", written)
    database.close()
    return read(f"sqlite:///{folder / 'sales.db'}", query="select * from sales")


Source = Callable[[Path, list[Any]], Table]


@pytest.mark.parametrize("source", [parquet, excel, sql], ids=lambda source: source.__name__)
def test_a_panel_is_that_of_the_same_table_as_csv(source: Source, tmp_path: Path) -> None:
    usual, found = (panel_of(each(tmp_path, ROWS), SPEC) for each in (csv, source))
    assert found.names == usual.names == ("1 / rye", "1 / wheat", "2 / rye")
    assert (found.time, found.notes, found.keys) == (usual.time, usual.notes, usual.keys)
    assert found.featuriser == usual.featuriser
    for one, other in zip(found.series, usual.series, strict=True):
        np.testing.assert_array_equal(one.x, other.x)
        np.testing.assert_array_equal(one.xi, other.xi)
        assert (one.time, one.x_names, one.notes) == (other.time, other.x_names, other.notes)


@pytest.mark.parametrize("source", [csv, parquet, excel, sql], ids=lambda source: source.__name__)
def test_rows_of_one_series_and_time_are_refused_everywhere(source: Source, tmp_path: Path) -> None:
    frame = source(tmp_path, [*ROWS, (DAYS[1], 1, "rye", 1.5, 99.0)])
    with pytest.raises(TableError) as caught:
        panel_of(frame, SPEC)
    where = " and ".join(str(frame.places[row]) for row in (2, len(ROWS)))
    assert f"{frame.place}s {where}: both are '1 / rye' at 2024-02-27." in str(caught.value)
