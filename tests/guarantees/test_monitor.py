"""The monitor: the same bits live and afterwards, and what it says of real streams."""

import numpy as np
import pytest
from cases import parts
from trees import same_bits

from bocopt import Constant, Knapsack, PaperStream, SampleAverage, run
from bocopt.guarantees import (
    Comparator,
    EmpiricalBernstein,
    Feasibility,
    HoeffdingMixture,
    Monitor,
    certify,
    evidence_of,
    for_decisions,
)

PROBLEM = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3)


def test_watching_live_and_computing_afterwards_agree_bit_for_bit() -> None:
    guarantees = [*for_decisions(scale=160.0), Feasibility()]
    monitor = Monitor(PROBLEM, guarantees)
    stages = list(run(SampleAverage(PROBLEM), PROBLEM, PaperStream(), seeds=range(3), horizon=40))
    for t, stage in enumerate(stages, start=1):
        monitor.observe(stage)
        if t in (1, 17, 40):
            seen = [evidence_of(PROBLEM, s) for s in stages[:t]]
            for live, guarantee in zip(monitor.certificates(), guarantees, strict=True):
                after = certify(guarantee, seen)
                assert live.reason == after.reason
                assert same_bits(
                    (live.value, live.bound, live.vacuous),
                    (after.value, after.bound, after.vacuous),
                )


def test_the_cost_of_a_knapsack_lies_in_its_range() -> None:
    for stage in run(SampleAverage(PROBLEM), PROBLEM, PaperStream(), seeds=range(20), horizon=30):
        low, high = PROBLEM.range(stage.x, stage.decision.solution.z)
        assert ((low <= stage.cost) & (stage.cost <= high)).all()
    low, high = PROBLEM.range(np.zeros(3), np.array([2.0, 2.0, 1.0, 1.0]))
    assert low == -144.0
    assert high == 0.0


def test_the_headline_is_the_tightest_and_pays_for_all() -> None:
    monitor = Monitor(PROBLEM, for_decisions(scale=160.0, delta=0.1))
    for stage in run(Constant([2, 2, 1, 1]), PROBLEM, PaperStream(), seeds=5, horizon=300):
        monitor.observe(stage)
    headline, tried = monitor.headline(), monitor.certificates()
    assert headline.bound == min(found.bound for found in tried)
    assert headline.delta == pytest.approx(0.1)
    assert [found.delta for found in tried] == [0.05, 0.05]


def test_negative_weights_are_outside_the_range_that_was_promised() -> None:
    """A reward above c'z + q'b: the support that the range rests on was not the true one."""
    monitor = Monitor(PROBLEM, [HoeffdingMixture(), EmpiricalBernstein(scale=160.0)])
    stream = PaperStream(offset=-0.5)
    for stage in run(Constant([2, 2, 1, 1]), PROBLEM, stream, seeds=0, horizon=20):
        monitor.observe(stage)
    assert not any(found.applicable for found in monitor.certificates())
    assert np.isnan(monitor.headline().bound)


def test_a_box_that_lets_decisions_grow_is_too_wide_for_what_was_declared() -> None:
    monitor = Monitor(PROBLEM, [EmpiricalBernstein(scale=100.0)])
    for stage in run(Constant([2, 2, 1, 1]), PROBLEM, PaperStream(), seeds=0, horizon=5):
        monitor.observe(stage)
    (found,) = monitor.certificates()
    assert not found.applicable
    assert "never wider than the declared 100" in found.reason


def test_a_belief_whose_largest_loss_is_unknown_is_not_certified() -> None:
    policy, problem, stream = parts("hot", "BMA")
    monitor = Monitor(problem, [Comparator(lam=1e-2, scale=100.0)])
    for stage in run(policy, problem, stream, seeds=0, horizon=5):
        monitor.observe(stage)
    assert not monitor.certificates()[0].applicable


def test_misuse_is_named() -> None:
    with pytest.raises(ValueError, match="'guarantees' parameter of Monitor"):
        Monitor(PROBLEM, [])
    with pytest.raises(ValueError, match="has not seen a stage"):
        Monitor(PROBLEM, for_decisions()).certificates()
    monitor = Monitor(PROBLEM, for_decisions())
    for stage in run(Constant([1, 1, 1, 1]), PROBLEM, PaperStream(), seeds=[0, 1], horizon=2):
        monitor.observe(stage)
    with pytest.raises(ValueError, match="for one trial"):
        monitor.headline()
