"""All that is wrong is told at once, in the order of lines: of a table, and of bocopt.toml."""

from pathlib import Path
from typing import Any

import pytest

from bocopt.app import Spec, read, series_of
from bocopt.app.case_file import load_cases
from bocopt.app.faults import Fault
from bocopt.app.reading.columns import TableError, all_of

CALLS: dict[str, Any] = {"outcome": "calls", "context": ["price"], "time": "day"}


def said_of(path: Path, *lines: str, **change: Any) -> list[str]:
    path.write_text("\n".join(["day,calls,price", *lines, ""]))
    with pytest.raises(TableError) as caught:
        series_of(read(path), Spec(**{**CALLS, **change}))
    return str(caught.value).removesuffix("\n").split("\n")


def test_all_that_is_wrong_in_a_table_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    said = said_of(
        path,
        "2024-03-01,5,1.5",
        "02.03.2024,6,1.5",
        "2024-03-03,-,1.5",
        "2024-03-04,7,1,5",
        '2024-03-05,8,"1,5"',
        "2024-03-05,9,1.5",
        "2024-03-06,inf,x",
        "2024-03-07,4,1",
        "2024-03-07,4,1",
        '2024-03-08,"5",2,5',
        "2024-03-09,1e101",
        "2024-03-10,5,open",
    )
    assert [line.removeprefix(f"{path}, ") for line in said] == [
        "line 3, column 'day': a date as in line 2 expected, '02.03.2024' found. Write "
        'dates = "%d.%m.%Y".',
        "line 4, column 'calls': a number expected, '-' found. A gap? Write "
        'missing_words = ["-"].',
        "line 5: 3 cells expected, 4 found. A cell with a , in it must stand in quotes.",
        "lines 6 and 7, column 'day': both at 2024-03-05. Where a time has several decisions, say "
        'repeated = "keep"; what looks back, such as lags, must then stand in columns of the '
        "table.",
        "line 6, column 'price': a number expected, '1,5' found. Write numbers with a decimal "
        "point and without thousands separators.",
        "line 8, column 'calls': a finite number expected, 'inf' found.",
        "line 8, column 'price': a number expected, 'x' found.",
        "lines 9 and 10: the same row twice. Remove one of them; if both took place, say "
        'repeated = "keep".',
        "line 11: 3 cells expected, 4 found.",
        "line 12: 3 cells expected, 2 found.",
        "line 13, column 'price': a number expected, 'open' found.",
    ]


def test_twenty_are_shown_and_the_rest_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    days = (f"{1 + n // 28:02}-{1 + n % 28:02}" for n in range(300))
    lines = [f"2{n:03}-{day},n/e,{'2' if n % 2 else '?'}" for n, day in enumerate(days)]
    said = said_of(path, *lines, "2400-01-01,5")
    assert len(said) == 21
    assert said[0] == f"{path}, line 2, column 'calls': a number expected, 'n/e' found."
    gap = 'A gap? Write missing_words = ["?"].'
    assert said[1] == f"{path}, line 2, column 'price': a number expected, '?' found. {gap}"
    assert said[2] == f"{path}, line 3, column 'calls': a number expected, 'n/e' found."
    assert said[-1] == "And 431 more."  # 300 + 150 + 1 less 20


def test_columns_that_are_not_there_are_told_with_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    said = said_of(path, "2024-03-01,x,1", "2024-03-02,6,1", context=["prise", "rain"])
    assert said[0].startswith(f"{path} has no column 'prise'.")
    assert said[1].startswith(f"{path} has no column 'rain'.")
    assert said[2] == f"{path}, line 2, column 'calls': a number expected, 'x' found."


def test_arrivals_are_told_with_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    early = said_of(
        path, "2024-03-02,5,2024-03-01", "2024-03-03,6,2024-03-01", context=(), arrives="price"
    )
    assert [line.split(", column")[0] for line in early] == [f"{path}, line 2", f"{path}, line 3"]
    odd = said_of(path, "2024-03-02,5,x", "2024-3-3,6,2024-03-04", context=(), arrives="price")
    assert len(odd) == 2


