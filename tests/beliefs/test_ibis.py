"""The exact sampler against exact posteriors, brute force and itself."""

from itertools import accumulate, islice
from typing import Any

import numpy as np
import pytest
from lengths import long
from posteriors import (
    NOTHING,
    PREDICTOR,
    REGRET,
    Quadratic,
    Still,
    after,
    errors,
    knapsack,
    learned,
    outcomes,
)
from registry import of_kind
from trees import same_bits

from bocopt.beliefs import (
    Belief,
    EllipticalSlice,
    FittedCrankNicolson,
    RandomWalk,
    posterior_mean,
)
from bocopt.beliefs.kernels import Kernel
from bocopt.core import Array
from bocopt.numeric import noise
from bocopt.paper import Calibrated, Gaussian, PaperStream, ResampleMove

KERNELS: dict[str, dict[str, Any]] = {
    **{name: {"kernel": kernel, "sweeps": 3} for name, kernel in of_kind("kernel").items()},
    "waste-free": {"chain_length": 10},
}


@pytest.mark.parametrize(("trials", "size"), [(4, 300), long(8, 1000)])
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_finds_the_exact_posterior(kernel: str, trials: int, size: int) -> None:
    """So narrow a posterior that weights without moves would keep no particle there."""
    xi = outcomes(60, trials, 5)
    belief = learned(xi, lam=2.0, size=size, **KERNELS[kernel])
    error, variance = errors(belief, xi, np.full(60, 2.0))
    assert (belief.roots[..., 0] != belief.roots[..., -1]).any()
    assert error < 0.2
    assert variance == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(("stages", "trials"), [(20, 2), long(50, 4)])
@pytest.mark.parametrize("kernel", [RandomWalk(), FittedCrankNicolson()], ids=["walk", "fitted"])
def test_few_particles_do_not_lose_the_variance_to_their_own_shape(
    kernel: Kernel, stages: int, trials: int
) -> None:
    xi = outcomes(stages, trials, 48)
    belief = learned(xi, lam=0.2, size=200, kernel=kernel, sweeps=20)
    _, variance = errors(belief, xi, np.full(stages, 0.2))
    assert 0.88 <= variance <= 1.1


@pytest.mark.parametrize(
    "options",
    [{"sweeps": 10}, {"kernel": FittedCrankNicolson(), "sweeps": 5}],
    ids=["pcn", "fitted"],
)
@pytest.mark.parametrize(("stages", "trials"), [(15, 1), long(50, 2)])
def test_the_variance_is_found_in_48_dimensions(
    options: dict[str, Any], stages: int, trials: int
) -> None:
    xi = outcomes(stages, trials, 48)
    belief = learned(xi, lam=0.2, size=1000, **options)
    error, variance = errors(belief, xi, np.full(stages, 0.2))
    assert error < 0.3
    assert 0.9 <= variance <= 1.1


@pytest.mark.parametrize("trials", [6, long(24)])
def test_long_chains_do_not_lose_the_variance_to_a_shape_learned_from_themselves(
    trials: int,
) -> None:
    """Where their states began chains of both groups, and counted as so many, 0.79 was left."""
    xi = outcomes(60, trials, 16)
    belief = learned(xi, lam=0.2, size=400, kernel=FittedCrankNicolson(), chain_length=20)
    error, variance = errors(belief, xi, np.full(60, 0.2))
    assert error < 0.22
    assert 0.93 <= variance <= 1.07


@pytest.mark.full
def test_walks_of_long_chains_that_do_not_mix_say_so_and_keep_the_variance() -> None:
    """Where their states began chains of both groups, and counted as so many, 0.75 was left."""
    xi = outcomes(60, 24, 16)
    belief = learned(xi, lam=0.2, size=400, kernel=RandomWalk(), chain_length=20)
    _, variance = errors(belief, xi, np.full(60, 0.2))
    estimate = posterior_mean(belief, belief.theta)
    assert 0.83 <= variance <= 1.07
    assert np.isnan(estimate.standard_error).mean() > 0.8


def test_moves_go_on_until_they_are_mixed_whoever_else_is_moved() -> None:
    xi = outcomes(40, 3, 6) * np.array([0.1, 1.0, 10.0])[:, None]
    together = learned(xi, lam=0.2, size=100)
    assert (together.info.left <= 0.2).all()
    for trial in range(3):
        sampler = ResampleMove(prior=Gaussian.isotropic(6), loss=Quadratic(), lam=0.2, size=100)
        alone, sweeps = sampler.init(np.array([trial])), []
        for t, y in enumerate(xi):
            alone = sampler.step(alone, t, np.zeros((1, 1)), y[trial][None])
            sweeps += [float(alone.info.sweeps[0] / max(alone.info.rejuvenated[0], 1))]
        assert (alone.theta[0] == together.theta[trial]).all()
        assert len({n for n in sweeps if n}) > 1  # some moves took more than others


def test_a_move_that_will_not_mix_is_not_prolonged() -> None:
    stuck = ResampleMove(
        prior=Gaussian.isotropic(3), loss=Quadratic(), lam=50.0, size=50, kernel=Still()
    )
    moved = stuck.step(stuck.init(np.arange(2)), 0, np.zeros((2, 1)), outcomes(1, 2, 3)[0])
    assert (moved.info.sweeps == 10 * moved.info.rejuvenated).all()
    assert (moved.info.left > 0.9).all()


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
        {"window": 7, "discount": 0.8, "switch_rate": 0.1},
        {"switch_rate": 0.2},
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
        sampler._space.theta(belief.u, belief.centre[:, None], belief.width[:, None, None]),
        belief.theta,
    )
    assert (belief.info.rejuvenated >= 0).all()


