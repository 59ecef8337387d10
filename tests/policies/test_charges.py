"""Feasibility and risk in the hedge: what arms are charged, and what that guarantees."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from covering import Cover

from bocopt import Ensemble, Mixture, Replay, minimise, program, real, run
from bocopt.core import Array, Dims, Problem, Risk, Sense
from bocopt.guarantees import BestArm, certify, evidence_of
from bocopt.models import ConstantVariance
from bocopt.paper import PaperStream
from bocopt.policies import Constant
from bocopt.policies.charges import (
    Charges,
    book,
    charged,
    cost_bound,
    no_charges,
    price,
    prices_infeasibility,
)
from bocopt.policies.hedge import hedge, mixability_gap
from bocopt.problems import BinaryKnapsack, Chance, CVaR, Expectation, Knapsack, WorstCase


class Judged:
    """A problem that is asked for its risk alone."""

    dims, sense = Dims(1, 1, 1), Sense.MINIMISE
    solve: Any = None
    cost: Any = None
    violation: Any = None

    def __init__(self, risk: Risk) -> None:
        self.risk = risk


class Books(NamedTuple):
    """Everything that the hedge keeps, for trials at once."""

    total: Array  # (A)
    gap: Array  # ()
    charges: Charges

    def weights(self, prior: Array) -> Array:
        return np.exp(hedge(self.total, self.gap, prior))

    def after(self, problem: Problem, prior: Array, paid: Array, misses: Array) -> "Books":
        w = self.weights(prior)
        charge = charged(problem, self.charges, paid, misses)
        return Books(
            self.total + charge,
            self.gap + mixability_gap(self.total, self.gap, prior, charge),
            book(problem, self.charges, w, paid, misses, charge),
        )


def fresh(lead: tuple[int, ...] = (), arms: int = 2) -> Books:
    return Books(np.zeros((*lead, arms)), np.zeros(lead), no_charges(lead, arms))


TRIALS, PRIOR = 12, np.array([0.9, 0.1])
Stream = Callable[[np.random.Generator, int, Array, Array], tuple[Array, Array]]


def _pairs(*parts: Any) -> Array:
    return np.stack(np.broadcast_arrays(*parts), axis=-1).astype(float)


def _cheap(rng: np.random.Generator, t: int, w: Array, due: Array) -> tuple[Array, Array]:
    """One arm just meets alpha, the other is cheap and never feasible."""
    return _pairs(np.full(TRIALS, 10.0), 5.0), _pairs(rng.random(TRIALS) < 0.1, True)


def _treacherous(rng: np.random.Generator, t: int, w: Array, due: Array) -> tuple[Array, Array]:
    """The cheap arm misses as soon as it is trusted."""
    return _pairs(np.full(TRIALS, 1.0), 0.0), _pairs(rng.random(TRIALS) < 0.1, w[:, 1] > 0.3)


def _bribed(rng: np.random.Generator, t: int, w: Array, due: Array) -> tuple[Array, Array]:
    """The arm that misses is the cheaper, the higher the price of missing."""
    return _pairs(np.full(TRIALS, 1.0), np.exp(-due)), _pairs(rng.random(TRIALS) < 0.1, True)


def _turning(rng: np.random.Generator, t: int, w: Array, due: Array) -> tuple[Array, Array]:
    """The cheap arm is feasible for as long as it then is not."""
    return _pairs(rng.random(TRIALS), -1.0), _pairs(rng.random(TRIALS) < 0.1, t % 200 >= 100)


def _misses(stream: Stream, stages: int) -> tuple[Array, Array]:
    """(T, trials) expected misses, and the excess after the last stage."""
    rng, problem, books = np.random.default_rng(7), Judged(Chance(0.9)), fresh((TRIALS,))
    found = []
    for t in range(stages):
        w = books.weights(PRIOR)
        paid, missed = stream(rng, t, w, price(books.charges))
        found.append((w * missed).sum(axis=-1))
        books = books.after(problem, PRIOR, paid, missed)
    return np.stack(found), books.charges.excess


def _bound(stages: int, prior: Array) -> float:
    """The theorem's: expected misses above (1 - alpha) T."""
    b = np.sqrt(1 - np.log(prior.min()) / 4)
    return float(np.sqrt(stages) * (4 * b + 2 + np.sqrt(5 + 8 * b / np.sqrt(stages))))


