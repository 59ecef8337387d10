"""The mixture: weights by what members foresaw, shares, failures, bounded memory."""

import warnings
from collections.abc import Iterable
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import pytest
from mixtures import plain
from scipy.stats import kstest

from bocopt import Mixture
from bocopt.core import Array
from bocopt.models import (
    ConstantVariance,
    Forest,
    LogVariance,
    Member,
    RandomCoefficients,
    default_members,
    guard,
)
from bocopt.models import mixture as mixture_module
from bocopt.models.design import Design, RidgeFit
from bocopt.models.member import Fit, Moments
from bocopt.models.mixture_state import MixtureState
from bocopt.paper import PaperStream

SEEDS = np.arange(4)
LINEAR = (RandomCoefficients(), LogVariance(), ConstantVariance())


def _drawn(mixture: Mixture, state: MixtureState, x: Array) -> Array:
    scenarios, w = mixture.sample(state, x)
    assert (w == 1 / mixture.scenarios).all()
    return scenarios


def learned(
    mixture: Mixture, stages: int, pairs: Iterable[tuple[Array, Array]] | None = None
) -> list[MixtureState]:
    state, states = mixture.init(SEEDS), []
    for t, (x, xi) in enumerate(islice(pairs or PaperStream().stages(SEEDS), stages)):
        state = mixture.step(state, t, x, xi)
        states.append(state)
    return states


def test_weights_are_what_the_members_gave_the_outcomes() -> None:
    states = learned(Mixture(dim_xi=12, switch_rate=0.0), 30)
    scores = np.stack([s.info.log_score for s in states[1:]])
    total = scores.sum(axis=0)
    expected = np.exp(total - total.max(axis=-1, keepdims=True))
    expected /= expected.sum(axis=-1, keepdims=True)
    assert states[-1].info.weights == pytest.approx(expected, abs=1e-12)
    before = np.exp(states[-2].log_w)
    mixture_score = np.log((before * np.exp(scores[-1])).sum(axis=-1))
    assert states[-1].info.mixture_score == pytest.approx(mixture_score)


def test_a_share_keeps_every_member_alive() -> None:
    state = learned(plain(dim_xi=12, members=LINEAR, switch_rate=0.05), 60)[-1]
    assert state.info.weights.min() >= 0.05 / 6 - 1e-12
    assert state.info.weights.sum(axis=-1) == pytest.approx(1.0)


def test_predictions_are_made_before_the_outcome_is_seen() -> None:
    """Another last outcome changes its score, but not what was predicted for it."""
    mixture, pairs = Mixture(dim_xi=12), list(islice(PaperStream().stages(SEEDS), 20))
    state = learned(mixture, 19, pairs)[-1]
    x = pairs[19][0]
    scenarios = _drawn(mixture, state, x)
    mixture.step(state, 19, x, pairs[19][1] + 5.0)
    assert (_drawn(mixture, state, x) == scenarios).all()


def test_the_predictive_is_calibrated_on_its_own_ground() -> None:
    """Where a member's model is true, outcomes are uniform under the predictions."""
    rng = np.random.default_rng(0)
    pairs = []
    for _ in range(400):
        x = rng.normal(size=(4, 2))
        noise = rng.normal(size=(4, 3)) * (0.2 + np.abs(x[:, :1]))
        pairs.append((x, 5.0 + x @ np.array([[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]]) + noise))
    mixture = Mixture(dim_xi=3, members=LINEAR, discounts=[1.0])
    found = np.stack([s.info.probability for s in learned(mixture, 400, pairs)[100:]])
    assert kstest(found.ravel(), "uniform").statistic < 0.05


def test_early_intervals_are_not_too_narrow() -> None:
    states = learned(Mixture(dim_xi=12), 10)
    found = np.stack([s.info.probability for s in states[1:]])
    assert ((found > 0.05) & (found < 0.95)).mean() > 0.85


def test_scenarios_keep_the_sign_that_outcomes_had() -> None:
    mixture = Mixture(dim_xi=12, members=LINEAR)
    pairs = [(x, xi - 0.9) for x, xi in islice(PaperStream().stages(SEEDS), 40)]
    x = pairs[0][0]
    assert _drawn(mixture, learned(mixture, 40)[-1], x).min() == 0.0
    assert _drawn(mixture, learned(mixture, 40, pairs)[-1], x).min() < 0.0
    negative = [(x, -xi) for x, xi in islice(PaperStream().stages(SEEDS), 40)]
    assert _drawn(mixture, learned(mixture, 40, negative)[-1], x).max() == 0.0


