"""The paper's guarantees: formulas, assumptions, and what breaks them."""

from typing import Any

import numpy as np
import pytest
from cases import parts
from registry import of_kind
from scipy.optimize import minimize

from bocopt import run
from bocopt.beliefs import AdaHedge, GibbsPosterior, SafeGrid
from bocopt.beliefs.update import gibbs_update
from bocopt.core import Array, BeliefReport, LossBounds, LossReport
from bocopt.guarantees import (
    Comparator,
    Corollary35,
    Evidence,
    Theorem32,
    Theorem33,
    certify,
    evidence_of,
    gibbs,
    offline,
)
from bocopt.losses import Clipped, DecisionRegret
from bocopt.numeric.weights import normalised, uniform
from bocopt.paper import BMA, PaperStream, ResampleMove, SigmoidLinear
from bocopt.priors import Gaussian
from bocopt.problems import Knapsack
from bocopt_studies.guarantees.simulated_beliefs import AGGREGATED, FiniteBelief, Squared

STAGES, LAM = 60, 0.5
ON_BELIEFS = [
    type(found)
    for found in of_kind("guarantee").values()
    if hasattr(found, "lam") and hasattr(found, "scale")
]


def stages_of(seeds: int = 3, restless: bool = False) -> list[Evidence]:
    stages = FiniteBelief(restless=restless).stages(np.arange(seeds), STAGES)
    return [evidence for evidence, _ in stages]


def mean(stages: list[Evidence], name: str) -> Array:
    found: Array = sum(getattr(e.belief.losses, name) for e in stages) / len(stages)
    return found


def test_the_formulas_by_hand() -> None:
    stages = stages_of()
    price = 0.2 * 4.0 / 8 + np.log(20) / 0.2 / STAGES
    three = certify(Theorem33(lam=0.2, scale=2.0), stages)
    two = certify(Theorem32(lam=0.2, scale=2.0), stages)
    own = certify(Theorem32(lam=LAM, scale=2.0), stages)
    assert three.bound == pytest.approx(mean(stages, "mean_loss") + price)
    explicit = mean(stages, "posterior_loss") + mean(stages, "kl") / 0.2
    assert two.bound == pytest.approx(explicit + price)
    price = LAM * 4.0 / 8 + np.log(20) / LAM / STAGES
    assert own.bound == pytest.approx(mean(stages, "mix_loss") + price)  # the Gibbs minimum


def shown(losses: LossReport) -> Evidence:
    """A stage of one trial, of losses in [0, 1]."""
    one = np.array(1.0)
    bounds = LossBounds(np.array(0.0), one, one)
    return Evidence(np.array(0.0), belief=BeliefReport(losses, bounds, intact=one))


def changed(evidence: Evidence, **parts: Any) -> Evidence:
    """With other numbers, wherever they stand in it."""

    def put(report: Any) -> Any:
        nested = {n: put(p) for n, p in report._asdict().items() if hasattr(p, "_asdict")}
        return report._replace(**nested, **{n: v for n, v in parts.items() if n in report._fields})

    found: Evidence = put(evidence)
    return found


def test_the_gibbs_update_minimises_theorem_32() -> None:
    """Of all posteriors of a stage: by numerical optimisation."""
    rng = np.random.default_rng(4)
    prior, loss = normalised(rng.normal(size=4)), rng.random(4)
    update = gibbs_update(prior, loss, LAM)

    def bound(logits: Array) -> float:
        log_q = normalised(logits)
        kl = (np.exp(log_q) * (log_q - prior)).sum()
        other = changed(shown(update.losses), posterior_loss=np.exp(log_q) @ loss, kl=kl)
        return float(certify(Theorem32(lam=LAM, scale=1.0), [other]).bound)

    best = minimize(bound, np.zeros(4), method="Nelder-Mead", options={"maxiter": 4000})
    ours = certify(Theorem32(lam=LAM, scale=1.0), [shown(update.losses)])
    assert float(ours.bound) == pytest.approx(best.fun, abs=1e-4)
    assert float(ours.bound) <= best.fun + 1e-12


def test_the_comparator_holds_for_every_run_and_is_the_least_over_mixtures() -> None:
    lam, seeds = LAM, np.arange(50)
    stages = [evidence for evidence, _ in FiniteBelief().stages(seeds, STAGES)]
    found = certify(Comparator(lam=lam, scale=1.0), stages)
    assert (found.value <= found.bound + 1e-12).all()
    assert found.delta == 0.0
    log_w, total = uniform((), 3), np.zeros(3)  # against its definition, on three parameters
    rng, seen = np.random.default_rng(0), []
    for _ in range(20):
        loss = rng.random(3)
        update = gibbs_update(log_w, loss, lam)
        seen.append(shown(update.losses))
        log_w, total = update.log_w, total + loss

    def infimum(logits: Array) -> float:
        rho = normalised(logits)
        return float((np.exp(rho) * (total + (rho + np.log(3)) / lam)).sum())

    best = minimize(infimum, np.zeros(3), method="Nelder-Mead").fun
    one = certify(Comparator(lam=lam, scale=1.0), seen)
    assert 20 * float(one.bound) == pytest.approx(best + lam * 20 / 8, abs=1e-4)


