"""The exact sampler against exact posteriors, brute force and itself."""

import re
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest
from quadratic import Quadratic, errors, learned, moments, outcomes
from trees import same_bits

from bocopt import (
    BMA,
    Calibrated,
    DecisionRegret,
    Gaussian,
    Knapsack,
    PaperStream,
    ResampleMove,
    SigmoidLinear,
)
from bocopt.checks import check_policy
from bocopt.core import Array, IntArray
from bocopt.smc import (
    AdaHedge,
    Belief,
    CrankNicolson,
    EllipticalSlice,
    FittedCrankNicolson,
    Fixed,
    RandomWalk,
    SafeGrid,
    for_horizon,
    posterior_mean,
)
from bocopt.smc.resample_move import MoveInfo

KERNELS: dict[str, dict[str, Any]] = {
    "pcn": {"kernel": CrankNicolson(), "sweeps": 5},
    "random walk": {"kernel": RandomWalk(), "sweeps": 5},
    "fitted": {"kernel": FittedCrankNicolson(), "sweeps": 3},
    "slice": {"kernel": EllipticalSlice(), "sweeps": 3},
    "waste-free": {"chain_length": 20},
}
PROBLEM = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3)
PREDICTOR = SigmoidLinear(3, 12)
REGRET = DecisionRegret(PROBLEM, PREDICTOR)
NOTHING = MoveInfo(*(np.zeros(0) for _ in MoveInfo._fields))


def knapsack(**options: Any) -> ResampleMove:
    given = {"prior": Gaussian.isotropic(48, 0.5), "loss": REGRET, "lam": 1e-2, "size": 20}
    return ResampleMove(**{**given, **options})


def after(sampler: ResampleMove, stages: int, seeds: IntArray) -> tuple[Belief, Array, Array]:
    """The belief after some stages of the paper's stream, and what it saw: (T, trials, ...)."""
    belief, seen = sampler.init(seeds), list(islice(PaperStream().stages(seeds), stages))
    for t, (x, xi) in enumerate(seen):
        belief = sampler.step(belief, t, x, xi)
    return belief, np.stack([x for x, _ in seen]), np.stack([xi for _, xi in seen])


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_finds_the_exact_posterior(kernel: str) -> None:
    xi = outcomes(60, 8, 2)
    belief = learned(xi, lam=0.1, size=1000, **KERNELS[kernel])
    error, variance = errors(belief, xi, np.full(60, 0.1))
    assert error < 0.12
    assert variance == pytest.approx(1, abs=0.08)


@pytest.mark.parametrize("options", [{"sweeps": 10}, KERNELS["fitted"]], ids=["pcn", "fitted"])
def test_the_variance_is_found_in_48_dimensions(options: dict[str, Any]) -> None:
    xi = outcomes(50, 2, 48)
    belief = learned(xi, lam=0.2, size=1000, **options)
    error, variance = errors(belief, xi, np.full(50, 0.2))
    assert error < 0.3
    assert 0.9 <= variance <= 1.1


def test_one_stage_that_tells_much_is_entered_in_steps() -> None:
    xi = outcomes(1, 8, 2)
    belief = learned(xi, lam=400.0, size=500, kernel=RandomWalk(), sweeps=10)
    error, variance = errors(belief, xi, np.array([400.0]))
    assert (belief.info.rejuvenated >= 3).all()
    assert error < 0.2
    assert variance == pytest.approx(1, abs=0.15)


def test_discounted_outcomes_count_less() -> None:
    xi = outcomes(60, 8, 2)
    belief = learned(xi, lam=0.3, size=1000, discount=0.9)
    error, variance = errors(belief, xi, 0.3 * 0.9 ** np.arange(59, -1, -1.0))
    assert error < 0.12
    assert variance == pytest.approx(1, abs=0.08)


