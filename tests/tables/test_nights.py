"""Nightly batches of a panel: each series and time once, whatever is killed."""

import csv
import io
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lengths import long
from small_cases import changed, ran
from small_panels import bakery, table

from bocopt.app import Case, backtest_panel, decide, open_case, read
from bocopt.app.panels.writing import write_panel

FIRST, LAST = 17, 24  # days of the table, and of all nights
HEADER, *LINES = table().splitlines()
LIGHT = """

def light(problem):
    from bocopt.models import LightMixture
    from bocopt.policies import Predictive

    return Predictive(problem, LightMixture())


def across(problem):
    from bocopt.models import AcrossSeries, LightMixture
    from bocopt.policies import GivenAcross, Predictive

    policy = Predictive(problem, LightMixture(given=5))
    return GivenAcross(policy, AcrossSeries(levels=5, trees=4, leaf=3, fewest=6))
"""
POLICIES = ("SampleAverage", "light", "across")


def day_of(line: str) -> int:
    return int(line[8:10])


def begun(folder: Path) -> Path:
    """Return the file of a case that was played on the first days."""
    path = bakery(folder)
    changed(path, '"SampleAverage", "always"', '"SampleAverage", "light", "across"')
    with (folder / "problem.py").open("a") as code:
        code.write(LIGHT)
    text = "\n".join([HEADER, *(line for line in LINES if day_of(line) <= FIRST), ""])
    (folder / "data.csv").write_text(text)
    case = open_case(path)
    write_panel(case, backtest_panel(case))
    return path


def rows_of_night(day: int, told: Callable[[int], bool] = lambda day: True) -> str:
    """The rows of a day without their outcomes, and those of days before with them."""
    rows = []
    for line in LINES:
        if FIRST < day_of(line) < day and told(day_of(line)):
            rows.append(line)
        if day_of(line) == day:
            *known, _, baked = line.split(",")
            rows.append(",".join([*known, "", baked]))
    return "\n".join([HEADER, *rows, ""])


def written(folder: Path, day: int, **how: Any) -> Path:
    path = folder / f"night-{day}.csv"
    path.write_text(rows_of_night(day, **how))
    return path


def left(case: Case) -> dict[str, bytes]:
    files = (path for path in (case.results / "nights").rglob("*") if path.is_file())
    return {str(path.relative_to(case.results)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, str], float]:
    """What a backtest of all days decides."""
    folder = tmp_path_factory.mktemp("whole")
    path = begun(folder)
    (folder / "data.csv").write_text(table())
    found = backtest_panel(open_case(path))
    return {
        (policy, name, date): played[policy].z[t, 0]
        for name, series, played in zip(
            found.panel.names, found.panel.series, found.each, strict=True
        )
        for t, date in enumerate(series.time)
        for policy in POLICIES
    }


@pytest.mark.parametrize("policy", POLICIES)
def test_nights_decide_as_a_backtest_of_all_days(
    policy: str, whole: dict[tuple[str, str, str], float], tmp_path: Path
) -> None:
    case = open_case(begun(tmp_path))
    several = 0
    for day in range(FIRST + 1, LAST + 1):
        found = decide(case, case.read(written(tmp_path, day)), policy, learn=True)
        names, dates = found.columns["shop"], found.columns["date"]
        assert {*dates} == {f"2024-01-{day}"}
        assert {*found.columns["agent"]} == {"of the backtest"}
        for name, date, z in zip(names, dates, found.columns["baked"], strict=True):
            assert z == whole[policy, name, date]
            several += 1
        kept = left(case)
        assert decide(case, case.read(tmp_path / f"night-{day}.csv"), policy, learn=True) == found
        assert left(case) == kept
    assert several == sum(day_of(line) > FIRST for line in LINES)


