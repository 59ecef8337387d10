"""Contexts and outcomes at the ends of what a float can hold, and contexts of another length."""

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest
from trees import same_bits

from bocopt import (
    BGS,
    BMA,
    DFL,
    Calibrated,
    ConditionalOptimum,
    DecisionRegret,
    Dims,
    Ensemble,
    Frozen,
    Gaussian,
    GibbsPosterior,
    Knapsack,
    Linear,
    MeanPrediction,
    Mixture,
    MostProbable,
    PaperStream,
    Predictive,
    PtO,
    ResampleMove,
    ResidualSampleAverage,
    SampleAverage,
    Sense,
    SigmoidLinear,
    Solution,
    Vote,
    WeightedSampleAverage,
    play,
)
from bocopt.beliefs import SafeGrid
from bocopt.core import Array, Policy, Problem
from bocopt.losses import LogScore
from bocopt.policies import Near
from bocopt.predictors import LogScale, NoisyLinear, RandomSlopes, WithResiduals
from bocopt.problems import Expectation

KNAPSACK = Knapsack(value=[12.0, 12.0], capacity=[8.0], salvage=[3.0], upper=50)
SEEDS = np.arange(2)


class Tracking:
    """Decide z to be near xi, whatever its size: cost |z - xi|."""

    dims, sense, risk = Dims(None, 2, 2), Sense.MINIMISE, Expectation()

    def solve(self, x: Array, scenarios: Array, w: Array) -> Solution:
        z = (w[..., None] * scenarios).sum(axis=-2)
        zero = np.zeros(z.shape[:-1])
        return Solution(z, zero, zero.astype(np.int64), zero)

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        cost: Array = np.abs(z - xi).max(axis=-1)
        return cost

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        return np.zeros(np.broadcast_shapes(z.shape, xi.shape)[:-1])


def one_model(kind: type[PtO] | type[DFL], problem: Problem, linear: Any) -> Policy[Any]:
    return kind(problem=problem, predictor=linear(3, 2), prior=Gaussian.isotropic(8, 0.1))


def gibbs(problem: Problem, linear: Any) -> GibbsPosterior:
    predictor = linear(3, 2)
    prior = Gaussian.isotropic(predictor.dim, 0.1)
    return GibbsPosterior(prior=prior, loss=DecisionRegret(problem, predictor), lam=0.1, size=8)


def exact(problem: Problem, linear: Any) -> ResampleMove:
    predictor = linear(3, 2)
    prior = Gaussian.isotropic(predictor.dim, 0.1)
    loss = DecisionRegret(problem, predictor)
    return ResampleMove(prior=prior, loss=loss, lam=0.1, size=8, sweeps=1)


def calibrated(problem: Problem, linear: Any) -> ResampleMove:
    predictor = linear(3, 2)
    loss = DecisionRegret(problem, predictor)
    return ResampleMove(prior=Calibrated(predictor), loss=loss, lam=0.1, size=8, sweeps=1)


def log_score(problem: Problem, linear: Any) -> Policy[Any]:
    predictor = linear(3, 2)
    prior = Gaussian.isotropic(predictor.dim, 0.1)
    sampler = GibbsPosterior(prior=prior, loss=LogScore(predictor), lam=1.0, size=8)
    return BMA(problem, predictor, sampler)


def mixture() -> Mixture:
    return Mixture(dim_xi=2, scenarios=16)


