"""The report of a study: true numbers, text that is only text, and one file that needs no other."""

import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from findings_cases import CASES, hostile
from pages import Parsed, parsed
from scipy.stats import binomtest

from bocopt.app.findings import Findings
from bocopt.app.page import page
from bocopt.app.page.calibration import coverage
from bocopt.app.page.numbers import figure, thinned, ticks
from bocopt.app.text import plain
from bocopt.core import BoolArray
from bocopt.guarantees import Feasibility
from bocopt.guarantees.feasibility import Counts

SCRIPT = "<script>alert(1)</script>"


def findings(name: str) -> Findings:
    return CASES[name].findings()


@cache
def shown(name: str) -> Parsed:
    return parsed(page(findings(name)))


def counted(f: Findings) -> BoolArray:
    """(T) whether a stage counts."""
    counts = np.array(np.isfinite(f.series.xi).all(axis=1))
    counts[: f.warm_up] = False
    return counts


def number(cell: str) -> float:
    return float(cell.replace(",", "").rstrip("%"))


@pytest.mark.parametrize("name", CASES)
def test_every_page_is_well_formed_and_needs_nothing_else(name: str) -> None:
    found = shown(name)
    assert not found.unclosed
    assert len(set(found.ids)) == len(found.ids)
    assert [link for link in found.links if link[1:] not in found.ids] == []
    for reference in ("http:", "https:", "src=", "@import", "url("):
        assert reference not in found.source
    assert "nan" not in found.text.lower().split()


@pytest.mark.parametrize("name", CASES)
def test_the_menu_names_each_section_as_it_calls_itself(name: str) -> None:
    source = shown(name).source
    menu = source.split("<nav", 1)[1].split("</nav>", 1)[0]
    links = re.findall(r'<a href="#([^"]+)">([^<]+)</a>', menu)
    assert links == re.findall(r'<section id="([^"]+)">\n<h2>([^<]+)</h2>', source)
    assert links


@pytest.mark.parametrize("name", CASES)
def test_every_chart_has_its_numbers_in_a_table(name: str) -> None:
    found = shown(name)
    for figure_ in found.figures:
        assert 1 <= len(figure_.rows) <= 400
        last = figure_.rows[-1]
        assert figure_.legend == [last[column] for column in figure_.columns]


def test_the_headline_tells_the_percentage_and_the_interval_that_always_holds() -> None:
    found = findings("newsvendor").compared["ensemble"]
    seen = -100 * float(found.difference.seen) / abs(float(found.today))
    assert found.shares is not None
    low, high = (100 * share for share in found.shares)
    assert low < seen < high
    assert shown("newsvendor").headline == (
        f"The ensemble saved {seen:.1f}% (95%: {low:.2g} to {high:.1f}) against what you do now."
    )
    at_once, _, one_look = shown("newsvendor").text.partition("By a block bootstrap")
    assert "at all times at once" in at_once
    assert "asymptotic, for one look, and too narrow where" in one_look
    assert "the mean of a process that does not change" in one_look


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("no now", r"The ensemble saved .* against mean prediction, the best of the others\."),
        ("open", r"So far the ensemble saved .* what you do now: which is better is open\."),
        ("three stages", r"So far the ensemble .* \(95%: -[\d.]+ to [\d.]+\) .* is open\."),
        ("rewards", r"The ensemble earned .* more than what you do now\."),
        ("worse", r"The ensemble cost .* \(95%: \d.* to .*\) more than what you do now\."),
        (
            "no range",
            r"The ensemble saved .* \(roughly 95%, for one look: .*\) against what you do now\.",
        ),
        ("all warm-up", r"No stage counts yet: .*"),
        ("no outcomes", r"No stage counts yet: .*"),
    ],
)
def test_headlines(name: str, pattern: str) -> None:
    assert re.fullmatch(pattern, shown(name).headline)


