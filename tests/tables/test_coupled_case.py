"""A case whose series share a program: a stage is a time, and nights go on as a backtest would."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from pages import parsed
from small_cases import changed, ran
from small_panels import bakery, table

from bocopt.app import Case, backtest_panel, decide, open_case
from bocopt.app.findings import PanelFindings
from bocopt.app.panels.writing import write_panel
from bocopt.app.service.config import load_config
from bocopt.compared import NOW
from bocopt.core import Status
from bocopt.live import CoupledAgent

OVEN = '''"""One oven bakes for all shops."""

from bocopt import Coupled, integer, maximise, pos, program, real
from bocopt.models import LightMixture


def oven(shops):
    many = len(shops)

    @program(xi=many, loaves=real(many, upper=1000), support=(0.0, 1000.0))
    def bakery(xi, loaves):
        lost = pos(xi - loaves)
        return maximise((2.6 * (xi - lost) - loaves).sum()), loaves.sum() <= 100

    return bakery


def trucks(shops):
    many = len(shops)

    @program(xi=many, loaves=real(many, upper=1000), trucks=integer(upper=9))
    def bakery(xi, loaves, trucks):
        lost = pos(xi - loaves)
        paid = (2.6 * (xi - lost) - loaves).sum() - 9 * trucks
        return maximise(paid), loaves.sum() <= 50 * trucks

    return bakery


def half(shops):
    return 0.5


shared = Coupled(oven, law=LightMixture(), scenarios=32)
'''
NO_DECISIONS = ('decisions = "baked"', "")
POLICIES = ("LightMixture", "SampleAverage", "EachAlone")
FIRST, LAST = 17, 24
HEADER, *LINES = table().splitlines()


def oven(folder: Path, *changes: tuple[str, str], missing: bool = False) -> Path:
    path = bakery(folder, missing=missing)
    (folder / "problem.py").write_text(OVEN)
    changed(path, '"SampleAverage", "always"', ", ".join(f'"{name}"' for name in POLICIES))
    changed(path, "problem:bakery", "problem:shared")
    changed(path, 'series = "shop"', 'coupled = true\nseries = "shop"')
    for old, new in changes:
        changed(path, old, new)
    return path


def rows_of(case: Case, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((case.results / name).read_text(encoding="utf-8"))))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Case, PanelFindings]:
    case = open_case(oven(tmp_path_factory.mktemp("whole")))
    found = backtest_panel(case)
    write_panel(case, found)
    return case, found


def test_a_time_is_one_program(whole: tuple[Case, PanelFindings]) -> None:
    """Decisions are those of an agent that lives the same days, and costs those of its program."""
    case, found = whole
    agent = CoupledAgent(case.coupled["LightMixture"], seed=case.seed)
    panel = found.panel
    stages = (zip(one.x, one.xi, strict=True) for one in panel.series)
    rows = dict(zip(panel.names, stages, strict=True))
    totals, problem = found.totals.played["LightMixture"], case.coupled["LightMixture"]
    for moment in range(len(found.panel.time)):
        at = zip(found.panel.names, found.panel.at, strict=True)
        names = [name for name, times in at if moment in times]
        x, xi = (np.array(part) for part in zip(*(next(rows[name]) for name in names), strict=True))
        taken = agent.decide(names, x)
        program = problem.program(names).problem
        assert totals.cost[moment] == pytest.approx(agent.observe(names, xi).cost)
        assert totals.feasible[moment] == 1
        best = program.solve(xi.reshape(1, -1), np.ones(1), np.zeros(0))
        assert totals.hindsight[moment] == pytest.approx(float(best.value))
        for name, z in zip(names, taken.each, strict=True):
            place = found.panel.names.index(name)
            stage = found.panel.at[place].tolist().index(moment)
            assert found.each[place]["LightMixture"].z[stage] == z


def test_the_oven_is_never_too_small(whole: tuple[Case, PanelFindings]) -> None:
    _, found = whole
    for policy in POLICIES:
        assert (found.totals.played[policy].z.sum(axis=1) <= 100 + 1e-6).all()
        one = found.totals.played[policy]
        assert (one.hindsight <= one.cost + 2.6e-6).all()  # a row's tolerance, at the price
    assert (found.totals.played[NOW].feasible == 0).any()
    judged = found.totals.compared["LightMixture"]
    assert judged.differences.size == 20


def test_files_have_a_row_a_series(whole: tuple[Case, PanelFindings]) -> None:
    case, found = whole
    rows = rows_of(case, "decisions.csv")
    assert len(rows) == 4 * len(LINES)
    ours = [row for row in rows if row["policy"] == "LightMixture" and row["time"] == "2024-01-09"]
    assert {row["shop"] for row in ours} == {"north", "South", "a/b c"}
    assert len({row["reward"] for row in ours}) == 1
    played = found.totals.played["LightMixture"]
    assert sum(float(row["baked"]) for row in ours) == pytest.approx(played.z[8].sum())
    series = rows_of(case, "series.csv")
    assert [row["shop"] for row in series] == [*found.panel.names]
    assert float(series[3]["mean loaves"]) > float(series[1]["mean loaves"])
    report = parsed((case.results / "report.html").read_text(encoding="utf-8"))
    assert "one program decides all series that are open" in report.text


class StoppedError(Exception):
    pass


def test_a_backtest_that_was_stopped_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    case = open_case(oven(tmp_path))
    write_panel(case, backtest_panel(case))
    once = {p.name: p.read_bytes() for p in case.results.rglob("*") if p.is_file()}
    left = 60

    def advance(n: int) -> None:
        nonlocal left
        left -= n
        if left < 0:
            raise StoppedError

    with pytest.raises(StoppedError):
        backtest_panel(case, fresh=True, keep_every=3, advance=advance)
    write_panel(case, backtest_panel(case, keep_every=3))
    again = {p.name: p.read_bytes() for p in case.results.rglob("*") if p.is_file()}
    assert again == once


def test_times_with_missing_parts_count_at_their_worst(tmp_path: Path) -> None:
    found = backtest_panel(open_case(oven(tmp_path, missing=True)))
    totals = found.totals
    missing = np.asarray(np.isnan(totals.series.xi).any(axis=1))
    assert 0 < missing.sum() < len(missing)
    assert (np.isnan(totals.played["LightMixture"].cost) == missing).all()
    one = totals.compared["LightMixture"]
    assert one.missing == int(missing[4:].sum())
    assert one.at_random is not None
    assert any("the outcome of some series is missing" in note for note in totals.series.notes)


def test_common_parts_stand_in_each_row(tmp_path: Path) -> None:
    path = oven(tmp_path, ("problem:shared", "problem:trucks"), (', "EachAlone"', ""), NO_DECISIONS)
    case = open_case(path)
    found = backtest_panel(case)
    write_panel(case, found)
    assert case.decision_names == ("loaves", "trucks")
    rows = rows_of(case, "decisions.csv")
    for time in {row["time"] for row in rows}:
        own = [row for row in rows if (row["time"], row["policy"]) == (time, "LightMixture")]
        assert len({row["trucks"] for row in own}) == 1
        assert sum(float(row["loaves"]) for row in own) <= 50 * float(own[0]["trucks"]) + 1e-6


def of_night(day: int) -> str:
    rows = []
    for line in LINES:
        if FIRST < int(line[8:10]) < day:
            rows.append(line)
        if int(line[8:10]) == day:
            *known, _, baked = line.split(",")
            rows.append(",".join([*known, "", baked]))
    return "\n".join([HEADER, *rows, ""])


def begun(folder: Path) -> Case:
    path = oven(folder)
    text = "\n".join([HEADER, *(line for line in LINES if int(line[8:10]) <= FIRST), ""])
    (folder / "data.csv").write_text(text)
    case = open_case(path)
    write_panel(case, backtest_panel(case))
    return case


@pytest.mark.parametrize("policy", POLICIES)
def test_nights_decide_as_a_backtest_of_all_days(
    policy: str, whole: tuple[Case, PanelFindings], tmp_path: Path
) -> None:
    case, (_, all_days) = begun(tmp_path), whole
    truth = {
        (name, time): z[0]
        for name, series, played in zip(
            all_days.panel.names, all_days.panel.series, all_days.each, strict=True
        )
        for time, z in zip(series.time, played[policy].z, strict=True)
    }
    seen = 0
    for day in (18, 19, 21, 22, 24):
        (tmp_path / "today.csv").write_text(of_night(day))
        found = decide(case, case.read(tmp_path / "today.csv"), policy, learn=True)
        assert {*found.columns["date"]} == {f"2024-01-{day}"}
        for name, date, z in zip(
            found.columns["shop"], found.columns["date"], found.columns["baked"], strict=True
        ):
            assert z == truth[name, date]
            seen += 1
        assert decide(case, case.read(tmp_path / "today.csv"), policy, learn=True) == found
    assert seen == 15


def test_a_new_series_is_decided_with_the_others(tmp_path: Path) -> None:
    case = begun(tmp_path)
    (tmp_path / "today.csv").write_text(
        "date,shop,promotion\n2024-01-18,north,1\n2024-01-18,brand new,0\n"
    )
    found = decide(case, case.read(tmp_path / "today.csv"))
    assert found.columns["agent"] == ["of the backtest", "new"]
    assert sum(found.columns["baked"]) <= 100 + 1e-6
    assert min(found.columns["baked"]) > 0
    assert {*found.columns["status"]} == {Status.OPTIMAL.name.lower()}


def test_a_row_that_comes_after_its_time_was_decided(tmp_path: Path) -> None:
    case = begun(tmp_path)
    for shop, learn in (("north", True), ("South", False)):
        text = f"date,shop,promotion,loaves\n2024-01-18,{shop},1,\n"
        (tmp_path / f"{shop}.csv").write_text(text)
        if learn:
            decide(case, case.read(tmp_path / "north.csv"), learn=True)
    with pytest.raises(ValueError, match=r"'South'.*Give all rows of a time in one file"):
        decide(case, case.read(tmp_path / "South.csv"), learn=True)


FAULTS: dict[str, tuple[tuple[tuple[str, str], ...], str]] = {
    "no word": ((("coupled = true\n", ""), ("problem:shared", "problem:oven")), "coupled = true"),
    "no function": ((("problem:shared", "problem:nowhere"),), "has no 'nowhere'"),
    "no program": ((("problem:shared", "problem:half"),), "must be a Problem"),
    "no series": ((('series = "shop"', ""),), "'coupled' needs 'series'"),
    "a rule": ((("seed = 0", 'seed = 0\nnow = "last"'),), "'now'"),
    "Ensemble": ((('"LightMixture"', '"Ensemble"'),), "'Ensemble' must be"),
    "common": ((("problem:shared", "problem:trucks"), NO_DECISIONS), "EachAlone"),
    "columns": (
        (("problem:shared", "problem:trucks"),),
        "has 2 numbers for each row: loaves, trucks",
    ),
    "a number": ((("coupled = true", "coupled = 1"),), "must be true or false"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_told_with_their_line(fault: str, tmp_path: Path) -> None:
    changes, why = FAULTS[fault]
    with pytest.raises(ValueError, match=why):
        open_case(oven(tmp_path, *changes))


def test_a_coupled_object_says_it_by_itself(tmp_path: Path) -> None:
    path = oven(tmp_path, ("coupled = true\n", ""))
    case = open_case(path)
    assert [one.scenarios for one in case.coupled.values()] == [32, 32, 32]
    with pytest.raises(ValueError, match="decided together: there is none alone"):
        case.of_series("north")


def test_by_the_command_line(tmp_path: Path) -> None:
    path = oven(tmp_path)
    _, said = ran("backtest", str(path))
    assert "one program decides all that are open, of 4 series" in said
    assert "LightMixture earns" in said
    (tmp_path / "today.csv").write_text("date,shop,promotion\n2024-01-25,north,1\n")
    _, out = ran("decide", str(tmp_path / "today.csv"), "--config", str(path))
    assert out.splitlines()[0] == "shop,date,baked,status,agent"


def test_one_program_is_not_for_a_cluster(tmp_path: Path) -> None:
    code, said = ran("backtest", str(oven(tmp_path)), "--cluster", "tcp://127.0.0.1:1")
    assert code == 1
    assert "has one program for all series" in said
    assert "Leave out --cluster." in said


def test_what_is_only_said(tmp_path: Path) -> None:
    """A dry run says what would be done, and a service what it does not do."""
    path = oven(tmp_path)
    code, said = ran("backtest", str(path), "--dry-run")
    assert code == 0
    assert "Policies: LightMixture, SampleAverage, EachAlone" in said
    with pytest.raises(ValueError, match="no service decides these; use `bocopt decide`"):
        load_config(path)
