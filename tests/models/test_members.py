"""Members find the law that they are made for, and survive data that tell nothing."""

import numpy as np
import pytest
from laws import (
    ALL,
    Fold,
    Trial,
    assert_goes_on_from_its_arrays,
    assert_steps_are_pure,
    assert_trials_are_apart,
)
from registry import of_kind

from bocopt.core import Array
from bocopt.models import (
    ConstantVariance,
    KernelVariance,
    LogVariance,
    Member,
    RandomCoefficients,
)
from bocopt.models.design import Design, design
from bocopt.models.member import Fit, Moments

MEMBERS = of_kind("member")
_RNG = np.random.default_rng(0)
_X = _RNG.normal(size=(4000, 2))
_MEAN = 3.0 + _X @ np.array([[0.5, 0.0], [0.0, -1.0]])


def fitted(member: Member, x: Array, xi: Array, at: Array, rounds: int = 40) -> Moments:
    past = design(x, xi, 1.0)
    fit = member.init((), x.shape[-1], xi.shape[-1])
    for _ in range(rounds):
        fit = member.refit(fit, past)
    return member.predict(fit, past.regression, past.regression.standard(at))


def _refitting(member: Member) -> Fold:
    """Three trials of a growing past."""
    x, xi = _X[:30].reshape(3, 10, 2), _MEAN[:30].reshape(3, 10, 2) ** 2

    def past(t: int, trial: Trial) -> Design:
        return design(x[trial, : t + 2], xi[trial, : t + 2], 0.98)

    def show(fit: Fit, t: int, trial: Trial) -> tuple[Array, Array]:
        regression = past(t, trial).regression
        found = member.predict(fit, regression, regression.standard(x[trial, t]))
        return found.location, found.scale

    return Fold(
        begin=lambda trial: member.init((3,) if trial == ALL else (), 2, 2),
        step=lambda fit, t, trial: member.refit(fit, past(t, trial)),
        show=show,
        trials=3,
        stages=8,
    )


@pytest.mark.parametrize("name", MEMBERS)
def test_every_member_keeps_the_laws(name: str) -> None:
    fold = _refitting(MEMBERS[name])
    assert_trials_are_apart(fold)
    assert_steps_are_pure(fold)
    assert_goes_on_from_its_arrays(fold)


def test_the_same_spread_everywhere() -> None:
    xi = _MEAN + np.array([0.3, 2.0]) * _RNG.normal(size=(4000, 2))
    found = fitted(ConstantVariance(), _X, xi, np.array([1.0, 1.0]))
    assert found.location == pytest.approx([3.5, 2.0], abs=0.1)
    assert found.scale == pytest.approx([0.3, 2.0], rel=0.05)


@pytest.mark.parametrize("at", [[0.0, 0.0], [2.0, 0.0], [1.0, -1.5]])
def test_random_coefficients_find_a_quadratic_variance(at: list[float]) -> None:
    spread = np.sqrt(0.1**2 + (_X @ np.array([0.8, 0.3])) ** 2)
    xi = _MEAN + spread[:, None] * _RNG.normal(size=(4000, 2))
    found = fitted(RandomCoefficients(), _X, xi, np.array(at), rounds=100)
    exact = np.sqrt(0.1**2 + (np.array(at) @ np.array([0.8, 0.3])) ** 2)
    assert found.scale == pytest.approx([exact, exact], rel=0.15)
    assert found.location == pytest.approx([3 + 0.5 * at[0], 3 - at[1]], abs=0.12)


def test_heavy_tails_need_few_degrees_of_freedom() -> None:
    xi = _MEAN + 0.5 * _RNG.standard_t(3.0, size=(4000, 2))
    robust = fitted(RandomCoefficients(df=3.0), _X, xi, np.zeros(2))
    light = fitted(RandomCoefficients(), _X, xi, np.zeros(2))
    assert robust.scale == pytest.approx([0.5, 0.5], rel=0.1)
    assert (light.scale > robust.scale).all()
    assert robust.df == 3.0


def test_log_variance_finds_an_exponential_one() -> None:
    spread = np.exp(-1.0 + 0.5 * _X[:, :1] + 0.2 * _X[:, 1:] ** 2)
    xi = _MEAN + spread * _RNG.normal(size=(4000, 2))
    found = fitted(LogVariance(ridge=1.0), _X, xi, np.array([1.0, 1.0]))
    assert found.scale == pytest.approx([np.exp(-0.3)] * 2, rel=0.1)


