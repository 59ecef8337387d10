"""Rows of a database: the same series as of a file, nothing changed there, and no password told."""

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from bocopt import extras
from bocopt.app import Spec, open_case, read, series_of
from bocopt.app.case_file import load_cases
from bocopt.app.cli import app
from bocopt.app.reading.columns import TableError
from bocopt.app.reading.database import without_password

pytest.importorskip("sqlalchemy")

SPEC = Spec("demand", context="price", time="day")
ROWS = [("2024-03-01", 5, 1.5), ("2024-03-02", 6, None), ("2024-03-03", 7, 2.0)]
SELECT = "select * from sales order by day"


@pytest.fixture
def address(tmp_path: Path) -> str:
    with sqlite3.connect(tmp_path / "50% of sales.db") as connection:
        connection.execute("CREATE TABLE sales (day TEXT, demand INTEGER, price REAL)")
        connection.executemany("INSERT INTO sales VALUES (?, ?, ?)", ROWS)
    connection.close()
    return f"sqlite:///{tmp_path / '50% of sales.db'}"


def test_rows_give_the_same_series_as_a_file(address: str, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text(
        "day,demand,price\n2024-03-01,5,1.5\n2024-03-02,6,\n2024-03-03,7,2\n"
    )
    usual = series_of(read(tmp_path / "sales.csv"), SPEC)
    found = series_of(read(address, query=SELECT), SPEC)
    np.testing.assert_array_equal(found.x, usual.x)
    np.testing.assert_array_equal(found.xi, usual.xi)
    assert (found.time, found.notes) == (usual.time, usual.notes)


def test_a_query_is_sent_as_it_is(address: str) -> None:
    frame = read(address, query="select day, '12:30 50% :x' as note from sales -- :y %s")
    assert frame.texts("note") == ["12:30 50% :x"] * 3


@pytest.mark.parametrize("query", ["delete from sales", "drop table sales"])
def test_nothing_is_changed(query: str, address: str) -> None:
    with pytest.raises(TableError, match=r"attempt to write a readonly database\.$"):
        read(address, query=query)
    assert len(read(address, query=SELECT)) == 3


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("select * from sale", " cannot be read: no such table: sale."),
        ("selec", ' cannot be read: near "selec": syntax error.'),
        ("select * from sales where demand > 9", ": the query gives no rows."),
        ("select day, 1 as a, 2 as a from sales", ": two columns of the query are named 'a'."),
        ("create temp table t (a)", ": a query that gives rows expected, such as select ..."),
    ],
)
def test_a_query_that_fails_is_told(query: str, said: str, address: str) -> None:
    with pytest.raises(TableError) as caught:
        read(address, query=query)
    assert str(caught.value) == f"{address}{said}"


def test_an_error_of_a_cell_names_its_row(address: str) -> None:
    query = "select day, case when demand = 6 then 'six' else demand end as demand from sales"
    with pytest.raises(TableError) as caught:
        series_of(read(address, query=query), Spec("demand", time="day"))
    said = "row 2, column 'demand': a number expected, 'six' found."
    assert str(caught.value) == f"{address}, {said}"


def test_blobs_are_refused_where_they_are_used(address: str) -> None:
    frame = read(address, query="select demand, x'00ff' as picture from sales")
    with pytest.raises(TableError, match="numbers, texts or times expected, bytes found"):
        frame.numbers("picture")


def test_what_does_not_go_together_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(TableError, match="the address of a database needs a 'query'"):
        read(address)
    with pytest.raises(TableError, match=r"sales\.csv is no address of a database: leave out 'qu"):
        read("sales.csv", query=SELECT)
    with pytest.raises(ValueError, match="'query' parameter of read must be a query in SQL"):
        read(address, query=" ")
    with pytest.raises(FileNotFoundError, match=r"There is no file .*other\.db: sqlite:"):
        read(f"sqlite:///{tmp_path / 'other.db'}", query=SELECT)
    assert not (tmp_path / "other.db").exists()


SECRET = "h%40rd/to:g@ess"
ADDRESSES = [
    f"postgresql://ann:{SECRET}@127.0.0.1:1/sales?connect_timeout=1",
    f"postgresql://127.0.0.1:1/sales?user=ann&password={SECRET}&connect_timeout=1",
    f"nothing://ann:{SECRET}@host/sales",
    f"postgresql://ann:{SECRET}@host:port/sales",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_password_is_told(address: str) -> None:
    pytest.importorskip("psycopg")
    assert SECRET not in without_password(address)
    with pytest.raises(TableError) as caught:
        read(address, query=SELECT)
    error: BaseException | None = caught.value
    assert "***" in str(error)
    while error is not None:  # all that a log would show
        for secret in (SECRET, "h@rd/to:g@ess", "g@ess"):
            assert secret not in str(error)
        error = error.__cause__ or error.__context__


def test_an_address_without_a_password_is_shown_as_it_is() -> None:
    for address in ("postgresql://ann@db:5432/sales", "sqlite:///a@b.db", "mysql://db/x?charset=u"):
        assert without_password(address) == address


CASE = """[cases.shop]
problem = "problem:shop"
[cases.shop.data]
file = "sqlite:///50% of sales.db"
query = "select * from sales order by day"
outcome = "demand"
time = "day"
"""


def test_a_case_reads_a_database_beside_its_file(address: str, tmp_path: Path) -> None:
    (tmp_path / "bocopt.toml").write_text(CASE)
    (tmp_path / "problem.py").write_text(
        "from bocopt.problems import Newsvendor\nshop = Newsvendor(unit_cost=[1.0], price=[2.0])\n"
    )
    case = open_case(tmp_path / "bocopt.toml")
    assert case.data.xi.ravel().tolist() == [5, 6, 7]
    assert case.source is not None
    assert case.source.data_name == address


def test_a_case_shows_no_password(tmp_path: Path) -> None:
    path = tmp_path / "bocopt.toml"
    path.write_text(CASE.replace("sqlite:///50% of sales.db", ADDRESSES[0]))
    found = load_cases(path)
    assert SECRET in str(found.cases["shop"].data)
    assert SECRET not in repr(found)
    assert "ann:***@127.0.0.1" in found.cases["shop"].data_name
    path.write_text(CASE.replace("query", "querry"))
    with pytest.raises(ValueError, match=r"line 4: a database needs a 'query'"):
        load_cases(path)


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_command_tells_no_password(address: str, tmp_path: Path) -> None:
    path = tmp_path / "bocopt.toml"
    path.write_text(CASE.replace("sqlite:///50% of sales.db", address))
    (tmp_path / "problem.py").write_text(
        "from bocopt.problems import Newsvendor\nshop = Newsvendor(unit_cost=[1.0], price=[2.0])\n"
    )
    ended = CliRunner().invoke(app, ["backtest", str(path), "--dry-run"])
    assert ended.exit_code == 1
    assert "***" in ended.output
    assert "g@ess" not in ended.output
    assert not app.pretty_exceptions_show_locals


def test_what_is_missing_is_said(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModuleNotFoundError) as driver:
        read("mysql://ann:secret@host/sales", query=SELECT)
    assert "secret" not in str(driver.value)

    def absent(module: str) -> Any:
        raise ModuleNotFoundError(name=module)

    extras.needed.cache_clear()
    monkeypatch.setattr(extras, "import_module", absent)
    with pytest.raises(ModuleNotFoundError) as caught:
        read(address, query=SELECT)
    said = 'a database, needs sqlalchemy: pip install "bocopt[sql]".'
    assert str(caught.value) == f"{address}, {said}"