def test_a_policy_alone_and_one_that_does_as_now_have_their_sentences() -> None:
    f = findings("no now")
    alone = f._replace(played={"ensemble": f.played["ensemble"]})
    mean = float(f.played["ensemble"].cost[counted(f)].mean())
    assert parsed(page(alone)).headline == f"The ensemble: {mean:.4g} EUR a stage."
    twin = f._replace(played={"a": f.played["ensemble"], "b": f.played["ensemble"]})
    said = parsed(page(twin)).headline
    assert said == "a and b, the best of the others cost the same at every stage."


def test_the_comparison_that_was_made_names_the_reference() -> None:
    f = findings("newsvendor")._replace(now=None)
    assert parsed(page(f)).headline.endswith("against now.")


@pytest.mark.parametrize("name", ["newsvendor", "missing outcomes", "rewards", "long"])
def test_sums_over_time_are_those_of_the_stages_that_count(name: str) -> None:
    f = findings(name)
    gains, totals = shown(name).figures[:2]
    counts = counted(f)
    now = f.played["now"].cost[counts]
    for j, policy in enumerate(gains.header[1:], start=1):
        saved = (now - f.played[policy].cost[counts]).sum()
        assert gains.rows[-1][j] == figure(saved)
    for j, policy in enumerate(totals.header[1:], start=1):
        paid = f.sense.sign * f.played[policy].cost[counts]
        assert totals.rows[-1][j] == figure(paid.sum())
        assert totals.rows[0][j] == figure(paid[0])
    assert totals.rows[0][0] == f.series.time[int(np.flatnonzero(counts)[0])]


def test_long_studies_are_thinned_out_evenly_and_say_so() -> None:
    gains = shown("long").figures[0]
    assert len(gains.rows) == 400
    assert "400 of 970 stages are drawn, evenly; sums count all." in shown("long").text
    steps = np.diff(thinned(970))
    assert (steps.min(), steps.max()) == (2, 3)


def test_the_table_of_policies() -> None:
    f = findings("newsvendor")
    [table] = [t for t in shown("newsvendor").tables if t.header[0] == "policy"]
    counts = counted(f)
    for row in table.rows:
        cells = dict(zip(table.header, row, strict=True))
        played = f.played[row[0]]
        assert number(cells["cost a stage"]) == pytest.approx(played.cost[counts].mean(), abs=0.05)
        above = (played.cost - played.hindsight)[counts].mean()
        assert number(cells["regret"]) == pytest.approx(above, abs=0.005)
        n, missed = counts.sum(), (1 - played.feasible[counts]).sum()
        least, most = Feasibility().interval(Counts.of(np.array(float(n)), np.array(missed)))
        expected = (
            f"{100 * (1 - missed / n):.1f}% ({100 * (1 - most):.1f} to {100 * (1 - least):.1f})"
        )
        assert cells["feasible (target 90%)"] == expected
        if row[0] == "now":
            assert cells["saved"] == "-"
            continue
        d, once = f.compared[row[0]].difference, f.compared[row[0]].bootstrap
        assert cells["95%, at all times"] == f"{-d.high:.2f} to {-d.low:.2f}"
        assert cells["95%, one look"] == f"{-once.high:.2f} to {-once.low:.2f}"
    surely = {row[0]: row[table.header.index("on average")] for row in table.rows}
    since = int(f.compared["ensemble"].difference.since)
    time = f.series.time[int(np.flatnonzero(counts)[since - 1])]
    assert surely["ensemble"] == f"better, known since {time}"
    assert surely["average"].startswith("worse, known since 2023-")
    assert surely["mean prediction"] == "open"


@pytest.mark.parametrize(("name", "sure"), [("newsvendor", 75), ("no now", 85), ("no range", 80)])
def test_what_holds_together_is_told(name: str, sure: int) -> None:
    """A band of each policy, and all comparisons together, hold with 95% each."""
    said = "Of bands and comparisons, each holds with the confidence it says, all together with"
    assert f"{said} {sure}%." in shown(name).text
    f = findings("newsvendor")
    assert said not in parsed(page(f._replace(played={"now": f.played["now"]}, compared={}))).text