def test_kernel_variance_finds_what_is_near() -> None:
    xi = _MEAN + np.where(_X[:, :1] > 0, 2.0, 0.2) * _RNG.normal(size=(4000, 2))
    left, right = (fitted(KernelVariance(), _X, xi, np.array([s * 1.5, 0.0])) for s in (-1, 1))
    assert (left.scale < 0.7).all()
    assert (right.scale > 1.5).all()


def test_older_outcomes_count_less() -> None:
    x, xi = np.zeros((200, 1)), np.where(np.arange(200) < 150, 0.0, 10.0)[:, None]
    past = design(x, xi, 0.9)
    assert past.regression.mean == pytest.approx(10.0, abs=0.1)
    assert past.regression.size == pytest.approx(10.0, abs=0.1)


HOPELESS = {
    "one outcome": (np.ones((1, 2)), np.ones((1, 3))),
    "constant x": (np.ones((30, 2)), _RNG.normal(size=(30, 3))),
    "constant xi": (_RNG.normal(size=(30, 2)), np.full((30, 3), 2.0)),
    "xi zero": (_RNG.normal(size=(30, 2)), np.zeros((30, 3))),
    "collinear": (np.repeat(_RNG.normal(size=(30, 1)), 2, axis=1), _RNG.normal(size=(30, 3))),
    "enormous x": (1e140 * _RNG.normal(size=(30, 2)), _RNG.normal(size=(30, 3))),
    "tiny x": (1e-140 * _RNG.normal(size=(30, 2)), _RNG.normal(size=(30, 3))),
    "enormous xi": (_RNG.normal(size=(30, 2)), 1e60 * _RNG.normal(size=(30, 3))),
    "no x": (np.zeros((30, 0)), _RNG.normal(size=(30, 3))),
}


@pytest.mark.parametrize("member", MEMBERS.values(), ids=MEMBERS)
@pytest.mark.parametrize("data", HOPELESS)
def test_data_that_tell_little_give_a_law_all_the_same(member: Member, data: str) -> None:
    x, xi = HOPELESS[data]
    found = fitted(member, x, xi, x[0], rounds=5)
    assert np.isfinite(found.location).all()
    assert np.isfinite(found.scale).all()
    assert (found.scale > 0).all()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: RandomCoefficients(sweeps=0), "'sweeps'"),
        (lambda: RandomCoefficients(prior=0.0), "'prior'"),
        (lambda: RandomCoefficients(df=0.5), "'df'"),
        (lambda: LogVariance(steps=0), "'steps'"),
        (lambda: KernelVariance(rows=0), "'rows'"),
    ],
)
def test_bad_settings_are_named(build: object, message: str) -> None:
    assert callable(build)
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize("member", MEMBERS.values(), ids=MEMBERS)
def test_discounted_outcomes_do_not_set_the_scale(member: Member) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 2))
    noise = np.where(np.arange(300) < 200, 5.0, 0.5)[:, None] * rng.normal(size=(300, 2))
    past = design(x, 3.0 + noise, 0.9)
    fit = member.init((), 2, 2)
    for _ in range(60):
        fit = member.refit(fit, past)
    scale = member.predict(fit, past.regression, np.zeros(2)).scale
    assert (scale < 1.0).all()


@pytest.mark.parametrize("member", MEMBERS.values(), ids=MEMBERS)
def test_predictions_far_from_what_was_seen_are_less_sure(member: Member) -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(12, 2))
    xi = 3.0 + rng.normal(size=(12, 2))
    near, far = (fitted(member, x, xi, at) for at in (x.mean(axis=0), np.array([0.0, 9.0])))
    assert (far.scale > 1.05 * near.scale).all()


def test_far_outcomes_bend_a_robust_regression_less() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, 1))
    xi = 2.0 * x + 0.1 * rng.normal(size=(200, 1))
    xi[x[:, 0] > 1.5] -= 20.0
    at = np.array([1.0])
    robust = fitted(RandomCoefficients(df=1.0, slope=1e-6, ridge=0.1), x, xi, at)
    plain = fitted(RandomCoefficients(df=1e6, slope=1e-6, ridge=0.1), x, xi, at)
    assert abs(robust.location[0] - 2.0) < 0.5 * abs(plain.location[0] - 2.0)


