"""A case from its file to its report, and started again wherever it was stopped."""

import re
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
import pytest
from pages import parsed
from small_cases import changed, ran, written

from bocopt.app import read
from bocopt.app.backtesting import backtest
from bocopt.app.case import Case
from bocopt.app.opening import open_case
from bocopt.app.starters import EXAMPLES
from bocopt.app.writing import write
from bocopt.compared import NOW
from bocopt.live import Agent


@pytest.mark.parametrize("example", EXAMPLES)
def test_each_example_is_written_shown_and_backtest(example: str, tmp_path: Path) -> None:
    code, said = ran("init", str(tmp_path / "new"), "--example", example)
    assert code == 0
    assert "bocopt backtest" in said
    case = written(tmp_path, example, rows=80)
    code, said = ran("backtest", str(case), "--dry-run")
    assert code == 0
    assert "80 stages" in said
    assert not (tmp_path / "results").exists()
    code, said = ran("backtest", str(case))
    assert code == 0, said
    assert "than what is done now" in said
    [results] = (tmp_path / "results").iterdir()
    assert {"decisions.csv", "trace.csv", "report.html"} <= {p.name for p in results.iterdir()}
    opened = open_case(case)
    ticket = opened.agent("SampleAverage").decide(opened.data.x[-1])
    assert ticket.id == 80  # it goes on where the case ended


def test_the_page_on_cases_quotes_the_report_of_its_commands(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "case.md").read_text(encoding="utf-8")
    quoted = [line.strip("> *") for line in page.splitlines() if line.startswith("> ")]
    assert "bocopt init shop --example newsvendor" in page
    ran("init", str(tmp_path / "shop"), "--example", "newsvendor")
    code, said = ran("backtest", str(tmp_path / "shop" / "bocopt.toml"))
    assert code == 0, said
    [report] = (tmp_path / "shop" / "results").rglob("report.html")
    shown = " ".join(parsed(report.read_text(encoding="utf-8")).text.split())
    assert " ".join(quoted) in shown


def test_a_trace_as_parquet_has_what_the_csv_file_has(tmp_path: Path) -> None:
    path = written(tmp_path)
    ran("backtest", str(path))
    code, said = ran("backtest", str(changed(path, "seed = 0", 'seed = 0\ntrace = "parquet"')))
    assert code == 0, said
    results = tmp_path / "results" / "kiosk"
    texts, numbers = (read(results / f"trace.{form}") for form in ("csv", "parquet"))
    assert texts.columns.keys() == numbers.columns.keys()
    assert texts.columns["time"] == numbers.columns["time"]
    for name in numbers.columns.keys() - {"time"}:
        assert repr(texts.numbers(name)) == repr(numbers.numbers(name))


def test_init_does_not_write_over_anything(tmp_path: Path) -> None:
    (tmp_path / "problem.py").write_text("mine")
    code, said = ran("init", str(tmp_path))
    assert code == 2
    assert "problem.py already" in re.sub(r"[\s│]+", " ", said)
    assert (tmp_path / "problem.py").read_text() == "mine"
    assert not (tmp_path / "bocopt.toml").exists()
    code, said = ran("init", str(tmp_path / "other"), "--example", "nothing")
    assert code == 2
    assert "must be one of newsvendor" in re.sub(r"[\s│]+", " ", said)


def test_the_code_of_a_report_goes_on_with_the_next_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = open_case(written(tmp_path))
    found, agents = backtest(case)
    write(case, found, agents)
    with (tmp_path / "data.csv").open("a") as data:
        data.write("2024-03-01,4.5,rain,,,,\n")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(found.code.replace("[...]", "[70, 12]"), names)
    assert names["case"].data.time[-1] == "2024-03-01"
    assert names["ticket"].id == 60
    assert capsys.readouterr().out == f"{names['ticket'].z}\n"
    again = Agent.load("agent.bin", case.policies["SampleAverage"], problem=case.problem)
    assert again.decide(case.data.x[-1]).id == 61


class StoppedError(Exception):
    pass


def stopped_after(case: Case, stages: int) -> None:
    """Played until so many stages, and then no more."""
    left = stages

    def advance(n: int) -> None:
        nonlocal left
        left -= n
        if left < 0:
            raise StoppedError

    with pytest.raises(StoppedError):
        backtest(case, keep_every=10, advance=advance)


def test_a_study_that_was_stopped_goes_on_to_the_same_numbers(tmp_path: Path) -> None:
    case = open_case(written(tmp_path, "staffing"))
    whole, _ = backtest(case, fresh=True)
    for stages in (5, 23, 37, 61, 80, 113):
        stopped_after(case, stages)
        again, agents = backtest(case)
        for name, one in whole.played.items():
            for part, other in zip(one, again.played[name], strict=True):
                assert repr(part) == repr(other)
        assert str(whole.compared) == str(again.compared)
        assert agents["SampleAverage"].decide(case.data.x[0]).id == 60
        rmtree(tmp_path / "results", ignore_errors=True)  # before the tenth stage there is none