class Jittered(Quadratic):
    """A loss with noise of its own, the same for all parameters at a stage."""

    dim_noise = 2

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        return super().__call__(theta, x, xi + u, u)


def test_moves_look_back_with_the_noise_that_each_stage_had() -> None:
    xi = outcomes(30, 3, 2)
    belief = learned(xi, lam=1.0, size=50, loss=Jittered())
    u = np.stack([noise.normal(np.arange(3), t, "loss", (2,)) for t in range(30)])
    each = Jittered()(belief.theta[None], xi, xi[:, :, None, :], u[:, :, None, :])
    assert belief.total == pytest.approx(each.sum(axis=0))


@pytest.mark.parametrize("kernel", KERNELS)
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


@pytest.mark.parametrize("stages", [15, long(50)])
def test_threads_change_nothing(stages: int) -> None:
    seeds, beliefs = np.array([5, 6]), []
    for threads in (1, 3):
        sampler = knapsack(lam=3e-2, size=200, sweeps=2, threads=threads)
        belief = sampler.init(seeds)
        for t, (x, xi) in enumerate(islice(PaperStream().stages(seeds), stages)):
            belief = sampler.step(belief, t, x, xi)
        beliefs.append(belief)
    assert same_bits(*beliefs)


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
    eager, patient = (
        learned(xi, lam=2.0, size=200, loss=Shifted(), early_rejection=early)
        for early in (True, False)
    )
    assert same_bits(eager._replace(info=NOTHING), patient._replace(info=NOTHING))
    each = Shifted()(eager.theta[None], xi, xi[:, :, None, :], xi)
    assert eager.total == pytest.approx(each.sum(axis=0))


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


def test_a_batch_keeps_to_window_and_discount() -> None:
    xi = outcomes(60, 8, 2)
    prior = Gaussian.isotropic(2)
    sampler = ResampleMove(
        prior=prior, loss=Quadratic(), lam=2.0, size=1000, window=10, discount=0.8
    )
    belief = sampler.fit(np.arange(8), np.zeros((8, 60, 1)), xi.swapaxes(0, 1))
    counts = 2.0 * 0.8 ** np.arange(59, -1, -1.0) * (np.arange(60) >= 50)
    error, variance = errors(belief, xi, counts)
    assert belief.past.size == 10
    assert error < 0.15
    assert variance == pytest.approx(1, abs=0.08)
    for t in range(60, 75):
        belief = sampler.step(belief, t, np.zeros((8, 1)), xi[t - 60])
    last = xi[5:15][::-1]
    each = Quadratic()(belief.theta[None], last, last[:, :, None, :], last)
    age = np.arange(10.0).reshape(-1, 1, 1)
    assert belief.total == pytest.approx((0.8**age * each).sum(axis=0))


def test_a_discount_bounds_what_is_kept() -> None:
    belief = learned(outcomes(120, 1, 2), lam=0.3, size=20, discount=0.7)
    assert belief.past.size == np.ceil(np.log(1e-12) / np.log(0.7))


def test_stages_without_a_context() -> None:
    xi = outcomes(5, 3, 2)
    sampler = ResampleMove(prior=Gaussian.isotropic(2), loss=Quadratic(), lam=0.1, size=20)
    belief = sampler.init(np.arange(3))
    for t, y in enumerate(xi):
        belief = sampler.step(belief, t, np.zeros((3, 0)), y)
    assert belief.past.size == 5
    fitted = sampler.fit(np.arange(3), np.zeros((5, 0)), xi.swapaxes(0, 1))
    assert fitted.past.size == 5


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


def test_one_outcome_far_from_all_others_neither_raises_nor_takes_for_ever() -> None:
    xi = outcomes(12, trials=2, dim=2)
    xi[6, 1] = 1e6  # of the second trial
    sampler = ResampleMove(prior=Gaussian.isotropic(2), loss=Quadratic(), lam=1.0, size=50)

    def step(belief: Belief, stage: tuple[int, Array]) -> Belief:
        return sampler.step(belief, stage[0], np.zeros((2, 1)), stage[1])

    first = sampler.init(np.arange(2))
    with pytest.warns(UserWarning, match="cannot reach the posterior") as warnings:
        beliefs = list(accumulate(enumerate(xi), step, initial=first))[1:]
    unfinished = [belief.info.unfinished.tolist() for belief in beliefs]
    belief = beliefs[-1]
    assert unfinished[:6] == [[0.0, 0.0]] * 6
    assert unfinished[6] == [0.0, 1.0]
    assert beliefs[6].info.rejuvenated[1] < 20
    assert len({str(warning.message) for warning in warnings}) == 1
    assert np.isfinite(belief.theta).all()
    assert np.exp(belief.log_w).sum(axis=-1) == pytest.approx(1.0)
    alone = learned(xi[:, :1], lam=1.0, size=50)
    assert (belief.theta[0] == alone.theta[0]).all()  # the other trial is not touched by it


def test_where_the_posterior_is_not_reached_the_weights_are_still_those_of_its_target() -> None:
    """Reweighting the rest of the way: total losses and weights stay in step."""
    xi = np.full((1, 1, 2), 1e6)
    with pytest.warns(UserWarning, match="cannot reach the posterior"):
        belief = learned(xi, lam=1.0, size=50)
    best = belief.total.argmin(axis=-1)[..., None]
    assert (belief.log_w.argmax(axis=-1)[..., None] == best).all()
    assert np.take_along_axis(belief.log_w, best, -1) == pytest.approx(0.0, abs=1e-9)