def test_a_discounted_member_is_believed_after_a_change() -> None:
    rng = np.random.default_rng(1)
    pairs = [
        (rng.normal(size=(4, 1)), (0.0 if t < 150 else 5.0) + rng.normal(size=(4, 2)))
        for t in range(190)
    ]
    mixture = plain(dim_xi=2, members=[ConstantVariance()], discounts=[1.0, 0.9])
    states = learned(mixture, 190, pairs)
    assert (states[148].info.weights[:, 0] > 0.5).all()
    assert (states[-1].info.weights[:, 1] > 0.9).all()


def test_memory_is_bounded() -> None:
    mixture = plain(dim_xi=12, memory=20, members=[RandomCoefficients()], discounts=[1.0])
    state = learned(mixture, 120)[-1]
    assert state.xi.size == 20
    assert (mixture.seen(state) == 120).all()
    assert state.xi.buffer.shape[-2] <= 64
    assert (state.fits.fitted == 120).all()  # a fiftieth of twenty outcomes is less than one


def test_later_fits_are_renewed_when_two_per_cent_are_new() -> None:
    mixture = plain(dim_xi=12, members=[ConstantVariance()], discounts=[1.0])
    fits = sorted({int(s.fits.fitted.max()) for s in learned(mixture, 210)})
    assert fits[:50] == list(range(1, 51))
    gaps = np.diff(fits[60:])
    assert gaps.max() <= 5
    assert gaps.min() >= 2


class Broken(ConstantVariance):
    """Fails from the twentieth outcome on: cannot be fitted, or predicts nonsense."""

    def __init__(self, how: str) -> None:
        object.__setattr__(self, "how", how)

    def refit(self, fit: Fit, past: Design) -> Fit:
        if getattr(self, "how", "") == "refit" and past.regression.size >= 20:
            raise RuntimeError("it broke")
        return super().refit(fit, past)

    def predict(self, fit: Fit, regression: RidgeFit, x: Array) -> Moments:
        how, found = getattr(self, "how", ""), super().predict(fit, regression, x)
        if regression.size < 20 or how == "refit":
            return found
        if how == "raise":
            raise RuntimeError("it broke")
        return found._replace(scale=found.scale * (np.nan if how == "nan" else -1.0))


@pytest.mark.parametrize("how", ["raise", "nan", "negative"])
@pytest.mark.filterwarnings("ignore:Broken is left out")
def test_a_member_that_fails_is_left_out(how: str) -> None:
    members: tuple[Member, ...] = (Broken(how), RandomCoefficients())
    mixture = plain(dim_xi=12, members=members, discounts=[1.0], switch_rate=0.02)
    states = learned(mixture, 40)
    assert (states[15].info.failed == 0).all()
    assert (states[-1].info.failed == [1, 0]).all()
    assert (states[-1].info.weights[:, 0] < 0.02).all()
    alone = plain(dim_xi=12, members=members[1:], discounts=[1.0], switch_rate=0.02)
    x = np.ones((4, 3))
    assert (_drawn(mixture, states[-1], x) == _drawn(alone, learned(alone, 40)[-1], x)).all()


def test_a_failure_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_warned", set())
    members: tuple[Member, ...] = (Broken("refit"), ConstantVariance())
    mixture = plain(dim_xi=12, members=members, discounts=[1.0])
    with pytest.warns(UserWarning, match="Broken is left out") as told:
        states = learned(mixture, 25)
    assert "it broke" in str(told[0].message)
    assert "The others carry on" in str(told[0].message)
    assert (states[10].info.failed == 0).all()
    assert (states[-1].info.failed == [1, 0]).all()  # not predicted with a fit to another past


@pytest.mark.filterwarnings("ignore:Broken is left out")
def test_nobody_left_is_an_error() -> None:
    mixture = plain(dim_xi=12, members=[Broken("nan")], discounts=[1.0])
    with pytest.raises(RuntimeError, match="No member of the mixture can predict"):
        learned(mixture, 25)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim_xi": 0}, "'dim_xi'"),
        ({"members": []}, "'members'"),
        ({"discounts": [1.1]}, "'discounts'"),
        ({"discounts": []}, "'discounts'"),
        ({"switch_rate": 1.0}, "'switch_rate'"),
        ({"scenarios": 1000}, "a power of two"),
        ({"memory": 1}, "'memory'"),
    ],
    ids=str,
)
def test_bad_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Mixture(**{"dim_xi": 12, **options})


