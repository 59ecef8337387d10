"""The paper's process against a plain loop and its own law; replay of arrays."""

from itertools import islice

import numpy as np
import pytest

from bocopt import Constant, Knapsack, PaperStream, Replay, noise, record, run
from bocopt.core import Sense
from bocopt.streams import _B, _G, _PHI1, _PHI2, _SIGMA_U, _THETA1, _THETA2

SEEDS = np.arange(3)


def test_equals_a_plain_loop() -> None:
    stream = PaperStream(run_in=0)
    factor = np.linalg.cholesky(_SIGMA_U)
    past = [(np.zeros(3), np.zeros(3))] * 2
    for t, (x, xi) in enumerate(islice(stream.stages(np.array(4)), 50)):
        u = factor @ noise.normal(np.array(4), t, "stream.innovation", (3,))
        (x1, u1), (x2, u2) = past
        expected = u + _PHI1 @ x1 + _PHI2 @ x2 + _THETA1 @ u1 + _THETA2 @ u2
        assert x == pytest.approx(expected)
        e = noise.normal(np.array(4), t, "stream.outcome", (15,))
        raw = _G @ (x + e[:3] / 4) + (_B @ x) * e[3:]
        assert xi == pytest.approx(np.maximum(-100, raw) / 100 + 1)
        past = [(expected, u), past[0]]


def test_innovations_have_the_printed_covariance() -> None:
    u = np.concatenate([x for x, _ in islice(PaperStream(run_in=0).stages(np.arange(20_000)), 1)])
    assert np.cov(u.T) == pytest.approx(_SIGMA_U, abs=0.05)


def test_run_in_is_thrown_away() -> None:
    long = list(islice(PaperStream(run_in=0).stages(SEEDS), 30))
    short = list(islice(PaperStream(run_in=20).stages(SEEDS), 10))
    for (x, xi), (late_x, late_xi) in zip(short, long[20:], strict=True):
        assert (x == late_x).all()
        assert (xi == late_xi).all()


def test_weights_are_never_negative_and_offset_shifts_them() -> None:
    for (_, one), (_, two) in zip(
        islice(PaperStream().stages(SEEDS), 50),
        islice(PaperStream(offset=2.0).stages(SEEDS), 50),
        strict=True,
    ):
        assert (one >= 0).all()
        assert two == pytest.approx(one + 1)


def test_printed_offset_makes_doing_nothing_optimal() -> None:
    """E1: with offset 2 the clairvoyant earns 72, which z = 0 earns too: table 1 is impossible."""
    problem = Knapsack(value=[12.0] * 4, capacity=[8.0] * 3, salvage=[3.0] * 3)
    trace = record(
        run(Constant((0, 0, 0, 0)), problem, PaperStream(offset=2.0), seeds=range(5), horizon=100),
        Sense.MAXIMISE,
    )
    assert (trace.reward == 72).all()
    assert -trace.hindsight.mean() == pytest.approx(72.0, abs=0.05)


def test_replay_of_one_series_and_of_one_per_trial() -> None:
    rng = np.random.default_rng(0)
    x, xi = rng.normal(size=(6, 2)), rng.normal(size=(6, 4))
    shared = list(Replay(x, xi).stages(SEEDS))
    assert len(shared) == 6
    assert all((one_x == x[t]).all() for t, (one_x, _) in enumerate(shared))
    own = rng.normal(size=(3, 6, 2))
    assert [a.shape for a, _ in Replay(own, xi).stages(SEEDS)] == [(3, 2)] * 6
