"""Contexts and outcomes at the ends of what a float can hold, and contexts of another length."""

from itertools import islice
from typing import Any

import numpy as np
import pytest
from lengths import long
from registry import KNAPSACK, STREAM, played_on, policies
from trees import same_bits

from bocopt import Sense, Solution
from bocopt.beliefs import SafeGrid
from bocopt.core import Array, Dims, Policy, Problem
from bocopt.loop import play
from bocopt.paper import BMA, DecisionRegret, Gaussian, ResampleMove, Vote
from bocopt.problems import Chance

SEEDS = np.arange(2)


class Tracking:
    """Decide z to be near xi, whatever its size: cost |z - xi|."""

    dims, sense, risk = Dims(None, 2, 2), Sense.MINIMISE, Chance(0.9)

    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        z = (w[..., None] * scenarios).sum(axis=-2)
        zero = np.zeros(z.shape[:-1])
        return Solution(z, zero, zero.astype(np.int64), zero)

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        cost: Array = np.abs(z - xi).max(axis=-1)
        return cost

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        return np.zeros(np.broadcast_shapes(z.shape, xi.shape)[:-1])


def nans(state: Any) -> int:
    """In what a state holds, but for what the last stage showed."""
    if "info" in getattr(state, "_fields", ()):
        state = state._replace(info=())
    if isinstance(state, tuple):
        return sum(nans(part) for part in state)
    return int(np.isnan(np.asarray(state, float)).sum())


def stages(many: int) -> list[tuple[Array, Array]]:
    return list(islice(STREAM.stages(SEEDS), many))


#: They learn nothing: what is extreme passes them by.
UNMOVED = ("Constant", "GivenAcross", "Rule", "Recorded", "Frozen", "ConditionalOptimum")


@pytest.mark.filterwarnings("ignore:A step of", "ignore:ResampleMove cannot reach")
@pytest.mark.parametrize("size", [1e155, long(-1e300), long(5e-324)])
@pytest.mark.parametrize("what", ["x", "xi"])
@pytest.mark.parametrize("problem", [KNAPSACK, Tracking()], ids=["Knapsack", "Tracking"])
@pytest.mark.parametrize("name", [n for n in policies() if n not in UNMOVED])
def test_an_extreme_stage_is_refused_or_learned(
    name: str, problem: Problem, what: str, size: float
) -> None:
    policy, pairs = policies(problem)[name], stages(8)
    problem = played_on(policy, problem)
    state = policy.init(SEEDS)
    for t, (x, xi) in enumerate(pairs[:4]):
        _, state = play(policy, problem, state, t, x, xi)
    x, xi = pairs[4]
    before = policy.decide(state, 4, x).solution
    extreme = (x if what == "x" else xi).copy()
    extreme[1] = size  # of the second trial
    extreme_stage = (extreme, xi) if what == "x" else (x, extreme)
    after = _after(policy, problem, state, extreme_stage)
    assert same_bits(policy.decide(state, 4, x).solution, before)  # whatever came of it
    for t, (x, xi) in enumerate(pairs[5:], start=5):
        stage, after = play(policy, problem, after, t, x, xi)
    assert nans(after) == nans(state)
    assert np.isfinite(stage.decision.solution.z).all()


def _after(policy: Policy[Any], problem: Problem, state: Any, pair: tuple[Array, Array]) -> Any:
    """The state after a stage, or before it where that is refused in the usual form."""
    try:
        return play(policy, problem, state, 4, *pair)[1]
    except ValueError as error:
        if " must be " not in str(error):
            raise
    return state


class Unchecked:
    """A user's predictor that takes a context of any length."""

    dim, dim_noise = 2, 0

    def sample(self, theta: Array, x: Array, u: Array) -> Array:
        return np.asarray(np.exp(theta) + 0.0 * x.sum(axis=-1, keepdims=True))


def unchecked(problem: Problem) -> ResampleMove:
    loss = DecisionRegret(problem, Unchecked())
    return ResampleMove(prior=Gaussian.isotropic(2), loss=loss, lam=0.1, size=8, sweeps=1)


#: They do not read the context.
BLIND = ("Constant", "GivenAcross", "PartlySeen", "Rule", "Recorded", "SampleAverage")
READERS: dict[str, Policy[Any]] = {
    **{n: p for n, p in policies(Tracking()).items() if n.split(",")[0] not in BLIND},
    "unchecked": BMA(Tracking(), Unchecked(), unchecked(Tracking())),
    "unchecked grid": Vote(Tracking(), Unchecked(), SafeGrid(unchecked(Tracking()), [0.1, 1.0])),
}


@pytest.mark.parametrize("width", [2, 4])
@pytest.mark.parametrize("name", READERS)
def test_a_context_of_another_length_is_refused_at_decide(name: str, width: int) -> None:
    policy = READERS[name]
    problem = played_on(policy, Tracking())
    state = policy.init(SEEDS)
    for t, (x, xi) in enumerate(stages(3)):
        _, state = play(policy, problem, state, t, x, xi)
    with pytest.raises(ValueError, match=r"'x' parameter of .* must be an array of shape"):
        policy.decide(state, 3, np.zeros((2, width)))