def test_nothing_is_given_out_of_a_file_with_broken_lines(tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    path.write_text("day,calls\n2024-03-01,5\n2024-03-02\n")
    frame = read(path)
    for use in (frame.numbers, frame.texts, frame.column):
        with pytest.raises(TableError, match="line 3: 2 cells expected, 1 found"):
            use("calls")


def test_lines_before_one_that_never_ends_are_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    said = said_of(path, "2024-03-01,x,1", '2024-03-02,"6,1', "2024-03-03,6,1")
    assert said == [
        f"{path}, line 2, column 'calls': a number expected, 'x' found.",
        f"{path}, line 3: a quote is opened and never closed.",
    ]


def test_errors_add_up() -> None:
    def fails(*lines: int) -> Any:
        def fail() -> None:
            raise TableError(*(Fault(line, f"line {line}", " hint") for line in lines))

        return fail

    with pytest.raises(TableError) as caught:
        all_of([fails(*range(30, 60)), lambda: 1, fails(*range(0, 60, 2))])
    lines = str(caught.value).split("\n")
    assert lines[0] == "line 0 hint"
    assert lines[1:20] == [f"line {line}" for line in (*range(2, 31, 2), 30, 31, 32, 32)]
    assert lines[20:] == ["And 40 more."]
    assert all_of([lambda: 1, lambda: 2]) == [1, 2]


CASE = """[cases.kiosk]
titel = "A shop"
policies = "Ensemble"
extra = 1
seed = -1
confidence = 95
trace = "xlsx"

[cases.kiosk.data]
file = "data.csv"
outcom = ["papers"]
lags = [0]
missing = "first"
warm_up = 2.5
delay = 1

[sevice]
port = 1
"""


def test_all_that_is_wrong_in_a_file_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bocopt.toml"
    path.write_text(CASE)
    with pytest.raises(ValueError, match="titel") as caught:
        load_cases(path)
    said = [line.removeprefix(f"{path}, ") for line in str(caught.value).split("\n")]
    assert [line.split(": ")[0] for line in said] == [
        f"line {number}" for number in (1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13, 14, 17)
    ]
    assert said[0] == "line 1: [cases.kiosk] does not say 'problem'."
    assert said[1] == "line 2: [cases.kiosk] has no key 'titel'. Did you mean 'title'?"
    assert said[7] == "line 9: [cases.kiosk.data] must say which columns are the 'outcome'."
    assert said[8] == "line 11: [cases.kiosk.data] has no key 'outcom'. Did you mean 'outcome'?"
    assert said[9] == "line 12: 'lags' must be an integer in [1, 1e6]. Got 0 instead."
    assert said[12] == "line 17: the file has no key 'sevice'. Did you mean 'service'?"


def test_what_does_not_go_together_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bocopt.toml"
    path.write_text(
        '[cases.a]\nproblem = "p:a"\npromote = "SampleAvrage"\n'
        '[cases.a.data]\nfile = "data.csv"\noutcome = "a"\ncategories = "b"\narrives = "c"\n'
        'delay = 2\ndecisions = "a"\n'
    )
    with pytest.raises(ValueError, match="warm_up") as caught:
        load_cases(path)
    said = str(caught.value).split("\n")
    assert len(said) == 5
    for word in ("'warm_up' must be 1 or more", "'delay' must be 0", "'time' must be a column"):
        assert any(word in line for line in said)
    assert "'promote' must be one of the policies after the first (SampleAverage)" in str(said)
    assert f"{path}, line 10: 'decisions' must be other columns than 'outcome'. Got 'a'" in said[-1]


def test_keys_are_found_in_their_own_part(tmp_path: Path) -> None:
    """Parts may have keys of one name, and a comment may name a key."""
    path = tmp_path / "bocopt.toml"
    path.write_text(
        '[cases.a.data]\nfile = "d.csv"\noutcome = "a"\n# problem = 3\n[cases.a]\nproblem = 3\n'
    )
    with pytest.raises(ValueError, match="must be a text") as caught:
        load_cases(path)
    expected = "'problem' must be a text in quotes. Got 3 instead."
    assert str(caught.value) == f"{path}, line 6: {expected}"
