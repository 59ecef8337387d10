"""The paper's guarantees: formulas, assumptions, and coverage on a finite set of parameters."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binomtest

from bocopt.core import Array
from bocopt.guarantees import (
    Comparator,
    Corollary35,
    Evidence,
    Theorem32,
    Theorem33,
    certify,
    offline,
)
from bocopt.smc.weights import gibbs_update, normalised, uniform

PARAMETERS, STAGES = 5, 60


def learn(seed: int, runs: int, lam: float) -> tuple[list[Evidence], Array, Array]:
    """Exact Gibbs weights on Bernoulli losses with known means: evidence, and true risks.

    Risks (runs) are sums over stages of E_pi_t R_t, and of E_q_t+1 R_t.
    """
    rng = np.random.default_rng(seed)
    means = rng.uniform(0.1, 0.9, PARAMETERS)
    log_w, deployed, updated, stages = uniform((runs,), PARAMETERS), 0.0, 0.0, []
    for _ in range(STAGES):
        loss = (rng.random((runs, PARAMETERS)) < means).astype(float)
        update = gibbs_update(log_w, loss, lam)
        deployed = deployed + (np.exp(log_w) * means).sum(axis=-1)
        updated = updated + (np.exp(update.log_w) * means).sum(axis=-1)
        log_w, own = update.log_w, loss[:, 0]
        stages.append(
            Evidence(
                cost=own,
                low=np.zeros(runs),
                high=np.ones(runs),
                feasible=own < 1,
                loss=own,
                mean_loss=update.mean_loss,
                mix_loss=update.mix_loss,
                largest_loss=loss.max(axis=-1),
                moved=np.zeros(runs, bool),
            )
        )
    return stages, np.asarray(deployed), np.asarray(updated)


@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_the_theorems_cover_the_true_risk(delta: float) -> None:
    lam, runs = 0.5, 4000
    stages, deployed, updated = learn(0, runs, lam)
    for theorem, risk in (
        (Theorem33(lam=lam, scale=1.0, delta=delta), deployed),
        (Theorem32(lam=lam, scale=1.0, delta=delta), updated),
    ):
        found = certify(theorem, stages)
        violated = int((risk / STAGES > found.bound).sum())
        assert found.applicable.all()
        assert binomtest(violated, runs).proportion_ci(0.99).low <= delta


def test_the_formulas_by_hand() -> None:
    stages, _, _ = learn(1, 3, 0.5)
    mean = sum(e.mean_loss for e in stages) / STAGES
    mix = sum(e.mix_loss for e in stages) / STAGES
    price = 0.2 * 4.0 / 8 + np.log(20) / 0.2 / STAGES
    three = certify(Theorem33(lam=0.2, scale=2.0), stages)
    two = certify(Theorem32(lam=0.2, scale=2.0), stages)
    assert three.bound == pytest.approx(mean + price)
    assert two.bound == pytest.approx(mix + price)


def test_the_comparator_holds_for_every_run_and_is_the_least_over_mixtures() -> None:
    lam = 0.5
    stages, _, _ = learn(2, 50, lam)
    found = certify(Comparator(lam=lam, scale=1.0), stages)
    assert (found.value <= found.bound + 1e-12).all()
    assert found.delta == 0.0
    moved = [*stages[:10], stages[10]._replace(moved=np.ones(50, bool)), *stages[11:]]
    broken = certify(Comparator(lam=lam, scale=1.0), moved)
    assert not broken.applicable.any()
    assert "not been moved" in broken.reason


def test_mixability_is_refuted_never_certified() -> None:
    stages, _, _ = learn(3, 4, 0.5)
    found = certify(Corollary35(lam=0.5, scale=1.0), stages)
    assert not found.applicable.all()
    assert "refuted on" in found.reason
    harmless = [e._replace(loss=np.zeros(4)) for e in stages]
    kept = certify(Corollary35(lam=0.5, scale=1.0), harmless)
    assert kept.applicable.all()
    assert "does not certify it" in kept.reason


@pytest.mark.parametrize("theorem", [Theorem32, Theorem33, Comparator])
def test_losses_beyond_the_scale_give_no_number(theorem: type[Theorem33]) -> None:
    stages, _, _ = learn(4, 2, 0.5)
    stages[5] = stages[5]._replace(largest_loss=np.array([1.2, 1.0]))
    found = certify(theorem(lam=0.5, scale=1.0), stages)
    assert found.applicable.tolist() == [False, True]
    assert np.isnan(found.bound[0])
    assert "in [0, 1]" in found.reason


def test_the_gibbs_posterior_minimises_the_offline_bound() -> None:
    rng = np.random.default_rng(5)
    losses, prior = rng.random(4), normalised(rng.normal(size=4))
    n, lam = 50, 8.0
    gibbs = normalised(prior - lam * losses)

    def bound(logits: Array) -> float:
        return float(offline(losses, prior, normalised(logits), n=n, lam=lam, scale=1.0).bound)

    best = minimize(bound, np.zeros(4), method="Nelder-Mead", options={"maxiter": 4000})
    assert bound(gibbs) == pytest.approx(best.fun, abs=1e-4)
    assert bound(gibbs) <= best.fun + 1e-9
    least = -np.log((np.exp(prior) * np.exp(-lam * losses)).sum()) / lam
    assert bound(gibbs) == pytest.approx(least + np.log(20) / lam + lam / (8 * n))


def test_bad_settings_are_named() -> None:
    with pytest.raises(ValueError, match="'lam' parameter of Theorem33"):
        Theorem33(lam=0.0, scale=1.0)
    with pytest.raises(ValueError, match="'scale' parameter of Theorem32"):
        Theorem32(lam=1.0, scale=np.inf)
    with pytest.raises(ValueError, match="'n' parameter of offline"):
        offline(np.ones(2), np.zeros(2), np.zeros(2), n=0, lam=1.0, scale=1.0)