def test_many_contexts_cost_no_products() -> None:
    x, xi = _RNG.normal(size=(40, 30)), _RNG.normal(size=(40, 2))
    assert LogVariance().init((), 30, 2)[0].shape == (61, 2)
    assert np.isfinite(fitted(LogVariance(), x, xi, x[0], rounds=2).scale).all()


def _past_of(dim_x: int) -> Design:
    rng = np.random.default_rng(6)
    return design(rng.normal(size=(50, dim_x)), 3.0 + rng.normal(size=(50, 2)), 1.0)


@pytest.mark.parametrize(("slope", "beside"), [(-1e3, -8.0), (-1.0, -1.0), (1.0, 1.0), (1e3, 5.0)])
def test_a_log_variance_stays_near_the_pooled_one(slope: float, beside: float) -> None:
    member, past = LogVariance(), _past_of(2)
    coefficients, _, sure = member.init((), 2, 2)
    coefficients[0] = slope
    pooled = np.array([0.0, 2.0])
    flat, bent = (
        member.predict((part, pooled, sure), past.regression, np.zeros(2)).scale
        for part in (np.zeros_like(coefficients), coefficients)
    )
    assert 2 * np.log(bent / flat) == pytest.approx([beside, beside])


def test_a_log_variance_goes_no_further_than_four_sd() -> None:
    """Beside a constant variance, which has the same leverage far out."""
    bent, flat, past = LogVariance(), ConstantVariance(), _past_of(2)
    coefficients, level, sure = bent.init((), 2, 2)
    coefficients[1] = 0.3
    coefficients[3] = 0.1  # of the square

    def log_ratio(at: float) -> float:
        x = np.array([at, 0.0])
        wide = bent.predict((coefficients, level, sure), past.regression, x).scale[0]
        return float(2 * np.log(wide / flat.predict((np.ones(2),), past.regression, x).scale[0]))

    for at in (-3.9, 0.5, 3.9):
        assert log_ratio(at) == pytest.approx(0.3 * at + 0.1 * at**2)
    for side in (-4.0, 4.0):
        assert log_ratio(2 * side) == pytest.approx(log_ratio(side))


@pytest.mark.parametrize(("size", "counts"), [(30.0, 20.0), (1e3, 20.0), (0.5, None)])
def test_an_outcome_counts_as_at_most_twenty_variances(size: float, counts: float | None) -> None:
    """One residual among 99 that are zero; without contexts, one step is an equation by hand."""
    past = design(np.zeros((100, 0)), np.ones((100, 1)), 1.0)
    residual = np.zeros((100, 1))
    residual[7] = size
    odd = past._replace(
        residual=residual, regression=past.regression._replace(variance=np.array([1.0]))
    )
    pooled = (size**2 + 2) / 102
    ratio = size**2 / pooled if counts is None else counts
    member = LogVariance(steps=1)
    coefficients, level, _ = member.refit(member.init((), 0, 1), odd)
    assert np.exp(level) == pytest.approx([pooled])
    assert coefficients == pytest.approx(np.array([[(ratio - 100) / 2 / (100 / 2 + 0.5)]]))


@pytest.mark.parametrize(
    ("outcomes", "variance"),
    [
        ([10.0], 9.0),  # the guess alone: (0.3 * 10)^2
        ([9.0, 11.0], (2 * 9.0 + 2.0) / 3),  # the guess counts as two, and so many are there
        ([10.0, 10.0], 6.0),  # two alike do not tell that all are
        ([10.0, 10.0, 10.0], 0.0),  # three do
        ([9.0, 10.0, 11.0], (2 * 4 * 1.0 + 2.0) / 4),  # no more than four times what they show
    ],
)
def test_a_variance_is_guessed_where_outcomes_are_few(
    outcomes: list[float], variance: float
) -> None:
    xi = np.array(outcomes)[:, None]
    found = design(np.zeros((len(xi), 1)), xi, 1.0).regression.variance
    assert found == pytest.approx([variance], abs=1e-12)


