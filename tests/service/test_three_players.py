"""One case, three players: a backtest, decisions for new rows and a service use the same words."""

import csv
import html
from pathlib import Path
from typing import Any

import pytest
import shop as here
from running import Service
from shop import cache, engine, one, play, shop
from small_cases import changed, ran, written

from bocopt.app import open_case
from bocopt.app.case import delta_of
from bocopt.app.page.markup import unmarked
from bocopt.app.service.commands import Query
from bocopt.app.service.config import load_config
from bocopt.app.service.engine import Engine
from bocopt.app.service.stores import Store
from bocopt.app.service.stream_template import template_of
from bocopt.fingerprint import fingerprint
from bocopt.guarantees import Betting, Comparison, EmpiricalBernstein, Guarantee
from bocopt.live import Agent
from bocopt.state import CheckpointError

NAMES = ["day's papers", "day's magazines"]
DECLARED = """\
unit = "DKK"
names = ["day's papers", "day's magazines"]
cost_scale = 200
difference_scale = 50
guarantees = ["outlook", "betting", "doubtful"]
"""
DOUBTFUL = """

def doubtful(problem):
    from bocopt.guarantees import Outlook

    return Outlook(ahead=problem.dims.z, delta=0.3)


def short(problem):
    from bocopt import SampleAverage

    return SampleAverage(problem, latest=5)
"""
SAID = (
    "headline: With 80% confidence the average expected reward",
    "feasibility: With 80% confidence",
    "betting: With 80% confidence the average expected reward",
    "outlook: not applicable",  # after so few stages
    "outlook: With 70% confidence",  # by the file, of fewer decisions ahead
)


def declared(folder: Path) -> Path:
    """A short case that says all that a case can say of its words."""
    path = changed(written(folder), 'unit = "EUR"\n', DECLARED)
    changed(path, '["SampleAverage"]', '["SampleAverage", "short"]')
    with (folder / "problem.py").open("a") as file:
        file.write(DOUBTFUL)
    return changed(path, "confidence = 0.95", "confidence = 0.8")


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text("utf-8").splitlines()))


def test_a_case_has_the_same_words_in_a_backtest_in_decisions_and_in_a_service(
    tmp_path: Path,
) -> None:
    path = declared(tmp_path)
    case = open_case(path)
    assert ran("backtest", str(path))[0] == 0
    report = html.unescape((case.results / "report.html").read_text("utf-8"))
    shown = unmarked(report)
    assert set(NAMES) < rows_of(case.results / "decisions.csv")[0].keys()
    assert f"decision: {NAMES[0]}" in report
    for said in SAID:
        assert said in report, said
    assert "DKK (seen: " in report
    assert "80%, at all times" in shown
    assert "95%, at all times" not in shown

    data = (tmp_path / "data.csv").read_text("utf-8")
    (tmp_path / "new.csv").write_text(data.replace("2024-", "2028-"), "utf-8")
    code, told = ran("decide", f"{tmp_path / 'new.csv'}", "--config", str(path))
    assert code == 0, told
    assert f"date,{','.join(NAMES)},status" in told

    kind = load_config(path).templates["kiosk"]
    with Service(f"sqlite:///{tmp_path / 'log.db'}", kind) as service:
        for row in rows_of(tmp_path / "data.csv")[:12]:
            degrees = float(row["temperature"]) if row["temperature"] else None
            x = {"date": row["date"], "temperature": degrees, "weather": row["weather"] or None}
            _, ticket = service.ask("POST", "/v1/streams/kiosk/decisions", {"x": x})
            assert list(ticket["z"]) == NAMES
            xi = {name: float(row[name]) for name in ("papers", "magazines")}
            where = f"/v1/streams/kiosk/decisions/{ticket['id']}"
            assert service.ask("PUT", f"{where}/outcome", {"xi": xi})[0] == 201
        summary = service.ask("GET", "/v1/streams/kiosk")[1]
        found = service.ask("GET", "/v1/streams/kiosk/certificates")[1]["certificates"]
        page = html.unescape(service.raw("GET", "/streams/kiosk")[2].decode())
        why = html.unescape(service.raw("GET", "/streams/kiosk/decisions/11")[2].decode())
        fleet = service.raw("GET", "/")[2].decode()
    assert (summary["names"], summary["unit"], summary["confidence"]) == (NAMES, "DKK", 0.8)
    words = [each["words"] for each in found]
    assert words[0].startswith(SAID[0])
    assert "DKK (seen: " in words[0]
    assert {"outlook"} < {each["name"] for each in found}
    assert [each["delta"] for each in found if each["name"] == "outlook"] == [0.2, 0.3]
    assert "With 80% confidence" in page
    assert "95%" not in unmarked(page)
    assert "Average reward (DKK)" in page
    assert NAMES[0] in why
    assert " DKK" in why
    assert "<small>DKK reward</small>" in fleet