def test_the_comparator_refuses_moves_and_other_learning_rates() -> None:
    moved = certify(Comparator(lam=LAM, scale=1.0), stages_of(restless=True))
    assert not moved.applicable.any()
    assert "Particles had been moved" in moved.note
    other = certify(Comparator(lam=0.4, scale=1.0), stages_of())
    assert not other.applicable.any()
    assert "own lam was not 0.4" in other.note


def test_jensen_can_be_refuted_never_certified() -> None:
    pairs = list(Squared().stages(np.arange(4), STAGES))
    stages = [evidence for evidence, _ in pairs]
    kept = certify(Corollary35(lam=LAM, scale=1.0), stages)
    assert kept.applicable.all()
    assert "Mixability: not refuted (mean gap -" in kept.note
    assert "certified" not in kept.note
    risk = sum(risks[AGGREGATED] for _, risks in pairs) / STAGES
    assert (risk <= kept.bound).all()
    worse = [e._replace(loss=e.belief.losses.mean_loss + 0.1) for e in stages]
    found = certify(Corollary35(lam=LAM, scale=1.0), worse)
    assert not found.applicable.any()
    assert "Jensen's inequality was refuted on 240 stages, in 4 of 4 trials" in found.note
    assert "refuted on 100% of stages" in found.note
    assert "`AgainstOneDraw` and `ClippedRegret` need neither" in found.note


def test_the_corollary_goes_on_where_only_mixability_is_refuted() -> None:
    """What the decision lost is at most the belief's mean loss, but above its mix loss."""
    stages = [e for e, _ in Squared().stages(np.arange(4), STAGES)]
    between = [
        e._replace(loss=(e.belief.losses.mean_loss + e.belief.losses.mix_loss) / 2) for e in stages
    ]
    found = certify(Corollary35(lam=LAM, scale=1.0), between)
    assert found.applicable.all()
    assert found.bound == pytest.approx(certify(Theorem33(lam=LAM, scale=1.0), stages).bound)
    assert "Mixability: refuted on 100% of stages" in found.note
    assert "Jensen's inequality: not refuted" in found.note
    assert any("for every outcome" in text for text in found.assumptions)
    assert not any("mixability" in text for text in found.assumptions)


@pytest.mark.parametrize("theorem", ON_BELIEFS)
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"largest_loss": np.array([1.2, 1.0])}, "outside [0, 1]"),
        ({"largest_loss": np.array([np.inf, 1.0])}, "says nothing of its belief"),
        ({"least_loss": np.array([-0.1, 0.0])}, "outside [0, 1]"),
        ({"loss_upper": np.array([np.inf, 1.0])}, "not known to be in [0, 1]"),
        ({"loss_upper": np.array([np.nan, 1.0])}, "not known to be in [0, 1]"),
        ({"loss_lower": np.array([-1.0, 0.0])}, "not known to be in [0, 1]"),
        ({"mean_loss": np.array([np.nan, 0.5])}, "says nothing of its belief"),
        ({"stale": np.array([True, False])}, "Another belief had decided"),
    ],
    ids=["large", "infinite", "negative", "unbounded", "unsaid", "below", "unknown", "stale"],
)
def test_a_broken_assumption_gives_no_number(
    theorem: type[Theorem33], change: dict[str, Any], why: str
) -> None:
    stages = [e._replace(loss=np.zeros(2)) for e in stages_of(2)]
    stages[5] = changed(stages[5], **change)
    found = certify(theorem(lam=LAM, scale=1.0), stages)
    assert found.applicable.tolist() == [False, True]
    assert np.isnan(found.bound[0])
    assert why in found.note


@pytest.mark.parametrize(
    "change", [{"loss": np.array(np.nan)}, {"loss_is_regret": np.array(0.0)}], ids=["none", "other"]
)
def test_a_corollary_on_regret_needs_a_belief_that_learns_from_it(change: dict[str, Any]) -> None:
    stages = [e._replace(loss=np.zeros(2)) for e in stages_of(2)]
    assert certify(Corollary35(lam=LAM, scale=1.0), stages).applicable.all()
    stages[3] = changed(stages[3], **change)
    found = certify(Corollary35(lam=LAM, scale=1.0), stages)
    assert not found.applicable.any()
    assert "is unknown, or not what the policy learns from" in found.note
    assert "nan" not in found.note


