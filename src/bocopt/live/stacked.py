"""Streams that share a clock: one stacked call for all, with the same bits as one by one.

Streams can be stacked where their states have arrays of the same sizes (`numeric/stacking.py`): at
the same number of outcomes, or at any where a policy keeps none, or a full window of them. The rest
are played in groups, or alone.
"""

from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from bocopt import arguments
from bocopt.abilities import Lockstep
from bocopt.core import Array, Decision, S, Solution
from bocopt.guarantees import evidence_of, range_of
from bocopt.live.fold import Decided, Fold, Observed
from bocopt.live.record import Live, Open
from bocopt.loop import Stage, checked_decision
from bocopt.numeric.stacking import axes_of, key, stacked, together, unstack
from bocopt.stages import reports_of
from bocopt.state import from_leaves, leaves, read_only, shape_of
from bocopt.wrappers import promises

_AT_ONCE = 64  # streams: more take more memory, and no less time each

Q = TypeVar("Q")
T = TypeVar("T")


@dataclass(frozen=True)
class StackedFold(Generic[S]):
    """`Fold.decide`, and `Fold.apply` of outcomes, for many streams of one kind at once.

    Answers are in the order of the streams, and bit for bit those of one by one. An error of one
    stream is its answer, and those of the others are as without it: what fails together is done
    one by one. A policy that does not say `lockstep` is always played one by one.
    """

    fold: Fold[S]
    at_once: int = _AT_ONCE

    def __post_init__(self) -> None:
        arguments.kind("StackedFold", "fold", self.fold, Fold)
        arguments.integer("StackedFold", "at_once", self.at_once, "[1, inf)")

    def decide(self, lives: Sequence[Live], contexts: Sequence[Array]) -> list[Decided | Exception]:
        """Return the next decision of each stream under contexts that fit, or its error."""
        pairs = list(zip(lives, contexts, strict=True))
        keys = [self._key(live, x.shape) for live, x in pairs]
        return _answers(pairs, keys, self.at_once, self._decided, self._decided_alone)

    def observe(
        self, lives: Sequence[Live], outcomes: Sequence[Observed]
    ) -> list[tuple[Live, Stage] | Exception]:
        """Return the state and the stage of each after the outcome of a decision, or its error."""
        pairs = list(zip(lives, outcomes, strict=True))
        keys = [self._key(live, self._waiting(live, outcome)) for live, outcome in pairs]
        return _answers(pairs, keys, self.at_once, self._learned, self._learned_alone)

    @cached_property
    def _lockstep(self) -> bool:
        return promises(self.fold.policy, Lockstep)

    @cached_property
    def _axes(self) -> Any:
        return axes_of(self.fold.policy.init)

    @cached_property
    def _axes_of_monitor(self) -> Any:
        """None where a guarantee is not made for it."""
        monitor = self.fold.monitor
        if not all(promises(each, Lockstep) for each in monitor.guarantees):
            return None
        return axes_of(lambda seeds: monitor.initial(seeds.shape))

    def _key(self, live: Live, beside: Hashable) -> Hashable:
        """Return the key of streams that can be stacked; None for one that is played alone."""
        if beside is None or live.in_part or not self._lockstep:
            return None
        try:
            return live.learned + live.taught > 0, key(live.state, self._axes), beside
        except ValueError:  # nested otherwise, where a part of it has failed
            return None

    def _waiting(self, live: Live, outcome: Observed) -> Hashable:
        """The same of a decision and what watches it."""
        waiting, watched = live.open.get(outcome.number), live.watched
        if waiting is None or outcome.number in live.foreign or not outcome.seen.is_exact:
            return None
        seen: Hashable = watched is None
        if self._axes_of_monitor is not None and watched is not None:
            seen = key(watched, self._axes_of_monitor)
        return waiting.x.shape, key(waiting.decision, True), seen

    def _decided_alone(self, pair: tuple[Live, Array]) -> Decided:
        return self.fold.decide(*pair)

    def _decided(self, pairs: Sequence[tuple[Live, Array]]) -> list[Decided]:
        lives, contexts = zip(*pairs, strict=True)
        fold, x = self.fold, np.stack(contexts)
        state = stacked([live.state for live in lives], self._axes)
        decision = arguments.checked(
            fold.policy.decide, state, _stages([live.stage for live in lives]), x
        )
        owner = f"{type(fold.policy).__name__}.decide"
        decision = checked_decision(owner, fold.problem, decision)
        ends = range_of(fold.problem, x, decision.solution.z)
        plain = from_leaves(shape_of((decision, *ends)), leaves((decision, *ends)))
        parts = unstack(plain, True, len(lives), read_only=True)
        return [_opened(*pair, part, fold.by) for pair, part in zip(pairs, parts, strict=True)]

    def _learned_alone(self, pair: tuple[Live, Observed]) -> tuple[Live, Stage]:
        after, stage = self.fold.apply(*pair)
        assert stage is not None  # what came of an outcome is known
        return after, stage

    def _learned(self, pairs: Sequence[tuple[Live, Observed]]) -> list[tuple[Live, Stage]]:
        fold, many = self.fold, len(pairs)
        opened = [live.open[number] for live, (number, _) in pairs]
        outcomes = [read_only(outcome.seen) for _, outcome in pairs]
        decisions = [waiting.decision for waiting in opened]
        state, stage = arguments.checked(
            fold.lesson,
            stacked([live.state for live, _ in pairs], self._axes),
            _stages([outcome.number + live.taught for live, outcome in pairs]),
            np.stack([waiting.x for waiting in opened]),
            stacked(decisions, True),
            np.stack([seen.low for seen in outcomes]),
        )
        states = unstack(state, self._axes, many)
        stages = [
            _stage_of(stage, *parts)
            for parts in zip(pairs, states, _shown(stage, many), strict=True)
        ]
        if self._axes_of_monitor is None:
            trios = zip(pairs, stages, strict=True)
            watched = [fold.watched(live, number, own) for (live, (number, _)), own in trios]
        else:
            watched = self._watched(pairs, opened, stage)
        rows = zip(pairs, outcomes, states, watched, strict=True)
        lives = [fold.learned(live, o.number, seen, own, w) for (live, o), seen, own, w in rows]
        return list(zip(lives, stages, strict=True))

    def _watched(
        self, pairs: Sequence[tuple[Live, Observed]], opened: Sequence[Open], stage: Stage
    ) -> list[Any]:
        """The states of the monitor of each."""
        learned = np.array([waiting.learned for waiting in opened])
        stale = learned != [live.learned for live, _ in pairs]
        late = stale | (learned != [outcome.number for _, outcome in pairs])
        low, high = (np.array([waiting[i] for waiting in opened]) for i in (3, 4))
        evidence = evidence_of(
            self.fold.problem, stage, cost_range=(low, high), stale=stale, late=late
        )
        before, axes = [live.watched for live, _ in pairs], self._axes_of_monitor
        begun = None if before[0] is None else stacked(before, axes)
        return unstack(self.fold.monitor.update(begun, evidence), axes, len(pairs))