@pytest.mark.parametrize("policy", POLICIES)
def test_days_that_were_missed_are_learned_in_their_order(
    policy: str, whole: dict[tuple[str, str, str], float], tmp_path: Path
) -> None:
    """A night finds rows of days that nobody decided, and outcomes that come late."""
    case = open_case(begun(tmp_path))
    decide(case, case.read(written(tmp_path, FIRST + 1)), policy, learn=True)
    found = decide(case, case.read(written(tmp_path, FIRST + 4)), policy, learn=True)
    for name, date, z in zip(*list(found.columns.values())[:3], strict=True):
        assert z == whole[policy, name, date]
    for day in (FIRST + 5, FIRST + 6):
        late = written(tmp_path, day, told=lambda told, day=day: told == day - 2)
        found = decide(case, case.read(late), policy, learn=True)
        assert {*found.columns["date"]} == {f"2024-01-{day}"}


@pytest.mark.parametrize("learn", [True, False])
def test_a_series_has_one_row_of_a_time_in_a_night(learn: bool, tmp_path: Path) -> None:
    """Two outcomes of one decision cannot both be true: none is learned, and nothing changes."""
    case = open_case(begun(tmp_path))
    decide(case, case.read(written(tmp_path, FIRST + 1)), learn=True)
    kept, rows = left(case), tmp_path / "twice.csv"
    rows.write_text(
        f"{HEADER}\n2024-01-18,north,0,50,64\n2024-01-18,north,0,90,64\n2024-01-19,late,1,,\n"
        "2024-01-19,late,1,,\n2024-01-19,north,1,,\n"
    )
    with pytest.raises(ValueError, match="one row a time") as caught:
        decide(case, case.read(rows), learn=learn)
    assert str(caught.value).splitlines() == [
        f"{rows}, lines 2 and 3: both are 'north' at 2024-01-18. A series has one row a time: "
        "remove one of them, or add them up.",
        f"{rows}, lines 4 and 5: the same row twice, of 'late' at 2024-01-19. Remove one of them.",
    ]
    assert left(case) == kept


def test_a_night_that_is_not_kept_changes_nothing(tmp_path: Path) -> None:
    case = open_case(begun(tmp_path))
    decide(case, case.read(written(tmp_path, FIRST + 1)), learn=True)
    kept = left(case)
    (tmp_path / "today.csv").write_text(
        "date,shop,promotion\n2024-01-19,north,1\n2024-01-19,brand new,0\n"
    )
    found = decide(case, read(tmp_path / "today.csv"))
    assert found.columns["agent"] == ["of the backtest", "new"]
    assert found.stages == (18, 0)
    assert left(case) == kept


def test_new_series_begin_on_a_night_and_go_on(tmp_path: Path) -> None:
    case = open_case(begun(tmp_path))
    for day, sold in ((18, ""), (19, "")):
        before = f"2024-01-{day - 1},brand new,1,7,\n" * (day > 18)
        text = f"{HEADER}\n{before}2024-01-{day},brand new,1,{sold},\n"
        (tmp_path / "today.csv").write_text(text)
        found = decide(case, case.read(tmp_path / "today.csv"), "light", learn=True)
        assert found.columns["agent"] == ["new" if day == 18 else "of a night"]
    assert found.stages == (1,)


def test_another_backtest_begins_the_nights_anew(tmp_path: Path) -> None:
    path = begun(tmp_path)
    case = open_case(path)
    decide(case, case.read(written(tmp_path, FIRST + 1)), learn=True)
    (tmp_path / "data.csv").write_text(table())
    case = open_case(path)
    write_panel(case, backtest_panel(case))
    (tmp_path / "today.csv").write_text(f"{HEADER}\n2024-01-25,north,1,,\n")
    assert decide(case, case.read(tmp_path / "today.csv"), learn=True).stages == (24,)


def test_who_cannot_learn_says_so(tmp_path: Path) -> None:
    path = bakery(tmp_path)
    case = open_case(changed(path, '"SampleAverage", "always"', '"Ensemble"'))
    write_panel(case, backtest_panel(case))
    (tmp_path / "today.csv").write_text(f"{HEADER}\n2024-01-25,north,1,,\n")
    assert decide(case, case.read(tmp_path / "today.csv")).stages == (24,)
    with pytest.raises(ValueError, match="not played in lock step"):
        decide(case, case.read(tmp_path / "today.csv"), learn=True)
    with pytest.raises(ValueError, match="has one series: serve it"):
        decide(case.of_series("north"), case.read(tmp_path / "today.csv"), learn=True)


