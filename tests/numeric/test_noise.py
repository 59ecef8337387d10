"""Randomness as a function of (seed, stage, purpose)."""

import numpy as np

from bocopt.numeric import noise


def test_batch_equals_alone() -> None:
    seeds = np.array([[3, 9], [1, 0]])
    batch = noise.normal(seeds, 5, "test", (4, 2))
    for index in np.ndindex(2, 2):
        assert (batch[index] == noise.normal(seeds[index], 5, "test", (4, 2))).all()


def test_trials_may_be_at_different_stages() -> None:
    seeds, stages = np.array([[3, 9], [3, 0]]), np.array([[5, 0], [7, 2**40]])
    for draw in (noise.normal, noise.uniform):
        batch = draw(seeds, stages, "test", (4, 2))
        for index in np.ndindex(2, 2):
            assert (batch[index] == draw(seeds[index], int(stages[index]), "test", (4, 2))).all()
        assert (draw(seeds, np.array(5), "test", (3,)) == draw(seeds, 5, "test", (3,))).all()


def test_more_draws_begin_with_the_same() -> None:
    few, many = (noise.uniform(np.array(1), 0, "test", (n,)) for n in (5, 500))
    assert (many[:5] == few).all()


def test_neighbouring_seeds_stages_and_purposes_share_nothing() -> None:
    draws = [
        noise.uniform(np.array(seed), stage, purpose, (1000,))
        for seed in (0, 1)
        for stage in (0, 1, 2)
        for purpose in ("a", "b")
    ]
    assert len(np.unique(np.concatenate(draws))) == 12 * 1000


def test_moments_over_seeds_and_stages() -> None:
    """One draw from each of many (seed, stage): what trials actually use."""
    draws = np.concatenate([noise.normal(np.arange(200), t, "test", (1,)) for t in range(100)])
    assert abs(draws.mean()) < 4 / np.sqrt(len(draws))
    assert abs(draws.var() - 1) < 4 * np.sqrt(2 / len(draws))


def test_no_numbers_wanted() -> None:
    assert noise.normal(np.arange(3), 0, "test", (4, 0)).shape == (3, 4, 0)
