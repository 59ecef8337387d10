"""The synthetic worlds: what learners see, and the laws that they do not know."""

from itertools import islice
from typing import Any

import numpy as np
import pytest
from lengths import long

from bocopt import SampleAverage, run
from bocopt.core import Array
from bocopt.paper import ConditionalOptimum
from bocopt_studies.learning.laws import (
    ChangingCorrelation,
    OwnPast,
    Process,
    RotatingLaw,
    Shown,
    TwoModes,
)
from bocopt_studies.learning.synthetic import synthetic_worlds

WORLDS = synthetic_worlds()


def _stage(process: Any, seeds: int, t: int) -> tuple[Array, Array]:
    """(seeds, k), (seeds, m)."""
    x, xi = next(islice(process.stages(np.arange(seeds)), t, None))
    return x, xi


@pytest.mark.parametrize("name", WORLDS)
def test_learners_see_the_head_of_what_the_law_reads_and_the_same_outcomes(name: str) -> None:
    world = WORLDS[name]
    x, xi = _stage(world.stream, 5, 3)
    full, outcome = _stage(world.best_stream, 5, 3)
    assert (xi == outcome).all()
    assert (x == full[..., : x.shape[-1]]).all()
    assert isinstance(world.law, Process)
    assert full.shape[-1] - x.shape[-1] == world.law.dim_hidden


@pytest.mark.parametrize("name", WORLDS)
def test_outcomes_have_the_law_that_is_known(name: str) -> None:
    law = WORLDS[name].law
    assert isinstance(law, Process)
    x, xi = _stage(law, 2000, 2)
    u = np.random.default_rng(0).normal(size=(2000, law.dim_noise))
    again = law.sample_given(x, u)
    assert (xi > 0).all()
    for level in (0.1, 0.5, 0.9):
        expected = np.quantile(again, level, axis=0)
        assert np.quantile(xi, level, axis=0) == pytest.approx(expected, rel=0.12)
    assert not np.allclose(xi, again)


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize(("trials", "horizon"), [(2, 30), long(10, 300)])
def test_who_knows_the_law_earns_more_than_who_reads_no_context(
    name: str, trials: int, horizon: int
) -> None:
    world = WORLDS[name]
    assert world.law is not None

    def paid(policy: Any, stream: Any) -> float:
        stages = run(
            policy,
            stream,
            problem=world.problem,
            seeds=np.arange(trials),
            horizon=horizon,
            hindsight=False,
        )
        return float(np.mean([stage.cost for stage in stages]))

    best = ConditionalOptimum(world.problem, world.law, scenarios=200)
    average = SampleAverage(world.problem)
    assert paid(best, world.best_stream) < paid(average, world.stream)


def test_drifts_take_a_period_and_jumps_come_at_its_thirds() -> None:
    hidden = [_stage(RotatingLaw(period=30), 1, t)[0][0, -1] for t in (0, 10, 30)]
    assert hidden == pytest.approx([0.0, 2 * np.pi / 3, 2 * np.pi])
    jumps = [_stage(RotatingLaw(period=30, abrupt=True), 1, t)[0][0, -1] for t in (9, 10, 19, 20)]
    assert jumps == pytest.approx(2 * np.pi / 3 * np.array([0, 1, 1, 2]))


def test_the_own_past_is_hidden() -> None:
    process = OwnPast(dim_xi=3)
    (_, before), (x, _) = islice(process.stages(np.arange(4)), 2)
    assert x[..., -3:] == pytest.approx(np.log(before / process.usual))
    assert _stage(Shown(process), 4, 1)[0].shape == (4, 2)


def test_jams_are_a_second_mode_of_every_second_component() -> None:
    process = TwoModes()
    u = np.random.default_rng(1).normal(size=(4000, process.dim_noise))
    xi = process.sample_given(np.array([0.5, 0.0]), u)
    middle = (xi[:, 0] > 1.02) & (xi[:, 0] < 1.18)
    assert middle.mean() < 0.01
    assert (xi[:, 0] > 1.1).mean() == pytest.approx(0.5, abs=0.03)
    assert xi[:, 1].std() == pytest.approx(0.05, rel=0.1)


@pytest.mark.parametrize(("context", "correlation"), [(-3.0, 0.0), (0.0, 0.475), (3.0, 0.95)])
def test_only_the_correlation_changes(context: float, correlation: float) -> None:
    process = ChangingCorrelation()
    u = np.random.default_rng(2).normal(size=(4000, process.dim_noise))
    xi = process.sample_given(np.array([context, 0.0]), u)
    assert np.asarray(np.corrcoef(xi.T))[0, 1] == pytest.approx(correlation, abs=0.04)
    assert xi.std(axis=0) == pytest.approx(0.3, rel=0.05)
