"""The forest against a readable one, and against scikit-learn."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nonlinear import error, fitted, sine
from readable_forest import ReadableForest, scattered

from bocopt.core import Array
from bocopt.models.design import design
from bocopt.models.forest import Forest
from bocopt.models.kernels import forest as kernel
from bocopt.models.kernels.trees import uniform


def fit_one(x: Array, weight: Array, y: Array, guess: Array, rule: kernel.GrowthRule) -> Any:
    """The tables of one forest."""
    leaves = rule.trees * max(1, min(len(y), int(1.001 * weight.sum() / rule.smallest)))
    tables = kernel.tables(1, leaves, y.shape[1])
    kernel.fit_each(x[None], weight, y[None], guess[None], rule, *tables)
    return [table[0] for table in tables]


def assert_as_readable(
    x: Array, weight: Array, y: Array, rule: kernel.GrowthRule, prior: float
) -> None:
    guess = np.full(y.shape[1], 0.7)
    readable = ReadableForest(x, weight, y, guess, *rule, prior)
    tables = fit_one(x, weight, y, guess, rule)
    for at in np.concatenate([x, x + 0.3]):
        location, variance = kernel.predict(*tables, at, rule.trees, prior)
        exact = readable.predict(at)
        assert (location == exact[0]).all()
        assert (variance == exact[1]).all()


@given(
    n=st.integers(1, 40),
    dim_x=st.integers(0, 14),  # above ten, a split looks at some
    dim_y=st.integers(1, 4),
    trees=st.integers(1, 9),
    folds=st.integers(2, 4),
    leaf=st.sampled_from([0.5, 1.0, 2.0, 3.0]),
    discount=st.sampled_from([1.0, 0.9]),
    decimals=st.sampled_from([0, 1, 15]),
    seed=st.integers(0, 1000),
)
@settings(max_examples=60, deadline=None)
def test_predictions_are_those_of_the_readable_forest(
    n: int,
    dim_x: int,
    dim_y: int,
    trees: int,
    folds: int,
    leaf: float,
    discount: float,
    decimals: int,
    seed: int,
) -> None:
    """With rounding there are constant and duplicated contexts, and ties."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, dim_x)).round(decimals)
    y = rng.normal(size=(n, dim_y)) + np.sin(3 * x).sum(axis=1, keepdims=True)
    weight = discount ** np.arange(n - 1.0, -1.0, -1.0)
    assert_as_readable(x, weight, y, kernel.GrowthRule(trees, folds, leaf), prior=0.5)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(20))
def test_predictions_are_those_of_the_readable_forest_on_longer_pasts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, dim_x, dim_y = rng.integers(100, 400), rng.integers(1, 20), rng.integers(1, 9)
    x = rng.normal(size=(n, dim_x)).round(rng.integers(0, 3))
    y = rng.standard_t(3, size=(n, dim_y)) + np.abs(x[:, :1])
    weight = 0.98 ** np.arange(n - 1.0, -1.0, -1.0)
    assert_as_readable(x, weight, y, kernel.GrowthRule(7, 3, 1.5), prior=1.0)


def test_chance_is_uniform() -> None:
    draws = np.array(
        [uniform(scattered(kernel.SEED, t), k) for t in range(100) for k in range(100)]
    )
    assert np.histogram(draws, 10, (0.0, 1.0))[0] == pytest.approx(np.full(10, 1000), abs=120)
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 0.03


def test_a_sine_is_found_at_least_as_well_as_by_scikit_learn() -> None:
    ensemble = pytest.importorskip("sklearn.ensemble", reason="scikit-learn is not installed")
    (x, _, xi), (at, mean, _) = sine(400, 0), sine(500, 1)
    ours = error(fitted(Forest(), design(x, xi, 1.0), at).location, mean)
    theirs = ensemble.ExtraTreesRegressor(100, min_samples_leaf=2, random_state=0).fit(x, xi)
    assert ours < 1.1 * error(theirs.predict(at), mean)


def test_the_spread_is_local() -> None:
    """It changes with the second context alone, which the mean does not read."""
    rng = np.random.default_rng(2)
    x = rng.uniform(-2, 2, size=(1000, 2))
    xi = x[:, :1] + np.where(x[:, 1:] > 0, 1.0, 0.2) * rng.normal(size=(1000, 3))
    at = rng.uniform([-2.0, 0.3], 2.0, size=(100, 2))
    past = design(x, xi, 1.0)
    left, right = (fitted(Forest(), past, at * [1.0, side]).scale for side in (-1.0, 1.0))
    assert (left.mean(axis=0) < 0.4).all()
    assert right.mean(axis=0) == pytest.approx(np.ones(3), rel=0.1)


@pytest.mark.parametrize("name", ["trees", "folds", "leaf", "prior"])
def test_bad_settings_are_named(name: str) -> None:
    bad: dict[str, Any] = {name: 0}
    with pytest.raises(ValueError, match=f"The '{name}' parameter of Forest must be"):
        Forest(**bad)
