"""A model across series in a backtest, in the nights after it, and in what is left of both."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lengths import long
from small_cases import changed
from small_panels import bakery, table

from bocopt import PanelAgent, file
from bocopt.app import Case, backtest, backtest_panel, decide, open_case, read
from bocopt.app.panels.across_pass import AcrossPass
from bocopt.app.panels.rows import rows_of_panel, steps_of
from bocopt.app.panels.writing import write_panel
from bocopt.policies import GivenAcross

OURS = """

def together(problem):
    from bocopt.models import AcrossSeries, LightMixture
    from bocopt.policies import GivenAcross, Predictive

    policy = Predictive(problem, LightMixture(given=5))
    return GivenAcross(policy, AcrossSeries(levels=5, trees=4, leaf=3, fewest=6))
"""


def shops(folder: Path, **how: Any) -> Path:
    """Return the file of a case whose first policy has a model across series."""
    path = bakery(folder, **how)
    changed(path, '"SampleAverage", "always"', '"together", "SampleAverage"')
    with (folder / "problem.py").open("a") as code:
        code.write(OURS)
    return path


def by_hand(case: Case) -> list[np.ndarray[Any, Any]]:
    """Return the decisions (T, d) of each series, by an agent that is told outcomes as they come.

    An outcome is told just before the next decision of its series.
    """
    panel, model = case.panel, case.across("together")
    assert panel is not None
    assert model is not None
    policy = case.policies["together"]
    assert isinstance(policy, GivenAcross)
    agent = PanelAgent(replace(policy, across=model), seed=case.seed)
    rows = rows_of_panel(panel, 0, len(panel.names))
    z = np.full((len(rows.x), case.problem.dims.z), np.nan)
    for step in steps_of(rows):
        names = [panel.names[place] for place in rows.place[step.rows].tolist()]
        if step.decides:
            z[step.rows] = agent.decide(names, rows.x[step.rows]).z
        elif step.moment < len(panel.time):
            agent.observe(names, rows.xi[step.rows], rows.stage[step.rows])
    return np.split(z, rows.begins[1:-1])


CHANGES: dict[str, list[tuple[str, str]]] = {
    "as it is": [],
    "outcomes come late": [("lags = [1, 7]", "lags = [1, 7]\ndelay = 2")],
    "gaps are kept": [("lags = [1, 7]", 'lags = [1, 7]\nmissing = "keep"')],
}


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", CHANGES)
def test_a_backtest_decides_as_an_agent_of_all_series(
    name: str, missing: bool, tmp_path: Path
) -> None:
    path = shops(tmp_path, missing=missing)
    for change in CHANGES[name]:
        changed(path, *change)
    case = open_case(path)
    found = backtest_panel(case)
    model = case.across("together")
    assert model is not None
    assert [found.panel.x_names[place] for place in model.lags or ()] == [
        *["loaves, lag 1", "loaves, lag 7", "loaves, mean of last 7"]
    ]
    for played, z in zip(found.each, by_hand(case), strict=True):
        assert played["together"].z.tobytes() == z.tobytes()
    quantiles = np.load(case.results / "across" / "together.npy")
    assert 0.3 < np.isfinite(quantiles).mean() < 1.0


class StoppedError(Exception):
    pass


def results(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize("stages", [30, long(60), long(120), 200])
def test_a_backtest_that_was_stopped_goes_on_to_the_same_bytes(stages: int, tmp_path: Path) -> None:
    """In the middle of the pass of the model, and of the policies after it."""
    case = open_case(shops(tmp_path))
    assert case.stages_to_play == 3 * 76
    write_panel(case, backtest_panel(case))
    once, left = results(case.results), stages
    assert not any("progress" in name for name in once)

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
    assert done == [76] * 3  # nothing was played again


class CutError(BaseException):
    pass


def test_wherever_a_pass_is_cut_off_it_goes_on_to_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of its writes is cut off once, before and after a file takes its place."""
    once, cut = (open_case(shops(tmp_path / name)) for name in ("once", "cut"))
    AcrossPass(once, "together", keep_every=5).play()
    rename, replace_path, cuts = file._rename, Path.replace, 0

    def at(call: int, write: Any) -> Any:
        """Return a write that is cut off at a call: an even one before, an odd one after it."""

        def written(*parts: Any) -> Any:
            calls.append(1)
            if len(calls) == 1 + call // 2:
                if call % 2:
                    write(*parts)
                raise CutError
            return write(*parts)

        return written

    whole = AcrossPass(cut, "together", keep_every=5)
    for call in range(60):
        calls: list[int] = []
        whole.forget()
        monkeypatch.setattr(file, "_rename", at(call, rename))
        monkeypatch.setattr(Path, "replace", at(call, replace_path))
        try:
            whole.play()
            break
        except CutError:
            cuts += 1
        finally:
            monkeypatch.setattr(file, "_rename", rename)
            monkeypatch.setattr(Path, "replace", replace_path)
        whole.play()
        assert results(cut.results) == results(once.results)
    assert cuts == 2 * (5 + 3)  # five that are kept on the way, and three at the end


