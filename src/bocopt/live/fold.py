"""The state of an agent as a fold of events: decisions, outcomes, lessons, and what was given up.

    live' = apply(live, event)

All of it is pure. A decision's event holds all that learning from its outcome will need, so a log
of events is read back without solving a program again. So does the event of a lesson: an outcome
of a stage at which nobody asked.

An outcome is what was seen of it: bounds, which are equal where it was seen in full. From the first
on that was not, the policy is played inside `PartlySeen`. A correction replaces the outcome of a
decision: the state is then that of the log with the right one in its place (`corrections.py`).
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple

import numpy as np

from bocopt import arguments
from bocopt.abilities import UnderScenarios, WatchesShadow
from bocopt.bounds import bounds_of, exactly, is_of_parts
from bocopt.core import Array, Bounds, Decision, LearnsBounds, Policy, Problem, S, learns_bounds
from bocopt.fingerprint import fingerprint, fingerprints
from bocopt.guarantees import Guarantee, Monitor, evidence_of, range_of
from bocopt.guarantees.worsening import worsenings
from bocopt.live.record import Live, Open, own
from bocopt.loop import Stage, checked_decision, context
from bocopt.policies.matching import check_same_problem
from bocopt.policies.partly_seen import PartlySeen
from bocopt.stages import review
from bocopt.state import CheckpointError, flatten, read_only, rebuild
from bocopt.wrappers import find, has, scenarios_of, shadows_of


class Decided(NamedTuple):
    """A decision was taken."""

    number: int
    waiting: Open
    by: str = ""  # which configuration took it
    row: str = ""  # what its context was made of, for whoever makes contexts
    in_part: bool = False  # whether it was taken inside `PartlySeen`: its memo is of that


class Observed(NamedTuple):
    """Its outcome became known, or bounds of it."""

    number: int
    seen: Bounds


class Corrected(NamedTuple):
    """The outcome that was learned of it was wrong: this is the right one."""

    number: int
    seen: Bounds


class Forgotten(NamedTuple):
    """Nobody waits for its outcome any more."""

    number: int


class Taught(NamedTuple):
    """A row of a history: a context and its outcome, from a time when nobody asked the policy.

    It decides for itself, and learns as if that had been done. Lessons are numbered apart from
    decisions, of which they are none. One whose outcome is NaN only passes.
    """

    number: int  # of lessons, from 0
    x: Array
    seen: Bounds
    decision: Decision  # the policy's own, which nobody took: for what it learns
    by: str = ""  # which configuration made it
    row: str = ""  # as in `Decided`
    came: str | None = None  # when the outcome did, where that matters for contexts to come
    in_part: bool = False  # as in `Decided`


Event = Decided | Observed | Forgotten | Taught | Corrected


def watching(
    policy: Policy[S],
    problem: Problem,
    scale: float | None = None,
    *,
    lately: bool = False,
    difference_scale: float | None = None,
    delta: float = 0.05,
    guarantees: Sequence[Guarantee[Any]] = (),
) -> Monitor:
    """Return a monitor of all that there is to watch of a policy, and of `guarantees` beside it.

    `lately` adds whether a shadow costs more lately; the rest is as in `Monitor`.
    """
    shadows = tuple(shadows_of(policy))
    alarms = worsenings(shadows, scale=difference_scale) if lately else []
    return Monitor(
        problem,
        (*alarms, *guarantees),
        shadows=shadows,
        scale=scale,
        difference_scale=difference_scale,
        delta=delta,
    )


def configuration(policy: Policy[Any], problem: Problem, monitor: Monitor) -> str:
    """A digest of all that an agent's state depends on, but for its seed."""
    return fingerprint((policy, problem, monitor.guarantees))


def configuration_parts(policy: Policy[Any], problem: Problem, monitor: Monitor) -> dict[str, str]:
    """The same part by part, so that it can be said what differs."""
    return fingerprints({"policy": policy, "problem": problem, "monitor": monitor.guarantees})


