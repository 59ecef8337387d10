"""The view with dictionaries shows what the learner itself would."""

from typing import Any, ClassVar

import numpy as np
import pytest
from registry import KNAPSACK

from bocopt import Ensemble, Replay, SampleAverage, run
from bocopt.interop import Incremental, from_sklearn
from bocopt.models import Remembering
from bocopt.policies import Constant, Frozen, Predictive, Shadowed
from bocopt.problems import Newsvendor
from bocopt.wrappers import scenarios_of

linear: Any = pytest.importorskip("sklearn.linear_model")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
XI = 9 + X @ np.array([[1.0, -1.0], [0.5, 2.0]]) + 0.1 * RNG.normal(size=(30, 2))
PROBLEM = Newsvendor(unit_cost=[1.0, 1.0], price=[3.0, 3.0])
MODEL = from_sklearn(linear.LinearRegression())


def features(t: int) -> dict[str, float]:
    """In another order every other stage."""
    named = {"rain": X[t, 0], "wind": X[t, 1]}
    return named if t % 2 else dict(reversed(named.items()))


def outcome(t: int) -> dict[str, float]:
    named = {"bread": XI[t, 0], "milk": XI[t, 1]}
    return named if t % 3 else dict(reversed(named.items()))


def test_a_model_predicts_the_mean_of_its_law() -> None:
    view, state = Incremental(MODEL, seed=4), MODEL.init(np.array(4))
    for t in range(25):
        if t:
            scenarios, w = MODEL.sample(state, X[t, ::-1])
            assert view.predict_one(features(t)) == pytest.approx(
                dict(zip(["milk", "bread"], w @ scenarios, strict=True))
            )
        view.learn_one(features(t), outcome(t))
        state = MODEL.step(state, t, X[t, ::-1], XI[t, ::-1])
    assert view.predict_one(features(25)) == pytest.approx(outcome(25), abs=0.5)


def test_a_policy_decides_as_in_the_plain_loop() -> None:
    policy = Predictive(PROBLEM, MODEL)
    view = Incremental(policy, decisions=["white", "rye"])
    for t, stage in enumerate(run(policy, Replay(X, XI), problem=PROBLEM)):
        decided = view.decide_one({"rain": X[t, 0], "wind": X[t, 1]})
        assert list(decided.values()) == stage.decision.solution.z.tolist()
        assert list(decided) == ["white", "rye"]
        view.learn_one({"wind": X[t, 1], "rain": X[t, 0]}, XI[t].tolist())
    assert np.shape(view.predict_one(features(0))) == (2,)


class Once(SampleAverage):
    """It notes what it learns from."""

    noted: ClassVar[list[Any]] = []

    def learn(self, state: Any, t: int, x: Any, decision: Any, xi: Any) -> Any:
        self.noted.append(decision)
        return super().learn(state, t, x, decision, xi)


def test_a_policy_learns_from_the_decision_that_was_shown() -> None:
    view = Incremental(Once(KNAPSACK, initial_decision=[3, 1]))
    Once.noted.clear()
    shown = view.decide_one({"rain": 1.0})
    view.learn_one({"rain": 1.0}, [1.0, 1.0])
    view.learn_one({"rain": 2.0}, [1.0, 1.0])
    assert (Once.noted[0].solution.z == shown).all()
    assert (Once.noted[1].solution.z == view.decide_one({"rain": 2.0})).all()


@pytest.mark.parametrize(
    "policy",
    [
        Predictive(KNAPSACK, MODEL),
        Ensemble(KNAPSACK, MODEL),
        Ensemble(KNAPSACK, MODEL, calibration="adaptive"),
        Shadowed(Ensemble(KNAPSACK, MODEL), {"average": SampleAverage(KNAPSACK)}),
        Frozen(Ensemble(KNAPSACK, MODEL)),
        SampleAverage(KNAPSACK),
    ],
    ids=lambda policy: type(policy).__name__,
)
def test_a_policy_predicts_the_mean_of_the_scenarios_under_which_it_decides(policy: Any) -> None:
    view, state = Incremental(policy, seed=4), policy.init(np.array(4))
    for t in range(12):
        view.learn_one(features(t), XI[t])
        x = X[t, ::-1]
        state = policy.learn(state, t, x, policy.decide(state, t, x), XI[t])
    found = scenarios_of(policy, state, 12, X[12, ::-1])
    if found is None:
        assert isinstance(policy, Frozen)
        assert view.predict_one(features(12)) is None
    else:
        scenarios, w = found
        assert view.predict_one(features(12)) == pytest.approx(w @ scenarios)


def test_before_any_outcome_nothing_is_predicted() -> None:
    assert Incremental(MODEL).predict_one({"rain": 1.0}) is None


def test_a_number_is_predicted_by_a_number() -> None:
    view = Incremental(MODEL)
    view.learn_one({"rain": 1.0}, 3)
    assert view.predict_one({"rain": 2.0}) == 3.0


def test_what_is_missing_is_missing_where_the_learner_takes_that() -> None:
    view = Incremental(Remembering(MODEL, missing="mean"))
    for t in range(25):
        view.learn_one({"rain": X[t, 0], "wind": X[t, 1]}, XI[t, 0])
    mean = {"rain": X[:25, 0].mean(), "wind": 0.3}
    assert view.predict_one({"wind": 0.3}) == pytest.approx(view.predict_one(mean))


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        ({"rain": 1.0}, 1.0, "'x' parameter of Incremental must be a dictionary of rain, wind"),
        ({"rain": 1.0, "wind": 1.0, "sun": 1.0}, 1.0, "must be a dictionary of rain, wind"),
        ({"rain": 1.0, "wind": float("nan")}, 1.0, "'x' parameter of Incremental must be finite"),
        ([1.0, 2.0], 1.0, "must be a dictionary of features"),
        ({"rain": 1.0, "wind": 1.0}, {"y": 1.0}, "'y' .* must be of the form of those before it"),
        ({"rain": 1.0, "wind": 1.0}, [1.0], "'y' .* must be of the form of those before it"),
        ({"rain": 1.0, "wind": 1.0}, "many", "'y' .* must be an array of numbers"),
        ({"rain": 1.0, "wind": 1.0}, float("inf"), "'y' .* must be finite"),
    ],
)
def test_what_does_not_fit_is_named_and_changes_nothing(x: Any, y: Any, said: str) -> None:
    view = Incremental(MODEL)
    view.learn_one({"rain": 1.0, "wind": 2.0}, 3.0)
    before = view.state
    with pytest.raises(ValueError, match=said):
        view.learn_one(x, y)
    assert view.state is before


def test_who_cannot_predict_or_decide_says_so() -> None:
    with pytest.raises(ValueError, match="must be a policy, to decide"):
        Incremental(MODEL).decide_one({"rain": 1.0})
    with pytest.raises(ValueError, match="must be a model, or a policy that decides under"):
        Incremental(Constant([1, 1])).predict_one({"rain": 1.0})
    with pytest.raises(ValueError, match=r"'decisions' .* must be 2 names"):
        Incremental(SampleAverage(KNAPSACK), decisions=["one"]).decide_one({"rain": 1.0})