def _answers(
    asked: Sequence[Q],
    keys: Sequence[Hashable],
    most: int,
    at_once: Callable[[list[Q]], list[T]],
    alone: Callable[[Q], T],
) -> list[T | Exception]:
    """Return the answers in the order of the questions: equal keys in one call, None alone."""
    found: dict[int, T | Exception] = {}
    for places in _groups(keys, most):
        some, answers = [asked[i] for i in places], list[T | Exception]()
        if len(some) > 1:
            with suppress(Exception):  # of one of them, which is told when it is asked alone
                answers += together(at_once, some)
        found |= zip(places, answers or [_tried(alone, one) for one in some], strict=True)
    return [found[i] for i in range(len(asked))]


def _groups(keys: Sequence[Hashable], most: int) -> list[list[int]]:
    """The places of equal keys, at most so many together; of None, each alone."""
    places: dict[Hashable, list[int]] = {}
    for i, own in enumerate(keys):
        places.setdefault(("alone", i) if own is None else ("alike", own), []).append(i)
    return [some[a : a + most] for some in places.values() for a in range(0, len(some), most)]


def _tried(alone: Callable[[Q], T], one: Q) -> T | Exception:
    try:
        return alone(one)
    except Exception as error:
        return error


def _stages(numbers: Sequence[int]) -> Any:
    """One number where it is the same for all."""
    return numbers[0] if len(set(numbers)) == 1 else np.array(numbers)


def _opened(live: Live, x: Array, part: tuple[Any, ...], by: str) -> Decided:
    (solution, memo), low, high = part
    taken = Decision(Solution(*solution), memo)
    known = np.array(live.learned), low, high, np.array(live.taught)
    return Decided(live.t, Open(read_only(x), taken, *known), by)


def _shown(stage: Stage, many: int) -> list[Any]:
    numbers = stage.cost, stage.feasible, stage.hindsight, stage.solvable, stage.shadows or ()
    return unstack(numbers, True, many)


def _stage_of(
    stage: Stage, pair: tuple[Live, Observed], state: Any, shown: tuple[Any, ...]
) -> Stage:
    """Return the stage of one stream."""
    live, (number, seen) = pair
    waiting, info = live.open[number], read_only(state.info)
    cost, feasible, hindsight, solvable, shadows = shown
    return Stage(
        t=number,
        x=waiting.x,
        decision=waiting.decision,
        xi=read_only(seen.low),
        cost=cost,
        feasible=feasible,
        hindsight=hindsight,
        solvable=solvable,
        info=dict(zip(stage.info, leaves(info), strict=True)),
        reports=tuple(reports_of(info)),
        shadows=shadows or None,
    )
