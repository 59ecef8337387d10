"""Honest baselines: what simple methods, no learning, and full knowledge of the law achieve."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bocopt import arguments
from bocopt.core import (
    Array,
    ConditionalSampler,
    Decision,
    IntArray,
    Policy,
    Problem,
    S,
    Solution,
    Status,
)
from bocopt.numeric import noise
from bocopt.numeric.history import History, empty


class NoInfo(NamedTuple):
    """Nothing to report."""


class Seeded(NamedTuple):
    """The state of a policy that learns nothing."""

    seeds: IntArray  # ()
    info: NoInfo = NoInfo()


def given(z: ArrayLike, lead: tuple[int, ...]) -> Decision:
    """A decision that no program made: its value under a belief is unknown, hence NaN."""
    nan, z = np.full(lead, np.nan), np.asarray(z)
    status = np.full(lead, Status.GIVEN, dtype=np.int64)
    return Decision(Solution(np.broadcast_to(z, (*lead, z.shape[-1])), nan, status, nan))


#: Before any outcome the scale of xi is unknown: it could be any of these, in all components.
ANY_SCALE = 10.0 ** np.linspace(-2.0, 2.0, 9)


def before_any_outcome(
    problem: Problem, initial_decision: Sequence[float] | None, lead: tuple[int, ...], x: Array
) -> Decision:
    """`initial_decision`, or else what copes with a xi of any size from 0.01 to 100.

    Where nothing does, the status says that z is what the problem falls back on.
    """
    if initial_decision is not None:
        return given(initial_decision, lead)
    scenarios = np.broadcast_to(ANY_SCALE[:, None], (*lead, len(ANY_SCALE), problem.dims.xi))
    found = problem.solve(scenarios, np.full(len(ANY_SCALE), 1.0 / len(ANY_SCALE)), x)
    copes = ~np.isin(found.status, (Status.INFEASIBLE, Status.FALLBACK))
    status = np.where(copes, np.int64(Status.UNINFORMED), found.status)
    return Decision(found._replace(status=np.broadcast_to(status, lead)))


def checked_first(
    owner: str, problem: Problem, initial_decision: Sequence[float] | None
) -> tuple[float, ...] | None:
    """`initial_decision` for a problem that is one."""
    arguments.kind(owner, "problem", problem, Problem)
    if initial_decision is None:
        return None
    return arguments.numbers(
        owner, "initial_decision", initial_decision, "(-inf, inf)", problem.dims.z
    )


@dataclass(frozen=True)
class Constant:
    """The same decision at every stage."""

    lockstep: ClassVar[bool] = True
    z: Sequence[float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "z", arguments.numbers("Constant", "z", self.z, "(-inf, inf)"))

    def init(self, seeds: IntArray) -> Seeded:
        """Return the state, which is the seeds alone."""
        return Seeded(arguments.seeds_of(type(self).__name__, seeds))

    def decide(self, state: Seeded, t: int, x: Array) -> Decision:
        """Return the decision z (d), with the leading axes of the seeds."""
        return given(self.z, state.seeds.shape)

    def learn(self, state: Seeded, t: int, x: Array, decision: Decision, xi: Array) -> Seeded:
        """Return the state as it is."""
        return state


class OutcomesSoFar(NamedTuple):
    """All outcomes so far."""

    seeds: IntArray  # ()
    outcomes: History  # (t, m)
    info: NoInfo = NoInfo()


@dataclass(frozen=True)
class SampleAverage:
    """The program under the empirical law of all outcomes so far; the context is not read.

    Before the first outcome there is no law: `initial_decision` is decided, or what copes with a xi
    of any size. With `latest`, only so many outcomes are kept.
    """

    lockstep: ClassVar[bool] = True
    problem: Problem
    initial_decision: Sequence[float] | None = None
    latest: int | None = None

    def __post_init__(self) -> None:
        checked = checked_first("SampleAverage", self.problem, self.initial_decision)
        object.__setattr__(self, "initial_decision", checked)
        if self.latest is not None:
            arguments.integer("SampleAverage", "latest", self.latest, "[1, inf)")

    def init(self, seeds: IntArray) -> OutcomesSoFar:
        """Return the state before any outcome, with the leading axes of the seeds."""
        seeds = arguments.seeds_of("SampleAverage", seeds)
        return OutcomesSoFar(seeds, empty(seeds.shape, self.problem.dims.xi))

    def scenarios(self, state: OutcomesSoFar, t: int, x: Array) -> tuple[Array, Array] | None:
        """All outcomes so far, with equal weights; None before the first."""
        rows = state.outcomes.rows
        seen = rows.shape[-2]
        return (rows, np.full(seen, 1.0 / seen)) if seen else None

    def decide(self, state: OutcomesSoFar, t: int, x: Array) -> Decision:
        """Return the decision (d) under the outcomes so far; before the first, the initial one."""
        found = self.scenarios(state, t, x)
        if found is None:
            return before_any_outcome(self.problem, self.initial_decision, state.seeds.shape, x)
        return Decision(self.problem.solve(*found, x))

    def learn(
        self, state: OutcomesSoFar, t: int, x: Array, decision: Decision, xi: Array
    ) -> OutcomesSoFar:
        """Return the state with one more outcome (m), and only the latest if so many are kept."""
        xi = arguments.inner("SampleAverage.learn", "xi", xi, self.problem.dims.xi)
        latest = np.inf if self.latest is None else self.latest
        return state._replace(outcomes=state.outcomes.append(xi).at_most(latest))

    def outcomes(self, state: OutcomesSoFar) -> Array:
        """Return all outcomes (t, m) so far, or the latest."""
        return state.outcomes.rows

    def with_outcomes(self, state: OutcomesSoFar, outcomes: Array) -> OutcomesSoFar:
        """Return the state after as many other outcomes (t, m)."""
        return state._replace(outcomes=state.outcomes.with_rows(outcomes))


@dataclass(frozen=True)
class ConditionalOptimum:
    """The program under the true law of xi given x, by Monte Carlo: what learners aim for."""

    lockstep: ClassVar[bool] = True
    problem: Problem
    law: ConditionalSampler
    scenarios: int = 1000

    def __post_init__(self) -> None:
        arguments.kind("ConditionalOptimum", "problem", self.problem, Problem)
        arguments.kind("ConditionalOptimum", "law", self.law, ConditionalSampler)
        arguments.integer("ConditionalOptimum", "scenarios", self.scenarios, "[1, inf)")

    def init(self, seeds: IntArray) -> Seeded:
        """Return the state, which is the seeds alone."""
        return Seeded(arguments.seeds_of(type(self).__name__, seeds))

    def decide(self, state: Seeded, t: int, x: Array) -> Decision:
        """Return the decision (d) under scenarios (s, m) drawn from the true law given x (k)."""
        u = noise.normal(state.seeds, t, "conditional", (self.scenarios, self.law.dim_noise))
        scenarios = self.law.sample_given(x[..., None, :], u)
        w = np.full(self.scenarios, 1.0 / self.scenarios)
        return Decision(self.problem.solve(scenarios, w, x))

    def learn(self, state: Seeded, t: int, x: Array, decision: Decision, xi: Array) -> Seeded:
        """Return the state as it is."""
        return state


@dataclass(frozen=True)
class Frozen(Generic[S]):
    """A policy that never learns: around BMA, what the prior alone is worth."""

    policy: Policy[S]

    def __post_init__(self) -> None:
        arguments.kind("Frozen", "policy", self.policy, Policy)

    @property
    def inner(self) -> Policy[S]:
        """The policy, whose state and memo are its own."""
        return self.policy

    def init(self, seeds: IntArray) -> S:
        """Return the state of the policy before any stage."""
        return self.policy.init(seeds)

    def decide(self, state: S, t: int, x: Array) -> Decision:
        """Return the decision (d) of the policy, from a state that never changes."""
        return self.policy.decide(state, t, x)

    def learn(self, state: S, t: int, x: Array, decision: Decision, xi: Array) -> S:
        """Return the state as it is."""
        return state