@pytest.mark.parametrize("path", [3.0, None, b"bocopt.toml"])
def test_a_path_is_a_path(path: Any) -> None:
    with pytest.raises(ValueError, match="'path' parameter of open_case must be a path"):
        open_case(path)


def test_late_outcomes_are_learned_when_they_come(tmp_path: Path) -> None:
    """A running average that knows of an outcome a stage later decides as one a stage behind."""
    soon = open_case(changed(written(tmp_path, "staffing"), "delay = 1", "delay = 0"))
    decided, _ = backtest(soon)
    (tmp_path / "late").mkdir()
    late, _ = backtest(open_case(written(tmp_path / "late", "staffing")))
    first, second = (found.played["SampleAverage"].z for found in (decided, late))
    assert (second[2:] == first[1:-1]).all()
    assert not (second == first).all()


def test_outcomes_that_the_problem_says_are_impossible_are_named(tmp_path: Path) -> None:
    path = written(tmp_path)
    lines = (tmp_path / "data.csv").read_text().splitlines()
    lines[40] = ",".join([*lines[40].split(",")[:3], "-5", "3", "70", "20"])
    (tmp_path / "data.csv").write_text("\n".join(lines))
    code, said = ran("backtest", str(path), "--dry-run")
    assert code == 0
    assert "1 of 60 outcomes are outside the support of 'kiosk', at line or row 41" in said
    code, said = ran("backtest", str(path))
    assert code == 0
    assert "At all times: not applicable" in said


def test_decisions_in_the_table_are_priced_where_they_are(tmp_path: Path) -> None:
    path = written(tmp_path)
    lines = (tmp_path / "data.csv").read_text().splitlines()
    lines[40] = ",".join([*lines[40].split(",")[:-2], "", ""])
    (tmp_path / "data.csv").write_text("\n".join(lines))
    case = open_case(path)
    found, _ = backtest(case)
    now: Any = found.played[NOW]
    assert np.isnan(now.cost[39])
    assert np.isfinite(np.delete(now.cost, 39)).all()
    assert found.compared["SampleAverage"].differences.shape == (60 - 28 - 1,)


BROKEN = {
    "title = ": ("titel = ", "line 7: [cases.kiosk] has no key 'titel'. Did you mean 'title'?"),
    "[cases.kiosk.data]": ("[cases.kiosk.dta]", "no key 'dta'. Did you mean 'data'?"),
    'outcome = ["papers", "magazines"]': (
        'outcome = ["papers"]',
        "has outcomes of 2 numbers, but",
    ),
    'file = "data.csv"': ('file = "none.csv"', "none.csv"),
    "lags = [1, 7]": ("lags = [0]", "line 21: 'lags' must be"),
    'missing = "last"': ('missing = "first"', "'missing' must be"),
    "problem:kiosk": ("problem:shop", "line 9: 'problem': "),
    '"problem:kiosk"': ('"kiosk"', "must be like 'shop:problem', for `problem` in shop.py"),
    "seed = 0": ("seed = -1", "'seed' must be an integer in [0, 9e18]. Got -1 instead."),
    "confidence = 0.95": (
        "confidence = 95",
        "'confidence' must be a number in (0, 1). Got 95 instead.",
    ),
    'policies = ["SampleAverage"]': (
        'policies = ["SampelAverage"]',
        "has no 'SampelAverage' (known without it: Ensemble,",
    ),
    "delay = 0 ": ("delay = ", "is not TOML"),
    'unit = "EUR"': ('trace = "xlsx"', "'trace' must be 'csv' or 'parquet'"),
    "seed = 0\n": ('now = "kiosk"\n', "line 11: what is done now is said twice"),
    "[service]": ("[servce]", "the file has no key 'servce'. Did you mean 'service'?"),
}


@pytest.mark.parametrize("old", BROKEN)
def test_what_is_wrong_in_a_study_file_is_named(old: str, tmp_path: Path) -> None:
    new, message = BROKEN[old]
    code, said = ran("backtest", str(changed(written(tmp_path), old, new)))
    assert code == 1
    assert message in said
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("kiosk = 3", "must be a Problem"),
        ("kiosk = 1 / 0", "line 1: ZeroDivisionError: division by zero"),
        ("\n\nkiosk = (", "line 3: '(' was never closed."),
        ("import nothing_of_this_name", "line 1: ModuleNotFoundError"),
    ],
)
def test_what_is_wrong_in_a_problem_file_is_named(code: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / "problem.py").write_text(code)
    status, said = ran("backtest", str(path))
    assert status == 1
    assert "problem.py" in said
    assert message in said
