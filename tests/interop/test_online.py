"""Regressors of river as models: what they learn, and that a state is all of it."""

import pickle
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from laws import same

from bocopt import Agent
from bocopt.core import Array
from bocopt.interop import FromRiver, from_river
from bocopt.policies import Predictive
from bocopt.problems import Newsvendor
from bocopt.state import flatten, rebuild

linear: Any = pytest.importorskip("river.linear_model")
tree: Any = pytest.importorskip("river.tree")
forest: Any = pytest.importorskip("river.forest")
preprocessing: Any = pytest.importorskip("river.preprocessing")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
XI = 12 + X @ np.array([[1.0, -1.0], [0.5, 2.0]]) + RNG.normal(size=(60, 1)) * [0.5, -0.5]
BAYES = linear.BayesianLinearRegression()
PROBLEM = Newsvendor(unit_cost=[1.0, 1.0], price=[3.0, 3.0])


class Noting:
    """It notes the names of what any of its kind learns from."""

    lessons: ClassVar[list[list[str]]] = []

    def clone(self) -> "Noting":
        return Noting()

    def predict_one(self, x: dict[str, float]) -> float:
        return 0.0

    def learn_one(self, x: dict[str, float], y: float) -> None:
        self.lessons.append(sorted(x))


def learned(model: FromRiver, stages: int, seeds: Any = 0, xi: Array = XI) -> Any:
    state = model.init(np.asarray(seeds))
    for t in range(stages):
        state = model.step(state, t, X[t], xi[t])
    return state


def by_hand(regressor: Any, stages: int, component: int) -> tuple[Any, Array]:
    """A regressor that learned one component, and what it missed on the way."""
    one, errors = regressor.clone(), []
    for x, xi in zip(X[:stages].tolist(), XI[:stages, component].tolist(), strict=True):
        features = {"x0": x[0], "x1": x[1]}
        errors.append(xi - one.predict_one(features))
        one.learn_one(features, xi)
    return one, np.array(errors)


@pytest.mark.parametrize("component", [0, 1])
def test_a_scenario_is_the_prediction_and_one_of_the_latest_errors(component: int) -> None:
    model = from_river(BAYES)
    scenarios, w = model.sample(learned(model, 40), X[50])
    one, errors = by_hand(BAYES, 40, component)
    said = one.predict_one({"x0": X[50, 0], "x1": X[50, 1]})
    assert (scenarios[:, component] == np.maximum(said + errors[20:], 0)).all()
    assert (w == 1 / 20).all()


def test_so_many_errors_are_kept() -> None:
    model = from_river(BAYES, errors=12)
    scenarios, _ = model.sample(learned(model, 60), X[50])
    assert len(scenarios) == 12
    assert (by_hand(BAYES, 60, 0)[1][-12:] == learned(model, 60).errors.rows[:, 0]).all()


def test_outcomes_are_equally_likely_at_first() -> None:
    model = from_river(BAYES)
    scenarios, w = model.sample(learned(model, 9), X[0])
    assert (scenarios == XI[:9]).all()
    assert (w == 1 / 9).all()


@pytest.mark.parametrize(
    "regressor",
    [
        BAYES,
        preprocessing.StandardScaler() | linear.LinearRegression(),
        tree.ISOUPTreeRegressor(grace_period=10),
        forest.ARFRegressor(n_models=2, seed=1),
    ],
    ids=["Bayesian", "a pipeline", "many targets", "a forest"],
)
def test_a_state_that_is_read_back_or_branched_goes_on_alike(regressor: Any) -> None:
    model = from_river(regressor)
    state = learned(model, 40)
    here = model.sample(state, X[50])
    for other in (from_river(regressor.clone()), pickle.loads(pickle.dumps(model))):
        read = rebuild(other.init(np.array(0)), flatten(state))
        assert same(other.sample(read, X[50]), here)
    left, right = (model.step(state, 40, X[40], xi) for xi in (XI[40], XI[41]))
    again = model.step(state, 40, X[40], XI[40])
    assert same(model.sample(left, X[50]), model.sample(again, X[50]))
    assert (model.sample(right, X[50])[0] != model.sample(left, X[50])[0]).any()
    assert same(model.sample(state, X[50]), here)


def test_trials_on_one_series_learn_each_outcome_once() -> None:
    Noting.lessons.clear()
    learned(from_river(Noting()), 30, seeds=[0, 1, 2])
    assert len(Noting.lessons) == 30 * 3 * 2


def test_many_targets_are_learned_by_one() -> None:
    model = from_river(tree.ISOUPTreeRegressor(grace_period=10))
    state = learned(model, 60)
    assert abs(model.sample(state, X[0])[0].mean(axis=0) - XI[0]).max() < 2


def test_features_have_the_names_that_are_given() -> None:
    Noting.lessons.clear()
    learned(from_river(Noting(), names=["rain", "wind"]), 1)
    assert Noting.lessons == [["rain", "wind"]] * 2
    with pytest.raises(ValueError, match="'names' parameter of from_river must be 2 names"):
        learned(from_river(BAYES, names=["rain"]), 1)


@pytest.mark.parametrize(
    "regressor",
    [forest.ARFRegressor(), preprocessing.StandardScaler() | forest.ARFRegressor()],
)
def test_what_draws_at_random_needs_a_seed(regressor: Any) -> None:
    with pytest.raises(ValueError, match="one with a seed: after a restart it learns its past"):
        from_river(regressor)


def test_a_policy_with_it_goes_on_after_a_restart(tmp_path: Path) -> None:
    def policy() -> Predictive:
        return Predictive(PROBLEM, from_river(BAYES))

    one, other = (Agent(policy(), problem=PROBLEM, seed=2) for _ in range(2))
    for t in range(20):
        assert (one.decide(X[t]).z == other.decide(X[t]).z).all()
        for who in (one, other):
            who.observe(t, XI[t])
        if t in (5, 15):
            other.save(tmp_path / "agent")
            other = Agent.load(tmp_path / "agent", policy(), problem=PROBLEM)
    assert same(one.state, other.state)
