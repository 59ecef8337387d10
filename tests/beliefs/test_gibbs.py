"""The sampler against exact posteriors: quadratic loss and Gaussian prior."""

from typing import Literal

import numpy as np
import pytest
from posteriors import Quadratic

from bocopt.beliefs import GibbsBelief
from bocopt.core import Array
from bocopt.paper import Gaussian, GibbsPosterior, LiuWest

SEEDS = np.arange(8)


def sampler(
    lam: float, size: int, move: LiuWest, threshold: float = 0.5, dim: int = 1
) -> GibbsPosterior:
    return GibbsPosterior(
        prior=Gaussian.isotropic(dim),
        loss=Quadratic(),
        lam=lam,
        size=size,
        threshold=threshold,
        move=move,
    )


def moments(belief: GibbsBelief) -> tuple[Array, Array]:
    w = np.exp(belief.log_w)[..., None]
    mean = (w * belief.theta).sum(axis=-2)
    return mean, (w * (belief.theta - mean[..., None, :]) ** 2).sum(axis=-2)


@pytest.mark.parametrize("mode", ["printed", "corrected"])
def test_particles_follow_the_exact_posterior(mode: Literal["printed", "corrected"]) -> None:
    gibbs = sampler(0.05, 2000, LiuWest(mode=mode), dim=2)
    outcomes = np.random.default_rng(0).normal(0.5, 1, (100, len(SEEDS), 2))
    belief, moves = gibbs.init(SEEDS), 0
    for t, y in enumerate(outcomes):
        belief = gibbs.step(belief, t, np.zeros((len(SEEDS), 1)), y)
        moves += int(belief.info.rejuvenated.sum())
    precision = 1 + 0.05 * 100
    mean, variance = moments(belief)
    error = (mean - 0.05 * outcomes.sum(axis=0) / precision) * np.sqrt(precision)
    assert moves >= len(SEEDS)
    assert np.sqrt((error**2).mean()) < 0.15
    assert (variance * precision).mean() == pytest.approx(1, abs=0.1)


def test_printed_mode_counts_the_last_outcome_twice_and_corrected_does_not() -> None:
    """E6: with many steps, one forced move shows the law that each mode leaves invariant."""
    variance = {}
    modes: tuple[Literal["printed", "corrected"], ...] = ("printed", "corrected")
    for mode in modes:
        gibbs = sampler(1.0, 2000, LiuWest(steps=30, mode=mode), threshold=1.0)
        belief = gibbs.step(gibbs.init(SEEDS), 0, np.zeros((8, 1)), np.zeros((8, 1)))
        variance[mode] = moments(belief)[1].mean()
    assert variance["corrected"] == pytest.approx(1 / 2, rel=0.05)
    assert variance["printed"] == pytest.approx(1 / 3, rel=0.05)


def test_printed_mode_keeps_a_rejected_light_particle_and_corrected_drops_it() -> None:
    """E7: with every proposal rejected, only resampling removes the particle of huge loss."""

    class Cliff(Quadratic):
        def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
            known = np.isin(theta, start.theta).all(axis=-1)
            light = (theta == start.theta[0]).all(axis=-1)
            return np.where(light, 1e3, np.where(known, 0.0, 1e6))

    survivors = {}
    modes: tuple[Literal["printed", "corrected"], ...] = ("printed", "corrected")
    for mode in modes:
        gibbs = GibbsPosterior(
            prior=Gaussian.isotropic(1),
            loss=Cliff(),
            lam=1.0,
            size=5,
            threshold=1.0,
            move=LiuWest(mode=mode),
        )
        start = gibbs.init(np.array(1))
        belief = gibbs.step(start, 0, np.zeros(1), np.zeros(1))
        assert belief.info.acceptance == 0
        survivors[mode] = bool((belief.theta == start.theta[0]).any())
    assert survivors == {"printed": True, "corrected": False}


def test_without_diagonal_proposals_stay_in_the_particles_hull() -> None:
    """E8: with fewer particles than parameters the covariance is singular."""
    for diagonal, rank in ((0.0, 3), (0.5, 10)):
        gibbs = sampler(1e-9, 4, LiuWest(diagonal=diagonal, steps=3), threshold=1.0, dim=10)
        start = gibbs.init(np.array(0))
        moved = gibbs.step(start, 0, np.zeros(1), np.zeros(10))
        for t in range(1, 5):
            moved = gibbs.step(moved, t, np.zeros(1), np.zeros(10))
        particles = np.concatenate([start.theta, moved.theta]) - start.theta[0]
        assert np.linalg.matrix_rank(particles, tol=1e-8) == min(rank, 7)


def test_weights_are_even_again_only_where_particles_moved() -> None:
    gibbs = sampler(0.5, 20, LiuWest())
    far = np.where(np.arange(8) % 2, 10.0, 0.0)[:, None]
    before = gibbs.init(SEEDS)
    after = gibbs.step(before, 0, np.zeros((8, 1)), far)
    moved = after.info.rejuvenated
    assert moved[1::2].all()
    assert not moved[::2].any()
    assert (after.log_w[moved] == -np.log(20)).all()
    assert (after.theta[~moved] == before.theta[~moved]).all()
    assert np.isnan(after.info.acceptance[~moved]).all()


class Flat(Quadratic):
    """All parameters are alike, so every proposal is accepted and all weights stay equal."""

    def __call__(self, theta: Array, x: Array, xi: Array, u: Array) -> Array:
        return np.zeros(theta.shape[:-1])


@pytest.mark.parametrize(("threshold", "moved"), [(1.0, True), (0.99, False)])
def test_particles_are_renewed_at_the_threshold_too(threshold: float, moved: bool) -> None:
    gibbs = GibbsPosterior(
        prior=Gaussian.isotropic(1), loss=Flat(), lam=1.0, size=4, threshold=threshold
    )
    belief = gibbs.step(gibbs.init(SEEDS), 0, np.zeros((8, 1)), np.zeros((8, 1)))
    assert (belief.info.ess == 4).all()
    assert (belief.info.rejuvenated == moved).all()


@pytest.mark.parametrize("diagonal", [0.0, 0.5, 1.0])
def test_a_blend_with_the_diagonal_keeps_every_variance(diagonal: float) -> None:
    move = LiuWest(shrinkage=0.0, steps=1, diagonal=diagonal)
    gibbs = GibbsPosterior(
        prior=Gaussian(mean=[0.0, 0.0], sd=[1.0, 3.0]),
        loss=Flat(),
        lam=1.0,
        size=2000,
        threshold=1.0,
        move=move,
    )
    belief = gibbs.step(gibbs.init(SEEDS), 0, np.zeros((8, 1)), np.zeros((8, 2)))
    assert (belief.info.acceptance == 1).all()
    assert moments(belief)[1].mean(axis=0) == pytest.approx([1.0, 9.0], rel=0.05)
