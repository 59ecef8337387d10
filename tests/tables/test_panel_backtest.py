"""A case of many series: each is played as if alone, and sums are judged together."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lengths import long
from pages import parsed
from small_cases import changed, ran
from small_panels import ALONE, bakery, table

from bocopt.app import Case, backtest, backtest_panel, decide, open_case, read
from bocopt.app.case import file_name
from bocopt.app.case_file import table_of
from bocopt.app.findings import PanelFindings, Played
from bocopt.app.page import panel_page
from bocopt.app.panels.writing import write_panel
from bocopt.compared import NOW

NAMES = ("South", "a/b c", "late", "north")


def bits(played: Played) -> list[bytes]:
    return [np.ascontiguousarray(part).tobytes() for part in played[:5]]


def results(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def hidden(tmp_path_factory: pytest.TempPathFactory) -> PanelFindings:
    """Of a case some of whose outcomes never came."""
    return backtest_panel(open_case(bakery(tmp_path_factory.mktemp("hidden"), missing=True)))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Case, PanelFindings]:
    case = open_case(bakery(tmp_path_factory.mktemp("whole")))
    return case, backtest_panel(case)


def test_each_series_is_played_as_if_alone(whole: tuple[Case, PanelFindings]) -> None:
    case, found = whole
    assert found.panel.names == NAMES
    for name, played in zip(NAMES, found.each, strict=True):
        alone, _ = backtest(replace(case.of_series(name), results=case.results / "alone" / name))
        assert list(played) == [NOW, "SampleAverage", "always"]
        for policy, one in played.items():
            assert bits(one) == bits(alone.played[policy])


def test_other_series_change_nothing(whole: tuple[Case, PanelFindings], tmp_path: Path) -> None:
    """Neither a decision nor a seed depends on which others there are."""
    case, found = whole
    fewer = open_case(bakery(tmp_path, shops=("late", "north")))
    again = backtest_panel(fewer)
    seeds = {case.of_series(name).seed for name in NAMES}
    assert len(seeds) == len(NAMES)
    for name, played in zip(again.panel.names, again.each, strict=True):
        assert fewer.of_series(name).seed == case.of_series(name).seed
        for policy, one in found.each[NAMES.index(name)].items():
            assert bits(one)[:2] == bits(played[policy])[:2]


def test_totals_are_sums_over_the_series_of_a_time(whole: tuple[Case, PanelFindings]) -> None:
    _, found = whole
    sums: dict[str, float] = {}
    for series, played in zip(found.panel.series, found.each, strict=True):
        for t, time in enumerate(series.time):
            if time >= "2024-01-05":
                sums[time] = sums.get(time, 0.0) + played["SampleAverage"].cost[t]
    total = found.totals.played["SampleAverage"]
    assert np.isnan(total.cost[:4]).all()
    np.testing.assert_allclose(total.cost[4:], [sums[time] for time in found.panel.time[4:]])
    assert [int(counted.sum()) for counted in found.counts] == [18, 11, 15, 20]
    one = found.totals.compared["SampleAverage"]
    assert one.differences.size == 20
    assert one.parts is not None
    assert (one.parts.decisions, one.missing) == (64, 0)
    now = found.totals.played[NOW].cost[4:]
    np.testing.assert_allclose(one.differences, total.cost[4:] - now)


def test_a_rule_sees_the_past_of_its_series(tmp_path: Path) -> None:
    path = changed(changed(bakery(tmp_path), *ALONE[1]), "seed = 0", 'seed = 0\nnow = "last"')
    with (tmp_path / "problem.py").open("a") as code:
        code.write('\n\ndef last(x):\n    return [x["loaves, lag 1"]]\n')
    found = backtest_panel(open_case(changed(path, *ALONE[0])))
    for series, played in zip(found.panel.series, found.each, strict=True):
        assert played[NOW].z[0] == 0
        assert played[NOW].z[1:].tolist() == series.xi[:-1].tolist()


class StoppedError(Exception):
    pass


def test_a_backtest_that_was_stopped_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    path = bakery(tmp_path)
    case = open_case(path)
    write_panel(case, backtest_panel(case))
    once = results(case.results)
    assert not any("progress" in name for name in once)
    left = 60

    def advance(n: int) -> None:
        nonlocal left
        left -= n
        if left < 0:
            raise StoppedError

    with pytest.raises(StoppedError):
        backtest_panel(case, fresh=True, keep_every=5, advance=advance)
    assert any("progress" in name for name in results(case.results))
    write_panel(case, backtest_panel(case))
    assert results(case.results) == once
    done: list[int] = []
    backtest_panel(case, advance=done.append)
    assert done == [76, 76]  # nothing was played again


@pytest.mark.parametrize("jobs", [long(2)])
def test_jobs_leave_the_same_bytes(
    jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bocopt.app.panels.player._SHORT_IN_ROWS", 0)
    found = []
    for number, many in enumerate((1, jobs)):
        case = open_case(bakery(tmp_path / str(number)))
        write_panel(case, backtest_panel(case, jobs=many))
        found.append(results(case.results))
    assert found[0] == found[1]


def test_names_of_files_are_safe_and_never_shared() -> None:
    names = ["north", "North", "a/b c", "a b/c", "../..", "ä", "x" * 300]
    names.append(file_name("ä"))
    files = [file_name(name, case_counts=False) for name in names]
    assert len({file.lower() for file in files}) == len(names)
    assert all(file.replace("-", "").isalnum() and len(file) < 60 for file in files)


def test_the_command_leaves_a_report_and_decides_new_rows(tmp_path: Path) -> None:
    path = bakery(tmp_path)
    code, said = ran("backtest", str(path), "--dry-run")
    assert code == 0, said
    assert "76 decisions from" in said
    assert "One series begins after the first time of the table: 'late'" in said
    code, said = ran("backtest", str(path), "--jobs", "1")
    assert code == 0, said
    assert "SampleAverage earns" in said
    assert "A stage is a time: these are sums over 4 series, 64 decisions in all." in said
    assert "can be called better or worse in none of the 4 series yet." in said
    assert "playing, decision 0 of 152 (0%)" in said
    folder = tmp_path / "results" / "bakery"
    rows = list(csv.DictReader((folder / "decisions.csv").read_text().splitlines()))
    assert len(rows) == 3 * 76
    assert [*rows[0]][:4] == ["shop", "time", "line", "policy"]
    assert {row["shop"] for row in rows} == {*NAMES}
    trace = read(folder / "trace.csv")
    assert (len(trace), trace.texts("shop")[0]) == (76, "South")
    table_of_series = read(folder / "series.csv")
    assert table_of_series.texts("shop") == [*NAMES]
    assert_decides(tmp_path, path)


def assert_decides(folder: Path, path: Path) -> None:
    """Each row by the agent of its series, a new one by a new agent, and nothing changes."""
    today = folder / "today.csv"
    new = ["2024-01-25,north,1", "2024-01-25,brand new,0", "2024-01-25,late,0"]
    later = ["2024-01-26,north,0", "2024-01-26,brand new,0"]
    today.write_text("\n".join(["date,shop,promotion", *later, *new, ""]))
    left = results(folder / "results")
    words = ("decide", str(today), "--config", str(path))
    code, said = ran(*words)
    assert code == 0, said
    assert ran(*words) == (0, said)
    assert results(folder / "results") == left
    rows = list(csv.DictReader(said.splitlines()))
    assert [*rows[0]] == ["shop", "date", "baked", "status", "agent"]
    assert [(row["shop"], row["agent"]) for row in rows] == [
        ("north", "of the backtest"),
        ("brand new", "new"),
        ("late", "of the backtest"),
        ("north", "of the backtest"),
        ("brand new", "new"),
    ]
    case = open_case(path)
    found = decide(case, read(today))
    assert found.stages == (24, 0, 15, 25, 1)
    code, said = ran(*words, "--out", str(folder / "decided.csv"))
    assert code == 0, said
    assert said.splitlines()[-3:] == [
        f"Wrote 5 decisions to {folder / 'decided.csv'}.",
        "New, so decided by agents that knew nothing before these rows: brand new.",
        "No row to decide for 2 of 4 series: South, a/b c.",
    ]
    agent = case.of_series("north").agent()
    (folder / "data.csv").write_text(table() + "2024-01-25,north,1,,\n")
    x = open_case(path).of_series("north").data.x[-1]
    assert agent.decide(x).z.tolist() == [float(rows[0]["baked"])]
    today.write_text("date,shop,promotion\n2024-01-24,north,1\n")
    code, said = ran(*words)
    assert (code, "later than 2024-01-24" in said) == (1, True)


def test_decisions_need_a_backtest(tmp_path: Path) -> None:
    path = bakery(tmp_path)
    (tmp_path / "today.csv").write_text("date,shop,promotion\n2024-01-25,north,1\n")
    code, said = ran("decide", str(tmp_path / "today.csv"), "--config", str(path))
    assert (code, "play the case first, by `bocopt backtest`" in said) == (1, True)


def test_the_report_tells_of_all_and_of_each(whole: tuple[Case, PanelFindings]) -> None:
    _, found = whole
    page = parsed(panel_page(found))
    assert not page.unclosed
    assert "4 series and 64 decisions in all" in page.text
    everything = page.tables[-1]
    assert everything.header[0] == "series"
    assert [row[0] for row in everything.rows] == [*NAMES]
    assert [row[1] for row in everything.rows] == ["18", "11", "15", "20"]
    headers = [each.header[0] for each in page.tables]
    sizes, ages = page.tables[2:4]
    groups = ["weekday", "mean size of an outcome", "earlier decisions of the series"]
    assert headers == ["policy", *groups, "series", "series", "series"]
    assert [row[0].split()[0] for row in sizes.rows] == ["1"] * 4
    assert sum(int(row[1]) for row in page.tables[1].rows) == 64
    assert sum(int(row[1]) for row in sizes.rows) == 64
    assert [row[:2] for row in ages.rows] == [["0 to 9", "28"], ["10 to 49", "36"]]
    gains = {row[0]: float(row[6].replace(",", "")) for row in everything.rows}
    best, worst = page.tables[4].rows, page.tables[5].rows
    assert [row[0] for row in best] == sorted(gains, key=lambda name: -gains[name])[:2]
    assert [row[0] for row in worst] == sorted(gains, key=lambda name: gains[name])[:2]


def test_of_very_many_series_those_that_matter_most_are_listed(
    whole: tuple[Case, PanelFindings], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, found = whole
    everything = parsed(panel_page(found)).tables[-1].rows
    monkeypatch.setattr("bocopt.app.page.panel._ROWS", 2)
    page = parsed(panel_page(found))
    order = sorted(everything, key=lambda row: -abs(float(row[6].replace(",", ""))))
    assert page.tables[-1].rows == [row for row in everything if row in order[:2]]
    assert "Shown are 2 of 4 series, those in which most is gained or lost in all" in page.text


def test_one_series_of_a_case_is_asked_for_by_name(whole: tuple[Case, PanelFindings]) -> None:
    case, _ = whole
    with pytest.raises(ValueError, match=r"has 4 series: say which, by `case.of_series\(name\)`"):
        backtest(case)
    with pytest.raises(ValueError, match="has no series 'east'"):
        case.of_series("east")
    with pytest.raises(ValueError, match="whose \\[data\\] say 'series'"):
        backtest_panel(case.of_series("north"))


def test_the_columns_that_others_use_are_understood(tmp_path: Path) -> None:
    path = bakery(tmp_path)
    text = table().replace("date,shop,promotion,loaves", "ds,unique_id,promotion,y")
    (tmp_path / "data.csv").write_text(text)
    for key in ("series", "time", "outcome"):
        [line] = [one for one in path.read_text().splitlines() if one.startswith(f"{key} =")]
        changed(path, f"{line}\n", "")
    case = open_case(path)
    assert case.panel is not None
    assert case.panel.names == NAMES
    assert case.panel.notes[0].startswith("Its columns 'unique_id', 'ds' and 'y' are the series")
    (tmp_path / "data.csv").write_text(table())
    with pytest.raises(ValueError, match="must say which columns are the 'outcome'"):
        open_case(path)


def test_days_of_hours_are_not_taken_for_the_columns_that_others_use(tmp_path: Path) -> None:
    path = bakery(tmp_path)
    for key in ("series", "time", "outcome"):
        [line] = [one for one in path.read_text().splitlines() if one.startswith(f"{key} =")]
        changed(path, f"{line}\n", "")
    changed(path, "[cases.bakery.data]", '[cases.bakery.data]\nstage = "day"')
    with pytest.raises(ValueError, match="'time' must be a column where 'stage'") as caught:
        open_case(path)
    assert "must say which columns are the 'outcome'" in str(caught.value)
    assert "series" not in str(caught.value)


def test_a_panel_is_the_same_however_its_table_is_written(tmp_path: Path) -> None:
    today, panels, decided = "date,shop,promotion\n2024-01-25,north,1\n2024-01-25,new,\n", [], []
    for written in (str, _in_another_notation):
        path = bakery(tmp_path / written.__name__, missing=True)
        for name, content in (("data.csv", table(missing=True)), ("today.csv", today)):
            (path.parent / name).write_text(written(content))
        if written is not str:
            changed(path, 'file = "data.csv"', f'file = "data.csv"\n{NOTATION}')
        case = open_case(path)
        assert case.panel is not None
        panels.append(case.panel)
        write_panel(case, backtest_panel(case))
        decided.append(decide(case, case.read(path.parent / "today.csv")))
    usual, other = panels
    assert (usual.names, usual.time, usual.notes) == (other.names, other.time, other.notes)
    for one, another in zip(usual.series, other.series, strict=True):
        assert one.x.tobytes() == another.x.tobytes()
        assert one.xi.tobytes() == another.xi.tobytes()
    assert decided[0].columns["agent"] == ["of the backtest", "new"]
    assert decided[0] == decided[1]


NOTATION = 'decimal = ","\ndates = "%d.%m.%Y"\nmissing_words = ["-"]'


def _in_another_notation(content: str) -> str:
    header, *lines = content.splitlines()
    rows = [header.split(","), *([cell or "-" for cell in line.split(",")] for line in lines)]
    for row in rows[1:]:
        row[0] = ".".join(reversed(row[0].split("-")))
        row[2] = row[2].replace("1", "1,0")
    return "".join(";".join(row) + "\n" for row in rows)


def test_a_history_is_one_of_one_series(tmp_path: Path) -> None:
    path = bakery(tmp_path)
    with pytest.raises(ValueError, match="has several series: say the table of one"):
        table_of(path, "bakery")
    (tmp_path / "north.csv").write_text(table(("north",)))
    assert len(table_of(path, "bakery", str(tmp_path / "north.csv"))) == len(
        table(("north",)).splitlines()[1:]
    )


def test_a_served_stream_is_one_series(tmp_path: Path) -> None:
    from bocopt.app.service.config import load_config

    settings: Any = load_config(bakery(tmp_path))
    [kind] = settings.templates.values()
    assert kind.featuriser.spec.series == ()
    assert {*kind.featuriser.fields} == {"date", "promotion"}


VARIANTS = {
    "one policy": ALONE,
    "two policies": ALONE[1:],
    "missing outcomes": (),
    "little counts": (("warm_up = 4", "warm_up = 23"),),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_reports_of_all_kinds_are_whole(name: str, hidden: PanelFindings, tmp_path: Path) -> None:
    path, found = bakery(tmp_path), hidden
    for old, new in VARIANTS[name]:
        found = backtest_panel(open_case(changed(path, old, new)), fresh=True)
    page = parsed(panel_page(found))
    assert not page.unclosed
    assert "nan" not in page.text.split()
    assert [row[0] for row in page.tables[-1].rows] == [*NAMES]
    if name == "one policy":
        assert page.headline.startswith("SampleAverage: ")
        assert "earned more" not in page.tables[-1].header
    elif name == "missing outcomes":
        assert "8 of 64 outcomes that are missing" in page.headline
        assert "of whose 64 decisions 8 have no outcome" in page.text
        assert "8 decisions are in no mean" in page.text
    elif name == "little counts":
        assert [row[1] for row in page.tables[-1].rows] == ["1", "0", "1", "1"]


def test_names_that_are_markup_or_formulas_stay_texts(
    whole: tuple[Case, PanelFindings], tmp_path: Path
) -> None:
    case, found = whole
    names = ("</script><b>x", "=1+1", "a&amp;b", "\u202eabc")
    panel = found.panel._replace(names=names, keys=tuple((name,) for name in names))
    hostile = found._replace(panel=panel)
    page, usual = (parsed(panel_page(each)) for each in (hostile, found))
    assert page.structure == usual.structure
    assert [row[0] for row in page.tables[-1].rows][:3] == [*names[:3]]
    write_panel(replace(case, results=tmp_path), hostile)
    for name in ("decisions", "series", "trace"):
        rows = list(csv.DictReader((tmp_path / f"{name}.csv").read_text("utf-8").splitlines()))
        assert {row["shop"] for row in rows} >= {names[0], "'=1+1", names[2]}


def test_an_agent_that_is_missing_is_not_taken_for_a_new_series(tmp_path: Path) -> None:
    path = bakery(tmp_path)
    case = open_case(path)
    write_panel(case, backtest_panel(case))
    (case.results / "agents" / "SampleAverage-0.bin").unlink()
    (tmp_path / "today.csv").write_text("date,shop,promotion\n2024-01-25,north,1\n")
    with pytest.raises(FileNotFoundError):
        decide(case, read(tmp_path / "today.csv"))


@pytest.mark.parametrize(("many", "first"), [(19, "Ensemble"), (20, "LightMixtureAcross")])
def test_many_series_have_a_learner_of_their_own(many: int, first: str, tmp_path: Path) -> None:
    path = changed(bakery(tmp_path), 'policies = ["SampleAverage", "always"]', "")
    header, *lines = table(("north",)).splitlines()
    rows = [line.replace("north", f"shop {i}") for i in range(many) for line in lines]
    (tmp_path / "data.csv").write_text("\n".join([header, *rows, ""]))
    case = open_case(path)
    assert case.panel is not None
    assert list(case.policies) == [first, "SampleAverage"]
    assert any("No policy is named" in note for note in case.panel.notes) == (many == 20)
    if many == 20:
        found = backtest_panel(case)
        assert np.isfinite(found.totals.played[first].cost[4:]).all()
