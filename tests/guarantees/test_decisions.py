"""Certificates for the decisions taken: formulas, tightness, and what breaks them."""

from typing import Any

import numpy as np
import pytest
from registry import of_kind
from scipy.optimize import brentq

from bocopt.beliefs import for_horizon
from bocopt.core import Array
from bocopt.guarantees import (
    Certificate,
    Direct,
    EmpiricalBernstein,
    Evidence,
    Feasibility,
    Guarantee,
    HoeffdingMixture,
    Tightest,
    certify,
    guide,
    headline,
)
from bocopt.guarantees.boundaries import BERNSTEIN, HOEFFDING, RateMixture
from bocopt.guarantees.certificate import certificate
from bocopt.guarantees.decisions import RISK


def evidence(cost: Array, low: float = 0.0, high: float = 1.0) -> Evidence:
    return Evidence(
        cost=cost,
        low=np.full(cost.shape, low),
        high=np.full(cost.shape, high),
        feasible=np.asarray(cost < 1.0),
    )


#: Those of the cost of the decisions taken.
GUARANTEES = {
    name: found
    for name, found in of_kind("guarantee").items()
    if found.certificate(found.init(())).risk == RISK
}


RAGGED = [  # cost, low, high
    (0.3, 0.2, 0.6),
    (1.0, 0.5, 2.0),
    (0.1, 0.0, 0.1),
    (2.0, 1.0, 3.0),
]


def ragged() -> list[Evidence]:
    return [
        evidence(np.array([cost]), low, high)._replace(feasible=np.array([cost < 1]))
        for cost, low, high in RAGGED
    ]


def reached(mixture: RateMixture, v: float, delta: float) -> float:
    """Where the mixture of exp(r s - psi v) reaches 1 / delta, by bisection."""
    rates, psi, w = mixture

    def excess(s: float) -> float:
        return float((w * np.exp(rates * s - psi * v)).sum() - 1 / delta)

    return float(brentq(excess, 0.0, 50.0))


def test_by_hand_on_four_stages_with_different_ranges() -> None:
    costs = [0.3, 1.0, 0.1, 2.0]
    wide = np.array([0.4, 1.5, 0.1, 2.0])
    found = certify(HoeffdingMixture(delta=0.1), ragged())
    slack = 0.4 * reached(HOEFFDING, ((wide / 0.4) ** 2).sum(), 0.1)
    assert found.value == pytest.approx([np.mean(costs)])
    assert found.slack == pytest.approx([slack / 4])
    found = certify(Direct(lam=0.7, delta=0.1), ragged())
    assert found.slack == pytest.approx([(0.7 * (wide**2).sum() / 8 + np.log(10) / 0.7) / 4])
    x = np.array([0.1, 0.5, 0.1, 1.0]) / 2.5  # above low, in units of the declared range
    predicted = np.array([0.5, (0.5 + x[0]) / 2, (0.5 + x[:2].sum()) / 3, (0.5 + x[:3].sum()) / 4])
    found = certify(EmpiricalBernstein(scale=2.5, delta=0.1), ragged())
    slack = 2.5 * reached(BERNSTEIN, ((x - predicted) ** 2).sum(), 0.1)
    assert found.slack == pytest.approx([slack / 4])
    state = Feasibility(delta=0.1).init((1,))
    for e in ragged():
        state = Feasibility(delta=0.1).step(state, e)
    assert state.infeasible == [2.0]


def test_rounding_does_not_exceed_a_range_and_more_does() -> None:
    a_hair = evidence(np.array([1.0 + 1e-15, -1e-15]))
    assert all(certify(g, [a_hair]).applicable.all() for g in GUARANTEES.values())
    for cost in (1.0 + 1e-6, -1e-6):
        assert not certify(HoeffdingMixture(), [evidence(np.array([cost]))]).applicable.any()
    far = evidence(np.array([1e9 - 0.1]), low=1e9, high=1e9 + 1)
    assert not certify(HoeffdingMixture(), [far]).applicable.any()