def test_outcomes_outside_the_window_do_not_count() -> None:
    xi = outcomes(60, 8, 2)
    belief = learned(xi, lam=0.3, size=1000, window=10)
    counts = np.where(np.arange(60) >= 50, 0.3, 0.0)
    error, variance = errors(belief, xi, counts)
    assert error < 0.12
    assert variance == pytest.approx(1, abs=0.08)
    assert belief.past.xi.buffer.shape[-2] <= 32  # memory does not grow


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"discount": 0.9},
        {"window": 7},
        {"window": 7, "discount": 0.8, "share": 0.1},
        {"share": 0.2},
        {"chain_length": 5},
        {"kernel": EllipticalSlice()},
        {"prior": Calibrated(PREDICTOR, warm_up=6)},
    ],
    ids=str,
)
def test_totals_are_the_losses_since_birth(options: dict[str, Any]) -> None:
    """Cached totals, however they came about, against a sum over the whole past."""
    stages, seeds = 30, np.array([3, 4])
    sampler = knapsack(**options)
    belief, x, xi = after(sampler, stages, seeds)
    each = REGRET(
        belief.theta[None], x[:, :, None, :], xi[:, :, None, :], np.empty(0)
    )  # (T, trials, N)
    age = np.arange(stages - 1, -1, -1).reshape(-1, 1, 1)
    counts = sampler.discount**age * (np.arange(stages).reshape(-1, 1, 1) >= belief.birth)
    counts = counts * (age < (sampler.window or stages))
    assert belief.total == pytest.approx((each * counts).sum(axis=0), abs=1e-8)
    assert same_bits(
        sampler._theta(belief.u, belief.centre[:, None], belief.width[:, None, None]), belief.theta
    )
    assert (belief.info.rejuvenated >= 0).all()


@pytest.mark.parametrize("kernel", ["pcn", "random walk", "slice", "waste-free"])
def test_early_rejection_changes_nothing_but_the_cost(kernel: str) -> None:
    seeds, found = np.array([5, 6]), {}
    for early in (True, False):
        sampler = knapsack(lam=3e-2, **KERNELS[kernel], early_rejection=early)
        belief, evaluated, spared = sampler.init(seeds), 0.0, 0.0
        for t, (x, xi) in enumerate(islice(PaperStream().stages(seeds), 50)):
            belief = sampler.step(belief, t, x, xi)
            evaluated += belief.info.evaluated.sum()
            spared += belief.info.spared.sum()
        found[early] = belief._replace(info=NOTHING), evaluated, spared
    (eager, few, spared), (patient, many, none) = found[True], found[False]
    assert same_bits(eager, patient)
    assert few < many
    assert spared == many - few
    assert none == 0


def test_a_loss_without_a_bound_is_never_rejected_early() -> None:
    class Unbounded(Quadratic):
        lower = -np.inf

    xi = outcomes(40, 3, 2)
    bounded, unbounded = (
        learned(xi, lam=0.3, size=50, loss=loss()) for loss in (Quadratic, Unbounded)
    )
    assert same_bits(bounded._replace(info=NOTHING), unbounded._replace(info=NOTHING))
    assert (unbounded.info.spared == 0).all()


class Shifted(Quadratic):
    """The same posterior with a lower bound that is not zero."""

    lower = -3.0

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        return super().__call__(theta, x, xi, u) - 3.0


def test_a_lower_bound_other_than_zero() -> None:
    xi = outcomes(60, 8, 2)
    belief = learned(xi, lam=0.1, size=1000, loss=Shifted())
    error, variance = errors(belief, xi, np.full(60, 0.1))
    assert error < 0.12
    assert variance == pytest.approx(1, abs=0.08)
    each = Shifted()(belief.theta[None], xi, xi[:, :, None, :], xi)
    assert belief.total == pytest.approx(each.sum(axis=0))


@pytest.mark.parametrize(
    "options",
    [
        {},
        *({"kernel": k["kernel"]} for k in KERNELS.values() if "kernel" in k),
        {"chain_length": 5},
        {"window": 7, "discount": 0.9},
        {"share": 0.1},
        {"lam": AdaHedge(3.0, 1e-2)},
        {"prior": Calibrated(PREDICTOR, warm_up=8)},
    ],
    ids=str,
)
def test_the_laws_of_policies_hold(options: dict[str, Any]) -> None:
    if isinstance(options.get("kernel"), FittedCrankNicolson):
        options = {**options, "size": 60}  # it needs more particles than parameters
    policy = BMA(PROBLEM, PREDICTOR, knapsack(**options))
    check_policy(policy, PROBLEM, PaperStream(), horizon=25)


def test_the_laws_hold_for_a_grid_of_temperatures() -> None:
    policy = BMA(PROBLEM, PREDICTOR, SafeGrid(knapsack(), [1e-3, 1e-2]))
    check_policy(policy, PROBLEM, PaperStream(), horizon=25)