def test_another_table_has_another_pass(tmp_path: Path) -> None:
    """One outcome of a series is another for all: nothing that is kept of the table before fits."""
    case = open_case(shops(tmp_path))
    before = backtest_panel(case)
    text = table()
    [line] = [one for one in text.splitlines() if one.startswith("2024-01-03,north")]
    day, shop, promotion, _, baked = line.split(",")
    other = text.replace(line, f"{day},{shop},{promotion},200,{baked}")
    (tmp_path / "data.csv").write_text(other)
    after = backtest_panel(open_case(tmp_path / "bocopt.toml"))
    south = before.panel.names.index("South")
    alone, both = (
        [found.each[south][policy].z for found in (before, after)]
        for policy in ("SampleAverage", "together")
    )
    assert alone[0].tobytes() == alone[1].tobytes()
    assert both[0].tobytes() != both[1].tobytes()
    fresh = backtest_panel(open_case(tmp_path / "bocopt.toml"), fresh=True)
    assert fresh.each[south]["together"].z.tobytes() == both[1].tobytes()


def test_jobs_leave_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bocopt.app.panels.player._SHORT_IN_ROWS", 0)
    found = []
    for number, many in enumerate((1, 2)):
        case = open_case(shops(tmp_path / str(number)))
        write_panel(case, backtest_panel(case, jobs=many))
        found.append(results(case.results))
    assert found[0] == found[1]


def test_a_series_that_is_new_on_a_night_is_as_in_a_longer_backtest(tmp_path: Path) -> None:
    """Its name is the first of all, so that the others have other numbers in the longer table."""
    new = ["2024-01-25,a new one,1,31,30", "2024-01-26,a new one,0,22,30"]
    old = ["2024-01-25,north,0,70,64", "2024-01-26,north,1,61,64"]
    whole = table() + "\n".join([old[0], new[0], old[1], new[1], ""])
    longer = shops(tmp_path / "longer")
    (tmp_path / "longer" / "data.csv").write_text(whole)
    found = backtest_panel(open_case(longer))
    expected = [
        found.each[found.panel.names.index("a new one")]["together"].z[t, 0] for t in (0, 1)
    ]
    case = open_case(shops(tmp_path / "nights"))
    write_panel(case, backtest_panel(case))
    header, rows = table().splitlines()[0], tmp_path / "rows.csv"
    decided = []
    for night in (0, 1):
        today = [",".join([*line.split(",")[:3], "", ""]) for line in (old[night], new[night])]
        rows.write_text("\n".join([header, *(old[:night] + new[:night]), *today, ""]))
        columns = decide(case, read(rows), learn=True).columns
        decided.append(columns["baked"][columns["shop"].index("a new one")])
    assert decided == expected


def test_one_series_has_no_agent_by_itself(tmp_path: Path) -> None:
    case = open_case(shops(tmp_path))
    write_panel(case, backtest_panel(case))
    with pytest.raises(ValueError, match="'together' has no agent of 'north' by itself"):
        case.of_series("north").agent()
    assert case.of_series("north").agent("SampleAverage").decide([0.0] * 10).z[0] > 0
    with pytest.raises(ValueError, match=r"has 4 series: say whose agent"):
        case.agent()
    with pytest.raises(ValueError, match="model across series, and this is one of them"):
        backtest(case.of_series("north"))