def test_contexts_beyond_ten_sd_tell_no_more() -> None:
    regression = design(
        np.array([[1.0], [3.0]]), np.ones((2, 1)), 1.0
    ).regression  # 2, give or take 1
    for x, standard in ((1.5, -0.5), (11.0, 9.0), (12.5, 10.0), (-1e9, -10.0)):
        assert regression.standard(np.array([x])) == pytest.approx([standard])


@pytest.mark.parametrize(("outcomes", "dim_x", "spent"), [(10, 0, 0.5), (10, 3, 2.0), (2, 3, 1.0)])
def test_a_regression_spends_half_an_outcome_for_each_coefficient(
    outcomes: int, dim_x: int, spent: float
) -> None:
    """Residuals of 1 and a guess of 1 that is worth two of them."""
    past = design(np.zeros((outcomes, dim_x)), np.ones((outcomes, 1)), 1.0)
    regression = past.regression._replace(variance=np.ones(1))
    past = past._replace(residual=np.ones((outcomes, 1)), regression=regression)
    (variance,) = ConstantVariance().refit((np.ones(1),), past)
    assert variance == pytest.approx([(outcomes + 2) / (outcomes + 2 - spent)])


def test_where_no_outcome_is_near_the_variance_is_that_of_all() -> None:
    member, past = KernelVariance(), _past_of(2)
    fit = member.refit(member.init((), 2, 2), past)
    flat = ConstantVariance()
    for at in ([10.0, 10.0], [-10.0, 10.0]):
        x = np.array(at)
        leverage = flat.predict((np.ones(2),), past.regression, x).scale ** 2
        far = member.predict(fit, past.regression, x).scale ** 2 / leverage
        plain = ((past.residual**2).sum(axis=0) + 2 * past.regression.variance) / (50 + 2)
        assert far == pytest.approx(plain)


def test_the_kernel_looks_at_the_latest_rows() -> None:
    rng = np.random.default_rng(7)
    spread = np.where(np.arange(100) < 80, 5.0, 0.1)[:, None]
    x, xi = rng.normal(size=(100, 1)), 3.0 + spread * rng.normal(size=(100, 1))
    few, all_of_them = (
        fitted(KernelVariance(rows=rows, prior=1e-6), x, xi, np.zeros(1), rounds=1)
        for rows in (20, 100)
    )
    assert few.scale < 1.5
    assert all_of_them.scale > 3.0


def test_a_log_variance_that_is_unsure_of_itself_is_larger() -> None:
    member, past = LogVariance(), _past_of(2)
    fit = member.refit(member.init((), 2, 2), past)
    sure = (*fit[:2], np.zeros_like(fit[2]))
    here, there = (
        [member.predict(part, past.regression, np.array([at, 0.0])).scale for part in (fit, sure)]
        for at in (0.0, 3.0)
    )
    assert (here[0] > here[1]).all()
    assert (there[0] / there[1] > here[0] / here[1]).all()


def test_contexts_that_explain_nothing_are_shrunk_away() -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(100, 30))
    xi = 3.0 + x[:, :2] @ np.array([[2.0, 0.0], [0.0, 1.0]]) + rng.normal(size=(100, 2))
    regression = design(x, xi, 1.0, by_evidence=True).regression
    assert regression.ridge[:2].max() < 10
    assert regression.ridge[2:].min() > 20
    assert np.abs(regression.coefficients[1:3]).max(axis=1) == pytest.approx([2.0, 1.0], abs=0.4)
    assert np.abs(regression.coefficients[3:]).mean() < 0.03  # 0.08 by least squares


def test_many_contexts_of_which_the_variance_depends_on_few() -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=(2000, 12))
    xi = 5.0 + 3.0 * x[:, :1] + (0.2 + np.abs(x[:, :1])) * rng.normal(size=(2000, 1))
    member = RandomCoefficients()
    assert member.init((), 12, 1)[1].shape == (1, 9, 9)
    far, near = np.zeros((2, 12))
    far[0] = 2.0
    narrow, broad = (fitted(member, x, xi, at, rounds=20) for at in (near, far))
    assert broad.location == pytest.approx([11.0], abs=0.3)
    assert narrow.scale < 0.7
    assert broad.scale == pytest.approx([2.2], rel=0.15)