def test_names_are_those_declared_or_of_the_table_or_of_the_program(tmp_path: Path) -> None:
    path = written(tmp_path)
    assert open_case(path).decision_names == ("ordered papers", "ordered magazines")
    changed(path, 'decisions = ["ordered papers", "ordered magazines"]', "")
    case = open_case(path)
    assert case.decision_names == load_config(path).templates["kiosk"].names
    assert case.decision_names == ("order[0]", "order[1]")


@pytest.mark.parametrize("names", ['["one"]', '["date", "other"]', '["status", "other"]'])
def test_names_that_do_not_fit_are_refused_by_every_player(tmp_path: Path, names: str) -> None:
    path = changed(written(tmp_path), 'unit = "EUR"\n', f"names = {names}\n")
    for player in (open_case, load_config):
        with pytest.raises(ValueError, match=r"bocopt.toml, line \d+: 'names' must be "):
            player(path)


@pytest.mark.parametrize(
    ("guarantee", "why"),
    [
        ("outlok", "has no 'outlok'"),
        ("problem:three", "must be a Guarantee"),
        ("EmpiricalBernstein", "'EmpiricalBernstein' needs cost_scale = ..., a range of costs"),
        ("problem:broken", r"broken\(problem\) failed: ZeroDivisionError"),
    ],
)
def test_a_guarantee_that_is_none_is_refused_with_its_line(
    tmp_path: Path, guarantee: str, why: str
) -> None:
    path = changed(written(tmp_path), 'unit = "EUR"\n', f'guarantees = ["{guarantee}"]\n')
    with (tmp_path / "problem.py").open("a") as file:
        file.write(
            "\n\ndef broken(problem):\n    return 1 / 0\n\n\ndef three(problem):\n    return 3\n"
        )
    with pytest.raises(ValueError, match=rf"line \d+: 'guarantees': .*{why}"):
        open_case(path)


def test_ours_are_made_of_what_the_case_declares(tmp_path: Path) -> None:
    named = 'cost_scale = 200\nguarantees = ["EmpiricalBernstein", "Betting"]\n'
    path = changed(written(tmp_path), 'unit = "EUR"\n', named)
    changed(path, "confidence = 0.95", "confidence = 0.8")
    spread, bets = open_case(path).guarantees
    assert fingerprint(spread) == fingerprint(
        EmpiricalBernstein(scale=200.0, strict=False, delta=delta_of(0.8))
    )
    assert fingerprint(bets) == fingerprint(Betting(delta=delta_of(0.8)))


def test_faults_of_cases_and_of_the_service_are_told_at_once(tmp_path: Path) -> None:
    path = changed(written(tmp_path), "port = 8321", "port = -1")
    changed(path, "seed = 0", 'seed = "none"')
    with pytest.raises(ValueError, match="'seed' must be") as told:
        load_config(path)
    assert "'port' must be" in str(told.value)


def test_what_a_default_case_is_watched_by_is_what_it_was(tmp_path: Path) -> None:
    """So that agents, progress and logs from before go on: their digests have no new parts."""
    case = open_case(written(tmp_path))
    own = case.monitor().guarantees
    policy = case.policies["SampleAverage"]
    assert fingerprint(own) == fingerprint(Agent(policy).monitor.guarantees)
    declared = template_of("kiosk", case.problem, policy, featuriser=case.data.featuriser)
    served = load_config(tmp_path / "bocopt.toml").templates["kiosk"]
    assert (served.fold.by, served.fingerprint) == (declared.fold.by, declared.fingerprint)


@pytest.mark.parametrize("change", [{"difference_scale": 4.0}, {"delta": 0.2}])
def test_another_scale_of_differences_or_confidence_begins_comparisons_anew(
    file: Store, change: dict[str, float]
) -> None:
    """Or bets would be made in a unit that was chosen after the outcomes."""
    shadows = {"latest": here.latest}
    play(engine(file, shop(shadows=shadows)), 6)
    ours = engine(file, shop(shadows=shadows, **change))
    body = one(ours, Query("shop", "certificates")).body
    names = [each["name"] for each in body["certificates"]]
    assert "headline" in names
    assert "comparison with latest" not in names
    assert body["compared_since"]["decision"] == 6
    play(ours, 2, seed=1)
    found = {g.name: g for g in ours_guarantees(ours) if isinstance(g, Comparison)}["latest"]
    assert (found.scale, found.delta) == (change.get("difference_scale"), change.get("delta", 0.05))
    assert len(file.configurations("shop")) == 2


def ours_guarantees(ours: Engine) -> tuple[Guarantee[Any], ...]:
    return cache(ours).state("shop").template.fold.monitor.guarantees


def test_agents_of_another_confidence_are_played_again(tmp_path: Path) -> None:
    path = written(tmp_path, rows=40)
    assert ran("backtest", str(path))[0] == 0
    before = open_case(path)
    changed(path, "confidence = 0.95", "confidence = 0.9")
    with pytest.raises(CheckpointError, match="What differs: monitor"):
        open_case(path).agent()
    assert ran("backtest", str(path))[0] == 0
    after = open_case(path)
    assert "With 90% confidence" in str(after.agent().monitor)
    assert before.digest != after.digest
