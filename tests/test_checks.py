"""The public laws: each catches a class that breaks it (that ours keep them: test_registry.py)."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from blackbox import wrapped
from registry import DIMS, STREAM, played_on, policies

from bocopt import Decision, Sense, Solution
from bocopt.checks import (
    LawError,
    best_and_smallest,
    check_policy,
    check_problem,
    differences_within_their_range,
)
from bocopt.core import Array, Bounds, Dims, IntArray
from bocopt.paper import PaperStream
from bocopt.policies import Constant
from bocopt.problems import Expectation, Knapsack
from bocopt.problems.knapsack.within import WeightsWithin

KNAPSACK = Knapsack(value=[12.0] * 4, capacity=[8.0] * 3, salvage=[3.0] * 3)
X = np.random.default_rng(0).normal(size=(6, 3))
XI = np.random.default_rng(1).uniform(0.3, 2, (6, 12))


QUICK = ("BMA", "BGS", "PtO", "DFL", "SampleAverage")  # each outcome is a call of the user's


@pytest.mark.parametrize(
    "name",
    [n if n in QUICK else pytest.param(n, marks=pytest.mark.full) for n in policies()],
)
def test_policies_on_a_users_problem_keep_the_laws(name: str) -> None:
    problem = wrapped(dims=DIMS)
    policy = policies(problem)[name]
    check_policy(policy, STREAM, problem=played_on(policy, problem), seeds=(0, 1), horizon=3)


class Broken:
    """A knapsack with one method replaced."""

    def __init__(self, **methods: Callable[..., Any]) -> None:
        self.calls = 0
        self.methods = methods

    dims, sense, risk = KNAPSACK.dims, KNAPSACK.sense, KNAPSACK.risk

    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        self.calls += 1
        answer = KNAPSACK.solve(np.nan_to_num(scenarios, nan=1.0), w, x)
        if "solve" not in self.methods:
            return KNAPSACK.solve(scenarios, w, x)
        changed: Solution = self.methods["solve"](self, answer, scenarios, w, x)
        return changed

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        if "cost" in self.methods:
            cost: Array = self.methods["cost"](x, z, xi)
            return cost
        return KNAPSACK.cost(x, z, xi)

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        return KNAPSACK.violation(x, z, xi)


def strict(answer: Solution, scenarios: Array) -> Solution:
    if np.isnan(scenarios).any():
        raise ValueError("NaN")
    return answer


def spoil(answer: Solution, scenarios: Array) -> Solution:
    if scenarios.shape[-2] > 2:
        scenarios[...] = np.maximum(scenarios, 0.5)
    return answer


BROKEN_PROBLEMS: list[tuple[Broken, str]] = [
    (Broken(solve=lambda p, a, s, w, x: a._replace(z=a.z[..., :3])), "z of shape"),
    (Broken(cost=lambda x, z, xi: KNAPSACK.cost(x, z, xi)[..., None]), "an answer of shape"),
    (
        Broken(solve=lambda p, a, s, w, x: a._replace(gap=a.gap + (a.value.size > 1))),
        "the same answer in a batch as alone",
    ),
    (
        Broken(
            solve=lambda p, a, s, w, x: a if s.shape[-2] == 1 else a._replace(gap=a.gap + p.calls)
        ),
        "the same answer to the same question",
    ),
    (
        Broken(solve=lambda p, a, s, w, x: spoil(a, s)),
        "to leave its arguments alone",
    ),
    (
        Broken(solve=lambda p, a, s, w, x: a._replace(z=a.z + 5)),
        "does not violate its own scenario",
    ),
    (Broken(solve=lambda p, a, s, w, x: a._replace(value=a.value + 1e-9)), "value = cost of z"),
    (
        Broken(
            solve=lambda p, a, s, w, x: Solution(
                a.z * 0, np.full(a.value.shape, -72.0), a.status, a.gap
            )
        ),
        "an optimal z",
    ),
    (
        Broken(
            solve=lambda p, a, s, w, x: strict(a if s.shape[-2] != 2 else a._replace(z=a.z * 0), s)
        ),
        "the same z for a scenario and for its two halves",
    ),
    (
        Broken(solve=lambda p, a, s, w, x: a if s.shape[-2] < 3 else a._replace(z=a.z + 5)),
        "a z that meets the risk, or an infinite value",
    ),
    (
        Broken(solve=lambda p, a, s, w, x: a if s.shape[-2] < 3 else a._replace(value=a.value + 1)),
        "the value that the risk gives to the costs of z",
    ),
    (Broken(solve=lambda p, a, s, w, x: a), "a ValueError for a NaN scenario"),
]


@pytest.mark.parametrize(
    ("problem", "message"), BROKEN_PROBLEMS, ids=[m for _, m in BROKEN_PROBLEMS]
)
def test_a_broken_problem_is_caught(problem: Broken, message: str) -> None:
    with pytest.raises(LawError, match=message):
        check_problem(problem, X.copy(), XI.copy())


class LargestOfEqual:
    """Decides the largest z where all cost the same."""

    dims, sense, risk = Dims(None, 1, 1), Sense.MINIMISE, Expectation()
    smallest_of_ties = True

    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        lead = np.broadcast_shapes(x.shape[:-1], scenarios.shape[:-2])
        zero = np.zeros(lead)
        return Solution(np.full((*lead, 1), 3.0), zero, zero.astype(np.int64), zero)

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        return np.zeros(np.broadcast_shapes(z.shape, xi.shape)[:-1])

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        over: Array = abs(z[..., 0] - 1.5) - 1.5 + 0 * xi[..., 0]
        return over


class Hasty(Knapsack):
    """Judges as if whatever is feasible were free."""

    def judge(self, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
        cost, violation = super().judge(x, z, xi)
        return np.where(violation <= 0, 0.0, cost), violation


class Lenient(Knapsack):
    """Judges by half of what is violated."""

    def judge(self, x: Array, z: Array, xi: Array) -> tuple[Array, Array]:
        cost, violation = super().judge(x, z, xi)
        return cost, violation / 2


@pytest.mark.parametrize(("kind", "part"), [(Hasty, "cost"), (Lenient, "violation")])
def test_a_judge_of_its_own_opinion_is_caught(kind: type[Knapsack], part: str) -> None:
    problem = kind(value=KNAPSACK.value, capacity=KNAPSACK.capacity, salvage=KNAPSACK.salvage)
    with pytest.raises(LawError, match=f"Expected of judge: a {part}"):
        check_problem(problem, X, XI)


class Modest(Knapsack):
    """Says that no decision earns more than 80."""

    def range(self, x: Array, z: Array) -> tuple[Array, Array]:
        _, high = super().range(x, z)
        return high - 80.0, high


def test_a_range_that_is_exceeded_is_caught() -> None:
    check_problem(KNAPSACK, X, XI)
    modest = Modest(value=KNAPSACK.value, capacity=KNAPSACK.capacity, salvage=KNAPSACK.salvage)
    with pytest.raises(LawError, match="a range that no possible outcome exceeds"):
        check_problem(modest, X, XI)


def careless(answer: Callable[[Array, Array, Array], Any]) -> Knapsack:
    """One that answers a question about two decisions so."""

    class Careless(Knapsack):
        def range_of_difference(self, x: Array, z: Array, other: Array) -> tuple[Array, Array]:
            low, high = answer(x, z, other)
            return low, high

    return Careless(value=KNAPSACK.value, capacity=KNAPSACK.capacity, salvage=KNAPSACK.salvage)


def right(x: Array, z: Array, other: Array) -> Array:
    return np.array(KNAPSACK.range_of_difference(x, z, other))


CARELESS: list[tuple[str, Callable[[Array, Array, Array], Any]]] = [
    ("two answers of shape", lambda x, z, other: right(x, z, other)[..., None]),
    ("batch = alone", lambda x, z, other: right(x, z, other) - (z.ndim > 1)),
    ("zero for a decision and itself", lambda x, z, other: np.ones((2, *z.shape[:-1]))),
    ("nothing wider than the ranges", lambda x, z, other: 100 * right(x, z, other)),
    ("ends that no outcome exceeds", lambda x, z, other: 0.01 * right(x, z, other)),
]


@pytest.mark.parametrize(("message", "answer"), CARELESS, ids=[m for m, _ in CARELESS])
def test_a_wrong_range_of_differences_is_caught(message: str, answer: Any) -> None:
    differences_within_their_range(careless(right), X, XI)
    with pytest.raises(LawError, match=message):
        check_problem(careless(answer), X, XI)


class Sure(Knapsack):
    """Says of bounds what is so at their low end alone."""

    def within(self, bounds: Bounds) -> WeightsWithin:
        low = np.maximum(bounds.low, 0.0)
        return super().within(Bounds(low, low))


def test_bounds_within_which_an_outcome_costs_more_are_caught() -> None:
    sure = Sure(value=KNAPSACK.value, capacity=KNAPSACK.capacity, salvage=KNAPSACK.salvage)
    with pytest.raises(LawError, match="ends of costs that no outcome within the bounds exceeds"):
        check_problem(sure, X, XI)


def test_a_broken_tie_rule_is_caught() -> None:
    with pytest.raises(LawError, match="lexicographically smallest of equal z"):
        check_problem(LargestOfEqual(), X, XI[:, :1])


def test_the_tie_rule_binds_only_who_claims_it() -> None:
    claimed, relaxed = LargestOfEqual(), LargestOfEqual()
    relaxed.smallest_of_ties = False
    with pytest.raises(LawError):
        best_and_smallest(claimed, X, XI[:, :1])
    best_and_smallest(relaxed, X, XI[:, :1])


class Nothing(NamedTuple):
    pass


class Total(NamedTuple):
    seeds: IntArray
    seen: Array  # (trials) sum of all outcomes
    info: Nothing = Nothing()


class BrokenPolicy:
    """Decides by the sum of all outcomes; each flaw breaks one law."""

    lockstep = True

    def __init__(self, flaw: str) -> None:
        self.flaw, self.calls = flaw, 0
        self.hidden: dict[int, Array] = {}
        self.buffers: dict[int, Array] = {}

    def init(self, seeds: IntArray) -> Total:
        state = Total(seeds, np.zeros(seeds.shape))
        self.hidden[id(state.seen)] = state.seen  # lost when a state is rebuilt
        return state

    def decide(self, state: Total, t: int, x: Array) -> Decision:
        self.calls += 1
        size = np.floor(np.nan_to_num(state.seen)) % 2
        if self.flaw == "mutates":
            state.seen[...] += 1
        if self.flaw == "random":
            size = size + self.calls % 2
        if self.flaw == "mixes trials":
            size = size + (state.seeds.size > 1)
        if self.flaw == "one stage for all":
            size = size + np.min(t)
        if self.flaw == "hides" and id(state.seen) not in self.hidden:
            size = size + 1
        z = np.repeat(size[..., None], 3 if self.flaw == "shape" else 4, axis=-1)
        return Decision(Solution(z, size, np.zeros(size.shape, np.int64), size))

    def learn(self, state: Total, t: int, x: Array, decision: Decision, xi: Array) -> Total:
        if self.flaw != "learns nan" and np.isnan(xi).any():
            raise ValueError("NaN")
        seen = np.asarray(state.seen + xi.sum(axis=-1))
        if self.flaw == "shares":  # two buffers in turns: only a branch from one state shows it
            shared = self.buffers.setdefault(int(np.min(t)) % 2, np.zeros_like(seen))
            if shared.shape == seen.shape:
                shared[...] = seen
                seen = shared
        self.hidden[id(seen)] = seen
        return state._replace(seen=seen)


@pytest.mark.parametrize(
    ("flaw", "message"),
    [
        ("shape", "z of shape"),
        ("mixes trials", "the same for a trial alone as inside a batch"),
        ("random", "the same decision when asked again|the same for a trial alone"),
        ("mutates", "the same decision when asked again"),
        ("hides", "to hold all that its policy needs, in its arrays"),
        ("shares", "to leave the other branch alone"),
        ("learns nan", "a ValueError for a NaN outcome"),
        ("one stage for all", "the same for a trial alone as beside other stages"),
    ],
)
def test_a_broken_policy_is_caught(flaw: str, message: str) -> None:
    with pytest.raises(LawError, match=message):
        check_policy(BrokenPolicy(flaw), PaperStream(), problem=KNAPSACK)


def test_without_a_flaw_it_keeps_the_laws() -> None:
    check_policy(BrokenPolicy("none"), PaperStream(), problem=KNAPSACK)


def test_samples_must_have_the_right_form() -> None:
    with pytest.raises(ValueError, match="check_problem needs x"):
        check_problem(KNAPSACK, X[0], XI)
    with pytest.raises(ValueError, match="at least 2 stages and 2 seeds"):
        check_policy(Constant([0] * 4), PaperStream(), problem=KNAPSACK, seeds=(1,))
