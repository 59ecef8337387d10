"""The studies of the exact posterior, at a tiny size."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_studies import results

from bocopt import run
from bocopt.paper import BMA, Gaussian, ResampleMove
from bocopt.trace import record
from bocopt_studies.catalogue import STUDIES, studies_of
from bocopt_studies.posterior import accuracy, regimes, samplers
from bocopt_studies.posterior.oracles import OneDirection, Oracle, Quadratic, World
from bocopt_studies.posterior.tasks import RULES, Rules
from bocopt_studies.study import Size

DOCS = Path(__file__).parents[2] / "docs" / "results"


@pytest.fixture(scope="module")
def summaries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("report")
    found = results("posterior", Size(2, 4), folder)
    text = (folder / "index.html").read_text()
    for name, result in found.items():
        assert f"<h2>{STUDIES[name].show(result.summary).title}</h2>" in text
    return {name: result.summary for name, result in found.items()}


def test_every_study_has_a_row_for_everything_it_runs(summaries: dict[str, Any]) -> None:
    assert list(summaries) == [study.name for study in studies_of("posterior")]
    assert len(summaries["posterior-accuracy"]["rows"]) == len(accuracy.SETTINGS)
    assert len(summaries["posterior-tuning"]["rows"]) == 12
    rules = [row["rule"] for row in summaries["posterior-repairs"]["rows"]]
    assert rules.count("aggregated") == rules.count("vote") == 5
    assert rules.count("") == 4
    assert set(summaries["posterior-regimes"]["after"]) == {
        *regimes.FORGETTING,
        "started at the change",
    }


def test_tuning_looks_at_other_seeds_and_takes_the_best(summaries: dict[str, Any]) -> None:
    tuning = summaries["posterior-tuning"]
    assert tuning["seed"] == 1000
    rewards = {
        (row["stretch"], row["lam"]): row["aggregated"]["reward"]["mean"] for row in tuning["rows"]
    }
    assert rewards[tuple(tuning["best"])] == max(rewards.values())


def test_a_rule_earns_what_its_policy_earns() -> None:
    sampler = samplers.full_history(samplers.calibrated(2.0), 1e-2)
    problem, stream, predictor = samplers.PROBLEM, samplers.STREAM, samplers.PREDICTOR
    task = Rules(
        problem=problem,
        predictor=predictor,
        stream=stream,
        sampler=sampler,
        seeds=(3, 4),
        horizon=6,
    )
    found = task.run()
    for name, rule in RULES.items():
        stages = run(rule(problem, predictor, sampler), stream, seeds=(3, 4), horizon=6)
        trace = record(stages, problem.sense)
        assert (found[f"{name}/reward"] == trace.reward).all()
        assert (found[f"{name}/feasible"] == trace.feasible).all()


def test_differences_are_from_the_printed_bma_and_the_average(summaries: dict[str, Any]) -> None:
    rows = summaries["posterior-repairs"]["rows"]
    means = {(row["name"], row["rule"]): row["reward"]["mean"] for row in rows}
    for row in rows:
        gap = row["reward"]["mean"] - means["as printed", "aggregated"]
        assert row["minus_printed"]["mean"] == pytest.approx(gap)
        gap = row["reward"]["mean"] - means["running sample average", ""]
        assert row["minus_average"]["mean"] == pytest.approx(gap)


def test_the_oracle_knows_the_posterior() -> None:
    """Without outcomes that count, particles are draws of N(0, I): error and variance are known."""
    weak = Oracle(
        sampler=ResampleMove(prior=Gaussian.isotropic(3), loss=Quadratic(), lam=1e-12, size=2000),
        lam=1e-12,
        dim=3,
        seeds=tuple(range(10)),
        horizon=2,
    )
    found = weak.run()
    assert np.sqrt((found["error"] ** 2).mean()) == pytest.approx(1 / np.sqrt(2000), rel=0.4)
    assert found["variance"].mean() == pytest.approx(1, abs=0.05)
    assert found["standard_error"].mean() == pytest.approx(1 / np.sqrt(2000), rel=0.1)


@pytest.mark.parametrize("world", [Quadratic(), Quadratic(ratio=30.0), OneDirection()], ids=str)
def test_every_oracle_knows_its_posterior(world: World) -> None:
    """The default sampler, in two dimensions, finds what is said to be exact."""
    task = Oracle(
        sampler=ResampleMove(prior=Gaussian.isotropic(2), loss=world, lam=0.5, size=1000),
        world=world,
        lam=0.5,
        dim=2,
        seeds=tuple(range(5)),
        horizon=15,
    )
    found = task.run()
    assert np.sqrt((found["error"] ** 2).mean()) < 0.1
    assert found["variance"].mean() == pytest.approx(1, abs=0.06)
    assert (found["moves"] > 0).all()
    assert (found["sweeps"] >= found["moves"]).all()


def test_recovery_is_the_first_stage_at_which_the_level_is_reached() -> None:
    size = Size(1, 200)
    flat = np.full((1, 200), 80.0)
    low = flat.copy()
    low[:, 100:140] = 0.0  # the level is reached once no more than 1 of 25 stages is low
    records = {name: {"reward": flat} for name in regimes.FORGETTING}
    records |= {"window 100": {"reward": low}, "started at the change": {"reward": flat[:, :100]}}
    summary = regimes.summarise(size, records)
    assert summary["level"] == 80.0
    assert summary["recovery"]["none"] == 0
    assert summary["recovery"]["window 100"] == 39
    assert summary["after"]["window 100"] == pytest.approx(80 * 0.6)


def test_scale_and_learning_rate_are_those_that_the_committed_tuning_chose() -> None:
    committed = json.loads((DOCS / "posterior-tuning.json").read_text())
    assert tuple(committed["best"]) == samplers.CHOSEN
    assert tuple(committed["best_for_one"]) == samplers.CHOSEN_FOR_ONE
    assert (committed["seed"], committed["trials"], committed["horizon"]) == (1000, 20, 1000)


def test_bma_is_the_aggregated_rule() -> None:
    assert RULES["aggregated"] is BMA
