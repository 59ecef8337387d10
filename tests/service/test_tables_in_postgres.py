"""A table in PostgreSQL: its types, and that nothing is changed or told that should not be."""

import re

import psycopg
import pytest
from databases import empty_schema

from bocopt.app import Spec, read, series_of
from bocopt.app.reading.columns import TableError

pytest.importorskip("sqlalchemy")

MAKE = """
CREATE TABLE sales (
  at timestamptz, day date, demand numeric(8, 2), price real, shop text, open boolean, tags text[]
);
INSERT INTO sales
SELECT '2024-03-01 00:00+00'::timestamptz + n * interval '1 hour', date '2024-03-01' + n,
  n + 0.25, CASE WHEN n <> 2 THEN n * 0.5 END, 'shop ' || n % 2, n % 2 = 0, ARRAY['a']
FROM generate_series(0, 24999) AS n
"""


@pytest.fixture(scope="module")
def address(server: tuple[str, str]) -> str:
    made = empty_schema(server[0])
    with psycopg.connect(made, autocommit=True) as connection:
        connection.execute("SET timezone TO 'UTC'")
        connection.execute(MAKE.encode())
    return made


def test_columns_are_what_their_types_say(address: str) -> None:
    frame = read(address, query="select * from sales order by day;")
    spec = Spec("demand", context=["price", "open"], categories="shop", time="day", warm_up=2)
    series = series_of(frame, spec)
    assert len(series.time) == 25_000
    assert series.time[:2] == ("2024-03-01", "2024-03-02")
    assert series.xi[:3].tolist() == [[0.25], [1.25], [2.25]]
    assert series.x[:4].tolist() == [[0, 1, 1, 0], [0.5, 0, 0, 1], [0.5, 1, 1, 0], [1.5, 0, 0, 1]]
    with pytest.raises(TableError, match=r"column 'tags': numbers, texts or times expected, list"):
        frame.numbers("tags")


def test_moments_keep_their_zone(address: str) -> None:
    frame = read(address, query="select * from sales where demand < 3 order by at")
    series = series_of(frame, Spec("demand", time="at"))
    assert any("from UTC; calendars follow the clock" in note for note in series.notes)


@pytest.mark.parametrize("query", ["delete from sales returning 1", "select nextval('s')"])
def test_nothing_is_changed(query: str, address: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE SEQUENCE IF NOT EXISTS s")
    with pytest.raises(TableError, match=r"read-only transaction|syntax error"):
        read(address, query=query)
    assert len(read(address, query="select day from sales")) == 25_000


def test_no_password_is_told(address: str) -> None:
    secret = "swordfish%21"
    other = re.sub(r"://([^@/]*@)?", f"://nobody:{secret}@", address)
    with pytest.raises(TableError, match=r"nobody:\*\*\*@") as caught:
        read(other, query="select 1")
    assert "swordfish" not in str(caught.value)
    with pytest.raises(TableError, match="does not exist"):
        read(address, query="select * from sale")
