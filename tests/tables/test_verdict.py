"""What a study says of two policies rests on what it names, and names what it rests on."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from games import Priced
from small_cases import changed, ran, written

from bocopt.app.features.series import Series
from bocopt.app.findings import Findings, Played
from bocopt.app.page.basis import assumed
from bocopt.app.page.feasible import feasibility
from bocopt.app.page.headline import sentence
from bocopt.app.page.markup import unmarked
from bocopt.app.page.money import policies
from bocopt.app.page.view import ReportView
from bocopt.app.playing.verdict import compared
from bocopt.compared import RECORDED
from bocopt.core import Array, Sense
from bocopt.guarantees.certificate import LATE

STAGES = 200
NOTHING = np.zeros(STAGES, bool)


def findings(
    unrecorded: Array = NOTHING,
    hidden: Array = NOTHING,
    *,
    gain: float = 0.3,
    delay: int = 0,
    ranged: bool = True,
    now: str = "now",
    **more: Any,
) -> Findings:
    """The policy saves about so much of a cost of about 2; of some stages nothing is recorded."""
    rng, t = np.random.default_rng(0), np.arange(STAGES)
    own = rng.uniform(1.0, 3.0, STAGES)
    other = own - gain + rng.uniform(-0.2, 0.2, STAGES)
    xi = np.where(hidden[:, None], np.nan, np.stack([own, other], axis=-1))
    ends = np.array([1.0, 3.0, -gain - 0.2, -gain + 0.2] if ranged else [-np.inf, np.inf] * 2)
    x, arrives = np.tile(ends, (STAGES, 1)), np.minimum(t + 1 + delay, STAGES)
    times, nothing = tuple(map(str, t)), np.zeros((STAGES, 0))
    names = ("a", "b", "c", "d"), ("now", "policy")
    series = Series(times, x, names[0], xi, names[1], arrives, nothing, t, ())
    one = np.where(hidden, np.nan, 1.0)
    played = {}
    for i, name in enumerate((now, "policy")):
        z = np.full((STAGES, 1), float(i))
        cost, feasible = xi[:, i].copy(), one.copy()
        if i == 0:
            z[unrecorded], cost[unrecorded], feasible[unrecorded] = np.nan, np.nan, np.nan
        played[name] = Played(z, cost, feasible, xi[:, i], t * 0, {}, ())
    found = compared(Priced(Sense.MINIMISE), series, now, played, warm_up=0, scale=None, delta=0.05)
    of = Findings("", "EUR", Sense.MINIMISE, 0.9, series, 0, now, played, found, "")
    return of._replace(**more)


def large(f: Findings) -> str:
    return unmarked(sentence(ReportView(f, {})))


SOME = np.arange(STAGES) % 10 == 3
RESTS = f"provided that {RECORDED}"


@pytest.mark.parametrize("gain", [0.3, 0.0])
@pytest.mark.parametrize("hidden", [NOTHING, np.arange(STAGES) % 7 == 1, np.arange(STAGES) > 120])
def test_that_decisions_are_missing_is_told_with_what_it_may_do(gain: float, hidden: Array) -> None:
    """In the large sentence, on the terminal and in the table: an interval never stands alone."""
    f = findings(SOME, hidden, gain=gain)
    assert large(f).count(RESTS) == large(f).count("(95%") > 0
    words = f.compared["policy"].words(" EUR")
    assert words.count(RESTS) == words.count("at all times at once") > 0
    assert RECORDED in policies(ReportView(f, {}))
    assert RESTS in feasibility(ReportView(f, {}))
    assert f"The interval that holds at all times assumes that {RECORDED}." in assumed(
        ReportView(f, {})
    )
    assert f.compared["policy"].unrecorded == SOME.sum()


def test_so_it_is_where_there_is_no_range() -> None:
    f = findings(SOME, ranged=False)
    assert RESTS in large(f)
    alone = f._replace(compared={})
    assert RESTS in large(alone)


def test_where_all_decisions_are_recorded_nothing_is_assumed_of_that() -> None:
    f = findings()
    texts = [
        large(f),
        str(f.compared["policy"]),
        policies(ReportView(f, {})),
        feasibility(ReportView(f, {})),
    ]
    assert not [text for text in texts if "recorded" in text]


def test_an_interval_of_a_bootstrap_holds_roughly_and_says_so() -> None:
    said = large(findings(ranged=False))
    assert said.startswith("policy saved")
    assert "(roughly 95%, for one look: " in said


def test_delays_of_a_study_are_no_assumption() -> None:
    """Stages are compared in their order, however late their outcomes came."""
    at_once, late = findings(), findings(delay=5)
    assert late.compared["policy"].certificate.assumptions == (
        "the difference lies in a range that is known before xi",
    )
    assert LATE not in assumed(ReportView(late, {}))
    assert str(late.compared["policy"]) == str(at_once.compared["policy"])


def test_nobody_does_now_what_is_not_done_now() -> None:
    """On the terminal, the reference is called by its name."""
    f = findings(now="average")
    words = f.compared["policy"].words(" EUR")
    assert "less a stage than average (" in words
    assert "with average 100%." in words
    assert "now" not in words.replace("known", "")


def test_a_table_without_decisions_is_told_by_the_names_that_there_are(tmp_path: Path) -> None:
    """Of a reference that is no habit of today, and of a decision that the program declares."""
    case = changed(
        written(tmp_path, rows=50), 'decisions = ["ordered papers", "ordered magazines"]', ""
    )
    changed(case, '["SampleAverage"]', '["SampleAverage", "ResidualSampleAverage"]')
    code, said = ran("backtest", str(case))
    assert code == 0, said
    assert "a stage than ResidualSampleAverage (" in said
    assert "Feasible in 100% of the stages, with ResidualSampleAverage 100%." in said
    assert "what is done now" not in said
    [results] = (tmp_path / "results").iterdir()
    assert "decision: order[0]" in (results / "report.html").read_text(encoding="utf-8")
    head = (results / "decisions.csv").read_text(encoding="utf-8").splitlines()[0]
    assert "policy,order[0],order[1],reward" in head