def test_a_first_range_of_nothing_or_almost_nothing() -> None:
    certain, later = evidence(np.array([0.0]), high=0.0), [evidence(np.array([0.5]))] * 9
    assert certify(HoeffdingMixture(), [certain]).slack == [0.0]
    found = certify(HoeffdingMixture(), [certain, *later])
    assert found.slack == pytest.approx(certify(HoeffdingMixture(), later).slack * 9 / 10)
    for tiny in (1e-200, 1e-300):
        small = evidence(np.array([0.0]), high=tiny)
        odd: list[Guarantee[Any]] = [
            HoeffdingMixture(),
            EmpiricalBernstein(scale=tiny, strict=False),
        ]
        for guarantee in odd:
            found = certify(guarantee, [small, *later])
            assert not found.applicable.any()
            assert "not a finite number" in found.note
    huge = certify(headline(scale=1.0), [evidence(np.array([0.0]), low=-1e308, high=1e308)])
    assert not huge.applicable.any()


def test_bernstein_is_tighter_where_costs_hardly_vary() -> None:
    rng = np.random.default_rng(1)
    stages = [evidence(0.3 + 0.02 * rng.normal(size=4)) for _ in range(1000)]
    one, other = (certify(g, stages) for g in (EmpiricalBernstein(scale=1.0), HoeffdingMixture()))
    assert (one.slack < 0.4 * other.slack).all()


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_neither_units_nor_a_first_range_that_is_too_small_matter(unit: float) -> None:
    stages = [evidence(np.array([0.5]))] * 1000
    scaled = [evidence(np.array([0.5 * unit]), high=unit)] * 1000
    plain = certify(HoeffdingMixture(), stages).slack
    assert certify(HoeffdingMixture(), scaled).slack == pytest.approx(plain * unit)
    odd = [evidence(np.array([5e-7]), high=1e-6), *stages]
    assert certify(HoeffdingMixture(), odd).slack < 1.15 * plain


@pytest.mark.parametrize("name", GUARANTEES)
@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (evidence(np.array([1.5])), "outside its range"),
        (evidence(np.array([-0.1])), "outside its range"),
        (evidence(np.array([0.5]), low=np.nan), "No range was known"),
        (evidence(np.array([0.5]), high=np.inf), "No range was known"),
        (evidence(np.array([0.5]))._replace(possible=np.array([False])), "outside the support"),
    ],
    ids=["above", "below", "no range", "unbounded", "impossible"],
)
def test_a_broken_range_gives_no_number(name: str, broken: Evidence, why: str) -> None:
    stages = [evidence(np.array([0.5])), broken, evidence(np.array([0.5]))]
    found = certify(GUARANTEES[name], stages)
    assert not found.applicable.any()
    assert np.isnan(found.bound).all()
    assert np.isnan(found.slack).all()
    assert f"{why}" in found.note
    assert "on 1 stage" in found.note


def test_a_range_wider_than_declared_gives_no_number() -> None:
    stages = [evidence(np.array([0.5]), high=3.0)]
    found = certify(EmpiricalBernstein(scale=2.0), stages)
    assert not found.applicable.any()
    assert "wider than the declared 2 on 1 stage" in found.note
    assert certify(EmpiricalBernstein(scale=3.0), stages).applicable.all()
    kept: Certificate = certify(headline(scale=2.0), stages)  # counts it by its range
    assert kept.applicable.all()
    assert "at most" not in kept.assumptions[0]  # the declared one is known to be false
    assert kept.delta == certify(headline(), stages).delta == 0.05


