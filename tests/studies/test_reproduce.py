"""The studies and the report over them."""

import json
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest

from bocopt import Status
from bocopt_studies import reproduce
from bocopt_studies.catalogue import STUDIES, studies_of
from bocopt_studies.paper import errata
from bocopt_studies.paper.sensitivity import CHOICES, DEFAULT
from bocopt_studies.paper.settings import PRINTED
from bocopt_studies.report.tables import markdown
from bocopt_studies.study import Size
from bocopt_studies.summaries import COLUMNS
from bocopt_studies.work.store import BlockStore
from bocopt_studies.work.task import Record, Task
from bocopt_studies.work.work import Work

DOCS = Path(__file__).parents[2] / "docs"
ABOUT = {"command": "bocopt reproduce all", "wall seconds": 1.5}
PAPER = [study.name for study in studies_of("all")]
SIZE = Size(trials=10, horizon=12, seed=3)
RUNS = b'<section id="these-runs">'
Results = dict[str, reproduce.StudyResult]
Summaries = Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Work:
    plan = reproduce.plan_of("all", SIZE)
    work = reproduce.work_of(plan, BlockStore(tmp_path_factory.mktemp("blocks")))
    with ThreadPoolExecutor(1) as executor:
        work.finish(executor, lambda stages: None)
    return work


@pytest.fixture(scope="module")
def results(work: Work) -> Results:
    return reproduce.results_of(reproduce.plan_of("all", SIZE), work, ABOUT)


@pytest.fixture(scope="module")
def summaries(results: Results) -> Summaries:
    return {name: result.summary for name, result in results.items()}