def test_bad_outcomes_are_named() -> None:
    mixture = Mixture(dim_xi=12)
    state = learned(mixture, 3)[-1]
    with pytest.raises(ValueError, match=r"'xi' parameter of Mixture\.step must be finite"):
        mixture.step(state, 3, np.zeros(3), np.full(12, np.nan))
    with pytest.raises(ValueError, match=r"shape \(\.\.\., 3\)"):
        mixture.step(state, 3, np.zeros(2), np.ones(12))
    assert len(default_members()) == 5


def test_scores_are_those_of_the_laws_before_the_outcome() -> None:
    mixture, pairs = plain(dim_xi=12), list(islice(PaperStream().stages(SEEDS), 30))
    before, after = learned(mixture, 30, pairs)[-2:]
    x, xi = pairs[-1]
    laws, failed = mixture._laws(before, x)
    score, below = laws.log_density(xi[:, None]), laws.probability(xi[:, None])
    w = np.exp(before.log_w)[..., None]
    assert not failed.any()
    assert (after.info.log_score == score).all()
    assert after.info.probability == pytest.approx((w * below).sum(axis=-2))


def test_tails_become_lighter_as_outcomes_come_in() -> None:
    members = [ConstantVariance(), RandomCoefficients(df=6.0)]
    mixture = plain(dim_xi=12, members=members, discounts=[1.0], tails=[60.0, 4.0])
    x = np.ones((4, 3))
    states = learned(mixture, 50)
    few, many = (mixture._laws(states[i], x)[0].df[0].tolist() for i in (4, 49))
    assert few == [4.0] * 4
    assert many == [13.0, 4.0, 6.0, 4.0]


class Fixed(ConstantVariance):
    """Always the same prediction."""

    def __init__(self, at: float) -> None:
        object.__setattr__(self, "at", at)

    def predict(self, fit: Fit, regression: RidgeFit, x: Array) -> Moments:
        found = super().predict(fit, regression, x)
        location = np.full(found.location.shape, float(getattr(self, "at", 0.0)))
        return Moments(location, np.full(found.scale.shape, 0.01))


def test_scenarios_are_shared_out_by_weight() -> None:
    mixture = plain(dim_xi=12, members=[Fixed(0.9), Fixed(1.1)], discounts=[1.0])
    state = learned(mixture, 30)[-1]
    for share in (0.1, 0.37, 0.9):
        weighted = state._replace(log_w=np.broadcast_to(np.log([share, 1 - share]), (4, 2)))
        scenarios = _drawn(mixture, weighted, np.ones((4, 3)))
        counts = (scenarios[..., 0] < 1.0).sum(axis=-1)
        assert (np.abs(counts - 1024 * share) <= 1).all()


def test_errors_that_come_together_are_predicted_together() -> None:
    rng = np.random.default_rng(0)
    pairs = []
    for _ in range(150):
        common = rng.normal(size=(4, 1))
        noise = np.concatenate([common, 0.9 * common, -common], axis=1)
        noise = noise + 0.3 * rng.normal(size=(4, 3))
        pairs.append((rng.normal(size=(4, 2)), 10 + noise))
    mixture = Mixture(dim_xi=3, members=LINEAR)
    scenarios = _drawn(mixture, learned(mixture, 150, pairs)[-1], np.zeros((4, 2)))
    for trial in scenarios:
        correlation = np.corrcoef(trial.T)
        assert correlation[0, 1] > 0.7
        assert correlation[0, 2] < -0.7


UNITS = {
    "around zero": (0.0, 1.0),
    "far from zero": (1e6, 1.0),
    "small units": (1e-6, 3e-7),
    "large units": (1e8, 3e7),
}


@pytest.mark.parametrize("unit", UNITS)
def test_intervals_are_honest_in_any_units(unit: str) -> None:
    """From the fourth outcome on, and not far too wide either."""
    level, sd = UNITS[unit]
    rng = np.random.default_rng(2)
    pairs = [(rng.normal(size=(4, 1)), level + sd * rng.normal(size=(4, 6))) for _ in range(60)]
    mixture = Mixture(dim_xi=6)
    states = learned(mixture, 60, pairs)
    early = np.stack([s.info.probability for s in states[4:12]])
    assert ((early > 0.05) & (early < 0.95)).mean() > 0.85
    scenarios = _drawn(mixture, states[-1], np.zeros((4, 1)))
    width = np.quantile(scenarios, 0.95, axis=-2) - np.quantile(scenarios, 0.05, axis=-2)
    assert width.mean() == pytest.approx(3.29 * sd, rel=0.35)