def test_without_a_declared_comparison_the_table_promises_nothing_for_all_times() -> None:
    [table] = [t for t in shown("no now").tables if t.header[0] == "policy"]
    assert table.header == [
        "policy",
        "cost a stage",
        "saved",
        "95%, one look",
        "feasible",
        "regret",
    ]
    f = findings("newsvendor")
    only = parsed(page(f._replace(played={"now": f.played["now"]})))
    [table] = [t for t in only.tables if t.header[0] == "policy"]
    assert table.header == ["policy", "cost a stage", "feasible (target 90%)", "regret"]
    assert [len(row) for row in table.rows] == [4]


def test_feasibility_is_drawn_with_band_and_target_or_told_where_nothing_went_wrong() -> None:
    f = findings("newsvendor")
    [chart] = [c for c in shown("newsvendor").figures if "Feasible so far (%)" in c.title]
    assert chart.header[-2:] == ["ensemble, least", "ensemble, most"]
    share = 100 * f.played["ensemble"].feasible[counted(f)].mean()
    low, high = map(number, chart.rows[-1][-2:])
    assert low < share < high
    assert "the target of 90% is met" in shown("newsvendor").text
    assert "the target of 99% is not met" in shown("infeasible").text
    assert "Every decision of every policy was feasible." in shown("one outcome").text


def test_coverage_has_the_exact_binomial_interval() -> None:
    levels = np.random.default_rng(0).uniform(size=57)
    for inside in (0.5, 0.9):
        share, low, high = coverage(levels, inside)
        hits = int(((levels >= (1 - inside) / 2) & (levels <= (1 + inside) / 2)).sum())
        exact = binomtest(hits, 57).proportion_ci()
        assert (share, low, high) == pytest.approx((hits / 57, exact.low, exact.high))
    assert coverage(np.full(3, 0.5), 0.9)[2] == 1.0
    assert coverage(np.zeros(3), 0.9)[:2] == (0.0, 0.0)


def test_calibration_counts_every_outcome_after_the_warm_up() -> None:
    f = findings("five outcomes")
    levels = f.played["ensemble"].info["probability"][counted(f)]
    charts = [c for c in shown("five outcomes").figures if c.header[0].startswith("predicted")]
    assert [c.title for c in charts] == [f"demand {i}" for i in range(5)]
    for chart, column in zip(charts, levels.T, strict=True):
        counts = [int(row[2]) for row in chart.rows]
        assert counts == np.histogram(column, bins=10, range=(0, 1))[0].tolist()
    assert "Calibration" not in shown("no info").text


def test_weights_are_stacked_with_their_names() -> None:
    names = {"arm_weights": ["model", "average of the past"], "weights": list("abcdefghi")}
    charts = {
        c.title.split(":")[0]: c for c in parsed(page(findings("one outcome"), names)).figures
    }
    arms, laws = charts["Arms"], charts["Laws"]
    assert arms.header == ["time", "model", "average of the past"]
    assert laws.header[-1] == "3 others"
    assert set(laws.header[1:-1]) < set("abcdefghi")
    for row in laws.rows:
        assert sum(map(number, row[1:])) == pytest.approx(100.0, abs=0.5)
    assert "arm 1" in shown("one outcome").text
    assert "Weights" not in shown("no info").text


def test_weights_may_be_unknown_at_first_or_always() -> None:
    f = CASES["three stages"].findings()
    first = f.played["ensemble"]
    weights = first.info["weights"].copy()
    weights[0] = np.nan
    for shown_weights, said in ((weights, True), (np.full_like(weights, np.nan), False)):
        one = first._replace(info={"weights": shown_weights})
        found = parsed(page(f._replace(played={**f.played, "ensemble": one})))
        assert ("Laws: which predictions are mixed" in found.text) == said
        assert "-%" not in found.text