@dataclass(frozen=True)
class Fold(Generic[S]):
    """A policy on a problem, watched by a monitor: all that is needed to apply events.

    `by` names the configuration. A decision that another one took has a memo that means nothing
    here: the policy then decides for itself, and learns from the outcome with its own memo. What it
    would have decided is not compared with what was taken, since it may have been made to fit.
    """

    policy: Policy[S]
    problem: Problem
    monitor: Monitor
    hindsight: bool = True
    by: str = ""

    def __post_init__(self) -> None:
        check_same_problem(self.policy, self.problem)

    def begin(self, seed: int) -> Live:
        """Return the state of the agent before any event."""
        state = self.policy.init(np.array(seed))
        return Live(state, t=0, learned=0, open={}, watched=None, last=None, seed=seed)

    def playing(self, in_part: bool) -> Policy[Any]:
        """Return the policy that decides and learns: inside `PartlySeen` where that is so."""
        return self._inside if in_part else self.policy

    @cached_property
    def _inside(self) -> LearnsBounds[Any]:
        return self.policy if learns_bounds(self.policy) else PartlySeen(self.policy)

    def seen_in_part(self, live: Live) -> Live:
        """Return the same, ready for outcomes of which only bounds are known."""
        if live.in_part or learns_bounds(self.policy):
            return live
        inside, known = self._inside, live.learned + live.taught
        assert isinstance(inside, PartlySeen)
        law = None
        if live.last is not None:
            law = scenarios_of(self.policy, live.state, live.stage, live.last[0])
        state = inside.begin(np.array(live.seed), live.state, known, law)
        opened = {
            number: waiting._replace(decision=own(inside.adopted(waiting.decision)))
            for number, waiting in live.open.items()
        }
        return live._replace(state=state, open=opened, in_part=True)

    def context(self, owner: str, live: Live, x: Any) -> Array:
        """Return a copy of a context (k) that fits problem, policy and the contexts before it."""
        found = context(owner, self.policy, self.problem, x).copy()
        if found.ndim != 1:
            raise arguments.wrong(owner, "x", "one context", found.shape)
        self._check_width(owner, live, found)
        return found

    def _check_width(self, owner: str, live: Live, x: Array) -> None:
        if live.width not in (None, x.shape[-1]):
            expected = f"of {live.width} numbers, as the contexts before it"
            raise arguments.wrong(owner, "x", expected, x)

    def outcome(self, owner: str, xi: Any, names: Sequence[str] = ()) -> Bounds:
        """Return a copy of what was seen of an outcome (m), checked: numbers, or bounds of them."""
        size = self.problem.dims.xi
        if not is_of_parts(xi):
            found = arguments.array(owner, "xi", xi, (size,)).copy()
            if found.ndim != 1:
                raise arguments.wrong(owner, "xi", "one outcome", found.shape)
            return exactly(found)
        seen = bounds_of(owner, "xi", xi, size, names)
        if not (seen.is_exact or self.takes_bounds):
            raise ValueError(
                f"{type(self.policy).__name__} cannot learn from an outcome that was seen in part: "
                "it has no scenarios, by which the rest could be completed. Take a policy that "
                "has, or give up the decision's outcome."
            )
        return seen

    @property
    def takes_bounds(self) -> bool:
        """True where the policy can learn from an outcome that was seen in part."""
        return learns_bounds(self.policy) or find(self.policy, UnderScenarios) is not None

    def history(self, owner: str, live: Live, x: Any, xi: Any) -> tuple[Array, Array]:
        """Return copies of contexts (T, k) and outcomes (T, m) that fit; (k), (m) are a history of
        one.
        """
        contexts = context(owner, self.policy, self.problem, x).copy()
        outcomes = arguments.array(owner, "xi", xi, (self.problem.dims.xi,)).copy()
        if contexts.ndim > 2:
            raise arguments.wrong(owner, "x", "(k) or (T, k)", contexts.shape)
        if outcomes.shape[:-1] != contexts.shape[:-1]:
            rows = "one outcome" if contexts.ndim == 1 else f"{len(contexts)} outcomes, one a row"
            raise arguments.wrong(owner, "xi", f"{rows} of x", outcomes.shape)
        self._check_width(owner, live, contexts)
        return np.atleast_2d(contexts), np.atleast_2d(outcomes)

    def decide(self, live: Live, x: Array) -> Decided:
        """Return the next decision of the policy as an event, under a context that fits."""
        decision = self.decision(live, x)
        ends = range_of(self.problem, x, decision.solution.z)
        known = np.array(live.learned), *ends, np.array(live.taught)
        waiting = Open(read_only(x), decision, *known)
        return Decided(live.t, waiting, self.by, in_part=live.in_part)

    def teach(self, live: Live, x: Array, xi: Array | Bounds) -> Taught:
        """The next lesson, of a context and an outcome that fit."""
        seen = xi if isinstance(xi, Bounds) else exactly(xi.copy())  # no view of a whole history
        if not (seen.is_exact or np.isnan(seen.low).any()):
            live = self.seen_in_part(live)
        decision = self.decision(live, x)
        x, seen = read_only(x.copy()), read_only(seen)
        return Taught(live.taught, x, seen, decision, self.by, in_part=live.in_part)

    def decision(self, live: Live, x: Array) -> Decision:
        """Return the policy's decision, checked, and copied so that nobody else can change it."""
        owner, policy = f"{type(self.policy).__name__}.decide", self.playing(live.in_part)
        decision = arguments.checked(policy.decide, live.state, live.stage, x)
        return own(checked_decision(owner, self.problem, decision))

    def check_next(self, live: Live, x: Array, xi: Array) -> None:
        """Check that the policy can go on from the state, by one stage: policies are pure."""
        live = live._replace(state=read_only(live.state))  # what it shares is copied, not added to
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            decision = self.decision(live, x)
            policy = self.playing(live.in_part)
            after = policy.learn(live.state, live.stage, x, decision, xi)
        rebuild(live.state, flatten(after))

    def apply(self, live: Live, event: Event) -> tuple[Live, Stage | None]:
        """Return the state after an event, and the stage where it is an outcome, else None."""
        if isinstance(event, Decided):
            return self._after_decision(live, event), None
        if isinstance(event, Taught):
            return self._after_lesson(live, event), None
        if isinstance(event, Corrected):
            raise CheckpointError("A correction changes the past: it is folded with all events.")
        if event.number not in live.open:
            raise CheckpointError(f"Decision {event.number} is not open.")
        if isinstance(event, Observed):
            return self._after_outcome(live, event)
        return live._replace(**_closed(live, event.number)), None

    def _after_decision(self, live: Live, event: Decided) -> Live:
        waiting = event.waiting
        if (event.number, int(waiting.learned)) != (live.t, live.learned):
            raise CheckpointError(
                f"Decision {event.number}, after {int(waiting.learned)} outcomes, stands where "
                f"decision {live.t}, after {live.learned}, was due."
            )
        if waiting.taught != live.taught:
            raise CheckpointError(
                f"Decision {event.number} knew {int(waiting.taught)} lessons of {live.taught}."
            )
        foreign = live.foreign
        if event.by != self.by:
            memo = self.decision(live, waiting.x).memo
            waiting = waiting._replace(decision=waiting.decision._replace(memo=memo))
            foreign = foreign | {event.number}
        else:
            waiting = waiting._replace(decision=self._made(live, waiting.decision, event.in_part))
        opened = {**live.open, event.number: waiting}
        return live._replace(t=live.t + 1, open=opened, foreign=foreign)

    def _after_lesson(self, live: Live, event: Taught) -> Live:
        """Return the state after a lesson; the monitor skips it, since nobody took a decision."""
        if live.open:
            raise CheckpointError(f"Lesson {event.number} stands where decisions were open.")
        if event.number != live.taught:
            raise CheckpointError(f"Lesson {event.number} stands where {live.taught} was due.")
        if np.isnan(event.seen.low).any():
            return live._replace(taught=live.taught + 1)
        seen = read_only(event.seen)
        if not seen.is_exact:
            live = self.seen_in_part(live)
        if event.by == self.by:
            own = self._made(live, event.decision, event.in_part)
        else:
            own = self.decision(live, event.x)
        state = arguments.checked(
            self._learned_from, live.in_part, live.state, live.stage, event.x, own, seen
        )
        last = event.x, seen.finite
        return live._replace(state=state, taught=live.taught + 1, last=last)

    def _made(self, live: Live, decision: Decision, in_part: bool) -> Decision:
        """Return a decision of the log as what plays now would have made it."""
        if in_part == live.in_part:
            return decision
        if in_part:
            raise CheckpointError("A decision knew of outcomes seen in part, where none was.")
        inside = self._inside
        assert isinstance(inside, PartlySeen)
        return own(inside.adopted(decision))

    def _learned_from(
        self, in_part: bool, before: Any, t: int, x: Array, decision: Decision, seen: Bounds
    ) -> Any:
        """Return the policy's state after what was seen of an outcome at stage t."""
        if seen.is_exact:
            return self.playing(in_part).learn(before, t, x, decision, seen.low)
        return self._inside.learn_bounds(before, t, x, decision, seen)

    def _after_outcome(self, live: Live, event: Observed) -> tuple[Live, Stage]:
        number, seen = event.number, read_only(event.seen)
        if not seen.is_exact:
            live = self.seen_in_part(live)
        x, decision, *_ = live.open[number]
        at = number + live.taught  # as it decided: no lesson came between
        state, stage = arguments.checked(
            self._reviewed, live.in_part, live.state, at, x, decision, seen
        )
        stage = stage._replace(t=number)
        return self.learned(live, number, seen, state, self.watched(live, number, stage)), stage

    def _reviewed(
        self, in_part: bool, before: Any, t: int, x: Array, decision: Decision, seen: Bounds
    ) -> tuple[Any, Stage]:
        """Return the policy's state after an outcome at stage t, and what came of the decision."""
        state = self._learned_from(in_part, before, t, x, decision, seen)
        return state, self._review(t, x, decision, seen, state)

    def _review(self, t: int, x: Array, decision: Decision, seen: Bounds, state: Any) -> Stage:
        info, known = read_only(state.info), None if seen.is_exact else seen
        return review(self.problem, t, x, decision, seen.low, info, self.hindsight, known)

    def learned(self, live: Live, number: int, seen: Bounds, state: Any, watched: Any) -> Live:
        """Return the state after an outcome, from what the policy and the monitor made of it."""
        return live._replace(
            state=state,
            learned=live.learned + 1,
            watched=watched,
            last=(live.open[number].x, seen.finite),
            **_closed(live, number),
        )

    def watched(self, live: Live, number: int, stage: Stage) -> tuple[Any, ...]:
        """The states of the monitor after a stage."""
        _, _, learned, low, high, _ = live.open[number]
        stale = bool(learned != live.learned)
        late = stale or bool(learned != number)  # an earlier outcome was not known, or never
        evidence = evidence_of(self.problem, stage, cost_range=(low, high), stale=stale, late=late)
        watched = self.monitor.update(live.watched, evidence)
        return self._not_compared(live.watched, watched) if number in live.foreign else watched

    def lesson(self, before: S, t: int, x: Array, decision: Decision, xi: Array) -> tuple[S, Stage]:
        """The state and the stage after an outcome (m) that was seen in full; leading axes free."""
        state = self.policy.learn(before, t, x, decision, xi)
        return state, self._review(t, x, decision, exactly(xi), state)

    def _not_compared(self, before: Any, after: tuple[Any, ...]) -> tuple[Any, ...]:
        """The states of the monitor, with those of comparisons left as they were."""
        before = self.monitor.initial(()) if before is None else before
        trios = zip(self.monitor.guarantees, before, after, strict=True)
        return tuple(old if has(g, WatchesShadow) else new for g, old, new in trios)


def _closed(live: Live, number: int) -> dict[str, Any]:
    """Return the fields of the state that change when a decision is no longer open."""
    rest = {other: waiting for other, waiting in live.open.items() if other != number}
    return {"open": rest, "foreign": live.foreign - {number}}