@pytest.mark.parametrize("stream", [_cheap, _treacherous, _bribed, _turning])
@pytest.mark.parametrize("stages", [600, pytest.param(10_000, marks=pytest.mark.full)])
def test_alpha_is_held_if_an_arm_meets_it(stream: Stream, stages: int) -> None:
    missed, excess = _misses(stream, stages)
    total = missed.sum(axis=0)
    assert (total - 0.1 * stages <= excess + 1e-6).all()
    assert excess.mean() <= _bound(stages, PRIOR)
    assert excess.mean() <= 2 * np.sqrt(stages)  # what is seen: far less than the theorem allows


def test_without_a_price_the_cheap_arm_takes_all() -> None:
    """What the price is there for: with costs alone, the bound does not hold."""
    books, problem = fresh(), Judged(Expectation())
    for _ in range(600):
        books = books.after(problem, PRIOR, np.array([10.0, 5.0]), np.array([0.0, 1.0]))
    assert books.weights(PRIOR)[1] > 0.999
    assert 0.9 * 600 > _bound(600, PRIOR)


def test_the_price_is_half_the_spread_for_each_miss_too_many() -> None:
    problem, even = Judged(Chance(0.75)), np.array([0.5, 0.5])
    books = fresh().after(problem, even, np.array([4.0, 1.0]), np.array([1.0, 1.0]))
    assert price(books.charges) == pytest.approx(0.5 * 3.0 * 0.75)
    charge = charged(problem, books.charges, np.array([2.0, 2.0]), np.array([0.0, 1.0]))
    assert charge == pytest.approx([2.0, 2.0 + 0.5 * 3.0 * 0.75])
    for _ in range(4):
        books = books.after(problem, even, np.array([2.0, 2.0]), np.zeros(2))
    assert price(books.charges) == 0.0  # never below: what was not missed is not saved up


@pytest.mark.filterwarnings("ignore:No arm of the ensemble has met")
@pytest.mark.parametrize("stage", [0, 3, 40])
def test_one_stage_sets_no_price_for_long(stage: int) -> None:
    """A decision that cost 437 more, where 4 is usual: a miss was priced by 437 for ever."""
    problem, even, books = Judged(Chance(0.9)), np.array([0.5, 0.5]), fresh()
    for t in range(60):
        paid = np.array([437.0, 0.0]) if t == stage else np.array([10.0, 14.0])
        books = books.after(problem, even, paid, np.ones(2))
        if t > stage:
            assert price(books.charges) == pytest.approx(0.5 * 4.0 * 0.9 * (t + 1))


def test_what_is_typical_follows_costs_up_at_once_and_down_in_time() -> None:
    problem, even, books = Judged(Chance(0.9)), np.array([0.5, 0.5]), fresh()
    sizes = [1.0] * 20 + [100.0] * 20 + [0.0] * 500 + [1.0] * 300
    found = []
    for size in sizes:
        books = books.after(problem, even, np.array([size, 0.0]), np.zeros(2))
        found.append(float(books.charges.spread))
    assert found[:20] == [1.0] * 20
    assert found[21:540] == pytest.approx([100.0] * 519, rel=0.03)  # from the second one on
    assert 1.0 <= found[-1] <= 2.0  # where stages without a difference said nothing
    assert 150 < np.argmax(np.array(found[540:]) <= 2.0) < 250


def test_one_dear_stage_does_not_tie_the_ensemble_to_the_dearer_arm() -> None:
    """Both arms meet alpha in the long run; the cheap one had one dear stage, and both a bad start.

    With the largest difference for C, the cheap arm had .17 of the weight from stage 150 on.
    """
    rng, problem, books, trials = np.random.default_rng(11), Judged(Chance(0.9)), fresh((40,)), 40
    weights = []
    for t in range(500):
        w = books.weights(PRIOR)
        weights.append(w[:, 0])
        cheap = 438.0 if t == 2 else 10.0
        paid = np.broadcast_to([cheap, 14.4], (trials, 2)) + rng.normal(size=(trials, 2))
        missed = rng.random((trials, 2)) < (1.0 if t < 6 else [0.1, 0.05])
        books = books.after(problem, PRIOR, paid, missed.astype(float))
    assert np.mean(weights[150:]) > 0.95


def test_arms_that_cost_the_same_are_told_apart_by_their_misses() -> None:
    books, problem = fresh(), Judged(Chance(0.9))
    for _ in range(40):
        books = books.after(problem, np.array([0.1, 0.9]), np.full(2, 3.0), np.array([0.0, 1.0]))
    assert books.weights(np.array([0.1, 0.9]))[0] > 0.95