def test_the_worst_stages_are_those_of_most_regret() -> None:
    f = findings("missing outcomes")
    [table] = [t for t in shown("missing outcomes").tables if t.header[:2] == ["time", "line"]]
    played, counts = f.played["ensemble"], counted(f)
    regret = np.where(counts, played.cost - played.hindsight, -np.inf)
    worst = np.argsort(-regret)[:10]
    assert [row[0] for row in table.rows] == [f.series.time[t] for t in worst]
    assert [int(row[1]) for row in table.rows] == f.series.lines[worst].tolist()
    cells = dict(zip(table.header, table.rows[0], strict=True))
    assert number(cells["cost"]) == pytest.approx(played.cost[worst[0]], abs=0.05)
    assert number(cells["cost of now"]) == pytest.approx(f.played["now"].cost[worst[0]], abs=0.05)
    assert number(cells["in hindsight"]) == pytest.approx(played.hindsight[worst[0]], abs=0.05)


def test_what_was_assumed_is_told() -> None:
    said = shown("missing outcomes").text
    for sentence in (
        "Rows were not in order: sorted by 'day'.",
        "The first 30 of 400 stages are the warm-up",
        "a decision does not know those of the latest 3 stages before it",
        "40 stages without an outcome: not learned from, and in no mean.",
        "average: at 40 of 400 stages the search stopped at its limit",
        "ensemble: The cost is at most 80 a stage.",
    ):
        assert sentence in said
    assert "Every outcome was known when the next decision was taken." in shown("newsvendor").text
    assert 'agent = Agent.load("study.agent", policy, problem=problem)' in said


@pytest.mark.parametrize(
    "text",
    [
        SCRIPT,
        "\"'&><!-- ",
        "' onload='x",
        "\u202etxt.exe\u2066",
        "</style></table></svg>",
        "${title}",
    ],
)
def test_texts_of_users_are_only_text(text: str) -> None:
    """The page has the same elements with the same attributes, whatever the texts are."""
    case = replace(CASES["newsvendor"], stages=50)

    def shown_with(text: str) -> Parsed:
        names = {"z": [text, "b"], "arm_weights": [text, "b"], "weights": [text] * case.laws}
        return parsed(page(hostile(case, text).findings(), names))

    found, harmless = shown_with(text), shown_with("a text")
    assert found.structure == harmless.structure
    assert found.text.count(plain(text)) == harmless.text.count("a text") > 0
    assert found.source.count("<script") == 1
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", found.source)


def test_times_and_code_are_only_text_too() -> None:
    f = CASES["three stages"].findings()
    series = f.series._replace(time=(SCRIPT, "'b'", "c"))
    found = parsed(page(f._replace(series=series, code=f"x = '{SCRIPT}'\n\ty = 1")))
    assert found.structure == parsed(page(f)).structure
    assert f"x = '{SCRIPT}'\n    y = 1" in found.text


def test_what_is_no_study_is_refused() -> None:
    anything: Any = "study"
    with pytest.raises(ValueError, match="The 'findings' parameter of page must be a Findings"):
        page(anything)
    with pytest.raises(ValueError, match="must be of at least one policy"):
        page(findings("no now")._replace(played={}))


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 1.0), (-3e-9, 8e9), (1e12, 1e12 + 5), (-7.0, -6.9)]
)
def test_ticks_are_round_and_inside(low: float, high: float) -> None:
    found = ticks(low, high)
    assert 2 <= len(found) <= 8
    assert all(low <= tick <= high for tick in found)


def test_numbers_of_any_size_can_be_drawn() -> None:
    f = findings("no now")
    for size in (1e-12, 1e9, 1e100, 0.0):
        played = {
            p: one._replace(cost=size * one.cost, hindsight=size * one.hindsight)
            for p, one in f.played.items()
        }
        assert not parsed(page(f._replace(played=played))).unclosed
