"""PAC-Bayes by betting: the formula, all posteriors and all times at once."""

import numpy as np
import pytest
from lengths import long
from scipy.optimize import brentq, minimize
from scipy.special import logsumexp
from scipy.stats import binomtest

from bocopt.core import Array
from bocopt.guarantees import anytime, betting, offline
from bocopt.guarantees.pac_bayes import Wealth, bettor, bounded, divergence, wealth
from bocopt.numeric.weights import normalised, uniform


def log_mean_wealth(found: Wealth, log_prior: Array, risks: Array) -> Array:
    """log sum_a w_a E_pi_0 of what M is at least, where the risks (N) sum to this."""
    stakes, weights = betting.STAKES[:30], betting.LOG_WEIGHTS[:30] + np.log(2.0)
    left = 1.0 - stakes * (risks / found.t[..., None] / found.scale[..., None])[..., None]
    each = found.gain - found.t[..., None, None] * np.log(left)
    return np.asarray(logsumexp(weights + log_prior[..., None] + each, axis=(-2, -1)), float)


def posteriors(found: Wealth, prior: Array, risks: Array, rng: np.random.Generator) -> list[Array]:
    """Point masses, Gibbs posteriors of what was lost, and those that follow luck; some random."""
    size = prior.shape[-1]
    points = np.where(np.eye(size) > 0, 0.0, -np.inf)
    gibbs = [normalised(prior - lam * found.lost) for lam in (0.0, 0.1, 1.0, 10.0)]
    luck = [normalised(prior + lam * (risks - found.lost)) for lam in (0.1, 0.5, 2.0)]
    chosen = [bettor(found, prior), *(normalised(rng.normal(0, 3, (size,))) for _ in range(5))]
    return [*points, *gibbs, *luck, *chosen]


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_the_bound_is_where_the_capital_of_a_posterior_reaches_its_level(scale: float) -> None:
    rng = np.random.default_rng(0)
    losses = scale * rng.random((40, 3)) ** 2
    prior, q = normalised(rng.normal(size=3)), normalised(rng.normal(size=3))
    kl = float((np.exp(q) * (q - prior)).sum())

    def capital(total: float) -> float:
        gain = np.log1p(-betting.STAKES * losses[..., None] / scale).sum(axis=0)
        left = np.log1p(-betting.STAKES * total / scale / 40)
        return float(logsumexp(betting.LOG_WEIGHTS + np.exp(q) @ gain - 40 * left))

    exact = brentq(lambda s: capital(s) - kl - np.log(20), 0.0, 40 * scale)
    found = anytime(losses, prior, q, scale=scale)
    assert 40 * float(found.bound) == pytest.approx(exact)
    assert float(found.value) == pytest.approx(float(np.exp(q) @ losses.mean(axis=0)))
    assert divergence(q, prior) == pytest.approx(kl)


def test_no_posterior_beats_its_bound_unless_the_mean_wealth_is_large() -> None:
    """For all q at once, in every run: the proof, on risks that were made to fail often."""
    rng = np.random.default_rng(1)
    failed = 0
    for _ in range(200):
        size, t = 4, 30
        chance = rng.uniform(0.2, 0.9, size)
        losses = (rng.random((t, size)) < chance - 0.25).astype(float)  # luckier than their risk
        prior = normalised(rng.normal(size=size))
        found, risks = wealth(losses, scale=1.0), t * chance
        rich = log_mean_wealth(found, prior, risks)
        for q in posteriors(found, prior, risks, rng):
            bound = t * float(bounded(found, prior, q, delta=0.2).bound)
            if float(np.exp(q) @ risks) > bound * (1 + 1e-9):
                failed += 1
                assert rich > np.log(1 / 0.2)
    assert failed > 50  # so that it could have been seen


