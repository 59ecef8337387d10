"""The studies and the report over them."""

import json
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from bocopt.experiments import errata, reproduce
from bocopt.experiments.paper import PRINTED
from bocopt.experiments.study import Size
from bocopt.experiments.tasks import Store
from bocopt.report.tables import markdown

DOCS = Path(__file__).parents[2] / "docs"
RUN = {"command": "bocopt reproduce all", "seconds": 1.5}
Summaries = Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def summaries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    plan = reproduce.plan_of(list(reproduce.STUDIES), Size(trials=10, horizon=12, seed=3))
    work = reproduce.work_of(plan, Store(tmp_path_factory.mktemp("blocks")))
    with ThreadPoolExecutor(1) as executor:
        work.finish(executor, lambda stages: None)
    return reproduce.summaries_of(plan, work)


@pytest.fixture(scope="module")
def written(summaries: dict[str, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    reproduce.write(folder, summaries, RUN)
    return folder


def test_studies_that_the_paper_tunes_on_are_smaller(summaries: Summaries) -> None:
    sizes = {name: Size.of(dict(summary)) for name, summary in summaries.items()}
    assert sizes["table1"] == sizes["figure1"] == Size(10, 12, 3)
    assert sizes["figure-s1"] == sizes["figure-s2"] == sizes["sensitivity"] == Size(2, 6, 3)
    assert sizes["readings"] == Size(4, 12, 3)


def test_studies_agree_where_they_overlap(summaries: Summaries) -> None:
    """The same policy, settings and trials: the same numbers, whichever study shows them."""
    sensitivity = summaries["sensitivity"]["rows"][0]
    assert sensitivity["PtO"]["reward"]["mean"] is not None
    rates = summaries["figure-s2"]["decays"]["100"]["rates"]
    assert rates["0.1"] == sensitivity["DFL"]["reward"]
    table = {row["policy"]: row for row in summaries["table1"]["rows"]}
    for name, curves in summaries["figure1"]["policies"].items():
        assert curves["reward"]["mean"][-1] == pytest.approx(table[name]["reward"]["mean"])


def test_paired_differences_are_differences_of_means(summaries: Summaries) -> None:
    rows = {row["policy"]: row for row in summaries["table1"]["rows"]}
    for row in rows.values():
        gap = row["reward"]["mean"] - rows["SAA"]["reward"]["mean"]
        assert row["minus_SAA"]["mean"] == pytest.approx(gap)
    assert rows["SAA"]["minus_SAA"] == {"mean": 0.0, "low": 0.0, "high": 0.0}


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


def test_the_closest_reading_has_the_least_distance(summaries: Summaries) -> None:
    readings = summaries["readings"]
    for group, best in readings["best"].items():
        distances = {row["reading"]: row["distance"][group]["reward"] for row in readings["rows"]}
        assert distances[best] == min(distances.values())
    first = readings["rows"][0]
    squares = [
        (first["along_time"]["PtO"][column]["mean"] - PRINTED["PtO"][column]["mean"]) ** 2
        for column in ("reward", "reward_last")
    ]
    assert first["distance"]["PtO"]["reward"] == pytest.approx((sum(squares) / 2) ** 0.5)


def test_every_file_is_there(written: Path) -> None:
    charts = ("figure1-reward", "figure1-feasibility", "figure-s1", "figure-s2")
    expected = {f"{chart}.{kind}" for chart in charts for kind in ("svg", "png", "pdf")}
    expected |= {f"{study}.{kind}" for study in reproduce.STUDIES for kind in ("json", "md")}
    assert {path.name for path in written.iterdir()} == expected | {
        "index.html",
        "errata.md",
        "run.json",
    }
    assert (written / "figure-s1.pdf").read_bytes().startswith(b"%PDF")
    assert (written / "figure-s1.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_numbers_give_the_same_bytes(
    written: Path, summaries: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    reproduce.write(tmp_path, summaries, {"command": "later", "seconds": 9.0})
    for path in sorted(written.iterdir()):
        ours, theirs = path.read_bytes(), (tmp_path / path.name).read_bytes()
        if path.name == "run.json":
            assert ours != theirs
        elif path.name == "index.html":
            mark = b'<section id="this-run">'
            assert ours.partition(mark)[0] == theirs.partition(mark)[0]
            assert ours.count(mark) == 1
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
        "This run",
    ):
        assert f"<h2>{heading}</h2>" in text
    assert text.count("<svg") == 4
    assert text.count("84.52 ± 0.05") == 3
    for n in range(1, 23):
        assert f">E{n}</th>" in text
    assert "<td>1.5</td>" in text  # the seconds of RUN
    assert "<code>offset</code>" in text
    assert json.loads((written / "run.json").read_text()) == RUN


def test_the_docs_show_the_errata_with_what_the_committed_study_says_they_move() -> None:
    committed = json.loads((DOCS / "results" / "sensitivity.json").read_text())
    assert markdown(errata.grid(committed)) in (DOCS / "results" / "errata.md").read_text()


@pytest.mark.parametrize("name", reproduce.STUDIES)
def test_committed_results_are_what_their_json_says(name: str) -> None:
    folder = DOCS / "results"
    summary = json.loads((folder / f"{name}.json").read_text())
    assert reproduce.markdown_of(name, summary) == (folder / f"{name}.md").read_text()