def test_a_component_that_was_always_zero_is_not_sure_to_stay_so() -> None:
    pairs = [(np.ones((4, 1)), np.tile([0.0, 1.0], (4, 1)))] * 5
    mixture = Mixture(dim_xi=2)
    scenarios = _drawn(mixture, learned(mixture, 5, pairs)[-1], np.ones((4, 1)))
    assert (np.quantile(scenarios[..., 0], 0.99, axis=-1) >= 1.0).all()
    assert scenarios.min() == 0.0


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_the_unit_of_a_context_does_not_matter(unit: float) -> None:
    """Where trees cut is left to rounding."""
    mixture = Mixture(dim_xi=12, members=LINEAR)
    pairs = list(islice(PaperStream().stages(SEEDS), 12))
    scaled = [(unit * x, xi) for x, xi in pairs]
    usual, other_unit = (learned(mixture, 11, given) for given in (pairs, scaled))
    for t in (0, 1, 10):
        one = _drawn(mixture, usual[t], pairs[11][0])
        other = _drawn(mixture, other_unit[t], scaled[11][0])
        assert other == pytest.approx(one, rel=1e-6, abs=1e-9)


def test_one_wild_outcome_says_little_about_correlation() -> None:
    """Errors count up to four times their scale."""
    mixture = plain(dim_xi=12, members=[ConstantVariance()], discounts=[0.9])
    before = learned(mixture, 10)[-1]
    wild = np.full((4, 12), 1e3)
    wild[:, 0] = -1e3
    added = mixture.step(before, 10, np.ones((4, 3)), wild).scatter - 0.9 * before.scatter
    assert added[..., 1, 2] == pytest.approx(16.0)
    assert added[..., 0, 1] == pytest.approx(-16.0)


def test_fits_look_back_as_far_as_an_outcome_counts_a_thousandth() -> None:
    mixture = plain(dim_xi=12, members=[ConstantVariance()], discounts=[0.9])
    kept = np.ceil(np.log(1e-3) / np.log(0.9))
    state = learned(mixture, 90)[-1]
    assert state.fits.regressions[0].size == pytest.approx((1 - 0.9**kept) / (1 - 0.9), rel=1e-12)


class Counting(ConstantVariance):
    """Fails with other words each time."""

    failures: ClassVar[list[int]] = []

    def predict(self, fit: Fit, regression: RidgeFit, x: Array) -> Moments:
        self.failures.append(len(self.failures))
        raise RuntimeError(f"it broke, {self.failures[-1]}")


def test_failures_with_ever_new_words_leave_few_warnings_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guard, "_warned", set())
    registry: dict[Any, Any] = {}
    monkeypatch.setattr(mixture_module, "__warningregistry__", registry, raising=False)
    members: tuple[Member, ...] = (Counting(), ConstantVariance())
    mixture = plain(dim_xi=1, members=members, discounts=[1.0], scenarios=2)
    state = mixture.step(mixture.init(np.array(0)), 0, np.zeros(1), np.ones(1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for number in range(1000):
            _drawn(mixture, state, np.array([float(number)]))
    words = [str(warning.message) for warning in caught]
    assert len(words) == 2
    assert "Counting is left out: RuntimeError('it broke, 0')" in words[0]
    assert "Counting is left out: RuntimeError. The others carry on." in words[1]
    assert len(registry) <= 3  # both, and the version of the filters


def test_members_that_need_many_outcomes_come_with_weak_discounts_alone() -> None:
    members: list[Member] = [ConstantVariance(), Forest(trees=1)]
    mixture = plain(dim_xi=1, members=members, discounts=[1.0, 0.99, 0.9])
    assert [name.startswith("Forest") for name in mixture.law_names] == [False, True] * 2 + [False]
    with pytest.raises(ValueError, match=r"'discounts' parameter of Mixture .* least_discount"):
        plain(dim_xi=1, members=members[1:], discounts=[0.9])
    with pytest.raises(ValueError, match="'least_discount' parameter of Forest"):
        Forest(least_discount=2.0)
