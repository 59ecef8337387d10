"""PtO and DFL: gradients against what they estimate, and Adam by hand."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from bocopt import Sense, Solution
from bocopt.core import Array, Decision, Dims, Problem
from bocopt.paper import DFL, Adam, Gaussian, Linear, PtO
from bocopt.problems import Expectation

NO_DECISION = Decision(Solution(np.zeros(2), np.zeros(()), np.zeros((), np.int64), np.zeros(())))


@dataclass(frozen=True)
class Tracking:
    """Decide z to be near xi: cost |z - xi|^2, the weighted mean is optimal, all is feasible."""

    dims: ClassVar[Dims] = Dims(None, 2, 2)
    sense: ClassVar[Sense] = Sense.MINIMISE
    risk: ClassVar[Expectation] = Expectation()

    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        z = (w[..., None] * scenarios).sum(axis=-2)
        zero = np.zeros(z.shape[:-1])
        return Solution(z, zero, zero.astype(np.int64), zero)

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        cost: Array = ((z - xi) ** 2).sum(axis=-1)
        return cost

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        return np.zeros(np.broadcast_shapes(z.shape, xi.shape)[:-1])


PROBLEM: Problem = Tracking()
PREDICTOR = Linear(1, 2)
PRIOR = Gaussian.isotropic(PREDICTOR.dim)


def test_score_function_estimates_the_gradient_of_the_smoothed_regret() -> None:
    """E |predicted + e - xi|^2 = |predicted - xi|^2 + 2, so its gradient is 2 (predicted - xi)."""
    dfl = DFL(problem=PROBLEM, predictor=PREDICTOR, prior=PRIOR, perturbations=400_000)
    predicted, xi = np.array([1.0, -0.5]), np.array([0.25, 0.5])
    g = dfl.gradient(np.array(0), 0, np.zeros(1), predicted, xi)
    assert g == pytest.approx(2 * (predicted - xi), abs=0.05)


def test_floor_clips_the_perturbed_predictions() -> None:
    low = DFL(problem=PROBLEM, predictor=PREDICTOR, prior=PRIOR, perturbations=50, floor=1e9)
    g = low.gradient(np.array(0), 0, np.zeros(1), np.zeros(2), np.full(2, 1e9))
    assert (g == 0).all()  # every perturbed prediction is the floor, and the floor is right


def test_pto_follows_the_unit_error_and_stands_still_at_zero_error() -> None:
    pto = PtO(problem=PROBLEM, predictor=PREDICTOR, prior=PRIOR)
    g = pto.gradient(np.array(0), 0, np.zeros(1), np.array([3.0, 4.0]), np.zeros(2))
    assert g == pytest.approx([0.6, 0.8])
    at_rest = pto.gradient(np.array(0), 0, np.zeros(1), np.ones(2), np.ones(2))
    assert (at_rest == 0).all()  # E22


def test_adam_by_hand() -> None:
    adam = Adam(rate=0.5, decay=0.9, decay_every=2)
    theta, state, first, second = np.zeros(1), adam.init(np.zeros(1)), 0.0, 0.0
    expected = 0.0
    for t, g in enumerate([1.0, -2.0, 0.5, 3.0]):
        theta, state = adam.step(state, theta, np.array([g]))
        first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g**2
        rate = 0.5 * 0.9 ** (t // 2)
        ratio = (first / (1 - 0.9 ** (t + 1))) / (np.sqrt(second / (1 - 0.999 ** (t + 1))) + 1e-8)
        expected -= rate * ratio
        assert theta == pytest.approx([expected], rel=1e-12)


@pytest.mark.parametrize("kind", [PtO, DFL])
def test_learning_brings_decisions_near_a_constant_outcome(kind: type[PtO] | type[DFL]) -> None:
    policy = kind(problem=PROBLEM, predictor=PREDICTOR, prior=PRIOR, adam=Adam(rate=0.05))
    seeds, xi = np.arange(5), np.tile([1.0, -1.0], (5, 1))
    state = policy.init(seeds)
    for t in range(400):
        state = policy.learn(state, t, np.ones((5, 1)), NO_DECISION, xi)
    z = policy.decide(state, 400, np.ones((5, 1))).solution.z
    assert z == pytest.approx(xi, abs=0.5)
    assert (state.info.squared_error < 0.1).all()


def test_a_step_that_is_not_finite_is_left_out_for_that_trial() -> None:
    policy = DFL(problem=PROBLEM, predictor=PREDICTOR, prior=PRIOR)
    before = policy.init(np.arange(3))
    x, xi = np.ones((3, 1)), np.ones((3, 2))
    x[1] = 1e155
    with pytest.warns(UserWarning, match="A step of DFL was not finite"):
        after = policy.learn(before, 0, x, NO_DECISION, xi)
    assert (after.theta[1] == before.theta[1]).all()
    assert (after.adam.first[1] == 0).all()
    assert (after.adam.second[1] == 0).all()
    usual = policy.learn(before, 0, np.ones((3, 1)), NO_DECISION, xi)
    for trial in (0, 2):
        assert (after.theta[trial] == usual.theta[trial]).all()
        assert (after.theta[trial] != before.theta[trial]).any()
    later = policy.learn(after, 1, np.ones((3, 1)), NO_DECISION, xi)
    assert np.isfinite(later.theta).all()
    assert (later.theta[1] != before.theta[1]).any()
