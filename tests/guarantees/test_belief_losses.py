"""The paper's risks by bets: what they say, what ends them, and that they hold."""

from typing import Any

import numpy as np
import pytest
from lengths import long
from scipy.stats import binomtest

from bocopt import run
from bocopt.beliefs import GibbsPosterior
from bocopt.core import Array
from bocopt.guarantees import (
    AgainstOneDraw,
    ClippedRegret,
    Corollary35,
    Evidence,
    OneDraw,
    Theorem33,
    UpdatedBeliefs,
    betting,
    certify,
    evidence_of,
)
from bocopt.guarantees.monitor import Monitor
from bocopt.losses import Clipped, DecisionRegret
from bocopt.paper import BMA, PaperStream, PtO, SigmoidLinear
from bocopt.priors import Gaussian
from bocopt.problems import Knapsack
from bocopt_studies.guarantees.cover import used
from bocopt_studies.guarantees.simulated_beliefs import FiniteBelief, Squared
from bocopt_studies.guarantees.simulated_losses import LOSSES, RISKS, certificates

STAGES = 60
ON_BELIEFS = [AgainstOneDraw, OneDraw, UpdatedBeliefs]


def stages_of(seeds: int = 3) -> list[Evidence]:
    return [evidence for evidence, _ in Squared().stages(np.arange(seeds), STAGES)]


def losses_of(stages: list[Evidence], name: str) -> Array:
    """(t, trials)"""
    return np.stack([getattr(e.belief.losses, name) for e in stages])


def bet_on(outcomes: Array, low: float, high: float, delta: float, nats: Any = 0.0) -> Array:
    bets = betting.no_bets(outcomes.shape[1:], high - low)
    for outcome in outcomes:
        bets = betting.update(bets, outcome, np.array(low), np.array(high))
    return betting.most(bets, delta, nats) / len(outcomes)


def test_the_bounds_are_those_of_bets_on_what_was_lost() -> None:
    stages = stages_of()
    own, mean = np.stack([e.loss for e in stages]), losses_of(stages, "mean_loss")
    drawn = certify(OneDraw(scale=2.0), stages)
    assert drawn.value == pytest.approx(mean.mean(axis=0))
    assert drawn.bound == pytest.approx(bet_on(mean, 0.0, 2.0, 0.05))
    regret = certify(ClippedRegret(scale=0.5), stages)
    assert regret.value == pytest.approx(np.minimum(own, 0.5).mean(axis=0))
    assert regret.bound == pytest.approx(bet_on(np.minimum(own, 0.5), 0.0, 0.5, 0.05))
    assert f"above 0.5 on {int((own > 0.5).sum())} stages" in regret.note
    apart, against = own - mean, AgainstOneDraw(scale=2.0)
    found = certify(against, stages)
    assert found.value == pytest.approx(apart.mean(axis=0))
    assert found.bound == pytest.approx(bet_on(apart, -2.0, 2.0, 0.025))
    state: Any = against.init((3,))
    for e in stages:
        state = against.step(state, e)
    low, high = against.interval(state)
    assert high == pytest.approx(found.bound)
    assert low == pytest.approx(-bet_on(-apart, -2.0, 2.0, 0.025))


def test_updated_beliefs_are_bet_on_by_their_mean_and_pay_for_their_divergence() -> None:
    """For losses of 0 or C the chord is the curve: the bets are those at each particle."""
    stages = [e for e, _ in FiniteBelief(coins=5).stages(np.arange(3), STAGES)]
    lost, kl = losses_of(stages, "posterior_loss"), losses_of(stages, "kl").sum(axis=0)
    found = certify(UpdatedBeliefs(scale=1.0), stages)
    assert found.value == pytest.approx(lost.mean(axis=0))
    gain = (lost[..., None] * np.log1p(-betting.STAKES)).sum(axis=0)
    bets = betting.of_gains(gain, np.full(3, STAGES))
    assert found.bound == pytest.approx(betting.most(bets, 0.05, kl) / STAGES)
    assert (found.bound > certify(UpdatedBeliefs(scale=1.0, delta=0.2), stages).bound).all()


@pytest.mark.parametrize("theorem", ON_BELIEFS)
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"largest_loss": np.array([1.2, 1.0, 1.0])}, "outside [0, 1]"),
        ({"least_loss": np.array([-0.1, 0.0, 0.0])}, "outside [0, 1]"),
        ({"loss_upper": np.array([np.inf, 1.0, 1.0])}, "not known to be in [0, 1]"),
        ({"mean_loss": np.array([np.nan, 0.5, 0.5])}, "says nothing of its belief"),
        ({"stale": np.array([True, False, False])}, "Another belief had decided"),
    ],
    ids=["large", "negative", "unbounded", "unknown", "stale"],
)
def test_a_broken_assumption_gives_no_number(
    theorem: type[OneDraw], change: dict[str, Array], why: str
) -> None:
    stages = stages_of()
    e, losses = stages[5], stages[5].belief.losses
    own = {name: value for name, value in change.items() if name in losses._fields}
    belief = e.belief._replace(losses=losses._replace(**own))
    if "loss_upper" in change:
        belief = belief._replace(bounds=belief.bounds._replace(**change))
    stages[5] = e._replace(belief=belief, stale=change.get("stale", np.zeros(3)) > 0)
    found = certify(theorem(scale=1.0), stages)
    assert found.applicable.tolist() == [False, True, True]
    assert np.isnan(found.bound[0])
    assert why in found.note