def test_decisions_go_into_a_database_once(tmp_path: Path) -> None:
    path = begun(tmp_path)
    rows, out = written(tmp_path, FIRST + 1), f"sqlite:///{tmp_path / 'shops.db'}"
    words = ("decide", str(rows), "--config", str(path), "--learn", "--out", out)
    for _ in range(2):
        code, said = ran(*words)
        assert (code, f"Wrote 3 decisions to {out}" in said) == (0, True), said
    with sqlite3.connect(tmp_path / "shops.db") as base:
        found = base.execute("select shop, date, baked, status from decisions").fetchall()
    base.close()
    assert sorted(row[0] for row in found) == ["South", "late", "north"]
    assert all(isinstance(row[2], float) for row in found)
    code, said = ran(*words[:-1], "sqlite:////nowhere/at/all.db")
    assert (code, "cannot be written" in said) == (1, True)


class CutError(BaseException):
    pass


def cuts() -> Iterator[int]:
    yield from range(40)


@pytest.mark.parametrize("policy", ["SampleAverage", "across"])
def test_whatever_write_is_cut_off_the_same_command_goes_on(
    policy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every file that a night writes is cut off once, before and after it takes its place."""
    from bocopt import file

    once = open_case(begun(tmp_path / "once"))
    case = open_case(begun(tmp_path / "cut"))
    rename, places = file._rename, 0
    for day in range(FIRST + 1, FIRST + 4):
        expected = decide(once, once.read(written(tmp_path, day)), policy, learn=True)
        for cut in cuts():
            calls: list[int] = []

            def cut_off(*parts: Any, cut: int = cut, calls: list[int] = calls) -> None:
                calls.append(1)
                if len(calls) == 1 + cut // 2:
                    if cut % 2:
                        rename(*parts)
                    raise CutError
                rename(*parts)

            monkeypatch.setattr(file, "_rename", cut_off)
            try:
                found = decide(case, case.read(tmp_path / f"night-{day}.csv"), policy, learn=True)
            except CutError:
                places += 1
                continue
            finally:
                monkeypatch.setattr(file, "_rename", rename)
            break
        assert found == expected
        assert left(case) == left(once)
    assert places >= 6


@pytest.mark.parametrize(
    ("policy", "kills"),
    [("across", 2), long("SampleAverage", 2), long("SampleAverage", 100), long("across", 100)],
)
def test_nights_that_are_killed_decide_each_series_and_time_once(
    kills: int, policy: str, tmp_path: Path
) -> None:
    rng = random.Random(0)
    once, path = begun(tmp_path / "once"), begun(tmp_path / "killed")
    days = range(FIRST + 1, LAST + 1) if kills > 10 else range(FIRST + 1, FIRST + 2)
    seen, killed, took = [], 0, 0.0
    for day in days:
        rows = written(tmp_path, day)
        before = time.monotonic()
        expected = nightly(once, rows, policy)
        took = max(took, time.monotonic() - before)
        while killed < kills * (day - FIRST) / len(days):
            process = subprocess.Popen(words_of(path, rows, policy), stdout=subprocess.DEVNULL)
            time.sleep(rng.uniform(0.3, 1.1) * took)
            process.kill()
            process.wait()
            killed += 1
        assert nightly(path, rows, policy) == expected
        seen += [(row["shop"], row["date"]) for row in csv.DictReader(io.StringIO(expected))]
    assert len(seen) == len({*seen}) == sum(day_of(line) in days for line in LINES)
    assert left(open_case(path)) == left(open_case(once))


def words_of(path: Path, rows: Path, policy: str) -> list[str]:
    out = str(path.parent / "decisions.csv")
    command = str(Path(sys.executable).parent / "bocopt")
    how = ("--config", str(path), "--policy", policy, "--learn", "--out", out)
    return [command, "decide", str(rows), *how]


def nightly(path: Path, rows: Path, policy: str) -> str:
    subprocess.run(words_of(path, rows, policy), check=True, stdout=subprocess.DEVNULL)
    return (path.parent / "decisions.csv").read_text()
