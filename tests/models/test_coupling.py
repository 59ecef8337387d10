"""Laws of several series as joint scenarios: margins are kept, and so is what depends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from bocopt.core import Array, IntArray
from bocopt.models.coupling import independent_share, margins, paired, probability
from bocopt.problems import Newsvendor

MANY = 400


def seeds(series: int) -> IntArray:
    return np.arange(series, dtype=np.int64)


def rank_correlations(scenarios: Array) -> Array:
    return np.asarray(spearmanr(scenarios)[0])


def normal_laws(series: int, many: int = 999) -> tuple[Array, Array]:
    """Standard normal laws (n, s, 1) and weights (n, s)."""
    from scipy.special import ndtri

    values = ndtri((np.arange(many) + 0.5) / many)
    return np.tile(values[None, :, None], (series, 1, 1)), np.full((series, many), 1.0 / many)


def factor_model(times: int, series: int, rho: float, seed: int) -> Array:
    """Probabilities (L, n) of a Gaussian factor model with this correlation of any two."""
    from scipy.special import ndtr

    rng = np.random.default_rng(seed)
    common, own = rng.normal(size=(times, 1)), rng.normal(size=(times, series))
    return np.asarray(ndtr(np.sqrt(rho) * common + np.sqrt(1.0 - rho) * own))


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12), st.integers(1, 40))
def test_a_scenario_comes_up_as_often_as_equal_weights_allow(raw: list[float], many: int) -> None:
    w = np.array(raw) + 1e-3
    w /= w.sum()
    law = np.arange(len(w))[::-1, None].astype(float)
    found = margins(law[None], w[None], many)[0, :, 0]
    assert (np.diff(found) >= 0).all()
    for value, weight in zip(law[:, 0], w, strict=True):
        assert abs((found == value).sum() - many * weight) < 1 + 1e-9


def test_pairing_keeps_every_margin() -> None:
    own = margins(*normal_laws(3), MANY)
    past = factor_model(50, 3, 0.7, seed=0)
    past[:20, 1] = np.nan
    found = paired(own, past, seeds(3), 5).reshape(MANY, 3)
    for i in range(3):
        assert (np.sort(found[:, i]) == own[i, :, 0]).all()


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.8])
def test_the_rank_correlation_of_a_factor_model_is_found(rho: float) -> None:
    own = margins(*normal_laws(6), MANY)
    pairs = ~np.eye(6, dtype=bool)
    seen = [
        rank_correlations(paired(own, factor_model(200, 6, rho, seed), seeds(6), seed))[
            pairs
        ].mean()
        for seed in range(10)
    ]
    truth = 6.0 / np.pi * np.arcsin(rho / 2.0)
    assert abs(np.mean(seen) - truth) < 0.04


def test_few_common_times_are_shrunk_to_independence() -> None:
    """Fewer times, more independent scenarios; where there is nothing to find, nearly all."""

    def share(times: int, rho: float) -> float:
        return float(
            np.mean([independent_share(factor_model(times, 8, rho, seed)) for seed in range(20)])
        )

    assert independent_share(factor_model(1, 8, 0.5, 0)) == 1.0
    assert independent_share(np.zeros((0, 8))) == 1.0
    assert share(5, 0.5) > share(20, 0.5) > share(100, 0.5)
    assert share(100, 0.5) < 0.1
    assert share(100, 0.0) > 0.8


def test_without_a_past_pairs_are_independent() -> None:
    own = margins(*normal_laws(4), 2000)
    found = rank_correlations(paired(own, np.full((0, 4), np.nan), seeds(4), 0))
    assert np.abs(found[~np.eye(4, dtype=bool)]).max() < 0.08


def test_series_missing_in_the_past_are_independent_of_others() -> None:
    past = factor_model(100, 3, 0.9, seed=2)
    past[:, 2] = np.nan
    found = rank_correlations(paired(margins(*normal_laws(3), 2000), past, seeds(3), 0))
    assert found[0, 1] > 0.8
    assert abs(found[0, 2]) < 0.08


def test_a_probability_is_uniform_also_of_counts() -> None:
    rng = np.random.default_rng(0)
    law = np.tile(np.arange(6.0)[None, :, None], (4000, 1, 1))
    w = np.array([0.4, 0.2, 0.2, 0.1, 0.05, 0.05])
    xi = rng.choice(6, size=(4000, 1), p=w).astype(float)
    found = probability(law, np.tile(w, (4000, 1)), xi, rng.random(4000))
    assert np.abs(np.sort(found) - (np.arange(4000) + 0.5) / 4000).max() < 0.025


def test_blocks_stay_whole_and_depend_by_their_mean_rank() -> None:
    rng = np.random.default_rng(1)
    base = rng.normal(size=(2, 500, 1))
    laws = np.concatenate([base, base + 0.1 * rng.normal(size=base.shape)], axis=2)
    own = margins(laws, np.full((2, 500), 1 / 500), 500)
    found = paired(own, factor_model(200, 2, 0.9, seed=0), seeds(2), 0).reshape(500, 2, 2)
    for i in range(2):
        assert {*map(tuple, found[:, i])} == {*map(tuple, laws[i])}
    assert spearmanr(found[:, 0, 0], found[:, 1, 1])[0] > 0.8


def test_a_series_is_paired_as_its_seed_says_whatever_others_there_are() -> None:
    own, past = margins(*normal_laws(3), 50), np.zeros((0, 3))
    found = paired(own, past, seeds(3), 4)
    fewer = paired(own[1:], past[:, 1:], seeds(3)[1:], 4)
    assert (found[:, 1:] == fewer).all()


@pytest.mark.parametrize("rho", [0.0, 0.7])
def test_a_shared_budget_is_close_to_the_optimum_of_the_known_law(rho: float) -> None:
    """Orders under one capacity, and what a van must hold of all demand: the latter is joint."""
    from scipy.special import ndtri

    series, rng = 8, np.random.default_rng(3)
    size = np.exp(rng.normal(3.0, 0.5, series))
    laws = size[:, None, None] * np.exp(0.4 * normal_laws(series)[0])
    own = margins(laws, normal_laws(series)[1], 256)
    problem = Newsvendor(unit_cost=[1.0] * series, price=4.0, capacity=0.9 * float(size.sum()))

    def drawn(seed: int) -> Array:
        return np.asarray(size * np.exp(0.4 * ndtri(factor_model(40_000, series, rho, seed))))

    def regret(scenarios: Array) -> tuple[float, float]:
        """Return the shares by which orders and a van cost more than under the known law."""
        truth, none, known = drawn(2), np.zeros(0), drawn(1)
        orders = [problem.cost(none, problem.solve(s).z, truth).mean() for s in (known, scenarios)]
        vans = [np.quantile(s.sum(axis=1), 0.9) for s in (known, scenarios)]
        van = [v + 10.0 * np.maximum(truth.sum(axis=1) - v, 0.0).mean() for v in vans]
        return (orders[1] - orders[0]) / abs(orders[0]), (van[1] - van[0]) / van[0]

    past = factor_model(100, series, rho, 4)
    orders, van = regret(paired(own, past, seeds(series), 0))
    assert orders < 0.002
    assert van < 0.01
    alone = regret(paired(own, past[:0], seeds(series), 0))[1]
    assert (alone > 0.04) == (rho > 0.0)