@pytest.mark.parametrize(("many", "horizon"), [(100, 60), long(1000, 200)])
@pytest.mark.parametrize("adversary", ["fair coins", "rare losses", "drift", "gambler"])
def test_whatever_posterior_is_chosen_and_whenever_one_stops(
    adversary: str, many: int, horizon: int
) -> None:
    """The worst of all q: those of `posteriors` by bounds, and any at all by the mean wealth."""
    rng, size, deltas = np.random.default_rng(2), 5, np.array([0.05, 0.2])
    prior, risks, found = uniform((many,), size), np.zeros((many, size)), None
    failed, rich = np.zeros((2, many), bool), np.full(many, -np.inf)
    points = np.where(np.eye(size) > 0, 0.0, -np.inf)
    for t in range(1, horizon + 1):
        chance = np.full((many, size), {"rare losses": 0.02}.get(adversary, 0.5))
        if adversary == "drift":
            chance[:] = 0.1 + 0.8 * (t % 40) / 40
        elif adversary == "gambler" and found is not None:
            chance = np.where(risks > found.lost, 0.03, 0.5)
        losses = (rng.random((many, size)) < chance).astype(float)
        found, risks = wealth(losses[:, None, :], scale=1.0, before=found), risks + chance
        rich = np.maximum(rich, log_mean_wealth(found, prior, risks))
        luck = risks - found.lost  # an adversary that knows the risks
        for q in (points[luck.argmax(axis=-1)], normalised(prior + 0.5 * luck)) * (t % 5 == 0):
            for i, delta in enumerate(deltas):
                bound = t * bounded(found, prior, q, delta=delta).bound
                failed[i] |= (np.exp(q) * risks).sum(axis=-1) > bound * (1 + 1e-9)
    for delta, fails in zip(deltas, failed, strict=True):
        by_wealth = rich > np.log(1 / delta)
        assert not (fails & ~by_wealth).any()
        assert binomtest(int(by_wealth.sum()), many).proportion_ci(0.99).low <= delta


def test_more_stages_can_be_added_and_their_order_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    losses, prior = rng.random((2, 150, 3)), uniform((2,), 3)
    whole = wealth(losses, scale=1.0)
    parts = wealth(losses[:, 70:], scale=1.0, before=wealth(losses[:, :70], scale=1.0))
    for one, other in zip(whole, parts, strict=True):
        assert one == pytest.approx(other)
    alone = anytime(losses[1], prior[1], scale=1.0)
    assert float(alone.bound) == pytest.approx(float(bounded(whole, prior).bound[1]))
    with pytest.raises(ValueError, match="'scale' parameter of wealth"):
        wealth(losses, scale=2.0, before=whole)


def test_the_posterior_of_the_bettor_is_nearly_the_best_and_tighter_than_catonis() -> None:
    rng = np.random.default_rng(4)
    losses, prior = rng.random((500, 4)) ** np.array([1.0, 2.0, 3.0, 4.0]), uniform((), 4)

    def bound(logits: Array) -> float:
        return float(anytime(losses, prior, normalised(logits), scale=1.0).bound)

    best = minimize(bound, np.zeros(4), method="Nelder-Mead", options={"maxiter": 2000})
    ours = float(anytime(losses, prior, scale=1.0).bound)
    assert ours <= best.fun * 1.02
    lam = np.sqrt(8 * 500 * np.log(20))
    assert ours < float(offline(losses, prior, lam=lam, scale=1.0).bound)


def test_what_does_not_hold_is_said() -> None:
    losses, prior = np.full((50, 2), 0.5), np.log([0.5, 0.5])
    losses[7, 1] = 1.5
    found = anytime(losses, prior, scale=1.0)
    assert not found.applicable
    assert "outside [0, 1] on 1 stage" in found.note
    point = np.array([0.0, -np.inf])
    strange = anytime(losses[:5], point, prior, scale=1.0)
    assert "where the prior has none" in strange.note
    assert np.isfinite(anytime(losses[:5], prior, point, scale=1.0).bound)
    with pytest.raises(ValueError, match="'scale' parameter of wealth"):
        anytime(losses, prior, scale=0.0)
    with pytest.raises(ValueError, match="'delta' parameter of bounded"):
        anytime(losses, prior, scale=1.0, delta=0.0)
    with pytest.raises(ValueError, match="'log_posterior' parameter of bounded"):
        anytime(losses, prior, np.zeros(2), scale=1.0)
