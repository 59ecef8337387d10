"""Streams that share a clock: one stacked call is one call for each, bit for bit."""

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from fleets import assert_same_live, assert_together_is_one_by_one, fleet_of, same
from hypothesis import given, settings
from hypothesis import strategies as st
from registry import KNAPSACK, _samplers, played_on, policies, the
from small_agent import PROBLEM

from bocopt import Ensemble, Mixture, SampleAverage
from bocopt.abilities import Lockstep
from bocopt.bounds import exactly
from bocopt.core import Array
from bocopt.guarantees import Feasibility, Monitor, Outlook
from bocopt.live.fold import Decided, Fold, Forgotten, Observed, watching
from bocopt.live.record import Live
from bocopt.live.stacked import StackedFold
from bocopt.numeric.stacking import axes_of, key, stacked, unstack
from bocopt.policies import Constant
from bocopt.state import flatten
from bocopt.wrappers import promises

POLICIES = policies()


@dataclass(frozen=True)
class OneByOne(Feasibility):
    """A guarantee that is not made for streams at different stages."""

    lockstep: ClassVar[bool] = False

    def step(self, state: Any, evidence: Any) -> Any:
        assert np.ndim(evidence.late) == 0
        return super().step(state, evidence)


def registry(name: str) -> Any:
    return _samplers(KNAPSACK)[name]


def remembering() -> Any:
    model = Mixture(dim_xi=2, members=[the.ConstantVariance()], memory=7, scenarios=16)
    return the.Remembering(model, lags=[1, 3], periods=[5], missing="mean")