def test_nothing_feasible_at_all_is_warned_of_once_and_costs_decide() -> None:
    chance, plain = (Judged(Chance(0.9)), fresh()), (Judged(Expectation()), fresh())
    rng = np.random.default_rng(0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(60):
            paid = rng.random(2) + np.array([0.0, 0.2])
            chance = chance[0], chance[1].after(chance[0], PRIOR, paid, np.ones(2))
            plain = plain[0], plain[1].after(plain[0], PRIOR, paid, np.ones(2))
    assert [str(warning.message) for warning in told] == [
        "No arm of the ensemble has met alpha = 0.9 for long: give it one that is more cautious, "
        "or calibration='adaptive'."
    ]
    assert chance[1].weights(PRIOR) == pytest.approx(plain[1].weights(PRIOR), rel=1e-6)


@pytest.mark.filterwarnings("ignore:No arm of the ensemble has met")
def test_if_no_arm_meets_alpha_the_one_that_misses_least_decides() -> None:
    rng, books, problem = np.random.default_rng(0), fresh(), Judged(Chance(0.9))
    for _ in range(400):
        missed = (rng.random(2) < [0.3, 0.6]).astype(float)
        books = books.after(problem, np.array([0.1, 0.9]), np.array([5.0, 1.0]), missed)
    assert books.weights(np.array([0.1, 0.9]))[0] > 0.99


def test_arms_that_meet_alpha_cause_no_warning_and_little_price() -> None:
    rng, books, problem = np.random.default_rng(3), fresh((20,)), Judged(Chance(0.9))
    for _ in range(500):  # warnings are errors here
        missed = (rng.random((20, 2)) < [0.05, 0.07]).astype(float)
        books = books.after(problem, PRIOR, rng.random((20, 2)) + np.array([0.0, -0.2]), missed)
    assert (books.weights(PRIOR)[:, 1] > 0.9).mean() >= 0.8  # the cheaper of two good ones


def test_with_alpha_of_one_every_miss_counts_for_ever() -> None:
    books, problem, even = fresh(arms=2), Judged(Chance(1.0)), np.array([0.5, 0.5])
    books = books.after(problem, even, np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    due = float(books.charges.excess)
    assert due == 0.5
    for _ in range(50):
        books = books.after(problem, even, np.array([1.0, 0.0]), np.zeros(2))
    assert books.charges.excess == due


def test_one_arm_has_all_the_weight_whatever_it_misses() -> None:
    charges, problem = no_charges((), 1), Judged(Chance(0.9))
    for missed in ([1.0], [0.0], [1.0]):
        charge = charged(problem, charges, np.array([2.0]), np.array(missed))
        charges = book(problem, charges, np.ones(1), np.array([2.0]), np.array(missed), charge)
    assert charges.excess == pytest.approx(1.7)
    assert charges.paid == 6.0


def test_trials_do_not_see_each_other() -> None:
    rng, problem = np.random.default_rng(5), Judged(CVaR(0.5, alpha=0.8))
    paid, missed = rng.random((30, 3, 2)), (rng.random((30, 3, 2)) < 0.3).astype(float)
    together, alone = fresh((3,)), [fresh() for _ in range(3)]
    for p, m in zip(paid, missed, strict=True):
        together = together.after(problem, PRIOR, p, m)
        alone = [b.after(problem, PRIOR, p[i], m[i]) for i, b in enumerate(alone)]
    for i, b in enumerate(alone):
        assert (together.total[i] == b.total).all()
        assert (together.charges.excess[i] == b.charges.excess).all()
        assert together.charges.surcharge[i] == b.charges.surcharge


@pytest.mark.parametrize("risk", [Chance(0.9), CVaR(0.8), WorstCase(), CVaR(0.5, alpha=0.7)])
@pytest.mark.filterwarnings("ignore:No arm of the ensemble has met")
def test_the_bound_on_costs_is_true_and_no_looser_than_that_on_charges(risk: Risk) -> None:
    rng, problem, books = np.random.default_rng(1), Judged(risk), fresh((5,))
    drawn, due = np.zeros(5), np.zeros(5)
    for t in range(200):
        paid = (rng.normal(size=(5, 2)) + np.array([0, -1])) * (1 + 5 * (t > 50))
        missed = (rng.random((5, 2)) < [0.05, 0.6]).astype(float)
        w, charge = books.weights(PRIOR), charged(problem, books.charges, paid, missed)
        drawn, due = drawn + (w * paid).sum(axis=-1), due + (w * charge).sum(axis=-1)
        books = books.after(problem, PRIOR, paid, missed)
        bound = cost_bound(books.charges, books.total, books.gap)
        spare = books.charges.paid.min(axis=-1) + bound - drawn
        assert (spare >= -1e-6).all()
        assert spare == pytest.approx(books.total.min(axis=-1) + 2 * books.gap - due, abs=1e-6)


@pytest.mark.parametrize("risk", [CVaR(0.8), WorstCase(), CVaR(0.0)])
def test_totals_are_the_risk_of_all_costs(risk: Risk) -> None:
    rng, problem, books = np.random.default_rng(2), Judged(risk), fresh()
    paid = rng.normal(size=(60, 2))
    for p in paid:
        books = books.after(problem, PRIOR, p, np.zeros(2))
    assert books.total == pytest.approx(60 * risk.value(paid.T, np.full(60, 1 / 60)))


def test_a_subclass_that_values_costs_in_its_own_way_is_no_mean() -> None:
    class Doubled(Expectation):
        def value(self, costs: Array, w: Array) -> Array:
            """(s), (s) -> ()."""
            return 2.0 * super().value(costs, w)

    problem, charges = Judged(Doubled()), no_charges((), 2)
    paid = np.array([1.0, 3.0])
    assert (charged(problem, charges, paid, np.zeros(2)) == [2.0, 6.0]).all()


def test_under_cvar_the_arm_with_the_thin_tail_is_followed() -> None:
    rng = np.random.default_rng(0)
    steady, wild = np.full(300, 1.0), np.where(rng.random(300) < 0.05, 12.0, 0.0)
    weights = {}
    for risk in (Expectation(), CVaR(0.9)):
        books, problem, even = fresh(), Judged(risk), np.array([0.5, 0.5])
        for p in np.stack([steady, wild], axis=-1):
            books = books.after(problem, even, p, np.zeros(2))
        weights[type(risk)] = books.weights(even)
    assert weights[Expectation][1] > 0.9
    assert weights[CVaR][0] > 0.9


COVER = Cover()


@program(xi=1, chance=0.9, infeasible_objective=200.0, z=real(1, upper=100))
def fined(xi: Any, z: Any) -> Any:
    return minimise(z.sum()), z >= xi


LAW = Mixture(dim_xi=1, members=[ConstantVariance()], discounts=[1.0], scenarios=64)


def _demand(stages: int) -> Replay:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(stages, 1))
    return Replay(x, 10 + 2 * x + rng.normal(size=(stages, 1)))


def test_an_arm_that_is_cheap_and_never_feasible_is_not_followed() -> None:
    for rule in ("sample", "leader"):
        ensemble = Ensemble(COVER, LAW, [Constant([0.0])], selection=rule)
        stages = list(run(ensemble, _demand(80), problem=COVER, hindsight=False))
        assert stages[-1].info["arm_weights"][2] < 1e-3
        assert np.mean([s.feasible for s in stages[10:]]) > 0.8
        assert np.mean([s.info["arm_missed"] for s in stages], axis=0)[2] == 1.0


def test_the_certificate_of_the_best_arm_stays_true() -> None:
    ensemble = Ensemble(COVER, LAW, [Constant([0.0])])
    stages = list(run(ensemble, _demand(40), problem=COVER, hindsight=False))
    for t in (1, 10, 40):
        found = certify(BestArm(), [evidence_of(COVER, s) for s in stages[:t]])
        assert found.applicable
        assert found.value <= found.bound + 1e-9
    assert max(float(s.info["miss_price"]) for s in stages) > 0
    assert "alpha is met" in ensemble.guarantee


def test_where_the_problem_prices_infeasibility_costs_alone_count() -> None:
    for problem in (
        Knapsack(value=[1], capacity=[1], salvage=[0]),
        fined,
        BinaryKnapsack(items=1, capacity=1.0),
    ):
        assert prices_infeasibility(problem)
        assert "alpha" not in Ensemble(problem).guarantee
    assert not prices_infeasibility(COVER)
    knapsack = Knapsack(value=[12] * 4, capacity=[8] * 3, salvage=[3] * 3)
    law = Mixture(dim_xi=12, members=[ConstantVariance()], discounts=[1.0], scenarios=32)
    ensemble = Ensemble(knapsack, law, [Constant([9] * 4)])
    state = ensemble.init(np.array(0))
    for t, (x, xi) in enumerate(PaperStream().stages(np.array(0))):
        if t == 20:
            break
        state = ensemble.learn(state, t, x, ensemble.decide(state, t, x), xi)
        assert state.info.miss_price == 0.0
        assert (state.cost == state.charges.paid).all()
        assert state.info.arms.arm_bound == 2 * state.gap
