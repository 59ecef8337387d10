"""Panels on a graphics processor: the simulator of numba, and a device where there is one."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bocopt.core import Array, IntArray
from bocopt.live import play_on_gpu
from bocopt.models import LightMixture, Mixture
from bocopt.policies import Predictive
from bocopt.problems import Newsvendor

PROBLEM = Newsvendor(unit_cost=[1.0], price=5.0, upper=60.0)
POLICY = Predictive(PROBLEM, LightMixture())
ROOT = Path(__file__).parents[2]


def panel(times: int, series: int) -> dict[str, Any]:
    """Series with heavy tails, counts, many zeros, a late start and a gap; a context is missing."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(times, series, 2))
    y = 20.0 + 3.0 * x[..., 0] + rng.standard_t(3, size=(times, series))
    y[:, 1::4] = rng.poisson(3.0, y[:, 1::4].shape)
    y[:, 2::4] = rng.gamma(2.0, 3.0, y[:, 2::4].shape) * (rng.random(y[:, 2::4].shape) < 0.6)
    y[:5, 3::4], y[times // 2, 0], x[times // 3, 0, 1] = np.nan, np.nan, np.nan
    return {"x": x, "y": y, "seeds": np.arange(series) + 5}


def alone(x: Array, y: Array, seeds: IntArray) -> tuple[Array, Array]:
    """(T, S) decisions of each series by itself on a processor, and their costs."""
    z, cost = np.empty(y.shape), np.zeros(y.shape)
    for series, seed in enumerate(seeds):
        state = POLICY.init(np.array(seed))
        for t in range(len(y)):
            context, outcome = x[t, series], y[t, series : series + 1]
            decision = POLICY.decide(state, t, context)
            z[t, series] = decision.solution.z[0]
            if np.isfinite(outcome).all():
                cost[t, series] = PROBLEM.cost(context, decision.solution.z, outcome)
                state = POLICY.learn(state, t, context, decision, outcome)
    return z, cost


def test_the_simulated_device_decides_as_a_processor(tmp_path: Path) -> None:
    given = panel(40, 5)
    np.savez(tmp_path / "panel.npz", **given)
    command = [sys.executable, str(Path(__file__).parent / "simulated_gpu.py"), str(tmp_path)]
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    z, cost = alone(**given)
    for precision, within in (("float64", 1e-12), ("float32", 1e-3)):
        played = np.load(tmp_path / f"{precision}.npz")
        assert played["z"] == pytest.approx(z, rel=within)
        assert played["by_time"] == pytest.approx(cost.sum(axis=1), rel=within, abs=within)
        assert played["by_series"] == pytest.approx(cost.sum(axis=0), rel=within)
    one, own = (np.load(tmp_path / f"{name}.npz") for name in ("newsvendor", "own"))
    assert (one["z"][1:] > 0.0).all()
    assert own["z"] == pytest.approx(one["z"], rel=1e-12)
    beyond = one["by_series"] - np.nansum(given["y"][:, :2], axis=0)
    assert own["by_series"] == pytest.approx(2.0 * beyond, rel=1e-9)
    assert "at time 2 of series 1" in (tmp_path / "error.txt").read_text()


def test_a_device_decides_as_a_processor() -> None:
    cuda: Any = import_module("numba.cuda")
    if not cuda.is_available():
        pytest.skip("no CUDA device")
    given = panel(200, 100)
    z, cost = alone(**given)
    played = play_on_gpu(POLICY, **given)
    assert played.z == pytest.approx(z, rel=1e-9)
    assert played.by_time == pytest.approx(cost.sum(axis=1), rel=1e-9)


def test_without_a_device_the_error_says_what_is_missing() -> None:
    cuda: Any = import_module("numba.cuda")
    if cuda.is_available():
        pytest.skip("there is a CUDA device")
    with pytest.raises((ModuleNotFoundError, RuntimeError), match="play_on_gpu needs"):
        play_on_gpu(POLICY, **panel(3, 2))


@pytest.mark.parametrize(
    ("policy", "changed", "message"),
    [
        (Predictive(PROBLEM, Mixture(dim_xi=1)), {}, "policy.model"),
        (Predictive(PROBLEM, LightMixture(given=9)), {}, "without a law that is given"),
        (
            Predictive(
                Newsvendor(unit_cost=[1.0, 1.0], price=2.0, capacity=3.0), LightMixture(dim_xi=2)
            ),
            {},
            "on_device.*of one product, without a capacity",
        ),
        (POLICY, {"x": np.ones((3, 2))}, "of shape .times, series, contexts."),
        (POLICY, {"x": np.ones((3, 2, 0))}, "one of each at least"),
        (POLICY, {"y": np.ones((3, 3))}, "as x says"),
        (POLICY, {"seeds": np.arange(3)}, "one a series"),
        (POLICY, {"precision": "float16"}, "'float64' or 'float32'"),
    ],
)
def test_what_cannot_be_played_is_refused(
    policy: Predictive, changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        play_on_gpu(policy, **{**panel(3, 2), **changed})
