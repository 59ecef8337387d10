"""The default learner on data and members that mean it ill: it carries on, and says who does not.

Streams of one shape are played side by side, as trials of one run. Warnings are errors here, so no
member may be left out because of data.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from mixtures import plain

from bocopt import Ensemble, Mixture, Replay, SampleAverage, run
from bocopt.core import Array
from bocopt.models import ConstantVariance, Member
from bocopt.models.design import Design, RidgeFit
from bocopt.models.member import Fit, Moments
from bocopt.problems import Newsvendor

STAGES, LATE = 60, 50
KNOWN = 5  # outcomes that show a spread: before, it is guessed
UNITS = [1.0, 1.0, 2.0**20, 2.0**-20]
PROBLEM = Newsvendor(unit_cost=[1.0, 1.0], price=[3.0, 3.0], capacity=25.0, upper=20.0)
MODELS = {
    "default": Mixture(dim_xi=2, scenarios=64),
    "plain": plain(dim_xi=2, scenarios=64),
}
LEARNERS = {name: Ensemble(PROBLEM, model) for name, model in MODELS.items()}


def _usual(dim_x: int = 3, stages: int = STAGES) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(stages, dim_x))
    return x, np.abs(10 + 2 * x[:, :1] + rng.normal(size=(stages, 2)))


def _streams() -> dict[str, tuple[Array, Array]]:
    """Contexts (n, 3) and outcomes (n, 2)."""
    (x, xi), rng, stage = _usual(), np.random.default_rng(1), np.arange(STAGES)[:, None]
    return {
        "usual": (x, xi),
        "constant contexts": (np.full_like(x, 7.0), xi),
        "contexts that move late": (np.where(stage < LATE, 1.0, x), xi),
        "a duplicated column": (x[:, [0, 0, 1]], xi),
        "contexts around 1e6": (1e6 + x, xi),
        "one outcome": (x, np.full_like(xi, 5.0)),
        "outcomes that are 0": (x, np.zeros_like(xi)),
        "outcomes that move late": (x, np.where(stage < LATE, 5.0, xi)),
        "one outcome of 1e6": (x, np.where(stage == STAGES // 2, [1e6, 10.0], xi)),
        "outcomes a million times larger late": (x, np.where(stage < LATE, xi, 1e6 * xi)),
        "negative outcomes": (x, -xi),
        "integers and many zeros": (np.round(x), rng.poisson(0.2, xi.shape).astype(float)),
        "all sizes": (x * [1e6, 1e-6, 1.0], xi * [1e6, 1e-6]),
    }


STREAMS = _streams()


class Played(NamedTuple):
    """What happened, stage by stage (n) and stream by stream (S)."""

    z: Array  # (n, S, d)
    scenarios: Array  # (n, S, s, m) after the outcome
    weights: Array  # (n, S, M) of members
    failed: Array  # (n, S, M)
    arm_weights: Array  # (n, S, A)


def _played(learner: Ensemble, x: Array, xi: Array) -> Played:
    """(n, S, k), (n, S, m)."""
    state, rows = learner.init(np.arange(x.shape[1])), []
    model: Any = learner.model
    for t in range(len(x)):
        decision = learner.decide(state, t, x[t])
        state = learner.learn(state, t, x[t], decision, xi[t])
        scenarios, _ = model.sample(state.arms[0].model, x[t])
        info = state.info.of_arms[0]
        rows.append(
            (decision.solution.z, scenarios, info.weights, info.failed, state.info.arm_weights)
        )
    return Played(*(np.stack(part) for part in zip(*rows, strict=True)))


@cache
def _side_by_side(learner: str) -> Played:
    x, xi = (np.stack(part, axis=1) for part in zip(*STREAMS.values(), strict=True))
    return _played(LEARNERS[learner], x, xi)


def _alone(learner: str, x: Array, xi: Array) -> Played:
    return _played(LEARNERS[learner], x[:, None], xi[:, None])


def _assert_sound(played: Played, xi: Array) -> None:
    """Of one stream: (n, ...)."""
    x = np.zeros((len(xi), 0))
    assert (PROBLEM.violation(x, played.z, xi) <= 0).all()
    assert np.isfinite(played.scenarios).all()
    for weights in (played.weights, played.arm_weights):
        assert weights.sum(axis=-1) == pytest.approx(1.0)
        assert (weights >= 0).all()
    low, high = np.minimum.accumulate(xi), np.maximum.accumulate(xi)
    size = np.maximum(np.abs(low), np.abs(high))
    reach = 1e-9 + np.where(size > 0, size, size.max(axis=-1, keepdims=True))
    if (xi == np.rint(xi)).all():
        reach = np.maximum(reach, 1.0)  # a count may be one more
    quarter, three = np.quantile(played.scenarios, [0.25, 0.75], axis=-2)
    assert (quarter >= low - reach)[KNOWN:].all()
    assert (three <= high + reach)[KNOWN:].all()


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_decisions_are_feasible_and_scenarios_where_outcomes_were(learner: str, name: str) -> None:
    s, (_, xi) = list(STREAMS).index(name), STREAMS[name]
    _assert_sound(Played(*(part[:, s] for part in _side_by_side(learner))), xi)


@pytest.mark.parametrize("learner", LEARNERS)
def test_only_a_scale_that_does_not_suit_is_left_out(learner: str) -> None:
    logarithmic = np.array(["logarithmic" in name for name in MODELS[learner].law_names])
    failed = _side_by_side(learner).failed[1:].astype(bool)
    for s, (_, xi) in enumerate(STREAMS.values()):
        assert (failed[:, s] == (logarithmic & (xi.min() < 0))).all()


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_hostile_stream_does_not_touch_the_one_beside_it(learner: str) -> None:
    x, xi = (part[:20] for part in STREAMS["usual"])
    alone, beside = _alone(learner, x, xi), _side_by_side(learner)
    for one, many in zip(alone, beside, strict=True):
        assert (one[:, 0] == many[:20, 0]).all()


@pytest.mark.parametrize("learner", LEARNERS)
def test_units_do_not_matter(learner: str) -> None:
    x, xi = (part[:15, None] for part in STREAMS["usual"])
    of_x, of_xi = (np.array(units)[:, None] for units in (UNITS[::-1], UNITS))
    found = _played(LEARNERS[learner], of_x * x, of_xi * xi).scenarios / of_xi[..., None]
    usual = np.broadcast_to(_side_by_side(learner).scenarios[:15, :1], found.shape)
    assert found == pytest.approx(usual, rel=1e-6)


def test_one_wild_outcome_is_not_what_is_expected_later() -> None:
    """The middle scenario is where it would be without, up to half a sd of the noise."""
    late = np.median(_side_by_side("default").scenarios[-10:], axis=-2)
    wild, usual = (late[:, list(STREAMS).index(name)] for name in ("one outcome of 1e6", "usual"))
    assert np.abs(wild - usual).mean() < 0.5


@pytest.mark.parametrize("dim_x", [0, 60])
@pytest.mark.parametrize("learner", LEARNERS)
def test_no_contexts_or_more_than_outcomes(learner: str, dim_x: int) -> None:
    x, xi = _usual(max(dim_x, 1), stages=25)
    played = _alone(learner, x[:, :dim_x], xi)
    _assert_sound(Played(*(part[:, 0] for part in played)), xi)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_single_stage(learner: str) -> None:
    x, xi = _usual(stages=1)
    _assert_sound(Played(*(part[:, 0] for part in _alone(learner, x, xi))), xi)


@pytest.mark.parametrize("constant", [0.1, 1 / 3, 493502.75])
def test_a_constant_whose_mean_is_rounded_fails_nobody(constant: float) -> None:
    """Warnings are errors: rounding was taken for a spread, which RandomCoefficients blew up."""
    played = _alone("plain", np.zeros((8, 2)), np.full((8, 2), constant))
    assert not played.failed.any()
    assert played.scenarios[-1] == pytest.approx(constant)


Spoil = Callable[[Any], Any]


class Bad(ConstantVariance):
    """Spoils what one of its functions returns."""

    def __init__(self, where: str, spoil: Spoil) -> None:
        object.__setattr__(self, "spoils", {where: spoil})

    def _spoilt(self, where: str, answer: Any) -> Any:
        spoil: Spoil | None = vars(self)["spoils"].get(where)
        return spoil(answer) if spoil else answer

    def init(self, lead: tuple[int, ...], dim_x: int, dim_xi: int) -> Fit:
        found: Fit = self._spoilt("init", super().init(lead, dim_x, dim_xi))
        return found

    def refit(self, fit: Fit, past: Design) -> Fit:
        found: Fit = self._spoilt("refit", super().refit(fit, past))
        return found

    def predict(self, fit: Fit, regression: RidgeFit, x: Array) -> Moments:
        found: Moments = self._spoilt("predict", super().predict(fit, regression, x))
        return found


def _raise(answer: Any) -> Any:
    raise RuntimeError("it broke")


BAD: dict[str, tuple[str, Spoil]] = {
    "an init that raises": ("init", _raise),
    "a fit that raises": ("refit", _raise),
    "a fit of NaN": ("refit", lambda fit: (fit[0] * np.nan,)),
    "a fit of None": ("refit", lambda fit: None),
    "a fit of plain numbers": ("refit", lambda fit: (1.0,)),
    "a fit of text": ("refit", lambda fit: (np.array(["a", "b"]),)),
    "a fit without parts": ("refit", lambda fit: ()),
    "a fit of too many NaN": ("refit", lambda fit: (fit[0] * np.nan, fit[0])),
    "a fit of another shape": ("refit", lambda fit: (np.ones(3),)),
    "a law that raises": ("predict", _raise),
    "a law of None": ("predict", lambda law: None),
    "a location of NaN": ("predict", lambda law: law._replace(location=law.location * np.nan)),
    "a location of another shape": ("predict", lambda law: law._replace(location=np.ones(3))),
    "a negative scale": ("predict", lambda law: law._replace(scale=-law.scale)),
    "a scale of 0": ("predict", lambda law: law._replace(scale=0 * law.scale)),
    "an infinite scale": ("predict", lambda law: law._replace(scale=law.scale + np.inf)),
    "a scale of another shape": ("predict", lambda law: law._replace(scale=np.ones((2, 3)))),
    "a text as degrees of freedom": ("predict", lambda law: law._replace(df="9")),
}


def _with(*members: Member) -> Ensemble:
    return Ensemble(PROBLEM, plain(dim_xi=2, members=members, discounts=[1.0], scenarios=32))


@pytest.mark.parametrize("name", BAD)
def test_a_bad_member_is_named_and_as_good_as_not_there(name: str) -> None:
    x, xi = (part[:12, None] for part in STREAMS["usual"])
    with pytest.warns(UserWarning, match="Bad is left out"):
        played = _played(_with(Bad(*BAD[name]), ConstantVariance()), x, xi)
    assert (played.failed[1:] == [1.0, 0.0]).all()
    assert played.weights[-1] == pytest.approx(np.array([[0.005, 0.995]]))  # what is shared out
    without = _played(_with(ConstantVariance()), x, xi)
    assert (played.scenarios == without.scenarios).all()
    assert (played.z == without.z).all()


@pytest.mark.parametrize("name", ["a fit that raises", "a law of None", "a location of NaN"])
@pytest.mark.filterwarnings("ignore:Bad is left out")
def test_without_any_member_the_running_average_decides(name: str) -> None:
    x, xi = (part[:12] for part in STREAMS["usual"])
    learner, average = _with(Bad(*BAD[name])), SampleAverage(PROBLEM)
    stages = Replay(x, xi)
    with pytest.warns(UserWarning, match="The arm Predictive failed"):
        found = list(run(learner, stages, problem=PROBLEM))
    expected = list(run(average, stages, problem=PROBLEM))
    for stage, other in zip(found, expected, strict=True):
        assert (stage.decision.solution.z == other.decision.solution.z).all()
    assert (found[-1].info["arm_failed"] == [1.0, 0.0]).all()