LEARNERS: dict[str, Callable[[Problem], Policy[Any]]] = {
    "PtO": lambda p: one_model(PtO, p, Linear),
    "PtO sigmoid": lambda p: one_model(PtO, p, SigmoidLinear),
    "DFL": lambda p: one_model(DFL, p, Linear),
    "DFL sigmoid": lambda p: one_model(DFL, p, SigmoidLinear),
    "Gibbs": lambda p: BMA(p, Linear(3, 2), gibbs(p, Linear)),
    "Gibbs sigmoid": lambda p: BMA(p, SigmoidLinear(3, 2), gibbs(p, SigmoidLinear)),
    "exact": lambda p: BMA(p, Linear(3, 2), exact(p, Linear)),
    "exact sigmoid": lambda p: BGS(p, SigmoidLinear(3, 2), exact(p, SigmoidLinear)),
    "calibrated": lambda p: BMA(p, Linear(3, 2), calibrated(p, Linear)),
    "calibrated sigmoid": lambda p: BMA(p, SigmoidLinear(3, 2), calibrated(p, SigmoidLinear)),
    "noisy": lambda p: log_score(p, NoisyLinear),
    "log scale": lambda p: log_score(p, LogScale),
    "random slopes": lambda p: log_score(p, RandomSlopes),
    "Predictive": lambda p: Predictive(p, mixture()),
    "Ensemble": lambda p: Ensemble(p, mixture()),
    "SAA": SampleAverage,
    "nearest": WeightedSampleAverage,
    "near": lambda p: WeightedSampleAverage(p, nearness=Near()),
    "residuals": ResidualSampleAverage,
}


def nans(state: Any) -> int:
    """In what a state holds, but for what the last stage showed."""
    if "info" in getattr(state, "_fields", ()):
        state = state._replace(info=())
    if isinstance(state, tuple):
        return sum(nans(part) for part in state)
    return int(np.isnan(np.asarray(state, float)).sum())


def stages(many: int) -> list[tuple[Array, Array]]:
    pairs = islice(PaperStream().stages(SEEDS), many)
    return [(x, np.abs(xi[..., :2]) + 0.1) for x, xi in pairs]


@pytest.mark.filterwarnings("ignore:A step of", "ignore:ResampleMove has moved")
@pytest.mark.parametrize("size", [1e155, -1e300, 5e-324])
@pytest.mark.parametrize("what", ["x", "xi"])
@pytest.mark.parametrize("problem", [KNAPSACK, Tracking()], ids=["Knapsack", "Tracking"])
@pytest.mark.parametrize("name", LEARNERS)
def test_an_extreme_stage_is_refused_or_learned(
    name: str, problem: Problem, what: str, size: float
) -> None:
    policy, pairs = LEARNERS[name](problem), stages(8)
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


def from_law(problem: Problem) -> Policy[Any]:
    class Law(PaperStream):
        def sample_given(self, x: Array, u: Array) -> Array:
            return np.abs(super().sample_given(x, u)[..., :2]) + 0.1

    return ConditionalOptimum(problem, Law(), scenarios=4)


READERS: dict[str, Callable[[Problem], Policy[Any]]] = {
    **{name: make for name, make in LEARNERS.items() if name != "SAA"},
    "MeanPrediction": lambda p: MeanPrediction(p, Linear(3, 2), exact(p, Linear)),
    "MostProbable": lambda p: MostProbable(p, Linear(3, 2), gibbs(p, Linear)),
    "Vote": lambda p: Vote(p, Linear(3, 2), gibbs(p, Linear)),
    "with residuals": lambda p: BMA(p, WithResiduals(Linear(3, 2), [[0.1, 0.2]]), gibbs(p, Linear)),
    "frozen": lambda p: Frozen(one_model(PtO, p, Linear)),
    "unchecked": lambda p: BMA(p, Unchecked(), unchecked(p)),
    "unchecked grid": lambda p: Vote(p, Unchecked(), SafeGrid(unchecked(p), [0.1, 1.0])),
    "ConditionalOptimum": from_law,
}


@pytest.mark.parametrize("width", [2, 4])
@pytest.mark.parametrize("name", READERS)
def test_a_context_of_another_length_is_refused_at_decide(name: str, width: int) -> None:
    problem = Tracking()
    policy = READERS[name](problem)
    state = policy.init(SEEDS)
    for t, (x, xi) in enumerate(stages(3)):
        _, state = play(policy, problem, state, t, x, xi)
    with pytest.raises(ValueError, match=r"'x' parameter of .* must be an array of shape"):
        policy.decide(state, 3, np.zeros((2, width)))