def test_the_grid_follows_the_temperature_that_predicted_best() -> None:
    seeds = np.array([0, 1, 2])
    lams = (1e-4, 1e-3, 1e-2)
    grid = SafeGrid(knapsack(), lams)
    state, sums = grid.init(seeds), np.zeros((3, 3))
    alone = [knapsack(lam=lam) for lam in lams]
    beliefs = [sampler.init(seeds) for sampler in alone]
    for t, (x, xi) in enumerate(islice(PaperStream().stages(seeds), 40)):
        state = grid.step(state, t, x, xi)
        beliefs = [s.step(b, t, x, xi) for s, b in zip(alone, beliefs, strict=True)]
        sums += np.stack([b.info.mean_loss for b in beliefs], axis=-1)
    assert (state.chosen == sums.argmin(axis=-1)).all()
    for trial, best in enumerate(state.chosen):
        assert (state.theta[trial] == beliefs[best].theta[trial]).all()
        assert (state.log_w[trial] == beliefs[best].log_w[trial]).all()
        assert state.info.lam[trial] == lams[best]


def test_adahedge_lowers_the_temperature_as_mixing_costs_more() -> None:
    xi = outcomes(60, 8, 2)
    rule = AdaHedge(complexity=0.5, largest=0.5)
    belief = learned(xi, lam=rule, size=1000)
    lam = belief.lam
    assert lam == pytest.approx(np.minimum(0.5, 0.5 / belief.gap))
    assert (lam < 0.5).all()
    mean, variance = moments(belief)
    precision = 1 + lam * 60
    exact = lam[:, None] * xi.sum(axis=0) / precision[:, None]
    assert np.sqrt((((mean - exact) ** 2) * precision[:, None]).mean()) < 0.12
    assert (variance * precision[:, None]).mean() == pytest.approx(1, abs=0.08)


def test_the_temperature_of_the_theory() -> None:
    assert for_horizon(1000, 100.0, 0.05) == pytest.approx(np.sqrt(8 * np.log(20) / 1000) / 100)


def test_fixed_share_brings_fresh_particles_and_finds_a_new_regime() -> None:
    xi = np.concatenate([outcomes(60, 8, 2), outcomes(30, 8, 2) + 6.0])
    sharing = learned(xi, lam=1.0, size=500, share=0.02)
    stuck = learned(xi, lam=1.0, size=500)
    new = xi[60:].mean(axis=0)
    assert np.abs(moments(sharing)[0] - new).max() < 1.0
    assert np.abs(moments(stuck)[0] - new).min() > 2.0
    assert (sharing.birth.max(axis=-1) > 0).all()
    one = learned(outcomes(1, 50, 2), lam=1e-6, size=1000, share=0.1)
    assert (one.birth == 1).mean() == pytest.approx(0.1, abs=0.01)


def test_a_batch_is_fitted_straight_from_the_prior() -> None:
    xi = outcomes(60, 8, 2)
    sampler = ResampleMove(prior=Gaussian.isotropic(2), loss=Quadratic(), lam=0.1, size=1000)
    belief = sampler.fit(np.arange(8), np.zeros((8, 60, 1)), xi.swapaxes(0, 1))
    error, variance = errors(belief, xi, np.full(60, 0.1))
    assert error < 0.12
    assert variance == pytest.approx(1, abs=0.08)
    assert belief.past.size == 60
    later = sampler.step(belief, 60, np.zeros((8, 1)), xi[0])  # and goes on from there
    error, variance = errors(later, np.concatenate([xi, xi[:1]]), np.full(61, 0.1))
    assert error < 0.12


def test_more_sweeps_keep_the_posterior() -> None:
    xi = outcomes(40, 8, 2)
    sampler = ResampleMove(prior=Gaussian.isotropic(2), loss=Quadratic(), lam=0.1, size=1000)
    belief = learned(xi, lam=0.1, size=1000)
    again = sampler.refresh(belief, sweeps=10)
    assert (again.theta == belief.theta).all(axis=-1).mean() < 0.2
    assert (again.log_w == -np.log(1000)).all()
    error, variance = errors(again, xi, np.full(40, 0.1))
    assert error < 0.12
    assert variance == pytest.approx(1, abs=0.08)
    each = Quadratic()(again.theta[None], xi, xi[:, :, None, :], xi)
    assert again.total == pytest.approx(each.sum(axis=0))
    with pytest.raises(ValueError, match="has seen an outcome"):
        sampler.refresh(sampler.init(np.array([0])), 1)


def test_standard_errors_cover_the_exact_mean() -> None:
    xi = outcomes(60, 40, 2)
    belief = learned(xi, lam=0.1, size=400)
    estimate = posterior_mean(belief, belief.theta)
    exact = 0.1 * xi.sum(axis=0) / 7
    z = (estimate.mean - exact) / estimate.standard_error
    assert (belief.info.ancestors > 10).all()
    assert 0.7 < np.sqrt((z**2).mean()) < 1.5
    assert (np.abs(z) < 2).mean() > 0.85