def test_a_model_that_changed_since_is_refused(tmp_path: Path) -> None:
    path = shops(tmp_path)
    case = open_case(path)
    write_panel(case, backtest_panel(case))
    (tmp_path / "today.csv").write_text("date,shop,promotion\n2024-01-25,north,1\n")
    changed(tmp_path / "problem.py", "trees=4", "trees=5")
    with pytest.raises(ValueError, match="saved with another model across series: play the case"):
        decide(open_case(path), read(tmp_path / "today.csv"))


def test_who_cannot_have_a_model_across_series_is_told(tmp_path: Path) -> None:
    path = shops(tmp_path)
    changed(path, '"together", "SampleAverage"', '"LightMixtureAcross"')
    changed(path, 'series = "shop"                           #', "#")
    (tmp_path / "data.csv").write_text(table(("north",)))
    with pytest.raises(ValueError, match=r"line 10: .*has a model across series, so .* 'series'"):
        open_case(path)


def test_vectors_of_outcomes_have_no_model_across_series(tmp_path: Path) -> None:
    """It is refused where it is named; the default of many series is then without it."""
    path = shops(tmp_path)
    changed(path, '"together", "SampleAverage"', '"LightMixtureAcross"')
    changed(path, 'outcome = "loaves"', 'outcome = ["loaves", "baked"]')
    changed(path, 'decisions = "baked"', "")
    changed(tmp_path / "problem.py", "xi=1", "xi=2")
    changed(tmp_path / "problem.py", "loaves):\n", "loaves):\n    xi = xi[:1]\n")
    with pytest.raises(ValueError, match="one number, and the problem has 2: name 'LightMixture'"):
        open_case(path)
    header, *lines = table(("north",)).splitlines()
    rows = [line.replace("north", f"shop {i}") for i in range(20) for line in lines]
    (tmp_path / "data.csv").write_text("\n".join([header, *rows, ""]))
    case = open_case(changed(path, 'policies = ["LightMixtureAcross"]', ""))
    assert case.panel is not None
    assert list(case.policies) == ["LightMixture", "SampleAverage"]
    [note] = [one for one in case.panel.notes if "No policy is named" in one]
    assert "LightMixture decides" in note
    assert "a model across series is about outcomes of one number" in note


def test_the_report_says_what_a_policy_knows(tmp_path: Path) -> None:
    from bocopt.app.page import panel_page

    found = backtest_panel(open_case(shops(tmp_path)))
    said = "by its own past and by what one model of all series expects of it"
    assert found.across == ("together",)
    assert f"<bdi>together</bdi> decides each series {said}" in panel_page(found)
    changed(tmp_path / "bocopt.toml", '"together", "SampleAverage"', '"SampleAverage", "together"')
    found = backtest_panel(open_case(tmp_path / "bocopt.toml"))
    said = "decides each series by the past of that series alone"
    assert f"<bdi>SampleAverage</bdi> {said}" in panel_page(found)


def test_a_service_says_that_its_streams_have_no_model_across_series(tmp_path: Path) -> None:
    from bocopt.app.service.config import load_config

    path = shops(tmp_path)
    [note] = load_config(path).notes
    assert note.startswith("bakery: 'together' is served without its model across series")
    changed(path, '"together", "SampleAverage"', '"SampleAverage", "light_mixture"')
    with (tmp_path / "problem.py").open("a") as code:
        code.write("from bocopt.app.user_code import light_mixture\n")
    assert load_config(path).notes == []


def test_the_code_of_the_report_decides_rows_of_all_series(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = open_case(shops(tmp_path))
    found = backtest_panel(case)
    write_panel(case, found)
    (tmp_path / "today.csv").write_text("date,shop,promotion\n2024-01-25,north,1\n")
    monkeypatch.chdir(tmp_path)
    exec(found.totals.code, {})
    assert "'shop': ['north']" in capsys.readouterr().out
