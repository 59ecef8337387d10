"""Notes on what looks wrong: told where it is, and not where data are merely wild."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bocopt.app import Spec, read, series_of
from bocopt.app.features.odd import alike, far
from bocopt.app.opening import open_case
from bocopt.app.reading.columns import Table, TableError
from bocopt.app.starters import EXAMPLES, starter

LAWS: dict[str, Any] = {
    "normal": lambda rng, n: rng.normal(100, 20, n),
    "exponential": lambda rng, n: rng.exponential(50, n),
    "lognormal": lambda rng, n: rng.lognormal(3, 0.7, n),
    "sparse counts": lambda rng, n: rng.poisson(0.3, n).astype(float),
    "counts": lambda rng, n: rng.poisson(12, n).astype(float),
    "yearly season": lambda rng, n: 100 * (1.5 + np.sin(np.arange(n) / 58)) + rng.normal(0, 9, n),
    "weekends": lambda rng, n: np.where(np.arange(n) % 7 > 4, 300, 80) + rng.normal(0, 9, n),
    "returns, with 5 degrees of freedom": lambda rng, n: rng.standard_t(5, n),
}


def noted(values: Any) -> list[str]:
    return list(far("demand", np.asarray(values), "line", np.arange(2, 2 + len(values))))


@pytest.mark.parametrize("law", LAWS)
def test_few_alarms_are_false(law: str) -> None:
    """At most 1 of 200 series of 500 outcomes."""
    series = (LAWS[law](np.random.default_rng(seed), 500) for seed in range(200))
    assert sum(bool(noted(values)) for values in series) <= 1


@pytest.mark.parametrize("law", ["normal", "counts", "yearly season"])
def test_eight_times_too_large_is_seen(law: str) -> None:
    """At one of 500, whichever it is, in 200 series."""
    seen = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        values = LAWS[law](rng, 500)
        place = int(rng.choice(np.flatnonzero(values >= np.median(values))))
        values[place] *= 8
        seen += any(f" at line {place + 2}, far from all others" in one for one in noted(values))
    assert seen >= 190


def test_several_are_told_in_one_note() -> None:
    values = np.random.default_rng(0).normal(100, 10, 500)
    values[[7, 70, 77, 400]] *= 8
    (note,) = noted(values)
    assert "at line 9" in note
    usual = np.delete(values, [7, 70, 77, 400])
    between = f"{usual.min():g} to {usual.max():g}"
    assert note.endswith(f" and 1 more, far from all others ({between}): are they right?")


def test_too_few_outcomes_say_nothing() -> None:
    assert noted([1.0, 2.0, 1.5, 900.0]) == []
    assert noted([5.0] * 40 + [6.0]) == []  # nothing to measure a distance by


def test_categories_that_are_one_for_a_person() -> None:
    assert list(alike("store", ["A", "B", "a1"])) == []
    (note,) = alike("store", ["North Shop", "NorthShop", "north  shop", "East", "east"])
    assert note.startswith("'store' has 'East' and 'east', 'North Shop' and 'NorthShop' and ")


def test_a_table_has_these_notes(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    rows = (f"{d},{'tv' if d == 9 else 'TV '},{500 if d == 20 else 30 + d % 7}" for d in range(40))
    path.write_text("\n".join(["at,channel,demand", *rows, ""]))
    spec = Spec("demand", categories="channel", time="at", warm_up=10)
    assert series_of(read(path), spec).notes == (
        "'demand' is 500 at line 22, far from all others (30 to 36): is that right?",
        "'channel' has 'TV' and 'tv', which differ in case or spaces alone: they count as "
        "different.",
    )


def odd_rows() -> list[tuple[int, str, int]]:
    """Two shops: their names spelled in five ways, two rows twice, three outcomes eightfold."""
    rows = []
    for day in range(200):
        for shop in ("north", "South Side"):
            name = {5: shop.upper(), 9: shop.replace(" ", "")}.get(day, shop)
            rows.append((day, name, 30 + (day * 7 + len(shop)) % 11))
    for row in (50, 251, 399):
        rows[row] = (*rows[row][:2], 8 * rows[row][2])
    return [*rows[:41], rows[40], *rows[41:60], *rows[59:]]


def from_csv(folder: Path) -> Table:
    lines = ["at,shop,demand", *(",".join(map(str, row)) for row in odd_rows())]
    (folder / "odd.csv").write_text("\n".join(lines))
    return read(folder / "odd.csv")


def from_excel(folder: Path) -> Table:
    openpyxl: Any = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [("at", "shop", "demand"), *odd_rows()]:
        book.active.append(row)
    book.save(folder / "odd.xlsx")
    return read(folder / "odd.xlsx")


def from_database(folder: Path) -> Table:
    pytest.importorskip("sqlalchemy")
    connection = sqlite3.connect(folder / "odd.db")
    connection.execute("CREATE TABLE odd (at INTEGER, shop TEXT, demand INTEGER)")
    connection.executemany("INSERT INTO odd VALUES (?, ?, ?)", odd_rows())
    connection.commit()
    connection.close()
    return read(f"sqlite:///{folder / 'odd.db'}", query="select * from odd order by rowid")


@pytest.mark.parametrize(
    ("source", "place", "first"),
    [(from_csv, "line", 2), (from_excel, "row", 2), (from_database, "row", 1)],
)
def test_each_note_is_there_once_and_whole(
    source: Callable[[Path], Table], place: str, first: int, tmp_path: Path
) -> None:
    spec = Spec("demand", categories="shop", time="at", repeated="keep", warm_up=150)
    odd = [(row, demand) for row, (_, _, demand) in enumerate(odd_rows()) if demand > 40]
    assert len(odd) == 3
    large = ", ".join(f"{demand} at {place} {row + first}" for row, demand in odd)
    assert series_of(source(tmp_path), spec).notes == (
        "202 of 402 rows have the time of the row before: all rows of one time are decided before "
        "any outcome of it is known.",
        f"2 rows are the same as another of their time, the first in {place}s {40 + first} and "
        f"{41 + first}: all are decided and learned.",
        f"'demand' is {large}, far from all others (30 to 40): are they right?",
        "'shop' has 'NORTH' and 'north', 'SOUTH SIDE' and 'South Side' and 'SouthSide', which "
        "differ in case or spaces alone: they count as different.",
    )


def test_rows_that_stand_there_twice_are_refused_with_their_lines(tmp_path: Path) -> None:
    spec = Spec("demand", context="demand 2", time="at")
    path = tmp_path / "twice.csv"
    rows = [f"{day},{day % 7},{day % 5}" for day in range(30)]
    path.write_text("\n".join(["at,demand,demand 2", *rows[:10], rows[9], *rows[10:], rows[29]]))
    with pytest.raises(TableError) as caught:
        series_of(read(path), spec)
    said = [line.split(": ")[0] for line in str(caught.value).split("\n")]
    assert said == [f"{path}, lines 11 and 12", f"{path}, lines 32 and 33"]


def test_hours_of_a_day_that_are_too_large_are_named() -> None:
    hours = [f"2024-{1 + n // 672:02}-{1 + n // 24 % 28:02} {n % 24:02}:00" for n in range(1344)]
    load = (30 + np.arange(1344) * 7 % 11).astype(np.float64)
    load[24 * 30 + 5] *= 8
    frame = Table("load.csv", "line", np.arange(2, 1346), {"at": hours, "load": load})
    notes = series_of(frame, Spec("load", time="at", stage="day")).notes
    (note,) = [note for note in notes if "far from all others" in note]
    assert note.startswith(f"'load 05:00' is {load[24 * 30 + 5]:g} at line {2 + 24 * 30}, far from")


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_look_right(example: str, tmp_path: Path) -> None:
    for name, content in starter(example).items():
        (tmp_path / name).write_bytes(content)
    notes = open_case(tmp_path / "bocopt.toml").data.notes
    assert not any("far from" in note or "differ in" in note for note in notes)
