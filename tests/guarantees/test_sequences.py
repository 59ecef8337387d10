"""Certificates for the decisions taken: their coverage, and what breaks them."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from bocopt.core import Array
from bocopt.guarantees import (
    Certificate,
    Direct,
    EmpiricalBernstein,
    Evidence,
    Feasibility,
    Guarantee,
    HoeffdingMixture,
    certify,
)
from bocopt.guarantees.boundaries import _RATES, empirical_bernstein, hoeffding
from bocopt.smc import for_horizon

RUNS, STAGES = 1000, 80


def evidence(cost: Array, low: float = 0.0, high: float = 1.0) -> Evidence:
    none = np.full(cost.shape, np.nan)
    return Evidence(
        cost=cost,
        low=np.full(cost.shape, low),
        high=np.full(cost.shape, high),
        feasible=cost < 1.0,
        loss=none,
        mean_loss=none,
        mix_loss=none,
        largest_loss=none,
        moved=np.zeros(cost.shape, bool),
    )


def skewed(rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
    """Rare large costs whose chance follows from the past: the policy plays with fire."""
    behind = np.zeros(RUNS)
    for _ in range(STAGES):
        chance = np.where(behind < 0, 0.4, 0.05)
        cost = (rng.random(RUNS) < chance).astype(float)
        behind += cost - chance
        yield cost, chance


def steady(rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
    for _ in range(STAGES):
        yield rng.beta(2.0, 6.0, RUNS), np.full(RUNS, 0.25)


def _guarantees(delta: float) -> dict[str, Guarantee[Any]]:
    return {
        f"direct {delta}": Direct(lam=for_horizon(STAGES, 1.0, delta), delta=delta),
        f"mixture {delta}": HoeffdingMixture(delta=delta),
        f"bernstein {delta}": EmpiricalBernstein(scale=1.0, delta=delta),
    }


GUARANTEES = {**_guarantees(0.05), **_guarantees(0.2)}


@pytest.mark.parametrize("name", GUARANTEES)
@pytest.mark.parametrize("stream", [skewed, steady])
def test_the_true_risk_stays_below_the_bound_at_all_times(
    name: str, stream: Callable[[np.random.Generator], Iterator[tuple[Array, Array]]]
) -> None:
    """Stopped at the worst time: a run counts as violated if it ever was."""
    guarantee = GUARANTEES[name]
    state, risk = guarantee.init((RUNS,)), np.zeros(RUNS)
    violated = np.zeros(RUNS, bool)
    for t, (cost, mean) in enumerate(stream(np.random.default_rng(0)), start=1):
        state, risk = guarantee.step(state, evidence(cost)), risk + mean
        found = guarantee.certificate(state)
        assert found.applicable.all()
        violated |= risk / t > found.bound
    low = binomtest(int(violated.sum()), RUNS).proportion_ci(0.99).low
    assert low <= found.delta
    assert (found.bound > found.value).all()


def test_bernstein_is_tighter_where_costs_hardly_vary() -> None:
    rng = np.random.default_rng(1)
    stages = [evidence(0.3 + 0.02 * rng.normal(size=4)) for _ in range(1000)]
    one, other = (certify(g, stages) for g in (EmpiricalBernstein(scale=1.0), HoeffdingMixture()))
    assert (one.slack < 0.4 * other.slack).all()


def test_the_mixture_is_nearly_as_tight_as_the_best_rate_at_every_time() -> None:
    for stages in (100, 1000, 10_000):
        best = np.sqrt(stages * np.log(20) / 2)  # lam* for this horizon, range 1
        assert hoeffding(np.array(float(stages)), 0.05) < 1.5 * best


def test_boundaries_are_where_the_mixture_reaches_its_level() -> None:
    v = np.array([0.5, 20.0])
    s = empirical_bernstein(v, 0.1)
    psi = -np.log1p(-_RATES) - _RATES
    level = np.exp(_RATES * s[:, None] - psi * v[:, None]).mean(axis=-1)
    assert level == pytest.approx([10.0, 10.0], rel=1e-6)


@pytest.mark.parametrize("name", ["direct 0.05", "mixture 0.05", "bernstein 0.05"])
@pytest.mark.parametrize(
    "broken",
    [
        evidence(np.array([1.5])),
        evidence(np.array([-0.1])),
        evidence(np.array([0.5]), low=np.nan),
        evidence(np.array([0.5]), high=np.inf),
    ],
    ids=["above", "below", "no range", "unbounded"],
)
def test_a_broken_range_gives_no_number(name: str, broken: Evidence) -> None:
    stages = [evidence(np.array([0.5])), broken, evidence(np.array([0.5]))]
    found: Certificate = certify(GUARANTEES[name], stages)
    assert not found.applicable.any()
    assert np.isnan(found.bound).all()
    assert "known before xi and not exceeded" in found.reason


def test_a_range_wider_than_declared_gives_no_number() -> None:
    stages = [evidence(np.array([0.5]), high=3.0)]
    found = certify(EmpiricalBernstein(scale=2.0), stages)
    assert not found.applicable.any()
    assert "declared 2" in found.reason
    assert certify(EmpiricalBernstein(scale=3.0), stages).applicable.all()


def test_a_bound_that_says_nothing_is_called_vacuous() -> None:
    few, many = ([evidence(np.array([0.2]))] * n for n in (3, 3000))
    assert certify(HoeffdingMixture(), few).vacuous.all()
    assert not certify(HoeffdingMixture(), many).vacuous.any()


def test_the_price_of_a_small_lambda() -> None:
    """The print's 1e-4 costs 30 a stage at C = 100 and T = 1000, lam* 3.9 (E13)."""
    stages = [evidence(np.array([50.0]), high=100.0)] * 1000
    printed, best = (certify(Direct(lam=lam), stages) for lam in (1e-4, for_horizon(1000, 100.0)))
    assert printed.slack == pytest.approx([30.1], abs=0.1)
    assert best.slack == pytest.approx([3.87], abs=0.01)


def test_feasibility_is_met_open_or_not() -> None:
    rng = np.random.default_rng(2)
    for rate, word in ((0.99, "is met"), (0.5, "is not met"), (0.9, "still open")):
        costs = (rng.random((1500, 1)) > rate).astype(float)
        found = certify(Feasibility(alpha=0.9), [evidence(c) for c in costs])
        assert word in found.reason
    state = Feasibility().init((1,))
    for c in costs:
        state = Feasibility().step(state, evidence(c))
    low, high = Feasibility().rates(state)
    assert low[0] < 0.9 < high[0]


def test_nothing_to_certify_is_an_error() -> None:
    with pytest.raises(ValueError, match="no stages"):
        certify(HoeffdingMixture(), [])
