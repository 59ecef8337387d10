"""A policy for outcomes of which only bounds are known: it learns from them, and looks up."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.abilities import HasArms, HoldsOutcomes, LearnsParts, UnderScenarios
from bocopt.bounds import exactly
from bocopt.core import Array, BoolArray, Bounds, Decision, IntArray, Policy, Problem, Solution
from bocopt.numeric import noise
from bocopt.numeric.stacking import UnlikeError, axes_of, some_of, with_some
from bocopt.numeric.weights import multinomial
from bocopt.policies.completion import Law, completed_anew
from bocopt.policies.matching import problem_of
from bocopt.policies.sight import Sight, begun
from bocopt.wrappers import find, has, scenarios_of

_LATEST = 500  # outcomes that are looked back on: were any seen beyond a bound?


class PartlySeenInfo(NamedTuple):
    """Price of looking up, and the info of the policy."""

    look_up_price: Array  # () of the last decision: how much more it was expected to cost
    look_up_total: Array  # () of all so far
    own: Any


class PartlySeenState(NamedTuple):
    """State of the policy, and how much was seen."""

    seeds: IntArray  # ()
    own: Any
    sight: Sight
    info: PartlySeenInfo


@dataclass(frozen=True)
class PartlySeen:
    """`policy`, for outcomes that may be bounds, or seen in some components only.

    *Learning.* An outcome that was not seen in full is completed (`policies/completion.py`): drawn
    from the policy's own scenarios given what was seen or, where few outcomes were ever seen beyond
    a bound, from up to twice that far: with chance 1 / (1 + how many were). One that rules nothing
    out, as a demand of at least 0, teaches nothing. A policy that only holds its outcomes, as
    `SampleAverage` does, is given all completions anew with each outcome. A model that learns
    components one by one, as `LightMixture` does, leaves out those that were not seen.

    *Looking up.* Who never stocks above the median learns nothing above it. So as soon as anything
    was not seen, decisions are taken under more scenarios: outcomes beyond all that was seen, up to
    as far as these are apart or from zero, on the side that bounds leave open. They count as E
    outcomes beside the n that were ruled out so far. E is exponential, and its mean is `optimism`
    times the chance that bounds leave open: so there are as many looks where stock is dear as where
    it is cheap. After two outcomes that is often enough to stock more; after 400 hardly ever. Until
    a number was seen the scenarios reach to three times the largest bound, and count alone. After n
    zeros and nothing else, any size is expected again, with chance 4 / (n + 1). Components of which
    nothing is seen at times, as roads that nobody took, are moved as far as their mean is uncertain
    (Thompson sampling). What looking up is expected to cost stands in the info.

    As long as all is seen, it decides and learns as `policy` does, bit for bit.

    >>> from bocopt.bounds import at_least, bounds_of
    >>> from bocopt.policies import SampleAverage
    >>> from bocopt.problems import Newsvendor
    >>> policy = PartlySeen(SampleAverage(Newsvendor(unit_cost=[1.0], price=2.5)))
    >>> state, x = policy.init(np.array(0)), np.zeros(1)
    >>> for day in range(60):
    ...     decision = policy.decide(state, day, x)
    ...     z = float(decision.solution.z[0])
    ...     demand = 90.0 + day % 20
    ...     seen = bounds_of("shop", "xi", [demand if demand < z else at_least(z)], 1)
    ...     state = policy.learn_bounds(state, day, x, decision, seen)
    >>> 95 < z < 115
    True

    Reference: Huh, Rusmevichientong (2009), A nonparametric asymptotic analysis of inventory
    planning with censored demand; Besbes, Muharremoglu (2013), On implications of demand censoring
    in the newsvendor problem; Russo et al. (2018), A tutorial on Thompson sampling.
    """

    policy: Policy[Any]
    optimism: float = 2.0

    def __post_init__(self) -> None:
        arguments.kind("PartlySeen", "policy", self.policy, Policy)
        arguments.number("PartlySeen", "optimism", self.optimism, "[0, inf)")
        if find(self.policy, UnderScenarios) is None:
            expected = "one that decides under scenarios: by these outcomes are completed"
            raise arguments.wrong("PartlySeen", "policy", expected, type(self.policy).__name__)

    @property
    def inner(self) -> Policy[Any]:
        """The policy."""
        return self.policy

    def inside(self, state: PartlySeenState, memo: Any) -> tuple[Any, Any]:
        """Return the state of the policy, and its memo."""
        return state.own, memo[1] if memo else ()

    @property
    def _problem(self) -> Problem:
        return problem_of("PartlySeen", None, self.policy)

    @property
    def _learns_parts(self) -> bool:
        policy: Any = self.policy
        return has(policy, LearnsParts) and bool(policy.learns_parts)

    @property
    def _holder(self) -> Any:
        """The policy where it holds its outcomes, else None."""
        return self.policy if has(self.policy, HoldsOutcomes) else None

    def init(self, seeds: IntArray) -> PartlySeenState:
        """Return the state before any outcome, with the leading axes of the seeds."""
        return self.begin(arguments.seeds_of("PartlySeen", seeds), self.policy.init(seeds), 0)

    def begin(
        self,
        seeds: IntArray,
        own: Any,
        outcomes: int,
        scenarios: tuple[Array, Array] | None = None,
    ) -> PartlySeenState:
        """Return the state of a policy that has learned so many outcomes, all seen in full.

        They are not held any more: the policy's `scenarios` (s, m), with their weights (s), say
        where they were.
        """
        lead, past = seeds.shape, None
        if outcomes and self._holder is not None:
            past = self._holder.outcomes(own)
        elif outcomes and scenarios is not None:
            past = _law(scenarios, lead).quantiles(min(outcomes, _LATEST))
        sight = begun(lead, self._problem.dims.xi, outcomes, past)
        none = np.zeros(lead)
        return PartlySeenState(seeds, own, sight, PartlySeenInfo(none, none, own.info))

    def adopted(self, decision: Decision) -> Decision:
        """Return a decision of the policy itself as one of this: nobody looked up."""
        solution, memo = decision
        return Decision(solution, (tuple(solution), memo, np.zeros(solution.value.shape)))

    def look_up_price(self, memo: Any, z: Array) -> Array | None:
        """Return how much more () z (d) was expected to cost than what the policy would decide."""
        (own, *_), _, price = memo
        return None if np.array_equal(own, z) else np.asarray(price)

    def decide(self, state: PartlySeenState, t: int, x: Array) -> Decision:
        """Return the decision (d); its memo has the policy's own, and the price of looking up."""
        own = self.policy.decide(state.own, t, x)
        taken, price = own.solution, np.zeros(state.seeds.shape)
        looks = state.sight.is_partial
        if self.optimism and looks.any():
            found = scenarios_of(self.policy, state.own, t, x)
            if found is not None:
                law = _law(found, state.seeds.shape)
                up = self._looking_up(state, t, x, law)
                if find(self.policy, HasArms) is not None:
                    up = up._replace(z=self._as_much_more(x, law, up.z, own.solution.z))
                taken = _taken(looks, up, own.solution)
                price = self._price(x, law, own.solution.z, taken.z)
        return Decision(taken, (tuple(own.solution), own.memo, price))

    def _looking_up(self, state: PartlySeenState, t: int, x: Array, law: Law) -> Solution:
        """Return the solution under the law and what may lie beyond all that was seen."""
        sight, m = state.sight, law.scenarios.shape[-1]
        u = noise.uniform(state.seeds, t, "partly seen.look up", (m + 1,))
        scenarios = sight.moved(law, noise.normal(state.seeds, t, "partly seen.shift", (m,)))
        weight, w = sight.weight_beyond(self.optimism, u[..., :m]), law.w
        if weight.any():
            beyond = sight.beyond_all()[..., None, :]
            row = multinomial(law.w, u[..., m:])[..., None]
            usual = np.take_along_axis(scenarios, row, axis=-2)[..., None, :, :]
            far = np.where(np.eye(m, dtype=bool), beyond, usual)  # (9, m, m): in one of them each
            scenarios = np.concatenate([scenarios, far.reshape(*law.w.shape[:-1], -1, m)], axis=-2)
            w = np.concatenate([w, np.tile(weight / far.shape[-3], far.shape[-3])], axis=-1)
        return self._problem.solve(scenarios, w / w.sum(axis=-1, keepdims=True), x)

    def _as_much_more(self, x: Array, law: Law, up: Array, own: Array) -> Array:
        """Return the own z (d), of another arm than that of the law, moved as far as this one's.

        Where that is not feasible, z is own if nobody looks up, and `up` otherwise.
        """
        plain = self._problem.solve(law.scenarios, law.w, x).z
        z = np.where(plain == own, up, own + (up - plain))
        at = np.broadcast_to(x, (*law.w.shape[:-1], x.shape[-1]))[..., None, :]
        violations = self._problem.violation(at, z[..., None, :], law.scenarios)
        other = np.where((up == plain).all(axis=-1, keepdims=True), own, up)
        return np.where(self._problem.risk.met(violations, law.w)[..., None], z, other)

    def _price(self, x: Array, law: Law, plain: Array, taken: Array) -> Array:
        """Return how much more () a decision is expected to cost than another, under the law."""
        x = np.broadcast_to(x, (*law.w.shape[:-1], x.shape[-1]))[..., None, :]
        costs = [self._problem.cost(x, z[..., None, :], law.scenarios) for z in (taken, plain)]
        return np.asarray((law.w * (costs[0] - costs[1])).sum(axis=-1))

    def learn(
        self, state: PartlySeenState, t: int, x: Array, decision: Decision, xi: Array
    ) -> PartlySeenState:
        """Return the state after an outcome (m) that was seen in full."""
        m = self._problem.dims.xi
        xi = arguments.finite_and_squarable("PartlySeen.learn", "xi", xi, m)
        return self.learn_bounds(state, t, x, decision, exactly(xi))

    def learn_bounds(
        self, state: PartlySeenState, t: int, x: Array, decision: Decision, bounds: Bounds
    ) -> PartlySeenState:
        """Return the state after an outcome that lies within bounds (m)."""
        solution, memo, price = decision.memo
        own = Decision(Solution(*solution), memo)
        lead, m = state.seeds.shape, self._problem.dims.xi
        bounds = Bounds(*(np.broadcast_to(end, (*lead, m)) for end in bounds))
        u = v = np.full((*lead, m), 0.5)
        ruled_out, xi, teaches = np.ones((*lead, m)), bounds.low, np.ones(lead, bool)
        if not bounds.is_exact:
            drawn = noise.uniform(state.seeds, t, "partly seen.complete", (2 * m + 1,))
            u, v, row = drawn[..., :m], drawn[..., m : 2 * m], drawn[..., 2 * m]
            found = scenarios_of(self.policy, state.own, t, x)
            law = None if found is None else _law(found, lead)
            ruled_out, xi, teaches = state.sight.completed(law, bounds, u, v, row)
            if law is not None and self._learns_parts:
                xi = np.where(bounds.unseen, np.nan, xi)
        holder = self._holder
        if holder is None:
            after, latest = self._learned(state.own, t, x, own, xi, teaches), _LATEST
        else:
            after = holder.learn(state.own, t, x, own, xi)
            latest = holder.outcomes(after).shape[-2]
        sight = state.sight.after(bounds, ruled_out, u, v, latest)
        if holder is not None and sight.is_partial.any():
            values = completed_anew(sight.bounds, holder.outcomes(after), *sight.uniforms)
            after = holder.with_outcomes(after, values)
        return PartlySeenState(
            seeds=state.seeds,
            own=after,
            sight=sight,
            info=PartlySeenInfo(price, state.info.look_up_total + price, after.info),
        )

    def _learned(
        self, own: Any, t: int, x: Array, decision: Decision, xi: Array, teaches: BoolArray
    ) -> Any:
        """Return the policy's state after an outcome; the same for trials that it tells nothing."""
        if not teaches.any():
            return own
        after = self.policy.learn(own, t, x, decision, xi)
        if teaches.all():
            return after
        axes = axes_of(self.policy.init)
        try:
            return with_some(own, axes, teaches, some_of(after, axes, teaches))
        except (UnlikeError, ValueError) as error:
            raise UnlikeError("Trials that learn and that do not are played apart.") from error


def _law(found: tuple[Array, Array], lead: tuple[int, ...]) -> Law:
    scenarios, w = found
    w = np.broadcast_to(w / w.sum(axis=-1, keepdims=True), (*lead, w.shape[-1]))
    return Law(np.broadcast_to(scenarios, (*lead, *scenarios.shape[-2:])), w)


def _taken(looks: BoolArray, up: Solution, plain: Solution) -> Solution:
    """Return the solutions of the trials that look up, and the plain ones of the others."""
    z = np.where(looks[..., None], up.z, plain.z)
    return Solution(
        z, *(np.where(looks, ours, theirs) for ours, theirs in zip(up[1:], plain[1:], strict=True))
    )
