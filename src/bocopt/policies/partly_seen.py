"""A policy for outcomes of which only bounds are known: it learns from them, and looks up."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.abilities import UnderScenarios
from bocopt.bounds import exactly
from bocopt.core import Array, BoolArray, Bounds, Decision, IntArray, Policy, Problem, Solution
from bocopt.numeric import noise
from bocopt.numeric.history import History, empty, of_rows
from bocopt.numeric.stacking import UnlikeError, axes_of, some_of, with_some
from bocopt.policies.baselines import ANY_SCALE
from bocopt.policies.completion import Law, beyond
from bocopt.policies.matching import problem_of
from bocopt.wrappers import find, scenarios_of

_LEAST = 1e-9  # outcomes that were ruled out, where nothing is known
_LATEST = 500  # outcomes that are looked back on: were any seen beyond a bound?


class Sight(NamedTuple):
    """How much was seen, component by component."""

    ruled_out: Array  # (m) sum of the weight that outcomes took from the law; 1 of an exact one
    bounded: Array  # (2, m) how often there was a lower bound alone, and an upper one
    unseen: Array  # (m) how often nothing was seen
    lowest: Array  # (m) number that was seen, or bound
    highest: Array  # (m)
    rows: History  # (n, 2m) ends of the latest outcomes

    @property
    def is_partial(self) -> BoolArray:
        """Return () whether anything was not seen so far."""
        return np.asarray((self.bounded.sum(axis=(-1, -2)) + self.unseen.sum(axis=-1)) > 0)

    @property
    def knows_size(self) -> BoolArray:
        """Return whether any outcome (m) was seen exactly beyond half of the largest bound."""
        low, high = np.split(self.rows.rows, 2, axis=-1)
        size = np.where(low == high, np.abs(low), 0.0).max(axis=-2, initial=0.0)
        largest = np.maximum(np.abs(self.lowest), np.abs(self.highest))
        return np.asarray(2.0 * size >= largest)

    def seen_in(self, bounds: Bounds) -> IntArray:
        """Return how many (m) of the latest outcomes were seen exactly, and within the bounds."""
        low, high = np.split(self.rows.rows, 2, axis=-1)
        inside = (bounds.low[..., None, :] <= low) & (high <= bounds.high[..., None, :])
        return np.asarray(((low == high) & inside).sum(axis=-2))

    def after(self, bounds: Bounds, ruled_out: Array) -> "Sight":
        """Return it after an outcome that took this weight (m) from the law."""
        low, high = np.isfinite(bounds.low), np.isfinite(bounds.high)
        ends = np.concatenate([bounds.low, bounds.high], axis=-1)
        ends = np.broadcast_to(ends, (*self.lowest.shape[:-1], ends.shape[-1]))
        return Sight(
            ruled_out=self.ruled_out + ruled_out,
            bounded=self.bounded + np.stack([low & ~high, high & ~low], axis=-2),
            unseen=self.unseen + bounds.unseen,
            lowest=_smaller(self.lowest, bounds),
            highest=-_smaller(-self.highest, Bounds(-bounds.high, -bounds.low)),
            rows=self.rows.append(ends).at_most(_LATEST),
        )


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
    out, as a demand of at least 0, teaches nothing.

    *Looking up.* Who never stocks above the median learns nothing above it. So as soon as anything
    was not seen, decisions are taken under one more scenario: an outcome as far beyond all that was
    seen as these are apart or from zero, on the side that bounds leave open. It counts as E
    outcomes beside the n that were ruled out so far, with E exponential of mean `optimism`. After
    two outcomes that is often enough to stock more; after 400 hardly ever. Components of which
    nothing is seen at times, as roads that nobody took, are moved by e sd / sqrt(n + 1) with a
    normal e (Thompson sampling). What looking up is expected to cost stands in the info.

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
        lead, m = seeds.shape, self._problem.dims.xi
        rows, lowest, highest = empty(lead, 2 * m), np.inf, -np.inf
        if outcomes and scenarios is not None:
            past = _law(scenarios, lead).quantiles(min(outcomes, _LATEST))
            rows = of_rows(np.concatenate([past, past], axis=-1))
            lowest, highest = past.min(axis=-2), past.max(axis=-2)
        sight = Sight(
            ruled_out=np.full((*lead, m), float(outcomes)),
            bounded=np.zeros((*lead, 2, m)),
            unseen=np.zeros((*lead, m)),
            lowest=np.full((*lead, m), lowest),
            highest=np.full((*lead, m), highest),
            rows=rows,
        )
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
                taken = _taken(looks, up, own.solution)
                price = self._price(x, law, own.solution.z, taken.z)
        return Decision(taken, (tuple(own.solution), own.memo, price))

    def _looking_up(self, state: PartlySeenState, t: int, x: Array, law: Law) -> Solution:
        """Return the solution under the law and what may lie beyond all that was seen."""
        sight, m = state.sight, law.scenarios.shape[-1]
        u = noise.uniform(state.seeds, t, "partly seen.look up", (2 * m + 1,))
        shift = noise.normal(state.seeds, t, "partly seen.shift", (m,))
        scenarios = _moved(law, sight, shift)
        usual = np.take_along_axis(
            scenarios, (u[..., 2 * m :, None] * law.w.shape[-1]).astype(np.int64), axis=-2
        )
        far = np.where(np.eye(m, dtype=bool), _furthest(sight, u[..., :m])[..., None, :], usual)
        known = np.where(sight.knows_size, np.maximum(sight.ruled_out, _LEAST), _LEAST)
        open_ended = sight.bounded.sum(axis=-2) > 0
        drawn = -self.optimism * np.log1p(-u[..., m : 2 * m])
        mass = np.where(open_ended, drawn / known, 0.0)
        weights = np.concatenate([law.w, mass], axis=-1)
        weights = weights / weights.sum(axis=-1, keepdims=True)
        return self._problem.solve(np.concatenate([scenarios, far], axis=-2), weights, x)

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
        if bounds.is_exact:
            ruled_out, after = (
                np.ones((*lead, m)),
                self.policy.learn(state.own, t, x, own, bounds.low),
            )
        else:
            ruled_out, after = self._completed(state, t, x, own, bounds)
        return PartlySeenState(
            seeds=state.seeds,
            own=after,
            sight=state.sight.after(bounds, ruled_out),
            info=PartlySeenInfo(price, state.info.look_up_total + price, after.info),
        )

    def _completed(
        self, state: PartlySeenState, t: int, x: Array, own: Decision, bounds: Bounds
    ) -> tuple[Array, Any]:
        """Return the weight (m) that was ruled out, and the policy's state after the completion."""
        lead, m = bounds.low.shape[:-1], bounds.low.shape[-1]
        u = noise.uniform(state.seeds, t, "partly seen.complete", (2 * m + 1,))
        sight, found = state.sight, scenarios_of(self.policy, state.own, t, x)
        unit = np.where(np.isfinite(sight.highest), sight.highest - sight.lowest, 0.0)
        far = beyond(bounds, unit, u[..., :m])
        if found is None:  # nothing is expected yet
            ruled_out = np.where(bounds.exact, 1.0, 0.0)
            xi = np.where(bounds.exact, bounds.low, np.where(np.isnan(far), 0.0, far))
            moved = (far > bounds.low) | (far < bounds.high)
            teaches = np.asarray((bounds.exact | moved).all(axis=-1))
        else:
            law = _law(found, lead)
            ruled_out, drawn = law.ruled_out(bounds), law.draw(bounds, u[..., 2 * m])
            outside = ruled_out >= 1.0 - 1e-12  # no scenario was there
            rare = outside | (u[..., m : 2 * m] < 1.0 / (1.0 + sight.seen_in(bounds)))
            xi = np.where(bounds.exact, bounds.low, np.where(rare & ~np.isnan(far), far, drawn))
            teaches = np.asarray((ruled_out > 1e-12).any(axis=-1))
        return ruled_out, self._learned(state.own, t, x, own, xi, teaches)

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


