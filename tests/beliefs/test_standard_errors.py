"""What particles say of their own errors, and whose descendants they are."""

import numpy as np
from posteriors import Quadratic, Still, learned, outcomes

from bocopt.beliefs import CrankNicolson, FittedCrankNicolson, RandomWalk, posterior_mean
from bocopt.beliefs.belief import LAG, different
from bocopt.numeric.weights import normalised
from bocopt.paper import Gaussian, ResampleMove


def test_standard_errors_cover_the_exact_mean() -> None:
    xi = outcomes(60, 40, 2)
    belief = learned(xi, lam=0.1, size=400)
    estimate = posterior_mean(belief, belief.theta)
    exact = 0.1 * xi.sum(axis=0) / 7
    z = (estimate.mean - exact) / estimate.standard_error
    assert (belief.info.ancestors > 10).all()
    assert 0.7 < np.sqrt((z**2).mean()) < 1.5
    assert (np.abs(z) < 2).mean() > 0.85


def test_standard_errors_of_chains_whose_states_are_all_kept_cover_the_exact_mean() -> None:
    """Twenty chains, which have three ancestors left after twenty moves."""
    xi = outcomes(60, 30, 8)
    belief = learned(xi, lam=0.5, size=400, kernel=FittedCrankNicolson(), chain_length=20)
    estimate = posterior_mean(belief, belief.theta)
    z = (estimate.mean - 0.5 * xi.sum(axis=0) / 31) / estimate.standard_error
    assert 0.8 < np.sqrt((z**2).mean()) < 1.3
    assert 0.9 < (np.abs(z) < 2).mean() < 0.98


def test_short_chains_keep_where_they_began() -> None:
    """Of three states the first is one: 0.3 left at the end is more than half of the mean."""
    belief = learned(outcomes(30, 2, 2), lam=0.5, size=60, kernel=CrankNicolson(), chain_length=3)
    mixed = belief._replace(info=belief.info._replace(left=np.full(2, 0.3)))
    assert np.isnan(posterior_mean(mixed, belief.theta).standard_error).all()
    at_once = belief._replace(info=belief.info._replace(left=np.zeros(2)))
    assert np.isfinite(posterior_mean(at_once, belief.theta).standard_error).all()


def test_ancestors_are_those_of_the_oldest_generation() -> None:
    """With small steps, particles stay near their first ancestors, and so do the errors."""
    xi = outcomes(40, 4, 2)
    kernel = RandomWalk(wanted=0.999, first_scale=1e-3)
    sampler = ResampleMove(
        prior=Gaussian.isotropic(2), loss=Quadratic(), lam=0.5, size=200, kernel=kernel, sweeps=1
    )
    belief = sampler.init(np.arange(4))
    first = belief.theta
    for t, y in enumerate(xi):
        belief = sampler.step(belief, t, np.zeros((4, 1)), y)
    origin = np.take_along_axis(first, belief.roots[..., :1], axis=-2)
    generation = different(belief.roots[..., 0]), different(belief.roots[..., -1])
    assert np.abs(belief.theta - origin).max() < 0.2
    assert (generation[0] < generation[1]).all()
    assert (belief.info.left > 0.5).all()
    assert np.isnan(posterior_mean(belief, belief.theta).standard_error).all()  # and it says so
    belief = belief._replace(info=belief.info._replace(left=np.zeros(4)))
    errors_by = [
        posterior_mean(belief._replace(roots=belief.roots[..., [g]]), belief.theta).standard_error
        for g in (0, -1)
    ]
    assert (errors_by[0] > errors_by[1]).all()


def test_roots_are_the_ancestors_of_the_latest_generations() -> None:
    """Column -1 - j: who the ancestor was j generations ago, by its number at that time."""
    size, rng = 30, np.random.default_rng(0)
    sampler = ResampleMove(
        prior=Gaussian.isotropic(1), loss=Quadratic(), lam=0.1, size=size, kernel=Still()
    )
    belief = sampler.step(sampler.init(np.array([0])), 0, np.zeros((1, 1)), np.zeros((1, 1)))
    numbers = np.arange(size)
    ancestors = [numbers]  # one for each generation, oldest first
    for generation in range(LAG + 5):
        uneven = normalised(0.4 * rng.normal(size=(1, size)))
        marked = belief._replace(u=numbers[None, :, None].astype(float), log_w=uneven)
        belief = sampler.refresh(marked, 1, f"refresh {generation}")
        parents = belief.u[0, :, 0].astype(int)
        ancestors = [*(known[parents] for known in ancestors), numbers]
        expected = [ancestors[max(g, 0)] for g in range(len(ancestors) - LAG, len(ancestors))]
        assert (belief.roots[0] == np.stack(expected, axis=-1)).all()
    assert 1 < different(belief.roots[..., 0]) < different(belief.roots[..., -5]) < size


def test_one_ancestor_cannot_tell_its_error() -> None:
    belief = learned(outcomes(3, 2, 2), lam=0.1, size=20)
    lonely = belief._replace(roots=np.zeros_like(belief.roots))
    assert np.isnan(posterior_mean(lonely, belief.theta).standard_error).all()