def test_a_wider_stage_costs_its_range_and_no_more() -> None:
    rng = np.random.default_rng(6)
    narrow = [evidence(c, high=1.0) for c in rng.uniform(0.4, 0.6, (1000, 1))]
    forgiving = EmpiricalBernstein(scale=1.0, strict=False)
    plain = certify(forgiving, narrow)
    assert plain.slack == certify(EmpiricalBernstein(scale=1.0), narrow).slack
    wide = evidence(np.array([2.0]), high=4.0)
    found = certify(forgiving, [*narrow[:500], wide, *narrow[500:]])
    x = np.array([float(e.cost[0]) for e in narrow])  # as if it had not been there, but for
    predicted = (0.5 + np.concatenate([[0.0], np.cumsum(x)[:-1]])) / np.arange(1.0, 1001.0)
    error = ((x - predicted) ** 2).sum()
    rates, psi, w = BERNSTEIN

    def excess(s: float) -> float:
        return float((w * np.exp(rates * s - psi * error - rates**2 / 8 * 16.0)).sum() - 20.0)

    assert found.slack * 1001 == pytest.approx([brentq(excess, 0.0, 50.0)])
    assert found.slack < 1.5 * plain.slack


def test_a_bound_that_says_nothing_is_called_vacuous_and_says_why() -> None:
    few, many = ([evidence(np.array([0.2]))] * n for n in (3, 3000))
    found = certify(HoeffdingMixture(), few)
    assert found.vacuous.all()
    assert "up to 1 wide" in found.note
    assert not certify(HoeffdingMixture(), many).vacuous.any()


def test_the_price_of_a_small_lambda() -> None:
    """The print's 1e-4 costs 30 a stage at C = 100 and T = 1000, lam* 3.9 (E13)."""
    stages = [evidence(np.array([50.0]), high=100.0)] * 1000
    printed, best = (certify(Direct(lam=lam), stages) for lam in (1e-4, for_horizon(1000, 100.0)))
    assert printed.slack == pytest.approx([30.1], abs=0.1)
    assert best.slack == pytest.approx([3.87], abs=0.01)
    advice = guide(1e-4, horizon=1000, scale=100.0)
    assert (advice.slack, advice.least) == pytest.approx((printed.slack[0], best.slack[0]))
    with pytest.warns(UserWarning, match="no less than the range"):
        assert guide(1e-6, horizon=1000, scale=100.0).vacuous


@pytest.mark.parametrize("scale", [1.0, 50.0])
def test_guidance_is_vacuous_from_the_range_on(scale: float) -> None:
    """In an endless stream, lam C^2 / 8 is all that a lam costs: C at 8 / C."""
    assert not guide(7.99 / scale, horizon=10**12, scale=scale).vacuous
    with pytest.warns(UserWarning, match="no less than the range"):
        assert guide(8.01 / scale, horizon=10**12, scale=scale).vacuous


def test_a_bound_that_says_as_much_as_the_range_says_nothing() -> None:
    zero = np.zeros(3)
    found = certificate(
        "name",
        "risk",
        value=zero + 0.5,
        slack=np.array([0.25, 0.5, 0.75]),
        trivial=zero + 1.0,
        delta=0.05,
        assumptions=(),
        broken={},
    )
    assert found.bound.tolist() == [0.75, 1.0, 1.25]
    assert found.vacuous.tolist() == [False, True, True]


def test_feasibility_is_met_open_or_not() -> None:
    rng = np.random.default_rng(2)
    for rate, word in ((0.99, "is met"), (0.5, "is not met"), (0.9, "is open")):
        costs = (rng.random((1500, 1)) > rate).astype(float)
        found = certify(Feasibility(alpha=0.9), [evidence(c) for c in costs])
        assert word in found.note
        assert found.applicable.all() == (rate > 0.5)  # never a number where alpha is not met
    state = Feasibility().init((1,))
    for c in costs:
        state = Feasibility().step(state, evidence(c))
    low, high = Feasibility().interval(state)
    assert low[0] < 0.1 < high[0]
    found = Feasibility().certificate(state)  # without a target there is no verdict
    assert found.applicable.all()
    assert "alpha" not in found.note