def _smaller(lowest: Array, bounds: Bounds) -> Array:
    """Return the lowest (m) number, or bound, so far."""
    low = np.where(np.isfinite(bounds.low), bounds.low, bounds.high)
    return np.where(np.isfinite(low), np.minimum(lowest, low), lowest)


def _moved(law: Law, sight: Sight, shift: Array) -> Array:
    """Return the scenarios (s, m), components that were unseen at times moved by a normal shift."""
    if not sight.unseen.any():
        return law.scenarios
    mean = (law.w[..., None] * law.scenarios).sum(axis=-2, keepdims=True)
    square = (law.w[..., None] * (law.scenarios - mean) ** 2).sum(axis=-2)
    step = shift * np.sqrt(square / (sight.ruled_out + 1.0))
    moved = law.scenarios + np.where(sight.unseen > 0, step, 0.0)[..., None, :]
    low = np.where(law.scenarios.min(axis=-2, keepdims=True) >= 0.0, 0.0, -np.inf)
    return np.maximum(moved, low)


def _furthest(sight: Sight, u: Array) -> Array:
    """Return an outcome (m) beyond all that was seen, on the side that bounds leave open.

    Where all was 0, it is of any size.
    """
    highest = np.where(np.isfinite(sight.highest), sight.highest, 0.0)
    lowest = np.where(np.isfinite(sight.lowest), sight.lowest, 0.0)
    above, below = highest - lowest, np.maximum(np.abs(highest), np.abs(lowest))
    reach = np.maximum(above, below)
    size = ANY_SCALE[(u * len(ANY_SCALE)).astype(np.int64)]
    reach = np.where(reach > 0.0, reach, size)
    down = np.where(lowest >= 0.0, np.maximum(lowest - reach, 0.0), lowest - reach)
    return np.where(sight.bounded[..., 0, :] >= sight.bounded[..., 1, :], highest + reach, down)
