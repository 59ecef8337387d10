"""Predictors: values, shapes, and gradients against finite differences."""

import numpy as np
import pytest

from bocopt.paper import Linear, SigmoidLinear

NO_NOISE = np.empty(0)
PREDICTORS = [Linear(3, 2), SigmoidLinear(3, 2), SigmoidLinear(2, 5, scale=7.0)]


@pytest.mark.parametrize("predictor", PREDICTORS)
def test_pullback_is_the_transposed_jacobian(predictor: Linear | SigmoidLinear) -> None:
    rng = np.random.default_rng(0)
    theta, x = rng.normal(size=predictor.dim), rng.normal(size=predictor.dim_x)
    g = rng.normal(size=predictor.dim_xi)
    steps = 1e-6 * np.eye(predictor.dim)
    up, down = (predictor.sample(theta + s * steps, x, NO_NOISE) for s in (1, -1))
    expected = ((up - down) / 2e-6) @ g
    assert predictor.pullback(theta, x, g) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("predictor", PREDICTORS)
def test_leading_axes_give_the_same_bits(predictor: Linear | SigmoidLinear) -> None:
    rng = np.random.default_rng(1)
    theta = rng.normal(size=(4, 7, predictor.dim))
    x, g = rng.normal(size=(4, 1, predictor.dim_x)), rng.normal(size=(4, 7, predictor.dim_xi))
    sample, pullback = predictor.sample(theta, x, NO_NOISE), predictor.pullback(theta, x, g)
    for i in range(4):
        for j in range(7):
            assert (sample[i, j] == predictor.sample(theta[i, j], x[i, 0], NO_NOISE)).all()
            assert (pullback[i, j] == predictor.pullback(theta[i, j], x[i, 0], g[i, j])).all()


def test_sigmoid_neither_overflows_nor_loses_small_weights() -> None:
    predictor = SigmoidLinear(1, 1)
    high = predictor.sample(np.array([0.0, 800.0]), np.zeros(1), NO_NOISE)
    low = predictor.sample(np.array([0.0, -40.0]), np.zeros(1), NO_NOISE)
    assert high == 2.0
    assert low == pytest.approx(2 * np.exp(-40), rel=1e-12)