def test_the_tightest_is_chosen_trial_by_trial_and_pays_for_all() -> None:
    rng = np.random.default_rng(3)
    costs = np.stack([0.3 + 0.02 * rng.normal(size=500), rng.integers(0, 2, 500)], axis=-1)
    members: list[Guarantee[Any]] = [
        EmpiricalBernstein(scale=1.0, delta=1e-4),
        HoeffdingMixture(delta=0.04),
    ]
    stages = [evidence(c) for c in costs]
    found, (one, other) = certify(Tightest(members), stages), (certify(m, stages) for m in members)
    assert (found.bound == np.minimum(one.bound, other.bound)).all()
    assert (one.bound < other.bound).tolist() == [True, False]
    assert found.delta == pytest.approx(0.0401)
    assert found.note == (
        "By empirical Bernstein in 1 of 2 trials, Hoeffding mixture in 1 of 2 trials."
    )


def test_words() -> None:
    stages = [evidence(np.array(0.2))] * 3000
    found = certify(HoeffdingMixture(), stages)
    assert "With 95% confidence the average expected cost" in found.words()
    assert "is at most 0.2" in found.words()
    assert "provided that the cost lies in a range that is known before xi." in found.words()
    assert "not applicable" in certify(HoeffdingMixture(), [Evidence(np.array(0.2))]).words()
    nothing = certify(headline(scale=1.0), [Evidence(np.array(0.2))]).words()
    assert "By" not in nothing
    assert "No range was known before xi on 1 stage" in nothing


def test_misuse_is_named() -> None:
    with pytest.raises(ValueError, match="no stages"):
        certify(HoeffdingMixture(), [])
    with pytest.raises(ValueError, match="'guarantees' parameter of Tightest"):
        Tightest([])
    with pytest.raises(ValueError, match="for one and the same risk"):
        certify(Tightest([HoeffdingMixture(), Feasibility()]), [evidence(np.array(0.5))])
    doubtful = Tightest([HoeffdingMixture(delta=0.5), HoeffdingMixture(delta=0.5)])
    with pytest.raises(ValueError, match="with a sum below 1"):
        certify(doubtful, [evidence(np.array(0.5))])
    with pytest.raises(ValueError, match="'delta' parameter of Betting"):
        headline(delta=1.0)
    with pytest.raises(ValueError, match="'lam' parameter of Direct"):
        Direct(lam=np.nan)
    with pytest.raises(ValueError, match="'scale' parameter of EmpiricalBernstein"):
        EmpiricalBernstein(scale=0.0)
    with pytest.raises(ValueError, match="'alpha' parameter of Feasibility"):
        Feasibility(alpha=1.5)


@pytest.mark.parametrize("name", GUARANTEES)
def test_only_of_costs_that_were_sure_it_is_said_that_no_outcome_could_change_them(
    name: str,
) -> None:
    guarantee, sure = GUARANTEES[name], evidence(np.array(0.2), 0.2, 0.2)
    said = "No outcome could change what they cost."
    unknown = Evidence(np.array(0.2))
    broken = evidence(np.array(0.5), 0.2, 0.2)
    impossible = sure._replace(possible=np.array(False))
    open_to_change = evidence(np.array(0.2), 0.0, 1.0)
    assert said in certify(guarantee, [sure, sure]).note
    for other in (unknown, broken, impossible, open_to_change):
        assert said not in certify(guarantee, [sure, other]).note
        assert said not in certify(guarantee, [other]).note
    one = evidence(np.array([0.2, 0.2]))._replace(low=np.array([0.2, 0.0]), high=np.array([0.2, 1]))
    assert said not in certify(guarantee, [one]).note


def test_who_is_chosen_is_named_once() -> None:
    found = certify(headline(), [evidence(np.array(0.2))])
    assert found.note == "By betting. The range was up to 1 wide."
    both = Tightest([HoeffdingMixture(), EmpiricalBernstein(scale=0.5)])
    assert certify(both, [evidence(np.array(0.2))] * 3000).note == (
        "By Hoeffding mixture. "
        "empirical Bernstein: The range was wider than the declared 0.5 on 3000 stages."
    )