def test_what_was_not_shown_is_a_reason_too() -> None:
    stages = [changed(e, kl=np.array(np.nan)) for e in stages_of(2)]
    found = certify(Theorem32(lam=LAM, scale=1.0), stages)
    assert not found.applicable.any()
    assert "was not shown, or is not a finite number" in found.note


def test_the_own_loss_is_cut_at_the_cap_and_is_what_was_seen() -> None:
    stages = [e._replace(loss=e.belief.losses.mix_loss / 2) for e in stages_of(2)]
    lucky = certify(Corollary35(lam=LAM, scale=3.0), stages)
    assert lucky.value == pytest.approx(mean(stages, "mix_loss") / 2)
    assert lucky.bound == pytest.approx(certify(Theorem33(lam=LAM, scale=3.0), stages).bound)
    all_lose: dict[str, Any] = {n: np.ones(2) for n in ("mean_loss", "mix_loss", "largest_loss")}
    capped = [changed(e, loss=np.full(2, 2.5), **all_lose) for e in stages]
    assert certify(Corollary35(lam=LAM, scale=3.0), capped).value == pytest.approx([1.0, 1.0])


def test_only_what_happened_before_a_stage_ends_its_comparison() -> None:
    stages = stages_of(2)
    stages[-1] = changed(stages[-1], intact=np.zeros(2))
    assert certify(Comparator(lam=LAM, scale=1.0), stages).applicable.all()
    assert not certify(Comparator(lam=LAM, scale=1.0), [*stages, stages[0]]).applicable.any()


@pytest.mark.parametrize("theorem", [Theorem32, Theorem33, Corollary35])
def test_late_outcomes_are_an_assumption_of_the_theorems_too(theorem: type[Theorem33]) -> None:
    stages = [e._replace(loss=np.zeros(2)) for e in stages_of(2)]
    prompt = certify(theorem(lam=LAM, scale=1.0), stages)
    stages[3] = stages[3]._replace(late=np.array([True, False]))
    found = certify(theorem(lam=LAM, scale=1.0), stages)
    assert found.applicable.all()
    assert "came late or never" in found.assumptions[-1]
    assert "came late or never" not in " ".join(prompt.assumptions)


PROBLEM = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3)
PREDICTOR = SigmoidLinear(dim_x=3, dim_xi=12)


@pytest.mark.parametrize("sampler", [GibbsPosterior, ResampleMove])
def test_a_live_belief_is_certified_once_its_losses_are_clipped(
    sampler: type[GibbsPosterior],
) -> None:
    prior, plain = Gaussian.isotropic(48), DecisionRegret(PROBLEM, PREDICTOR)
    for loss, fine in ((plain, False), (Clipped(plain, at=100.0), True)):
        policy = BMA(PROBLEM, PREDICTOR, sampler(prior=prior, loss=loss, lam=1e-4))
        seen = run(policy, PaperStream(), problem=PROBLEM, seeds=range(3), horizon=30)
        stages = [evidence_of(PROBLEM, stage) for stage in seen]
        for guarantee in (Theorem32, Theorem33, Comparator):
            found = guarantee(lam=1e-4, scale=100.0)
            said = certify(found, stages)
            assert said.applicable.all() == fine
            assert ("at its cap of 100 on" in said.note) == fine
            assert ("not known to be in [0, 100]" in said.note) == (not fine)
        own = certify(Theorem32(lam=1e-4, scale=100.0), stages)
        if fine:
            capped = sum(int((e.belief.losses.largest_loss == 100.0).sum()) for e in stages)
            assert f"on {capped} stages, in 3 of 3 trials" in own.note
            mix = mean(stages, "mix_loss") + 1e-4 * 1e4 / 8 + np.log(20) / 1e-4 / 30
            assert own.bound == pytest.approx(mix)


@pytest.mark.parametrize(
    "settings",
    [
        {"lam": 0.02},
        {"switch_rate": 0.2},
        {"discount": 0.9},
        {"window": 5},
        {"lam": AdaHedge(1e-3)},
    ],
    ids=["moves", "share", "discount", "window", "learning rate"],
)
def test_whatever_else_happens_to_a_belief_is_seen(settings: dict[str, Any]) -> None:
    loss = Clipped(DecisionRegret(PROBLEM, PREDICTOR), at=100.0)
    sampler = ResampleMove(
        prior=Gaussian.isotropic(48), loss=loss, **dict[str, Any](lam=1e-4, size=20) | settings
    )
    seen = run(BMA(PROBLEM, PREDICTOR, sampler), PaperStream(), seeds=0, horizon=30)
    stages = [evidence_of(PROBLEM, stage) for stage in seen]
    lam = settings.get("lam", 1e-4)
    found = certify(Comparator(lam=1e-4 if callable(lam) else lam, scale=100.0), stages)
    assert not found.applicable
    assert "moved or reweighted otherwise" in found.note


