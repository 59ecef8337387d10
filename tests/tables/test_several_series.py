"""Rows that share a time: nothing looks back from one series into another, and twice is not two."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bocopt.app import Series, Spec, read, series_of
from bocopt.app.backtesting import backtest
from bocopt.app.opening import open_case
from bocopt.app.reading.columns import TableError

SHOPS = {"north": 100.0, "south": 10.0, "west": 1.0}


def panel(folder: Path, days: int = 14, *, gaps: bool = False, extra: tuple[str, ...] = ()) -> Path:
    """A row for each shop and day, whose demands lie far apart."""
    lines = ["day,shop,price,demand"]
    for day in range(1, days + 1):
        for shop, demand in SHOPS.items():
            price = "" if gaps and (day, shop) in {(3, "south"), (5, "west")} else "2"
            lines.append(f"2024-03-{day:02},{shop},{price},{demand + day}")
    path = folder / "panel.csv"
    path.write_text("\n".join([*lines, *extra, ""]))
    return path


def made(path: Path, **change: Any) -> Series:
    spec = {"outcome": "demand", "context": ["price"], "categories": ["shop"], "time": "day"}
    return series_of(read(path), Spec(**{**spec, "repeated": "keep", "warm_up": 2, **change}))


def refused(path: Path, **change: Any) -> str:
    with pytest.raises(TableError) as caught:
        made(path, **change)
    return str(caught.value)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"lags": [7]}, "'lags'"),
        ({"rolling": [7]}, "'rolling'"),
        ({"lags": [1], "rolling": [7]}, "'lags' and 'rolling'"),
    ],
)
def test_what_looks_back_over_rows_is_refused(
    change: dict[str, Any], named: str, tmp_path: Path
) -> None:
    path = panel(tmp_path)
    said = refused(path, **change)
    assert said.startswith(f"{path}, lines 2 and 3, column 'day': both at 2024-03-01, and {named} ")
    assert "another series" in said
    assert "each series by itself" in said
    assert "'series'" in said


def test_lags_are_fine_where_no_time_repeats(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("day,demand\n" + "".join(f"2024-03-{d:02},{d}\n" for d in range(1, 9)))
    series = made(path, context=(), categories=(), lags=[1], rolling=[2])
    assert series.x[-1].tolist() == [7.0, 6.5]


def test_a_gap_is_not_filled_from_another_series(tmp_path: Path) -> None:
    path = panel(tmp_path, gaps=True)
    lines = refused(path).splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(f"{path}, line 9, column 'price': a number expected, nothing found.")
    assert "another series" in lines[0]
    assert 'missing = "keep"' in lines[0]
    assert lines[1] == f"{path}, line 16, column 'price': a number expected, nothing found."
    kept = made(path, missing="keep")
    assert np.flatnonzero(np.isnan(kept.x[:, 0])).tolist() == [7, 14]


def test_a_category_is_not_filled_from_another_series(tmp_path: Path) -> None:
    path = panel(tmp_path)
    path.write_text(path.read_text().replace("2024-03-04,south", "2024-03-04,"))
    said = refused(path)
    assert said.startswith(f"{path}, line 12, column 'shop': a text or a number expected, nothing")


def test_a_rule_that_asks_for_what_it_is_not_shown_is_told_so(tmp_path: Path) -> None:
    panel(tmp_path, days=4)
    (tmp_path / "problem.py").write_text(
        "import numpy as np\n"
        "from bocopt import minimise, pos, program, real\n\n"
        "@program(xi=1, order=real(upper=200), support=(0.0, 200.0))\n"
        "def problem(xi, order):\n"
        "    return minimise(order + 3 * pos(xi[0] - order))\n\n"
        "def now(x):\n"
        '    return [x["demand, lag 7"]]\n'
    )
    (tmp_path / "bocopt.toml").write_text(
        '[cases.shop]\nproblem = "problem:problem"\npolicies = ["SampleAverage"]\nnow = "now"\n'
        '[cases.shop.data]\nfile = "panel.csv"\noutcome = "demand"\ncontext = ["price"]\n'
        'time = "day"\nrepeated = "keep"\n'
    )
    with pytest.raises(ValueError, match=r"'demand, lag 7'.* It has: 'price'"):
        backtest(open_case(tmp_path / "bocopt.toml"))


def test_warm_up_counts_times(tmp_path: Path) -> None:
    series = made(panel(tmp_path), warm_up=2)
    assert series.warm_up == 6  # stages: two days of three shops
    late = panel(tmp_path, extra=("2024-03-15,east,2,5",))
    noted = made(late, warm_up=2)
    assert [name for name in noted.x_names if "shop" in name] == [f"shop = {s}" for s in SHOPS]
    assert (
        "'shop' has values that are not in the first 2 times in 1 of 43 rows: they count as none "
        "of the others."
    ) in noted.notes
    with pytest.raises(TableError, match="14 times: more expected than the 14 of the 'warm_up'"):
        made(panel(tmp_path), warm_up=14)


def test_warm_up_counts_rows_where_each_has_its_time(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("day,demand\n" + "".join(f"2024-03-{d:02},{d}\n" for d in range(1, 9)))
    assert made(path, context=(), categories=(), warm_up=3).warm_up == 3
    assert made(path, context=(), categories=(), time=None, warm_up=3).warm_up == 3


def test_a_panel_is_recognised(tmp_path: Path) -> None:
    path = panel(tmp_path)
    said = refused(path, repeated="refuse", context=(), categories=())
    assert said.startswith(f"{path}, lines 2 and 3, column 'day': both at 2024-03-01. ")
    assert "'shop' tells the rows of a time apart" in said
    assert 'say series = "shop"' in said
    assert said.endswith("\nAnd 27 more.")


def test_different_rows_of_a_time_are_told_so(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    path.write_text("day,demand\n2024-03-01,5\n2024-03-02,6\n2024-03-01,7\n2024-03-03,8\n")
    said = refused(path, context=(), categories=(), repeated="refuse")
    assert said.startswith(f"{path}, lines 2 and 4, column 'day': both at 2024-03-01. ")
    assert 'repeated = "keep"' in said
    assert "Remove" not in said


def test_the_same_row_twice_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    path.write_text(
        "day,demand,note\n2024-03-01,5,a\n2024-03-02,6,\n2024-03-01,5,a\n2024-03-03,8,b\n"
        "2024-03-03,8,b\n2024-03-03,8,c\n"
    )
    lines = refused(path, context=(), categories=(), repeated="refuse").splitlines()
    assert lines[0].startswith(f"{path}, lines 2 and 4: the same row twice. Remove one of them")
    assert lines[1] == f"{path}, lines 5 and 6: the same row twice."
    assert lines[2].startswith(f"{path}, lines 5 and 7, column 'day': both at 2024-03-03. ")
    assert len(lines) == 3


def test_the_same_row_twice_is_noted_where_it_is_kept(tmp_path: Path) -> None:
    path = panel(tmp_path, extra=("2024-03-14,west,2,15.0",))
    assert (
        "One row stands there twice, in lines 43 and 44: both are decided and learned."
    ) in made(path).notes
    assert not any("twice" in note for note in made(panel(tmp_path)).notes)