def test_one_ancestor_cannot_tell_its_error() -> None:
    belief = learned(outcomes(3, 2, 2), lam=0.1, size=20)
    lonely = belief._replace(
        roots=np.zeros_like(belief.roots), info=belief.info._replace(ancestors=np.ones(2))
    )
    assert np.isnan(posterior_mean(lonely, belief.theta).standard_error).all()


def test_a_calibrated_prior_predicts_the_spread_of_the_outcomes() -> None:
    seeds = np.array([1, 2])
    sampler = knapsack(prior=Calibrated(PREDICTOR, warm_up=10), size=2000, lam=1e-9)
    belief, x, xi = after(sampler, 12, seeds)
    predicted = PREDICTOR.sample(
        belief.theta[:, :, None, :], x[:10].swapaxes(0, 1)[:, None], np.empty(0)
    )
    wanted = xi[:10].var(axis=0).mean(axis=-1)
    assert predicted.var(axis=(1, 2)).mean(axis=-1) == pytest.approx(wanted, rel=0.25)
    assert predicted.mean(axis=(1, 2)) == pytest.approx(xi[:10].mean(axis=0), abs=0.05)
    assert (belief.width < 0.5).all()


def test_calibration_ends_with_the_warm_up() -> None:
    sampler, seeds = knapsack(prior=Calibrated(PREDICTOR, warm_up=5)), np.array([1])
    widths = []
    belief = sampler.init(seeds)
    for t, (x, xi) in enumerate(islice(PaperStream().stages(seeds), 8)):
        belief = sampler.step(belief, t, x, xi)
        widths.append(float(belief.width[0]))
    assert widths[:2] == [0.15, 0.15]
    assert len(set(widths[2:5])) == 3
    assert len(set(widths[4:])) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lam": 0.0}, "'lam' parameter of ResampleMove must be a number in (0, inf)"),
        ({"size": 1}, "'size'"),
        ({"threshold": 1.0}, "'threshold'"),
        ({"sweeps": 0}, "'sweeps'"),
        ({"chain_length": 7}, "a divisor of size = 20"),
        ({"discount": 1.1}, "'discount'"),
        ({"window": 0}, "'window'"),
        ({"share": 1.0}, "'share'"),
        ({"kernel": FittedCrankNicolson()}, "more than the 48 parameters"),
    ],
    ids=str,
)
def test_bad_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        knapsack(**options)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: AdaHedge(0.0), "'complexity' parameter of AdaHedge"),
        (lambda: AdaHedge(1.0, largest=np.inf), "'largest' parameter of AdaHedge"),
        (lambda: Fixed(-1.0), "'lam' parameter of Fixed"),
        (lambda: for_horizon(0, 1.0), "'horizon' parameter of for_horizon"),
        (lambda: for_horizon(10, 1.0, 1.0), "'delta' parameter of for_horizon"),
        (lambda: EllipticalSlice(tries=0), "'tries' parameter of EllipticalSlice"),
        (lambda: SafeGrid(knapsack(), []), "'lams' parameter of SafeGrid"),
        (lambda: SafeGrid(knapsack(), [0.0]), "'lams' parameter of SafeGrid"),
        (lambda: Calibrated(PREDICTOR, warm_up=2), "'warm_up' parameter of Calibrated"),
        (lambda: Calibrated(PREDICTOR, stretch=0.0), "'stretch' parameter of Calibrated"),
        (lambda: Calibrated(PREDICTOR, first=[np.nan]), "'first' parameter of Calibrated"),
        (lambda: knapsack().fit(np.array([0]), np.zeros((3, 3)), np.full((3, 12), np.nan)), "'xi'"),
        (lambda: knapsack().fit(np.array([0]), np.zeros((2, 3)), np.ones((3, 12))), "'x'"),
        (lambda: knapsack().fit(np.array([0]), np.zeros((0, 3)), np.ones((0, 12))), "'xi'"),
    ],
)
def test_bad_input_is_named(wrong: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        wrong()


def test_a_loss_that_is_not_finite_is_refused() -> None:
    class Broken(Quadratic):
        def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
            return np.full(theta.shape[:-1], np.nan)

    with pytest.raises(ValueError, match="'loss'"):
        learned(outcomes(1, 1, 2), lam=0.1, loss=Broken())
