"""Regressors of scikit-learn and LightGBM as models: what they see, when, and after a restart."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from laws import same

from bocopt import Agent, Replay, run
from bocopt.core import Array
from bocopt.interop import FromSklearn, from_sklearn
from bocopt.policies import Predictive
from bocopt.problems import Newsvendor
from bocopt.state import flatten, rebuild
from bocopt.trace import record

linear: Any = pytest.importorskip("sklearn.linear_model")
ensemble: Any = pytest.importorskip("sklearn.ensemble")
lightgbm: Any = pytest.importorskip("lightgbm")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
NOISE = RNG.normal(size=(60, 1)) * [1.0, -1.0]  # what one misses, the other misses as well
XI = 20 + X[:, :2] @ np.array([[3.0, 1.0], [-2.0, 2.0]]) + NOISE
PROBLEM = Newsvendor(unit_cost=[1.0, 1.0], price=[3.0, 3.0])
FOREST = ensemble.RandomForestRegressor(n_estimators=4)


def learned(model: FromSklearn, stages: int, seeds: Any = 0, x: Array = X, xi: Array = XI) -> Any:
    state = model.init(np.asarray(seeds))
    for t in range(stages):
        state = model.step(state, t, x[t], xi[t])
    return state


def test_a_scenario_is_the_prediction_and_an_error_of_all_components() -> None:
    model = from_sklearn(linear.LinearRegression())
    scenarios, w = model.sample(learned(model, 40), X[50])
    (mean,) = linear.LinearRegression().fit(X[:40], XI[:40]).predict(X[50:51])
    errors = scenarios - mean
    assert errors.shape == (20, 2)
    assert (w == 1 / 20).all()
    assert np.corrcoef(errors.T)[0, 1] < -0.9


@pytest.mark.parametrize("folds", [1, 3, 20])
def test_errors_are_those_of_regressors_that_have_seen_what_came_before(folds: int) -> None:
    model = from_sklearn(linear.Ridge(), folds=folds)
    fit = model.fit(X[:40], XI[:40], 0)
    expected = []
    for block in np.array_split(np.arange(20, 40), folds):
        before = linear.Ridge().fit(X[: block[0]], XI[: block[0]])
        expected.append(XI[block] - before.predict(X[block]))
    assert fit.residuals == pytest.approx(np.concatenate(expected))


def test_a_change_of_the_last_block_leaves_earlier_errors_alone() -> None:
    model = from_sklearn(linear.Ridge(), folds=4)
    other = XI.copy()
    other[35:] += 100
    one, two = (model.fit(X[:40], xi[:40], 0).residuals for xi in (XI, other))
    assert (one[:15] == two[:15]).all()
    assert (one[15:] != two[15:]).any()


@pytest.mark.parametrize(
    ("stages", "fitted"), [(9, 0), (10, 10), (19, 10), (20, 20), (34, 20), (35, 35), (50, 50)]
)
def test_fits_are_renewed_when_the_past_doubled_and_later_on_a_schedule(
    stages: int, fitted: int
) -> None:
    assert learned(from_sklearn(linear.Ridge(), every=15), stages).fitted == fitted


def test_before_the_first_fit_outcomes_are_equally_likely() -> None:
    model = from_sklearn(linear.Ridge())
    scenarios, w = model.sample(learned(model, 9), X[0])
    assert (scenarios == XI[:9]).all()
    assert (w == 1 / 9).all()


def test_a_window_is_all_that_is_seen_and_kept() -> None:
    model = from_sklearn(linear.Ridge(), every=7, window=12)
    state = learned(model, 60)
    fitted = int(state.fitted)
    assert state.xi.size == 12 + 7
    fit = linear.Ridge().fit(X[fitted - 12 : fitted], XI[fitted - 12 : fitted])
    scenarios, _ = model.sample(state, X[0])
    expected = (
        fit.predict(X[:1]) + model.fit(X[fitted - 12 : fitted], XI[fitted - 12 : fitted], 0)[1]
    )
    assert scenarios == pytest.approx(expected)


class Counting:
    """The mean of outcomes; it counts how often any of its kind was fitted."""

    fits = 0

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {}

    def set_params(self) -> "Counting":
        return self

    def fit(self, x: Array, y: Array) -> "Counting":
        Counting.fits += 1
        self.mean = y.mean(axis=0)
        return self

    def predict(self, x: Array) -> Array:
        return np.repeat(self.mean, len(x))


def test_what_was_fitted_is_remembered_and_after_a_restart_fitted_again() -> None:
    Counting.fits = 0
    model = from_sklearn(Counting(), folds=5)
    state = learned(model, 10)
    assert Counting.fits == 2 * 6  # of two components each
    before = Counting.fits
    here = model.sample(state, X[0])
    assert Counting.fits == before
    for other in (from_sklearn(Counting(), folds=5), pickle.loads(pickle.dumps(model))):
        read = rebuild(other.init(np.array(0)), flatten(state))
        assert same(other.sample(read, X[0]), here)
    assert Counting.fits == before + 2 * 12


def test_trials_are_alone_even_where_trees_are_drawn() -> None:
    model = from_sklearn(FOREST)
    both = model.sample(learned(model, 20, seeds=[3, 5]), X[50])
    for i, seed in enumerate((3, 5)):
        alone = model.sample(learned(from_sklearn(FOREST), 20, seeds=seed), X[50])
        assert same(alone, [part[i] for part in both])
    assert (both[0][0] != both[0][1]).any()


def test_more_trials_than_were_ever_kept_are_fitted_once() -> None:
    model, trials = from_sklearn(Counting(), folds=1), 30
    x, xi = (np.repeat(part[:10, None], trials, axis=1) for part in (X, XI))
    Counting.fits = 0
    state = learned(model, 10, seeds=np.arange(trials), x=x, xi=xi)
    for _ in range(3):
        model.sample(state, X[0])
    assert Counting.fits == 2 * 2 * trials


def test_a_random_state_that_was_given_is_kept() -> None:
    given = ensemble.RandomForestRegressor(n_estimators=4, random_state=1)
    one, other = (from_sklearn(given).fit(X[:20], XI[:20], seed) for seed in (0, 1))
    assert (one.residuals == other.residuals).all()


@pytest.mark.parametrize(
    ("regressor", "together"),
    [(linear.Ridge(), True), (ensemble.GradientBoostingRegressor(n_estimators=3), False)],
)
def test_components_are_predicted_together_or_each_alone(regressor: Any, together: bool) -> None:
    fit = from_sklearn(regressor).fit(X[:20], XI[:20], 0)
    assert len(fit.regressors) == (1 if together else 2)
    assert fit.predict(X[:7]).shape == (7, 2)


def test_lightgbm_takes_part() -> None:
    regressor = lightgbm.LGBMRegressor(n_estimators=20, min_child_samples=3, verbose=-1, n_jobs=1)
    model = from_sklearn(regressor, begin=40)
    xi = np.sign(X[:, :1]) * [5.0, -5.0] + 20
    state = learned(model, 50, xi=xi)
    for x in (X[55], X[56], X[57]):
        mean = model.sample(state, x)[0].mean(axis=0)
        assert mean == pytest.approx(np.sign(x[0]) * np.array([5.0, -5.0]) + 20, abs=2.5)


def test_an_empty_context_will_do() -> None:
    model = from_sklearn(linear.LinearRegression())
    state = learned(model, 10, x=np.empty((10, 0)))
    scenarios, _ = model.sample(state, np.empty(0))
    assert np.isfinite(scenarios).all()


def test_no_scenario_is_below_zero_where_no_outcome_was() -> None:
    model = from_sklearn(linear.LinearRegression())
    xi = np.maximum(XI - 20, 0)
    scenarios, _ = model.sample(learned(model, 40, xi=xi), X[50])
    below, _ = model.sample(learned(model, 40, xi=XI - 20), X[50])
    assert scenarios.min() == 0
    assert below.min() < 0


def test_a_policy_with_it_goes_on_after_a_restart(tmp_path: Path) -> None:
    def agent() -> Agent[Any]:
        return Agent(Predictive(PROBLEM, from_sklearn(FOREST)), seed=2)

    one, other = agent(), agent()
    for t in range(24):
        assert (one.decide(X[t]).z == other.decide(X[t]).z).all()
        for who in (one, other):
            who.observe(t, XI[t])
        if t in (5, 12, 21):
            other.save(tmp_path / "agent")
            policy = Predictive(PROBLEM, from_sklearn(FOREST))
            other = Agent.load(tmp_path / "agent", policy, problem=PROBLEM)
    assert same(one.state, other.state)


def test_it_earns_more_than_what_no_context_tells() -> None:
    def earned(begin: int) -> float:
        model = from_sklearn(linear.LinearRegression(), begin=begin)
        stages = run(Predictive(PROBLEM, model), Replay(X, XI), hindsight=False)
        return float(-record(stages, PROBLEM.sense).cost[20:].mean())

    assert earned(begin=10) > earned(begin=1000) + 1


def test_what_is_no_number_is_refused_when_it_comes_back() -> None:
    class Lost(Counting):
        def predict(self, x: Array) -> Array:
            return np.full(len(x), np.nan)

    with pytest.raises(
        ValueError, match="The 'predict' that the regressor returned must be finite"
    ):
        learned(from_sklearn(Lost()), 10)


def test_a_generator_of_random_numbers_is_refused() -> None:
    draws = ensemble.RandomForestRegressor(random_state=np.random.RandomState(0))
    with pytest.raises(
        ValueError, match=r"'regressor' .* whose random_state is None or an integer"
    ):
        from_sklearn(draws)
