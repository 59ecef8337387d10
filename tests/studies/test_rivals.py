"""Forests and boosted quantiles: as scikit-learn has them, and as models of ours."""

from itertools import islice
from typing import Any

import numpy as np
import pytest
from lengths import long

from bocopt.core import Array
from bocopt.state import flatten, rebuild
from bocopt_studies.learning.boosted import Boosted, BoostedQuantiles
from bocopt_studies.learning.data.source import INSTALL
from bocopt_studies.learning.forests import ForestResiduals, ForestWeights, GrownForest, grown
from bocopt_studies.learning.laws import Sine
from bocopt_studies.learning.refitted import RefittedRival, trees_of

ensemble: Any = pytest.importorskip(
    "sklearn.ensemble", reason=f"scikit-learn is an extra: {INSTALL}"
)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
XI = np.stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2], axis=-1) + 0.1 * RNG.normal(size=(80, 2))
NEW = RNG.normal(size=(50, 3))


def test_trees_as_arrays_are_those_of_scikit_learn() -> None:
    forest = ensemble.RandomForestRegressor(n_estimators=20, random_state=1).fit(X, XI)
    trees = trees_of(forest.estimators_)
    leaves = trees.leaves(NEW)
    assert (leaves.T == forest.apply(NEW)).all()
    assert trees.values(leaves).mean(axis=0) == pytest.approx(forest.predict(NEW))


@pytest.fixture(scope="module")
def both() -> tuple[GrownForest, Any]:
    """A forest of ours, and scikit-learn's own."""
    ours = grown(X, XI, 7)
    theirs = ensemble.RandomForestRegressor(
        n_estimators=100,
        min_samples_leaf=5,
        max_features=1 / 3,
        random_state=7,
        oob_score=True,
    )
    return ours, theirs.fit(X, XI)


def test_weights_count_shared_leaves(both: tuple[GrownForest, Any]) -> None:
    forest, theirs = both
    own, here = theirs.apply(X), theirs.apply(NEW[:1])[0]
    expected = np.zeros(len(X))
    for tree, leaf in enumerate(here):
        same = own[:, tree] == leaf
        expected += same / same.sum() / len(here)
    assert forest.weights(NEW[0]) == pytest.approx(expected)
    assert forest.weights(NEW[0]).sum() == pytest.approx(1)


def test_residuals_are_out_of_bag(both: tuple[GrownForest, Any]) -> None:
    forest, theirs = both
    assert forest.residual == pytest.approx(XI - theirs.oob_prediction_)


@pytest.fixture(scope="module")
def boosted() -> Boosted:
    return BoostedQuantiles(2).fit(X, XI, 3)


def test_boosted_quantiles_are_those_of_scikit_learn(boosted: Boosted) -> None:
    theirs = [
        ensemble.GradientBoostingRegressor(
            loss="quantile",
            alpha=level,
            n_estimators=25,
            max_depth=3,
            learning_rate=0.2,
            min_samples_leaf=5,
            max_features=1.0,
            random_state=3,
        )
        .fit(X, XI[:, 1])
        .predict(NEW)
        for level in (0.05, 0.25, 0.5, 0.75, 0.95)
    ]
    expected = np.sort(np.stack(theirs, axis=-1), axis=-1)
    assert boosted.quantiles(NEW)[:, 1] == pytest.approx(expected)


def test_scenarios_of_boosted_quantiles_have_these_quantiles(boosted: Boosted) -> None:
    scenarios, w = BoostedQuantiles(2).predicted(boosted, NEW[0], XI)
    levels = (np.arange(len(X)) + 0.5) / len(X)
    (quantiles,) = boosted.quantiles(NEW[:1])
    assert (w == 1 / len(X)).all()
    for component in range(2):
        inner = (levels > 0.05) & (levels < 0.95)
        curve = np.interp(levels, (0.05, 0.25, 0.5, 0.75, 0.95), quantiles[component])
        assert np.sort(scenarios[:, component])[inner] == pytest.approx(curve[inner])
        better = boosted.ranks[:, component].argsort()
        assert (np.diff(scenarios[better, component]) >= 0).all()


def _learned(model: Any, seeds: Any, stages: int) -> tuple[Any, Array]:
    seeds = np.asarray(seeds)
    state = model.init(seeds)
    for t, (x, xi) in enumerate(islice(Sine(dim_xi=model.dim_xi).stages(seeds), stages)):
        state = model.step(state, t, x, xi)
    return state, x


@pytest.mark.parametrize("rival", [ForestWeights, ForestResiduals, BoostedQuantiles])
def test_a_trial_alone_is_the_same_as_among_others(rival: Any) -> None:
    model = rival(1)
    both, x = _learned(model, [3, 5], model.begin)
    alone, _ = _learned(model, 5, model.begin)
    for of_both, of_one in zip(model.sample(both, x), model.sample(alone, x[1]), strict=True):
        assert (of_both[1] == of_one).all()


@pytest.mark.parametrize("rival", [ForestWeights, ForestResiduals, BoostedQuantiles])
def test_a_state_that_is_read_back_goes_on_alike(rival: Any) -> None:
    model, another = rival(1), rival(1)  # which remembers no fit
    state, x = _learned(model, 5, model.begin)
    read = rebuild(another.init(np.array(5)), flatten(state))
    for ours, theirs in zip(model.sample(state, x), another.sample(read, x), strict=True):
        assert (ours == theirs).all()


class Counted(RefittedRival):
    """It fits how many outcomes there were."""

    def fit(self, x: Array, xi: Array, seed: int) -> tuple[Array]:
        return (np.array(float(len(xi))),)

    def predicted(self, fit: Any, x: Array, xi: Array) -> tuple[Array, Array]:
        return np.tile(fit[0], xi.shape), np.full(len(xi), 1 / len(xi))


@pytest.mark.parametrize(
    ("stages", "fitted"),
    [(9, 0), (10, 10), (11, 11), (21, 21), (22, 21), (23, 23), (41, 41), (43, 41)],
)
def test_fits_are_renewed_when_a_twentieth_is_new(stages: int, fitted: int) -> None:
    model = Counted(2)
    state, x = _learned(model, 0, stages)
    assert state.fitted == fitted
    scenarios, _ = model.sample(state, x)
    assert (scenarios == fitted).all() or not fitted


def test_outcomes_are_equally_likely_before_the_first_fit() -> None:
    state, x = _learned(ForestResiduals(2), 0, 5)
    scenarios, w = ForestResiduals(2).sample(state, x)
    assert (scenarios == state.xi.rows).all()
    assert (w == 0.2).all()


@pytest.mark.parametrize("rival", [ForestWeights, ForestResiduals, long(BoostedQuantiles)])
def test_a_sine_is_found(rival: Any) -> None:
    """The mean of the scenarios is nearer to the truth than what a linear regression can be."""
    stream, model = Sine(dim_xi=1), rival(1)
    xs, xis = (
        np.stack(part) for part in zip(*islice(stream.stages(np.array(0)), 200), strict=True)
    )
    fit = model.fit(xs, xis, 0)
    new = np.random.default_rng(5).normal(size=(50, 2))
    truth = stream.sample_given(new, np.zeros((50, 1)))
    laws = [model.predicted(fit, x, xis) for x in new]
    guesses = np.array([w @ scenarios for scenarios, w in laws])
    design = np.column_stack([np.ones(200), xs])
    linear = np.column_stack([np.ones(50), new]) @ np.linalg.lstsq(design, xis)[0]
    assert ((guesses - truth) ** 2).mean() < 0.6 * ((linear - truth) ** 2).mean()
