"""Parts that are able to do all that may be, to be wrapped by others; and wrappers of them."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bocopt.abilities import RunsOnDevice, TakesMissing, UnderScenarios
from bocopt.core import (
    Array,
    BoolArray,
    Bounds,
    Decision,
    DeviceProblem,
    IntArray,
    RangedDifference,
    ShadowReport,
    Solution,
    Within,
)
from bocopt.policies.baselines import given
from bocopt.problems import Knapsack


class GiftedInfo(NamedTuple):
    """What charts are drawn from."""

    arm_weights: Array  # (2)
    weights: Array  # (2)
    shadows: ShadowReport


class GiftedState(NamedTuple):
    """How many outcomes there were."""

    outcomes: IntArray  # ()
    info: GiftedInfo


def _state(outcomes: Any, z: Array | None = None) -> GiftedState:
    lead = np.shape(outcomes)
    halves = np.full((*lead, 2), 0.5)
    shown = np.full((*lead, 1, 0), np.nan) if z is None else z[..., None, :]
    return GiftedState(np.asarray(outcomes), GiftedInfo(halves, halves, ShadowReport(shown)))


class GiftedModel:
    """A law with every ability of models: xi is the number of outcomes, or the stage."""

    lockstep = takes_missing = knows_at_once = learns_parts = True
    law_names = ("high", "low")
    given = 0

    def __init__(self, dim_xi: int = 2) -> None:
        self.dim_xi = dim_xi

    def init(self, seeds: IntArray) -> GiftedState:
        return _state(np.zeros(np.shape(seeds), np.int64))

    def step(self, state: GiftedState, t: int, x: Array, xi: Array) -> GiftedState:
        return _state(state.outcomes + 1)

    def sample(self, state: GiftedState, x: Array) -> tuple[Array, Array]:
        return self.sample_at(state, state.outcomes, x)

    def sample_at(self, state: GiftedState, t: Any, x: Array) -> tuple[Array, Array]:
        stage = np.broadcast_to(np.asarray(t, float), state.outcomes.shape)
        return np.broadcast_to(stage[..., None, None], (*stage.shape, 3, self.dim_xi)), THIRDS


class GiftedPolicy:
    """A policy with every ability that a policy may have: it decides as one of its arms."""

    lockstep = takes_missing = learns_parts = True
    arm_names = ("mine", "yours")
    law_names = ("high", "low")

    def __init__(self, problem: Any) -> None:
        self.problem, self.shadows = problem, {"other": None}

    def init(self, seeds: IntArray) -> GiftedState:
        return _state(np.zeros(np.shape(seeds), np.int64))

    def scenarios(self, state: GiftedState, t: int, x: Array) -> tuple[Array, Array] | None:
        size = self.problem.dims.xi
        outcomes = np.asarray(state.outcomes, float)[..., None, None]
        return np.broadcast_to(1.0 + outcomes, (*np.shape(state.outcomes), 3, size)), THIRDS

    def decide(self, state: GiftedState, t: int, x: Array) -> Decision:
        taken = given(np.ones(self.problem.dims.z), np.shape(state.outcomes))
        return Decision(Solution(*taken.solution), (np.asarray(taken.solution.z) + 1,))

    def learn(
        self, state: GiftedState, t: int, x: Array, decision: Decision, xi: Array
    ) -> GiftedState:
        if not np.isfinite(xi).all():
            raise ValueError("The 'xi' parameter of GiftedPolicy.learn must be finite.")
        return _state(state.outcomes + 1, decision.memo[0])

    def outcomes(self, state: GiftedState) -> Array:
        return np.zeros((*np.shape(state.outcomes), 0, self.problem.dims.xi))

    def with_outcomes(self, state: GiftedState, outcomes: Array) -> GiftedState:
        return state

    def look_up_price(self, memo: Any, z: Array) -> Array | None:
        return None

    def arm_decisions(self, memo: Any) -> list[tuple[str, Array]]:
        (other,) = memo
        return [("mine", other - 1), ("yours", other)]

    def arm_taken(self, memo: Any) -> str:
        return "mine"

    def shadow_decisions(self, memo: Any) -> list[tuple[str, Array]]:
        (other,) = memo
        return [("other", other)]


class GiftedProblem(Knapsack):
    """A knapsack with every ability that a problem may have."""

    name = "gifted"
    why_unranged = "it has a range"
    support = ((0.0, 0.0), (50.0, 50.0))
    on_device = DeviceProblem(0.5, lambda found, terms: found, lambda z, xi, terms: 0.0, ())

    def named(self, z: Array) -> Mapping[str, Array]:
        return {"taken": z}


class PlainProblem:
    """A problem around another one, priced as that is, which tells nobody what is in it."""

    def __init__(self, problem: Any) -> None:
        self.problem = problem
        self.dims, self.sense, self.risk = problem.dims, problem.sense, problem.risk

    def solve(self, scenarios: Array, w: Array, x: Array) -> Solution:
        solution: Solution = self.problem.solve(scenarios, w, x)
        return solution

    def cost(self, x: Array, z: Array, xi: Array) -> Array:
        return np.asarray(self.problem.cost(x, z, xi))

    def violation(self, x: Array, z: Array, xi: Array) -> Array:
        return np.asarray(self.problem.violation(x, z, xi))


class CarefulProblem(PlainProblem):
    """One that says what is in it, has what stands beside its methods, and keeps two to itself."""

    smallest_of_ties = True
    withholds: ClassVar[Mapping[type, str]] = {
        RangedDifference: "nobody compares here",
        RunsOnDevice: "no device solves as it does",
    }

    @property
    def inner(self) -> Any:
        return self.problem

    def range(self, x: Array, z: Array) -> tuple[Array, Array]:
        ends: tuple[Array, Array] = self.problem.range(x, z)
        return ends

    def possible(self, x: Array, xi: Array) -> BoolArray:
        return np.asarray(self.problem.possible(x, xi))

    def within(self, bounds: Bounds) -> Within:
        found: Within = self.problem.within(bounds)
        return found


THIRDS = np.full(3, 1 / 3)


class Kept(NamedTuple):
    """The state of a wrapper: what the policy in it knows, and how many decisions there were."""

    own: Any
    decisions: IntArray

    @property
    def info(self) -> Any:
        return self.own.info


class Forgetful:
    """A wrapper that tells nobody what is in it."""

    def __init__(self, policy: Any) -> None:
        self.policy = policy

    def init(self, seeds: IntArray) -> Any:
        return Kept(self.policy.init(seeds), np.zeros(np.shape(seeds), np.int64))

    def decide(self, state: Kept, t: int, x: Array) -> Decision:
        taken: Decision = self.policy.decide(state.own, t, x)
        return taken._replace(memo=(taken.memo, state.decisions))

    def learn(self, state: Kept, t: int, x: Array, decision: Decision, xi: Array) -> Kept:
        memo, decisions = decision.memo
        own = self.policy.learn(state.own, t, x, decision._replace(memo=memo), xi)
        return Kept(own, decisions + 1)


class Careless(Forgetful):
    """One that says what is in it, but not where its state is."""

    @property
    def inner(self) -> Any:
        return self.policy


class Careful(Careless):
    """One that says both."""

    def inside(self, state: Kept, memo: Any) -> tuple[Any, Any]:
        return state.own, memo[0] if memo else ()


class Secretive(Careful):
    """One that keeps two abilities to itself, and says why."""

    withholds: ClassVar[Mapping[type, str]] = {
        UnderScenarios: "it decides on its own",
        TakesMissing: "it counts contexts",
    }
