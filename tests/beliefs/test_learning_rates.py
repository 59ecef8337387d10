"""Learning rates, and forgetting by fixed share."""

from itertools import islice

import numpy as np
import pytest
from lengths import long
from posteriors import Quadratic, knapsack, learned, moments, outcomes

from bocopt.beliefs import AdaHedge, SafeGrid, for_horizon
from bocopt.paper import Gaussian, PaperStream, ResampleMove


def test_the_grid_follows_the_learning_rate_that_predicted_best() -> None:
    seeds = np.array([0, 1, 2])
    lams = (1e-4, 1e-3, 1e-2)
    grid = SafeGrid(knapsack(), lams)
    state, sums = grid.init(seeds), np.zeros((3, 3))
    alone = [knapsack(lam=lam) for lam in lams]
    beliefs = [sampler.init(seeds) for sampler in alone]
    for t, (x, xi) in enumerate(islice(PaperStream().stages(seeds), 40)):
        decided = state.chosen
        state = grid.step(state, t, x, xi)
        assert (state.info.lam == np.array(lams)[decided]).all()
        beliefs = [s.step(b, t, x, xi) for s, b in zip(alone, beliefs, strict=True)]
        sums += np.stack([b.info.belief.losses.mean_loss for b in beliefs], axis=-1)
    assert (state.chosen == sums.argmin(axis=-1)).all()
    for trial, best in enumerate(state.chosen):
        assert (state.theta[trial] == beliefs[best].theta[trial]).all()
        assert (state.log_w[trial] == beliefs[best].log_w[trial]).all()


def test_a_grid_begins_with_its_smallest_learning_rate_in_whatever_order() -> None:
    grid = SafeGrid(knapsack(), [1e-2, 1e-4, 1e-3])
    x, xi = next(PaperStream().stages(np.arange(3)))
    state = grid.step(grid.init(np.arange(3)), 0, x, xi)
    assert (state.info.lam == 1e-4).all()  # all had lost nothing before


def test_adahedge_lowers_the_learning_rate_as_mixing_costs_more() -> None:
    xi = outcomes(60, 8, 2)
    rule = AdaHedge(complexity=0.5, largest=0.5)
    belief = learned(xi, lam=rule, size=1000)
    lam = belief.lam
    sampler = ResampleMove(prior=Gaussian.isotropic(2), loss=Quadratic(), lam=rule, size=100)
    step, gap = sampler.init(np.arange(8)), np.zeros(8)
    for t, y in enumerate(xi):
        step = sampler.step(step, t, np.zeros((8, 1)), y)
        gap += step.info.belief.losses.mean_loss - step.info.belief.losses.mix_loss
    assert step.gap == pytest.approx(gap)
    assert lam == pytest.approx(np.minimum(0.5, 0.5 / belief.gap))
    assert (lam < 0.5).all()
    mean, variance = moments(belief)
    precision = 1 + lam * 60
    exact = lam[:, None] * xi.sum(axis=0) / precision[:, None]
    assert np.sqrt((((mean - exact) ** 2) * precision[:, None]).mean()) < 0.12
    assert (variance * precision[:, None]).mean() == pytest.approx(1, abs=0.08)


def test_adahedge_is_at_its_largest_until_mixing_has_cost_enough() -> None:
    rule = AdaHedge(complexity=3.0, largest=0.25)
    assert rule(np.array([0.0, 1.0, 11.9])).tolist() == [0.25] * 3  # D / largest is 12
    assert rule(np.array([12.0, 24.0, 300.0])) == pytest.approx([0.25, 0.125, 0.01])
    assert AdaHedge(complexity=3.0)(np.array([0.0, 1.0, 6.0])) == pytest.approx([1.0, 1.0, 0.5])
    assert (learned(outcomes(1, 3, 2), lam=rule, size=50).lam == 0.25).all()


def test_the_learning_rate_of_the_theory() -> None:
    assert for_horizon(1000, 100.0, 0.05) == pytest.approx(np.sqrt(8 * np.log(20) / 1000) / 100)


@pytest.mark.parametrize(("trials", "size"), [(4, 200), long(8, 500)])
def test_fixed_share_brings_fresh_particles_and_finds_a_new_regime(trials: int, size: int) -> None:
    xi = np.concatenate([outcomes(60, trials, 2), outcomes(30, trials, 2) + 6.0])
    sharing = learned(xi, lam=1.0, size=size, switch_rate=0.02)
    stuck = learned(xi, lam=1.0, size=size)
    new = xi[60:].mean(axis=0)
    assert np.abs(moments(sharing)[0] - new).max() < 1.0
    assert np.abs(moments(stuck)[0] - new).min() > 2.0
    assert (sharing.birth.max(axis=-1) > 0).all()
    one = learned(outcomes(1, 50, 2), lam=1e-6, size=1000, switch_rate=0.1)
    fresh = one.birth == 1
    assert fresh.mean() == pytest.approx(0.1, abs=0.01)
    assert (np.exp(one.log_w) * fresh).sum(axis=-1).mean() == pytest.approx(0.1, abs=0.01)


def test_the_most_probable_particle_has_seen_the_most() -> None:
    belief = learned(outcomes(60, 8, 2), lam=1.0, size=100, switch_rate=0.05)
    best = belief.score.argmax(axis=-1)[..., None]
    born = np.take_along_axis(belief.birth, best, axis=-1)[..., 0]
    assert (born == belief.birth.min(axis=-1)).all()