@pytest.fixture(scope="module")
def written(results: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    reproduce.write(folder, results)
    return folder


def test_studies_that_the_paper_tunes_on_are_smaller(summaries: Summaries) -> None:
    sizes = {name: Size.of(dict(summary)) for name, summary in summaries.items()}
    assert sizes["table1"] == sizes["figure1"] == sizes["readings"] == SIZE
    assert sizes["figure-s1"] == sizes["figure-s2"] == Size(2, 6, 3)
    assert sizes["sensitivity"] == Size(2, 12, 3)
    assert summaries["sensitivity"]["first_half"] == 6


def test_studies_agree_where_they_overlap(summaries: Summaries) -> None:
    """The same policy, settings and trials: the same numbers, whichever study shows them."""
    default = summaries["sensitivity"]["rows"][0]
    rates = summaries["figure-s2"]["decays"]["100"]["rates"]
    assert rates["0.1"] == default["DFL"]["reward"]
    table = {row["policy"]: row for row in summaries["table1"]["rows"]}
    for name, curves in summaries["figure1"]["policies"].items():
        assert curves["reward"]["mean"][-1] == pytest.approx(table[name]["reward"]["mean"])
        reading = summaries["readings"]["readings"][DEFAULT]
        assert reading["over_trials"]["cells"][name]["reward"] == table[name]["reward"]
        assert reading["along_time"]["cells"][name] == table[name]["along_time"]


def test_hindsight_beats_everyone_in_every_column(summaries: Summaries) -> None:
    rows = {row["policy"]: row for row in summaries["table1"]["rows"]}
    for row in rows.values():
        assert rows["Hindsight"]["reward"]["mean"] >= row["reward"]["mean"]
    assert rows["Hindsight"]["reward"]["mean"] > rows["Conditional"]["reward"]["mean"] + 5
    assert rows["Hindsight"]["feasibility"]["mean"] == 1.0


def test_paired_differences_are_differences_of_means(summaries: Summaries) -> None:
    rows = {row["policy"]: row for row in summaries["table1"]["rows"]}
    for row in rows.values():
        for column in COLUMNS:
            gap = row[column]["mean"] - rows["SAA"][column]["mean"]
            assert row["minus_SAA"][column]["mean"] == pytest.approx(gap)
    assert rows["SAA"]["minus_SAA"]["reward"] == {"mean": 0.0, "low": 0.0, "high": 0.0}


def test_the_best_rate_is_the_best_and_curves_are_those_of_the_default_decay(
    summaries: Summaries,
) -> None:
    for study, pick in (("figure-s1", min), ("figure-s2", max)):
        summary = summaries[study]
        for found in summary["decays"].values():
            means = {rate: cell["mean"] for rate, cell in found["rates"].items()}
            assert str(found["best"]) == pick(means, key=lambda rate: means[rate])
            gap = means[str(found["second"])] - means[str(found["best"])]
            assert found["margin"]["mean"] == pytest.approx(gap)
        for rate, curve in summary["curves"].items():
            mean = summary["decays"]["100"]["rates"][rate]["mean"]
            assert curve[-1] == pytest.approx(mean, rel=1e-5)


def test_what_a_choice_cannot_touch_does_not_move(summaries: Summaries) -> None:
    nothing = {"mean": 0.0, "low": 0.0, "high": 0.0}
    rows = {row["choice"]: row for row in summaries["sensitivity"]["rows"]}
    for choice, untouched in {
        "without V <= c'z, as printed": ("DFL", "BGS", "PtO"),
        "step decay every stage": ("BMA", "BGS"),
        "lambda 1e-2": ("DFL", "PtO"),
        "DFL weights clipped at 0.1": ("BMA", "BGS", "PtO"),
    }.items():
        for name in untouched:
            assert rows[choice][name]["change"]["reward"] == nothing
    assert rows["without V <= c'z, as printed"]["BMA"]["reward"]["mean"] == pytest.approx(72, abs=2)
    assert rows["offset 2, as printed"]["Hindsight"]["reward"]["mean"] == pytest.approx(72, abs=0.1)


def test_changes_are_from_the_choice_that_is_named(summaries: Summaries) -> None:
    rows = {row["choice"]: row for row in summaries["sensitivity"]["rows"]}
    for label, choice in CHOICES.items():
        for name in PRINTED:
            ours, theirs = (rows[r][name]["reward"]["mean"] for r in (label, choice.against))
            change = rows[label][name]["change"]["reward"]
            assert change["mean"] == pytest.approx(ours - theirs, abs=1e-12)
            assert (change["low"] is None) == (not choice.paired)
    assert CHOICES["corrected move at lambda 1e-2"].against == "lambda 1e-2"


def test_distances_from_the_print(summaries: Summaries) -> None:
    readings = summaries["readings"]
    for statistic in ("along_time", "over_trials"):
        fits = {name: found[statistic] for name, found in readings["readings"].items()}
        best = readings["closest"][statistic]["all"]
        assert fits[best]["distance"]["reward"] == min(
            f["distance"]["reward"] for f in fits.values()
        )
        found = fits[DEFAULT]
        for measure, columns, part in (
            ("reward", ("reward", "reward_last"), "mean"),
            ("feasibility", ("feasibility", "feasibility_last"), "mean"),
            ("spread", ("reward", "reward_last"), "sd"),
        ):
            squares = [
                (found["cells"][name][column][part] - PRINTED[name][column][part]) ** 2
                for name in PRINTED
                for column in columns
            ]
            assert found["distance"][measure] == pytest.approx((sum(squares) / 8) ** 0.5)


def test_every_file_is_there(written: Path) -> None:
    charts = ("figure1-reward", "figure1-feasibility", "figure-s1", "figure-s2")
    expected = {f"{chart}.{kind}" for chart in charts for kind in ("svg", "png", "pdf")}
    expected |= {f"{study}.{kind}" for study in PAPER for kind in ("json", "md")}
    assert {path.name for path in written.iterdir()} == expected | {
        "index.html",
        "errata.md",
        "run.json",
    }
    assert (written / "figure-s1.pdf").read_bytes().startswith(b"%PDF")
    assert (written / "figure-s1.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_numbers_give_the_same_bytes(
    written: Path, work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(matplotlib.rcParams, "font.size", 30)  # a user's own settings
    plan = reproduce.plan_of("all", SIZE)
    reproduce.write(tmp_path, reproduce.results_of(plan, work, {"command": "later"}))
    for path in sorted(written.iterdir()):
        ours, theirs = path.read_bytes(), (tmp_path / path.name).read_bytes()
        if path.name == "run.json":
            assert ours != theirs
        elif path.name == "index.html":
            assert ours.partition(RUNS)[0] == theirs.partition(RUNS)[0]
            assert ours.count(RUNS) == 1
        else:
            assert ours == theirs, path.name


class Page(HTMLParser):
    """What a page refers to, its ids, and whether its tags are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag not in {"meta", "path", "use"}:
            self.open.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        self.targets += [given[k] for k in ("href", "src", "xlink:href") if k in given]

    def handle_endtag(self, tag: str) -> None:
        if tag not in {"path", "use"}:
            assert self.open.pop() == tag


def test_the_report_needs_nothing_else(written: Path) -> None:
    text = (written / "index.html").read_text()
    page = Page()
    page.feed(text)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert page.targets
    assert all(target.removeprefix("#") in page.ids for target in page.targets)
    urls = set(re.findall(r"https?://[^\s\"'<]+", text))
    assert urls <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "@import" not in text
    assert "url(" not in re.sub(r"url\(#[^)]+\)", "", text)


def test_the_report_shows_it_all(written: Path) -> None:
    text = (written / "index.html").read_text()
    for heading in (
        "Table 1",
        "Figure 1",
        "Supplementary figure 1",
        "Supplementary figure 2",
        "Sensitivity",
        "Which reading fits the print",
        "Errata of the print",
        "These runs",
    ):
        assert f"<h2>{heading}</h2>" in text
    assert text.count("<svg") == 4
    assert "84.52 ± 0.05" in text
    for n in range(1, 25):
        assert f">E{n}</th>" in text
    assert "<td>1.5</td>" in text  # the wall seconds of ABOUT
    assert "<code>offset</code>" in text
    assert json.loads((written / "run.json").read_text())["table1"]["wall seconds"] == 1.5


def test_the_report_shows_how_many_decisions_were_cut_short(
    written: Path, results: Results, work: Work
) -> None:
    name = "decisions at a limit or fallen back"
    assert results["table1"].run[name] == 0.0
    assert f">{name}</th><td>0.0</td>" in (written / "index.html").read_text()

    class Limited(Work):
        def __init__(self) -> None:
            pass

        def record(self, task: Task) -> Record:
            found = work.record(task)
            cut = np.where(np.arange(12) < 3, np.int8(Status.LIMIT), found["status"])
            return found | {"status": cut}

        def seconds(self, tasks: Iterable[Task]) -> float:
            return 0.0

    plan = reproduce.plan_of("table1", SIZE)
    assert reproduce.results_of(plan, Limited(), {})["table1"].run[name] == 0.25


def test_one_study_more_keeps_the_others_in_the_report(
    written: Path, results: Results, tmp_path: Path
) -> None:
    names = list(results)
    for name in reversed(names):
        reproduce.write(tmp_path, {name: results[name]})
    for file in ("index.html", "errata.md", "run.json"):
        assert (tmp_path / file).read_bytes() == (written / file).read_bytes()


@pytest.mark.parametrize(
    "damage", ["{", "[]", '{"table1": 3}', '{"table1": {"software": "other"}}']
)
def test_what_other_code_left_is_not_shown(damage: str, results: Results, tmp_path: Path) -> None:
    reproduce.write(tmp_path, {"table1": results["table1"]})
    (tmp_path / "run.json").write_text(damage)
    reproduce.write(tmp_path, {"figure-s1": results["figure-s1"]})
    assert list(json.loads((tmp_path / "run.json").read_text())) == ["figure-s1"]
    assert "<h2>Table 1</h2>" not in (tmp_path / "index.html").read_text()


def test_one_trial_gives_no_verdict_on_what_an_erratum_moves(summaries: Summaries) -> None:
    sensitivity = dict(summaries["sensitivity"])
    assert "moves, in reward" in errata.grid(sensitivity).header
    assert "moves, in reward" not in errata.grid({**sensitivity, "trials": 1}).header
    moves = {row.cells[0]: row.cells[3] for row in errata.grid(sensitivity).rows}
    assert moves["E18"] == "DFL weights clipped at 0.1: no clear change"
    assert moves["E19"] == ""  # other streams: no interval
    [row] = [row for row in sensitivity["rows"] if row["errata"] == ["E4"]]
    row = {**row, "BMA": {"change": {"reward": {"mean": -12.0, "low": -13.0, "high": -11.0}}}}
    moves = {row.cells[0]: row.cells[3] for row in errata.grid({**sensitivity, "rows": [row]}).rows}
    assert moves["E4"] == "without V <= c'z, as printed: BMA -12.00"


def test_the_docs_show_the_errata_with_what_the_committed_study_says_they_move() -> None:
    committed = json.loads((DOCS / "results" / "sensitivity.json").read_text())
    assert markdown(errata.grid(committed)) in (DOCS / "results" / "errata.md").read_text()


@pytest.mark.parametrize("name", STUDIES)
def test_committed_results_are_what_their_json_says(name: str) -> None:
    folder = DOCS / "results"
    summary = json.loads((folder / f"{name}.json").read_text())
    assert reproduce.markdown_of(name, summary) == (folder / f"{name}.md").read_text()


@pytest.mark.parametrize("name", STUDIES)
def test_one_trial_is_no_trials(name: str) -> None:
    summary = json.loads((DOCS / "results" / f"{name}.json").read_text())
    page = reproduce.markdown_of(name, {**summary, "trials": 1, "first_half": 1})
    assert not re.findall(r"\b1 (?:trials|stages|times)\b", page)


def test_what_fits_the_print_is_what_the_numbers_say() -> None:
    summary = json.loads((DOCS / "results" / "readings.json").read_text())
    sentence = "are {} from those in print along time, and {} over trials."
    assert sentence.format("0.73", "2.26") in reproduce.markdown_of("readings", summary)
    for fits in summary["readings"].values():
        fits["along_time"]["distance"]["spread"] = 9.0
        fits["over_trials"]["distance"]["spread"] = None
    assert sentence.format("9.00", "-") in reproduce.markdown_of("readings", summary)


def test_what_is_best_is_what_the_numbers_say() -> None:
    summary = json.loads((DOCS / "results" / "posterior-tuning.json").read_text())
    page = reproduce.markdown_of("posterior-tuning", {**summary, "best": [2.0, 1e-3]})
    assert "Best here under the aggregated rule: 2 sd of xi, 0.001;" in page
    assert "use 1.5 sd of xi, 0.0001 and 3 sd of xi, 0.01, chosen at full size: 20 trials" in page


def test_spreads_on_one_stream_are_called_what_they_are() -> None:
    summary = json.loads((DOCS / "results" / "sensitivity.json").read_text())
    page = reproduce.markdown_of("sensitivity", summary)
    note = "Row 'one stream for all trials': over policy seeds on one series."
    assert page.count(note) == 3
    rows = [row for row in summary["rows"] if not row["settings"].get("one_stream")]
    assert note not in reproduce.markdown_of("sensitivity", {**summary, "rows": rows})


def test_errata_say_at_which_size_they_were_found() -> None:
    assert "found at full size, 100 trials of 1000 stages" in errata.grid().caption


def test_the_site_shows_the_committed_table() -> None:
    page = (DOCS / "results" / "learning-table.md").read_text()
    extended = page[page.index("**Extended table 1") : page.index("**Differences from")]
    assert extended.strip() in (DOCS / "benchmarks.md").read_text()