def test_decisions_without_hindsight_have_no_regret_to_bound() -> None:
    stages = stages_of()
    stages[3] = stages[3]._replace(loss=np.array([np.nan, 0.5, -0.5]))
    found = certify(ClippedRegret(scale=1.0), stages)
    assert found.applicable.tolist() == [False, True, False]
    assert "hindsight is unknown on 1 stage" in found.note
    assert "better than the best in hindsight on 1 stage" in found.note
    against = certify(AgainstOneDraw(scale=1.0), stages)
    assert not against.applicable[0]
    assert "loss is unknown" in against.note


def test_late_outcomes_are_an_assumption_here_too() -> None:
    stages = stages_of()
    for guarantee in certificates(1.0).values():
        assert "came late or never" not in " ".join(certify(guarantee, stages).assumptions)
        late = [*stages, stages[0]._replace(late=np.ones(3, bool))]
        assert "came late or never" in certify(guarantee, late).assumptions[-1]


@pytest.mark.parametrize(
    ("shift", "said"), [(-0.3, "it pays to"), (0.3, "it costs to"), (0.0, "it is open whether")]
)
def test_whether_aggregation_pays_is_said(shift: float, said: str) -> None:
    stages = [e for e, _ in FiniteBelief().stages(np.array(0), 200)]
    moved = [e._replace(loss=0.5 + 0.5 * shift + 0.0 * e.cost) for e in stages]
    even = [e._replace(belief=e.belief._replace(losses=_half(e))) for e in moved]
    assert said in certify(AgainstOneDraw(scale=1.0), even).note


def _half(evidence: Evidence) -> Any:
    half = np.full(np.shape(evidence.cost), 0.5)
    losses = evidence.belief.losses
    return losses._replace(mean_loss=half, least_loss=0.0 * half, largest_loss=2.0 * half)


PROBLEM = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3)
PREDICTOR = SigmoidLinear(dim_x=3, dim_xi=12)


def test_they_apply_on_the_papers_stream_where_the_corollary_does_not() -> None:
    """In all trials, those in which Jensen's inequality is refuted included."""
    loss = Clipped(DecisionRegret(PROBLEM, PREDICTOR), at=100.0)
    sampler = GibbsPosterior(prior=Gaussian.isotropic(48), loss=loss, lam=1e-4, size=20)
    policy = BMA(PROBLEM, PREDICTOR, sampler)
    seen = run(policy, PaperStream(), problem=PROBLEM, seeds=range(6), horizon=300)
    stages = [evidence_of(PROBLEM, stage) for stage in seen]
    printed = certify(Corollary35(lam=0.004, scale=100.0), stages)
    assert (~printed.applicable).sum() >= 3
    against = certify(AgainstOneDraw(scale=100.0), stages)
    assert against.applicable.all()
    assert (against.bound < 0).all()  # aggregation pays, for sure
    regret = certify(ClippedRegret(scale=100.0), stages)
    assert regret.applicable.all()
    assert (regret.slack < certify(Theorem33(lam=0.004, scale=100.0), stages).slack / 2).all()
    halves = [certify(kind(scale=100.0, delta=0.025), stages) for kind in (OneDraw, AgainstOneDraw)]
    assert (regret.bound < halves[0].bound + halves[1].bound).all()  # two bets are no better


def test_any_policy_has_a_clipped_regret() -> None:
    policy = PtO(problem=PROBLEM, predictor=PREDICTOR, prior=Gaussian.isotropic(48))
    monitor = Monitor(PROBLEM, [ClippedRegret(scale=100.0), OneDraw(scale=100.0)])
    for stage in run(policy, PaperStream(), problem=PROBLEM, seeds=0, horizon=20):
        monitor.observe(stage)
    regret, drawn = monitor.certificates()[-2:]
    assert regret.applicable
    assert regret.assumptions == ()
    assert not drawn.applicable
    assert "says nothing of its belief" in drawn.note


@pytest.mark.parametrize(("many", "horizon"), [(100, 40), long(1000, 200)])
@pytest.mark.parametrize("name", LOSSES)
def test_they_fail_no_more_often_than_they_may(name: str, many: int, horizon: int) -> None:
    """Stopped at the worst time of each run, whatever the adversary."""
    simulation = LOSSES[name]
    for delta in (0.05, 0.2):
        tried = {(n, delta): (RISKS[n], g) for n, g in certificates(1.0, delta).items()}
        for key, shares in used(simulation, tried, np.arange(many), horizon).items():
            low = binomtest(int((shares > 1).sum()), many).proportion_ci(0.99).low
            assert low <= delta, (name, key)


def test_bad_settings_are_named() -> None:
    kinds: list[Any] = [*ON_BELIEFS, ClippedRegret]
    for kind in kinds:
        with pytest.raises(ValueError, match=f"'scale' parameter of {kind.__name__}"):
            kind(scale=0.0)
        with pytest.raises(ValueError, match=f"'delta' parameter of {kind.__name__}"):
            kind(scale=1.0, delta=1.0)