@pytest.fixture
def no_way_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails together is not tried again alone: it is an error here."""
    monkeypatch.setattr("bocopt.live.stacked.suppress", lambda *kinds: nullcontext())


@pytest.mark.usefixtures("no_way_back")
@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_is_played_together_with_the_same_bits(name: str) -> None:
    problem = played_on(POLICIES[name])
    groups = assert_together_is_one_by_one(POLICIES[name], problem, (3, 4, 0))
    assert groups < 3  # the second has as many outcomes as the first: one was given up


@pytest.mark.full
@pytest.mark.usefixtures("no_way_back")
@pytest.mark.parametrize("name", POLICIES)
def test_so_it_is_for_long(name: str) -> None:
    problem = played_on(POLICIES[name])
    assert_together_is_one_by_one(POLICIES[name], problem, (60, 61, 9, 13, 6, 55, 56, 8, 0, 0))


@pytest.mark.usefixtures("no_way_back")
@pytest.mark.parametrize(
    ("policy", "played"),
    [
        (SampleAverage(KNAPSACK, latest=5), (6, 9, 14, 5)),
        (the.ResidualSampleAverage(KNAPSACK, latest=5), (6, 9, 14)),
        (POLICIES["BMA"], (1, 9, 14)),
        (POLICIES["BMA, noisy"], (1, 9, 14)),
        (POLICIES["DFL"], (1, 9, 14)),
        (
            the.BMA(KNAPSACK, the.Linear(3, 2), registry("ResampleMove, forgetful")),
            (8, 11, 9, 10),
        ),
        (the.SpreadControl(KNAPSACK, registry("Mixture, forgetful")), (9, 12, 8)),
        (the.Predictive(KNAPSACK, remembering()), (9, 12, 8)),
    ],
)
def test_full_windows_are_played_together_at_any_stage(
    policy: Any, played: tuple[int, ...]
) -> None:
    assert assert_together_is_one_by_one(policy, played=played) == 1


@pytest.mark.usefixtures("no_way_back")
def test_fits_are_renewed_when_each_stream_is_due() -> None:
    """After fifty outcomes a fit waits for news: some streams are due, and others not."""
    members = [the.ConstantVariance(), the.Forest(trees=2, renewed_at=0.3), the.Smooth(rows=6)]
    mixture = Mixture(dim_xi=2, members=members, memory=8, scenarios=16, discounts=[1.0, 0.7])
    played = (51, 52, 53)
    assert assert_together_is_one_by_one(the.Predictive(KNAPSACK, mixture), played=played) == 1


def test_outcomes_below_zero_are_no_matter_of_the_others() -> None:
    """A logarithmic scale is left alone in a stream that does not suit it."""
    policy = the.Predictive(KNAPSACK, Mixture(dim_xi=2, scenarios=16))
    fold = Fold(policy, KNAPSACK, watching(policy, KNAPSACK))
    fleet = fleet_of(fold, (4, 4, 4))
    fleet.decide()
    outcomes = [Observed(4, exactly(np.array([1.0, y]))) for y in (1.5, -0.5, 2.0)]
    found = StackedFold(fold).observe(fleet.lives, outcomes)
    fleet.apply(outcomes)
    for live, after in zip(fleet.lives, found, strict=True):
        assert not isinstance(after, Exception)
        assert_same_live(live, after[0])


@pytest.mark.usefixtures("no_way_back")
@pytest.mark.parametrize("more", [(), (Outlook(ahead=2, window=9, delta=0.9),), (OneByOne(),)])
def test_monitors_are_folded_together_or_one_by_one(more: tuple[Any, ...]) -> None:
    names = ("one each", "BMA")
    monitor = Monitor(KNAPSACK, (the.BestArm(), *more), shadows=names, scale=20.0)
    shadowed = POLICIES["Shadowed"]
    assert_together_is_one_by_one(shadowed, played=(5, 6, 7), monitor=monitor)


@pytest.mark.usefixtures("no_way_back")
def test_one_outcome_and_one_context_a_stage() -> None:
    """Sums over one column are sums over neighbours in memory."""
    problem = the.Newsvendor(unit_cost=[1.0], price=[3.0], largest_demand=9.0)
    ensemble = Ensemble(problem, Mixture(dim_xi=1, scenarios=16))
    for policy in list[Any]((SampleAverage(problem), ensemble)):
        fold = Fold(policy, problem, watching(policy, problem))
        lives, others, together = (
            *([fold.begin(i) for i in range(5)] for _ in "ab"),
            StackedFold(fold),
        )
        for t in range(6):
            x = [np.array([np.sin(t + i)]) for i in range(5)]
            xi = [Observed(t, exactly(np.array([3.0 + np.cos(t * i)]))) for i in range(5)]
            taken = [fold.decide(*pair) for pair in zip(lives, x, strict=True)]
            found: list[Any] = together.decide(others, x)
            assert all(same(a[:2], b[:2]) for a, b in zip(taken, found, strict=True))
            lives, others = (
                [fold.apply(live, event)[0] for live, event in zip(own, events, strict=True)]
                for own, events in ((lives, taken), (others, found))
            )
            lives = [fold.apply(live, event)[0] for live, event in zip(lives, xi, strict=True)]
            learned: list[Any] = together.observe(others, xi)
            others = [after[0] for after in learned]
            for one, other in zip(lives, others, strict=True):
                assert_same_live(one, other)


class RefusedError(Exception):
    pass


@dataclass(frozen=True)
class Touchy(SampleAverage):
    """It cannot take some contexts, and some outcomes."""

    def decide(self, state: Any, t: int, x: Array) -> Any:
        self._look(x)
        return super().decide(state, t, x)

    def learn(self, state: Any, t: int, x: Array, decision: Any, xi: Array) -> Any:
        self._look(xi)
        return super().learn(state, t, x, decision, xi)

    def _look(self, numbers: Array) -> None:
        if (numbers == 3.0).any():
            raise RefusedError


def test_an_error_is_the_answer_of_its_stream_alone() -> None:
    fold = fold_of(Touchy(PROBLEM))
    together, lives = StackedFold(fold), [fold.begin(seed) for seed in range(3)]
    found: list[Any] = together.decide(lives, [np.array([float(i + 1)]) for i in range(3)])
    assert isinstance(found[2], RefusedError)
    wanted = [fold.decide(lives[i], np.array([i + 1.0])) for i in range(2)]
    assert all(same(a[:2], b[:2]) for a, b in zip(wanted, found[:2], strict=True))
    lives = [fold.apply(live, event)[0] for live, event in zip(lives, found[:2], strict=False)]
    outcomes = [Observed(0, exactly(np.array([1.0, last]))) for last in (2.0, 3.0)]
    after = together.observe([*lives, lives[0]], [*outcomes, Observed(7, outcomes[0].seen)])
    assert isinstance(after[1], RefusedError)
    assert "Decision 7 is not open" in str(after[2])
    assert not isinstance(after[0], Exception)
    assert_same_live(after[0][0], fold.apply(lives[0], outcomes[0])[0])


class Frail(Constant):
    """An arm that fails in one stream of an ensemble."""

    def decide(self, state: Any, t: int, x: Array) -> Any:
        if (x[..., 0] == 2.0).any():
            raise RefusedError
        return super().decide(state, t, x)


@pytest.mark.filterwarnings("ignore:The arm Frail failed")
def test_an_arm_that_fails_in_one_stream_goes_on_in_the_others() -> None:
    fold = fold_of(Ensemble(PROBLEM, Mixture(dim_xi=2, scenarios=16), [Frail([1, 1])]))
    lives = [fold.begin(seed) for seed in range(3)]
    contexts = [np.array([float(i + 1)]) for i in range(3)]
    found: list[Any] = StackedFold(fold).decide(lives, contexts)
    wanted = [fold.decide(*pair) for pair in zip(lives, contexts, strict=True)]
    assert all(same(a[:2], b[:2]) for a, b in zip(wanted, found, strict=True))
    assert [float(event.waiting.decision.memo[1][2]) for event in wanted] == [0.0, 1.0, 0.0]


def test_a_policy_that_does_not_say_so_is_played_alone() -> None:
    class Quiet(SampleAverage):
        lockstep = False

        def decide(self, state: Any, t: int, x: Array) -> Any:
            assert state.seeds.ndim == 0
            return super().decide(state, t, x)

    fold = fold_of(Quiet(PROBLEM))
    lives = [fold.begin(seed) for seed in range(3)]
    found = StackedFold(fold).decide(lives, [np.zeros(1)] * 3)
    assert all(isinstance(event, Decided) for event in found)


@pytest.mark.parametrize("name", ["FromSklearn", "FromRiver"])
def test_regressors_of_others_learn_one_by_one(name: str) -> None:
    assert not promises(Ensemble(KNAPSACK, registry(name)), Lockstep)


def test_decisions_of_another_configuration_are_learned_alone() -> None:
    policy = the.Shadowed(SampleAverage(PROBLEM), {"one": the.Constant([1, 1])})
    ours, theirs = fold_of(policy), Fold(policy, PROBLEM, watching(policy, PROBLEM), by="theirs")
    lives = []
    for seed in range(3):
        live = ours.begin(seed)
        live, _ = ours.apply(live, theirs.decide(live, np.zeros(1)))
        lives.append(live)
    outcomes = [Observed(0, exactly(np.array([1.0, 2.0])))] * 3
    for live, after in zip(lives, StackedFold(ours).observe(lives, outcomes), strict=True):
        assert not isinstance(after, Exception)
        assert_same_live(after[0], ours.apply(live, outcomes[0])[0])


def fold_of(policy: Any) -> Fold[Any]:
    return Fold(policy, PROBLEM, watching(policy, PROBLEM))


#: Where streams are stacked, these are equal: they follow from the sizes of arrays, or are of the
#: first context.
COMMON = {"written", "start", "size", "width", "4"}


@pytest.mark.parametrize("name", POLICIES)
def test_what_has_no_leading_axis_is_common_to_all_streams(name: str) -> None:
    policy = POLICIES[name]
    assert promises(policy, Lockstep)
    found = flatten(axes_of(policy.init))
    assert {path.split(".")[-1] for path, axis in found.items() if not axis} <= COMMON


@given(
    sizes=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=12),
    at_once=st.integers(1, 5),
)
@settings(deadline=None, max_examples=12)
def test_streams_of_any_lengths_are_grouped_and_come_back_in_order(
    sizes: list[tuple[int, int]], at_once: int
) -> None:
    fold = fold_of(SampleAverage(PROBLEM, initial_decision=[0, 0], latest=4))
    lives = [known(fold, seed, *size) for seed, size in enumerate(sizes)]
    contexts = [np.zeros(1)] * len(lives)
    wanted = [fold.decide(*pair) for pair in zip(lives, contexts, strict=True)]
    found: list[Any] = StackedFold(fold, at_once).decide(lives, contexts)
    assert all(same(a[:2], b[:2]) for a, b in zip(wanted, found, strict=True))
    axes = axes_of(fold.policy.init)
    groups: dict[Any, list[Any]] = {}
    for live in lives:
        groups.setdefault(key(live.state, axes), []).append(live.state)
    assert len(groups) == len({min(live.learned, 4) for live in lives})
    for states in groups.values():
        back = unstack(stacked(states, axes), axes, len(states))
        assert all(same(a, b) for a, b in zip(states, back, strict=True))


def known(fold: Fold[Any], seed: int, forgotten: int, learned: int) -> Live:
    """A stream that has given up so many decisions, and then learned so many outcomes."""
    live, rng = fold.begin(seed), np.random.default_rng(seed)
    for t in range(forgotten + learned):
        live, _ = fold.apply(live, fold.decide(live, np.zeros(1)))
        event = Forgotten(t) if t < forgotten else Observed(t, exactly(rng.uniform(0.5, 2.0, 2)))
        live, _ = fold.apply(live, event)
    return live