def test_more_sweeps_are_a_move() -> None:
    loss = Clipped(DecisionRegret(PROBLEM, PREDICTOR), at=100.0)
    sampler = ResampleMove(prior=Gaussian.isotropic(48), loss=loss, lam=1e-4, size=20)
    x, xi = next(PaperStream().stages(np.arange(2)))
    belief = sampler.step(sampler.init(np.arange(2)), 0, x, xi)
    assert (belief.info.belief.intact == 1).all()
    assert (sampler.refresh(belief, 1).info.belief.intact == 0).all()


def test_a_grid_that_changes_its_learning_rate_changes_its_belief() -> None:
    loss = Clipped(DecisionRegret(PROBLEM, PREDICTOR), at=100.0)
    sampler = ResampleMove(
        prior=Gaussian.isotropic(48), loss=loss, lam=1.0, size=20, threshold=0.06
    )
    grid = SafeGrid(sampler, lams=[1e-4, 1e-3, 1e-2])
    stream, belief = PaperStream().stages(np.arange(20)), grid.init(np.arange(20))
    switches = 0
    for t, (x, xi) in zip(range(20), stream, strict=False):
        before, belief = belief.chosen, grid.step(belief, t, x, xi)
        same = (before == belief.chosen) & (belief.info.rejuvenated == 0)
        assert (belief.info.belief.intact == same).all()
        switches += int((before != belief.chosen).sum())
    assert switches > 5


def test_a_gradient_policy_has_no_belief_to_certify() -> None:
    policy, problem, stream = parts("paper", "PtO")
    seen = [
        evidence_of(problem, s) for s in run(policy, stream, problem=problem, seeds=0, horizon=5)
    ]
    found = certify(Theorem33(lam=1e-3, scale=100.0), seen)
    assert not found.applicable
    assert "says nothing of its belief on 5 stages" in found.note


def test_the_gibbs_posterior_minimises_the_offline_bound() -> None:
    rng = np.random.default_rng(5)
    n, lam = 50, 8.0
    losses, prior = rng.random((n, 4)), normalised(rng.normal(size=4))

    def bound(logits: Array) -> float:
        return float(offline(losses, prior, normalised(logits), lam=lam, scale=1.0).bound)

    best = minimize(bound, np.zeros(4), method="Nelder-Mead", options={"maxiter": 4000})
    ours = float(offline(losses, prior, lam=lam, scale=1.0).bound)
    assert bound(gibbs(losses, prior, lam=lam)) == pytest.approx(ours, rel=1e-12)
    assert ours == pytest.approx(best.fun, abs=1e-4)
    assert ours <= best.fun + 1e-9
    least = -np.log((np.exp(prior) * np.exp(-lam * losses.mean(axis=0))).sum()) / lam
    assert ours == pytest.approx(least + np.log(20) / lam + lam / (8 * n))


def test_a_posterior_on_one_parameter_has_a_finite_bound() -> None:
    prior = uniform((), 4)
    certain = np.array([0.0, -np.inf, -np.inf, -np.inf])
    losses = np.full((100, 4), 0.5)
    found = offline(losses, prior, certain, lam=10.0, scale=1.0)
    assert float(found.slack) == pytest.approx((np.log(4) + np.log(20)) / 10 + 10 / 800)
    losses[7, 2] = 1.5  # the mean is still inside
    out = offline(losses, prior, lam=10.0, scale=1.0)
    assert not out.applicable
    assert "outside [0, 1] on 1 stage" in out.note
    strange = offline(losses[:5], certain, prior, lam=10.0, scale=1.0)
    assert "where the prior has none" in strange.note


def test_bad_settings_are_named() -> None:
    with pytest.raises(ValueError, match="'lam' parameter of Theorem33"):
        Theorem33(lam=0.0, scale=1.0)
    with pytest.raises(ValueError, match="'scale' parameter of Theorem32"):
        Theorem32(lam=1.0, scale=np.inf)
    with pytest.raises(ValueError, match="'losses' parameter of offline"):
        offline(np.ones((0, 2)), uniform((), 2), lam=1.0, scale=1.0)
    with pytest.raises(ValueError, match="'losses' parameter of offline"):
        offline(np.array([[np.nan, 0.0]]), uniform((), 2), lam=1.0, scale=1.0)
    with pytest.raises(ValueError, match="'log_posterior' parameter of offline"):
        offline(np.ones((5, 2)), uniform((), 2), np.zeros(2), lam=1.0, scale=1.0)
    with pytest.raises(ValueError, match="'at' parameter of Clipped"):
        Clipped(DecisionRegret(PROBLEM, PREDICTOR), at=np.nan)
