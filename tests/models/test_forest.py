"""The forest against a readable one, against scikit-learn and on data that tell nothing."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readable_forest import ReadableForest, scattered

from bocopt.core import Array
from bocopt.models.constant import ConstantVariance
from bocopt.models.design import Design, design
from bocopt.models.forest import Forest
from bocopt.models.kernels import forest as kernel
from bocopt.models.kernels.trees import uniform
from bocopt.models.member import Member, Moments


def fit_one(x: Array, weight: Array, y: Array, guess: Array, rule: kernel.Rule) -> Any:
    """The tables of one forest."""
    leaves = rule.trees * max(1, min(len(y), int(weight.sum() / rule.smallest)))
    tables = kernel.tables(1, leaves, y.shape[1])
    kernel.fit_each(x[None], weight, y[None], guess[None], rule, *tables)
    return [table[0] for table in tables]


def assert_as_readable(x: Array, weight: Array, y: Array, rule: kernel.Rule, prior: float) -> None:
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
    dim_x=st.integers(0, 5),
    dim_y=st.integers(1, 4),
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
    assert_as_readable(x, weight, y, kernel.Rule(2 * folds, folds, leaf), prior=0.5)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(20))
def test_predictions_are_those_of_the_readable_forest_on_longer_pasts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, dim_x, dim_y = rng.integers(100, 400), rng.integers(1, 20), rng.integers(1, 9)
    x = rng.normal(size=(n, dim_x)).round(rng.integers(0, 3))
    y = rng.standard_t(3, size=(n, dim_y)) + np.abs(x[:, :1])
    weight = 0.98 ** np.arange(n - 1.0, -1.0, -1.0)
    assert_as_readable(x, weight, y, kernel.Rule(7, 3, 1.5), prior=1.0)


def test_chance_is_uniform() -> None:
    draws = np.array(
        [uniform(scattered(kernel.SEED, t), k) for t in range(100) for k in range(100)]
    )
    assert np.histogram(draws, 10, (0.0, 1.0))[0] == pytest.approx(np.full(10, 1000), abs=120)
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 0.03


def _sine(n: int, seed: int) -> tuple[Array, Array, Array]:
    """Contexts, means and outcomes whose spread is larger on the right."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, size=(n, 2))
    mean = 6 + 3 * np.sin(2 * x[:, :1] + np.arange(3))
    return x, mean, mean + np.where(x[:, 1:] > 0, 1.0, 0.3) * rng.normal(size=(n, 3))


def _fitted(member: Member, past: Design, at: Array) -> Moments:
    fit = member.start((), past.x.shape[-1], past.xi.shape[-1])
    return member.predict(member.refit(fit, past), past.ground, past.ground.standard(at))


def _error(found: Array, mean: Array) -> float:
    return float(((found - mean) ** 2).mean())


def test_a_sine_is_found_at_least_as_well_as_by_scikit_learn() -> None:
    ensemble = pytest.importorskip("sklearn.ensemble", reason="scikit-learn is not installed")
    (x, _, xi), (at, mean, _) = _sine(400, 0), _sine(500, 1)
    ours = _error(_fitted(Forest(), design(x, xi, 1.0), at).location, mean)
    theirs = ensemble.ExtraTreesRegressor(100, min_samples_leaf=2, random_state=0).fit(x, xi)
    assert ours < 1.1 * _error(theirs.predict(at), mean)


def test_the_spread_is_local() -> None:
    """It changes with the second context alone, which the mean does not read."""
    rng = np.random.default_rng(2)
    x = rng.uniform(-2, 2, size=(1000, 2))
    xi = x[:, :1] + np.where(x[:, 1:] > 0, 1.0, 0.2) * rng.normal(size=(1000, 3))
    at = rng.uniform([-2.0, 0.3], 2.0, size=(100, 2))
    past = design(x, xi, 1.0)
    left, right = (_fitted(Forest(), past, at * [1.0, side]).scale for side in (-1.0, 1.0))
    assert (left.mean(axis=0) < 0.4).all()
    assert right.mean(axis=0) == pytest.approx(np.ones(3), rel=0.1)


def test_where_the_mean_is_linear_little_is_lost() -> None:
    rng = np.random.default_rng(3)
    x, at = rng.normal(size=(2, 300, 4))
    slopes = rng.normal(size=(4, 2))
    past = design(x, x @ slopes + rng.normal(size=(300, 2)), 1.0)
    tree, line = (_fitted(m, past, at).location for m in (Forest(), ConstantVariance()))
    assert _error(tree, at @ slopes) < 1.2 * _error(line, at @ slopes)


def test_trials_at_once_are_the_same_as_one_by_one() -> None:
    rng = np.random.default_rng(4)
    x, xi = rng.normal(size=(2, 3, 25, 2)), rng.normal(size=(2, 3, 25, 4)).round(1)
    x[1, 2] = 0.0  # trees of one leaf beside larger ones
    member, past = Forest(trees=6), design(x, xi, 0.97)
    fit = member.refit(member.start((2, 3), 2, 4), past)
    found = member.predict(fit, past.ground, past.x[..., 3, :])
    for trial in np.ndindex(2, 3):
        alone = _fitted(member, design(x[trial], xi[trial], 0.97), x[trial][3])
        assert (alone.location == found.location[trial]).all()
        assert (alone.scale == found.scale[trial]).all()


def test_fits_before_and_after_are_stored_alike() -> None:
    member, past = Forest(trees=6), design(*_sine(20, 5)[::2], 1.0)
    before = member.start((), 2, 3)
    for old, new in zip(before, member.refit(before, past), strict=True):
        assert old.dtype == new.dtype
        assert old.ndim == new.ndim
        assert np.isfinite(new).all()


_RNG = np.random.default_rng(6)
HOSTILE = {
    "one row": (np.ones((1, 2)), np.ones((1, 3))),
    "two rows": (_RNG.normal(size=(2, 2)), _RNG.normal(size=(2, 3))),
    "no contexts": (np.zeros((30, 0)), _RNG.normal(size=(30, 3))),
    "constant contexts": (np.ones((30, 4)), _RNG.normal(size=(30, 3))),
    "one outcome value": (_RNG.normal(size=(30, 4)), np.full((30, 3), 1e6)),
    "duplicated columns": (np.repeat(_RNG.normal(size=(30, 1)), 5, axis=1), np.ones((30, 1))),
    "more contexts than rows": (_RNG.normal(size=(10, 60)), _RNG.normal(size=(10, 3))),
    "scales": (1e6 * _RNG.normal(size=(30, 2)), 1e-6 * _RNG.normal(size=(30, 3))),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("discount", [1.0, 0.5, 1e-3])
def test_hostile_data_give_a_sensible_law(name: str, discount: float) -> None:
    x, xi = HOSTILE[name]
    past = design(x, xi, discount)
    found = _fitted(Forest(), past, x)
    assert (found.scale > 0).all()
    assert (found.scale < 10 * (np.abs(xi).max() + np.ptp(xi))).all()
    assert (np.abs(found.location) <= 3 * np.abs(xi).max()).all()


@pytest.mark.parametrize("name", ["trees", "folds", "leaf", "prior"])
def test_bad_settings_are_named(name: str) -> None:
    bad: dict[str, Any] = {name: 0}
    with pytest.raises(ValueError, match=f"The '{name}' parameter of Forest must be"):
        Forest(**bad)
