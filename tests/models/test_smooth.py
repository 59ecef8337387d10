"""The smooth mean against its definition."""

from typing import Any

import numpy as np
import pytest
from nonlinear import error, fitted, sine

from bocopt.core import Array
from bocopt.models.constant import ConstantVariance
from bocopt.models.design import Design, design
from bocopt.models.forest import Forest
from bocopt.models.smooth import Smooth, waved, waves


def by_definition(past: Design, at: Array) -> Array:
    """What each outcome's best ridge predicts beside the regression, by hat matrices."""
    features, alone = waved(past.x), waves(past.x.shape[-1]).alone
    mean = past.weight @ features / past.weight.sum()
    found = np.zeros((len(at), past.xi.shape[-1]))
    least = np.full(found.shape[-1], np.inf)
    for part in (alone, np.ones_like(alone)):
        phi, new = (features - mean)[:, part], (waved(at) - mean)[:, part]
        for penalty in (1e12, *np.geomspace(100.0, 0.01, 9)):
            normal = phi.T @ (past.weight[:, None] * phi) + penalty * np.eye(phi.shape[1])
            solve = np.linalg.solve(normal, phi.T * past.weight)
            spent = 0.5 * past.phi.shape[-1] + 1.4 * np.trace(phi @ solve)
            free = 1 - spent / past.weight.sum()
            left = past.weight @ (past.residual - phi @ solve @ past.residual) ** 2
            score = left / free**2 if free > 0.25 else np.full_like(least, np.inf)
            better = score < least
            found[:, better] = (new @ solve @ past.residual)[:, better]
            least = np.minimum(least, score)
    return found


@pytest.mark.parametrize("discount", [1.0, 0.98])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_ridge_of_the_best_score(seed: int, discount: float) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(120, 3))
    mean = np.stack([np.sin(2 * x[:, 0]), x[:, 0] * x[:, 1], x[:, 2]], axis=1)
    past = design(x, mean + 0.3 * rng.normal(size=(120, 3)), discount)
    at = rng.normal(size=(20, 3))
    line = (
        past.regression.mean
        + at @ past.regression.coefficients[1:]
        + past.regression.coefficients[0]
    )
    location = fitted(Smooth(), past, past.regression.centre + at * past.regression.width).location
    exact = by_definition(past, at)
    assert np.abs(exact[:, :2]).max() > 0.3
    assert location - line == pytest.approx(exact, abs=1e-6)


def test_a_sine_is_found_better_than_by_a_forest() -> None:
    (x, _, xi), (at, mean, _) = sine(100, 0), sine(500, 1)
    smooth, forest = (fitted(m, design(x, xi, 1.0), at).location for m in (Smooth(), Forest()))
    assert error(smooth, mean) < error(forest, mean)


def test_many_contexts_are_bent_one_by_one() -> None:
    rng = np.random.default_rng(2)
    x, at = rng.normal(size=(2, 600, 20))
    past = design(x, np.abs(x[:, :2]) + 0.2 * rng.normal(size=(600, 2)), 1.0)
    bent, line = (fitted(m, past, at).location for m in (Smooth(), ConstantVariance()))
    assert waves(20).alone.all()
    assert error(bent, np.abs(at[:, :2])) < 0.4 * error(line, np.abs(at[:, :2]))


@pytest.mark.parametrize(
    ("dim_x", "many"), [(0, 0), (1, 24), (2, 72), (10, 68), (11, 22), (64, 64)]
)
def test_the_number_of_waves_is_bounded(dim_x: int, many: int) -> None:
    assert waves(dim_x).frequency.shape == (many, dim_x)
    assert waves(65).frequency.shape == (0, 65)


def test_the_spread_is_local() -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(-2, 2, size=(800, 2))
    noise = np.where(x[:, 1:] > 0, 1.0, 0.2) * rng.normal(size=(800, 3))
    past = design(x, np.sin(2 * x[:, :1]) + noise, 1.0)
    scale = fitted(Smooth(), past, np.array([[0.5, -1.2], [0.5, 1.2]])).scale
    assert (scale[0] < 0.4).all()
    assert scale[1] == pytest.approx(np.ones(3), rel=0.2)


@pytest.mark.parametrize("name", ["prior", "rows"])
def test_bad_settings_are_named(name: str) -> None:
    bad: dict[str, Any] = {name: 0}
    with pytest.raises(ValueError, match=f"The '{name}' parameter of Smooth must be"):
        Smooth(**bad)
